"""Attacks on hidden truth, by people who see nothing but what a site releases.

An attacker knows the best public estimate, the allowed range, and how its errors are distributed
over frequencies, as anybody can learn from public scenes. Each attack makes so many submissions and
returns maps of all samples, as close to the truth as it can come.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dctn, idctn

from depthgauge.serve.submissions.rounding import grid_width

Maps = NDArray[np.float64]
"""Samples, rows, columns."""
Masks = NDArray[np.bool_]
MAE = "mae@all"
_HALVINGS = 4
_EXACT = 1e-6


@dataclass(frozen=True)
class Attacker:
    """What an attacker knows, and the site to ask."""

    ask: Callable[[Maps], Mapping[tuple[str, str], float] | None]
    """Submits maps; what is released by sample (empty: all) and score, None if it is refused."""
    names: tuple[str, ...]
    guess: Maps
    """The best public estimate."""
    spectrum: Maps
    """Expected squares of the errors' coefficients (orthonormal DCT) of a sample."""
    lowest: float
    """The lowest value that is allowed."""
    guess_score: float = 0.0
    """The score of the best public estimate, which is published."""
    least_density: float = 0.0
    step_share: float = 0.0
    """The share of a score by which it is rounded, up or down by chance."""
    by_sample: bool = True
    """Whether each sample has scores of its own."""

    @property
    def deviation(self) -> float:
        """Standard deviation of the errors."""
        return float(np.sqrt(self.spectrum.mean()))

    @property
    def far(self) -> float:
        """A shift that hardly any error exceeds."""
        return 6 * self.deviation

    def values(self, maps: Maps, score: str) -> Maps | None:
        """A score of each sample where it is released, else one number; None if refused."""
        answer = self.ask(maps)
        if answer is None:
            return None
        names = self.names if self.by_sample else ("",)
        return np.array([answer[name, score] for name in names])

    def noise(self, value: float) -> float:
        """The variance of what rounding adds to a score of about this value."""
        if self.step_share == 0 or value <= 0:
            return _EXACT**2
        return grid_width(self.step_share * value) ** 2 / 6


def single_pixel(attacker: Attacker, count: int) -> Maps:
    """One estimated pixel in a map without others: its error is the score."""
    found = attacker.guess.copy()
    for place in np.random.default_rng(0).permutation(found[0].size)[:count]:
        row, column = np.unravel_index(place, found[0].shape)
        maps = np.full_like(found, np.nan)
        maps[:, row, column] = attacker.lowest
        values = attacker.values(maps, MAE)
        if values is not None and attacker.by_sample:
            found[:, row, column] = attacker.lowest + values
    return found


def nan_mask(attacker: Attacker, count: int) -> Maps:
    """Maps with parts left out: the mean error of the rest, for many rests.

    All estimates are too large by more than any error, so that the mean of their absolute errors
    is a mean of errors, which is linear in the truth.
    """
    answers = Answers(attacker)
    for mask in _masks(attacker, count):
        maps = np.where(mask, attacker.guess + attacker.far, np.nan)
        kept = mask.sum(axis=(1, 2), keepdims=True)
        answers.add(attacker.values(maps, MAE), mask / kept)
    return attacker.guess + answers.fit()


def regression(attacker: Attacker, count: int) -> Maps:
    """Shifts up and down by patterns, from coarse to fine: sums of errors with both signs.

    A shift by more than any error makes the mean absolute error linear in the truth, as above.
    """
    answers = Answers(attacker)
    for signs in _waves(attacker, count):
        values = attacker.values(attacker.guess + attacker.far * signs, MAE)
        answers.add(values, signs / signs[0].size)
    return attacker.guess + answers.fit()


