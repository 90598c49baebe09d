"""The sentences of a ranking by profile."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from depthgauge.analysis.profiles._profile import Profile
from depthgauge.analysis.profiles._result import Absent, Swing, Verdict

_MOST = 2
"""How many aspects are named on either side."""
_LEAST = 1e-3
"""An effect below this decides nothing."""


def why_sentence(
    label: str, rank: int, methods: int, verdicts: Sequence[Verdict], lacks: Sequence[str]
) -> str:
    """What speaks for a method and what against it, the median method being the measure."""
    if lacks:
        return f"{label} comes last, as it has no value of {', '.join(lacks)}."
    by_aspect: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_aspect.setdefault(verdict.score.aspect, []).append(verdict)
    pros, cons = (_listed(by_aspect, sign) for sign in (1, -1))
    place = f"{label} is number {rank} of {methods}"
    if not pros and not cons:
        return f"{place}: it is as good as the median method in everything that is weighed."
    said = [f"for it: {pros}" if pros else "nothing speaks for it"]
    said += [f"against it: {cons}" if cons else "nothing speaks against it"]
    return f"{place}; {'; '.join(said)}."


def notes_of(
    profile: Profile, absent: Sequence[Absent], swings: Sequence[Swing], methods: int
) -> tuple[str, ...]:
    """What a reader has to know: what was not there, and how firm the first place is."""
    return tuple([*_about_absent(profile, absent), *_about_the_first(swings, methods)])


def _about_absent(profile: Profile, absent: Sequence[Absent]) -> Iterator[str]:
    if absent:
        share = 100.0 * math.fsum(each.share for each in absent)
        yield (
            f"{len(absent)} of {len(profile.weights)} weights, {share:.0f} % of the profile, could "
            "not be given; the others decide alone."
        )
    for each in absent:
        patterns = ", ".join(each.weight.scores)
        yield f"Not weighed: {each.weight.aspect} ({patterns}): {each.why}."


def _about_the_first(swings: Sequence[Swing], methods: int) -> Iterator[str]:
    if methods < 2:
        yield "There is one method, so there is nothing to rank."
    elif not swings:
        yield "The first place stays when any one weight is halved or doubled."
    for each in swings:
        how = "twice" if each.factor > 1 else "half"
        yield f"{each.label} would come first if the weight of '{each.aspect}' were {how} as large."


def _listed(by_aspect: dict[str, list[Verdict]], sign: int) -> str:
    """The aspects that move a method that way most, each with the score that does so most."""
    moved = {
        aspect: sign * math.fsum(verdict.effect for verdict in verdicts)
        for aspect, verdicts in by_aspect.items()
    }
    strongest = sorted(moved, key=lambda aspect: -moved[aspect])[:_MOST]
    return " and ".join(
        _named(max(by_aspect[aspect], key=lambda verdict: sign * verdict.effect))
        for aspect in strongest
        if moved[aspect] > _LEAST
    )


def _named(verdict: Verdict) -> str:
    score = verdict.score
    value, median = (
        " ".join(word for word in (f"{number:.3g}", score.unit) if word)
        for number in (verdict.value, score.scale.median)
    )
    return f"{score.aspect} ({score.id} {value}, median {median})"
