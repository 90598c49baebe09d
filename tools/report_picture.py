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
_SAMPLE, _METHODS, _COLUMNS = "clutter", 4, 6
_MARGIN_PX = (20, 60)
_CSS = """
nav, #how, .notes, #leaderboard details, #leaderboard h2, .board caption, tbody.oracles, #certainty,
#strengths, #curves, #stability, #samples, #scatter, #provenance, #pictures > h2, .keys, .strip svg,
.facts div:nth-child(5) { display: none !important; }
header { padding-bottom: .2rem !important; margin-bottom: 0 !important; }
section { margin-top: 0 !important; padding-top: .3rem !important; }
"""
_CUT = """([sample, methods, columns]) => {
  const cut = (list, n) => [...list].slice(n).forEach(e => e.remove());
  for (const d of document.querySelectorAll('details.sample'))
    d.querySelector('h3').textContent.startsWith(sample) ? d.open = true : d.remove();
  cut(document.querySelectorAll('.strip figure'), 4);
  cut(document.querySelectorAll('.method'), methods);
  for (const m of document.querySelectorAll('.method')) cut(m.querySelectorAll('figure'), 2);
  const [groups, heads] = document.querySelectorAll('.board thead tr');
  cut(groups.children, 2);
  groups.children[1].colSpan = columns;
  cut(heads.children, columns);
  for (const r of document.querySelectorAll('.board tbody tr')) cut(r.children, columns + 1);
}"""


def main(demo: str) -> None:
    """Writes the picture."""
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        context = browser.new_context(viewport={"width": 1120, "height": 800}, bypass_csp=True)
        page = context.new_page()
        page.goto((Path(demo) / "report.html").resolve().as_uri())
        page.add_style_tag(content=_CSS)
        page.evaluate(_CUT, [_SAMPLE, _METHODS, _COLUMNS])
        shot = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
        browser.close()
    shot = shot.crop((0, _MARGIN_PX[0], shot.width, shot.height - _MARGIN_PX[1]))
    shot.quantize(256, kmeans=4, dither=Image.Dither.NONE).save(TARGET, optimize=True)
    sys.stdout.write(f"{TARGET}: {TARGET.stat().st_size} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1])
