"""Normals that are a little wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.noise import AnnotatorNoise

Floats = NDArray[np.float64]
_SEEN = 0.08
"""Cosine to the viewing ray that no normal falls below: nobody says that he sees a back."""

_STRETCH = 2.2
"""A plane that is drawn out or pressed together this much more than it really is looks wrong."""
_LOOKS = 24


class Tilt:
    """The errors of one person's normals on one picture."""

    def __init__(
        self,
        noise: AnnotatorNoise,
        of_picture: np.random.Generator,
        of_person: np.random.Generator,
    ) -> None:
        """Draws what is common to all normals.

        Args:
            noise: How large the errors are.
            of_picture: Equal for everybody who annotates the picture.
            of_person: Of this annotation.
        """
        shared = _random_turn(of_picture, noise.shared_tilt_deg)
        self._turn = shared + _random_turn(of_person, noise.common_tilt_deg)
        self._normal_deg = noise.normal_deg
        self._rng = of_person

    def look_at(self, planes: Sequence[tuple[Floats, Floats]]) -> None:
        """Turns back, as somebody does who looks at the preview, until all planes look possible.

        Args:
            planes: Exact normals of large planes and the rays (n, 3) through their pixels.
        """
        for _ in range(_LOOKS):
            matrix = rotation(self._turn)
            if all(_looks_right(matrix @ normal, normal, rays) for normal, rays in planes):
                return
            self._turn = 0.8 * self._turn

    def __call__(self, normal: Floats, ray: Floats, plane: Floats | None = None) -> Floats:
        """The normal as it is said, unit and still facing the viewer.

        Args:
            normal: The exact one.
            ray: To where it is given.
            plane: Of a planar surface the rays (n, 3) through its pixels: it has to look possible.
        """
        common = rotation(self._turn) @ normal
        if self._normal_deg == 0:
            return facing(common, ray)
        lean = _random_lean(common, self._rng, self._normal_deg)
        for _ in range(_LOOKS if plane is not None else 0):
            if plane is None or _looks_right(rotation(lean) @ common, normal, plane):
                break
            lean = 0.6 * lean
        return facing(rotation(lean) @ common, ray)


def _random_turn(rng: np.random.Generator, mean_deg: float) -> Floats:
    """A rotation vector by an angle of this mean, about a random axis.

    People err about how far things lean, not about which way is up in the image, so the axis is
    in the image plane.
    """
    x, y = rng.normal(0, 1, 2) * math.radians(mean_deg) / math.sqrt(math.pi / 2)
    return np.array([x, y, 0.0])


def rotation(turn: Floats) -> Floats:
    """The matrix of a rotation vector (Rodrigues).

    >>> np.allclose(rotation(np.array([0, 0, math.pi / 2])) @ [1, 0, 0], [0, 1, 0])
    True
    """
    angle = float(np.linalg.norm(turn))
    if angle == 0:
        return np.eye(3)
    a, b, c = turn / angle
    cross = np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])
    matrix: Floats = np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
    return matrix


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


def _looks_right(said: Floats, true: Floats, rays: Floats) -> bool:
    """Whether a plane is about as drawn out in depth as it should be."""
    share = _stretch(said, rays) / _stretch(true, rays)
    return 1 / _STRETCH <= share <= _STRETCH


def _stretch(normal: Floats, rays: Floats) -> float:
    """Largest depth of a plane over its smallest; infinite where a ray does not meet it."""
    towards = -(rays @ normal)
    least = float(towards.min())
    return float(towards.max()) / least if least > 0 else math.inf


def _random_lean(normal: Floats, rng: np.random.Generator, mean_deg: float) -> Floats:
    """A rotation vector that leans the normal to a random side by an angle of this mean."""
    first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    a, b = rng.normal(0, 1, 2) * math.radians(mean_deg) / math.sqrt(math.pi / 2)
    lean: Floats = a * first + b * second
    return lean
