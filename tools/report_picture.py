"""Makes the README's picture from the demo's report: `python -m tools.report_picture DEMO`.

DEMO is the folder that `depthgauge demo --out DEMO` wrote. Parts of the page are left out; numbers
and pictures are as they are there. Needs chromium.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

TARGET = Path(__file__).resolve().parents[1] / "docs" / "images" / "demo-report.png"
_MARGIN_PX = (20, 60)
_CSS = """
nav, #leaderboard details, #leaderboard h2, .board caption, tbody.oracles,
section:not(#leaderboard):not(#examples) { display: none !important; }
header { padding-bottom: .2rem !important; margin-bottom: 0 !important; }
section { margin-top: 0 !important; padding-top: .9rem !important; }
"""


def main(demo: str) -> None:
    """Writes the picture."""
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        context = browser.new_context(viewport={"width": 1180, "height": 800}, bypass_csp=True)
        page = context.new_page()
        page.goto((Path(demo) / "report.html").resolve().as_uri())
        page.add_style_tag(content=_CSS)
        shot = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
        browser.close()
    shot = shot.crop((0, _MARGIN_PX[0], shot.width, shot.height - _MARGIN_PX[1]))
    shot.quantize(256, kmeans=4, dither=Image.Dither.NONE).save(TARGET, optimize=True)
    sys.stdout.write(f"{TARGET}: {TARGET.stat().st_size} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1])
