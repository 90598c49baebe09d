"""Errors of normals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.quality.rotation import rotation_matrix
from depthgauge.annotate.simulate.noise import AnnotatorNoise

Floats = NDArray[np.float64]
_SEEN = 0.08
"""Smallest cosine to the viewing ray: people do not claim to see the back of a surface."""
_LOOKS = 24
_OF_ALL, _OF_SURFACE = 82, 84


class Tilt:
    """The errors of one person's normals on one picture."""

    def __init__(
        self, noise: AnnotatorNoise, picture_seed: int, of_person: np.random.Generator
    ) -> None:
        """Draws the error that is common to all normals.

        Args:
            noise: How large the errors are.
            picture_seed: Equal for everyone who annotates the picture.
            of_person: Random numbers of this annotation.
        """
        of_picture = np.random.default_rng([picture_seed, _OF_ALL])
        shared = _random_turn(of_picture, noise.shared_tilt_deg)
        self._turn = shared + _random_turn(of_person, noise.common_tilt_deg)
        self._noise = noise
        self._picture_seed = picture_seed
        self._rng = of_person
        self._lean = np.zeros(3)

    def look_at(self, planes: Sequence[tuple[Floats, Floats]]) -> None:
        """Turns back until all planes look plausible, as a person does who looks at the preview.

        Args:
            planes: Exact normals of large planes and the rays (n, 3) through their pixels.
        """
        for _ in range(_LOOKS):
            matrix = rotation_matrix(self._turn)
            if all(self._looks_right(matrix @ normal, normal, rays) for normal, rays in planes):
                return
            self._turn = 0.8 * self._turn

    def begin_surface(self, number: int, normal: Floats) -> None:
        """Draws the error that is common to the normals of one surface.

        Args:
            number: Number of the exact surface, which is the same for everyone.
            normal: The exact normal in its middle.
        """
        of_picture = np.random.default_rng([self._picture_seed, number, _OF_SURFACE])
        self._lean = _random_lean(normal, of_picture, self._noise.shared_surface_deg)
        self._lean += _random_lean(normal, self._rng, self._noise.surface_deg)

    def __call__(self, normal: Floats, ray: Floats, plane: Floats | None = None) -> Floats:
        """The normal that the person gives, unit and facing the viewer.

        Args:
            normal: The exact normal.
            ray: Through the point where it is given.
            plane: For a planar surface, the rays (n, 3) through its pixels: it must look plausible.
        """
        common = rotation_matrix(self._turn) @ normal
        lean = self._lean + _random_lean(common, self._rng, self._noise.normal_deg)
        for _ in range(_LOOKS if plane is not None else 0):
            if plane is None or self._looks_right(rotation_matrix(lean) @ common, normal, plane):
                break
            lean = 0.6 * lean
        return facing(rotation_matrix(lean) @ common, ray)

    def _looks_right(self, said: Floats, true: Floats, rays: Floats) -> bool:
        """Whether a plane is stretched in depth about as much as it should be."""
        share = _stretch(said, rays) / _stretch(true, rays)
        return 1 / self._noise.stretch <= share <= self._noise.stretch


def _random_turn(rng: np.random.Generator, mean_deg: float) -> Floats:
    """A rotation vector, in degrees, with this mean angle about a random axis.

    People misjudge how far things lean, not which way is up in the image, so the axis lies in the
    image plane.
    """
    x, y = _random_pair(rng, mean_deg)
    return np.array([x, y, 0.0])


def _random_pair(rng: np.random.Generator, mean_deg: float) -> Floats:
    """Two normally distributed numbers whose norm has this mean; nothing is drawn for 0."""
    if mean_deg == 0:
        return np.zeros(2)
    return rng.normal(0, mean_deg / math.sqrt(math.pi / 2), 2)


def facing(normal: Floats, ray: Floats) -> Floats:
    """The nearest unit vector that faces the viewer."""
    way = ray / np.linalg.norm(ray)
    cosine = -float(normal @ way)
    if cosine >= _SEEN:
        return normal / np.linalg.norm(normal)
    across = normal + cosine * way
    across /= max(float(np.linalg.norm(across)), 1e-12)
    turned: Floats = math.sqrt(1 - _SEEN**2) * across - _SEEN * way
    return turned


def _stretch(normal: Floats, rays: Floats) -> float:
    """Largest depth of a plane over its smallest; infinite if a ray does not meet it."""
    towards = -(rays @ normal)
    least = float(towards.min())
    return float(towards.max()) / least if least > 0 else math.inf


def _random_lean(normal: Floats, rng: np.random.Generator, mean_deg: float) -> Floats:
    """A rotation vector that tilts the normal to a random side, with this mean angle."""
    first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    a, b = _random_pair(rng, mean_deg)
    lean: Floats = a * first + b * second
    return lean
