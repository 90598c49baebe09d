"""The hidden truth of a simulated session with tags: where every corner is, and where it is seen.

Only the comparison with the truth reads it; the pipeline does not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.errors import BadData
from depthgauge.geometry.camera_json import camera_from_json, camera_to_json
from depthgauge.io.text import parse_json
from depthgauge.sessions.session import Session
from depthgauge.types import Camera

SCHEMA: Final = 1
View = tuple[int, int]
"""Time and camera."""


@dataclass(frozen=True, slots=True, eq=False)
class TagTruth:
    """One tag of a simulated object."""

    identity: int
    size_m: float
    """Side of the black square."""
    material: str
    """Of the surface that it sticks to: one of `MATERIALS`."""
    layer: int
    """From 1."""
    surface: str = ""
    """What it sticks to, in words."""
    corners_m: Mapping[int, NDArray[np.float64]] = field(default_factory=dict)
    """By time (1 and 2): (4, 3) corners in the world, in the order of `TAG_CORNERS`."""
    corners_px: Mapping[View, NDArray[np.float64]] = field(default_factory=dict)
    """By time (1 and 2) and camera: (4, 2) where the raw image shows them, through any glass; NaN
    where it does not."""
    glass: Mapping[View, int] = field(default_factory=dict)
    """By time and camera: how many surfaces of glass are in front of it."""


@dataclass(frozen=True, slots=True, eq=False)
class TagSessionTruth:
    """What a simulation knows about one object."""

    cameras: Mapping[View, Camera]
    """The exact cameras with their poses in the world, by time (1 and 2) and camera."""
    tags: Sequence[TagTruth]


def tag_truth_file(session: Session, name: str) -> Path:
    """Where a simulated session keeps the truth of an object."""
    return session.truth_folder / "objects" / f"{name}.json"


def write_tag_truth(path: Path, truth: TagSessionTruth) -> None:
    """Writes the truth of one object."""
    data = {
        "schema": SCHEMA,
        "cameras": {_text(view): camera_to_json(c) for view, c in truth.cameras.items()},
        "tags": [_tag_json(tag) for tag in truth.tags],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    io.write_text(path, json.dumps(data, indent=1, allow_nan=False) + "\n")


def read_tag_truth(path: Path) -> TagSessionTruth:
    """The truth of one object.

    Raises:
        BadData: The file is missing or damaged.
    """
    try:
        data = parse_json(path.read_text(encoding="utf-8"), finite=True)
        if data["schema"] != SCHEMA:
            raise ValueError(f"expected schema {SCHEMA}, found {data['schema']!r}")
        cameras = {_view(text): camera_from_json(c) for text, c in data["cameras"].items()}
        return TagSessionTruth(cameras, [_tag(tag) for tag in data["tags"]])
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadData(f"{path}: the truth of an object cannot be read: {error!r}.") from error


def _tag_json(tag: TagTruth) -> dict[str, Any]:
    return {
        "id": int(tag.identity),
        "size_m": float(tag.size_m),
        "material": tag.material,
        "layer": int(tag.layer),
        "surface": tag.surface,
        "corners_m": {str(time): _plain(corners) for time, corners in tag.corners_m.items()},
        "corners_px": {_text(view): _plain(corners) for view, corners in tag.corners_px.items()},
        "glass": {_text(view): int(count) for view, count in tag.glass.items()},
    }


def _tag(data: Mapping[str, Any]) -> TagTruth:
    return TagTruth(
        int(data["id"]),
        float(data["size_m"]),
        str(data["material"]),
        int(data["layer"]),
        str(data["surface"]),
        {int(time): _corners(rows, 3) for time, rows in data["corners_m"].items()},
        {_view(text): _corners(rows, 2) for text, rows in data["corners_px"].items()},
        {_view(text): int(count) for text, count in data["glass"].items()},
    )


def _plain(corners: NDArray[np.float64]) -> list[list[float] | None]:
    """Rows of numbers; None for a corner that is not seen."""
    rows = np.asarray(corners, np.float64)
    return [row.tolist() if np.isfinite(row).all() else None for row in rows]


def _corners(rows: Sequence[Any], width: int) -> NDArray[np.float64]:
    numbers = [[np.nan] * width if row is None else row for row in rows]
    return np.asarray(numbers, np.float64).reshape(4, width)


def _text(view: View) -> str:
    return f"{view[0]}_{view[1]}"


def _view(text: str) -> View:
    time, _, camera = text.partition("_")
    return int(time), int(camera)
