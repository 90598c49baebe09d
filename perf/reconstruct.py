"""`python -m perf.reconstruct`: from an annotation to depth, whole and as a preview.

A region of 640 x 480 with 30 strokes: a room of planes with folds, balls with smooth occlusions, a
curved backdrop; once with the planes (`mixed`) and once with every surface called curved, which
leaves nothing to closed forms (`curved`). Beside it SciPy's sparse LU with its default ordering,
from scratch, of the same two systems. Then a session in which strokes are added, alone and four at
once in one process. Writes `perf/reconstruct.json`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from depthgauge.annotate.reconstruct._links import depth_links, normal_links
from depthgauge.annotate.reconstruct.dense_normals import known_normals
from depthgauge.annotate.reconstruct.hand_normals import hand_normals
from depthgauge.annotate.reconstruct.reconstruction import (
    ReconstructionCache,
    camera_of,
    reconstruct,
)
from depthgauge.annotate.reconstruct.segmentation import segment
from depthgauge.annotate.records.annotation import (
    Annotation,
    Focal,
    Header,
    NormalMark,
    Picture,
    Record,
    Stroke,
    SurfaceMark,
)
from depthgauge.annotate.records.replay import difference, replayed
from depthgauge.annotate.session import Session
from depthgauge.geometry.link_system import LinkSystem

HERE = Path(__file__).parent
SIZE, QUICK = (640, 480), (160, 120)
PREVIEW_PX = 300
CORES = 2
AIMS_S = {1: 0.15, 4: 0.25}
"""People who draw at a time, and how long a stroke may take on two cores that do nothing else."""
PAYLOAD_BYTES = 300_000
_LIVE = (
    "add_stroke_s",
    "add_stroke_slowest_s",
    "cpu_per_update_s",
    "on_free_cores_s",
    "aim_s",
)
"""Wall times depend on what else the machine does; the processor's time does not."""


def scene(width: int, height: int, shape: str = "mixed") -> Annotation:
    """30 strokes: 12 balls, 8 boxes in front of the backdrop with a fold each, 2 long folds."""
    strokes: dict[str, Stroke] = {}
    surfaces: dict[str, SurfaceMark] = {}
    normals: dict[str, NormalMark] = {}

    def add(name: str, at: tuple[float, float], kind: Any, normal: tuple[float, float, float]):
        surfaces[name] = SurfaceMark(at, kind if shape == "mixed" else "curved")
        normals[name] = NormalMark(at, normal)

    for i in range(12):
        x, y, r = width * (0.06 + 0.08 * i), height * (0.3 + 0.03 * (i % 3)), 0.034 * width
        ring = [(x + r * math.cos(a), y + r * math.sin(a)) for a in np.linspace(0, 2 * np.pi, 49)]
        strokes[f"ball{i}"] = Stroke("occlusion", tuple(ring), "right", smooth=True)
        add(f"ball{i}", (x, y), "curved", (0.05, 0.0, -1.0))
    for i in range(8):
        x, y, w, h = width * (0.04 + 0.12 * i), height * 0.5, width * 0.09, height * 0.2
        corners = ((x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y))
        strokes[f"box{i}"] = Stroke("occlusion", corners, "right")
        strokes[f"edge{i}"] = Stroke("fold", ((x + w / 2, y), (x + w / 2, y + h)))
        add(f"left{i}", (x + w / 4, y + h / 2), "planar", (-0.5, 0.0, -1.0))
        add(f"right{i}", (x + 3 * w / 4, y + h / 2), "planar", (0.7, 0.0, -1.0))
    strokes["floor"] = Stroke("fold", ((-1, height * 0.8), (width, height * 0.8)))
    strokes["ceiling"] = Stroke("fold", ((-1, height * 0.12), (width, height * 0.12)))
    add("floor", (width * 0.5, height * 0.9), "planar", (0.0, -1.0, -0.2))
    add("ceiling", (width * 0.5, height * 0.05), "planar", (0.0, 1.0, -0.2))
    add("backdrop", (width * 0.02, height * 0.45), "curved", (0.3, 0.0, -1.0))
    normals["backdrop right"] = NormalMark((width * 0.98, height * 0.45), (-0.3, 0.0, -1.0))
    normals["backdrop low"] = NormalMark((width * 0.5, height * 0.75), (0.0, 0.1, -1.0))
    return Annotation(
        Picture("scene", width, height),
        Focal(1.1 * width),
        strokes=strokes,
        surfaces=surfaces,
        normals=normals,
    )


def turned(annotation: Annotation, step: int) -> Annotation:
    """The same with one normal turned."""
    mark = annotation.normals["backdrop"]
    normal = (0.3 + 0.1 * step, 0.05 * step, -1.0)
    return replace(
        annotation, normals={**annotation.normals, "backdrop": replace(mark, normal=normal)}
    )


def timed(work: Callable[[], Any], times: int = 3) -> tuple[float, float, Any]:
    """The best time of some, the least time of all cores together, and the last thing made."""
    best, cores, made = math.inf, math.inf, None
    for _ in range(times):
        start, busy = time.perf_counter(), time.process_time()
        made = work()
        best = min(best, time.perf_counter() - start)
        cores = min(cores, time.process_time() - busy)
    return best, cores, made


