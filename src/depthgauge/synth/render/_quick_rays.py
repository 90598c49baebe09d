"""Ray queries in float32 without refinement: for light and shadows, where 1e-6 is enough."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry.ray_scene import _embree_scene

Rays = NDArray[np.float32]


class QuickRays:
    """Triangles that rays meet; all arrays are (N, 3) float32."""

    def __init__(self, corners: NDArray[np.float64]) -> None:
        """Builds the search tree of triangles (F, 3, 3).

        Raises:
            MissingExtra: Embree is not installed.
        """
        self._scene: Any = _embree_scene(corners)

    def first(self, starts: Rays, ways: Rays) -> NDArray[np.int32]:
        """The number of the triangle that each ray hits first; -1 for none."""
        return np.asarray(self._run(starts, ways, "INTERSECT"), np.int32)

    def distance(self, starts: Rays, ways: Rays) -> NDArray[np.float32]:
        """Steps to the first hit; 1e37 for none."""
        return np.asarray(self._run(starts, ways, "DISTANCE"), np.float32)

    def blocked(self, starts: Rays, ways: Rays, ends: bool) -> NDArray[np.bool_]:
        """Whether anything is hit; where `ends`, only before the end of each direction."""
        limit = np.full(len(starts), 0.999, np.float32) if ends else None
        return np.asarray(self._run(starts, ways, "OCCLUDED", limit) >= 0)

    def _run(self, starts: Rays, ways: Rays, query: str, limit: Any = None) -> Any:
        if not len(starts):
            return np.zeros(0, np.float32 if query == "DISTANCE" else np.int32)
        origins, to = np.ascontiguousarray(starts), np.ascontiguousarray(ways)
        return self._scene.run(origins, to, dists=limit, query=query)
