"""Tests of a row of cameras at many frames by rays: collision, visibility, framing, motion."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.datasets._stereogen.poses import rig_poses
from depthgauge.synth.sets.rig._limits import Limits
from depthgauge.synth.sets.rig._proposal import SENSOR_MM, Proposal

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
_PAIR = 2
"""The first two cameras are the primary pair."""


def _ball() -> Floats:
    """26 directions: to the faces, edges and corners of a cube."""
    steps = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)], float)
    steps = steps[np.abs(steps).sum(axis=1) > 0]
    return np.asarray(steps / np.linalg.norm(steps, axis=1, keepdims=True))


_WAYS = _ball()


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Which frames pass which test; all (F,)."""

    collision: Booleans
    framing: Booleans
    visibility: Booleans
    score: Floats
    """How well the subject is seen and framed, 0..1."""

    def first_fault(self) -> tuple[int, str]:
        """The first frame that fails and why; the number of frames and nothing if none does."""
        bad = ~(self.collision & self.framing & self.visibility)
        if not bad.any():
            return len(bad), ""
        frame = int(np.argmax(bad))
        for reason in ("collision", "framing", "visibility"):
            if not getattr(self, reason)[frame]:
                return frame, reason
        raise AssertionError("one of the three failed")


def judge(proposal: Proposal, base: Floats, frames: NDArray[np.intp], limits: Limits) -> Judged:
    """Tests all cameras of a rig.

    Args:
        proposal: The scene.
        base: (F, 4, 4) poses of camera 00.
        frames: (F,) numbers of the frames that the poses belong to.
        limits: What has to be kept.
    """
    poses = rig_poses(base, proposal.gaps_cm)
    eyes = poses[:, :, :3, 3]
    points = proposal.points[frames]
    inside, tall = _framed(poses, points, proposal.focal_mm)
    share = inside.mean(axis=2)
    framing = (share[:, :_PAIR] >= limits.framed_pair).all(axis=1)
    framing &= (share >= 0.5).sum(axis=1) >= limits.framed_cameras
    framing &= (tall >= limits.smallest) & (tall <= limits.largest)
    seen = _seen(proposal, eyes, points)
    part = (seen & inside).sum(axis=2) / np.maximum(inside.sum(axis=2), 1)
    visibility = (part[:, :_PAIR] >= limits.seen_pair).all(axis=1)
    visibility &= ((part >= limits.seen_all) | (share < 0.25)).all(axis=1)
    score = 0.5 * part[:, :_PAIR].mean(axis=1) + 0.5 * share.mean(axis=1)
    return Judged(_clear(proposal, eyes, limits), framing, visibility, score)


def _framed(poses: Floats, points: Floats, focal_mm: float) -> tuple[Booleans, Floats]:
    """Which points (F, C, N) are within images, and the subject's height in those of camera 00."""
    local = np.einsum(
        "fcji,fcnj->fcni", poses[..., :3, :3], points[:, None] - poses[:, :, None, :3, 3]
    )
    depth = np.maximum(local[..., 2], 1e-6)
    half = np.array(SENSOR_MM) / (2 * focal_mm)
    place = local[..., :2] / depth[..., None] / half
    inside = (local[..., 2] > 0.2) & (np.abs(place) < 1).all(axis=-1)
    return inside, np.ptp(place[:, 0, :, 1], axis=1) / 2


def _seen(proposal: Proposal, eyes: Floats, points: Floats) -> Booleans:
    """Whether nothing of the map is between cameras and points (F, C, N)."""
    shape = (*eyes.shape[:2], points.shape[1])
    ends = np.broadcast_to(points[:, None], (*shape, 3)).reshape(-1, 3)
    starts = np.broadcast_to(eyes[:, :, None], (*shape, 3)).reshape(-1, 3)
    return proposal.world.free(starts, ends).reshape(shape)


def _clear(proposal: Proposal, eyes: Floats, limits: Limits) -> Booleans:
    """Cameras keep their distance from everything, and nothing is between neighbours."""
    here = proposal.world
    flat = eyes.reshape(-1, 3)
    starts = np.repeat(flat, len(_WAYS), axis=0)
    near = here.distance(starts, np.tile(_WAYS, (len(flat), 1))) < limits.camera_clear_m
    clear: Booleans = np.asarray(~near.reshape(*eyes.shape[:2], -1).any(axis=(1, 2)))
    row = here.free(eyes[:, :-1].reshape(-1, 3), eyes[:, 1:].reshape(-1, 3))
    clear &= row.reshape(len(eyes), -1).all(axis=1)
    # Ground below every camera: none of them is outside the place or under it.
    down = np.broadcast_to(np.array([0.0, 1.0, 0.0]), flat.shape)
    up = here.distance(flat, down).reshape(eyes.shape[:2])
    clear &= ((up >= limits.camera_up_m) & (up < 50.0)).all(axis=1)
    # Nor does a camera pass through anything from one frame to the next.
    if len(eyes) > 1:
        passed = here.free(eyes[:-1].reshape(-1, 3), eyes[1:].reshape(-1, 3))
        clear[1:] &= passed.reshape(len(eyes) - 1, -1).all(axis=1)
    # The subject needs its space too.
    middle = proposal.points.mean(axis=1)
    reach = proposal.subject.radius_m + 0.5 * proposal.subject.height_m + limits.camera_clear_m
    gap = np.linalg.norm(eyes[:, :, None] - middle[None, None], axis=-1).min(axis=(1, 2))
    return np.asarray(clear & (gap > reach))


def steps_of(poses: Floats) -> tuple[Floats, Floats]:
    """Metres and degrees from each frame to the next, of camera 00."""
    moved = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1)
    turns = np.einsum("fij,fij->f", poses[1:, :3, :3], poses[:-1, :3, :3])
    angle = np.degrees(np.arccos(np.clip((turns - 1) / 2, -1.0, 1.0)))
    return moved, angle


def horizontal(value: float) -> float:
    """An angle brought to -pi..pi."""
    return (value + math.pi) % (2 * math.pi) - math.pi
