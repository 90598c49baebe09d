"""What a ranking by profile says."""

from __future__ import annotations

from dataclasses import dataclass

from depthgauge.analysis.profiles._costs import Scale
from depthgauge.analysis.profiles._profile import Profile, Weight


@dataclass(frozen=True, slots=True)
class Weighed:
    """One score that takes part."""

    id: str
    aspect: str
    """The weight that it has its share of."""
    share: float
    """Of the weight that could be scored: all shares sum to 1."""
    scale: Scale
    unit: str


@dataclass(frozen=True, slots=True)
class Absent:
    """A weight that could not be given, as nothing tells of it."""

    weight: Weight
    share: float
    """Of the profile's whole weight."""
    why: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one score says of one method."""

    score: Weighed
    value: float
    cost: float
    """0 perfect, 1/2 as the median method, 1 as bad as can be; NaN where there is no value."""

    @property
    def effect(self) -> float:
        """How far it moves the method: positive speaks for it, 0 is as the median method."""
        return self.score.share * (self.score.scale.median_cost - self.cost)


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """One method."""

    label: str
    rank: int
    """Equal costs share the better rank; methods that lack a score share the last."""
    cost: float
    """The weighted mean of its costs; NaN where it lacks a score."""
    verdicts: tuple[Verdict, ...]
    """What moves it most first; a score that it lacks last."""
    lacks: tuple[str, ...]
    """Scores that others have and it has not."""
    why: str
    """A sentence: what speaks for it, and what against it."""


@dataclass(frozen=True, slots=True)
class Swing:
    """A change of one weight that would bring another method to the top."""

    label: str
    aspect: str
    factor: float
    """What the weight is multiplied by."""


@dataclass(frozen=True, slots=True)
class ProfileRanking:
    """The order of the methods under a profile."""

    profile: Profile
    rows: tuple[ProfileRow, ...]
    """Best first; oracles are not in it."""
    scores: tuple[Weighed, ...]
    """Those that take part, in the profile's order."""
    absent: tuple[Absent, ...]
    """Weights that no score tells of."""
    covered: float
    """Share of the profile's weight that could be scored."""
    swings: tuple[Swing, ...]
    """Who else would come first if one of the weights were half or twice as large."""
    notes: tuple[str, ...]
    """Sentences that a reader of the ranking has to know."""
