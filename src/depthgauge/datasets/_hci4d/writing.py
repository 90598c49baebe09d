"""Writes scenes in the layout of the 4D light field benchmark."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge._registry import unknown
from depthgauge.datasets._hci4d.items import AXES, AXES_FILE, HIGH, file_of, item_of
from depthgauge.datasets._hci4d.scenes import CATEGORIES, category_of
from depthgauge.datasets._hci4d.views import is_view, view_name
from depthgauge.datasets._scenes import new_scene
from depthgauge.errors import CannotWrite, DoesNotFit, WrongShape
from depthgauge.types import Map, Sample, Truth

PARAMETERS = "parameters.cfg"
_Job = Callable[[], None]
_MOST_LABEL = 65535


def write(
    root: Path, samples: Iterable[Sample], *, category: str | None = None, overwrite: bool = False
) -> None:
    """Writes scenes as `<root>/<category>/<scene>/`, so that the benchmark's own tools read them.

    The following items are written if a sample has them: `views`, `parameters` (or a `rig`, from
    which they are derived), and the disparity, depth, masks and labels of the truth at both
    resolutions, and the levels of its labels (`axes`). Missing pixels of a map are +inf in its
    file.

    Args:
        root: The folder of categories.
        samples: Their ids are the names of the scenes.
        category: Category of all scenes; by default the benchmark's category for each name, or
            `other`.
        overwrite: Replace existing scenes; other files in their folders stay.

    Raises:
        CannotWrite: A scene already exists.
        WrongShape: A mask does not have the size of its map, or the views do not match the
            parameters.
    """
    if category is not None and category not in CATEGORIES:
        raise unknown("category of scenes", category, CATEGORIES)
    for sample in samples:
        folder = new_scene(Path(root) / (category or category_of(sample.id)), sample.id)
        # Everything is read and checked before anything is removed: it may be read from there.
        jobs = [*_input_jobs(folder, sample), *_truth_jobs(folder, sample.truth or Truth({}))]
        _clear(folder, overwrite)
        # Encoding and compressing release Python's lock, so threads help.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for _ in pool.map(lambda job: job(), jobs):
                pass


def _clear(folder: Path, overwrite: bool) -> None:
    """Removes files of an earlier light field, which would be mistaken for this one's."""
    ours = [p for p in folder.iterdir() if is_view(p.name) or item_of(p.name)]
    ours += [p for p in (folder / PARAMETERS, folder / AXES_FILE) if p.exists()]
    if ours and not overwrite:
        raise CannotWrite(
            f"{folder}: already contains a scene; use --overwrite (overwrite=True) to replace it."
        )
    for path in ours:
        path.unlink()


def _input_jobs(folder: Path, sample: Sample) -> Iterator[_Job]:
    parameters = _parameters(folder, sample)
    if parameters is not None:
        yield partial(io.write_light_field_parameters, folder / PARAMETERS, parameters)
    if "views" not in sample.inputs:
        return
    views = sample.inputs["views"]
    if parameters is not None:
        _require_agreement(folder, parameters, views.shape)
    for index, view in enumerate(views.reshape(-1, *views.shape[2:])):
        yield partial(io.write_image, folder / view_name(index), view)


def _require_agreement(
    folder: Path, parameters: io.LightFieldParameters, shape: tuple[int, ...]
) -> None:
    width, height = parameters.size_px
    if shape != (*parameters.grid, height, width, 3):
        raise WrongShape(
            f"{folder}: the parameters say {parameters.grid} rows and columns of views of "
            f"{width}x{height}, the views are {shape} (rows, columns, height, width, channels)."
        )


def _parameters(folder: Path, sample: Sample) -> io.LightFieldParameters | None:
    """The sample's own or derived from its rig, completed with what the benchmark's tools need."""
    inputs, truth = sample.inputs, sample.truth or Truth({})
    if "parameters" in inputs:
        found: io.LightFieldParameters = inputs["parameters"]
    elif "rig" in inputs and "views" in inputs:
        found = io.LightFieldParameters.from_rig(inputs["rig"], inputs["views"].shape[:2])
    else:
        return None
    added: dict[str, Any] = {"scene": sample.id, "category": folder.parent.name}
    if found.disparity_range is None:
        low, high = inputs.get("disparity_range") or _range_of(truth)
        added |= {"disp_min": low, "disp_max": high}
    if found.depth_map_scale is None:
        added["depth_map_scale"] = _scale_of(truth)
    return replace(found, **added)


def _range_of(truth: Truth) -> tuple[float, float]:
    """The true range, slightly widened to tenths, as the benchmark's renderer writes it."""
    maps = [truth[name] for name in (f"{HIGH}disparity", "disparity") if name in truth]
    known = maps[0][np.isfinite(maps[0])] if maps else np.zeros(0)
    if not known.size:
        raise DoesNotFit("parameters.cfg needs a disparity range; add inputs 'disparity_range'.")
    low, high = math.floor(known.min() * 10) / 10 - 0.1, math.ceil(known.max() * 10) / 10 + 0.1
    return round(low, 1), round(high, 1)


def _scale_of(truth: Truth) -> float:
    for quantity in ("disparity", "depth"):
        if quantity in truth and HIGH + quantity in truth:
            return float(truth[HIGH + quantity].shape[1] / truth[quantity].shape[1])
    return 1.0


def _truth_jobs(folder: Path, truth: Truth) -> Iterator[_Job]:
    sizes: dict[str, tuple[int, ...]] = {}
    if AXES in truth:
        text = json.dumps(truth[AXES], indent=1) + "\n"
        yield partial(io.write_text, folder / AXES_FILE, text)
    # Maps come before their masks, which must have the same size.
    for item in sorted(truth, key=lambda name: name.endswith(("_mask", "_labels"))):
        file = file_of(item)
        if file is None:
            continue
        values = truth[item]
        resolution = file.rpartition("_")[2].partition(".")[0]
        size = sizes.setdefault(resolution, values.shape)
        if values.shape != size:
            raise WrongShape(
                f"{folder / file}: {item} is {values.shape[1]}x{values.shape[0]} but the truth of "
                f"this resolution is {size[1]}x{size[0]}."
            )
        yield partial(_write_item, folder / file, item, values)


def _write_item(path: Path, item: str, values: Map | NDArray[Any]) -> None:
    if path.suffix == ".pfm":
        io.write_map(path, values, quantity=item.removeprefix(HIGH))
    elif item.endswith("_mask"):
        io.write_image(path, np.asarray(values, bool))
    else:
        io.write_image(path, _codes(path, values))


def _codes(path: Path, labels: NDArray[Any]) -> NDArray[np.uint8] | NDArray[np.uint16]:
    least, most = (int(labels.min()), int(labels.max())) if labels.size else (0, 0)
    if least < 0 or most > _MOST_LABEL:
        raise DoesNotFit(f"{path}: labels are {least}..{most}, a PNG holds 0..{_MOST_LABEL}.")
    # 8 bits if they are enough, as in the benchmark.
    return labels.astype(np.uint8) if most < 256 else labels.astype(np.uint16)
