"""Patterns that were photographed with several exposures, merged into one picture of more range.

The photographs of pattern 3 are `3@<exposure>.png`: a number that is proportional to the light that
the camera took in, such as seconds. Codes are taken as sRGB. Light is the mean over the unsaturated
exposures, in which each counts by the square of its exposure: the longest has the least noise.
(That is optimal for noise of reading, and 8 % above the optimum for noise of light, with exposures
that differ by factors of 4.) The result is stored as sRGB again, where 1 is the light that
saturates the shortest exposure of the session.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.capture.photographs.exposure import SATURATED_LEVEL, levels_of
from depthgauge.errors import BadData, BadFile, WrongShape
from depthgauge.sessions import Session
from depthgauge.types import Image

_BRACKET = re.compile(r"(.+)@([0-9]*\.?[0-9]+)")
_FULL, _EMPTY = 0.90, 0.98
"""Between these codes the weight of an exposure falls to 0."""
_SIDES = ("L", "R")
_COMPRESSED = (".jpg", ".jpeg")
_LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)
"""Of JPEG's own luminance."""


@dataclass(frozen=True, slots=True)
class PatternFile:
    """The photographs of one pattern by one camera, the shortest exposure first."""

    paths: tuple[Path, ...]
    exposures: tuple[float, ...] = ()
    """Of a bracket, in units of the session's shortest one; empty for a single photograph."""
    luminance_only: bool = False
    """Whether some patterns of the session are JPEG, whose colours are coarser than its
    luminance; then only the luminance of all patterns is matched."""

    @property
    def deep(self) -> bool:
        """Whether it has more than 8 bits.

        Raises:
            BadFile: It cannot be read.
        """
        return bool(self.exposures) or io.is_deep(self.paths[0])

    def to_match(self) -> Image:
        """The photograph for matching; (H, W) if only luminance is matched.

        Raises:
            BadFile: As `read`.
        """
        image = self.read()
        if not self.luminance_only or image.ndim == 2:
            return image
        return np.asarray(levels_of(image) @ _LUMINANCE / np.float32(255), np.float32)

    def read(self) -> Image:
        """The photograph, or the merged bracket: sRGB float32 from 0 to 1.

        Raises:
            BadFile: A photograph cannot be read, or has another size than the others.
        """
        if not self.exposures:
            return io.read_image(self.paths[0])
        try:
            return merged([io.read_image(path) for path in self.paths], self.exposures)
        except WrongShape as error:
            raise BadFile(f"{self.paths[0]}: {error}") from None


def pattern_files(session: Session, camera: str) -> dict[str, PatternFile]:
    """The patterns of a camera by name, with brackets joined.

    Raises:
        BadData: A pattern has both a bracket and a single photograph, or an exposure of 0.
    """
    found = {name: _grouped(session, name) for name in _SIDES}
    shortest = min(
        (e for by_name in found.values() for shots in by_name.values() for e in shots if e),
        default=1.0,
    )
    paths = [p for by_name in found.values() for shots in by_name.values() for p in shots.values()]
    coarse = any(path.suffix.lower() in _COMPRESSED for path in paths)
    return {
        name: PatternFile(
            tuple(shots[e] for e in sorted(shots)), _exposures(shots, shortest), coarse
        )
        for name, shots in found.get(camera, _grouped(session, camera)).items()
    }


def _exposures(shots: Mapping[float, Path], shortest: float) -> tuple[float, ...]:
    return tuple(e / shortest for e in sorted(shots) if e)


def _grouped(session: Session, camera: str) -> dict[str, dict[float, Path]]:
    """By pattern: its photographs by exposure; exposure 0 is a photograph without one."""
    found: dict[str, dict[float, Path]] = {}
    for stem, path in session.pattern_images(camera).items():
        match = _BRACKET.fullmatch(stem)
        name, exposure = (match[1], float(match[2])) if match else (stem, 0.0)
        if match and exposure <= 0:
            raise BadData(f"{path}: the exposure after @ must be a number above 0.")
        found.setdefault(name, {})[exposure] = path
    for shots in found.values():
        if 0.0 in shots and len(shots) > 1:
            raise BadData(
                f"{shots[0.0]}: this pattern also has bracketed exposures; name this one "
                "<pattern>@<exposure> too, or remove it."
            )
    return found


def merged(images: Sequence[Image], exposures: Sequence[float]) -> NDArray[np.float32]:
    """Exposures of one picture, merged: sRGB codes (H, W, C), 1 for the light of exposure 1.

    Pixels that are saturated in all exposures are 1.

    Args:
        images: uint8, or float32 from 0 to 1, all of one size.
        exposures: Relative to the exposure whose full range is kept, 1 or more.

    Raises:
        WrongShape: The images have different sizes.
    """
    if len({image.shape for image in images}) != 1:
        sizes = ", ".join("x".join(map(str, image.shape[1::-1])) for image in images)
        raise WrongShape(f"the exposures of a pattern must have one size, found {sizes}")
    total = np.zeros(_deep(images[0]).shape, np.float32)
    weights = np.zeros(total.shape[:2], np.float32)
    for image, exposure in zip(images, exposures, strict=True):
        codes = _deep(image)
        weight = np.clip((_EMPTY - codes.max(axis=2)) / (_EMPTY - _FULL), 0, 1)
        total += np.float32(exposure) * weight[..., None] * linear_light(codes)
        weights += weight * np.float32(exposure) ** 2
    # Where every exposure is nearly saturated, the shortest one says what is known.
    shortest = int(np.argmin(exposures))
    codes = _deep(images[shortest])
    unknown = weights <= 0
    light = total / np.where(unknown, 1, weights)[..., None]
    known_part = linear_light(codes) / np.float32(exposures[shortest])
    known_part[codes >= SATURATED_LEVEL / 255] = 1.0
    light[unknown] = known_part[unknown]
    return srgb_codes(np.clip(light, 0, 1))


def linear_light(codes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Light from 0 to 1 of sRGB codes from 0 to 1."""
    curve = ((codes + 0.055) / 1.055) ** np.float32(2.4)
    return np.where(codes <= 0.04045, codes / 12.92, curve).astype(np.float32)


def srgb_codes(light: NDArray[np.float32]) -> NDArray[np.float32]:
    """SRGB codes from 0 to 1 of light from 0 to 1.

    >>> srgb_codes(linear_light(np.array([0.25, 0.5, 1.0], np.float32))).round(5).tolist()
    [0.25, 0.5, 1.0]
    """
    curve = 1.055 * light ** np.float32(1 / 2.4) - 0.055
    return np.where(light <= 0.0031308, light * 12.92, curve).astype(np.float32)


def _deep(image: Image) -> NDArray[np.float32]:
    """(H, W, C) codes from 0 to 1."""
    codes = levels_of(image) / np.float32(255)
    return codes if codes.ndim == 3 else codes[..., None]
