"""Planar regions of a disparity map, and how far its values are from their planes.

A plane in space is a plane in the disparity map too: d = a x + b y + c. So the residuals of a
fitted plane measure the noise of labels without knowing the truth (Scharstein et al. 2014).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.clean.manual_edits import polygon_points, read_lists
from depthgauge.capture.exact_truth import ExactTruth
from depthgauge.errors import BadData
from depthgauge.geometry.distances import distance_to
from depthgauge.geometry.polygons import polygon_mask
from depthgauge.geometry.ray_scene import RayScene
from depthgauge.types import Map, Mask

Coefficients = NDArray[np.float64]
"""a, b, c of d = a x + b y + c."""
_MOST_FITTED = 200_000
"""Most values for a fit; if there are more, every n-th is used."""
_ROUNDS = 30
_TRIPLES = 64
_MOST_TRIED = 4000
"""The number of values on which a plane through three of them is tested."""
_LEAST = 12
"""A plane has at least this many pixels."""


@dataclass(frozen=True, slots=True)
class PlanarRegion:
    """A region that should be flat, and how flat it is."""

    name: str
    pixels: int
    """Pixels with a value."""
    plane: tuple[float, float, float]
    """a, b, c of d = a x + b y + c."""
    mean_abs_px: float
    rms_px: float
    median_abs_px: float
    bow_px: float
    """How far the best parabola deviates from the plane within the region: bent, not noisy."""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "plane": list(self.plane)}


def fit_plane(x: NDArray[Any], y: NDArray[Any], values: NDArray[Any]) -> Coefficients:
    """The plane through most of the values: least squares with less weight for outliers.

    It starts from the plane with the smallest median residual (of some through three values) and
    continues with Tukey's weights, under which outliers do not count at all. So up to a third of
    the values may belong to something else. The result is not random: equal values give equal
    planes.

    >>> x, y = np.array([0.0, 1, 0, 1, 2, 2, 0, 1, 2]), np.array([0.0, 0, 1, 1, 0, 1, 2, 2, 2])
    >>> fit_plane(x, y, 2 * x - y + 3).round(6)
    array([ 2., -1., 3.])
    """
    skip = max(1, len(values) // _MOST_FITTED)
    u, v, d = (np.asarray(part[::skip], np.float64) for part in (x, y, values))
    # Centred, so that the three unknowns are nearly independent.
    middle = u.mean(), v.mean()
    columns = np.stack([u - middle[0], v - middle[1], np.ones(len(u))], axis=1)
    found = _start(columns, d)
    for _ in range(_ROUNDS):
        off = np.abs(d - columns @ found)
        spread = 1.4826 * float(np.median(off))
        if spread <= 1e-12:
            break
        before, found = found, _weighted(columns, d, _tukey(off / spread))
        if np.abs(found - before).max() < 1e-9:
            break
    a, b, c = found
    return np.array([a, b, c - a * middle[0] - b * middle[1]])


def _weighted(columns: Coefficients, values: Coefficients, weights: Coefficients) -> Coefficients:
    square = columns.T @ (columns * weights[:, None])
    return np.asarray(np.linalg.lstsq(square, columns.T @ (weights * values), rcond=None)[0])


def _start(columns: Coefficients, values: Coefficients) -> Coefficients:
    """The best start: a plane through three values, or that of least squares."""
    least = _weighted(columns, values, np.ones(len(values)))
    some = slice(None, None, max(1, len(values) // _MOST_TRIED))
    corners = np.random.default_rng(0).integers(0, len(values), (_TRIPLES, 3))
    square = columns[corners]
    usable = np.abs(np.linalg.det(square)) > 1e-6
    planes = np.linalg.solve(square[usable], values[corners[usable]][..., None])[..., 0]
    tried = np.concatenate([least[None], planes])
    off = np.abs(values[some] - tried @ columns[some].T)
    return np.asarray(tried[np.argmin(np.median(off, axis=1))])


def _tukey(off: Coefficients) -> Coefficients:
    return np.asarray(np.clip(1 - (off / 4.685) ** 2, 0, None) ** 2)


def measure_plane(disparity: Map, mask: Mask, name: str = "") -> PlanarRegion | None:
    """Fits a plane to a region and measures the residuals; None if there are too few values."""
    rows, columns = np.nonzero(mask & np.isfinite(disparity))
    if len(rows) < _LEAST:
        return None
    values = disparity[rows, columns].astype(np.float64)
    plane = fit_plane(columns, rows, values)
    off = values - (plane[0] * columns + plane[1] * rows + plane[2])
    size = np.abs(off)
    return PlanarRegion(
        name=name,
        pixels=len(values),
        plane=(float(plane[0]), float(plane[1]), float(plane[2])),
        mean_abs_px=float(size.mean()),
        rms_px=float(np.sqrt(np.mean(off**2))),
        median_abs_px=float(np.median(size)),
        bow_px=_bow(columns, rows, off),
    )


def plane_residuals(disparity: Map, region: PlanarRegion) -> Map:
    """Disparity minus a region's plane, for a picture."""
    height, width = disparity.shape
    a, b, c = region.plane
    x, y = np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64)
    return (disparity - (a * x + b * y[:, None] + c)).astype(np.float32)


