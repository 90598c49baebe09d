"""Exact geometry of triangle meshes: what a ray hits first, and whether two points see each other.

Embree searches in float32. The distance is then recomputed in float64 from the plane of the
triangle that was hit, so points are exact to about 1e-9 of their distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import MissingExtra, WrongShape

Points = NDArray[np.float64]
"""(N, 3) in metres."""

_CHUNK = 1 << 20
"""Number of rays per call, which bounds the memory for the float32 copies."""


@dataclass(frozen=True, slots=True)
class Hits:
    """What rays hit first."""

    distance: NDArray[np.float64]
    """(N,) in multiples of the ray's direction; NaN where nothing is hit."""
    triangle: NDArray[np.int32]
    """(N,) index of the triangle; -1 where nothing is hit."""


class RayScene:
    """A mesh that answers which triangle each of many rays hits first."""

    def __init__(self, vertices: NDArray[np.generic], triangles: NDArray[np.generic]) -> None:
        """Builds the search tree.

        Args:
            vertices: (V, 3) in metres.
            triangles: (F, 3) indices of vertices; triangles need not share vertices.

        Raises:
            MissingExtra: Embree's Python package is not installed.
            WrongShape: The arrays do not describe a mesh.
        """
        self.vertices = np.asarray(vertices, np.float64)
        self.triangles = np.asarray(triangles, np.int32)
        if self.vertices.ndim != 2 or self.vertices.shape[1] != 3:
            raise WrongShape(f"vertices must be (V, 3), found {self.vertices.shape}")
        if self.triangles.ndim != 2 or self.triangles.shape[1] != 3 or not len(self.triangles):
            raise WrongShape(f"triangles must be (F, 3), found {self.triangles.shape}")
        if self.triangles.min() < 0 or self.triangles.max() >= len(self.vertices):
            raise WrongShape("a triangle refers to a vertex that does not exist")
        corners = self.vertices[self.triangles]
        self._corner = corners[:, 0]
        self._normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        self._scene = _embree_scene(corners)

    def normals(self) -> Points:
        """Unit normal of every triangle, by the order of its corners; NaN for a degenerate one."""
        length = np.linalg.norm(self._normal, axis=1, keepdims=True)
        return self._normal / np.where(length > 0, length, np.nan)

    def cast(self, origins: NDArray[np.generic], directions: NDArray[np.generic]) -> Hits:
        """The first hit of every ray; a ray with a NaN hits nothing.

        Args:
            origins: (N, 3), or (3,) for rays from one point.
            directions: (N, 3), of any length.
        """
        ways = np.asarray(directions, np.float64)
        starts = np.broadcast_to(np.asarray(origins, np.float64), ways.shape)
        triangle = np.full(len(ways), -1, np.int32)
        distance = np.full(len(ways), np.nan)
        for first in range(0, len(ways), _CHUNK):
            part = slice(first, first + _CHUNK)
            triangle[part], distance[part] = self._cast(starts[part], ways[part])
        return Hits(distance, triangle)

    def sees(
        self, origins: NDArray[np.generic], targets: NDArray[np.generic], gap_m: float = 1e-4
    ) -> NDArray[np.bool_]:
        """Whether nothing lies between each origin and its target, except within `gap_m` of it.

        Args:
            origins: (N, 3), or (3,) for one point.
            targets: (N, 3) points on surfaces; NaN counts as not seen.
            gap_m: A surface this close to the target is the target's own surface.
        """
        ends = np.asarray(targets, np.float64)
        starts = np.broadcast_to(np.asarray(origins, np.float64), ends.shape)
        ways = ends - starts
        length = np.linalg.norm(ways, axis=1)
        hit = self.cast(starts, ways)
        free = np.isnan(hit.distance) | (hit.distance * length > length - gap_m)
        return np.asarray(free & np.isfinite(length))

    def _cast(self, starts: Points, ways: Points) -> tuple[NDArray[np.int32], Any]:
        known = np.isfinite(starts).all(axis=1) & np.isfinite(ways).all(axis=1)
        triangle = np.full(len(ways), -1, np.int32)
        origins, directions = starts[known].astype(np.float32), ways[known].astype(np.float32)
        if len(origins):
            triangle[known] = self._scene.run(origins, directions)
        hit = triangle >= 0
        distance = np.full(len(ways), np.nan)
        normal = self._normal[triangle[hit]]
        to_plane = np.einsum("ij,ij->i", self._corner[triangle[hit]] - starts[hit], normal)
        with np.errstate(divide="ignore", invalid="ignore"):
            distance[hit] = to_plane / np.einsum("ij,ij->i", ways[hit], normal)
        return triangle, distance


def _embree_scene(corners: Points) -> Any:
    try:
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene
    except ImportError as error:
        raise MissingExtra(
            "rays need Embree, which is not installed; run: pip install 'depthgauge[render]'"
        ) from error
    scene = EmbreeScene()
    TriangleMesh(scene, corners.astype(np.float32))
    return scene
