"""Space-time stereo with a network that looks up disparities in a correlation volume.

Any network of that kind (RAFT-Stereo and similar ones) becomes an engine: `Learned(network)`. It
provides features, context and the update; the accumulation over patterns is done here. This package
contains one, `nets_stereo`. A distribution with another has a module with a `SPEC` and a function
`engine`, and names it in the entry-point group `depthgauge.plugins`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.spacetime.engine import Matches, Pairs, Stack
from depthgauge.errors import WrongShape
from depthgauge.types import Map

Features = NDArray[np.float32]
"""(H', W', F): what a network says about each place in a picture."""
Volume = NDArray[np.float32]
"""(H', W', W'): similarity of left column j and right column k of a row."""


class Network(Protocol):
    """What a network must be able to do; its arrays may be smaller than the pictures."""

    revision: int
    """Raised whenever its numbers may change."""
    shrinks_by: int
    """The number of px that a place of its features covers, along x and along y."""
    iterations: int
    """The number of updates of a disparity."""
    margin_rows: int
    """Rows above and below that a row's disparities depend on."""

    def features(self, image: Stack) -> Features:
        """The features of a picture (H, W, 3), for comparison with the other view's.

        It has grey levels from 0 to 255, float32 if the photographs have more than 8 bits.
        """
        ...

    def context(self, image: Stack) -> Any:
        """The context of a left picture, for the update only."""
        ...

    def correlation(self, left: Features, right: Features) -> Volume:
        """Similarity of all columns of each row; `correlation` of this module is the plain one."""
        ...

    def update(
        self, features: Features, context: Any, disparity: Map | None, volume: Volume
    ) -> Map:
        """The next disparity (H, W), in px of the picture, from the previous (None at first)."""
        ...


def correlation(left: Features, right: Features) -> Volume:
    """Similarity of all pairs of columns of a row: C_ijk = sum over h of f_ijh g_ikh.

    >>> left = np.array([[[1.0, 2.0], [0.0, 1.0]]], np.float32)
    >>> correlation(left, left)
    array([[[5., 2.], [2., 1.]]], dtype=float32)

    Raises:
        WrongShape: The two have different sizes.
    """
    if left.shape != right.shape or left.ndim != 3:
        raise WrongShape(
            f"features of both views must be (H, W, F), found {left.shape}, {right.shape}"
        )
    return np.asarray(np.matmul(left, right.transpose(0, 2, 1)), np.float32)


def accumulated(volumes: Iterable[Volume]) -> Volume:
    """The mean of the patterns' volumes: C*_ijk = 1/T sum over t and h of f^t_ijh g^t_ikh.

    Raises:
        WrongShape: There are none, or they differ in size.
    """
    total: NDArray[np.float64] | None = None
    count = 0
    for volume in volumes:
        total = np.zeros(volume.shape) if total is None else total
        if total.shape != volume.shape:
            raise WrongShape(f"the patterns' volumes differ: {total.shape} and {volume.shape}")
        total += volume
        count += 1
    if total is None:
        raise WrongShape("a mean over patterns needs at least one pattern")
    return (total / count).astype(np.float32)


def recurrent(network: Network, features: Features, context: Any, volume: Volume) -> Map:
    """The last of the disparities d_i = update(f, c, d_(i-1), C)."""
    disparity: Map | None = None
    for _ in range(max(network.iterations, 1)):
        disparity = network.update(features, context, disparity, volume)
    return np.asarray(disparity, np.float32)


def mean_and_variance(maps: Sequence[Map]) -> tuple[Map, Map]:
    """The mean over patterns, and how the single maps vary around it.

    The variance is not divided by T: the maps come from one volume and share its error, so their
    mean is not much better than one of them. NaN where a map has no value; a single map has no
    variance.

    >>> mean, variance = mean_and_variance([np.full((1, 1), v, np.float32) for v in (1, 3)])
    >>> float(mean[0, 0]), float(variance[0, 0])
    (2.0, 2.0)
    """
    count = len(maps)
    mean = sum((m.astype(np.float64) for m in maps), np.zeros(maps[0].shape)) / count
    if count < 2:
        return mean.astype(np.float32), np.full(mean.shape, np.nan, np.float32)
    squares = sum(((m - mean) ** 2 for m in maps), np.zeros(mean.shape))
    return mean.astype(np.float32), (squares / (count - 1)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Learned:
    """The engine of a network: T maps from the shared volume, each with one pattern's guidance."""

    network: Network
    uncertainty: str = "maps of single patterns from the shared volume"

    @property
    def revision(self) -> int:
        """The network's."""
        return self.network.revision

    @property
    def margin_rows(self) -> int:
        """The network's."""
        return self.network.margin_rows

    def bytes_per_row(self, size: tuple[int, int, int], disparities: tuple[int, int]) -> int:
        """Three volumes of all pairs of columns: the sum, one pattern's, and the mean."""
        _, _, width = size
        small = -(-width // self.network.shrinks_by)
        return 16 * small * small // self.network.shrinks_by + 64 * width

    def match(self, pairs: Pairs, disparities: tuple[int, int]) -> Matches:
        """Mean and variance of the T maps; values outside the range are not matches."""
        volume = accumulated(self._volumes(pairs))
        maps = []
        for picture in pairs.left:
            image = np.ascontiguousarray(picture)
            net = self.network
            maps.append(recurrent(net, net.features(image), net.context(image), volume))
        mean, variance = mean_and_variance(maps)
        known = pairs.left_known & (mean >= disparities[0]) & (mean <= disparities[1])
        disparity = np.where(known, mean, np.nan).astype(np.float32)
        confidence = _likeness(volume, disparity, self.network.shrinks_by)
        return Matches(disparity, np.where(known, variance, np.nan).astype(np.float32), confidence)

    def _volumes(self, pairs: Pairs) -> Iterable[Volume]:
        for left, right in zip(pairs.left, pairs.right, strict=True):
            images = np.ascontiguousarray(left), np.ascontiguousarray(right)
            yield self.network.correlation(*(self.network.features(image) for image in images))


def _likeness(volume: Volume, disparity: Map, shrinks_by: int) -> Map:
    """Similarity at the match relative to the best of its row, 0..1; NaN without a match."""
    rows, columns = volume.shape[:2]
    y, x = np.indices(disparity.shape)
    i = np.minimum(y // shrinks_by, rows - 1)
    j = np.minimum(x // shrinks_by, columns - 1)
    match = np.nan_to_num((x - disparity) / shrinks_by)
    k = np.clip(np.rint(match).astype(np.intp), 0, columns - 1)
    best, here = volume.max(axis=2)[i, j], volume[i, j, k]
    share = np.clip(here / np.where(best > 0, best, 1), 0, 1)
    return np.where(np.isfinite(disparity), share, np.nan).astype(np.float32)
