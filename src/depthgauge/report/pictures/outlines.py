"""Where the truth jumps, drawn over a picture as a thin line in two tones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.measure import Prepared
from depthgauge.regions import parse
from depthgauge.regions.discontinuities import discontinuities
from depthgauge.report.pictures.colours import Rgb
from depthgauge.report.pictures.shrink import any_of_block, middle_of_block
from depthgauge.types import Map, Mask

_HIGH, _LOW = (255, 255, 255), (16, 16, 16)
_USUAL_JUMP = 1.0


@dataclass(frozen=True, eq=False)
class Outline:
    """Pixels at both sides of jumps, and the truth, which tells the sides apart."""

    edge: Mask
    truth: Map

    def draw(self, picture: Rgb) -> None:
        """Paints the higher side of each jump white and the lower one black.

        So the line is seen on any colour, and where it lies exactly: between the two.
        """
        size = picture.shape[:2]
        edge = any_of_block(self.edge, size)
        high = _higher(middle_of_block(_amounts(self.truth), size))
        picture[edge & high] = _HIGH
        picture[edge & ~high] = _LOW


def _higher(values: Map) -> Mask:
    """Whether a pixel lies farther above its lowest neighbour than below its highest one."""
    padded = np.pad(values, 1, constant_values=np.nan)
    shifted = [padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]]
    rises = [np.nan_to_num(values - neighbour) for neighbour in shifted]
    return np.asarray(np.maximum.reduce(rises) >= -np.minimum.reduce(rises))


def _amounts(values: Map) -> Map:
    """The values themselves; of vectors their length."""
    return values if values.ndim == 2 else np.asarray(np.linalg.norm(values, axis=-1))


def outline_of(protocol: Protocol, prepared: Prepared) -> Outline | None:
    """The truth's discontinuities as the protocol understands them; None where there are none.

    The derived thing `edges` where the protocol uses it, else the jumps of its region
    `discontinuities`, with that region's defaults where the protocol has none.
    """
    if "edges" in protocol.resolved().get("derived", {}) and "edges" in prepared.items:
        edge: Mask = prepared.items["edges"].edge
    else:
        edge = discontinuities(prepared.truth, jump=_jump(protocol), width=1)
    return Outline(edge, prepared.truth) if edge.any() else None


def _jump(protocol: Protocol) -> float:
    """The jump of the first region `discontinuities` that gives one, else that region's own."""
    for text in protocol.region_texts.values():
        for atom in parse(text).atoms():
            if atom.name == "discontinuities" and atom.params:
                return float(atom.params[0])
    return _USUAL_JUMP
