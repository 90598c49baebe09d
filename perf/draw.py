"""`python -m perf.draw`: from the hand to the mesh, in a browser, on the page to draw on.

A photograph of 300 x 300 with the 30 strokes of `perf.reconstruct`. In Chromium, the mouse turns a
normal, and adds a stroke. The time is from the page's event to the moment when the new mesh was
given to WebGL: request, reconstruction, answer, triangles. Beside it the request alone, and the
processor time of the server, which other programs on the machine do not change.
Writes `perf/draw.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.table import Table

from depthgauge import io
from depthgauge.annotate.records import write_records
from depthgauge.annotate.records.annotation import Picture
from depthgauge.serve.desk.access import Access
from depthgauge.serve.desk.app import make_desk
from depthgauge.serve.desk.photographs import records_path
from depthgauge.serve.desk.running import bound
from perf.reconstruct import scene

SIDE_PX = 300
BUDGET_S = {"a normal is turned": 0.15, "a stroke is added": 0.3}


def folder_with_scene(root: Path) -> Path:
    """A photograph, and what was drawn on it before."""
    noise = np.random.default_rng(0).integers(60, 200, (SIDE_PX, SIDE_PX, 3)).astype(np.uint8)
    io.write_image(root / "scene.png", noise)
    drawn = replace(scene(SIDE_PX, SIDE_PX), picture=Picture("scene", SIDE_PX, SIDE_PX))
    path = records_path(root, "me", "scene")
    path.parent.mkdir(parents=True)
    write_records(path, drawn)
    return root


Times = tuple[float, float, float]
"""Seconds: all of it, the request alone, and what the server computes, whatever else runs."""


def measure(page: Page, times: int) -> dict[str, list[Times]]:
    """The times of every action."""
    sheet = page.locator("canvas.sheet")
    box = sheet.bounding_box()
    if box is None:
        raise SystemExit("the page shows no sheet")
    side = min(box["width"], box["height"]) - 24
    left, top = box["x"] + (box["width"] - side) / 2, box["y"] + (box["height"] - side) / 2

    def place(x: float, y: float) -> tuple[float, float]:
        return left + x * side, top + y * side

    def waited(action: Any) -> Times:
        begun = time.process_time()
        before = int(page.locator("dg-draw").get_attribute("data-previews") or 0)
        action()
        page.locator(f'dg-draw[data-previews="{before + 1}"]').wait_for()
        host = page.locator("dg-draw")
        values = [
            float(host.get_attribute(f"data-{name}") or 0) for name in ("waited", "milliseconds")
        ]
        computed = time.process_time() - begun
        page.wait_for_timeout(150)
        return values[0] / 1000, values[1] / 1000, computed

    found: dict[str, list[Times]] = {name: [] for name in BUDGET_S}
    sheet.focus()
    page.keyboard.press("e")
    page.keyboard.press("n")
    page.mouse.move(*place(0.5, 0.9))
    page.mouse.down()
    page.wait_for_timeout(1000)
    for step in range(times):
        x, y = place(0.5 + 0.02 * (step % 5), 0.87)
        found["a normal is turned"].append(waited(lambda x=x, y=y: page.mouse.move(x, y)))
    page.mouse.up()
    page.wait_for_timeout(1000)
    page.keyboard.press("f")
    for step in range(times):
        y = 0.55 + 0.01 * step
        page.mouse.click(*place(0.01, y))
        page.mouse.click(*place(0.03, y))
        found["a stroke is added"].append(waited(lambda: page.keyboard.press("Enter")))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf.draw", description=__doc__)
    parser.add_argument("--times", type=int, default=15)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("draw.json"))
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as root, bound(0) as listening:
        access = Access(listening.getsockname()[1], "t" * 30)
        app = make_desk(folder_with_scene(Path(root)), "me", access)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", ws="none"))
        threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
        with sync_playwright() as started:
            browser = started.chromium.launch(
                executable_path=shutil.which("chromium"),
                args=["--no-sandbox", "--enable-unsafe-swiftshader"],
            )
            page = browser.new_page(viewport={"width": 1300, "height": 900})
            page.goto(access.address)
            page.goto(f"http://127.0.0.1:{access.port}/draw/scene")
            page.locator("dg-draw[data-previews]").wait_for(timeout=60000)
            found = measure(page, options.times)
            browser.close()
        server.should_exit = True
    rows = {
        name: {
            "median_s": statistics.median(whole for whole, _, _ in values),
            "fastest_s": min(whole for whole, _, _ in values),
            "slowest_s": max(whole for whole, _, _ in values),
            "request_median_s": statistics.median(request for _, request, _ in values),
            "computing_median_s": statistics.median(computed for *_, computed in values),
            "aim_s": BUDGET_S[name],
            "times": len(values),
        }
        for name, values in found.items()
    }
    made = Table("what", "median", "fastest", "slowest", "request", "computing", "aim")
    for name, row in rows.items():
        made.add_row(
            name,
            *(f"{1000 * row[k]:.0f} ms" for k in ("median_s", "fastest_s", "slowest_s")),
            f"{1000 * row['request_median_s']:.0f} ms",
            f"{1000 * row['computing_median_s']:.0f} ms",
            f"{1000 * row['aim_s']:.0f} ms",
        )
    Console().print(made)
    about = {"side_px": SIDE_PX, "cpus": os.cpu_count(), "load_before": load, "rows": rows}
    options.out.write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
