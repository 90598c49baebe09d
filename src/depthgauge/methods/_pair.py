"""A stereo pair ready for matching: resized to one size, and shrunk if requested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from depthgauge.errors import WrongShape
from depthgauge.geometry.resizing import resize
from depthgauge.methods._images import Bytes, as_bytes, as_grey
from depthgauge.methods._spec import MethodOptions
from depthgauge.types import Inputs, Map

_SAME_SHAPE = 0.01
"""Aspect ratios may differ by this share, which rounding to whole pixels explains."""


class PairOptions(MethodOptions):
    """The size at which a pair is matched."""

    input_scale: float = Field(default=1, gt=0, le=1)
    """Factor on the pictures' width and height before they are compared: 1 (full), 0.5 (half), 0.25
    (quarter) ... They are shrunk by averaging, and the search range with them. The estimate has the
    small size, in its px, unless `enlarge` is on."""
    match_size: Literal["smaller", "larger"] = "smaller"
    """For two pictures of different size and the same field of view: shrink the larger one, or
    enlarge the smaller one (cubic). `input_scale` is relative to this size."""
    enlarge: bool = False
    """Resize the estimate to the size of the left picture (nearest, values scaled), for benchmarks
    that do not resize estimates."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two pictures of the same size and kind."""

    left: Bytes
    right: Bytes
    given_px: tuple[int, int]
    """Original width and height of the left picture."""

    @property
    def scale(self) -> float:
        """Disparities in px here divided by those in px of the original left picture."""
        return float(self.left.shape[1] / self.given_px[0])

    def returned(self, disparity: Map, options: PairOptions) -> Map:
        """The estimate at the requested size."""
        if not options.enlarge:
            return disparity
        width, height = self.given_px
        return resize(disparity, (height, width), "nearest", "disparity")


def stereo_pair(inputs: Inputs, options: PairOptions, *, grey: bool) -> Pair:
    """The sample's two pictures, as bytes, at the size at which they are compared.

    Args:
        inputs: The inputs of the sample.
        options: Define this size.
        grey: Whether to convert to grey, which is also done if only one of them has colour.

    Raises:
        WrongShape: The aspect ratios differ, so the fields of view cannot be the same.
    """
    left, right = as_bytes(inputs["left_image"]), as_bytes(inputs["right_image"])
    if grey or left.ndim != right.ndim:
        left, right = as_grey(left), as_grey(right)
    given = (left.shape[1], left.shape[0])
    size = _shared_size(given, (right.shape[1], right.shape[0]), options.match_size)
    width, height = (max(1, round(length * options.input_scale)) for length in size)
    return Pair(_resized(left, width, height), _resized(right, width, height), given)


def _shared_size(left: tuple[int, int], right: tuple[int, int], which: str) -> tuple[int, int]:
    """The width and height of the smaller or the larger picture."""
    ratio = (left[0] * right[1]) / (left[1] * right[0])
    if left != right and abs(ratio - 1) > _SAME_SHAPE:
        raise WrongShape(
            f"left_image is {left[0]}x{left[1]}, right_image is {right[0]}x{right[1]}; pictures "
            "of different size can be matched only if width : height is the same to 1 %, as "
            "after a rectification that gives both the same field of view."
        )
    ordered = sorted((left, right), key=lambda size: size[0] * size[1])
    return ordered[0] if which == "smaller" else ordered[1]


def _resized(image: Bytes, width: int, height: int) -> Bytes:
    """Shrunk by averaging, or enlarged by cubic interpolation."""
    if image.shape[:2] == (height, width):
        return image
    import cv2

    shrinks = width <= image.shape[1] and height <= image.shape[0]
    how = cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC
    resized: Bytes = cv2.resize(image, (width, height), interpolation=how)
    return resized