def lu_seconds(annotation: Annotation) -> float:
    """SciPy's LU of both systems, and their right-hand sides."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    segmentation = segment(annotation)
    hand = hand_normals(annotation, segmentation, camera_of(annotation))
    links, (right, down) = depth_links(segmentation), normal_links(segmentation)
    known = known_normals(hand, segmentation)
    systems = (
        (LinkSystem(right * known.solved, down * known.solved, known.where), 3),
        (LinkSystem(links.right, links.down), 1),
    )
    total = 0.0
    for system, columns in systems:
        matrix = system.matrix
        shifted = (matrix + 1e-9 * sparse.eye_array(matrix.shape[0])).tocsc()
        right = np.ones((matrix.shape[0], columns))
        start = time.perf_counter()
        splu(shifted).solve(right)
        total += time.perf_counter() - start
    return total


def previews(annotation: Annotation) -> tuple[float, float]:
    """The first preview, and the next after one normal was turned."""
    first = timed(lambda: reconstruct(annotation, max_side_px=PREVIEW_PX))[0]
    cache = ReconstructionCache()
    reconstruct(annotation, max_side_px=PREVIEW_PX, cache=cache)
    again = math.inf
    for step in range(1, 6):
        changed = turned(annotation, step)
        start = time.perf_counter()
        reconstruct(changed, max_side_px=PREVIEW_PX, cache=cache)
        again = min(again, time.perf_counter() - start)
    return first, again


def live(size: tuple[int, int], people: int) -> dict[str, Any]:
    """Strokes added in a session of a preview: seconds from the event to its payload.

    In turn, a stroke cuts the backdrop, which is most of the picture, and one a box. Each is a new
    one, so that no earlier solution can serve.
    """
    annotation = scene(*size)
    header = Header(annotation.picture, annotation.focal)
    records = list(difference(replayed(header, ()), annotation))
    sessions = [Session(header, records, max_side_px=PREVIEW_PX) for _ in range(people)]
    payload = max(len(session.update().payload()) for session in sessions)
    width, height = size

    def line(step: int) -> tuple[tuple[float, float], tuple[float, float]]:
        if step % 2:
            return (width * 0.04, height * (0.55 + 0.01 * step)), (width * 0.13, height * 0.6)
        return (width * 0.1, height * 0.76), (width * 0.9, height * (0.74 + 0.004 * step))

    def work(session: Session) -> list[float]:
        found = []
        for step in range(8):
            stroke = Stroke("occlusion", line(step), "left")
            start = time.perf_counter()
            session.apply(Record("stroke", "new", stroke))
            session.update(since=session.revision - 1).payload()
            found.append(time.perf_counter() - start)
        return found

    busy = time.process_time()
    with ThreadPoolExecutor(people) as pool:
        seconds = [s for found in pool.map(work, sessions) for s in found]
    each = (time.process_time() - busy) / len(seconds)
    return {
        "people": people,
        "add_stroke_s": float(np.median(seconds)),
        "add_stroke_slowest_s": max(seconds),
        "cpu_per_update_s": each,
        # Where nothing else runs, so many updates at a time share the cores.
        "on_free_cores_s": each * max(1.0, people / CORES),
        "aim_s": AIMS_S[people],
        "payload_bytes": payload,
        "payload_aim_bytes": PAYLOAD_BYTES,
    }


def measure(size: tuple[int, int], with_lu: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "size_px": size,
        "cpus": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "shapes": {},
    }
    for shape in ("mixed", "curved"):
        annotation = scene(*size, shape)
        start = time.perf_counter()
        reconstruct(annotation)
        cold = time.perf_counter() - start
        seconds, cores, made = timed(lambda a=annotation: reconstruct(a))
        first, again = previews(scene(size[0], size[0], shape))
        found["shapes"][shape] = {
            "strokes": len(annotation.strokes),
            "surfaces": int(made.segmentation.smooth.max()),
            "cold_s": cold,
            "full_s": seconds,
            "full_cores_s": cores,
            "residual": made.residual,
            "preview_first_s": first,
            "preview_again_s": again,
            "lu_s": lu_seconds(annotation) if with_lu else None,
        }
    found["live"] = [live((size[0], size[0]), people) for people in AIMS_S]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small picture")
    parser.add_argument("--out", type=Path, default=HERE / "reconstruct.json")
    options = parser.parse_args()
    found = measure(QUICK if options.quick else SIZE, with_lu=True)
    table = Table("surfaces", "whole", "preview", "again", "LU of the systems alone", "ratio")
    for shape, row in found["shapes"].items():
        times = [f"{row[k]:.2f} s" for k in ("full_s", "preview_first_s", "preview_again_s")]
        table.add_row(shape, *times, f"{row['lu_s']:.2f} s", f"{row['lu_s'] / row['full_s']:.1f}")
    Console().print(table)
    heads = ("stroke added", "slowest", "CPU per update", f"on {CORES} free cores", "aim")
    people = Table("people", *heads, "payload", "aim")
    for row in found["live"]:
        times = [f"{1000 * row[k]:.0f} ms" for k in _LIVE]
        bytes_ = [f"{row[k] / 1000:.0f} KB" for k in ("payload_bytes", "payload_aim_bytes")]
        people.add_row(str(row["people"]), *times, *bytes_)
    Console().print(people)
    options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
