"""OASIS, depth: what the authors' `valid2.py` prints (princeton-vl/oasis 5835d24).

LSIV: surfaces are the 4-connected parts of the known truth. Every surface of the estimate, as
points in space, gets the scale and the shift along z that bring it nearest to the truth, whose
points are first divided by the standard deviation of their x. The value is the mean of the squared
distances. WKDR: the share of pairs of pixels whose order in depth is wrong. Both are over the whole
dataset. The printed LSIV has no root, although the paper's table says so; here are both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks.twins import Fault, Twin, TwinScores, fill_options
from depthgauge.benchmarks.twins._oasis_shared import check_files, merged, state_of
from depthgauge.datasets.oasis import read_box, read_depth_dict
from depthgauge.errors import BadEstimate, Misuse, Unavailable
from depthgauge.geometry.resizing import resize
from depthgauge.io import read_map
from depthgauge.io.beside import read_numbers
from depthgauge.io.pickles.safe_pickle import is_object_npy
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Camera, Map, Sample, Score, Truth

_NEEDED = ("depth_path", "continuous_path")
_TINY = 1e-8
_PAIR_TINY = 1e-7
_ORTHOGRAPHIC_PX = 1e8
_LEAST_PX = 10
_FOCAL = "focal_px"
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "surfaces": ("connected truth",),
    "surface_ids": ("8 bits", "32 bits"),
    "least_surface_px": (_LEAST_PX,),
    "truth_scale": ("std of x, ddof 1",),
    "truth_focal": ("float32",),
    "centre": ("half the size",),
    "lsiv": ("mean square",),
    "ties": ("wrong", "closer"),
    "pairs": ("moved into the image",),
    "resize_dict": ("bilinear",),
    "resize_array": ("nearest",),
    "focal_scaled": ("own",),
}

Points = NDArray[np.float64]


class SizedDepth(NamedTuple):
    """An estimate at the truth's size."""

    depth: Map
    focal_px: float


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluator's quirks by name; `focal_px` 0 takes each estimate's own focal length."""
    others = {name: value for name, value in given.items() if name != _FOCAL}
    focal_px = given.get(_FOCAL, 0)
    is_number = isinstance(focal_px, (int, float)) and not isinstance(focal_px, bool)
    if not is_number or not 0 <= focal_px < math.inf:
        raise Misuse(f"option '{_FOCAL}' is '{focal_px}' but must be a number of px, or 0.")
    return {**fill_options(others, _OPTIONS), _FOCAL: float(focal_px)}


def score_ids(options: Mapping[str, Any]) -> tuple[str, ...]:
    """LSIV without and with the root, and WKDR."""
    return ("lsiv", "lsiv_root", "wkdr")


def evaluate(sample: Sample, estimate_path: Path, options: Mapping[str, Any]) -> TwinScores:
    """The three numbers of one image; those of the dataset come from `pool`."""
    truth = sample.truth or Truth({})
    for item in _NEEDED:
        if item not in truth:
            raise Unavailable(
                f"has no {item.removesuffix('_path')} file, which the public code needs."
            )
    if "camera" not in truth:
        raise Unavailable("has no focal length in the index.")
    camera: Camera = truth["camera"]
    width, height = camera.size_px
    found = read_estimate(estimate_path, (height, width), options)
    depth = read_box(truth["depth_path"], "depth", (height, width), -1.0)
    depth[np.isnan(depth)] = -1
    total, count = surface_squares(found, depth, camera.focal_px[0], options)
    scores = _lsiv(total, count)
    if "relative_depth" not in truth:
        return TwinScores(scores, ("relative_depth",))
    right, pairs = ordered_pairs(found.depth, truth["relative_depth"], options)
    state = state_of(pairs, 0, (right, pairs))
    wkdr = _wkdr(right, pairs)
    return TwinScores({**scores, "wkdr": Score(wkdr, pairs, 0, None, "%", state)})


def pool(
    samples: Mapping[str, Mapping[str, Score]], options: Mapping[str, Any]
) -> dict[str, float]:
    """All pixels and all pairs of the dataset together."""
    pooled: dict[str, float] = {}
    if (squares := merged(samples, "lsiv")) is not None:
        total, count = squares.sums.tolist()
        pooled["lsiv"] = total / count if count else math.nan
        pooled["lsiv_root"] = math.sqrt(pooled["lsiv"])
    if (pairs := merged(samples, "wkdr")) is not None:
        pooled["wkdr"] = _wkdr(*pairs.sums.tolist())
    return pooled


def _lsiv(total: float, count: int) -> dict[str, Score]:
    value = total / count if count else math.nan
    state = state_of(count, 0, (total, count))
    return {
        "lsiv": Score(value, count, 0, total, "", state),
        "lsiv_root": Score(math.sqrt(value), count, 0, None, "", state),
    }


def _wkdr(right: float, pairs: float) -> float:
    return 100 * (1 - right / (pairs + _PAIR_TINY)) if pairs else math.nan


def read_estimate(path: Path, shape: tuple[int, int], options: Mapping[str, Any]) -> SizedDepth:
    """Depth and focal length of a file, at the truth's size.

    A file with its own focal length is resized bilinearly and the focal length with it; a plain
    array needs `focal_px`, which is for the truth's size, and is resized to the nearest pixels.

    Raises:
        BadEstimate: There is no focal length.
    """
    fixed_px = options[_FOCAL]
    if is_object_npy(path):
        values, own_px = read_depth_dict(path)
    else:
        values, own = read_map(path, quantity="depth", raw=True), _focal_px(path)
        if own is None and not fixed_px:
            raise BadEstimate(
                f"{path}: holds depth without a focal length; write a dict with pred_depth and "
                "pred_focal, or give one focal length for all with --focal."
            )
        if own is None:
            return SizedDepth(resize(values, shape, "nearest", "depth"), fixed_px)
        own_px = own
    depth = resize(values, shape, "bilinear", "depth")
    scale = (shape[0] / values.shape[0] + shape[1] / values.shape[1]) / 2
    return SizedDepth(depth, fixed_px or own_px * scale)


def _focal_px(path: Path) -> float | None:
    """The focal length in an `estimate.json` beside the map."""
    return read_numbers(path, [QUANTITIES["depth"].part("focal_px")]).get("focal_px")


def surface_squares(
    found: SizedDepth, truth: Map, focal_px: float, options: Mapping[str, Any]
) -> tuple[float, int]:
    """The sum of squared distances of all surfaces, and their number of pixels."""
    ids = surface_ids(truth, options)
    inside = ids > 0
    count = int(inside.sum())
    if not count:
        return 0.0, 0
    true = _points(truth, float(np.float32(focal_px)), inside)
    with np.errstate(all="ignore"):
        true /= np.std(true[:, 0], ddof=1) + _TINY if count > 1 else math.nan
        estimated = _points(found.depth, found.focal_px, inside)
        surfaces = ids[inside]
        return math.fsum(
            _squares(estimated[surfaces == number], true[surfaces == number])
            for number in np.unique(surfaces)
        ), count


def surface_ids(truth: Map, options: Mapping[str, Any]) -> NDArray[Any]:
    """The surface of each pixel; 0 where there is none."""
    import cv2

    known = truth > 0
    _, ids = cv2.connectedComponents(known.astype(np.uint8), connectivity=4, ltype=cv2.CV_32S)
    # The 256th vanishes, and the 257th merges with the first.
    ids = ids.astype(np.uint8) if options["surface_ids"] == "8 bits" else ids
    numbers, sizes = np.unique(ids, return_counts=True)
    small = numbers[sizes < _LEAST_PX]
    return np.where(np.isin(ids, small), 0, ids)


def _points(depth: Map, focal_px: float, inside: NDArray[np.bool_]) -> Points:
    """(n, 3), with the principal point at half the size."""
    height, width = depth.shape
    rows, columns = np.nonzero(inside)
    z = depth[inside].astype(np.float64)
    x, y = columns - 0.5 * width, rows - 0.5 * height
    if focal_px <= _ORTHOGRAPHIC_PX:
        x, y = (side / (focal_px + _TINY) * z for side in (x, y))
    return np.stack([x, y, z], axis=1)


def _squares(estimated: Points, true: Points) -> float:
    """The squared residuals after one surface of the estimate is scaled and moved along z."""
    n = len(true) + _TINY
    z1, z2 = estimated[:, 2].sum(), true[:, 2].sum()
    scale = ((estimated * true).sum() - z1 * z2 / n) / ((estimated**2).sum() - z1 * z1 / n)
    moved = scale * estimated
    moved[:, 2] += (z2 - scale * z1) / n
    return float(((moved - true) ** 2).sum())


def ordered_pairs(
    depth: Map, pairs: NDArray[np.int32], options: Mapping[str, Any]
) -> tuple[int, int]:
    """How many pairs are in the right order, and how many there are."""
    xa, ya, xb, yb, relation = pairs.T
    difference = depth[ya, xa] - depth[yb, xb]
    # Comparisons with NaN fail, so a pair with NaN is wrong.
    sign = np.where(difference > 0, 1, np.where(difference < 0, -1, 0))
    if options["ties"] == "closer":
        sign = np.where(difference > 0, 1, -1)
    return int((sign == relation).sum()), len(pairs)


def check_submission(root: Path, samples: Mapping[str, Sample]) -> Iterator[Fault]:
    """Every problem in a folder of depth estimates, in the order of the images."""
    yield from check_files(root, samples, "depth", _NEEDED, _check)


def _check(path: Path, sample_id: str) -> Iterator[Fault]:
    if is_object_npy(path):
        values, _ = read_depth_dict(path)
    else:
        values = read_map(path, quantity="depth", raw=True)
        if _focal_px(path) is None:
            yield Fault(
                sample_id,
                f"{path.name} has no focal length.",
                "Write a dict with pred_depth and pred_focal, or score with --focal.",
            )
    lost = int(values.size - np.isfinite(values).sum())
    if lost:
        yield Fault(
            sample_id,
            f"{lost} pixels of {path.name} are NaN or infinite.",
            "One of them, where the truth is known, makes LSIV of the whole dataset NaN.",
        )
    elif values.min() <= 0:
        yield Fault(
            sample_id,
            f"{path.name} has depths that are not positive, down to {values.min():g}.",
            "Depth grows with the distance; inverse depth must be inverted first.",
            serious=False,
        )


SPEC = Twin(
    revision=1,
    main="lsiv",
    options=options,
    score_ids=score_ids,
    evaluate=evaluate,
    pool=pool,
    check_submission=check_submission,
)
