"""What a ranking by profile says."""

from __future__ import annotations

from dataclasses import dataclass

from depthgauge.analysis.profiles._costs import Scale
from depthgauge.analysis.profiles._profile import Profile, Weight


@dataclass(frozen=True, slots=True)
class WeighedScore:
    """One score that is used."""

    id: str
    aspect: str
    """The weight that it shares."""
    share: float
    """Its share of the weight that could be scored; all shares sum to 1."""
    scale: Scale
    unit: str


@dataclass(frozen=True, slots=True)
class UnusedWeight:
    """A weight that could not be used, since no score measures it."""

    weight: Weight
    share: float
    """Its share of the profile's whole weight."""
    why: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The value and cost of one score for one method."""

    score: WeighedScore
    value: float
    cost: float
    """0 perfect, 1/2 like the median method, 1 the worst possible; NaN if there is no value."""

    @property
    def effect(self) -> float:
        """Its effect on the rank: positive is good for the method, 0 is like the median method."""
        return self.score.share * (self.score.scale.median_cost - self.cost)


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """One method."""

    label: str
    rank: int
    """Equal costs share the better rank; methods that lack a score share the last."""
    cost: float
    """The weighted mean of its costs; NaN if it lacks a score."""
    verdicts: tuple[Verdict, ...]
    """Largest effect first; missing scores last."""
    lacks: tuple[str, ...]
    """Scores that other methods have and this one lacks."""
    why: str
    """A sentence: its strengths and weaknesses."""


@dataclass(frozen=True, slots=True)
class Swing:
    """A change of one weight that puts another method first."""

    label: str
    aspect: str
    factor: float
    """The factor of the weight."""


@dataclass(frozen=True, slots=True)
class ProfileRanking:
    """The order of the methods under a profile."""

    profile: Profile
    rows: tuple[ProfileRow, ...]
    """Best first; oracles are not in it."""
    scores: tuple[WeighedScore, ...]
    """The scores that are used, in the profile's order."""
    absent: tuple[UnusedWeight, ...]
    """Weights that no score measures."""
    covered: float
    """Share of the profile's weight that could be scored."""
    swings: tuple[Swing, ...]
    """Which other methods would lead if one weight were halved or doubled."""
    notes: tuple[str, ...]
    """Notes that a reader of the ranking must know."""
