"""How much attackers learn of hidden truth of 64x48 px, with the defences of a site and without.

The truth is of made scenes, and the best public estimate is that of SGBM, so that its errors are
those of a real method. Submissions go to the code that scores and releases, without the network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.fft import dctn

from depthgauge.benchmarks import Protocol, make_protocol
from depthgauge.engine.scoring.gather import gather
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.scoring.rules import Rules
from depthgauge.methods import sgbm
from depthgauge.serve.submissions.registry import Registered
from depthgauge.serve.submissions.release import released
from depthgauge.serve.submissions.rounding import Rounding, usual_quota, usual_step
from depthgauge.serve.submissions.sandbox import inside_density
from depthgauge.synth.sets.stereo_scenes import make_scenes
from depthgauge.types import Estimate, Inputs, Sample, Truth
from tools._measured import table, update
from tools.evidence import Number, figure, recorded_values, within
from tools.evidence._attacks import (
    ATTACKS,
    MAE,
    ONE_MAP_ATTACKS,
    Attacker,
    Maps,
    OneMapAttack,
)

WIDTH, HEIGHT = 64, 48
SAMPLES = 12
COUNTS = (10, 100, 1000)
RANGE_PX = (0.0, 64.0)
_OFFSET_PX = 24.0
"""Added to all disparities, so that no attack meets the ends of the range."""
_PUBLIC_SEED, _HIDDEN_SEED = 11, 10
"""The step of released scores was found with seeds below 4."""
_SECRETS = 8
"""Rounding is by chance: gains on one map are means over so many sites."""
_MOST_GAIN = 5.0


@dataclass(frozen=True)
class Target:
    """Hidden truth, and the best public estimate of it."""

    truth: Maps
    guess: Maps
    public_errors: Maps
    """Errors of the same method on public scenes."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the samples."""
        return tuple(f"{number:02}" for number in range(len(self.truth)))

    def gain(self, found: Maps) -> float:
        """By how many percent the RMSE over all samples is below that of the guess."""
        return 100 * (1 - float(np.sqrt(_mse(found, self.truth) / _mse(self.guess, self.truth))))


def _mse(found: Maps, truth: Maps) -> float:
    return float(((found - truth) ** 2).mean())


def make_target(samples: int = SAMPLES) -> Target:
    """Quarters of the scenes, as many as wanted."""
    truth, guess = _quarters(_HIDDEN_SEED)
    public_truth, public_guess = _quarters(_PUBLIC_SEED)
    return Target(truth[:samples], guess[:samples], public_truth - public_guess)


def _quarters(seed: int) -> tuple[Maps, Maps]:
    """Truth and estimates, a quarter of each scene, then another one."""
    scenes = list(make_scenes(size_px=(2 * WIDTH, 2 * HEIGHT), seed=seed))
    truth = np.array([scene.truth["disparity"] for scene in scenes if scene.truth], float)
    found = np.array([sgbm.estimate(scene.inputs, sgbm.SgbmOptions()) for scene in scenes], float)
    found = np.array([_filled(one) for one in found])
    places = [np.s_[:, HEIGHT:, WIDTH:], np.s_[:, :HEIGHT, WIDTH:]]
    cut = [np.concatenate([maps[place] for place in places]) for maps in (truth, found)]
    return cut[0] + _OFFSET_PX, cut[1] + _OFFSET_PX


def _filled(values: Maps) -> Maps:
    """Without holes: between the nearest values of the row."""
    found = values.copy()
    for row in found:
        known = np.isfinite(row)
        row[~known] = np.interp(np.flatnonzero(~known), np.flatnonzero(known), row[known])
    return found


