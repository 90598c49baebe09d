"""`python -m perf.masks_page`: the page that draws masks, on pictures of 12 and 50 million pixels.

In Chromium without a GPU: until the picture is there, from the end of a stroke until the page shows
it and until the server has it and has written the mask, undo, and proposals until the page shows
them. On the server alone: a stroke, a flood, clicks and the writing of the mask. Writes
`perf/masks_page.json`.
"""

from __future__ import annotations

import json
import platform
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.capture.masks.drawn_on import write_mask
from depthgauge.capture.masks.proposals import Click, flood, from_clicks
from depthgauge.capture.masks.shapes import brush
from depthgauge.serve.desk.access import Access
from depthgauge.serve.desk.running import bound
from depthgauge.serve.desk.session_desk import make_session_desk
from depthgauge.sessions import Board, Session, write_session

HERE = Path(__file__).parent
WATCH = """() => {
  const start = performance.now(), options = {attributes: true, attributeFilter: ["data-standing"]};
  window.seen = new Promise((done) => {
    const after = () => requestAnimationFrame(() => done(performance.now() - start));
    const watch = new MutationObserver(() => requestAnimationFrame(after));
    watch.observe(document.querySelector("dg-masks"), options);
  });
}"""
"""Milliseconds from now until the next action was drawn."""
SIZES = {"12 Mpx": (4112, 3008), "50 Mpx": (8688, 5792)}


def picture_of(width: int, height: int) -> NDArray[np.uint8]:
    """A vase before a wall, with noise."""
    import cv2

    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    image = np.full((height, width, 3), (90, 110, 130), np.float32)
    image += 20 * (x / width)[..., None]
    vase = ((x / width - 0.45) / 0.2) ** 2 + ((y / height - 0.5) / 0.3) ** 2 < 1
    image[vase] = (170, 120, 80)
    image = cv2.GaussianBlur(image, (0, 0), 1.0)
    image += np.random.default_rng(0).normal(0, 4, image.shape).astype(np.float32)
    return np.clip(image, 0, 255).astype(np.uint8)


def timed(do: Callable[[], object], rounds: int = 3) -> float:
    """Seconds of the fastest of some rounds."""
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        do()
        found.append(time.perf_counter() - start)
    return round(min(found), 3)


def server_times(session: Session, image: NDArray[np.uint8]) -> dict[str, float]:
    """Seconds of the server's work alone."""
    height, width = image.shape[:2]
    along = np.linspace(0, 1, 200)
    points = np.stack([width * (0.2 + 0.5 * along), height * (0.5 + 0.1 * np.sin(9 * along))], 1)
    labels = np.zeros((height, width), np.uint8)
    region = brush(points, 128, (width, height))
    labels[region.box][region.inside] = 3
    vase, wall = Click(0.45 * width, 0.5 * height), Click(0.05 * width, 0.05 * height, False)
    return {
        "stroke_s": timed(lambda: brush(points, 128, (width, height))),
        "flood_s": timed(lambda: flood(image, vase, 30)),
        "clicks_s": timed(lambda: from_clicks(image, [vase, wall])),
        "writing_s": timed(lambda: write_mask(session, labels)),
    }


def page_times(session: Session) -> dict[str, float]:
    """Seconds until a person sees it."""
    import uvicorn
    from playwright.sync_api import sync_playwright

    listening = bound(0)
    access = Access(listening.getsockname()[1], "perf-token-perf-token-perf")
    app = make_session_desk(session, session.folder / "work", access)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", ws="none"))
    threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    found: dict[str, float] = {}
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(300_000)
        page.goto(access.address)
        start = time.perf_counter()
        page.goto(f"http://127.0.0.1:{access.port}/masks")
        page.wait_for_selector("dg-masks[data-ready][data-picture]")
        found["first_picture_s"] = round(time.perf_counter() - start, 2)
        box = page.locator("dg-masks canvas.over").bounding_box()
        assert box is not None
        x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]
        page.keyboard.press("b")
        for _ in range(6):
            page.keyboard.press("]")
        page.mouse.move(x - 200, y)
        page.mouse.down()
        page.mouse.move(x + 200, y + 100, steps=40)
        page.evaluate(WATCH)
        start = time.perf_counter()
        page.mouse.up()
        found["stroke_shown_s"] = round(page.evaluate("() => window.seen") / 1000, 3)
        page.wait_for_selector('dg-masks[data-standing="1"]')
        page.get_by_text("Everything is saved.").wait_for()
        found["stroke_saved_s"] = round(time.perf_counter() - start, 3)
        start = time.perf_counter()
        page.keyboard.press("Control+z")
        page.wait_for_selector('dg-masks[data-standing="0"]')
        found["undo_s"] = round(time.perf_counter() - start, 3)
        for key, name in (("f", "flood"), ("c", "clicks")):
            page.keyboard.press(key)
            start = time.perf_counter()
            page.mouse.click(x, y)
            page.wait_for_selector("dg-masks[data-proposed]")
            found[f"{name}_shown_s"] = round(time.perf_counter() - start, 2)
        browser.close()
    server.should_exit = True
    return found


def main() -> None:
    """Measures both sizes and writes the record."""
    found: dict[str, Any] = {"machine": platform.processor() or platform.machine()}
    for name, (width, height) in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            session = Session(Path(folder), "vase", Board())
            write_session(session)
            image = picture_of(width, height)
            (Path(folder) / "passive" / "L").mkdir(parents=True)
            io.write_image(Path(folder) / "passive" / "L" / "im0.png", image)
            page = page_times(session)
            found[name] = {"size_px": [width, height], "page": page}
            found[name]["server"] = server_times(session, image)
            print(name, found[name])
    (HERE / "masks_page.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
