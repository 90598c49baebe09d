"""All photographs of one camera: how they moved against each other, and how they are exposed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from depthgauge.capture.photographs.exposure import Exposure, exposure_of
from depthgauge.capture.photographs.motion import STILL, Fit, Motion
from depthgauge.capture.register.over_time import (
    Group,
    Shot,
    coarse_shifts,
    groups_over_time,
    mean_picture,
)
from depthgauge.capture.register.passive import compare_scene, reversed_fit
from depthgauge.capture.register.windows import (
    Array,
    Windows,
    coarse_shift,
    details,
    grey_levels,
    small_details,
)
from depthgauge.errors import BadFile
from depthgauge.types import Camera, Image

_STANDS_OUT = 15.0
_LEAST_COARSE = 3

Readers = Mapping[str, Callable[[], Image]]
"""How to read photographs, by name, in the order in which they were taken."""


@dataclass(frozen=True, slots=True, eq=False)
class NamedGroup:
    """Patterns between which the camera did not move."""

    names: tuple[str, ...]
    fit: Fit | None
    """The motion against the largest group; None for that group."""
    motion: Motion = STILL


@dataclass(frozen=True, slots=True, eq=False)
class CameraMotions:
    """What was found for one camera."""

    groups: tuple[NamedGroup, ...] = ()
    shifts_px: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Of every pattern to the right and down, against the mean of all."""
    scene: Fit | None = None
    """The motion from the first photograph of the scene to the largest group of patterns."""
    others: Mapping[str, Fit] = field(default_factory=dict)
    """The motions from the first photograph of the scene to the other ones."""
    not_compared: tuple[str, ...] = ()
    """Photographs of the scene that have too little in common with the others."""
    exposures: Mapping[str, Exposure] = field(default_factory=dict)
    """Of the patterns."""


def register_camera(
    camera: Camera,
    patterns: Readers,
    scenes: Readers,
    *,
    least_px: float,
    done: Callable[[], None] = lambda: None,
) -> CameraMotions:
    """Registers the photographs of one camera.

    Photographs that cannot be read, or that have another size than the calibration, are left out.

    Args:
        camera: As calibrated.
        patterns: Photographs of the patterns.
        scenes: Photographs of the scene without patterns.
        least_px: Smaller motions between patterns are not told apart.
        done: Called after each photograph.
    """
    windows = Windows(camera.size_px)
    own = _Photographs(windows, patterns, done)
    groups, shifts = own.groups(camera, least_px)
    base: Array | None = None
    small: Array | None = None
    if groups:
        largest = max(groups, key=lambda group: len(group.members))
        base = mean_picture([own.shots[t] for t in largest.members], windows)
        small = np.sum([own.small[t] for t in largest.members], axis=0)
    scene = _Scene(camera, windows, base, small)
    for name, read in scenes.items():
        scene.add(name, read)
        done()
    named = tuple(
        NamedGroup(tuple(own.names[t] for t in g.members), g.fit, g.motion) for g in groups
    )
    return CameraMotions(
        named,
        dict(zip(own.names, shifts, strict=True)),
        scene.to_patterns,
        scene.others,
        tuple(scene.not_compared),
        own.exposures,
    )


class _Photographs:
    """The readable photographs of the patterns, reduced to windows."""

    def __init__(self, windows: Windows, readers: Readers, done: Callable[[], None]) -> None:
        self.windows = windows
        self.readers = readers
        self.names: list[str] = []
        self.shots: list[Shot] = []
        self.small: list[Array] = []
        self.exposures: dict[str, Exposure] = {}
        self.ratio = 1.0
        for name, read in readers.items():
            image = read_or_none(read, windows.size_px)
            done()
            if image is None:
                continue
            self.exposures[name] = exposure_of(image)
            grey = grey_levels(image)
            little, self.ratio = small_details(grey)
            self.names.append(name)
            self.small.append(little)
            self.shots.append(Shot(windows.cut(details(grey))))

    def groups(
        self, camera: Camera, least_px: float
    ) -> tuple[list[Group], list[tuple[float, float]]]:
        """The groups between which the camera moved, and the shift of every photograph."""
        if not self.shots:
            return [], []
        for t, coarse in enumerate(coarse_shifts(self.small, self.ratio)):
            if coarse != (0, 0):
                image = read_or_none(self.readers[self.names[t]], self.windows.size_px)
                if image is not None:
                    cut = self.windows.cut(details(grey_levels(image)), coarse)
                    self.shots[t] = Shot(cut, coarse)
        return groups_over_time(self.shots, self.windows, camera, least_px=least_px)


class _Scene:
    """Photographs of the scene, compared with the patterns, or with the first of them."""

    def __init__(
        self, camera: Camera, windows: Windows, base: Array | None, small: Array | None
    ) -> None:
        self.camera, self.windows = camera, windows
        self.base, self.small = base, small
        self.to_patterns: Fit | None = None
        self.others: dict[str, Fit] = {}
        self.not_compared: list[str] = []
        self._first: tuple[Array, Array] | None = None

    def add(self, name: str, read: Callable[[], Image]) -> None:
        """Compares one more photograph."""
        image = read_or_none(read, self.windows.size_px)
        if image is None:
            return
        grey = grey_levels(image)
        little, ratio = small_details(grey)
        picture = details(grey)
        if self._first is None:
            self._first = mean_picture([Shot(self.windows.cut(picture))], self.windows), little
            if self.base is not None and self.small is not None:
                shot = self._shot(picture, self.small, little, ratio)
                fit = reversed_fit(self.base, shot, self.windows, self.camera)
                self.to_patterns = fit
                if fit is None:
                    self.not_compared.append(name)
            return
        shot = self._shot(picture, self._first[1], little, ratio)
        fit = compare_scene(self._first[0], shot, self.windows, self.camera)
        if fit is None:
            self.not_compared.append(name)
        else:
            self.others[name] = fit

    def _shot(self, picture: Array, one: Array, other: Array, ratio: float) -> Shot:
        shift, stands_out = coarse_shift(one, other)
        far = max(abs(n) for n in shift) >= _LEAST_COARSE and stands_out >= _STANDS_OUT
        coarse = (round(shift[0] * ratio), round(shift[1] * ratio)) if far else (0, 0)
        return Shot(self.windows.cut(picture, coarse), coarse)


def read_or_none(read: Callable[[], Image], size_px: tuple[int, int]) -> Image | None:
    """A photograph; None if it cannot be read or has another size. Later steps say why."""
    try:
        image = read()
    except BadFile:
        return None
    return image if image.shape[:2] == size_px[::-1] else None


def spread_evenly(names: Sequence[str], most: int) -> list[str]:
    """A selection of at most `most` names, evenly spread.

    >>> spread_evenly(["a", "b", "c", "d", "e"], 3)
    ['a', 'c', 'e']
    """
    places = np.unique(np.linspace(0, len(names) - 1, min(most, len(names))).round().astype(int))
    return [names[k] for k in places]
