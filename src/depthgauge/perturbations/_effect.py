"""What an effect is: a decorated function that damages an image by a level.

    @effect("blur", unit="px", neutral=0, levels=(0, 1, 2, 4), bounds=(0, 100))
    def blur(image, *, level): ...

The image is float32 in grey levels 0..255, (H, W, 3) RGB or (H, W) grey, and must not be changed in
place; the result may exceed the range; it is clipped once at the end. A function that takes
also `rng` is random: the generator depends on sample, view and effect. It must draw the same
numbers at every level, so that damage grows smoothly with it. Further keywords are parameters:
numbers with a default, which a text sets by name (`rain:3,angle=10`).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._declared import (
    keywords_of,
    name_problems,
    refuse,
    revision_problems,
    signature_problems,
)
from depthgauge._registry import Registry, nearest
from depthgauge.errors import BadScoreId

Pixels = NDArray[np.float32]
"""(H, W, 3) or (H, W), in grey levels 0..255."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One registered effect: how to compute it and what a table or a protocol says of it."""

    name: str
    unit: str
    """Unit of the level; empty for a plain factor."""
    neutral: float
    """The level at which nothing changes, to the last bit."""
    levels: tuple[float, ...]
    """A useful series, the neutral level first, the damage growing."""
    bounds: tuple[float, float]
    """The smallest and the largest level, both allowed."""
    whole: bool
    """Whether levels are whole numbers."""
    moves: bool
    """Whether it moves what is seen, so that the truth would not fit a reference view any more."""
    random: bool
    cite: str
    revision: int
    """Raised whenever the code may give other pixels."""
    doc: str
    compute: Callable[..., Pixels]
    params: Mapping[str, float] = field(default_factory=dict)
    """Further parameters with their defaults."""

    def apply(
        self,
        image: Pixels,
        level: float,
        rng: np.random.Generator,
        params: Mapping[str, float] | None = None,
    ) -> Pixels:
        """The damaged image; the image itself at the neutral level."""
        if level == self.neutral:
            return image
        more: dict[str, Any] = {"rng": rng} if self.random else {}
        return self.compute(image, level=level, **more, **(params or {}))

    def checked_param(self, name: str, word: str) -> float:
        """The value that a text gives a parameter.

        Raises:
            BadScoreId: There is no such parameter, or it is not a finite number.
        """
        if name not in self.params:
            has = nearest(name, self.params) or f"It has: {', '.join(self.params) or 'none'}."
            raise BadScoreId(f"perturbation '{self.name}' has no parameter '{name}'. {has}")
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise BadScoreId(f"perturbation '{self.name}': {name} is a number, not '{word}'.")
        return value

    def checked_level(self, word: str) -> float:
        """The level that a word of a perturbation's text means.

        Raises:
            BadScoreId: It is not a number, or out of bounds.
        """
        low, high = self.bounds
        try:
            level = float(word)
        except ValueError:
            level = float("nan")
        fits = low <= level <= high and (level.is_integer() or not self.whole)
        if not fits:
            kind = "a whole number" if self.whole else "a number"
            unit = f" ({self.unit})" if self.unit else ""
            raise BadScoreId(
                f"perturbation '{self.name}': the level is {kind}{unit} from {low:g} to {high:g}, "
                f"not '{word}'."
            )
        return level


EFFECTS: Registry[Effect] = Registry("perturbation", "depthgauge.perturbations")
"""Every effect of this folder and of plug-ins."""


def _level_problems(
    levels: Sequence[float], neutral: float, bounds: tuple[float, float]
) -> Iterator[str]:
    if not levels or levels[0] != neutral:
        yield "its levels must start with the neutral one"
    if not bounds[0] < bounds[1]:
        yield f"bounds are {bounds!r} but the smaller one comes first"
    yield from (
        f"its level {level:g} is out of its bounds"
        for level in levels
        if not bounds[0] <= level <= bounds[1]
    )


def effect(
    name: str,
    *,
    unit: str,
    neutral: float,
    levels: Sequence[float],
    bounds: tuple[float, float],
    whole: bool = False,
    moves: bool = False,
    cite: str = "",
    revision: int = 1,
) -> Callable[[Callable[..., Pixels]], Callable[..., Pixels]]:
    """Registers the decorated function under that name and returns it unchanged.

    Args:
        name: What perturbation texts call it.
        unit: Unit of its level.
        neutral: The level at which nothing changes.
        levels: A useful series, the neutral level first.
        bounds: The smallest and the largest level.
        whole: Whether levels are whole numbers.
        moves: Whether it moves what is seen; then it is for views without truth only.
        cite: Who evaluated with it.
        revision: To be raised whenever the code may give other pixels.
    """

    def register(function: Callable[..., Pixels]) -> Callable[..., Pixels]:
        keywords, _ = keywords_of(function)
        arguments = inspect.signature(function).parameters
        params = {n: a.default for n, a in arguments.items() if n in keywords - {"level", "rng"}}
        problems = [
            *name_problems(name),
            *revision_problems(revision),
            *signature_problems(function, 1),
            *_level_problems(levels, neutral, bounds),
            *(
                f"its parameter {param} must have a number as its default"
                for param, default in params.items()
                if not isinstance(default, (int, float))
            ),
        ]
        if "level" not in keywords:
            problems.append("it must take the keyword level (and rng if it is random)")
        refuse("perturbation", name, function, problems)
        made = Effect(
            name=name,
            unit=unit,
            neutral=float(neutral),
            levels=tuple(float(level) for level in levels),
            bounds=bounds,
            whole=whole,
            moves=moves,
            random="rng" in keywords,
            cite=cite,
            revision=revision,
            doc=inspect.cleandoc(function.__doc__ or ""),
            compute=function,
            params=params,
        )
        EFFECTS.add(name, made, function.__module__)
        return function

    return register
