"""The best, the median and the worst sample of the best method, large and on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from depthgauge.analysis.boards.board import Board
from depthgauge.analysis.maps.sample_maps import SampleMaps, sample_maps
from depthgauge.analysis.precision_recall import PrecisionRecall
from depthgauge.analysis.sample_choice import Examples
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.report.pictures.drawing import drawing_of
from depthgauge.report.pictures.encode import EXAMPLE_WIDE, error_limits
from depthgauge.report.pictures.model import SamplePictures
from depthgauge.types import is_known


def example_maps(
    maps: RunMaps,
    board: Board,
    sample: str,
    found: Mapping[str, PreparedSample],
    examples: Examples,
    curves: Mapping[str, PrecisionRecall],
) -> SampleMaps:
    """What is drawn of one example: images, truth, and the best method's estimate and error.

    Args:
        maps: Truth and images of the run.
        board: The order of the methods, and the main score.
        sample: Its id.
        found: The estimates of this sample beside the truth, by label.
        examples: Which method, and why this sample.
        curves: Of boundaries: precision and recall of the methods.
    """
    label = examples.label
    own = {label: found[label]} if label in found else {}
    made = sample_maps(maps, board, sample, own, why=examples.samples[sample], curves=curves)
    return replace(
        made,
        results={label: made.results[label]} if label in made.results else {},
        most_wide=EXAMPLE_WIDE,
        has_value_errors=False,
        edges=None,
        normals_of=None,
        metric_maps=(),
        layers=(),
    )


def example_pictures(samples: Sequence[SampleMaps]) -> list[SamplePictures]:
    """The pictures of all examples; their errors have one scale, so that they can be compared."""
    limits = [
        error_limits(values[is_known(each.truth) & np.isfinite(values)], 95)
        for each in samples
        for values in each.errors.values()
    ]
    high = max((high for _, high in limits), default=None)
    drawn = []
    for each in samples:
        pictures = drawing_of(each.quantity).draw(replace(each, errors_up_to=high))
        drawn.append(replace(pictures, inputs=pictures.inputs[:1], together=(), rows=()))
    return drawn
