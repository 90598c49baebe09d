"""OpenCV's stereo methods on Middlebury scenes of 2001 to 2014."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from depthgauge.io import read_image, read_map, write_image, write_map
from tools.evidence import DATA, Number, Table, figure
from tools.evidence._trials import conduct, copy, table

METHODS = (
    "sgbm",
    "sgbm-hh=sgbm:mode=hh",
    "sgbm-unpadded=sgbm:pad=false",
    "sgbm-filled=sgbm:fill=background",
    "bm",
    "constant",
)
# As scikit-image's documentation has it; ndisp is a quarter of the full size's 280.
CALIB = """\
cam0=[994.978 0 311.193; 0 994.978 254.877; 0 0 1]
cam1=[994.978 0 342.279; 0 994.978 254.877; 0 0 1]
doffs=31.086
baseline=193.001
width=741
height=500
ndisp=70
"""
UNKNOWN = {"middlebury-aloe": (1282 * 1110, 3.45), "middlebury-2014": (741 * 500, 7.35)}
"""Pixels of the picture, and the share of them without truth in percent."""


@figure(
    "trials-middlebury",
    data="Middlebury stereo: eight scenes of 2001 and 2003, Reindeer, Cloth3 and Wood2 of 2005 and "
    "2006 in half size, Aloe in full size, Motorcycle of 2014 in quarter size",
    needs=(
        "middlebury-classic",
        "middlebury-2005-2006",
        "middlebury-aloe",
        "middlebury-motorcycle",
    ),
)
def trials_middlebury() -> Iterator[Number | Table]:
    """Scores of OpenCV's SGBM and BM and of a constant, on all and on visible pixels.

    What is known beforehand is how many pixels of two scenes have no truth.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, protocol, data in (
            ("middlebury-2001", "trial-middlebury-2001", DATA / "middlebury-classic"),
            ("middlebury-2005", "trial-middlebury-2001", DATA / "middlebury-2005-2006"),
            ("middlebury-aloe", "trial-middlebury-2001", _aloe(place / "aloe-data")),
            ("middlebury-2014", "trial-middlebury-2014", _motorcycle(place / "2014-data")),
        ):
            found = table(name, conduct(protocol, data, METHODS, place / name))
            yield found
            if name in UNKNOWN:
                size, share = UNKNOWN[name]
                value = 100 * (1 - found.pixels["all"] / size)
                yield Number(f"{name}: share of pixels without truth, %", value, share, 0.005)


def _aloe(root: Path) -> Path:
    """The scene in the layout of 2006, whose pictures are PNG."""
    source = DATA / "middlebury-aloe"
    copy({"Aloe/disp1.png": source / "aloeGT.png"}, root)
    for stem, view in (("aloeL", "view1"), ("aloeR", "view5")):
        write_image(root / "Aloe" / f"{view}.png", read_image(source / f"{stem}.jpg"))
    return root


def _motorcycle(root: Path) -> Path:
    """The scene in the layout of 2014, with the calibration of its documentation."""
    source = DATA / "middlebury-motorcycle"
    scene = root / "Motorcycle"
    pictures = {"im0.png": "motorcycle_left.png", "im1.png": "motorcycle_right.png"}
    copy({place: source / name for place, name in pictures.items()}, scene)
    write_map(scene / "disp0.pfm", read_map(source / "motorcycle_disp.npz", quantity="disparity"))
    (scene / "calib.txt").write_text(CALIB)
    return root
