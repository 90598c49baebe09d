"""What is beside a map in its folder: the other parts of an estimate.

Numbers are in `estimate.json`, maps in files named after their part: `confidence.npy`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from depthgauge.errors import BadFile, WrongShape
from depthgauge.io._files import MAX_PIXELS, AnyPath
from depthgauge.io.maps import read_map
from depthgauge.io.reading import Reading
from depthgauge.io.stacks import read_layers, read_stack
from depthgauge.io.text import read_json
from depthgauge.quantities import CONFIDENCE, QUANTITIES, Part
from depthgauge.types import Map

FILE_NAME = "estimate.json"
COSTS = ("time_s", "cpu_s", "peak_memory_mb")
_MOST_BYTES = 1 << 20
_ENDINGS = (".npy", ".npz", ".pfm", ".flo", ".exr", ".tiff", ".tif", ".png")


def read_parts(
    map_path: AnyPath, quantity: str, *, maps: bool = True, limit: int = MAX_PIXELS
) -> dict[str, Any]:
    """The other parts of an estimate, by name; those that are not there are left out.

    Args:
        map_path: The file of the main map.
        quantity: What it is an estimate of.
        maps: Whether files in the same folder belong to the same estimate.
        limit: The most pixels that the header of a map may claim.

    Raises:
        BadFile: A file is damaged, or a part is not what the quantity says.
    """
    path = Path(map_path)
    others = (*QUANTITIES[quantity].parts[1:], CONFIDENCE)
    numbers = read_numbers(path, [part for part in others if not part.is_map])
    found: dict[str, Any] = dict(numbers)
    for part in others:
        if maps and part.is_map and (file := _file_of(path, part.name)) is not None:
            found[part.name] = read_part(file, part, limit)
    return found


def read_main(
    path: Path,
    quantity: str,
    *,
    limit: int = MAX_PIXELS,
    png_scale: float | None = None,
    reading: Reading | None = None,
) -> Map:
    """The main map of an estimate; of a quantity with layers, all of them: (L, H, W).

    A quantity with layers is also read from one map, its first layer, and from rows of u, v, layer
    and values, as an array (N, 3 + channels) or a text file.

    Raises:
        BadFile: The file is damaged or holds something else.
    """
    main = QUANTITIES[quantity].main
    if main.is_stack:
        return read_layers(path, main, limit)
    said = reading or Reading()
    return read_map(
        path,
        quantity=quantity,
        scale=said.per_unit,
        png_scale=png_scale,
        limit=limit,
        invalid=said.invalid,
    )


def read_part(path: Path, part: Part, limit: int = MAX_PIXELS) -> Map:
    """The map of one part; of one with layers or frames, all of them: (L, H, W) or (L, H, W, C).

    Raises:
        BadFile: It has other axes or channels than the part.
    """
    if part.is_stack:
        values = read_stack(path, part.axes, limit)
    else:
        values = read_map(path, quantity=part.like or None, limit=limit)
    try:
        part.check(values[0] if part.is_stack else values, part.name)
    except WrongShape as error:
        raise BadFile(f"{path}: {error}") from None
    return values


def _file_of(path: Path, name: str) -> Path | None:
    for ending in _ENDINGS:
        file = path.with_name(f"{name}{ending}")
        if file != path and file.is_file():
            return file
    return None


def read_numbers(map_path: AnyPath, parts: list[Part]) -> dict[str, float]:
    """The single numbers that the `estimate.json` beside a map has for these parts.

    A number stands at the top, among the `parts`, or, in older files, among the `extras`.

    Raises:
        BadFile: The file is not JSON, or the value is not such a number.
    """
    path = Path(map_path).parent / FILE_NAME
    return numbers_in(path, _read_json(path), parts) if parts else {}


def read_costs(folder: Path) -> dict[str, float]:
    """What estimates in a folder cost, according to its `estimate.json`.

    Those of `time_s`, `cpu_s` and `peak_memory_mb` that it has and that are not null.

    Raises:
        BadFile: The file is not JSON, or a cost is not a number of at least 0.
    """
    path = folder / FILE_NAME
    body = _read_json(path)
    if not isinstance(body, dict):
        return {}
    found = {name: body[name] for name in COSTS if body.get(name) is not None}
    for name, value in found.items():
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not 0 <= value < math.inf:
            raise BadFile(
                f"{path}: {name} is {value!r}; it must be a number of at least 0, or null."
            )
    return {name: float(value) for name, value in found.items()}


def _read_json(path: Path) -> object:
    """The content of an `estimate.json`; None if there is no such file."""
    return read_json(path, _MOST_BYTES) if path.exists() else None


def numbers_in(path: Path, body: object, parts: list[Part]) -> dict[str, float]:
    """The numbers of these parts in the content of an `estimate.json`."""
    if not isinstance(body, dict):
        return {}
    found: dict[str, float] = {}
    for part in parts:
        for place in (body.get("extras"), body.get("parts"), body):
            if isinstance(place, dict) and part.name in place:
                found[part.name] = _number(path, part, place[part.name])
    return found


def _number(path: Path, part: Part, value: object) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(float(value)) or (part.positive and not value > 0):  # type: ignore[arg-type,operator]  # a number
        kind = "a positive number" if part.positive else "a number"
        raise BadFile(f"{path}: {part.name} is {value!r}; it must be {kind}.")
    return float(value)  # type: ignore[arg-type]  # a number
