"""Maps and images as small encoded pictures with a colour bar."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.report.pictures.colours import (
    ASIDE_COLOUR,
    Rgb,
    paint,
    paint_flow,
    paint_fragments,
    paint_normals,
    paint_rgb,
    rgb_of,
)
from depthgauge.report.pictures.model import ColourBar, Picture
from depthgauge.report.pictures.shrink import any_of_block, fitting, middle_of_block, shrink_errors
from depthgauge.types import Image, Map, Mask, is_known

MOST_WIDE, MOST_PIXELS = 480, 480 * 360
"""The largest picture of a report: 12 samples x 10 methods then stay below 15 MB."""
EXAMPLE_WIDE = 1280
"""Of the few pictures of example samples, which people open at full size."""
ROW_WIDE = 360
"""Width of the pictures in folded rows: there are many, so each is a little smaller."""
_PHOTO_QUALITY, _LOSSLESS = 82, 101
_HIGH, _LOW = (255, 255, 255), (16, 16, 16)
_SEVERAL_CHANNELS = ("ball", "rgb")


@dataclass(frozen=True, eq=False)
class Outline:
    """Pixels at both sides of jumps, and the truth, which distinguishes the sides."""

    edge: Mask
    truth: Map

    def draw(self, picture: Rgb) -> None:
        """Paints the higher side of each jump white and the lower one black.

        So the line is visible on any colour, exactly between the two sides.
        """
        size = picture.shape[:2]
        edge = any_of_block(self.edge, size)
        high = _higher(middle_of_block(_amounts(self.truth), size))
        picture[edge & high] = _HIGH
        picture[edge & ~high] = _LOW


def _higher(values: Map) -> Mask:
    """Whether a pixel is farther above its lowest neighbour than below its highest one."""
    padded = np.pad(values, 1, constant_values=np.nan)
    shifted = [padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]]
    rises = [np.nan_to_num(values - neighbour) for neighbour in shifted]
    return np.asarray(np.maximum.reduce(rises) >= -np.minimum.reduce(rises))


def _amounts(values: Map) -> Map:
    """The values themselves; of vectors their length."""
    return values if values.ndim == 2 else np.asarray(np.linalg.norm(values, axis=-1))


def picture_of_image(image: Image, caption: str, *, wide: int = MOST_WIDE) -> Picture:
    """An image (RGB or grey, uint8 or float 0..1), shrunk by averaging to at most that width."""
    import cv2

    pixels = np.atleast_3d(np.asarray(image))
    if pixels.dtype != np.uint8:
        pixels = np.rint(255 * np.clip(np.nan_to_num(pixels), 0, 1)).astype(np.uint8)
    if pixels.shape[2] == 1:
        pixels = np.repeat(pixels, 3, axis=2)
    size = picture_size(pixels.shape, wide)[::-1]
    if size != pixels.shape[1::-1]:
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    return Picture(encode(pixels, lossless=False), size, caption)


def picture_of_map(
    values: Map,
    known: Mask,
    bar: ColourBar,
    caption: str,
    *,
    worst_of_block: bool = False,
    aside: Mask | None = None,
    outline: Outline | None = None,
    wide: int = MOST_WIDE,
) -> Picture:
    """A map in the colours of a bar.

    Args:
        values: (H, W); for the colours `wheel` (H, W, 2), for `ball` and
            `rgb` (H, W, 3); NaN where there is
            no estimate.
        known: Where there is truth; elsewhere the picture is grey.
        bar: What the colours mean; whether anything is out of range or missing is filled in here.
        caption: What it shows.
        worst_of_block: Shrink by the largest value of each block, so that thin errors stay; other
            maps take one pixel of each block, so that edges stay sharp.
        aside: Pixels that the picture is not about, in their own grey; `bar.aside` says why.
        outline: A line to be drawn over it.
        wide: Largest width in pixels.
    """
    aside = np.zeros(known.shape, bool) if aside is None else aside
    if values.ndim == 2:
        values = np.where(aside, np.float32(np.nan), values)
    bar = _with_facts(bar, values, known, aside)
    size = picture_size(values.shape, wide)
    if worst_of_block:
        values, known = shrink_errors(np.where(known, values, np.nan), known, size)
        aside = np.isnan(values) & any_of_block(aside, size)
    else:
        values, known, aside = (middle_of_block(each, size) for each in (values, known, aside))
    picture = painted(values, known, bar)
    picture[aside & known] = rgb_of(ASIDE_COLOUR)
    if outline is not None:
        outline.draw(picture)
    # Noise in three channels hardly compresses without loss, and no one reads values from it.
    data = encode(picture, lossless=bar.colours not in _SEVERAL_CHANNELS)
    return Picture(data, size[::-1], caption, bar)


def painted(values: Map, known: Mask, bar: ColourBar) -> Rgb:
    """A map in the colours of a bar, pixel by pixel."""
    if bar.colours == "wheel":
        return paint_flow(values, known, bar.high)
    if bar.colours == "ball":
        return paint_normals(values, known)
    if bar.colours == "rgb":
        return paint_rgb(values, known, bar.low, bar.high)
    if bar.colours == "fragments":
        return paint_fragments(values, known)
    return paint(values, known, bar.colours, bar.low, bar.high)


def value_bar(values: Map, unit: str, colours: str = "viridis") -> ColourBar:
    """A scale from the 1st to the 99th percentile of the values."""
    here = values[is_known(values)]
    low, high = (float(v) for v in np.percentile(here, (1, 99))) if here.size else (0.0, 1.0)
    if not low < high:
        low, high = low - 0.5, high + 0.5
    return ColourBar(low, high, unit, colours)


def error_limits(values: NDArray[np.float32], percent: float = 99) -> tuple[float, float]:
    """The range of the colours: up to that percentile, symmetric where values have signs."""
    if not values.size:
        return 0.0, 1.0
    largest = float(np.percentile(np.abs(values), percent)) or float(np.abs(values).max()) or 1.0
    return (-largest if (values < 0).any() else 0.0), largest


def error_bar(errors: Iterable[Map], known: Mask, unit: str) -> ColourBar:
    """One scale for the errors of all methods: to the median of their 95th percentiles.

    So neither a few outliers nor one failing method make everything else black.
    """
    here = (values[known & np.isfinite(values)] for values in errors)
    # A map without any error does not affect the scale.
    limits = [error_limits(values, 95) for values in here if values.any()]
    high = float(np.median([high for _, high in limits])) if limits else 1.0
    signed = any(low < 0 for low, _ in limits)
    return ColourBar(-high if signed else 0.0, high, unit, "RdBu_r" if signed else "magma")


def signed_bar(maps: Iterable[Map], known: Mask, unit: str) -> ColourBar:
    """One scale around zero, for differences."""
    bar = error_bar(maps, known, unit)
    return replace(bar, low=-bar.high, colours="RdBu_r")


def picture_size(shape: tuple[int, ...], wide: int = MOST_WIDE) -> tuple[int, int]:
    """Height and width at which a map of that shape is shown.

    >>> picture_size((375, 450)), picture_size((20, 30)), picture_size((375, 1242))
    ((375, 450), (20, 30), (145, 480))
    """
    most = MOST_PIXELS * (wide / MOST_WIDE) ** 2
    narrower = math.sqrt(most / (shape[0] * shape[1]))
    return fitting(shape, max(1, min(wide, round(shape[1] * min(1.0, narrower)))))


def encode(picture: NDArray[np.uint8], *, lossless: bool) -> bytes:
    """WebP of an RGB picture (PNG if it has transparency); always the same bytes."""
    import cv2

    if picture.shape[2] == 4:
        return _bytes(cv2.imencode(".png", picture[..., [2, 1, 0, 3]]))
    quality = _LOSSLESS if lossless else _PHOTO_QUALITY
    return _bytes(cv2.imencode(".webp", picture[..., ::-1], [cv2.IMWRITE_WEBP_QUALITY, quality]))


def reduced(picture: Picture, share: float) -> Picture:
    """The same picture with width and height multiplied by `share`."""
    import cv2

    pixels = cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        raise BadFile(f"the picture '{picture.caption}' is neither PNG, JPEG nor WebP.")
    width, height = picture.size_px
    size = max(1, round(width * share)), max(1, round(height * share))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    return replace(picture, data=encode(small[..., ::-1], lossless=False), size_px=size)


def _bytes(encoded: tuple[bool, NDArray[np.uint8]]) -> bytes:
    done, data = encoded
    if not done:
        raise BadFile("a picture could not be encoded; is OpenCV built without WebP?")
    return data.tobytes()


def _with_facts(bar: ColourBar, values: Map, known: Mask, aside: Mask) -> ColourBar:
    some = is_known(values)
    here = values[known & some]
    # Of a vector the length is on the scale, of a colour each channel.
    flat = np.linalg.norm(here, axis=-1) if values.ndim == 3 and bar.colours != "rgb" else here
    return replace(
        bar,
        below=bool((flat < bar.low).any()),
        above=bool((flat > bar.high).any()),
        missing=bool((known & ~some & ~aside).any()),
        no_truth=bool((~known).any()),
        aside=bar.aside if (aside & known).any() else "",
    )
