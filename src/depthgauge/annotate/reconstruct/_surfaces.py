"""Surfaces between lines, and the surface that each line pixel belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct._lines import FOLD, Lines
from depthgauge.types import Mask

Labels = NDArray[np.int32]

SLIVER_PX = 4
"""A piece between lines with fewer pixels is not a surface, in small pictures."""


@dataclass(frozen=True)
class Surfaces:
    """Numbers of the surfaces, 0 outside the region."""

    continuous: Labels
    smooth: Labels
    slivers: int
    """The number of small pieces between lines that were joined to a neighbour."""


def surfaces_between(lines: Lines, sliver_px: int = SLIVER_PX) -> Surfaces:
    """Occlusions separate continuous surfaces; occlusions and folds separate smooth ones.

    Args:
        lines: The strokes, painted.
        sliver_px: A piece between lines with fewer pixels is not a surface.
    """
    free = lines.region & (lines.kind == 0)
    cores, slivers = _large_parts(free, sliver_px)
    cores = _whole_where_none(lines.region, cores)
    continuous = _with_cores(lines.region & (lines.kind <= FOLD), cores)
    anywhere = np.zeros_like(continuous)
    _own(continuous, anywhere, lines)
    smooth = cores.copy()
    _own(smooth, continuous, lines)
    return Surfaces(_renumbered(continuous), _renumbered(smooth), slivers)


def parts_of(mask: Mask) -> Labels:
    """4-connected parts, numbered from 1 in reading order."""
    from scipy import ndimage

    parts: Labels = ndimage.label(mask, output=np.int32)[0]
    return parts


def _large_parts(mask: Mask, sliver_px: int) -> tuple[Labels, int]:
    """Parts of the mask without slivers (their pixels are 0), and the number of slivers."""
    parts = parts_of(mask)
    sizes = np.bincount(parts.ravel())
    small = sizes < sliver_px
    small[0] = False
    parts[small[parts]] = 0
    return parts, int(np.count_nonzero(small))


def _whole_where_none(region: Mask, cores: Labels) -> Labels:
    """A part of the region that consists of lines and slivers only is one surface."""
    pieces = parts_of(region)
    has_core = np.zeros(int(pieces.max(initial=0)) + 1, np.bool_)
    has_core[pieces[cores > 0]] = True
    lone = region & ~has_core[pieces]
    cores[lone] = pieces[lone] + cores.max(initial=0)
    return cores


def _with_cores(passable: Mask, cores: Labels) -> Labels:
    """Parts that contain a smooth surface; pixels of other parts are 0."""
    passable = passable | (cores > 0)
    parts = parts_of(passable)
    real = np.zeros(int(parts.max(initial=0)) + 1, np.bool_)
    real[parts[cores > 0]] = True
    parts[~real[parts]] = 0
    return parts


def _own(labels: Labels, group: Labels, lines: Lines) -> None:
    """Gives every unlabelled pixel of the region the label of the surface that owns it.

    Where a surface is too narrow for a pixel between two lines, what lies beyond the other line is
    not it. So pixels that meet another line, or share a pixel with one, first take the label of
    their own line farther on or of one that continues it. They look beyond other lines only if
    there is none.
    """
    from depthgauge.annotate.reconstruct._segmentation_kernels import (
        grow_along,
        grow_found,
        grow_onward,
        walk,
    )

    on_line = lines.region & (lines.kind > 0)
    nowhere = np.full_like(lines.stroke, -1)
    at_lines = np.where(lines.pinched, -2, lines.stroke)
    for clear, ends in ((~lines.pinched, at_lines), (True, nowhere)):
        pixels = _without_label(labels, on_line & clear)
        found = np.zeros(len(pixels), np.int32)
        walk(labels, group, pixels, ends, lines.toward, found)
        grow_found(labels, group, pixels, found)
        pixels = _without_label(labels, on_line)
        while grow_along(labels, group, pixels, lines.stroke, lines.toward, True) or grow_onward(
            labels, group, pixels, lines.toward
        ):
            pass
    _join_slivers(labels, group, lines.region & (labels == 0) & (lines.kind == 0))
    pixels = _without_label(labels, lines.region)
    while grow_along(labels, group, pixels, lines.stroke, lines.toward, False):
        pass


def _without_label(labels: Labels, mask: Mask) -> NDArray[np.int64]:
    """x, y of the pixels of a mask without a label."""
    ys, xs = np.nonzero(mask & (labels == 0))
    return np.stack([xs, ys], axis=1)


def _join_slivers(labels: Labels, group: Labels, slivers: Mask) -> None:
    """Each sliver takes the most frequent label around it."""
    bits = parts_of(slivers)
    ys, xs = np.nonzero(bits)
    votes = []
    for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        qx, qy = xs + dx, ys + dy
        inside = (qx >= 0) & (qx < labels.shape[1]) & (qy >= 0) & (qy < labels.shape[0])
        y, x, qy, qx = ys[inside], xs[inside], qy[inside], qx[inside]
        heard = (labels[qy, qx] > 0) & ((group[y, x] == 0) | (group[y, x] == group[qy, qx]))
        votes.append(np.stack([bits[y, x], labels[qy, qx]], axis=1)[heard])
    pairs, counts = np.unique(np.concatenate(votes), axis=0, return_counts=True)
    # The label with most votes comes last, among equals the lower number: the last write wins.
    order = np.lexsort((-pairs[:, 1], counts))
    winner = np.zeros(int(bits.max(initial=0)) + 1, np.int32)
    winner[pairs[order, 0]] = pairs[order, 1]
    labels[ys, xs] = winner[bits[ys, xs]]


def _renumbered(labels: Labels) -> Labels:
    """1, 2, ... without gaps, in the same order; 0 stays."""
    there = np.bincount(labels.ravel()) > 0
    there[0] = False
    return np.cumsum(there, dtype=np.int32)[labels] * (labels > 0)
