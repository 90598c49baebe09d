"""The hidden truth of a simulated session: the exact cameras, the mesh and its materials.

It is enough to cast a ray from any position in any raw image. Only the audit reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.errors import BadData
from depthgauge.geometry.camera_json import camera_from_json, camera_to_json
from depthgauge.io.text import parse_json
from depthgauge.types import Camera

_CAMERAS, _MESH = "cameras.json", "mesh.npz"
_ARRAYS = ("vertices", "triangles", "materials", "surfaces", "objects")


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedTruth:
    """What a simulation knows and a real session does not."""

    cameras: Mapping[str, Camera]
    """The exact cameras L, C, R, with their poses in the world."""
    projectors: Mapping[str, Camera]
    """The exact projectors; each lights what its image covers."""
    vertices: NDArray[np.float64]
    """(V, 3) of the scene's mesh, in metres, world axes."""
    triangles: NDArray[np.int32]
    """(F, 3)."""
    materials: NDArray[np.int32]
    """(F,) material class 0..3 of every triangle."""
    surfaces: NDArray[np.int32]
    """(F,) 0 none, 1 transparent, 2 mirror."""
    objects: NDArray[np.int32]
    """(F,) number of the object that a triangle belongs to, from 0."""


def write_simulated(folder: Path, truth: SimulatedTruth) -> None:
    """Writes the truth of a simulated session into its folder `truth`."""
    cameras = {name: camera_to_json(camera) for name, camera in truth.cameras.items()}
    projectors = {name: camera_to_json(camera) for name, camera in truth.projectors.items()}
    folder.mkdir(parents=True, exist_ok=True)
    data = {"schema": 1, "cameras": cameras, "projectors": projectors}
    io.write_text(folder / _CAMERAS, json.dumps(data, indent=1) + "\n")
    with (folder / _MESH).open("wb") as file:
        np.savez_compressed(file, **{name: getattr(truth, name) for name in _ARRAYS})


def read_simulated(folder: Path) -> SimulatedTruth:
    """The truth of a simulated session.

    Raises:
        BadData: The folder is missing, or its content is damaged.
    """
    if not (folder / _CAMERAS).is_file():
        raise BadData(f"{folder}: a simulated session needs its {_CAMERAS} here; make it again.")
    try:
        data = parse_json((folder / _CAMERAS).read_text(encoding="utf-8"))
        cameras = {name: camera_from_json(c) for name, c in data["cameras"].items()}
        projectors = {name: camera_from_json(c) for name, c in data["projectors"].items()}
        # Opened here: numpy leaves the file open if it is not an archive.
        with (folder / _MESH).open("rb") as file, np.load(file, allow_pickle=False) as mesh:
            arrays = {name: mesh[name] for name in _ARRAYS}
    except Exception as error:  # zipfile, json, numpy: each has its own errors for damage
        raise BadData(f"{folder}: the session's truth cannot be read: {error!r}.") from error
    return SimulatedTruth(cameras, projectors, **arrays)
