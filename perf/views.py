"""`python -m perf.views`: frames per second of every metric of views, beside what others take.

Views of 832 x 480 px, as the benchmark of stereo generation compares them. SSIM stands beside
scikit-image's, P-PSNR beside the literal loop over patches and shifts and beside NumPy on whole
arrays; they must agree. LPIPS is timed if its weights are there. Both the time that passes and the
processor time of all threads are taken; the latter hardly depends on what else the machine does,
and ratios are of it. Writes `perf/views.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from rich.console import Console
from rich.table import Table
from skimage.metrics import structural_similarity

from depthgauge.engine.scoring.resolutions import picture_at
from depthgauge.errors import Unavailable
from depthgauge.metrics import METRICS

HERE = Path(__file__).parent
SIZE, OWN, QUICK = (832, 480), (1280, 1280), (160, 96)
PATCH, LEAST_PX, MOST_PX = 16, 2, 48
SKIMAGE = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}
METRICS_TIMED = (
    "psnr",
    "ssim",
    "lpips",
    "e_match",
    "p_psnr",
    "sd",
    "temporal_error",
    "flicker",
    "fid",
    "fvd",
)


class Views(NamedTuple):
    """A stereo pair at two times, and a view that is nearly right."""

    left: np.ndarray
    right: np.ndarray
    before: np.ndarray
    estimate: np.ndarray
    disparity: np.ndarray


class Taken(NamedTuple):
    """The shortest of some calls."""

    seconds: float
    """That passed."""
    cpu_seconds: float
    """Of the processor, all threads together."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf.views", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small pictures: agreement only")
    parser.add_argument("--out", type=Path, default=HERE / "views.json")
    options = parser.parse_args()
    views = make_views(QUICK if options.quick else SIZE)
    load = [round(part, 1) for part in os.getloadavg()]
    rows = dict(timed(views))
    body = {"size_px": views.right.shape[1::-1], "cores": os.cpu_count(), "load": load}
    times = {
        key: {name: row[i] for name, row in rows.items()} for i, key in enumerate(Taken._fields)
    }
    options.out.write_text(json.dumps({**body, **times}, indent=1) + "\n")
    Console(width=110).print(table(rows, views))


def make_views(size: tuple[int, int]) -> Views:
    """Structure of several sizes on a slanted plane, as a camera sees it from four places."""
    width, height = size
    rng = np.random.default_rng(0)
    wide = (height, width + 128, 3)
    texture = sum(cv2.GaussianBlur(rng.random(wide, np.float32), (0, 0), s) * s for s in (1, 3, 9))
    texture = (texture - texture.min()) / (texture.max() - texture.min())
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    disparity = (6 + 30 * y / height).astype(np.float32)

    def seen(shift: np.ndarray | float) -> np.ndarray:
        return cv2.remap(texture, x + shift + 48, y, cv2.INTER_LINEAR).clip(0, 1)

    right = seen(disparity)
    noise = 0.02 * rng.standard_normal(right.shape)
    estimate = np.clip(right + noise, 0, 1).astype(np.float32)
    return Views(seen(np.zeros_like(x)), right, seen(disparity - 3), estimate, disparity)


def timed(views: Views) -> Iterator[tuple[str, Taken]]:
    """Times per frame by name; ours by the metric's id."""
    items: dict[str, Any] = {
        "left_image": views.left,
        "disparity": views.disparity,
        "previous_estimate": views.before,
        "previous_truth": views.before,
        "clip_memory": {},
    }
    for name in METRICS_TIMED:
        metric = METRICS[name]
        given = {need: items[need] for need in metric.needs} | dict(metric.params)
        # A window of frames is described when its last one comes: each bears its share.
        frames = int(metric.params.get("window", 1)) if name == "fvd" else 1

        def score(metric: Any = metric, given: Any = given, frames: int = frames) -> None:
            for _ in range(frames):
                metric.measure(views.estimate, views.right, **given)

        try:
            yield name, Taken(*(each / frames for each in best(score)))
        except Unavailable:
            continue
    yield "ssim, scikit-image, float32", best(lambda: ssim_of_skimage(views, np.float32), 2)
    yield "ssim, scikit-image, float64", best(lambda: ssim_of_skimage(views, np.float64), 2)
    agree("SSIM", ssim_of_skimage(views, np.float64), value("ssim", views, {}), 1e-12)
    ours = value("p_psnr", views, {"left_image": views.left})
    for name, version in (("NumPy", vectorised), ("literal loop", literal)):
        agree(f"P-PSNR, {name}", version(views.left, views.estimate), ours, 1e-4)
        yield (
            f"p_psnr, {name}",
            best(lambda v=version: v(views.left, views.estimate), 1 if version is literal else 2),
        )
    square = np.zeros((*OWN[::-1], 3), np.uint8)
    shape = views.right.shape[:2]
    yield "resampling of one picture", best(lambda: picture_at(square, shape, "area"))


