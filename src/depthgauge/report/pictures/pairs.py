"""Pairs of points over the photograph: whether their order is right, how planes relate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.geometry.pairs import NEITHER, ORTHOGONAL, PARALLEL
from depthgauge.report.pictures.colours import Rgb, rgb_of
from depthgauge.report.pictures.model import ColourBar, Picture, PictureRow
from depthgauge.report.pictures.photo import dimmed, picture_of
from depthgauge.types import Image, Map

MOST_PAIRS = 60
"""More lines would be unreadable."""
RIGHT, WRONG, UNKNOWN = "#4cc9f0", "#ff4d6d", "#b0b0b0"
_ORDERS = (("right order", RIGHT), ("wrong order", WRONG), ("no estimate", UNKNOWN))
_RELATIONS = {PARALLEL: "#4cc9f0", ORTHOGONAL: "#ff9f1c", NEITHER: "#b0b0b0"}
_RELATION_NAMES = (
    ("parallel", _RELATIONS[PARALLEL]),
    ("orthogonal", _RELATIONS[ORTHOGONAL]),
    ("neither", _RELATIONS[NEITHER]),
)
_ABOUT = (
    "Pairs of points whose depth order is known, and whether the estimate has the same order; a "
    f"tie is wrong. At most {MOST_PAIRS} pairs are drawn, spread evenly over all of them."
)
Ends = NDArray[np.float64]


def order_rows(
    protocol: Protocol, found: Mapping[str, PreparedSample], image: Image | None
) -> Iterator[PictureRow]:
    """A row with the pairs of every method, if a score needs the order of pairs."""
    names = [s.id for s in protocol.specs if "depth_pairs" in s.metric.needs]
    able = {label: each for label, each in found.items() if "depth_pairs" in each.items}
    if not names or not able:
        return
    pairs = np.asarray(next(iter(able.values())).items["depth_pairs"])
    if not len(pairs):
        return
    pictures = {label: _orders(pairs, each.allowed, image, label) for label, each in able.items()}
    yield PictureRow(f"Pairs of points ({', '.join(names)})", _ABOUT, pictures)


def _orders(pairs: NDArray[np.generic], estimate: Map, image: Image | None, label: str) -> Picture:
    x_a, y_a, x_b, y_b, order = np.asarray(pairs, np.int64).T
    apart = estimate[y_a, x_a] - estimate[y_b, x_b]
    right = np.sign(apart) == order
    colours = np.where(np.isfinite(apart), np.where(right, RIGHT, WRONG), UNKNOWN)
    picture = dimmed(image, estimate.shape)
    kept = evenly(len(pairs))
    _draw(picture, estimate.shape, np.asarray(pairs[:, :4], np.float64)[kept], colours[kept])
    bar = ColourBar(0, 1, "", "entries", entries=_ORDERS)
    share = 100 * np.count_nonzero(right) / len(right)
    return picture_of(picture, f"{label}, {share:.0f} % of {len(right)} right", bar)


def relations_picture(
    protocol: Protocol, prepared: PreparedSample, image: Image | None
) -> Picture | None:
    """The true relations of planes; None if no score needs them."""
    asked = any("normal_pairs" in spec.metric.needs for spec in protocol.specs)
    if not asked or "normal_pairs" not in prepared.items:
        return None
    pairs = np.asarray(prepared.items["normal_pairs"], np.float64)
    if not len(pairs):
        return None
    colours = np.array([_RELATIONS[int(relation)] for relation in pairs[:, 4]])
    picture = dimmed(image, prepared.truth.shape)
    kept = evenly(len(pairs))
    _draw(picture, prepared.truth.shape, pairs[kept, :4], colours[kept])
    shown = f", {len(kept)} of {len(pairs)}" if len(kept) < len(pairs) else ""
    bar = ColourBar(0, 1, "", "entries", entries=_RELATION_NAMES)
    return picture_of(picture, f"relations of planes at pairs of points{shown}", bar)


def evenly(count: int) -> NDArray[np.intp]:
    """The places of at most `MOST_PAIRS` things, evenly taken.

    >>> evenly(3).tolist(), len(evenly(5000))
    ([0, 1, 2], 60)
    """
    if count <= MOST_PAIRS:
        return np.arange(count)
    return np.linspace(0, count - 1, MOST_PAIRS).astype(np.intp)


def _draw(picture: Rgb, shape: tuple[int, ...], ends: Ends, colours: NDArray[np.str_]) -> None:
    """Lines with a dot at both ends."""
    import cv2

    scale = np.array([picture.shape[1] / shape[1], picture.shape[0] / shape[0]])
    dot = 3 if picture.shape[1] >= 240 else 1
    for line, colour in zip(ends.reshape(-1, 2, 2), colours, strict=True):
        first, second = (tuple(np.rint(point * scale).astype(int).tolist()) for point in line)
        cv2.line(picture, first, second, rgb_of(str(colour)), 1)
        for point in (first, second):
            cv2.circle(picture, point, dot, rgb_of(str(colour)), -1)
