"""Our stereo network held against classical matching: where they differ, the patterns decide.

The network is more exact than a few patterns on smooth surfaces and finds what they leave open, but
its features are coarse: it blurs edges and loses thin objects, which classical matching keeps. So
both match. Where they agree, their mean is taken. Where they differ a little, as at edges, the
classical one holds. Where they differ by more, the one under which the patterns of both views
correlate better holds; an object that only the classical one sees in front gets a lead, since the
network loses thin ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.spacetime.engine import Engine, EngineSpec, Matches, Pairs
from depthgauge.capture.spacetime.engines.classical import _NO_MATCH, Classical, _colours
from depthgauge.capture.spacetime.engines.nets_stereo import NetsStereo
from depthgauge.capture.spacetime.engines.nets_stereo import engine as network_engine

SPEC = EngineSpec(
    "nets-checked",
    "Our stereo network where the patterns confirm it, classical matching elsewhere; needs "
    "PyTorch.",
)
AGREE_PX = 0.25
"""Disparities that differ by less are averaged."""
DIFFER_PX = 1.0
"""From here on, the two have found different surfaces."""
LEAD = 0.3
"""Lead in confidence of a nearer surface that only classical matching finds."""


@dataclass(frozen=True, slots=True)
class NetsChecked:
    """Both engines, and the rule between them."""

    network: NetsStereo = field(default_factory=NetsStereo)
    classical: Classical = field(default_factory=Classical)
    margin_rows: int = 64
    uncertainty: str = "jackknife over patterns; maps of single patterns where the network decides"

    @property
    def revision(self) -> int:
        """Changes with that of each engine."""
        return 10_000 + 100 * self.network.revision + self.classical.revision

    def bytes_per_row(self, size: tuple[int, int, int], disparities: tuple[int, int]) -> int:
        """What both need: they run one after the other."""
        each = (e.bytes_per_row(size, disparities) for e in (self.network, self.classical))
        return max(each) + 64 * size[2]

    def match(self, pairs: Pairs, disparities: tuple[int, int]) -> Matches:
        """Disparities of the left view."""
        by_network = self.network.match(pairs, disparities)
        by_patterns = self.classical.match(pairs, disparities)
        return combined(by_network, self._checked(pairs, by_network), by_patterns)

    def _checked(self, pairs: Pairs, found: Matches) -> Matches:
        """What the patterns say about the network's disparities, rounded to whole ones."""
        (left, means), (right, _) = _colours(pairs.left), _colours(pairs.right)
        known = np.isfinite(found.disparity)
        whole = np.where(known, np.rint(np.nan_to_num(found.disparity)), _NO_MATCH)
        return self.classical._shifted(pairs, left, right, whole.astype(np.int32), means)


def combined(by_network: Matches, checked: Matches, by_patterns: Matches) -> Matches:
    """One match per pixel, by the rule of this module.

    Args:
        by_network: The network's matches.
        checked: The patterns' variance and confidence at these.
        by_patterns: Those of classical matching.
    """
    net, own = by_network.disparity, by_patterns.disparity
    apart = np.abs(net - own)
    lead = np.where(own > net, LEAD, 0.0)
    wins = np.nan_to_num(checked.confidence) >= np.nan_to_num(by_patterns.confidence) + lead
    takes_net = np.isfinite(net) & (~np.isfinite(own) | ((apart >= DIFFER_PX) & wins))
    agree = apart < AGREE_PX
    disparity = np.where(agree, (net + own) / 2, own)
    unsure = np.fmax(by_network.variance, checked.variance)
    return Matches(
        _chosen(takes_net, net, disparity),
        _chosen(takes_net, unsure, by_patterns.variance),
        _chosen(takes_net, checked.confidence, by_patterns.confidence),
    )


def _chosen(
    first: NDArray[np.bool_], one: NDArray[Any], other: NDArray[Any]
) -> NDArray[np.float32]:
    return np.where(first, one, other).astype(np.float32)


def engine() -> Engine:
    """The engine with its default settings.

    Raises:
        MissingExtra: PyTorch is not installed.
    """
    network_engine()
    return NetsChecked()
