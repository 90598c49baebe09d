"""Surface normals of the truth and of every estimate, as a row of pictures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.measure import Prepared
from depthgauge.geometry.rigs import normals_from_map
from depthgauge.report.page.model import ColourBar, Picture, PictureRow
from depthgauge.report.pictures.encode import ROW_WIDE, picture_of_map
from depthgauge.types import Map, Rig, is_known

_ABOUT = (
    "Where surfaces face: light blue to the viewer, redder to the right, greener upwards. Noise, "
    "steps and patches show here that are too small to be seen in the values themselves."
)


def rig_of(protocol: Protocol, prepared: Prepared) -> Rig | None:
    """The rig through which normals are seen; None where none are scored or there is no rig."""
    scored = any("rig" in spec.metric.needs for spec in protocol.specs)
    if not scored or protocol.quantity not in ("disparity", "depth"):
        return None
    found: Rig | None = prepared.items.get("rig")
    return found


def normals_row(truth: Map, estimates: Mapping[str, Map], quantity: str, rig: Rig) -> PictureRow:
    """The normals of the truth first, then those of every method (figure 4.4 of Honauer 2019).

    One map after the other: those of large images need not all be at hand.
    """
    pictures = {"the truth": _picture(truth, quantity, rig, "truth", is_truth=True)}
    for label, values in estimates.items():
        pictures[label] = _picture(values, quantity, rig, label)
    return PictureRow("Surface normals", _ABOUT, pictures)


def _picture(
    values: Map, quantity: str, rig: Rig, caption: str, *, is_truth: bool = False
) -> Picture:
    """Missing values are missing; the pixels beside them and at the border only have no normal."""
    normals = normals_from_map(values, quantity, rig)
    there = is_known(values)
    known = there if is_truth else np.ones(there.shape, bool)
    bar = ColourBar(0.0, 1.0, "", "normals", aside="no normal")
    aside = there & ~is_known(normals)
    return picture_of_map(normals, known, bar, caption, aside=aside, wide=ROW_WIDE)
