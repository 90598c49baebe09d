"""The contact sheet: the first pairs of a set side by side with their truth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.datasets import DATASETS
from depthgauge.types import Sample

Picture = NDArray[np.uint8]
MOST = 24
"""Pairs on a sheet."""
_TILE_PX = 240
_COUNTS = ("#20242c", "#2f5d8a", "#3fa37a", "#e2b93b", "#d8604a", "#b04ab0")
"""Colours of 0, 1, 2 ... layers."""
_GAP_PX = 4


def write_sheet(root: Path, names: Sequence[str], path: Path) -> None:
    """Draws, for each pair: the left picture, how many layers, flow of the first and the last.

    Args:
        root: The folder of the set.
        names: Ids of the pairs that are shown.
        path: The PNG file.
    """
    chosen = set(names)
    rows = [_row(s) for s in DATASETS["layered"].samples(root) if s.id in chosen]
    if len(rows) > 1:
        half = (len(rows) + 1) // 2
        blank = np.full_like(rows[0], 255)
        rows += [blank] * (2 * half - len(rows))
        rows = [_beside([rows[n], rows[n + half]]) for n in range(half)]
    gap = np.full((_GAP_PX, rows[0].shape[1], 3), 255, np.uint8)
    io.write_image(path, np.concatenate([part for row in rows for part in (row, gap)][:-1]))


def _row(sample: Sample) -> Picture:
    truth = sample.truth
    assert truth is not None  # written by us, with its truth
    flow = truth.layered_flow
    first, last = flow[0], flow[0].copy()
    for layer in flow[1:]:
        known = np.isfinite(layer[..., 0])
        last[known] = layer[known]
    reach = float(np.nanquantile(np.hypot(first[..., 0], first[..., 1]), 0.98))
    tiles = [sample.inputs.left_image, _counted(truth.layer_count)]
    tiles += [_wheel(part, reach) for part in (first, last)]
    return _beside([_tile(tile) for tile in tiles])


def _beside(tiles: Sequence[Picture]) -> Picture:
    gap = np.full((tiles[0].shape[0], _GAP_PX, 3), 255, np.uint8)
    return np.concatenate([part for tile in tiles for part in (tile, gap)][:-1], axis=1)


def _tile(picture: Picture) -> Picture:
    """Shrunk to the width of a tile by taking every n-th pixel."""
    step = max(1, round(picture.shape[1] / _TILE_PX))
    return np.ascontiguousarray(picture[::step, ::step])


def _counted(count: NDArray[np.int32]) -> Picture:
    table = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in _COUNTS], np.uint8)
    found: Picture = table[np.clip(count, 0, len(_COUNTS) - 1)]
    return found


def _wheel(flow: NDArray[np.float32], reach_px: float) -> Picture:
    """Direction as hue, length as saturation; black where there is no flow."""
    length = np.hypot(flow[..., 0], flow[..., 1]) / max(reach_px, 1e-6)
    hue = np.arctan2(flow[..., 1], flow[..., 0]) / (2 * np.pi) % 1.0
    strength = np.clip(length, 0.0, 1.0)[..., None]
    phase = np.abs((hue[..., None] * 6 + np.array([0.0, 4.0, 2.0])) % 6 - 3) - 1
    colour = 1 - strength * (1 - np.clip(phase, 0.0, 1.0))
    known = np.isfinite(length)[..., None]
    return np.asarray(np.where(known, np.nan_to_num(colour) * 255, 0.0), np.uint8)
