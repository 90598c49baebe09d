"""What is kept of the samples of a benchmark: inputs, and the truth where it is public."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import __version__
from depthgauge._canonical import finite_data
from depthgauge.analysis.maps.layer_maps import layer_maps
from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.rules import Rules
from depthgauge.engine.scoring.samples import samples_of
from depthgauge.errors import DepthgaugeError
from depthgauge.quantities import QUANTITIES
from depthgauge.report.pictures.drawing import drawing_of
from depthgauge.report.pictures.encode import encode, picture_of_image, picture_size
from depthgauge.report.pictures.sample import draw_sample
from depthgauge.serve.exhibits.clips import keep_scene_clip
from depthgauge.serve.exhibits.clouds import clouds_of, fitting_photo
from depthgauge.serve.exhibits.files import (
    SUBMISSION_BYTES,
    Folder,
    keep_cloud,
    keep_image_tiles,
    keep_picture,
    keep_tiles,
    points_of,
)
from depthgauge.serve.exhibits.pack import INDEX
from depthgauge.types import Image, Sample, is_known

SCHEMA = 1
MOST_BYTES = 1 << 30
"""Of all samples of a benchmark."""
DRAW_S = 1200
_WIDE = 960
_VIEW_WIDE = 512
"""Of the views of a light field: there are many."""
_MOST_VIEWS = 17 * 17
_PAIRS = (("left_image", "right_image"), ("first_image", "second_image"))
_VIEWS = "views"


def draw_scenes(
    protocol: Protocol, data: Path, out: Path, *, with_truth: bool, most_bytes: int = MOST_BYTES
) -> None:
    """Draws the samples of a benchmark into a folder.

    Args:
        protocol: The benchmark.
        data: What participants have.
        out: Where the files go.
        with_truth: Whether the truth may be seen; if not, it is not read.
        most_bytes: About the size of everything.
    """
    samples = samples_of(protocol, data)
    judge = Judge(Rules.of(protocol, samples), with_hashes=False) if with_truth else None
    end = time.monotonic() + DRAW_S
    drawn, left_out = [], []
    for place, sample in enumerate(samples):
        folder = Folder(out, str(place), most_bytes / len(samples))
        # Tiles of the size that those of estimates have, so that they can be subtracted.
        tiled = replace(folder, most_bytes=min(most_bytes, SUBMISSION_BYTES) / len(samples))
        if time.monotonic() > end:
            left_out.append(f"{sample.id}: there was no time left")
            continue
        try:
            drawn.append(_scene(protocol, sample, judge, folder, tiled))
        except (DepthgaugeError, MemoryError, ValueError, ArithmeticError) as error:
            left_out.append(f"{sample.id}: {type(error).__name__}")
    index = {"schema": SCHEMA, "made_by": __version__, "samples": drawn, "left_out": left_out}
    out.mkdir(parents=True, exist_ok=True)
    (out / INDEX).write_text(json.dumps(finite_data(index), allow_nan=False))


def _scene(
    protocol: Protocol, sample: Sample, judge: Judge | None, folder: Folder, tiled: Folder
) -> dict[str, Any]:
    inputs = next(sample.fresh().frames()).inputs
    images = {name: inputs[name] for name in inputs if name.endswith("image")}
    views = inputs.get(_VIEWS)
    if not images and views is not None:
        images = {"centre_image": views[views.shape[0] // 2, views.shape[1] // 2]}
    record: dict[str, Any] = {
        "id": sample.id,
        "scene": sample.scene,
        "inputs": list(_inputs(images, folder)),
        "pair": next((pair for pair in _PAIRS if all(name in images for name in pair)), None),
        "views": None if views is None else _views(views, folder),
        "clip": keep_scene_clip(protocol, sample, judge, folder),
    }
    if judge is None:
        return record
    return {**record, **_truth(protocol, sample, judge, images, folder, tiled)}


def _inputs(images: Mapping[str, Image], folder: Folder) -> Iterator[dict[str, Any]]:
    """Every picture that methods get; one that has two names is kept once."""
    seen: list[Image] = []
    for name, image in images.items():
        if any(np.array_equal(image, other) for other in seen):
            continue
        seen.append(image)
        picture = picture_of_image(image, name.replace("_", " "), wide=_WIDE)
        record = {"name": name, **keep_picture(folder, name, picture), "tiles": ""}
        if picture.size_px[0] < image.shape[1]:
            rgb = fitting_photo(image, image.shape[:2])
            record["tiles"] = keep_image_tiles(folder, f"{name}-tiles", rgb)
        yield record


def _views(views: Any, folder: Folder) -> dict[str, Any] | None:
    """All views of a light field, as its viewer loads them."""
    rows, columns = views.shape[:2]
    if rows * columns > _MOST_VIEWS:
        return None
    size = picture_size(views.shape[2:4], _VIEW_WIDE)
    for row in range(rows):
        for column in range(columns):
            picture = fitting_photo(views[row, column], size)
            folder.write(f"views/{row}_{column}.webp", encode(picture, lossless=False))
    return {
        "rows": rows,
        "columns": columns,
        "files": f"{folder.name}/views/{{row}}_{{column}}.webp",
        "middle": f"{folder.name}/views/{rows // 2}_{columns // 2}.webp",
        "width": size[1],
        "height": size[0],
    }


def _truth(
    protocol: Protocol,
    sample: Sample,
    judge: Judge,
    images: Mapping[str, Image],
    folder: Folder,
    tiled: Folder,
) -> dict[str, Any]:
    bare = judge.prepared(sample, None)
    made = SampleMaps(
        sample=sample.id,
        quantity=protocol.quantity,
        truth=bare.truth,
        images=images,
        wrong_above=drawing_of(protocol.quantity).spec.wrong_above,
        protocol=protocol,
        unestimated=bare,
        layers=layer_maps(bare, {}),
        most_wide=_WIDE,
    )
    drawn = draw_sample(made)
    truth = None if drawn.truth is None else keep_picture(folder, "truth", drawn.truth)
    tiles = ""
    if drawn.truth is not None and drawn.truth.bar is not None:
        unit = QUANTITIES[protocol.quantity].unit
        tiles = keep_tiles(tiled, "truth-tiles", made.truth, drawn.truth.bar, unit)
    layers = [
        {
            "name": layer.name,
            "about": layer.about,
            "pictures": [
                {"kind": "truth", **keep_picture(folder, f"layer-{layer.name}", layer.truth)}
            ],
        }
        for layer in drawn.layers
        if layer.truth is not None
    ]
    clouds = clouds_of(made, "", points_of(folder, max(1, len(made.layers))))
    return {
        "truth": truth,
        "truth_tiles": tiles,
        "layers": layers,
        "cloud": keep_cloud(folder, clouds) if clouds else "",
        "known": round(float(is_known(bare.truth).mean()), 4),
    }
