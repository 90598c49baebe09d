"""Pictures of the gallery for docs/web.md: `python -m tools.gallery.pictures`. Needs chromium."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tools.gallery.server import served
from tools.web import ROOT

IMAGES = ROOT / "docs" / "images"
_WAIT_MS = 1500


def main() -> None:
    """Writes the pictures."""
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as address,
        sync_playwright() as play,
    ):
        arguments = ["--no-sandbox", "--enable-unsafe-swiftshader"]
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        page = browser.new_page(viewport={"width": 1240, "height": 700})
        page.goto(f"{address}/board?weight=badpix:2@all*3&weight=runtime*1")
        page.get_by_role("button", name="My priorities").click()
        save(page, "dg-board", "web-board.webp")
        page.set_viewport_size({"width": 1000, "height": 700})
        page.goto(f"{address}/compare")
        page.get_by_role("button", name="Wipe").click()
        save(page, "dg-compare", "web-compare.webp")
        page.goto(f"{address}/points")
        page.get_by_role("button", name="Show in 3D").click()
        page.locator("dg-points canvas").focus()
        for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown"):
            page.keyboard.press(key)
        save(page, "dg-points", "web-points.webp")
        browser.close()


def save(page: Page, element: str, name: str) -> None:
    """Writes a picture of one element, once it has loaded what it shows."""
    page.wait_for_timeout(_WAIT_MS)
    page.evaluate("document.activeElement.blur()")
    shot = Image.open(io.BytesIO(page.locator(element).screenshot())).convert("RGB")
    shot.save(IMAGES / name, quality=70, method=6)
    sys.stdout.write(f"{IMAGES / name}: {(IMAGES / name).stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