def value(name: str, views: Views, items: dict[str, Any]) -> float:
    metric = METRICS[name]
    state = metric.measure(views.estimate, views.right, **items, **metric.params)
    return metric.finish(state, "bad", **metric.params)


def ssim_of_skimage(views: Views, kind: type) -> float:
    pair = (views.right.astype(kind), views.estimate.astype(kind))
    return float(structural_similarity(*pair, channel_axis=-1, data_range=1, **SKIMAGE))


def literal(left: np.ndarray, right: np.ndarray) -> float:
    """Every patch, every shift."""
    height, width = left.shape[:2]
    found = []
    for y in range(0, height - PATCH + 1, PATCH):
        for x in range(0, width - PATCH + 1, PATCH):
            source = left[y : y + PATCH, x : x + PATCH]
            least = np.inf
            for d in range(LEAST_PX, min(MOST_PX, x) + 1):
                error = np.mean((source - right[y : y + PATCH, x - d : x - d + PATCH]) ** 2)
                least = min(least, error)
            if least < np.inf:
                found.append(min(-10 * np.log10(least), 60))
    return float(np.mean(found))


def vectorised(left: np.ndarray, right: np.ndarray) -> float:
    """One shift of the whole picture after the other."""
    rows, columns = left.shape[0] // PATCH, left.shape[1] // PATCH
    left, right = (v[: rows * PATCH, : columns * PATCH] for v in (left, right))
    least = np.full((rows, columns), np.inf, np.float32)
    for d in range(LEAST_PX, MOST_PX + 1):
        squares = np.full(left.shape, np.inf, np.float32)
        squares[:, d:] = (left[:, d:] - right[:, :-d]) ** 2
        blocks = squares.reshape(rows, PATCH, columns, PATCH, 3).mean(axis=(1, 3, 4))
        np.minimum(least, blocks, out=least)
    found = least[np.isfinite(least)].astype(np.float64)
    return float(np.mean(np.minimum(-10 * np.log10(found), 60)))


def agree(what: str, found: float, expected: float, within: float) -> None:
    if not abs(found - expected) <= within:
        raise SystemExit(f"{what} is {found} but {expected} here")


def best(call: Callable[[], Any], times: int = 5) -> Taken:
    """The shortest of some calls, after one that compiles."""
    call()
    taken = []
    for _ in range(times):
        start = time.perf_counter(), time.process_time()
        call()
        taken.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    return Taken(*(min(each) for each in zip(*taken, strict=True)))


def table(rows: dict[str, Taken], views: Views) -> Table:
    height, width = views.right.shape[:2]
    made = Table("what", title=f"frames of {width}x{height} px")
    for heading in ("ms", "ms of the processor", "frames per second of it", "times ours"):
        made.add_column(heading, justify="right")
    for name, (seconds, cpu) in rows.items():
        metric, comma, _ = name.partition(",")
        ratio = f"{cpu / rows[metric].cpu_seconds:.1f}" if comma else ""
        made.add_row(name, f"{1e3 * seconds:.1f}", f"{1e3 * cpu:.1f}", f"{1 / cpu:.1f}", ratio)
    return made


if __name__ == "__main__":
    main()
