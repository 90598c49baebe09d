"""Scenes like Booster's: large maps, four materials in blobs, hidden strips beside objects."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from depthgauge.types import Map, Mask

FULL = (3008, 4112)
"""Height and width of a Booster map."""
MATERIALS = 4


@dataclass(frozen=True)
class Scene:
    """Two maps and the ten regions of the protocol."""

    estimate: Map
    truth: Map
    masks: dict[str, Mask]


def make_scene(shape: tuple[int, int], seed: int = 0, random_regions: bool = False) -> Scene:
    """A scene; with `random_regions` each pixel has its own material and visibility."""
    rng = np.random.default_rng(seed)
    truth = _truth(rng, shape)
    visible = _visible(truth)
    material = np.argmax([_hills(rng, shape, 6) for _ in range(MATERIALS)], axis=0)
    if random_regions:
        material = rng.integers(0, MATERIALS, shape, dtype=np.uint8)
        visible = rng.random(shape, np.float32) < 0.9
    estimate = _estimate(rng, truth, material)
    truth[_hills(rng, shape, 14) > 0.75] = np.nan
    truth[~visible & (_hills(rng, shape, 30) > 0)] = np.nan  # what no camera saw is often unknown
    masks = {"all": np.ones(shape, bool), "visible": visible}
    for k in range(MATERIALS):
        masks[f"material_{k}"] = material == k
    for k in range(MATERIALS):
        masks[f"material_{k}_visible"] = (material == k) & visible
    return Scene(estimate, truth, masks)


def _truth(rng: np.random.Generator, shape: tuple[int, int]) -> Map:
    """A slanted background with a dozen curved objects in front of it."""
    height, width = shape
    y, x = np.mgrid[0 : 1 : height * 1j, 0 : 1 : width * 1j].astype(np.float32)
    near = width / 20
    truth = near * (0.6 + 0.3 * y + 0.1 * _hills(rng, shape, 3))
    for _ in range(12):
        (cx, cy), (rx, ry) = rng.random(2), rng.uniform(0.03, 0.15, 2)
        inside = ((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2
        surface = near * (rng.uniform(1.1, 1.8) + 0.1 * (1 - inside))
        truth = np.where(inside < 1, np.maximum(truth, surface), truth)
    return truth.astype(np.float32)


def _visible(truth: Map) -> Mask:
    """Seen by the right camera too: no pixel further right lands on it or left of it there."""
    landing = np.arange(truth.shape[1], dtype=np.float32) - truth
    nearest = np.minimum.accumulate(landing[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(landing <= nearest)


def _estimate(rng: np.random.Generator, truth: Map, material: np.ndarray) -> Map:
    """Noise that grows with the material, patches that are wrong, patches that are missing."""
    noise = rng.standard_normal(truth.shape, np.float32)
    estimate = truth + noise * np.array([0.5, 1, 3, 8], np.float32)[material]
    estimate += np.where(_hills(rng, truth.shape, 20) > 0.6, np.float32(12), np.float32(0))
    estimate[_hills(rng, truth.shape, 25) > 0.8] = np.nan
    return estimate


def _hills(rng: np.random.Generator, shape: tuple[int, int], cells: int) -> Map:
    """A smooth field between about -1 and 1 with that many hills along a side."""
    knots = rng.uniform(-1, 1, (cells, cells)).astype(np.float32)
    return np.asarray(cv2.resize(knots, shape[::-1], interpolation=cv2.INTER_CUBIC), np.float32)
