"""A small world with exact geometry, and a rig whose calibration is slightly off."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.exact_truth import ExactTruth, exact_truth
from depthgauge.capture.steps import StepOutput, do_step
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.sessions import Board, Session, SimulatedTruth, write_session, write_simulated
from depthgauge.types import Camera


def turn(x: float, y: float, z: float) -> np.ndarray:
    """A rotation about x, then y, then z, in radians."""
    out = np.eye(3)
    for axis, angle in enumerate((x, y, z)):
        c, s = np.cos(angle), np.sin(angle)
        one = np.eye(3)
        a, b = [n for n in range(3) if n != axis]
        one[a, a], one[a, b], one[b, a], one[b, b] = c, -s, s, c
        out = one @ out
    return out


def camera(size, focal, at, angles, distortion=()) -> Camera:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = turn(*angles), at
    centre = ((size[0] - 1) / 2 + 1.3, (size[1] - 1) / 2 - 0.8)
    return Camera((focal, focal * 1.002), centre, size, distortion, pose)


def rectified(left: Camera, right: Camera, shrink: float = 1.0) -> RectifiedPair:
    """The pair of two cameras: x along the baseline, sizes as they are, `shrink` the focal."""
    base = right.world_from_camera[:3, 3] - left.world_from_camera[:3, 3]
    x = base / np.linalg.norm(base)
    z = left.world_from_camera[:3, 2] + right.world_from_camera[:3, 2]
    y = np.cross(z, x) / np.linalg.norm(np.cross(z, x))
    axes = np.stack([x, y, np.cross(x, y)])
    width, height = left.size_px
    focal = left.focal_px[0] * shrink
    views = []
    for raw, offset in ((left, 0.0), (right, 2.5)):
        ratio = (raw.size_px[0] / width, raw.size_px[1] / height)
        middle = zip((width / 2 + offset, height / 2), ratio, strict=True)
        centre = [(c + 0.5) * r - 0.5 for c, r in middle]
        ideal = Camera((focal * ratio[0], focal * ratio[1]), tuple(centre), raw.size_px)
        views.append(RectifiedView(raw, axes @ raw.world_from_camera[:3, :3], ideal))
    return RectifiedPair(*views, float(np.linalg.norm(base)))


def quad(corners) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(corners, np.float64), np.array([[0, 1, 2], [0, 2, 3]])


def scene_mesh():
    """A slanted wall, a floor and a tilted board in front."""
    parts = [
        quad([[-4, -3, 2.6], [4, -3, 1.8], [4, 3, 1.8], [-4, 3, 2.6]]),
        quad([[-4, 0.55, 3], [4, 0.55, 3], [4, 0.55, 0.5], [-4, 0.55, 0.5]]),
        quad([[-0.3, -0.35, 1.1], [0.25, -0.3, 1.2], [0.25, 0.3, 1.25], [-0.3, 0.25, 1.15]]),
    ]
    vertices, triangles, first = [], [], 0
    for points, faces in parts:
        vertices.append(points)
        triangles.append(faces + first)
        first += len(points)
    labels = np.repeat(np.array([0, 1, 3], np.int32), 2)
    kinds = np.repeat(np.array([0, 0, 2], np.int32), 2)
    numbers = np.repeat(np.arange(3, dtype=np.int32), 2)
    return (
        np.concatenate(vertices),
        np.concatenate(triangles).astype(np.int32),
        labels,
        kinds,
        numbers,
    )


@dataclass
class World:
    truth: SimulatedTruth
    pairs: dict[str, RectifiedPair]
    """As estimated: slightly off."""
    exact: dict[str, ExactTruth]
    """`LR`, `LC`, and `RL` for the right view of LR."""
    folder: Path

    @property
    def session(self) -> Session:
        return Session(self.folder, "world", Board(), simulated=True)

    def begin(self, work: Path) -> None:
        """The steps that the later ones read, with the exact maps in place of estimates."""
        do_step(work, "rectify", self._rectify, revision=1, options={})
        self.clean(work, self.exact["LR"].disparity, self.exact["RL"].disparity)

    def clean(self, work: Path, left, right, variance=0.01, step="clean") -> None:
        def make(folder: Path) -> StepOutput:
            for side, values in (("left", left), ("right", right)):
                io.write_map(folder / f"{side}_disparity.npy", values)
                spread = np.broadcast_to(np.float32(variance), values.shape)
                io.write_map(folder / f"{side}_variance.npy", spread)
            return StepOutput({})

        do_step(work, step, make, revision=1, options={}, again=True)

    def _rectify(self, folder: Path) -> StepOutput:
        for name, pair in self.pairs.items():
            io.write_text(folder / f"{name}.json", json.dumps(pair.to_json()))
            for letter, view in zip(name, (pair.left, pair.right), strict=True):
                width, height = view.camera.size_px
                picture = np.full((height, width, 3), 90, np.uint8)
                (folder / name / letter).mkdir(parents=True, exist_ok=True)
                for k in (0, 1):
                    io.write_image(folder / name / letter / f"im{k}.png", picture + 40 * k)
        return StepOutput({})


def nearly(camera: Camera, by: float) -> Camera:
    """What a calibration would find of a camera."""
    pose = camera.world_from_camera.copy()
    pose[:3, :3] = pose[:3, :3] @ turn(2e-4 * by, -3e-4 * by, 1e-4 * by)
    (fx, fy), (cx, cy) = camera.focal_px, camera.centre_px
    distortion = tuple(k * (1 + 0.02 * by) for k in camera.distortion)
    return replace(
        camera,
        focal_px=(fx * (1 + 3e-4 * by), fy * (1 + 3e-4 * by)),
        centre_px=(cx + 0.1 * by, cy - 0.05 * by),
        distortion=distortion,
        world_from_camera=pose,
    )


def make_world(folder: Path) -> World:
    bent = (-0.08, 0.03, 1e-3, -5e-4, 0.002)
    cameras = {
        "L": camera((200, 150), 190.0, (0, 0, 0), (0.002, 0.01, 0.003), bent),
        "R": camera((200, 150), 192.0, (0.08, 0.001, -0.001), (-0.001, -0.008, -0.002), bent),
        "C": camera((120, 96), 95.0, (0.04, -0.001, 0.0), (0.004, 0.001, 0.006), bent),
    }
    projectors = {"P0": camera((64, 48), 60.0, (-0.4, -0.2, 0.0), (0.05, 0.12, 0.0))}
    truth = SimulatedTruth(cameras, projectors, *scene_mesh())
    found = {name: nearly(c, 1.0) for name, c in cameras.items()}
    pairs = {
        "LR": rectified(found["L"], found["R"]),
        "LC": rectified(found["L"], found["C"], shrink=0.95),
    }
    write_simulated(folder / "truth", truth)
    (folder / "labels").mkdir()
    world = World(truth, pairs, {}, folder)
    write_session(world.session)
    world.exact["LR"] = exact_truth(truth, pairs["LR"])
    world.exact["RL"] = exact_truth(truth, pairs["LR"], side="right")
    world.exact["LC"] = exact_truth(truth, pairs["LC"], "LC")
    return world


@pytest.fixture(scope="session")
def world(tmp_path_factory) -> World:
    """The world, and its exact truth in the estimated frames."""
    return make_world(tmp_path_factory.mktemp("world"))
