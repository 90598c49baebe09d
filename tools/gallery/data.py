"""Made pictures, maps, views and points for the gallery: a ball and a board before a wall."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge.analysis.maps.point_cloud import cloud_of_depth, encode_cloud, layered_cloud
from depthgauge.report.pictures.colours import paint
from depthgauge.report.pictures.encode import encode, error_bar, value_bar
from depthgauge.report.pictures.tiles import write_picture_tiles, write_value_tiles
from depthgauge.types import Camera, Map

SIZE = (960, 720)
"""Width and height of what is compared."""
VIEWS = 5
_FOCAL, _BASELINE_M = 900.0, 0.1

Rgb = NDArray[np.uint8]


def write(folder: Path) -> None:
    """Writes everything that the pages show."""
    truth, image = scene(*SIZE)
    known = np.ones(truth.shape, bool)
    estimates = {"smooth": smooth(truth), "noisy": noisy(truth)}
    errors = {name: np.abs(each - truth) for name, each in estimates.items()}
    bar = value_bar(truth, "px")
    _save(folder / "image.webp", image)
    write_picture_tiles(folder / "image", image)
    for name, values in {"truth": truth, **estimates}.items():
        _save(folder / f"{name}.webp", paint(values, known, bar.colours, bar.low, bar.high))
        write_value_tiles(folder / name, values, "px", bar=bar)
    scale = error_bar(errors.values(), known, "px")
    _save(folder / "cell.webp", paint(errors["noisy"], known, "magma", 0, scale.high)[::4, ::4])
    _write_points(folder, truth, image, estimates["noisy"])
    _write_views(folder)


def scene(width: int, height: int, sideways: float = 0.0, down: float = 0.0) -> tuple[Map, Rgb]:
    """Disparity and picture of a scene, from a viewpoint that is moved by whole baselines."""
    rows, columns = np.mgrid[:height, :width].astype(np.float32)
    unit = width / 960
    disparity = np.full((height, width), 10.0 * unit, np.float32)
    picture = _wall(columns + 10 * unit * sideways, rows + 10 * unit * down, unit)
    x, y = columns - 600 * unit + 24 * unit * sideways, rows - 200 * unit + 24 * unit * down
    board = (np.abs(x + 0.3 * y) < 170 * unit) & (np.abs(y) < 120 * unit)
    disparity[board] = 24 * unit
    picture[board] = _checks(x[board], y[board], unit)
    x, y = columns - 330 * unit + 40 * unit * sideways, rows - 430 * unit + 40 * unit * down
    inside = 1 - (x**2 + y**2) / (210 * unit) ** 2
    ball = inside > 0
    bulge = np.sqrt(inside[ball])
    disparity[ball] = (36 + 10 * bulge) * unit
    light = 0.35 + 0.65 * np.clip(bulge - 0.4 * (x[ball] + y[ball]) / (210 * unit), 0, 1)
    stripes = 0.75 + 0.25 * np.sign(np.sin(x[ball] / (18 * unit)))
    shade = light[:, None] * np.array([225, 120, 60]) * stripes[:, None]
    picture[ball] = np.clip(shade, 0, 255).astype(np.uint8)
    return disparity, picture


def smooth(truth: Map) -> Map:
    """An estimate that is blurred and leaves out a corner."""
    import cv2

    estimate = np.asarray(cv2.GaussianBlur(truth, (0, 0), truth.shape[1] / 120), np.float32)
    estimate[: truth.shape[0] // 8, : truth.shape[1] // 8] = np.nan
    return estimate


def noisy(truth: Map) -> Map:
    """An estimate with noise and waves."""
    random = np.random.default_rng(3)
    waves = 0.8 * np.sin(np.arange(truth.shape[1], dtype=np.float32) / 40)
    noise = random.normal(0, 0.25, truth.shape).astype(np.float32)
    return np.asarray(truth + waves + noise, np.float32)


def _wall(x: Map, y: Map, unit: float) -> Rgb:
    bricks = (np.floor(y / (40 * unit)) % 2) * 45 * unit
    mortar = (np.mod(y, 40 * unit) < 4 * unit) | (np.mod(x + bricks, 90 * unit) < 4 * unit)
    grain = 12 * np.sin(x / (7 * unit)) * np.sin(y / (9 * unit))
    colour = np.stack([150 + grain, 96 + grain, 84 + grain], axis=-1)
    colour[mortar] = (188, 184, 176)
    return np.clip(colour, 0, 255).astype(np.uint8)


def _checks(x: Map, y: Map, unit: float) -> Rgb:
    even = (np.floor(x / (30 * unit)) + np.floor(y / (30 * unit))) % 2 == 0
    return np.where(even[:, None], (60, 110, 170), (225, 230, 235)).astype(np.uint8)


def _write_points(folder: Path, truth: Map, image: Rgb, estimate: Map) -> None:
    width, height = SIZE
    camera = Camera((_FOCAL, _FOCAL), (width / 2, height / 2), SIZE)
    known = np.ones(truth.shape, bool)
    bar = value_bar(truth, "px")
    clouds = []
    for name, disparity in (("truth", truth), ("estimate", estimate)):
        colours = {
            "image": image,
            "disparity": paint(disparity, known, bar.colours, bar.low, bar.high),
            "error": paint(np.abs(disparity - truth), known, "magma", 0.0, 1.5),
        }
        depth = np.asarray(_FOCAL * _BASELINE_M / disparity, np.float32)
        clouds.append(cloud_of_depth(depth, camera, colours, name=name, most=80_000))
    (folder / "points.dgpc").write_bytes(encode_cloud(layered_cloud(clouds)))


def _write_views(folder: Path) -> None:
    """Views of a light field; two of them are a stereo pair."""
    (folder / "views").mkdir()
    for row in range(VIEWS):
        for column in range(VIEWS):
            steps = (column - VIEWS // 2) / 2, (row - VIEWS // 2) / 2
            _save(folder / "views" / f"{row}_{column}.webp", scene(480, 360, *steps)[1])


def _save(path: Path, picture: Rgb) -> None:
    path.write_bytes(encode(picture, lossless=False))