def _spectrum(errors: Maps) -> Maps:
    """Mean squares of coefficients; alike for like frequencies, but for the mean."""
    energy = (dctn(errors, axes=(1, 2), norm="ortho") ** 2).mean(axis=0)
    rows, columns = energy.shape
    frequency = np.hypot(np.arange(rows)[:, None] / rows, np.arange(columns) / columns)
    order = np.argsort(frequency, axis=None, kind="stable")
    window = np.ones(9) / 9
    sorted_energy = energy.ravel()[order]
    smooth = np.convolve(np.pad(sorted_energy[1:], 4, mode="edge"), window, mode="valid")
    found = np.zeros(energy.size)
    found[order] = [sorted_energy[0], *smooth]
    return found.reshape(energy.shape)


def make_attacker(target: Target, *, defended: bool) -> Attacker:
    """Somebody who asks a site with its usual defences, or one without any."""
    protocol = make_protocol(
        {
            "id": "attacked",
            "version": 1,
            "dataset": "depthgauge",
            "quantity": "disparity",
            "missing": "bad",
            "pool": "image",
            "scores": [{"metric": "mae"}],
        },
        "the attacked benchmark",
    )
    step = usual_step(len(target.truth), usual_quota(len(target.truth), hidden=True))
    site = Site(target, protocol, Rounding(step, "secret") if defended else None)
    known = np.abs(target.guess - target.truth).mean()
    return Attacker(
        site.ask,
        target.names,
        target.guess,
        _spectrum(target.public_errors),
        RANGE_PX[0],
        float(known),
        least_density=protocol.hidden.least_density if defended else 0.0,
        step_share=step if defended else 0.0,
        by_sample=not defended,
    )


class Site:
    """What a worker does with maps, without files."""

    def __init__(self, target: Target, protocol: Protocol, rounding: Rounding | None) -> None:
        image = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        inputs = Inputs({"left_image": image, "disparity_range": RANGE_PX})
        self.samples = [
            Sample(name, inputs, Truth({"disparity": truth.astype(np.float32)}), scene=name)
            for name, truth in zip(target.names, target.truth, strict=True)
        ]
        rules = Rules.of(protocol, self.samples)
        self.judges = [Judge(rules, with_hashes=False, with_notes=False) for _ in self.samples]
        self.protocol = protocol
        self.rounding = rounding

    def ask(self, maps: Maps) -> Mapping[tuple[str, str], float] | None:
        """What is released of these estimates; None if they are refused."""
        result = self.score(maps)
        return None if result is None else self.tell(result, self.rounding)

    def score(self, maps: Maps) -> Result | None:
        """The scores of all samples; None if they are refused."""
        estimates = [Estimate(one.astype(np.float32), "disparity") for one in maps]
        pairs = list(zip(self.samples, estimates, strict=True))
        least = self.protocol.hidden.least_density if self.rounding else 0.0
        if any(inside_density(self.protocol, *pair) < least for pair in pairs):
            return None
        outcomes = {
            sample.id: judge.score_map(sample, _giving(estimate))
            for judge, (sample, estimate) in zip(self.judges, pairs, strict=True)
        }
        return gather(self.protocol, outcomes, {one.id: one.scene for one in self.samples})

    def tell(self, result: Result, rounding: Rounding | None) -> Mapping[tuple[str, str], float]:
        """What is released of scores; everything without defences."""
        hidden = None if rounding is None else Path()
        told = released(Registered(self.protocol, Path(), hidden, rounding), result)
        return {(sample, score): np.nan if v is None else v for sample, score, v in told}


def _giving(estimate: Estimate) -> Callable[[], Estimate]:
    return lambda: estimate


@figure(
    "hidden-truth",
    data=f"{SAMPLES} maps of 64x48 px: quarters of made scenes, and SGBM's estimates of them",
)
def hidden_truth() -> Iterator[Number]:
    """Percent by which attacks bring the RMSE below that of the best public estimate.

    With the defences, a year's usual quota must gain less than five percent.
    """
    target = make_target()
    year = 12 * usual_quota(SAMPLES, hidden=True)
    yield Number("submissions in a year", year, SAMPLES, 0)
    for name, attack in ATTACKS.items():
        for defended in (False, True):
            attacker = make_attacker(target, defended=defended)
            words = "defended" if defended else "open"
            for count in sorted({year, *COUNTS}):
                gain = target.gain(attack(attacker, count))
                yield _number(f"{name}, {words}, {count}", gain, defended, count, year)
    yield from _one_map(target, year)


