"""Depth of a person's surfaces after one rotation of all normals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.quality.clouds import edist
from depthgauge.annotate.quality.rotation import (
    LIMIT_DEG,
    Turn,
    best_turn,
    lean_between,
    rotation_matrix,
)
from depthgauge.annotate.quality.witnesses import Witness, of_size
from depthgauge.annotate.reconstruct.surface_depth import CURVED_FACING, PLANE_FACING
from depthgauge.geometry.link_system import LinkSystem
from depthgauge.geometry.normal_integration import (
    centred,
    faced,
    links_within,
    log_depth_steps,
)
from depthgauge.types import Camera, Map, Mask, is_known

SEARCH_PX = 64
"""Longer side of the pictures in which the rotation is searched."""
_NO_TURN = (0.0, 0.0, 0.0)


class TurnedShape:
    """Integrates normals, turned by any rotation, to the depth of each continuous surface.

    It uses the same functions as `integrate_normals`, but tries hundreds of rotations:
    only the right-hand side of the equations depends on the rotation, so they are prepared once.
    Each piece of a surface has a mean logarithmic depth of 0; pixels without a link are NaN.
    """

    def __init__(
        self,
        normals: Map,
        surfaces: NDArray[np.integer[Any]],
        camera: Camera,
        planar: Mask | None = None,
    ) -> None:
        inside = is_known(normals) & (surfaces > 0)
        self._normals = np.where(inside[..., None], normals, np.nan).astype(np.float64)
        self._camera = camera
        flat = np.zeros(inside.shape, np.bool_) if planar is None else planar
        self._least = np.where(flat, PLANE_FACING, CURVED_FACING)
        right, down = links_within(inside)
        right[:, :-1] &= surfaces[:, :-1] == surfaces[:, 1:]
        down[:-1] &= surfaces[:-1] == surfaces[1:]
        self._system = LinkSystem(right, down)
        self._parts = self._system.parts()

    def depth(
        self, vector_deg: Iterable[float] = (0.0, 0.0, 0.0), *, tolerance: float = 1e-6
    ) -> Map:
        """The depth map after that rotation; NaN outside."""
        turned = self._normals @ rotation_matrix(vector_deg).T
        facing = faced(turned, self._camera, self._least)
        steps = log_depth_steps(facing, self._camera)
        found = self._system.solve(steps=steps, tolerance=tolerance)
        return np.exp(centred(found.values[..., 0], self._parts)).astype(np.float32)


class TurnableSurfaces:
    """A person's surfaces, prepared to be turned and compared with those of others.

    One object per person keeps the equations of a small and of the whole picture.
    """

    def __init__(self, moving: Witness) -> None:
        self._sizes = (_no_larger(moving, SEARCH_PX), moving)
        self._shapes = tuple(_shape(witness) for witness in self._sizes)

    def edist_after_turning(
        self, fixed: Witness, *, limit_deg: float = LIMIT_DEG
    ) -> tuple[float, Turn]:
        """EDist, a scale for each surface, after the best rotation of the person's normals.

        The rotation is searched in small pictures and measured in the whole ones.

        Args:
            fixed: The witness to compare with, of the same size as the person's maps.
            limit_deg: The largest rotation.

        Returns:
            The mean distance in the fixed witness's unit, and the rotation; no rotation if the
            person's own normals are nearest.
        """
        partners = tuple(of_size(fixed, witness.camera.size_px) for witness in self._sizes)

        def distance(size: int, vector: Iterable[float]) -> float:
            moving, partner = self._sizes[size], partners[size]
            depth = self._shapes[size].depth(vector, tolerance=(1e-4, 1e-6)[size])
            return edist(
                depth, moving.camera, partner.depth, partner.camera, surfaces=moving.surfaces
            )

        start = lean_between(self._sizes[0].normals, partners[0].normals, limit_deg)
        turn = best_turn(lambda vector: distance(0, vector), starts=[start], limit_deg=limit_deg)
        before, after = distance(1, _NO_TURN), distance(1, turn.vector_deg)
        return (after, turn) if after < before else (before, Turn(_NO_TURN, before, 1))


def _shape(witness: Witness) -> TurnedShape:
    surfaces = witness.surfaces
    one = np.ones(witness.depth.shape, np.int32) if surfaces is None else surfaces
    return TurnedShape(witness.normals, one, witness.camera, witness.planar)


def _no_larger(witness: Witness, side_px: int) -> Witness:
    width, height = witness.camera.size_px
    factor = min(1.0, side_px / max(width, height))
    return of_size(witness, (max(1, round(width * factor)), max(1, round(height * factor))))