def read_planes(path: Path, shape: tuple[int, int]) -> dict[str, Mask]:
    """Regions drawn by a person: polygons on the rectified left image.

    The file is JSON: `{"schema": 1, "regions": [{"name": "wall", "points_px": [[x, y], ...]}]}`.
    A region has the pixels whose centres its polygon encloses, as in a file of manual edits.

    Raises:
        BadData: It is not such a file, or a polygon lies outside the image.
    """
    regions = read_lists(path, "planar regions", {"regions": _region})["regions"]
    if not regions:
        raise BadData(f"{path}: has no regions; draw one, or do not give the file.")
    masks: dict[str, Mask] = {}
    for name, points_px in regions:
        if name in masks:
            raise BadData(f"{path}: two regions are named '{name}'; give each its own name.")
        masks[name] = polygon_mask(shape, points_px)
        if not masks[name].any():
            raise BadData(
                f"{path}: region '{name}' has no pixel of the {shape[1]}x{shape[0]} image; "
                "polygons are in px of the rectified left image."
            )
    return masks


def average_residual(regions: Sequence[PlanarRegion]) -> float | None:
    """The mean over regions of each one's mean residual, as in section III-G; None for none."""
    if not regions:
        return None
    return float(np.mean([region.mean_abs_px for region in regions]))


def summary(regions: Sequence[PlanarRegion], source: str) -> Mapping[str, Any]:
    """Plain data of some regions and their average."""
    return {
        "source": source,
        "mean_residual_px": average_residual(regions),
        "regions": [region.to_json() for region in regions],
    }


def _region(entry: Mapping[str, Any]) -> tuple[str, tuple[tuple[float, float], ...]]:
    if not isinstance(entry["name"], str) or not entry["name"]:
        raise ValueError(f"name is a text, found {entry['name']!r}")
    return entry["name"], polygon_points(entry)


def _bow(x: NDArray[Any], y: NDArray[Any], off: NDArray[np.float64]) -> float:
    """Largest value of the parabola through the residuals, without its own plane."""
    skip = max(1, len(off) // _MOST_FITTED)
    u, v, r = (np.asarray(part[::skip], np.float64) for part in (x, y, off))
    u, v = ((w - w.mean()) / max(float(w.std()), 1e-9) for w in (u, v))
    flat = np.stack([np.ones(len(u)), u, v], axis=1)
    bent = np.stack([u * u, u * v, v * v], axis=1)
    bent = bent - flat @ np.linalg.lstsq(flat, bent, rcond=None)[0]
    # Clipped, so that a few outliers do not bend it.
    limit = 5 * 1.4826 * float(np.median(np.abs(r)))
    clipped = np.clip(r, -limit, limit)
    curve = bent @ np.linalg.lstsq(bent, clipped, rcond=None)[0]
    return float(np.percentile(np.abs(curve), 95))


_NORMAL_STEP, _OFFSET_STEP_M = 1e-3, 1e-4
"""Triangles whose planes differ by less belong to one plane."""


def known_planes(
    scene: RayScene, exact: ExactTruth, *, most: int = 12, least_share: float = 0.005
) -> dict[str, Mask]:
    """The largest planar regions that a rectified view shows.

    This is better than regions found in labels, which would choose where they are judged. A plane
    that the calibration bends stays one region.

    Args:
        scene: The mesh.
        exact: The truth of the view.
        most: Largest number of regions.
        least_share: The smallest connected part of a region, as a share of the image's pixels.

    Returns:
        Masks by name, `plane 1` the largest; each leaves out its rim and small parts,
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
    """The number of each triangle's plane; triangles without area have their own planes."""
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
    """The mask without connected parts of fewer pixels."""
    from scipy.ndimage import label

    parts, _ = label(mask)
    count = np.bincount(parts.ravel())
    count[0] = 0
    return np.asarray((count >= least)[parts])
