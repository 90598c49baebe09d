"""Makes docs/images/difficulty.png: psychometric curves of OpenCV's matchers on stratified pairs.

`python -m tools.difficulty_picture` makes the pairs, runs the methods and takes a picture of that
section of the report. It needs chromium.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import depthgauge as dg
from depthgauge.report.page.build import build_page
from depthgauge.report.page.html import write_report
from depthgauge.synth.sets.stratified import write_pairs
from tools.report_picture import IMAGES, shoot

TARGET = IMAGES / "difficulty.png"
SCENES = ("slant", "repetition", "glass", "gloss", "decalibration", "exposure")
METHODS = ("sgbm", "bm", "sgbm:block_size=9,mode=hh")
SIZE_PX, SEED = 256, 11
_SEEN, _MARGIN_PX = 24, 16
_CSS = """
header, nav, section:not(#difficulty), #difficulty h2, #difficulty .explain, #difficulty details
{ display: none !important; }
section { margin-top: 0 !important; padding-top: .9rem !important; }
"""


def main() -> None:
    """Writes the picture."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "pairs", Path(folder) / "run"
        write_pairs(data, names=SCENES, size_px=SIZE_PX, seed=SEED)
        run = dg.run("stratified-stereo", data, METHODS, out, workers=1)
        write_report(out / "report.html", build_page(run, with_pictures=False))
        shoot(out / "report.html", _CSS, TARGET)
    _trim(TARGET)


def _trim(path: Path) -> None:
    """Cuts off what is empty below the charts."""
    picture = Image.open(path)
    pixels = np.asarray(picture.convert("RGB")).astype(int)
    filled = np.flatnonzero((np.abs(pixels - pixels[-1, 0]).sum(axis=2) > _SEEN).any(axis=1))
    bottom = min(int(filled[-1]) + _MARGIN_PX, picture.height)
    picture.crop((0, 0, picture.width, bottom)).save(path, optimize=True)


if __name__ == "__main__":
    main()
