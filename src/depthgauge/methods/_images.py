"""Pictures in the form that OpenCV's algorithms need."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Unavailable, WrongShape
from depthgauge.types import Inputs

Bytes = NDArray[np.uint8]


def two_images(inputs: Inputs, first: str, second: str, *, grey: bool) -> tuple[Bytes, Bytes]:
    """Two pictures of the same size and kind, as bytes.

    Args:
        inputs: The inputs of the sample.
        first: Name of one of its items.
        second: Name of another.
        grey: Whether to convert to grey, which is also done if only one of them has colour.

    Raises:
        WrongShape: Their sizes differ.
    """
    a, b = as_bytes(inputs[first]), as_bytes(inputs[second])
    if a.shape[:2] != b.shape[:2]:
        raise WrongShape(
            f"{first} is {a.shape[1]}x{a.shape[0]}, {second} is {b.shape[1]}x{b.shape[0]}; "
            "this method needs two pictures of the same size."
        )
    if grey or a.ndim != b.ndim:
        a, b = as_grey(a), as_grey(b)
    return a, b


def as_bytes(image: NDArray[Any]) -> Bytes:
    """uint8 unchanged; floats from 0 to 1 become 0 to 255, clipped."""
    if image.dtype == np.uint8:
        return np.ascontiguousarray(image)
    scaled = np.nan_to_num(np.clip(image, 0, 1)) * np.float32(255)
    return np.ascontiguousarray(np.rint(scaled).astype(np.uint8))


def as_grey(image: Bytes) -> Bytes:
    """One channel, with the usual weights of red, green and blue."""
    if image.ndim == 2:
        return image
    import cv2

    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), dtype=np.uint8)


def image_size(inputs: Inputs) -> tuple[int, int]:
    """Height and width of the picture, and so of the estimate.

    Raises:
        Unavailable: There is no picture among the inputs.
    """
    others = [name for name in inputs if name.endswith("_image")]
    for name in ("left_image", "first_image", "image", *others):
        if name in inputs:
            height, width = inputs[name].shape[:2]
            return int(height), int(width)
    raise Unavailable(
        f"the size of the estimate is that of a picture, but there is none among the inputs: "
        f"{', '.join(inputs)}."
    )
