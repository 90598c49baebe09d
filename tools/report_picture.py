"""Makes pictures of reports for the documentation: `python -m tools.report_picture FOLDER`.

FOLDER is what `depthgauge demo --out FOLDER` wrote, or a run of a benchmark of layers with its
report. Parts of the page are left out; numbers and pictures are as they are there. Needs chromium.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
_MARGIN_PX = (20, 60)
_CSS = """
nav, #leaderboard details, #leaderboard h2, .board caption, tbody.oracles,
section:not(#leaderboard):not(#examples) { display: none !important; }
header { padding-bottom: .2rem !important; margin-bottom: 0 !important; }
section { margin-top: 0 !important; padding-top: .9rem !important; }
"""
_LAYERS_CSS = """
header, section:not(#pictures), #pictures h2, #pictures > .explain, details.row, summary,
details.sample + details.sample, details.sample > .strip { display: none !important; }
details.sample { border: 0 !important; padding: 0 !important; }
section { margin-top: 0 !important; padding-top: .9rem !important; }
.gallery { grid-template-columns: repeat(3, 1fr) !important; }
"""


def main(folder: str) -> None:
    """Writes the picture."""
    page = (Path(folder) / "report.html").resolve()
    if 'class="layers"' in page.read_text("utf-8"):
        shoot(page, _LAYERS_CSS, IMAGES / "layers-report.webp")
    else:
        shoot(page, _CSS, IMAGES / "demo-report.png")


def shoot(path: Path, css: str, target: Path) -> None:
    """Writes a picture of a page under another style."""
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        context = browser.new_context(viewport={"width": 1180, "height": 800}, bypass_csp=True)
        page = context.new_page()
        page.goto(path.as_uri())
        page.add_style_tag(content=css)
        shot = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
        browser.close()
    shot = shot.crop((0, _MARGIN_PX[0], shot.width, shot.height - _MARGIN_PX[1]))
    if target.suffix == ".png":
        shot.quantize(256, kmeans=4, dither=Image.Dither.NONE).save(target, optimize=True)
    else:
        shot.save(target, quality=88, method=6)
    sys.stdout.write(f"{target}: {target.stat().st_size} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1])
