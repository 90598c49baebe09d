"""How estimates of a quantity are drawn: a declaration, `Drawing`, and a function `draw`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthgauge._registry import Registry
from depthgauge.errors import BadDeclaration
from depthgauge.quantities import QUANTITIES

if TYPE_CHECKING:
    from depthgauge.analysis.maps.sample_maps import SampleMaps
    from depthgauge.benchmarks import Protocol
    from depthgauge.engine.scoring.measure import PreparedSample
    from depthgauge.report.pictures.model import SamplePictures

    WriteErrorMaps = Callable[[Path, Protocol, PreparedSample, str], list[str]]


@dataclass(frozen=True, slots=True)
class Drawing:
    """The declaration of how a quantity is shown.

    A module declares it as `SPEC`, or as `DRAWING` where its `SPEC` declares the quantity itself.
    """

    quantity: str
    about: str = ""
    """A sentence or two above the pictures; empty where colour bars say enough."""
    about_up_to_scale: str = ""
    """The same if no score compares values directly."""
    meaning: str = ""
    """A sentence on what the quantity is, for the description of the protocol."""
    range_rule: str = ""
    """A sentence on which values count as missing."""
    wrong_above: float = 1.0
    """The error above which a pixel is called wrong if no score says so."""

    def __post_init__(self) -> None:
        if not self.wrong_above > 0:
            raise BadDeclaration(
                f"the drawing of {self.quantity}: wrong_above is {self.wrong_above} but must be "
                "above 0."
            )


@dataclass(frozen=True, slots=True)
class QuantityDrawing:
    """A registered drawing."""

    spec: Drawing
    draw: Callable[[SampleMaps], SamplePictures]
    """All pictures of one sample."""
    write_error_maps: WriteErrorMaps | None = None
    """Writes the files of `score --map` into a folder, where they are not those of the metrics;
    returns the metrics that have none."""


def _collect(module: Any) -> Iterator[tuple[str, QuantityDrawing]]:
    for name in ("SPEC", "DRAWING"):
        spec = getattr(module, name, None)
        if isinstance(spec, Drawing):
            draw = getattr(module, "draw", None)
            if not callable(draw) or len(inspect.signature(draw).parameters) != 1:
                raise BadDeclaration(f"{module.__name__}: a drawing needs a function draw(sample).")
            write = getattr(module, "write_error_maps", None)
            yield spec.quantity, QuantityDrawing(spec, draw, write)


DRAWINGS: Registry[QuantityDrawing] = Registry(
    "drawing", "depthgauge.report.pictures.quantities", collect=_collect
)
"""The drawings of quantities, by the quantity's name."""


_LAYERED = "layered_disparity"
"""Its drawing shows layers of anything, each as the quantity that it is like."""


def drawing_of(quantity: str) -> QuantityDrawing:
    """How a quantity is drawn; if it has no drawing, all its layers or, without layers, its map."""
    if quantity in DRAWINGS:
        return DRAWINGS[quantity]
    if quantity in QUANTITIES and QUANTITIES[quantity].main.is_stack:
        layered = DRAWINGS[_LAYERED]
        return replace(layered, spec=replace(layered.spec, quantity=quantity))
    from depthgauge.report.pictures.quantities import _default

    return QuantityDrawing(Drawing(quantity), _default.draw)
