"""What pictures of a ranking study show, as maps and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from depthgauge.geometry.surfaces import normals_from_disparity
from depthgauge.regions.discontinuities import discontinuities
from depthgauge.types import Camera, Map, Mask, is_known


@dataclass(frozen=True, slots=True)
class Geometry:
    """What normals need."""

    focal_px: float
    baseline_m: float


@dataclass(frozen=True, slots=True)
class StudyMaps:
    """One scene of a study; all pictures of it share their scales."""

    range: tuple[float, float]
    """From the first to the last percent of the true disparities."""
    largest_error: float
    """Errors of all methods but two percent are smaller."""
    edges: Mask
    """Discontinuities of the truth."""
    true_normals: Map | None
    """(H, W, 3); None without a geometry."""
    normals: Mapping[str, Map]
    """Of each method; empty without a geometry."""


def study_maps(truth: Map, estimates: Mapping[str, Map], geometry: Geometry | None) -> StudyMaps:
    """Computes what pictures of a study show of disparities."""
    low, high = (float(v) for v in np.percentile(truth[is_known(truth)], (1, 99)))
    errors = [np.abs(truth - estimate) for estimate in estimates.values()]
    spread = np.concatenate([e[np.isfinite(e)] for e in errors] or [np.ones(1)])
    most = float(np.percentile(spread, 98)) or 1.0
    edges = discontinuities(truth, width=1)
    if geometry is None:
        return StudyMaps((low, high), most, edges, None, {})
    height, width = truth.shape
    focal = (geometry.focal_px, geometry.focal_px)
    camera = Camera(focal, ((width - 1) / 2, (height - 1) / 2), (width, height))

    def normals(disparity: Map) -> Map:
        return normals_from_disparity(disparity, camera, geometry.baseline_m)

    of_methods = {name: normals(estimate) for name, estimate in estimates.items()}
    return StudyMaps((low, high), most, edges, normals(truth), of_methods)
