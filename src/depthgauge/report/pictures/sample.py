"""All pictures of one sample of a run, drawn in the way of its quantity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from depthgauge.analysis.board import Board
from depthgauge.analysis.maps.sample_maps import sample_maps
from depthgauge.analysis.precision_recall import PrecisionRecall
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.report.pictures.drawing import drawing_of
from depthgauge.report.pictures.model import SamplePictures
from depthgauge.report.pictures.parts import part_rows


def sample_pictures(
    maps: RunMaps,
    board: Board,
    sample: str,
    found: Mapping[str, PreparedSample],
    why: tuple[str, ...] = (),
    curves: Mapping[str, PrecisionRecall] | None = None,
) -> SamplePictures:
    """The pictures of one sample; methods in the order of the board.

    Args:
        maps: Truth and images of the run.
        board: The order of the methods, and the main score.
        sample: Its id.
        found: The estimates of this sample beside the truth, by label.
        why: Why it is shown.
        curves: Of boundaries: the curves of the methods, which say at which threshold lines are
            matched.
    """
    drawing = drawing_of(maps.run.protocol.quantity)
    usual = drawing.spec.wrong_above
    made = sample_maps(maps, board, sample, found, why=why, curves=curves, usual_threshold=usual)
    drawn = drawing.draw(made)
    return replace(drawn, rows=(*part_rows(made), *drawn.rows))
