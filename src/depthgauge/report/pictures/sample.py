"""All pictures of one sample of a run, drawn in the way of its quantity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from depthgauge.analysis.boards.board import Board
from depthgauge.analysis.maps.sample_maps import SampleMaps, sample_maps
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
    usual = drawing_of(maps.run.protocol.quantity).spec.wrong_above
    made = sample_maps(maps, board, sample, found, why=why, curves=curves, usual_threshold=usual)
    return draw_sample(made)


def draw_sample(made: SampleMaps) -> SamplePictures:
    """The pictures of a sample's maps, with those of their further parts."""
    drawn = drawing_of(made.quantity).draw(made)
    return replace(drawn, rows=(*part_rows(made), *drawn.rows))


def on_a_fixed_scale(made: SampleMaps) -> SampleMaps:
    """Maps whose colours of errors do not depend on the methods that are drawn.

    They end at twice the error above which a pixel is wrong, so that pictures that are drawn at
    other times can be compared. Where values are known up to a scale only, nothing changes.
    """
    if made.wrong_above is None or made.is_up_to_scale:
        return made
    return replace(made, errors_up_to=2 * made.wrong_above)
