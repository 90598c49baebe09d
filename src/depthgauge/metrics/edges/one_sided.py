"""Signed errors beside edges and on fine structures: too near or too far by a threshold.

These are the simple variants of fattening and thinning: they need no extrapolated foreground or
background, but a threshold that fits the data. Nearer is a larger disparity or a smaller depth. The
thesis uses 6 px for Middlebury's images, the 4D Light Field Benchmark 0.15 px.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from depthgauge.metrics._judged import (
    Judged,
    finish_share,
    judged_pixels,
    part,
    share_map,
    share_state,
)
from depthgauge.metrics._metric import metric
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit

NUMBERS = ("disparity", "depth")


class _OneSided:
    """The steps that all four share; each says which pixels it judges, and in which direction."""

    side: ClassVar[tuple[str, str]]
    """The shared map that it needs, and the mask in it that it judges."""
    too: ClassVar[Literal["near", "far"]]

    @classmethod
    def measure(
        cls,
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        quantity: str,
        threshold: float = 6.0,
        **things: Any,
    ) -> State:
        """Number of pixels that are too near or too far."""
        return share_state(*cls._judge(estimate, truth, region, quantity, threshold, things))

    @staticmethod
    def finish(state: State, *, missing: str, threshold: float = 6.0) -> float:
        """Percentage of these pixels."""
        return finish_share(state, missing)

    @classmethod
    def error_map(
        cls, estimate: Map, truth: Map, *, quantity: str, threshold: float = 6.0, **things: Any
    ) -> Map:
        """100 where a judged pixel is too near or too far, 0 where it is not."""
        return share_map(*cls._judge(estimate, truth, None, quantity, threshold, things))

    @classmethod
    def _judge(
        cls,
        estimate: Map,
        truth: Map,
        region: Mask | None,
        quantity: str,
        threshold: float,
        things: Mapping[str, Any],
    ) -> Judged:
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        more = estimate - truth
        if (cls.too == "far") != (QUANTITIES[quantity].nearer == "smaller"):
            more = -more
        return more > np.float32(threshold), estimate, judged & part(things, cls.side, truth)


@metric(
    "fattening_simple",
    category="geometry",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=NUMBERS,
    cite="Honauer 2019, equation 4.6",
    formula="100 * mean over M_b [estimate nearer than the truth by more than threshold]",
    revision=1,
    needs=("edges", "quantity"),
)
class FatteningSimple(_OneSided):
    """Percentage of the background beside edges that is estimated too near by a threshold.

    Nearer is a larger disparity or a smaller depth; the threshold is in the quantity's unit (6 px
    suits Middlebury's images). The metric needs no extrapolated foreground, but a threshold that
    fits the data.

    >>> import depthgauge as dg
    >>> s = dg.score([[20, 8, 7]], [[20, 1, 1]], "fattening_simple:6")
    >>> s["fattening_simple:6@all"].value
    50.0
    """

    side = ("edges", "background")
    too = "near"


@metric(
    "thinning_simple",
    category="geometry",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=NUMBERS,
    cite="Honauer 2019, equation 4.8",
    formula="100 * mean over M_f [estimate farther than the truth by more than threshold]",
    revision=1,
    needs=("edges", "quantity"),
)
class ThinningSimple(_OneSided):
    """Percentage of the foreground beside edges that is estimated too far by a threshold.

    The counterpart of `fattening_simple`.

    >>> import depthgauge as dg
    >>> s = dg.score([[14, 13, 1]], [[20, 20, 1]], "thinning_simple:6")
    >>> s["thinning_simple:6@all"].value
    50.0
    """

    side = ("edges", "foreground")
    too = "far"


@metric(
    "detail_fattening_simple",
    category="geometry",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=NUMBERS,
    cite="Honauer 2019, equation 4.12",
    formula="100 * mean over M_s [estimate nearer than the truth by more than threshold]",
    revision=1,
    needs=("structures", "quantity"),
)
class DetailFatteningSimple(_OneSided):
    """Percentage of the surroundings of fine structures that is estimated too near by a threshold.

    Nearer is a larger disparity or a smaller depth. With 0.15 px it is the 4D Light Field
    Benchmark's *Fine Fattening*.

    >>> import depthgauge as dg
    >>> s = dg.score([[1, 9, 8]], [[1, 9, 1]], "detail_fattening_simple:6")
    >>> s["detail_fattening_simple:6@all"].value
    50.0
    """

    side = ("structures", "surrounding")
    too = "near"


@metric(
    "fine_thinning",
    category="geometry",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=NUMBERS,
    cite="Honauer 2019, equation 7.2",
    formula="100 * mean over M_r [estimate farther than the truth by more than threshold]",
    revision=1,
    needs=("structures", "quantity"),
)
class FineThinning(_OneSided):
    """Percentage of the pixels of fine structures that is estimated too far by a threshold.

    The counterpart of `detail_fattening_simple`. With 0.15 px it is the 4D Light Field Benchmark's
    *Fine Thinning*.

    >>> import depthgauge as dg
    >>> s = dg.score([[1, 9, 1, 1]], [[1, 9, 9, 1]], "fine_thinning:6")
    >>> s["fine_thinning:6@all"].value
    50.0
    """

    side = ("structures", "mask")
    too = "far"