def bisection(attacker: Attacker, count: int) -> Maps:
    """Moves block after block: which end of an interval is better, then which half, and so on."""
    found = attacker.guess.copy()
    blocks = max(1, count // (_HALVINGS + 1))
    for region in _blocks_in_turn(attacker, blocks):
        _bisect(attacker, found, region)
    return found


@dataclass(frozen=True)
class OneMapAttack:
    """All submissions for one map: it is moved by a few waves, up and down, and the others stay.

    So a score differs from that of the guess by this map's share only, and rounding, which goes by
    the size of the score, is as fine as it can be.
    """

    waves: int
    """The fewer, the more often each is asked."""
    shift: float
    """In standard deviations of the errors. Linear if no error exceeds it; coarser if large."""

    def questions(self, attacker: Attacker, one: int, count: int) -> Iterator[tuple[Maps, Maps]]:
        """What is submitted, and the signs by which the one map is moved."""
        strongest = np.argsort(-attacker.spectrum.ravel(), kind="stable")
        for number in range(count):
            wave = _wave(attacker.guess.shape[1:], int(strongest[number // 2 % self.waves]))
            signs = wave if number % 2 == 0 else -wave
            maps = attacker.guess.copy()
            maps[one] += self._shift_px(attacker, number) * signs
            yield maps, signs

    def _shift_px(self, attacker: Attacker, number: int) -> float:
        """Not twice the same: the same score would be rounded alike."""
        return self.shift * (1 + number / 100) * attacker.deviation

    def fit(self, attacker: Attacker, one: int, asked: list[Maps], values: list[float]) -> Maps:
        """The one map, as close to the truth as the answers allow.

        What the others add to the score is unknown, but the same in all answers.
        """
        samples = len(attacker.guess)
        waves = [dctn(signs / signs.size, norm="ortho").ravel() / samples for signs in asked]
        rows = np.column_stack([-np.array(waves), np.ones(len(waves))])
        variances = np.append(attacker.spectrum.ravel(), attacker.deviation**2)
        shifts = np.array([self._shift_px(attacker, number) for number in range(len(asked))])
        expected = shifts / samples + attacker.guess_score
        noise = np.diag([attacker.noise(value) for value in expected])
        scaled = rows * variances
        found = np.linalg.solve(scaled @ rows.T + noise, np.array(values) - expected) @ scaled
        errors = np.reshape(found[:-1], attacker.guess.shape[1:])
        return np.asarray(attacker.guess[one] + idctn(errors, norm="ortho"))


ONE_MAP_ATTACKS = tuple(
    OneMapAttack(waves, shift) for waves in (1, 2, 3, 6) for shift in (1.0, 2.0, 4.0)
)


ATTACKS: Mapping[str, Callable[[Attacker, int], Maps]] = {
    "single pixel": single_pixel,
    "NaN mask": nan_mask,
    "bisection": bisection,
    "regression": regression,
}


class Answers:
    """Sums of errors with known weights, and the errors that fit them best.

    The fit is the best linear one for errors of the known spectrum: without an answer, none.
    """

    def __init__(self, attacker: Attacker) -> None:
        self._attacker = attacker
        self._weights: list[Maps] = []
        self._sums: list[Maps] = []
        self._noise: list[float] = []

    def add(self, values: Maps | None, weights: Maps) -> None:
        """A released score, if there is one."""
        if values is None:
            return
        self._sums.append(self._attacker.far - values)
        self._weights.append(weights)
        self._noise.append(self._attacker.noise(self._attacker.far))

    def fit(self) -> Maps:
        """The errors of all samples."""
        attacker = self._attacker
        guess = attacker.guess
        if not self._sums:
            return np.zeros_like(guess)
        spectrum = attacker.spectrum.ravel()
        weights = dctn(np.array(self._weights), axes=(2, 3), norm="ortho")
        if not attacker.by_sample:  # one long sample
            weights = weights.reshape(len(weights), 1, -1) / len(guess)
            spectrum = np.tile(spectrum, len(guess))
        sums, noise = np.array(self._sums), np.diag(self._noise)
        found = []
        for one in range(weights.shape[1]):
            rows = weights[:, one].reshape(len(sums), -1)
            scaled = rows * spectrum
            found.append(np.linalg.solve(scaled @ rows.T + noise, sums[:, one]) @ scaled)
        return np.asarray(idctn(np.reshape(found, guess.shape), axes=(1, 2), norm="ortho"))


def _bisect(attacker: Attacker, found: Maps, region: Masks) -> None:
    """Moves a region of `found` to where the score is best."""

    def score(shift: Maps) -> Maps:
        values = attacker.values(found + np.where(region, shift, 0), MAE)
        none = np.zeros(1) if values is None else values
        return np.broadcast_to(none, len(found))[:, None, None]

    low = np.full((len(found), 1, 1), -2 * attacker.deviation)
    high = -low
    at_low, at_high = score(low), score(high)
    for _ in range(_HALVINGS - 1):
        middle = (low + high) / 2
        at_middle, lower = score(middle), at_low < at_high
        high, at_high = np.where(lower, middle, high), np.where(lower, at_middle, at_high)
        low, at_low = np.where(lower, low, middle), np.where(lower, at_low, at_middle)
    found += np.where(region, (low + high) / 2, 0)


def _blocks_in_turn(attacker: Attacker, count: int) -> Iterator[Masks]:
    """So many blocks, of all samples at once where each has its score, else of one by one."""
    samples = len(attacker.guess)
    shape = attacker.guess.shape[1:]
    if attacker.by_sample:
        for block in _blocks(shape, count):
            yield np.broadcast_to(block, attacker.guess.shape)
        return
    blocks = _blocks(shape, math.ceil(count / samples))
    for number in range(count):
        region = np.zeros(attacker.guess.shape, bool)
        region[number % samples] = blocks[number // samples]
        yield region


def _blocks(shape: tuple[int, ...], count: int) -> list[Masks]:
    """So many blocks that cover a map."""
    rows = max(1, round(math.sqrt(count * shape[0] / shape[1])))
    columns = math.ceil(count / rows)
    y, x = np.indices(shape)
    labels = (y * rows // shape[0]) * columns + x * columns // shape[1]
    return [labels == label for label in range(rows * columns)][:count]


def _masks(attacker: Attacker, count: int) -> Iterator[Masks]:
    """Blocks alone, or as much as may be left out, of each sample elsewhere."""
    shape = attacker.guess.shape
    if attacker.least_density == 0:
        for block in _blocks(shape[1:], count):
            yield np.broadcast_to(block, shape)
        return
    rng = np.random.default_rng(1)
    side = math.sqrt(1 - attacker.least_density)
    size = int(shape[1] * side), int(shape[2] * side)
    for _ in range(count):
        mask = np.ones(shape, bool)
        for one in mask:
            row, column = (
                int(rng.integers(0, n - s + 1)) for n, s in zip(shape[1:], size, strict=True)
            )
            one[row : row + size[0], column : column + size[1]] = False
        yield mask


def _waves(attacker: Attacker, count: int) -> Iterator[Maps]:
    """Signs of waves, the strongest in the spectrum first.

    Where only the mean over all samples is known, one sample at a time has a wave, and the others
    are moved up; first all are, so that what they have in common is known.
    """
    shape = attacker.guess.shape
    strongest = np.argsort(-attacker.spectrum.ravel(), kind="stable")
    if attacker.by_sample:
        for number in strongest[:count]:
            yield np.broadcast_to(_wave(shape[1:], int(number)), shape)
        return
    yield np.ones(shape)
    for number in range(count - 1):
        signs = np.ones(shape)
        signs[number % shape[0]] = _wave(shape[1:], int(strongest[number // shape[0]]))
        yield signs


def _wave(shape: tuple[int, ...], number: int) -> Maps:
    coefficients = np.zeros(shape)
    coefficients.flat[number] = -1
    return np.where(idctn(coefficients, norm="ortho") > 0, 1.0, -1.0)
