"""A small session with tags, drawn without a renderer: planes, textures, exact corners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from depthgauge import io
from depthgauge.geometry.intrinsics import camera_from_pixels
from depthgauge.geometry.projection import inverse_pose, project, slopes_at
from depthgauge.sessions import Board, Session, open_session, write_session
from depthgauge.sessions.tags import (
    TAG_CORNERS,
    TAGGED_TIMES,
    VIEWS,
    TagNote,
    TagSessionTruth,
    TagTruth,
    tag_bitmap,
    tag_truth_file,
    write_annotations,
    write_tag_truth,
)

SIZE = (400, 300)
BOARD = Board(7, 5, 0.04)
POSES = 10
LENSES = {
    "L": camera_from_pixels((360.0, 360.5), *SIZE, distortion=(-0.08, 0.02, 4e-4, -4e-4, 0.0)),
    "R": camera_from_pixels((362.0, 361.6), *SIZE, distortion=(-0.09, 0.03, -5e-4, 4e-4, 0.0)),
}
RAYS = 9
"""Per pixel; no two on one row or column, so that edges along rows are exact too."""
Light = Callable[[np.ndarray, np.ndarray], np.ndarray]


def pose(move, turn=(0.0, 0.0, 0.0)) -> np.ndarray:
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = cv2.Rodrigues(np.array(turn, float))[0], move
    return found


RIGHT_FROM_LEFT = pose((0.07, -0.001, 0.001), (0.004, 0.01, -0.006))


@dataclass
class Plane:
    """A rectangle with a texture; world from plane, its z towards the wall."""

    place: np.ndarray
    half_m: tuple[float, float]
    light: Light


def rays(lens):
    """(RAYS, H, W, 3): directions through the parts of each pixel."""
    parts = (np.arange(RAYS) + 0.5) / RAYS - 0.5
    x, y = np.arange(lens.size_px[0]), np.arange(lens.size_px[1])[:, None]
    shifts = zip(parts, np.roll(parts.reshape(3, 3).T, 1).ravel(), strict=True)
    px = np.stack([np.stack(np.broadcast_arrays(x + a, y + b), -1) for a, b in shifts])
    slopes = slopes_at(px, lens)
    return np.concatenate([slopes, np.ones((*slopes.shape[:-1], 1))], axis=-1)


def photograph(directions, world_from_camera, planes, seed):
    """What a camera sees of planes, the first ones in front, as sRGB codes."""
    light = np.full(directions.shape[:-1], 0.1)
    for plane in reversed(planes):
        local = inverse_pose(plane.place) @ world_from_camera
        ways, start = directions @ local[:3, :3].T, local[:3, 3]
        x, y = (start[k] - start[2] / ways[..., 2] * ways[..., k] for k in (0, 1))
        inside = (np.abs(x) < plane.half_m[0]) & (np.abs(y) < plane.half_m[1])
        light[inside] = plane.light(x[inside], y[inside])
    light = cv2.GaussianBlur(light.mean(axis=0), (0, 0), 0.5)
    codes = 255 * np.where(light < 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    codes += np.random.default_rng(seed).normal(0, 1, codes.shape)
    return np.clip(np.rint(codes), 0, 255).astype(np.uint8)


def blocks(seed, size_m, low=0.15, high=0.5) -> Light:
    """Squares of random grey."""
    table = np.random.default_rng(seed).uniform(low, high, (97, 89))

    def light(x, y):
        column, row = (np.floor(v / size_m).astype(int) for v in (x, y))
        return table[row % 97, column % 89]

    return light


def chessboard(x, y):
    u, v = x / BOARD.square_m, y / BOARD.square_m
    inside = (u > -1) & (u < BOARD.columns) & (v > -1) & (v < BOARD.rows)
    black = inside & ((np.floor(u) + np.floor(v)) % 2 == 0)
    return np.where(black, 0.03, 0.75)


@dataclass
class Sticker:
    """A tag on a plane: its middle, the side of its black square."""

    identity: int
    middle: tuple[float, float]
    side_m: float

    def corners_m(self, place):
        flat = (np.array(TAG_CORNERS) - 0.5) * self.side_m + self.middle
        return np.column_stack([flat, np.zeros(4)]) @ place[:3, :3].T + place[:3, 3]


def with_stickers(light: Light, stickers) -> Light:
    def found(x, y):
        out = light(x, y)
        for one in stickers:
            cells = [(v - m) / one.side_m * 8 + 5 for v, m in zip((x, y), one.middle, strict=True)]
            column, row = (np.floor(c).astype(int) for c in cells)
            inside = (column >= 0) & (column < 10) & (row >= 0) & (row < 10)
            out[inside] = 0.04 + 0.7 * (tag_bitmap(one.identity)[row[inside], column[inside]] / 255)
        return out

    return found


WALL = [
    Sticker(20 + 4 * i + j, (0.17 * j - 0.26, 0.16 * i - 0.16), 0.1)
    for i in range(3)
    for j in range(4)
]
CARD = [Sticker(300 + j, (0.09 * j - 0.09, 0.0), 0.06) for j in range(3)]
NOTES = {s.identity: TagNote("diffuse", 2) for s in WALL} | {
    s.identity: TagNote("transparent", 1) for s in CARD
}
WALL_AT = pose((0.03, 0.0, 1.1), (0.0, 0.08, 0.0))
CARD_AT = {
    1: pose((0.0, 0.13, 0.8), (0.1, -0.15, 0.05)),
    2: pose((0.04, 0.12, 0.75), (0.0, 0.1, -0.08)),
}
RIG_AT = {1: np.eye(4), 2: pose((0.02, -0.01, 0.01), (0.01, 0.02, 0.015))}
"""Before and after the rearrangement."""


def camera_at(time, camera):
    return RIG_AT[time] @ (RIGHT_FROM_LEFT if camera else np.eye(4))


def planes_of(time, *, tags, moved=0.0):
    state = 1 if time < 2 else 2
    wall, card = (
        with_stickers(blocks(k, 0.025), s if tags else []) for k, s in ((1, WALL), (2, CARD))
    )
    shifted = pose((moved, 0.0, 0.0)) @ CARD_AT[state]
    return [Plane(shifted, (0.16, 0.06), card), Plane(WALL_AT, (2.0, 2.0), wall)]


def exact_truth() -> TagSessionTruth:
    cameras = {
        (time, camera): replace(LENSES["LR"[camera]], world_from_camera=camera_at(time, camera))
        for time in TAGGED_TIMES
        for camera in (0, 1)
    }
    tags = []
    for sticker in (*WALL, *CARD):
        behind = sticker in WALL
        corners = {t: sticker.corners_m(WALL_AT if behind else CARD_AT[t]) for t in TAGGED_TIMES}
        seen = {}
        for (time, camera), lens in cameras.items():
            local = inverse_pose(lens.world_from_camera)
            seen[time, camera] = project(corners[time] @ local[:3, :3].T + local[:3, 3], lens)
        note = NOTES[sticker.identity]
        tags.append(
            TagTruth(sticker.identity, sticker.side_m, note.material, note.layer, "", corners, seen)
        )
    return TagSessionTruth(cameras, tags)


def draw_boards(folder: Path) -> None:
    rng = np.random.default_rng(4)
    middle = np.array([3 * 0.04, 2 * 0.04, 0])
    every = []
    for _ in range(POSES):
        turned = pose((0, 0, 0), rng.uniform(-0.6, 0.6, 3) * (1, 1, 0.5))
        turned[:3, 3] = (
            rng.uniform((-0.06, -0.06, 0.5), (0.1, 0.06, 0.65)) - turned[:3, :3] @ middle
        )
        every.append(turned)
    for name, lens in LENSES.items():
        (folder / "calibration" / name).mkdir(parents=True)
        directions = rays(lens)
        for number, place in enumerate(every):
            paper = pose(place[:3, :3] @ middle + place[:3, 3])
            paper[:3, :3] = place[:3, :3]
            sheet = Plane(paper, (0.19, 0.15), lambda x, y: chessboard(x + 0.12, y + 0.08))
            camera = RIGHT_FROM_LEFT if name == "R" else np.eye(4)
            image = photograph(directions, camera, [sheet], 10 * number + (name == "R"))
            io.write_image(folder / "calibration" / name / f"{number:02}.png", image)


def draw_object(folder: Path) -> None:
    folder.mkdir(parents=True)
    for time, camera in VIEWS:
        state = 1 if time < 2 else 2
        planes = planes_of(time, tags=time in TAGGED_TIMES)
        directions = rays(LENSES["LR"[camera]])
        image = photograph(directions, camera_at(state, camera), planes, 100 + 2 * time + camera)
        io.write_image(folder / f"{time}_{camera}.png", np.dstack([image] * 3))


def write_drawn(folder: Path) -> Session:
    """A session with one object `jar` and its truth."""
    folder.mkdir()
    write_session(Session(folder, "drawn", BOARD, simulated=True))
    draw_boards(folder)
    draw_object(folder / "objects" / "jar")
    write_annotations(folder / "objects" / "jar" / "annotations.toml", NOTES)
    session = open_session(folder)
    write_tag_truth(tag_truth_file(session, "jar"), exact_truth())
    return session
