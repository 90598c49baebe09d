"""The image that the truth belongs to, in the form that image-based regions need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import WrongShape
from depthgauge.regions._checks import same_size
from depthgauge.regions._shared_maps import shared_map
from depthgauge.types import Image, Map

_LUMA = np.array([0.299, 0.587, 0.114], np.float32)  # ITU-R BT.601


@dataclass(frozen=True, slots=True)
class TruthView:
    """An image with the truth's size, with values of 0..255."""

    channels: NDArray[Any]
    """(H, W, 1 or 3), uint8 or float32."""
    grey: NDArray[np.float32]
    """(H, W), by the weights 0.299, 0.587, 0.114."""
    is_left: bool
    """Whether it is the left one of a rectified pair, so that matches lie in the same row."""


@shared_map("truth_view", needs_any=("left_image", "centre_image", "first_image", "image"))
def truth_view(
    truth: Map,
    *,
    left_image: Image | None = None,
    centre_image: Image | None = None,
    first_image: Image | None = None,
    image: Image | None = None,
) -> TruthView:
    """The image that the truth belongs to, with values 0..255; float images (0..1) times 255."""
    given = {
        "left_image": left_image,
        "centre_image": centre_image,
        "first_image": first_image,
        "image": image,
    }
    name, found = next((n, i) for n, i in given.items() if i is not None)
    same_size(name, found, truth)
    channels = found[..., np.newaxis] if found.ndim == 2 else found[..., :3]
    if channels.shape[2] not in (1, 3):
        raise WrongShape(f"{name} has shape {found.shape}; expected (H, W) or (H, W, 3).")
    if np.issubdtype(channels.dtype, np.floating):
        channels = channels.astype(np.float32) * np.float32(255.0)
    grey = channels[..., 0].astype(np.float32)
    if channels.shape[2] == 3:
        grey = np.einsum("hwc,c->hw", channels, _LUMA, dtype=np.float32)
    return TruthView(np.ascontiguousarray(channels), grey, left_image is not None)
