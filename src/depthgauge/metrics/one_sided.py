"""Signed errors beside edges and on fine structures: too near or too far by a threshold.

The simple variants of fattening and thinning: no extrapolated fore- or background is needed, but a
threshold that fits the data. Nearer is a larger disparity or a smaller depth. The thesis takes 6 px
for Middlebury's images, the 4D Light Field Benchmark 0.15 px.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from depthgauge.metrics._judged import finish_share, one_sided, share_map, share_state
from depthgauge.metrics._metric import metric
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit

if TYPE_CHECKING:
    from depthgauge.geometry.edges import Edges
    from depthgauge.geometry.structures import Structures

NUMBERS = ("disparity", "depth")


@metric(
    "fattening_simple",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=NUMBERS,
    cite="Honauer 2019, equation 4.6",
    formula="100 * mean over M_b [estimate nearer than the truth by more than threshold]",
    revision=1,
    needs=("edges", "quantity"),
)
class FatteningSimple:
    """Percentage of the background beside edges that is estimated too near by a threshold.

    Nearer is a larger disparity or a smaller depth; the threshold is in the quantity's unit (6 px
    suits Middlebury's images). It needs no extrapolated foreground, but a threshold that fits the
    data.

    >>> import depthgauge as dg
    >>> s = dg.score([[20, 8, 7]], [[20, 1, 1]], "fattening_simple:6")
    >>> s["fattening_simple:6@all"].value
    50.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        edges: Edges,
        quantity: str,
        threshold: float = 6.0,
    ) -> State:
        """Number of pixels that are too near."""
        side = edges.background
        return share_state(
            *one_sided(estimate, truth, region, side, quantity, threshold, too="near")
        )

    @staticmethod
    def finish(state: State, *, missing: str, threshold: float = 6.0) -> float:
        """Percentage of pixels that are."""
        return finish_share(state, missing)

    @staticmethod
    def error_map(
        estimate: Map, truth: Map, *, edges: Edges, quantity: str, threshold: float = 6.0
    ) -> Map:
        """100 where a pixel of M_b is too near, 0 where it is not."""
        side = edges.background
        return share_map(*one_sided(estimate, truth, None, side, quantity, threshold, too="near"))


@metric(
    "thinning_simple",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=NUMBERS,
    cite="Honauer 2019, equation 4.8",
    formula="100 * mean over M_f [estimate farther than the truth by more than threshold]",
    revision=1,
    needs=("edges", "quantity"),
)
class ThinningSimple:
    """Percentage of the foreground beside edges that is estimated too far by a threshold.

    The counterpart of `fattening_simple`.

    >>> import depthgauge as dg
    >>> s = dg.score([[14, 13, 1]], [[20, 20, 1]], "thinning_simple:6")
    >>> s["thinning_simple:6@all"].value
    50.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        edges: Edges,
        quantity: str,
        threshold: float = 6.0,
    ) -> State:
        """Number of pixels that are too far."""
        side = edges.foreground
        return share_state(
            *one_sided(estimate, truth, region, side, quantity, threshold, too="far")
        )

    @staticmethod
    def finish(state: State, *, missing: str, threshold: float = 6.0) -> float:
        """Percentage of pixels that are."""
        return finish_share(state, missing)

    @staticmethod
    def error_map(
        estimate: Map, truth: Map, *, edges: Edges, quantity: str, threshold: float = 6.0
    ) -> Map:
        """100 where a pixel of M_f is too far, 0 where it is not."""
        side = edges.foreground
        return share_map(*one_sided(estimate, truth, None, side, quantity, threshold, too="far"))


@metric(
    "detail_fattening_simple",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=NUMBERS,
    cite="Honauer 2019, equation 4.12",
    formula="100 * mean over M_s [estimate nearer than the truth by more than threshold]",
    revision=1,
    needs=("structures", "quantity"),
)
class DetailFatteningSimple:
    """Percentage of the surrounding of fine structures that is estimated too near by a threshold.

    Nearer is a larger disparity or a smaller depth. With 0.15 px it is the 4D Light Field
    Benchmark's *Fine Fattening*.

    >>> import depthgauge as dg
    >>> s = dg.score([[1, 9, 8]], [[1, 9, 1]], "detail_fattening_simple:6")
    >>> s["detail_fattening_simple:6@all"].value
    50.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        structures: Structures,
        quantity: str,
        threshold: float = 6.0,
    ) -> State:
        """Number of pixels that are too near."""
        side = structures.surrounding
        return share_state(
            *one_sided(estimate, truth, region, side, quantity, threshold, too="near")
        )

    @staticmethod
    def finish(state: State, *, missing: str, threshold: float = 6.0) -> float:
        """Percentage of pixels that are."""
        return finish_share(state, missing)

    @staticmethod
    def error_map(
        estimate: Map, truth: Map, *, structures: Structures, quantity: str, threshold: float = 6.0
    ) -> Map:
        """100 where a pixel of M_s is too near, 0 where it is not."""
        side = structures.surrounding
        return share_map(*one_sided(estimate, truth, None, side, quantity, threshold, too="near"))


@metric(
    "fine_thinning",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=NUMBERS,
    cite="Honauer 2019, equation 7.2",
    formula="100 * mean over M_r [estimate farther than the truth by more than threshold]",
    revision=1,
    needs=("structures", "quantity"),
)
class FineThinning:
    """Percentage of the pixels of fine structures that is estimated too far by a threshold.

    The counterpart of `detail_fattening_simple`. With 0.15 px it is the 4D Light Field Benchmark's
    *Fine Thinning*.

    >>> import depthgauge as dg
    >>> s = dg.score([[1, 9, 1, 1]], [[1, 9, 9, 1]], "fine_thinning:6")
    >>> s["fine_thinning:6@all"].value
    50.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        structures: Structures,
        quantity: str,
        threshold: float = 6.0,
    ) -> State:
        """Number of pixels that are too far."""
        side = structures.mask
        return share_state(
            *one_sided(estimate, truth, region, side, quantity, threshold, too="far")
        )

    @staticmethod
    def finish(state: State, *, missing: str, threshold: float = 6.0) -> float:
        """Percentage of pixels that are."""
        return finish_share(state, missing)

    @staticmethod
    def error_map(
        estimate: Map, truth: Map, *, structures: Structures, quantity: str, threshold: float = 6.0
    ) -> Map:
        """100 where a pixel of a structure is too far, 0 where it is not."""
        side = structures.mask
        return share_map(*one_sided(estimate, truth, None, side, quantity, threshold, too="far"))
