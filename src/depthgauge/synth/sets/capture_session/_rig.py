"""The trinocular rig, the projectors and what they show, drawn from a seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.scene.camera import pose_looking
from depthgauge.synth.scene.mesh import rotation
from depthgauge.synth.scene.model import Stand
from depthgauge.synth.sets.patterns.blobs import blobs
from depthgauge.types import Camera

ASPECT = 3008 / 4112
"""Height divided by width of the high-resolution sensors."""
WIDE_ASPECT = 1216 / 1936
WIDE_SHARE = 1936 / 4112
"""Width of the wide camera's image divided by that of the others."""
SMALLEST_WIDE_PX = 240
"""The smallest wide image in which detectors find the board."""
FOCAL_WIDTHS = 0.80
"""Focal length of the high-resolution cameras in widths of their image."""
THROW = 0.85
"""Throw ratio: distance divided by the width of the projected picture."""
BASELINES_M = {"L": 0.0, "C": 0.04, "R": 0.08}
_FOCUS_PX = 0.6
"""Standard deviation of a projector's blur, in its own pixels."""
_DARK = 0.03
"""Light that a projector lets through where its picture is black."""


def cameras(width_px: int, stand: Stand, seed: int) -> dict[str, Camera]:
    """The exact cameras L, C, R: lenses with distortion, mounted by hand.

    Args:
        width_px: Width of the high-resolution images.
        stand: Where the rig stands.
        seed: Decides lenses and mounting.
    """
    rng = np.random.default_rng([seed, 72])
    rig = np.eye(4)
    rig[:3, :3] = rotation(-stand.down_deg, "x")
    rig[:3, 3] = 0.0, -stand.eye_m, 0.0
    return {name: _camera(name, width_px, rig, rng) for name in BASELINES_M}


def _camera(name: str, width_px: int, rig: NDArray[np.float64], rng: np.random.Generator) -> Camera:
    width, height, focal = width_px, round(width_px * ASPECT), FOCAL_WIDTHS * width_px
    if name == "C":
        width = max(round(width_px * WIDE_SHARE), min(SMALLEST_WIDE_PX, width_px))
        height, focal = round(width * WIDE_ASPECT), 0.66 * width
    focal *= 1.0 + rng.uniform(-0.012, 0.012)
    centre = (
        (width - 1) / 2 + width * rng.uniform(-0.012, 0.012),
        (height - 1) / 2 + height * rng.uniform(-0.012, 0.012),
    )
    lens = (
        rng.uniform(-0.13, -0.09),
        rng.uniform(0.02, 0.05),
        rng.uniform(-0.0008, 0.0008),
        rng.uniform(-0.0008, 0.0008),
        rng.uniform(-0.008, 0.004),
    )
    mount = np.eye(4)
    turns = rng.uniform(-0.8, 0.8, 3)
    for turn, axis in zip(turns, "xyz", strict=True):
        mount[:3, :3] = mount[:3, :3] @ rotation(float(turn), axis)
    mount[:3, 3] = rng.uniform(-0.002, 0.002, 3)
    mount[0, 3] += BASELINES_M[name] - 0.04
    pose = rig @ mount
    fy = focal * (1.0 + rng.uniform(-0.001, 0.001))
    distortion = tuple(float(k) for k in lens)
    return Camera((float(focal), float(fy)), centre, (width, height), distortion, pose)


# Where projectors stand beside the rig (x, height above it, z), and where on the scene they aim
# (x, height above the table): each part of a scene is lit from at least two sides.
_STANDS = (
    ((-0.50, 0.20, 0.00), (-0.25, 0.30)),
    ((0.50, 0.20, 0.00), (0.25, 0.30)),
    ((-0.75, 0.45, 0.15), (0.15, 0.00)),
    ((0.75, 0.45, 0.15), (-0.15, 0.00)),
    ((0.0, 0.45, -0.25), (0.0, 0.42)),
    ((0.12, -0.10, -0.35), (0.05, 0.05)),
)


def projectors(count: int, width_px: int, stand: Stand, seed: int) -> dict[str, Camera]:
    """Up to six projectors around the rig, aimed at the scene."""
    rng = np.random.default_rng([seed, 73])
    found = {}
    for number, ((x, up, z), (aside, high)) in enumerate(_STANDS[:count]):
        eye = np.array([x, -stand.eye_m - up, z]) + rng.uniform(-0.06, 0.06, 3)
        target = np.array([aside, -high, stand.aim_m]) + rng.uniform(-0.06, 0.06, 3)
        width, height = projector_px(width_px)
        focal = THROW * width * (1.0 + float(rng.uniform(-0.03, 0.03)))
        centre = ((width - 1) / 2, (height - 1) / 2)
        pose = pose_looking(eye, target)
        found[f"P{number}"] = Camera((focal, focal), centre, (width, height), (), pose)
    return found


def projector_px(width_px: int) -> tuple[int, int]:
    """Size of a projector's picture; a small one is enough for small cameras."""
    return (1280, 720) if width_px > 700 else (640, 360)


def blob_px(width_px: int) -> float:
    """How large a pattern's blobs are in a projector's picture: about 4 px in the cameras.

    A projector cannot show less than about two of its own pixels.

    >>> round(blob_px(1168), 1), blob_px(4112)
    (4.3, 2.0)
    """
    projector_focal_px = THROW * projector_px(width_px)[0]
    # Projectors are a little farther away than the cameras.
    return max(2.0, 4.0 * projector_focal_px / (FOCAL_WIDTHS * width_px) / 1.08)


# --- what projectors show: random coloured blobs -------------------------------------------------


def pattern(seed: int, number: int, projector: int, width_px: int) -> NDArray[np.uint8]:
    """The picture of one projector as its lens shows it, linear light in 255 steps.

    Blobs are about four camera pixels wide.

    Args:
        seed: Seed of all patterns.
        number: Number of the pattern.
        projector: Which one shows it.
        width_px: Width of the cameras' images.
    """
    import cv2

    light = blobs(seed, number, projector, projector_px(width_px), blob_px(width_px))
    blurred = cv2.GaussianBlur(light, (0, 0), _FOCUS_PX)
    return np.asarray(np.rint(255 * (_DARK + (1.0 - _DARK) * blurred)), np.uint8)


def patterns(seed: int, count: int, projectors: int, width_px: int) -> NDArray[np.uint8]:
    """All pictures (P, h, w, T, 3); the values of one pixel in all patterns are adjacent."""
    width, height = projector_px(width_px)
    shown = np.zeros((projectors, height, width, count, 3), np.uint8)
    for number in range(count):
        for projector in range(projectors):
            shown[projector, :, :, number] = pattern(seed, number, projector, width_px)
    return shown
