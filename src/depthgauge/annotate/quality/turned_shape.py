"""Depth of a person's surfaces after one rotation of all normals."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from depthgauge.annotate.quality.clouds import edist
from depthgauge.annotate.quality.rotation import (
    LIMIT_DEG,
    Turn,
    best_turn,
    lean_between,
    rotation_matrix,
)
from depthgauge.annotate.quality.witnesses import Witness, of_size
from depthgauge.annotate.reconstruct.reconstruction import Reconstruction, reconstruct
from depthgauge.annotate.reconstruct.surface_depth import SurfaceDepth
from depthgauge.errors import Misuse
from depthgauge.types import Map

SEARCH_PX = 160
"""Longer side of the pictures in which the search begins. In smaller ones thin surfaces are lost,
and another rotation is the nearest."""
_NEAR_DEG = 1.0
"""First step of the search in whole pictures."""
_NO_TURN = (0.0, 0.0, 0.0)
_TOLERANCE = 1e-4


class TurnedShape:
    """Integrates a person's normals, turned by any rotation, as the reconstruction did.

    Only the right-hand side of the equations depends on the rotation, so they are prepared once.
    Without a rotation the depth is that of the reconstruction, up to a scale for each surface.
    """

    def __init__(self, made: Reconstruction) -> None:
        self.made = made
        self._normals = made.normals.astype(np.float64)
        self._surfaces = SurfaceDepth(made.segmentation)
        self._planes = [n for n, shape in made.segmentation.shapes.items() if shape == "planar"]

    def depth(self, vector_deg: Iterable[float] = _NO_TURN) -> Map:
        """The depth map after that rotation; NaN outside."""
        turned = self._normals @ rotation_matrix(vector_deg).T
        shaped = self._surfaces.integrate(
            turned, self.made.camera, self._planes, tolerance=_TOLERANCE
        )
        return shaped.depth

    def edist(self, fixed: Witness, vector_deg: Iterable[float] = _NO_TURN) -> float:
        """EDist to a witness of the same size, a scale for each surface, after that rotation."""
        made = self.made
        return edist(
            self.depth(vector_deg),
            made.camera,
            fixed.depth,
            fixed.camera,
            surfaces=made.segmentation.continuous,
        )


class TurnableSurfaces:
    """A person's surfaces, prepared to be turned and compared with those of others.

    One object per person keeps the equations of a small and of the whole picture.

    Raises:
        Misuse: The witness is no person: only what was drawn can be integrated anew.
    """

    def __init__(self, moving: Witness) -> None:
        if moving.reconstruction is None or moving.annotation is None:
            raise Misuse(f"{moving.who}: only a person's reconstruction can be turned.")
        whole = moving.reconstruction
        self._whole = TurnedShape(whole)
        self._small = self._whole
        if max(whole.camera.size_px) > SEARCH_PX:
            small = reconstruct(moving.annotation, seed=moving.seed, max_side_px=SEARCH_PX)
            self._small = TurnedShape(small)

    def edist_after_turning(
        self, fixed: Witness, *, limit_deg: float = LIMIT_DEG
    ) -> tuple[float, Turn]:
        """EDist, a scale for each surface, after the best rotation of the person's normals.

        The search begins in small pictures and ends in the whole ones. No rotation at all, which
        gives the distance of the reconstruction itself, is always among the candidates.

        Args:
            fixed: The witness to compare with.
            limit_deg: The largest rotation.

        Returns:
            The smallest mean distance in the fixed witness's unit, and its rotation.
        """
        small, whole = (of_size(fixed, s.made.camera.size_px) for s in (self._small, self._whole))
        lean = lean_between(self._small.made.normals, small.normals, limit_deg)
        # Normals far from each other pull the lean of normals away from that of the shape.
        turn = best_turn(
            lambda vector: self._small.edist(small, vector),
            [lean, tuple(v / 2 for v in lean)],
            limit_deg=limit_deg,
        )
        if self._small is not self._whole:
            turn = best_turn(
                lambda vector: self._whole.edist(whole, vector),
                [turn.vector_deg, lean],
                step_deg=_NEAR_DEG,
                limit_deg=limit_deg,
            )
        return turn.value, turn
