"""How far a reconstruction is from the exact geometry of its view."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from depthgauge.annotate.reconstruct.reconstruction import Reconstruction
from depthgauge.errors import WrongShape
from depthgauge.geometry.angles import angles_between
from depthgauge.geometry.projection import backproject
from depthgauge.synth.sets.single_views import ExactView
from depthgauge.types import Map


@dataclass(frozen=True, slots=True, eq=False)
class ExactErrors:
    """Errors at every pixel; NaN outside the annotated region."""

    distance_m: Map
    """Distances between corresponding points, with each continuous surface at its best scale."""
    angle_deg: Map
    """Between normals."""
    range_m: float
    """Range of the exact depth: largest minus smallest."""

    @property
    def edist_percent(self) -> float:
        """Mean distance in percent of the depth range; NaN if nothing was reconstructed."""
        return 100 * _mean(self.distance_m) / self.range_m

    @property
    def mean_angle_deg(self) -> float:
        """Mean angle between normals."""
        return _mean(self.angle_deg)


def exact_errors(view: ExactView, made: Reconstruction) -> ExactErrors:
    """Compares a reconstruction with the view that was annotated.

    A reconstruction gives each continuous surface up to a scale, so each is scaled through the
    camera's centre by least squares; nothing is shifted or turned.

    Raises:
        WrongShape: The reconstruction has another size.
    """
    if made.depth.shape != view.depth.shape:
        raise WrongShape(
            f"view {view.id!r} is {view.depth.shape}, its reconstruction {made.depth.shape}; "
            "reconstruct at full size."
        )
    exact = backproject(view.depth, view.camera).astype(np.float64)
    found = backproject(made.depth, made.camera).astype(np.float64)
    surfaces = np.where(np.isfinite(made.depth + view.depth), made.segmentation.continuous, 0)
    products = np.einsum("ijk,ijk->ij", exact, found)
    squares = np.einsum("ijk,ijk->ij", found, found)
    known = surfaces > 0
    count = int(surfaces.max(initial=0)) + 1
    upper = np.bincount(surfaces[known], products[known], count)
    lower = np.bincount(surfaces[known], squares[known], count)
    scales = upper / np.where(lower > 0, lower, 1.0)
    apart = scales[surfaces][..., None] * found - exact
    distance = np.where(known, np.linalg.norm(apart, axis=2), np.nan)
    return ExactErrors(
        distance.astype(np.float32), angles_between(made.normals, view.normals), _range(view.depth)
    )


def _range(depth: Map) -> float:
    known = depth[np.isfinite(depth)]
    return float(known.max() - known.min()) if known.size else float("nan")


def _mean(values: Map) -> float:
    known = values[np.isfinite(values)].astype(np.float64)
    return float(known.mean()) if known.size else float("nan")
