"""Points that two views of a scene share: detectors, descriptors, and which matches are taken."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Unavailable
from depthgauge.metrics.views._frames import Picture, as_codes

Points = NDArray[np.float64]
MATCHERS = ("sift", "dedode")
"""`sift` of OpenCV; `dedode`: DeDoDe, L-upright and B-upright, by kornia."""
_EXPECTED = 8
"""Pictures of fewer pixels along an axis have no keypoints."""


class Features(NamedTuple):
    """Keypoints of one view."""

    points: Points
    """(n, 2): x and y in px."""
    words: NDArray[np.float32]
    """(n, k) descriptors."""


def find_features(picture: Picture, matcher: str, keypoints: int) -> Features:
    """The best keypoints of a view, at most `keypoints`.

    Raises:
        Unavailable: What the matcher needs is not installed, or its weights are not there.
    """
    if min(picture.shape[:2]) < _EXPECTED:
        return Features(np.zeros((0, 2)), np.zeros((0, 1), np.float32))
    return (_dedode if matcher == "dedode" else _sift)(picture, keypoints)


def _sift(picture: Picture, keypoints: int) -> Features:
    import cv2

    grey = cv2.cvtColor(as_codes(picture), cv2.COLOR_RGB2GRAY)
    found, words = cv2.SIFT.create(nfeatures=keypoints).detectAndCompute(grey, None)
    if not found:
        return Features(np.zeros((0, 2)), np.zeros((0, 128), np.float32))
    # OpenCV keeps all points that are as good as the last one.
    best = sorted(range(len(found)), key=lambda i: (-found[i].response, i))[:keypoints]
    return Features(np.array([found[i].pt for i in best]), words[best])


def _dedode(picture: Picture, keypoints: int) -> Features:
    torch, network = _dedode_network()
    with torch.inference_mode():
        image = torch.from_numpy(picture.transpose(2, 0, 1)[None].copy())
        points, _, words = network(image, n=keypoints)
    return Features(np.asarray(points[0], np.float64), np.asarray(words[0], np.float32))


@lru_cache(maxsize=1)
def _dedode_network() -> tuple[Any, Any]:
    try:
        import torch
        from kornia.feature import DeDoDe
    except ImportError as error:
        raise Unavailable(
            "the matcher dedode needs PyTorch and kornia; say: pip install torch kornia, or use "
            "the matcher sift."
        ) from error
    try:
        network = DeDoDe.from_pretrained(
            detector_weights="L-upright", descriptor_weights="B-upright"
        )
    except OSError as error:  # kornia looks for weights in torch's cache, then tries to load them
        raise Unavailable(
            f"the weights of the matcher dedode are neither in torch's cache nor to be loaded "
            f"({error}); put them there, or use the matcher sift."
        ) from error
    return torch, network.eval()


def match_features(
    left: Features, right: Features, *, ratio: float, epipolar_px: float
) -> NDArray[np.intp]:
    """The keypoints of the left view that have a match in the right one, by their numbers.

    Both must be each other's nearest, the second nearest must be farther by the ratio, and the
    rows must agree; so every keypoint has one match at most.
    """
    if len(left.points) == 0 or len(right.points) < 2:
        return np.zeros(0, np.intp)
    products = left.words @ right.words.T
    squares = [np.sum(each.words**2, axis=1) for each in (left, right)]
    distances = np.maximum(squares[0][:, None] + squares[1][None] - 2 * products, 0)
    nearest = distances.argmin(axis=1)
    rows = np.arange(len(nearest))
    mutual = distances.argmin(axis=0)[nearest] == rows
    first = distances[rows, nearest]
    distances[rows, nearest] = np.inf
    clear = np.sqrt(first) < ratio * np.sqrt(distances.min(axis=1))
    level = np.abs(left.points[:, 1] - right.points[nearest, 1]) <= epipolar_px
    return np.flatnonzero(mutual & clear & level)


def count_shared(first: Points, second: Points, same_px: float) -> int:
    """How many points of two sets are the same: at most so far apart, each with one partner.

    The closest pairs are taken first.
    """
    if not len(first) or not len(second):
        return 0
    from scipy.spatial import cKDTree

    near = cKDTree(first).sparse_distance_matrix(cKDTree(second), same_px, output_type="ndarray")
    taken: tuple[set[int], set[int]] = (set(), set())
    for at in np.lexsort((near["j"], near["i"], near["v"])):
        i, j = int(near["i"][at]), int(near["j"][at])
        if i not in taken[0] and j not in taken[1]:
            taken[0].add(i)
            taken[1].add(j)
    return len(taken[0])
