"""Planar regions of a simulated session, from the mesh itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.exact_truth import ExactTruth
from depthgauge.geometry.distances import distance_to
from depthgauge.geometry.ray_scene import RayScene
from depthgauge.types import Mask

_NORMAL_STEP, _OFFSET_STEP_M = 1e-3, 1e-4
"""Triangles whose planes differ by less are of one plane."""


def known_planes(
    scene: RayScene, exact: ExactTruth, *, most: int = 12, least_share: float = 0.005
) -> dict[str, Mask]:
    """The largest planar regions that a rectified view shows.

    Better than regions found in labels, which would choose where they are judged; and a plane that
    the calibration bends stays one region.

    Args:
        scene: The mesh.
        exact: The truth of the view.
        most: Regions at most.
        least_share: Of the image's pixels that each connected part of a region has at least.

    Returns:
        Masks by name, `plane 1` the largest; each keeps away from its rim, and has no small parts,
        such as a wall seen through a fence.
    """
    planes = _plane_of_triangles(scene)
    numbers = np.where(exact.triangles >= 0, planes[np.maximum(exact.triangles, 0)], -1)
    count = np.bincount(numbers[numbers >= 0], minlength=1)
    large = np.nonzero(count >= least_share * numbers.size)[0]
    margin = max(2, round(max(numbers.shape) / 160))
    least = max(1, round(least_share * numbers.size))
    masks = [_large_parts(_without_rim(numbers == number, margin), least) for number in large]
    masks = [mask for mask in masks if mask.any()]
    masks.sort(key=lambda mask: -int(mask.sum()))
    return {f"plane {n + 1}": mask for n, mask in enumerate(masks[:most])}


def _plane_of_triangles(scene: RayScene) -> NDArray[np.int64]:
    """The number of each triangle's plane; triangles without area have planes of their own."""
    normals = np.nan_to_num(scene.normals())
    # A plane has two normals; the one whose first large coordinate is positive stands for both.
    first = np.argmax(np.abs(normals) > 0.5, axis=1)
    normals = normals * np.sign(normals[np.arange(len(normals)), first])[:, None]
    corner = scene.vertices[scene.triangles[:, 0]]
    offset = np.einsum("ij,ij->i", normals, corner)
    keys = np.column_stack([normals / _NORMAL_STEP, offset / _OFFSET_STEP_M])
    return np.asarray(np.unique(np.rint(keys), axis=0, return_inverse=True)[1]).reshape(-1)


def _without_rim(mask: Mask, margin: int) -> Mask:
    return mask if mask.all() else np.asarray(distance_to(~mask, margin) > margin)


def _large_parts(mask: Mask, least: int) -> Mask:
    """Without connected parts of fewer pixels."""
    from scipy.ndimage import label

    parts, _ = label(mask)
    count = np.bincount(parts.ravel())
    count[0] = 0
    return np.asarray((count >= least)[parts])
