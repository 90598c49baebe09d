"""GLB: triangles or points as binary glTF 2.0, as viewers in browsers read it.

glTF has y up and z towards the viewer, ours are y down and z forward: both change their sign.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from depthgauge.errors import DoesNotFit, WrongShape
from depthgauge.io._files import AnyPath, write_parts

_MAGIC, _VERSION = b"glTF", 2
_JSON, _BINARY = b"JSON", b"BIN\0"
_FLOAT, _USHORT, _UINT = 5126, 5123, 5125
_VERTICES, _INDICES = 34962, 34963
"""What a view of the buffer is for."""
_POINTS, _TRIANGLES = 0, 4
_MOST_BYTES = 2**32 - 1
_AXES = np.array([1.0, -1.0, -1.0], np.float32)
_UNLIT = "KHR_materials_unlit"


def write_glb(
    path: AnyPath,
    points: ArrayLike,
    colours: ArrayLike | None = None,
    normals: ArrayLike | None = None,
    faces: ArrayLike | None = None,
) -> None:
    """Writes one mesh, or without faces one cloud of points.

    Args:
        path: The file.
        points: (N, 3) finite positions in camera axes (x right, y down, z forward).
        colours: (N, 3) uint8, sRGB as in images; the file holds them linear, in 16 bits, and asks
            viewers to show them without their own shading.
        normals: (N, 3) in camera axes, of any length but 0.
        faces: (F, 3) indices into `points`; counter-clockwise for who looks at the front.

    Raises:
        DoesNotFit: Values that glTF cannot hold, or no point at all.
        WrongShape: Arrays that do not go together.
    """
    body = _Body()
    positions = _triples(path, "points", points)
    if not len(positions):
        raise DoesNotFit(f"{path}: a GLB needs at least one point, found none")
    attributes = {"POSITION": body.add(positions * _AXES, _VERTICES, bounds=True)}
    if normals is not None:
        attributes["NORMAL"] = body.add(_units(path, normals, len(positions)), _VERTICES)
    if colours is not None:
        attributes["COLOR_0"] = body.add(_linear(path, colours, len(positions)), _VERTICES)
    primitive: dict[str, Any] = {"attributes": attributes, "mode": _POINTS, "material": 0}
    if faces is not None:
        corners = _corners(path, faces, len(positions))
        if len(corners):
            primitive |= {"indices": body.add(corners, _INDICES), "mode": _TRIANGLES}
    _write(path, _document(body, primitive, unlit=colours is not None), body)


class _Body:
    """The binary part, and the lists that say what is where in it."""

    def __init__(self) -> None:
        self.parts: list[NDArray[Any]] = []
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.length = 0

    def add(self, values: NDArray[Any], target: int, bounds: bool = False) -> int:
        """Appends an array and returns the number of its accessor."""
        kinds = {"float32": _FLOAT, "uint16": _USHORT, "uint32": _UINT}
        view = {"buffer": 0, "byteOffset": self.length, "byteLength": values.nbytes}
        self.views.append(view | {"target": target})
        accessor: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": kinds[values.dtype.name],
            "count": len(values),
            "type": {1: "SCALAR", 3: "VEC3", 4: "VEC4"}[values.reshape(len(values), -1).shape[1]],
        }
        if values.dtype == np.uint16:
            accessor["normalized"] = True
        if bounds:
            accessor |= {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
        self.accessors.append(accessor)
        # Every element here is a multiple of four bytes long, so all offsets are too.
        self.parts.append(np.ascontiguousarray(values))
        self.length += values.nbytes
        return len(self.accessors) - 1


def _document(body: _Body, primitive: dict[str, Any], *, unlit: bool) -> dict[str, Any]:
    material: dict[str, Any] = {
        "doubleSided": True,
        "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 1.0},
    }
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "depthgauge"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [primitive]}],
        "materials": [material],
        "buffers": [{"byteLength": body.length}],
        "bufferViews": body.views,
        "accessors": body.accessors,
    }
    if unlit:
        material["extensions"] = {_UNLIT: {}}
        document["extensionsUsed"] = [_UNLIT]
    return document


def _write(path: AnyPath, document: dict[str, Any], body: _Body) -> None:
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    total = 12 + 8 + len(text) + 8 + body.length
    if total > _MOST_BYTES:
        raise DoesNotFit(f"{path}: a GLB holds at most {_MOST_BYTES} bytes, this needs {total}")
    head = _MAGIC + np.array([_VERSION, total], "<u4").tobytes()
    write_parts(
        path,
        head + _chunk(len(text), _JSON) + text + _chunk(body.length, _BINARY),
        *(part.astype(part.dtype.newbyteorder("<"), copy=False) for part in body.parts),
    )


def _chunk(length: int, kind: bytes) -> bytes:
    return np.array([length], "<u4").tobytes() + kind


def _triples(path: AnyPath, name: str, values: ArrayLike, count: int | None = None) -> Any:
    array = np.asarray(values)
    if array.ndim != 2 or array.shape[1] != 3 or count not in (None, len(array)):
        wanted = "N" if count is None else count
        raise WrongShape(f"{path}: {name} must be ({wanted}, 3), found {array.shape}")
    if array.dtype.kind not in "fiu":
        raise DoesNotFit(f"{path}: {name} are numbers, not {array.dtype}")
    # Beyond float32 becomes infinite, which the next line refuses.
    with np.errstate(over="ignore"):
        singles = array.astype(np.float32)
    if not np.isfinite(singles).all():
        raise DoesNotFit(f"{path}: {name} must be finite; leave out what is missing")
    return singles


def _units(path: AnyPath, normals: ArrayLike, count: int) -> NDArray[np.float32]:
    array = _triples(path, "normals", normals, count).astype(np.float64)
    length = np.linalg.norm(array, axis=1, keepdims=True)
    if not (length > 0).all():
        raise DoesNotFit(f"{path}: a normal has the length 0; glTF wants unit normals")
    units: NDArray[np.float32] = (array / length * _AXES).astype(np.float32)
    return units


def _linear(path: AnyPath, colours: ArrayLike, count: int) -> NDArray[np.uint16]:
    """RGBA, 16 bits, from the sRGB of images."""
    rgb = np.asarray(colours)
    if rgb.dtype != np.uint8:
        raise DoesNotFit(f"{path}: colours are uint8 from 0 to 255, not {rgb.dtype}")
    if rgb.shape != (count, 3):
        raise WrongShape(f"{path}: colours must be ({count}, 3), found {rgb.shape}")
    stored = np.arange(256) / 255
    curve = np.where(stored <= 0.04045, stored / 12.92, ((stored + 0.055) / 1.055) ** 2.4)
    table = np.rint(curve * 65535).astype(np.uint16)
    return np.concatenate([table[rgb], np.full((count, 1), 65535, np.uint16)], axis=1)


def _corners(path: AnyPath, faces: ArrayLike, count: int) -> NDArray[np.uint32]:
    array = np.asarray(faces)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "iu":
        raise WrongShape(f"{path}: faces are integers (F, 3), found {array.dtype} {array.shape}")
    if len(array) and (array.min() < 0 or array.max() >= count):
        raise DoesNotFit(f"{path}: a face names vertex {array.max()}, there are {count}")
    return array.astype(np.uint32).reshape(-1)
