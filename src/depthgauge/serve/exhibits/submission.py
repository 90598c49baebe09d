"""What is kept of a submission to a public benchmark: everything that its pages show."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import __version__
from depthgauge._canonical import finite_data
from depthgauge.analysis.boards.board import Board
from depthgauge.analysis.boards.tier_boards import joined_board
from depthgauge.analysis.degradation import degradations
from depthgauge.analysis.maps.sample_maps import SampleMaps, sample_maps
from depthgauge.analysis.precision_recall import precision_recall
from depthgauge.analysis.thresholds import curves_of
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.store.record import Run
from depthgauge.errors import DepthgaugeError
from depthgauge.quantities import QUANTITIES
from depthgauge.report.pictures.drawing import drawing_of
from depthgauge.report.pictures.model import LayerPictures, MethodPictures, SamplePictures
from depthgauge.report.pictures.sample import draw_sample, on_a_fixed_scale
from depthgauge.serve.exhibits.clips import keep_estimate_clip
from depthgauge.serve.exhibits.clouds import clouds_of
from depthgauge.serve.exhibits.files import (
    SUBMISSION_BYTES,
    WIDE,
    Folder,
    keep_cloud,
    keep_maps,
    keep_picture,
    keep_small,
    keep_tiles,
    points_of,
)
from depthgauge.serve.exhibits.pack import INDEX
from depthgauge.types import Map, is_known

SCHEMA = 1
DRAW_S = 600
"""After so much time, no further sample is begun."""


def draw_submission(run: Run, data: Path, out: Path, *, most_bytes: int = SUBMISSION_BYTES) -> None:
    """Draws all samples of a run of one method into a folder.

    What cannot be drawn is left out and named in the index; the rest goes on.

    Args:
        run: The submission as a run of its benchmark.
        data: The dataset, with its public truth.
        out: Where the files go.
        most_bytes: About the size of everything.
    """
    board = joined_board(run)
    maps = RunMaps(run, data)
    end, label = time.monotonic() + DRAW_S, run.entrants[0].label
    samples, left_out = [], []
    for place, sample in enumerate(run.samples):
        if time.monotonic() > end:
            left_out += [f"{name}: there was no time left" for name in run.samples[place:]]
            break
        folder = Folder(out, str(place), most_bytes / len(run.samples))
        try:
            samples.append(_draw(maps, board, sample, label, folder))
        except (DepthgaugeError, MemoryError, ValueError, ArithmeticError) as error:
            left_out.append(f"{sample}: {type(error).__name__}")
    index = {
        "schema": SCHEMA,
        "made_by": __version__,
        "samples": samples,
        "left_out": left_out,
        **_about_all(run, board, label),
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / INDEX).write_text(json.dumps(finite_data(index), allow_nan=False))


def _about_all(run: Run, board: Board, label: str) -> dict[str, Any]:
    """Curves, costs and hashes."""
    curves = curves_of(run)
    known = {each.sample: each for each in run.timings}
    return {
        "about": drawing_of(run.protocol.quantity).spec.about,
        "curves": None
        if curves is None
        else {**asdict(curves), "lines": [asdict(point) for point in curves.lines.get(label, ())]},
        "degradations": [
            {**asdict(each), "lines": list(each.lines.get(label, ()))}
            for each in degradations(board, run.protocol)
            if any(each.filled)
        ],
        "times": {name: each.time_s for name, each in known.items() if each.time_s > 0},
        "protocol_hash": run.protocol.hash,
        "truths": dict(run.truth_hashes),
        "estimates": dict(run.estimate_hashes.get((label, 0), {})),
    }


def _draw(maps: RunMaps, board: Board, sample: str, label: str, folder: Folder) -> dict[str, Any]:
    protocol = maps.run.protocol
    found = maps.all_prepared(sample)
    made = sample_maps(
        maps,
        board,
        sample,
        found,
        curves=precision_recall(maps.run),
        usual_threshold=drawing_of(protocol.quantity).spec.wrong_above,
    )
    made = replace(on_a_fixed_scale(made), most_wide=WIDE)
    drawn = draw_sample(made)
    record = {
        "id": sample,
        "pictures": list(_own(folder, drawn.methods, "")),
        "layers": list(_layers(folder, drawn)),
        "rows": list(_rows(folder, drawn)),
        "note": next((each.note for each in drawn.methods), ""),
        "clip": keep_estimate_clip(maps, sample, label, folder),
    }
    return {**record, **_maps(made, drawn, label, folder)}


def _own(
    folder: Folder, methods: tuple[MethodPictures, ...], before: str
) -> Iterator[dict[str, Any]]:
    for method in methods:
        for kind in ("estimate", "error", "lines"):
            picture = getattr(method, kind)
            if picture is not None:
                yield {"kind": kind, **keep_picture(folder, f"{before}{kind}", picture)}


def _layers(folder: Folder, drawn: SamplePictures) -> Iterator[dict[str, Any]]:
    for layer in drawn.layers:
        yield {"name": layer.name, "about": layer.about, "pictures": _layer(folder, layer)}


def _layer(folder: Folder, layer: LayerPictures) -> list[dict[str, Any]]:
    before = f"layer-{layer.name}-"
    own = list(_own(folder, layer.methods, before))
    if layer.truth is None:
        return own
    return [{"kind": "truth", **keep_picture(folder, f"{before}truth", layer.truth)}, *own]


def _rows(folder: Folder, drawn: SamplePictures) -> Iterator[dict[str, Any]]:
    """What each metric sees, and further parts; the truth beside them only where there is one."""
    for number, row in enumerate(drawn.rows):
        pictures = [
            keep_picture(folder, f"row-{number}-{k}", picture)
            for k, picture in enumerate(row.pictures.values())
        ]
        yield {"title": row.title, "about": row.about, "pictures": pictures}


def _where_known(made: SampleMaps, errors: Map) -> Map:
    """Errors, infinite where there is no truth and NaN where there is no estimate."""
    return np.where(is_known(made.truth), errors, np.float32(np.inf))


def _maps(made: SampleMaps, drawn: SamplePictures, label: str, folder: Folder) -> dict[str, Any]:
    """Tiles, small maps, points and downloads of the estimate."""
    estimate, errors = made.estimates.get(label), made.errors.get(label)
    unit = QUANTITIES[made.quantity].unit
    pictures = drawn.methods[0] if drawn.methods else None
    tiles = {}
    for kind, values in (("estimate", estimate), ("error", errors)):
        picture = None if pictures is None else getattr(pictures, kind)
        if values is not None and picture is not None and picture.bar is not None:
            of = made.error_unit if kind == "error" and made.error_unit is not None else unit
            tiles[kind] = keep_tiles(folder, f"{kind}-tiles", values, picture.bar, of)
    clouds = clouds_of(made, label, points_of(folder, max(1, len(made.layers))))
    given = made.prepared.get(label)
    parts = {} if given is None or given.given is None else {made.quantity: given.given}
    return {
        "tiles": tiles,
        "errors": ""
        if errors is None
        else keep_small(folder, "errors", _where_known(made, errors)),
        "cloud": keep_cloud(folder, clouds) if clouds else "",
        "maps": keep_maps(folder, parts) if parts else "",
    }
