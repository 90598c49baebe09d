"""Clips: frames are scored one by one as they come, and their states add up to the clip's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.scoring.measure import CLIP_MEMORY, PreparedSample
from depthgauge.engine.store.record import Curve
from depthgauge.errors import BadEstimate
from depthgauge.metrics import total_of
from depthgauge.types import ClipEstimate, Estimate, Sample, Score, State, merge_states

PREVIOUS = ("previous_estimate", "previous_truth")
"""What metrics of a clip may need: the maps of the previous frame. The first frame has none."""


@dataclass
class FrameMemory:
    """What is remembered from one frame of a clip to the next."""

    items: dict[str, Any] = field(default_factory=lambda: {CLIP_MEMORY: {}})

    def remember(self, prepared: PreparedSample) -> None:
        """Keeps the maps of a frame for the next one."""
        maps = (prepared.allowed, prepared.truth)
        kept = self.items[CLIP_MEMORY]
        self.items = {**dict(zip(PREVIOUS, maps, strict=True)), CLIP_MEMORY: kept}


def frame_pairs(
    sample: Sample, estimate: ClipEstimate | None
) -> Iterator[tuple[Sample, Estimate | None]]:
    """Each frame of a clip with its estimate; None where the frame has none.

    Raises:
        BadEstimate: There are more estimates than frames.
    """
    given = () if estimate is None else estimate.frames
    if len(given) > (sample.length or 0):
        raise BadEstimate(f"there are {len(given)} frames for a clip of {sample.length}.")
    yield from zip_longest(sample.frames(), given)


def merge_scores(
    protocol: Protocol, specs: Sequence[ScoreSpec], frames: Iterable[Mapping[str, Score]]
) -> dict[str, Score]:
    """The scores of a clip from those of its frames: states are added, then finished."""
    states: dict[str, State] = {}
    last: dict[str, Score] = {}
    for scores in frames:
        for name, score in scores.items():
            if score.state is None:
                continue
            known = states.get(name)
            states[name] = score.state if known is None else merge_states([known, score.state])
            last[name] = score
    return {
        spec.id: _finished(protocol, spec, states[spec.id], last[spec.id])
        for spec in specs
        if spec.id in states
    }


def _finished(protocol: Protocol, spec: ScoreSpec, state: State, frame: Score) -> Score:
    value = math.nan
    if spec.metric.level != "dataset":
        value = spec.metric.finish(state, protocol.missing, **spec.params)
    total = total_of(spec.metric, state, protocol.missing, **spec.params)
    # Each frame has its own alignment, so the clip has none to show.
    return replace(
        frame,
        value=value,
        count=state.count,
        missing=state.missing,
        total=total,
        state=state,
        alignment=None,
    )


def merge_curves(curves: Iterable[Curve | None]) -> Curve | None:
    """The curve of a clip: the counts of its frames, added."""
    found = [curve for curve in curves if curve is not None]
    if not found:
        return None
    within = np.sum([curve.within for curve in found], axis=0)
    counts = sum(curve.count for curve in found), sum(curve.missing for curve in found)
    return Curve(within, *counts)
