"""Controls: right views that are known to be right or wrong, which give every metric its scale.

They need the truth, so no method makes them: the process that scores does, where the truth is. They
are shown beside methods and never ranked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from depthgauge.benchmarks import Protocol
from depthgauge.engine.store.run_folder import CONTROL
from depthgauge.errors import Misuse, Unavailable
from depthgauge.io.shown import shown
from depthgauge.methods import Method, MethodKind, MethodOptions, MethodSpec
from depthgauge.types import ClipEstimate, Estimate, Frames, Sample

_QUANTITY = "view"


@dataclass(frozen=True, slots=True)
class ControlKind:
    """One control."""

    label: str
    about: str
    """One sentence for the report."""
    views: Callable[[Sample, Sample | None], Frames]
    """The pictures that stand for estimates: of the sample, or of another scene."""


def _of_truth(name: str, sample: Sample) -> Frames:
    if sample.truth is None or name not in sample.truth:
        raise Unavailable(f"the truth of {sample.id} has no {name}.")
    found: Frames = sample.truth[name]
    return found


def _target(sample: Sample, other: Sample | None) -> Frames:
    return _of_truth("view", sample)


def _left(sample: Sample, other: Sample | None) -> Frames:
    found: Frames = sample.inputs["left_image"]
    return found


def _wrong(sample: Sample, other: Sample | None) -> Frames:
    return _of_truth("wrong_view", sample)


def _random(sample: Sample, other: Sample | None) -> Frames:
    if other is None:
        raise Unavailable("there is no other scene.")
    found = _of_truth("view", other)
    length = sample.length or 0
    # The other scene may be shorter: then it starts again.
    return Frames([partial(found.__getitem__, k % len(found)) for k in range(length)])


CONTROLS = (
    ControlKind("rendered target", "The true right view: the best that any score can be.", _target),
    ControlKind("copied left", "The left view: it matches perfectly and has no stereo.", _left),
    ControlKind(
        "wrong baseline", "A true view of the same scene by another camera (camera 02).", _wrong
    ),
    ControlKind("random right", "The true right view of another scene.", _random),
)


@dataclass(frozen=True)
class Control(Method):
    """A control in the place of a method; it cannot be called."""

    control: ControlKind = field(default=CONTROLS[0])

    def views(self, sample: Sample, other: Sample | None) -> ClipEstimate:
        """Its pictures of a sample.

        Raises:
            Unavailable: The sample has none, or there is no other scene.
        """
        pictures = self.control.views(sample, other)
        frames = [partial(_estimate, pictures, index) for index in range(len(pictures))]
        return ClipEstimate(Frames(frames), _QUANTITY)

    def __reduce__(self) -> tuple[Callable[..., Method], tuple[Any, ...]]:
        return control, (self.label,)


def _estimate(pictures: Frames, index: int) -> Estimate:
    return Estimate(np.ascontiguousarray(shown(pictures[index])), _QUANTITY)


def control(label: str) -> Control:
    """The control of that name."""
    kind = next(kind for kind in CONTROLS if kind.label == label)
    spec = MethodSpec(CONTROL, kind.about, (_QUANTITY,), (), keeps=False)
    return Control(MethodKind(spec, None, home=CONTROL), MethodOptions(), label, CONTROL, kind)


def controls_of(protocol: Protocol) -> tuple[Control, ...]:
    """All controls of a benchmark.

    Raises:
        Misuse: It has none.
    """
    if protocol.quantity != _QUANTITY:
        raise Misuse(
            f"{protocol.id} scores {protocol.quantity}; only benchmarks of views have controls."
        )
    return tuple(control(kind.label) for kind in CONTROLS)


def other_scene(samples: Sequence[Sample], index: int) -> Sample | None:
    """The next sample of another scene, in the order of the dataset; after the last, the first."""
    here = samples[index]
    after = (*samples[index + 1 :], *samples[:index])
    return next((s for s in after if (s.scene or s.id) != (here.scene or here.id)), None)
