"""`python -m perf.cleaning_page`: the page that cleans clouds, in Chromium without a GPU.

A made session with a wavy wall is opened on a desk. Frame times are those of the software renderer
with all points, median of 20 frames while the view turns, each waited for; a desk with a GPU is
faster. While the view turns, the page draws fewer points where frames take longer than 40 ms.
Writes `perf/cleaning_page.json`.
"""

from __future__ import annotations

import json
import platform
import shutil
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.capture.by_hand.removals import RemovalView, removal_event
from depthgauge.capture.steps import StepOutput, do_step
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.serve.desk.access import Access
from depthgauge.serve.desk.running import bound
from depthgauge.serve.desk.session_desk import make_session_desk
from depthgauge.sessions import Board, Session
from depthgauge.types import Camera

HERE = Path(__file__).parent
SIZES = {"200,000 points": (500, 400), "12 Mpx": (4112, 3008)}


def session_of(folder: Path, width: int, height: int) -> Session:
    """A session up to `refine`, with a wavy wall."""
    focal = 1.2 * width
    camera = Camera((focal, focal), (width / 2, height / 2), (width, height))
    view = RectifiedView(camera, np.eye(3), camera)
    pair = RectifiedPair(view, view, 0.1)

    def rectify(made: Path) -> StepOutput:
        io.write_text(made / "LR.json", json.dumps(pair.to_json()))
        return StepOutput({})

    def refine(made: Path) -> StepOutput:
        y, x = np.mgrid[0:height, 0:width].astype(np.float32) / width
        depth = 2 + 0.2 * np.sin(20 * y)  # along columns: both views agree on it
        for side in ("left", "right"):
            io.write_map(made / f"{side}_disparity.npy", (focal * 0.1 / depth).astype(np.float32))
            io.write_map(made / f"{side}_variance.npy", (0.01 + 0.1 * x * y).astype(np.float32))
            io.write_map(made / f"{side}_confidence.npy", np.ones((height, width), np.float32))
        return StepOutput({})

    work = folder / "work"
    before = do_step(work, "rectify", rectify, revision=1, options={})
    do_step(work, "refine", refine, revision=1, options={}, after=[before])
    return Session(folder, "wall", Board())


def measured(session: Session) -> dict[str, Any]:
    """Times of the page of a session."""
    import uvicorn
    from playwright.sync_api import sync_playwright

    listening = bound(0)
    access = Access(listening.getsockname()[1], "perf-token-perf-token-perf")
    app = make_session_desk(session, session.folder / "work", access)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", ws="none"))
    threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(300_000)
        page.goto(access.address)
        start = time.perf_counter()
        page.goto(f"http://127.0.0.1:{access.port}/clean")
        page.wait_for_selector("dg-clean[data-shown]")
        shown_s = time.perf_counter() - start
        frames = page.evaluate("document.querySelector('dg-clean').frames(20)")
        points = int(page.locator("dg-clean").get_attribute("data-shown") or 0)
        browser.close()
    server.should_exit = True
    return {
        "points_drawn": points,
        "first_picture_s": round(shown_s, 2),
        "frame_ms": round(statistics.median(frames), 1),
    }


def lasso_s(session: Session) -> float:
    """Seconds until the pixels of a lasso around a tenth of the view are counted, both views."""
    view = RemovalView(session.folder / "work")
    angles = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    points = [[0.2 * float(np.cos(a)), 0.2 * float(np.sin(a))] for a in angles]
    entry = {"projection": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], "points": points}
    event = removal_event(
        {"id": "perf-event-1", "kind": "remove", "shape": "lassos", "entry": entry}
    )
    view.removed([{**event, "id": "perf-event-0"}])  # compiles, and makes the points
    start = time.perf_counter()
    view.removed([event])
    return round(time.perf_counter() - start, 2)


def main() -> None:
    """Measures both sizes and writes the record."""
    found: dict[str, Any] = {"machine": platform.processor() or platform.machine()}
    for name, (width, height) in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            session = session_of(Path(folder), width, height)
            found[name] = {"size_px": [width, height], **measured(session)}
            found[name]["lasso_s"] = lasso_s(session)
            print(name, found[name])
    (HERE / "cleaning_page.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
