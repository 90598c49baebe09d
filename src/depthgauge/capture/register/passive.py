"""Whether a camera moved between its photographs of the scene and those of the patterns.

Light, shadows and paint differ, so every cell is compared with a contrast of its own, and what most
cells have in common is the motion.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.photographs.motion import (
    Displacements,
    Fit,
    Kind,
    Motion,
    Pixels,
    fit_motion,
)
from depthgauge.capture.register.over_time import Shot
from depthgauge.capture.register.windows import Array, Windows, finer_shift, slopes_of
from depthgauge.types import Camera

_ROUNDS, _STEPS = 4, 3
_NEAR_PX = 0.7
_KINDS: tuple[Kind, ...] = ("shift", "turn", "bend")
_LEAST_LIKENESS = 0.35
"""Correlation of a cell with the other photograph, below which it was not found there."""
_MOST_STEP_PX = 1.0


def compare_scene(template: Array, shot: Shot, windows: Windows, camera: Camera) -> Fit | None:
    """The motion from the mean of pattern photographs to a photograph of the scene.

    Args:
        template: (N, h, w) from `mean_picture`.
        shot: The photograph of the scene.
        windows: The windows of both.
        camera: Their camera.

    Returns:
        The motion; None if too few cells are alike.
    """
    found = follow(template, shot, windows, camera)
    return fit_motion(found, camera, near_px=_NEAR_PX, kinds=_KINDS)


def reversed_fit(template: Array, shot: Shot, windows: Windows, camera: Camera) -> Fit | None:
    """The motion from the photograph of the scene to those of the patterns."""
    found = follow(template, shot, windows, camera)
    back = replace(found, at=found.at + found.by, by=-found.by)
    return fit_motion(back, camera, near_px=_NEAR_PX, kinds=_KINDS)


def follow(template: Array, shot: Shot, windows: Windows, camera: Camera) -> Displacements:
    """Displacements of the cells of the template that are found in the photograph."""
    centres = windows.centres()
    slope = windows.cells(slopes_of(template))
    values = _centred(windows.cells(template).astype(np.float64))
    coarse = np.array(shot.coarse, float)
    seen = windows.sample(shot.cut, windows.places() + coarse, shot.coarse)
    right, down = coarse + finer_shift(template, seen)
    motion = Motion("shift", (float(right), float(down)))
    found = Displacements(centres[:0], centres[:0], np.zeros((0, 2, 2)))
    for _ in range(_ROUNDS):
        start = motion.apply(centres, camera) - centres
        found = _refined(values, slope, shot, windows, start)
        fit = fit_motion(found, camera, near_px=_NEAR_PX, kinds=_KINDS)
        if fit is None:
            break
        motion = fit.motion
    return found


def _refined(
    values: NDArray[np.float64],
    slope: NDArray[np.float64],
    shot: Shot,
    windows: Windows,
    start: Pixels,
) -> Displacements:
    """Each cell moves by itself, from the start, until it fits."""
    places, centres = windows.places(), windows.centres()
    by = start.copy()
    known = np.ones(len(by), bool)
    likeness = np.zeros(len(by))
    normal = np.einsum("npi,npj->nij", slope, slope)
    solvable = np.linalg.det(normal) > 1e-9 * np.trace(normal, axis1=1, axis2=2) ** 2
    inverse = np.linalg.pinv(normal, hermitian=True)
    for _ in range(_STEPS):
        seen = windows.sample(shot.cut, places + windows.whole(by), shot.coarse)
        image = _centred(windows.cells(seen).astype(np.float64))
        known &= np.isfinite(image).all(axis=1)
        image = np.nan_to_num(image)
        shared = np.einsum("np,np->n", image, values)
        own, other = (np.einsum("np,np->n", v, v) for v in (values, image))
        likeness = shared / np.sqrt(np.maximum(own * other, 1e-30))
        gain = np.maximum(shared, 1e-30) / np.maximum(own, 1e-30)
        difference = image / np.maximum(gain, 1e-3)[:, None] - values
        right = np.einsum("npi,np->ni", slope, difference)
        step = np.einsum("nij,nj->ni", inverse, right)
        size = np.linalg.norm(step, axis=1, keepdims=True)
        by = by - step * np.minimum(1.0, _MOST_STEP_PX / np.maximum(size, 1e-9))
    known &= solvable & (likeness >= _LEAST_LIKENESS)
    trust = likeness**2 / np.maximum(1.0 - likeness**2, 1e-3)
    own = np.einsum("np,np->n", values, values)
    information = normal * (trust / np.maximum(own, 1e-30))[:, None, None]
    return Displacements(centres[known], by[known], information[known])


def _centred(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(values - values.mean(axis=1, keepdims=True))