def _number(name: str, gain: float, defended: bool, count: int, year: int) -> Number:
    if defended and count <= year:
        return within(name, gain, -100.0, _MOST_GAIN)
    if not defended and count == max(COUNTS):
        return within(name, gain, 3 * _MOST_GAIN, 100.0)
    return Number(name, gain)


def _one_map(target: Target, year: int) -> Iterator[Number]:
    """All submissions of a year for one map: the best attack on the map that tells most."""
    for defended in (False, True):
        gains = one_map_gains(target, year, defended=defended)
        words = "defended" if defended else "exact"
        worst = float(gains.mean(axis=-1).max())
        name = f"one map, {words}, {year}"
        if defended:
            yield within(name, worst, -100.0, _MOST_GAIN)
        else:
            yield within(name, worst, 3 * _MOST_GAIN, 100.0)
        yield Number(f"{name}, mean of all maps", float(gains.mean(axis=(1, 2)).max()))
        yield Number(f"{name}, with the most luck", float(gains.max()))


def one_map_gains(target: Target, count: int, *, defended: bool) -> Maps:
    """Percent of the RMSE of one map, by attack, map, and secret of the site.

    Only scores of all samples together are released; without defences, with all their digits.
    """
    attacker = make_attacker(target, defended=defended)
    site: Site = attacker.ask.__self__  # type: ignore[attr-defined]  # a bound method
    secrets = range(_SECRETS if defended else 1)
    share = attacker.step_share
    roundings = [Rounding(share, str(number)) if defended else None for number in secrets]
    gains = [
        _gains(target, site, roundings, attacker, attack, one, count)
        for attack in ONE_MAP_ATTACKS
        for one in range(len(target.truth))
    ]
    return np.reshape(gains, (len(ONE_MAP_ATTACKS), len(target.truth), len(secrets)))


def _gains(
    target: Target,
    site: Site,
    roundings: list[Rounding | None],
    attacker: Attacker,
    attack: OneMapAttack,
    one: int,
    count: int,
) -> list[float]:
    """Of one attack on one map, for each secret."""
    questions = list(attack.questions(attacker, one, count))
    results = [result for maps, _ in questions if (result := site.score(maps)) is not None]
    asked = [signs for _, signs in questions]
    part = np.s_[one : one + 1]
    alone = Target(target.truth[part], target.guess[part], target.public_errors)
    found = []
    for rounding in roundings:
        values = [site.tell(result, rounding)["", MAE] for result in results]
        found.append(alone.gain(attack.fit(attacker, one, asked, values)[None]))
    return found


def write_page(*, check: bool = False) -> bool:
    """Brings the table of docs/operators.md up to date; True where it is."""
    numbers = recorded_values("hidden-truth")
    if not numbers:
        return False
    year = int(numbers["submissions in a year"])
    columns = [("open", count) for count in COUNTS]
    columns += [("defended", count) for count in sorted({year, *COUNTS})]
    head = ["", *(f"{words}, {count:,}" for words, count in columns)]
    rows = [
        [name, *(f"{numbers[f'{name}, {words}, {count}']:.1f}" for words, count in columns)]
        for name in ATTACKS
    ]
    one = {words: numbers[f"one map, {words}, {year}"] for words in ("exact", "defended")}
    mean = numbers[f"one map, exact, {year}, mean of all maps"]
    sentence = (
        f"If all {year} submissions of a year go to one map, and the best of "
        f"{len(ONE_MAP_ATTACKS)} attacks meets the map that tells most, exact scores of all maps "
        f"together gain {one['exact']:.0f} % of that map (a mean map: {mean:.0f} %), and released "
        f"ones {one['defended']:.1f} %."
    )
    return update(
        "operators.md", {"attacks": f"{table(head, rows)}\n\n{sentence}"}, "evidence", check
    )
