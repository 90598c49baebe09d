"""How coarsely scores of hidden truth are released, so that a year of them tells little of a map.

A team may move one map of a submission and leave the others: each score then tells one number about
this map, and a year of such numbers tells much of it. So a score is rounded to steps as large as
the share of a few samples in it, and by chance up or down: where steps end cannot be found out by
asking, as it could with plain rounding, where one bit says whether a sum of errors is positive. Who
submits honestly gets a score that is right on average.
"""

from __future__ import annotations

import hmac
import math
from collections.abc import Sequence
from dataclasses import dataclass

from depthgauge.benchmarks import Protocol
from depthgauge.errors import Misuse
from depthgauge.types import Sample

MOST_QUOTA = 5
"""Submissions of a team in a month, if nothing else is said and there are enough samples."""
_SAMPLES_A_SUBMISSION = 60
_MONTHS = 12
_STEP = 0.75
"""Found with attacks on made scenes (`tools/evidence/hidden_truth.py`), on other seeds than those
of the record."""
_LARGEST_STEP = 1 / 3
_NICE = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class Rounding:
    """Of the released scores of a benchmark."""

    step: float
    """At least this share of a score's distance from the best value."""
    secret: str
    """Decides what is rounded up; only workers know it."""


def usual_quota(samples: int, hidden: bool) -> int:
    """Submissions of a team in a month, if the organisers do not say otherwise.

    >>> usual_quota(12, hidden=True), usual_quota(200, hidden=True), usual_quota(12, hidden=False)
    (1, 3, 5)
    """
    fitting = max(1, samples // _SAMPLES_A_SUBMISSION) if hidden else MOST_QUOTA
    return min(MOST_QUOTA, fitting)


def usual_step(samples: int, quota: int, scores: int = 1) -> float:
    """The share of a score by which it is rounded.

    A sample is one part in `samples` of a score, and the mean of n answers is by the root of n
    more exact than one. So what a year tells of one map does not depend on these numbers.

    >>> round(usual_step(12, 1), 3), round(usual_step(200, 3), 3), round(usual_step(200, 3, 4), 3)
    (0.217, 0.022, 0.045)
    """
    return _STEP * math.sqrt(_MONTHS * quota * scores) / samples


def step_of(protocol: Protocol, samples: Sequence[Sample], quota: int) -> float | None:
    """The step of a benchmark with hidden truth; None if it says how many digits are released.

    Raises:
        Misuse: Its scores cannot be released without telling much.
    """
    rules, names = protocol.hidden, protocol.released_scores
    if rules.digits is not None:
        return None
    way_out = "or accept what attackers learn, and say how many digits are released (--digits)"
    if rules.samples:
        raise Misuse(
            f"{protocol.id}: a score of a single sample tells much about it; release scores of all "
            f"samples together only (samples = false in [hidden]), {way_out}"
        )
    unbounded = [name for name in names if best_value(protocol, name) is None]
    if unbounded:
        raise Misuse(
            f"{protocol.id}: {unbounded[0]} has no best value, so it cannot be rounded by its "
            f"distance from it; release other scores (scores in [hidden]), {way_out}"
        )
    units = {sample.scene or sample.id for sample in samples}
    count = len(units) if protocol.pool == "scene" else len(samples)
    step = usual_step(count, quota, len(names))
    if step > _LARGEST_STEP:
        raise Misuse(
            f"{protocol.id}: {len(names)} scores of {count} samples, {quota} times a month, can "
            f"only be released in steps of {step:.0%} if a year of them shall tell little about "
            "each sample; take more samples, fewer scores (scores in [hidden]) or a smaller "
            f"--quota, {way_out}"
        )
    return step


def best_value(protocol: Protocol, name: str) -> float | None:
    """The value of a perfect estimate, where that is the end of all values."""
    spec = next(spec for spec in protocol.specs if spec.id == name)
    ends = dict(zip(("lower", "higher"), spec.metric.bounds, strict=True))
    end = ends.get(protocol.better(name), math.inf)
    return end if math.isfinite(end) else None


def coarse(value: float, best: float, rounding: Rounding, name: str) -> float | None:
    """A value with a distance from the best one that is a multiple of a round step.

    The same value is rounded alike every time.

    >>> once = coarse(0.34, 0.0, Rounding(0.2, "secret"), "mae@all")
    >>> once == coarse(0.34, 0.0, Rounding(0.2, "secret"), "mae@all"), once in (0.3, 0.4)
    (True, True)
    """
    if not math.isfinite(value):
        return None
    distance = abs(value - best)
    if distance == 0:
        return value
    width = grid_width(rounding.step * distance)
    steps = math.floor(distance / width)
    up = _chance(rounding.secret, name, value) < distance / width - steps
    return float(f"{best + math.copysign((steps + up) * width, value - best):.9g}")


def grid_width(least: float) -> float:
    """The next number of the series 1, 2, 5, 10, 20 ...

    >>> grid_width(0.03), grid_width(0.05), grid_width(7)
    (0.05, 0.05, 10.0)
    """
    decade = math.floor(math.log10(least))
    nice = (float(f"{digit}e{decade}") for digit in _NICE)
    return next(width for width in nice if width >= least * (1 - 1e-12))


def _chance(secret: str, name: str, value: float) -> float:
    """Between 0 and 1, the same for the same value, and known to nobody without the secret."""
    text = f"{name} {value.hex()}".encode()
    digest = hmac.digest(secret.encode(), text, "sha256")
    return int.from_bytes(digest[:7]) / 256**7
