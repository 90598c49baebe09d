"""The 4D light field benchmark (HCI Heidelberg and Konstanz): 28 scenes on a grid of cameras."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._hci4d.items import AXES, AXES_FILE, file_of, item_of
from depthgauge.datasets._hci4d.scenes import CATEGORIES, SCENES, scenes_of
from depthgauge.datasets._hci4d.views import (
    Views,
    count_views,
    read_centre,
    read_views,
    square_grid,
    view_name,
)
from depthgauge.datasets._hci4d.writing import PARAMETERS, write
from depthgauge.datasets._scenes import refuse, scene_folders
from depthgauge.errors import BadData, WrongShape
from depthgauge.io.text import read_json
from depthgauge.types import Inputs, Mask, Rig, Sample, Truth

__all__ = ["SPEC", "samples", "write"]

SPEC = DatasetSpec(
    id="hci4d",
    title="4D light field benchmark (HCI)",
    quantities=("disparity", "depth"),
    splits=("benchmark", *SCENES, "all"),
    licence="CC BY-NC-SA 4.0",
    cite="Honauer et al., A dataset and evaluation methodology for depth estimation on 4D light "
    "fields, ACCV 2016",
    homepage="https://lightfield-analysis.uni-konstanz.de/",
    sample_layout="<scene>/ or <category>/<scene>/ with input_Cam000.png ..., parameters.cfg, "
    "gt_disp_{lowres,highres}.pfm, gt_depth_{lowres,highres}.pfm and "
    "mask_<name>_{lowres,highres}.png",
    estimate_layouts=("disp_maps/{sample}.pfm",),
)

_MAPS = ("disparity", "high_disparity", "depth", "high_depth")
_SIGNS = (view_name(0), PARAMETERS, *(str(file_of(name)) for name in _MAPS))


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """The scenes of a split, which is determined by their names; `all` accepts any name.

    Disparity and depth belong to the centre view; items that start with `high_` have the high
    resolution. A scene whose truth is not in the data has `truth = None`.
    """
    wanted = scenes_of(split)
    found: dict[str, Path] = {}
    faults: dict[str, list[str]] = {}
    for folder in _scene_folders(root):
        name = folder.name
        if name in found:
            faults[name] = [f"is in {found[name].parent.name} and in {folder.parent.name}"]
        found[name] = folder
    refuse(SPEC, root, faults)
    for name in sorted(found):
        if wanted is None or name in wanted:
            yield _sample(name, found[name])


def _scene_folders(root: Path) -> Iterator[Path]:
    yield from scene_folders(root, _SIGNS)
    for category in CATEGORIES:
        if (root / category).is_dir():
            yield from scene_folders(root / category, _SIGNS)


def _sample(name: str, folder: Path) -> Sample:
    extra = name in SCENES["additional"]
    return Sample(name, Inputs(_inputs(folder)), _truth(folder), extra=extra)


def _inputs(folder: Path) -> dict[str, Any]:
    count = count_views(folder)
    parameters = folder / PARAMETERS
    if not parameters.is_file():
        grid = square_grid(count)
        if grid is None:
            return {}
        return {
            "views": partial(read_views, folder, grid, None),
            "centre_image": partial(read_centre, folder, grid, None),
        }
    inputs: dict[str, Any] = {
        "parameters": partial(io.read_light_field_parameters, parameters),
        "rig": partial(_read_rig, parameters),
        "disparity_range": partial(_read_range, parameters),
    }
    if count:
        inputs["views"] = partial(_read_views, folder)
        inputs["centre_image"] = partial(_read_centre, folder)
    return inputs


def _read_rig(path: Path) -> Rig:
    return io.read_light_field_parameters(path).rig


def _read_range(path: Path) -> tuple[float, float]:
    found = io.read_light_field_parameters(path).disparity_range
    if found is None:
        raise BadData(f"{path}: has no disp_min and disp_max in its section [meta].")
    return found


def _read_views(folder: Path) -> Views:
    parameters = io.read_light_field_parameters(folder / PARAMETERS)
    return read_views(folder, parameters.grid, parameters.size_px)


def _read_centre(folder: Path) -> Views:
    parameters = io.read_light_field_parameters(folder / PARAMETERS)
    return read_centre(folder, parameters.grid, parameters.size_px)


def _truth(folder: Path) -> Truth | None:
    files = {item: folder / name for name in os.listdir(folder) if (item := item_of(name))}
    if not files.keys() & set(_MAPS):
        return None
    truth: dict[str, Any] = {}
    for item, path in files.items():
        if item in _MAPS:
            quantity = item.removeprefix("high_")
            truth[item] = partial(io.read_map, path, quantity=quantity)
        else:
            truth[item] = partial(_read_mask if item.endswith("_mask") else _read_labels, path)
        truth[f"{item}_path"] = path
    if (folder / AXES_FILE).is_file():
        truth[AXES] = partial(_read_axes, folder / AXES_FILE)
    return Truth(truth)


def _read_axes(path: Path) -> dict[str, list[float]]:
    """The levels of numbered regions, which our generator writes."""
    found = read_json(path)
    if not isinstance(found, dict) or not all(_is_numbers(levels) for levels in found.values()):
        raise BadData(f"{path}: must have a list of numbers for each name of labels.")
    return found


def _is_numbers(levels: Any) -> bool:
    return isinstance(levels, list) and all(type(level) in (int, float) for level in levels)


def _read_mask(path: Path) -> Mask:
    return _of_truths_size(path, io.read_mask(path))


def _read_labels(path: Path) -> NDArray[np.int32]:
    return _of_truths_size(path, io.read_labels(path))


def _of_truths_size(path: Path, found: NDArray[Any]) -> NDArray[Any]:
    """The mask, checked to have the size of the truth at its resolution."""
    size = path.stem.rpartition("_")[2]
    truths = [path.with_name(f"gt_{kind}_{size}.pfm") for kind in ("disp", "depth")]
    truth = next((p for p in truths if p.is_file()), None)
    if truth is None:
        return found
    height, width, _ = io.map_size(truth)
    if found.shape != (height, width):
        raise WrongShape(
            f"{path}: is {found.shape[1]}x{found.shape[0]} but {truth.name} is {width}x{height}; "
            "they must have the same size."
        )
    return found
