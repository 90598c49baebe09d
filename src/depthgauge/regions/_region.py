"""What a region is: a decorated function from the truth (and its other needs) to a mask.

    @region("textureless", needs=("left_image",), cite="Scharstein & Szeliski 2002")
    def textureless(truth, *, left_image, window: int = 3, threshold: float = 4.0) -> Mask: ...

The first argument is the truth map of the benchmark's quantity, (H, W) or (H, W, C), NaN where
missing. Every other argument is keyword-only: one for each name in `needs` and `needs_any`, and the
rest are parameters, in the order in which an expression gives them (`textureless:3,4`). A parameter
without a default must be given. Pixels without truth are ignored in the mask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from depthgauge._registry import Registry
from depthgauge.regions._declaration import Check, Declaration, check_quantities, declared
from depthgauge.types import Mask


@dataclass(frozen=True, slots=True)
class Region(Declaration):
    """One registered region."""

    kind: ClassVar[str] = "region"


REGIONS: Registry[Region] = Registry("region", "depthgauge.regions", check=check_quantities)
"""Every region of this folder and of plug-ins."""


def region(
    name: str,
    *,
    needs: Sequence[str] = (),
    needs_any: Sequence[str] = (),
    of: Sequence[str] = (),
    cite: str = "",
    revision: int = 1,
    check: Check | None = None,
) -> Callable[[Callable[..., Mask]], Callable[..., Mask]]:
    """Registers the decorated function under that name and returns it unchanged.

    Args:
        name: Its name in expressions.
        needs: Items and shared maps that it cannot be computed without.
        needs_any: Alternative items; it gets the first that the sample has.
        of: Quantities for which it makes sense; all by default.
        cite: Where the definition comes from.
        revision: Raise it whenever the code may give other pixels.
        check: Takes all parameters by keyword and raises Misuse if they make no sense.
    """

    def register(function: Callable[..., Mask]) -> Callable[..., Mask]:
        fields = declared("region", name, function, needs, needs_any, of, cite, revision, check)
        made = Region(name=name, **fields)
        REGIONS.add(name, made, function.__module__)
        return function

    return register
