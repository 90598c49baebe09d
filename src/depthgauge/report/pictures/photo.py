"""A photograph as a dark background, and what is drawn over it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from depthgauge.report.pictures.colours import Rgb, rgb_of
from depthgauge.report.pictures.encode import encode, picture_size
from depthgauge.report.pictures.model import ColourBar, Picture
from depthgauge.report.pictures.shrink import any_of_block
from depthgauge.types import Image, Mask

_BRIGHTEST, _STEP = 120, 6
_LARGE = 240
OUTSIDE_COLOUR = "#101014"
"""Colour of pixels that are not judged."""


def dimmed(image: Image | None, shape: tuple[int, ...], size: tuple[int, int] | None = None) -> Rgb:
    """The photograph in dark greys, over which maps and lines are drawn.

    Few greys, so that the picture stays small without loss. Black where there is no photograph.

    Args:
        image: The photograph.
        shape: Of the map that is drawn over it.
        size: Height and width of the picture; by default those at which such a map is drawn.
    """
    import cv2

    height, width = size or picture_size(shape)
    if image is None:
        return np.zeros((height, width, 3), np.uint8)
    pixels = np.atleast_3d(np.asarray(image)).astype(np.float32)
    brightest = 255 if image.dtype == np.uint8 else 1
    grey = np.clip(np.nan_to_num(pixels) / np.float32(brightest), 0, 1).mean(axis=2)
    if grey.shape != (height, width):
        larger = width > grey.shape[1]
        how = cv2.INTER_LINEAR if larger else cv2.INTER_AREA
        grey = cv2.resize(grey, (width, height), interpolation=how)
    steps = np.rint(_BRIGHTEST * grey / _STEP).astype(np.uint8) * _STEP
    return np.repeat(steps[..., None], 3, axis=2)


def shade_outside(picture: Rgb, known: Mask) -> None:
    """Darkens what is not judged."""
    picture[~any_of_block(known, picture.shape[:2])] = rgb_of(OUTSIDE_COLOUR)


def draw_masks(picture: Rgb, masks: Mapping[str, Mask]) -> None:
    """Paints lines in their colours, the last one on top.

    Pages show pictures at less than half of their width, so lines are three pixels wide.

    Args:
        picture: What it is drawn over.
        masks: By colour.
    """
    for colour, mask in masks.items():
        picture[thick(any_of_block(mask, picture.shape[:2]))] = rgb_of(colour)


def thick(lines: Mask) -> Mask:
    """Lines a pixel wider on each side, on pictures that are large enough to be shrunk.

    >>> thick(np.eye(3, dtype=bool)).sum()
    np.int64(3)
    """
    if lines.shape[1] < _LARGE:
        return lines
    made = lines.copy()
    made[1:] |= lines[:-1]
    made[:-1] |= lines[1:]
    wider = made.copy()
    wider[:, 1:] |= made[:, :-1]
    wider[:, :-1] |= made[:, 1:]
    return wider


def picture_of(picture: Rgb, caption: str, bar: ColourBar | None = None) -> Picture:
    """An encoded picture."""
    return Picture(encode(picture, lossless=True), picture.shape[1::-1], caption, bar)


def image_of(images: Mapping[str, Image]) -> Image | None:
    """The photograph that maps belong to: the left image, or the first one."""
    found = images.get("left_image", next(iter(images.values()), None))
    return found
