"""Scenes with dense truth of every layer: two times, two cameras, flow, disparity, depth."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._paths import inside
from depthgauge.errors import BadFile, CannotWrite, DepthgaugeError, Unavailable, WrongShape
from depthgauge.geometry.camera_json import rig_from_json, rig_to_json
from depthgauge.geometry.layers import MATERIALS as MATERIALS
from depthgauge.geometry.layers import NO_MATERIAL
from depthgauge.io import npz
from depthgauge.io.stacks import read_checked, read_stack
from depthgauge.io.text import read_json
from depthgauge.types import Image, Inputs, Map, Rig, Sample, Truth

NONE, VALID, OCCLUDED, VANISHED, UNSOLVED = range(5)
"""Codes of `flow_state` and `disparity_state`."""
IMAGES = {
    "left": "left_image",
    "right": "right_image",
    "left_next": "second_image",
    "right_next": "right_next_image",
}
"""Pictures on disk, and what methods get; `left` is also the `first_image` of the flow."""
_LAYERS, _PIXELS = ("layer", "y", "x"), ("y", "x")
MAPS: dict[str, tuple[str, ...]] = {
    "layered_flow": (*_LAYERS, "uv"),
    "layered_flow_backward": (*_LAYERS, "uv"),
    "layered_disparity": _LAYERS,
    "layered_depth": _LAYERS,
    "layered_scene_flow": (*_LAYERS, "xyz"),
    "layer_position": (*_LAYERS, "xyz"),
    "refraction_px": _LAYERS,
}
"""Maps of the truth and their axes; NaN where there is no such layer or it is not valid."""
CODES: dict[str, tuple[str, ...]] = {
    "layer_material": _LAYERS,
    "layer_object": _LAYERS,
    "layer_count": _PIXELS,
    "flow_state": _LAYERS,
    "disparity_state": _LAYERS,
}
"""Whole numbers of the truth and their axes; -1 is an object that is not there."""
_FIRST = {"flow": "layered_flow", "disparity": "layered_disparity", "depth": "layered_depth"}
"""What the first layer is called, for methods and benchmarks of one layer."""
_CHANNELS = {"uv": 2, "xyz": 3}
_RECORD = "sample.json"
_SCHEMA = 1
_MOST_VALUES = 1 << 28

SPEC = DatasetSpec(
    id="layered",
    title="Scenes with dense truth of every layer",
    quantities=(
        *("layered_flow", "layered_disparity", "layered_depth", "layered_scene_flow"),
        *_FIRST,
    ),
    splits=("all",),
    licence="as the data says",
    cite="made by `depthgauge make layers`",
    homepage="",
    sample_layout="<id>/ with left.png, right.png, left_next.png, right_next.png, sample.json "
    "(cameras, names of materials) and layered_flow.npz, layered_disparity.npz, layered_depth.npz, "
    "layer_material.npz ... (layer, height, width, channels)",
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """One sample per folder with a `sample.json`.

    Inputs: `left_image`, `right_image`, `first_image` (the left one), `second_image` (the left one
    of the next time), `right_next_image`, `rig`, and `disparity_range` where it is known.
    """
    for record in sorted(root.rglob(_RECORD)):
        yield _sample(root, record)


def _sample(root: Path, record: Path) -> Sample:
    folder = record.parent
    inputs: dict[str, Any] = {}
    for stem, name in IMAGES.items():
        if (path := folder / f"{stem}.png").is_file():
            inputs[name] = partial(io.read_image, path)
    if "left_image" in inputs:
        inputs["first_image"] = inputs["left_image"]
    inputs["rig"] = partial(_rig, record)
    about = _record(record)
    if about.get("disparity_range"):
        low, high = about["disparity_range"]
        inputs["disparity_range"] = (float(low), float(high))
    return Sample(folder.relative_to(root).as_posix(), Inputs(inputs), _truth(record))


def _truth(record: Path) -> Truth | None:
    folder = record.parent
    found: dict[str, Any] = {}
    for name in MAPS:
        if (path := folder / f"{name}.npz").is_file():
            found[name] = partial(_read_map, path)
    for name in CODES:
        if (path := folder / f"{name}.npz").is_file():
            found[name] = partial(_read_codes, path)
    if "layer_material" in found:
        found["layer_material"] = partial(_read_materials, folder / "layer_material.npz", record)
    for single, layered in _FIRST.items():
        if layered in found:
            found[single] = partial(_read_first, folder / f"{layered}.npz")
    return Truth(found) if found else None


def _read_map(path: Path) -> Map:
    """A map of the truth; a damaged one costs only its sample."""
    try:
        values = read_stack(path, MAPS[path.stem], _MOST_VALUES)
        channels = _CHANNELS.get(MAPS[path.stem][-1])
        if channels is not None and values.shape[-1] != channels:
            raise BadFile(f"{path}: expected {channels} channels, found {values.shape[-1]}.")
    except DepthgaugeError as error:
        raise Unavailable(f"has no usable truth: {error}") from error
    return values


def _read_first(path: Path) -> Map:
    first: Map = _read_map(path)[0]
    return first


def _read_codes(path: Path) -> NDArray[np.int32]:
    axes = CODES[path.stem]

    def check(header: Any) -> None:
        if len(header.shape) != len(axes) or np.prod(header.shape) > _MOST_VALUES:
            raise BadFile(f"{path}: expected the axes ({', '.join(axes)}), found {header.shape}.")

    try:
        return np.asarray(read_checked(path, check), np.int32)
    except DepthgaugeError as error:
        raise Unavailable(f"has no usable truth: {error}") from error


def _read_materials(path: Path, record: Path) -> NDArray[np.uint8]:
    """Codes as in `MATERIALS`, whatever order the file has."""
    names = _record(record).get("materials", MATERIALS)
    codes = _read_codes(path)
    unknown = [name for name in names if name not in MATERIALS]
    if unknown or (codes[(codes != NO_MATERIAL)] >= len(names)).any():
        raise Unavailable(
            f"has no usable truth: {record}: the materials {list(names)} are not those of "
            f"{path.name}, or not among {', '.join(MATERIALS)}."
        )
    table = np.full(256, NO_MATERIAL, np.uint8)
    table[: len(names)] = [MATERIALS.index(name) for name in names]
    return table[np.clip(codes, 0, 255)]


def _record(path: Path) -> dict[str, Any]:
    found = read_json(path)
    if not isinstance(found, dict) or found.get("schema") != _SCHEMA:
        raise BadFile(f"{path}: expected a record of schema {_SCHEMA}; write the sample again.")
    return found


def _rig(path: Path) -> Rig:
    try:
        return rig_from_json(_record(path)["rig"])
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"{path}: has no usable 'rig' ({error}); write the sample again.") from None


def is_written(root: Path, sample_id: str) -> bool:
    """Whether a sample is complete: its record is written last."""
    return (Path(root) / sample_id / _RECORD).is_file()


def write_sample(
    root: Path,
    sample_id: str,
    images: Mapping[str, Image],
    truth: Mapping[str, NDArray[Any]],
    *,
    rig: Rig,
    disparity_range: tuple[float, float] | None = None,
    materials: Sequence[str] = MATERIALS,
    facts: Mapping[str, Any] | None = None,
) -> Path:
    """Writes one sample, compressed without loss; its record last, so that a killed run shows.

    Args:
        root: The folder of the dataset.
        sample_id: The name of the sample and of its folder.
        images: By the names of `IMAGES`: `left`, `right`, `left_next`, `right_next`.
        truth: Any of `MAPS` and `CODES`, of one size and number of layers.
        rig: With the cameras `left` and `right` and the baseline.
        disparity_range: What stereo methods may know.
        materials: The names of the codes in `layer_material`.
        facts: Anything else worth keeping that JSON can hold: seed, options, versions.

    Returns:
        The folder of the sample.

    Raises:
        WrongShape: A map has other axes, or another size than the rest.
        CannotWrite: A name is not known.
    """
    _require_known(sample_id, images, truth, materials)
    _require_shapes(sample_id, images, truth)
    folder = inside(Path(root), sample_id)
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / _RECORD
    record.unlink(missing_ok=True)
    for name, image in images.items():
        io.write_image(folder / f"{name}.png", image)
    for name, values in truth.items():
        npz.write(folder / f"{name}.npz", np.asarray(values, np.float32))
    body = {
        "schema": _SCHEMA,
        "materials": list(materials),
        "rig": rig_to_json(rig),
        "disparity_range": disparity_range,
        "facts": dict(facts or {}),
    }
    io.write_text(record, json.dumps(body, indent=1, allow_nan=False) + "\n")
    return folder


def _require_known(
    sample_id: str, images: Iterable[str], truth: Iterable[str], materials: Iterable[str]
) -> None:
    for given, known, what in (
        (images, IMAGES, "picture"),
        (truth, {**MAPS, **CODES}, "map"),
        (materials, MATERIALS, "material"),
    ):
        if wrong := sorted(set(given) - set(known)):
            raise CannotWrite(
                f"sample '{sample_id}': there is no {what} '{wrong[0]}'; known: {', '.join(known)}."
            )


def _require_shapes(
    sample_id: str, images: Mapping[str, Image], truth: Mapping[str, NDArray[Any]]
) -> None:
    """All pictures and maps have one height and width, all maps with layers one number of them."""
    sizes = {name: image.shape[:2] for name, image in images.items()}
    layers: dict[str, int] = {}
    for name, values in truth.items():
        axes = {**MAPS, **CODES}[name]
        channels = _CHANNELS.get(axes[-1])
        if values.ndim != len(axes) or (channels and values.shape[-1] != channels):
            raise WrongShape(
                f"sample '{sample_id}': {name} has the axes ({', '.join(axes)}), found "
                f"{values.shape}."
            )
        start = axes.index("y")
        sizes[name] = values.shape[start : start + 2]
        if start:
            layers[name] = values.shape[0]
    for found, what in ((sizes, "size"), (layers, "number of layers")):
        if len(set(found.values())) > 1:
            listed = ", ".join(f"{name} {value}" for name, value in found.items())
            raise WrongShape(f"sample '{sample_id}': not all have one {what}: {listed}.")
