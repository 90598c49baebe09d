"""PLY: points with optional normals, colours and triangles; ascii and binary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from depthgauge.errors import BadFile, DoesNotFit, WrongShape
from depthgauge.io._files import AnyPath, opened, read_whole, write_parts
from depthgauge.io.meshes import _ply_elements as elements

_MOST_BYTES = 2**34
_POSITION, _NORMAL = ("x", "y", "z"), ("nx", "ny", "nz")
_COLOURS = (
    ("red", "green", "blue"),
    ("r", "g", "b"),
    ("diffuse_red", "diffuse_green", "diffuse_blue"),
)
_FACE_LISTS = ("vertex_indices", "vertex_index")

Floats = NDArray[np.float32] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PointCloud:
    """Points, and what else is known of each."""

    points: Floats
    """(N, 3) positions; float64 where the file has doubles, else float32."""
    colours: NDArray[np.uint8] | None = None
    """(N, 3) RGB."""
    normals: Floats | None = None
    """(N, 3)."""
    faces: NDArray[np.int32] | None = None
    """(F, 3) triangles as indices into `points`; larger polygons are split into fans."""


def read_ply(path: AnyPath) -> PointCloud:
    """Reads an ascii, little- or big-endian PLY; elements but vertex and face are skipped."""
    with opened(path) as file:
        data = read_whole(path, file, _MOST_BYTES)
    found = elements.parse(path, data)
    if "vertex" not in found:
        raise BadFile(f"{path}: the PLY has no element 'vertex', so no points")
    columns = found["vertex"].columns
    points = _triple(columns, _POSITION)
    if points is None:
        raise BadFile(f"{path}: the PLY's vertices have no x, y and z; found {', '.join(columns)}")
    faces = _triangles(path, found["face"], len(points)) if "face" in found else None
    return PointCloud(points, _colours(path, columns), _triple(columns, _NORMAL), faces)


def write_ply(
    path: AnyPath,
    points: ArrayLike,
    colours: ArrayLike | None = None,
    normals: ArrayLike | None = None,
    faces: ArrayLike | None = None,
    *,
    ascii: bool = False,
) -> None:
    """Writes binary little-endian PLY, or text with `ascii`; float64 points as doubles.

    Args:
        path: The file.
        points: (N, 3) positions.
        colours: (N, 3) uint8.
        normals: (N, 3).
        faces: (F, 3) indices into `points`.
        ascii: Readable by people, larger and slower.
    """
    vertices = _vertices(path, points, colours, normals)
    triangles = None if faces is None else _faces(path, np.asarray(faces), len(vertices))
    lines = ["ply", f"format {'ascii' if ascii else 'binary_little_endian'} 1.0"]
    lines += [f"element vertex {len(vertices)}"]
    names = {"<f4": "float", "<f8": "double", "|u1": "uchar"}
    lines += [f"property {names[str(kind)]} {name}" for name, kind, *_ in vertices.dtype.descr]
    if triangles is not None:
        lines += [f"element face {len(triangles)}", "property list uchar int vertex_indices"]
    header = "\n".join([*lines, "end_header\n"]).encode()
    tables = [vertices] if triangles is None else [vertices, triangles]
    write_parts(path, header, *(_as_text(t) if ascii else t for t in tables))


def _triple(columns: dict[str, NDArray[Any]], names: tuple[str, ...]) -> Floats | None:
    if not all(name in columns for name in names):
        return None
    parts = [columns[name] for name in names]
    double = any(part.dtype.itemsize > 4 for part in parts)
    # A signalling NaN in the file would be a warning of numpy.
    with np.errstate(all="ignore"):
        stacked = np.stack(parts, axis=1)
        return stacked.astype(np.float64) if double else stacked.astype(np.float32)


def _colours(path: AnyPath, columns: dict[str, NDArray[Any]]) -> NDArray[np.uint8] | None:
    for names in _COLOURS:
        if all(name in columns for name in names):
            stored = np.stack([columns[name] for name in names], axis=1)
            if stored.dtype.kind == "f" and not stored.dtype.itemsize > 4:
                stored = np.rint(np.clip(np.nan_to_num(stored), 0, 1) * 255)
            elif len(stored) and not (stored.min() >= 0 and stored.max() <= 255):
                raise BadFile(f"{path}: PLY colours go from 0 to 255, found {stored.max()}")
            return stored.astype(np.uint8)
    return None


def _triangles(path: AnyPath, face: elements.Element, count: int) -> NDArray[np.int32] | None:
    polygons = next((face.lists[name] for name in _FACE_LISTS if name in face.lists), None)
    if polygons is None:
        return None
    fans = [
        np.stack([np.broadcast_to(group[:, 0], group[:, i].shape), group[:, i], group[:, i + 1]], 1)
        for group in polygons
        for i in range(1, group.shape[1] - 1)
    ]
    triangles = np.concatenate(fans) if fans else np.zeros((0, 3), dtype=np.int64)
    if len(triangles) and not (triangles.min() >= 0 and triangles.max() < count):
        raise BadFile(f"{path}: a PLY face names a vertex that is not among the {count}")
    return triangles.astype(np.int32)


def _vertices(
    path: AnyPath, points: ArrayLike, colours: ArrayLike | None, normals: ArrayLike | None
) -> NDArray[Any]:
    positions = np.asarray(points)
    if positions.dtype.kind not in "fiu":
        raise DoesNotFit(f"{path}: points are numbers, not {positions.dtype}")
    kind = "<f4" if positions.dtype in (np.float32, np.float16) else "<f8"
    columns: list[tuple[tuple[str, ...], str, NDArray[Any]]] = [(_POSITION, kind, positions)]
    if normals is not None:
        columns.append((_NORMAL, kind, np.asarray(normals)))
    if colours is not None:
        rgb = np.asarray(colours)
        if rgb.dtype != np.uint8:
            raise DoesNotFit(f"{path}: colours are uint8 from 0 to 255, not {rgb.dtype}")
        columns.append((_COLOURS[0], "|u1", rgb))
    if positions.ndim != 2 or any(part.shape != (len(positions), 3) for _, _, part in columns):
        shapes = ", ".join(str(part.shape) for _, _, part in columns)
        raise WrongShape(f"{path}: points, normals and colours are each (N, 3), found {shapes}")
    dtype = np.dtype([(name, kind) for names, kind, _ in columns for name in names])
    table = np.zeros(len(positions), dtype=dtype)
    for names, _, part in columns:
        for i, name in enumerate(names):
            table[name] = part[:, i]
    return table


def _faces(path: AnyPath, faces: NDArray[Any], count: int) -> NDArray[Any]:
    if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu":
        raise WrongShape(f"{path}: faces are integers (F, 3), found {faces.dtype} {faces.shape}")
    if len(faces) and (faces.min() < 0 or faces.max() >= count):
        raise DoesNotFit(f"{path}: a face names vertex {faces.max()}, there are {count}")
    table = np.zeros(len(faces), dtype=[("n", "u1"), ("i", "<i4", (3,))])
    table["n"], table["i"] = 3, faces
    return table


def _as_text(table: NDArray[Any]) -> bytes:
    rows = [
        " ".join(str(part) for value in row for part in np.atleast_1d(value).tolist())
        if table.dtype.names == ("n", "i")
        else " ".join(str(value) for value in row)
        for row in table
    ]
    return "".join(f"{row}\n" for row in rows).encode()
