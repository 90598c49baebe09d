"""Where the left image has structure to match, and where it has none."""

from __future__ import annotations

import numpy as np

from depthgauge.errors import WrongShape
from depthgauge.regions._checks import has_truth, not_negative, odd, same_size
from depthgauge.regions._region import region
from depthgauge.types import Image, Map, Mask

_LUMA = np.array([0.299, 0.587, 0.114], np.float32)  # ITU-R BT.601


@region("textureless", needs=("left_image",), cite="after Scharstein & Szeliski 2002")
def textureless(truth: Map, *, left_image: Image, window: int = 3, threshold: float = 4.0) -> Mask:
    """Pixels around which the grey value hardly changes along x.

    The squared horizontal gradient of the grey value (0..255; float images of 0..1 are multiplied
    by 255), averaged over a square of `window` x `window` pixels, is below `threshold`. The
    gradient of a pixel is the larger of the differences to its left and right neighbours; the
    square is cut at the image's border. RGB becomes grey with the weights 0.299, 0.587, 0.114.

    This follows the text of the paper. The authors' program, whose threshold is also 4, compares
    with its square, 16, and averages the squared gradients of the colour channels instead of
    converting them to grey: its regions are close to `textureless:3,16`.
    """
    return has_truth(truth) & _flat(truth, left_image, window, threshold)


@region("textured", needs=("left_image",), cite="after Scharstein & Szeliski 2002")
def textured(truth: Map, *, left_image: Image, window: int = 3, threshold: float = 4.0) -> Mask:
    """Pixels with truth that are not `textureless` with the same window and threshold."""
    return has_truth(truth) & ~_flat(truth, left_image, window, threshold)


def _flat(truth: Map, image: Image, window: int, threshold: float) -> Mask:
    radius = odd("window", window)
    not_negative("threshold", threshold)
    same_size("left_image", image, truth)
    channels = image[..., np.newaxis] if image.ndim == 2 else image[..., :3]
    if channels.shape[2] not in (1, 3):
        raise WrongShape(f"left_image has shape {image.shape}; expected (H, W) or (H, W, 3).")
    scale = 255.0 if np.issubdtype(image.dtype, np.floating) else 1.0
    weights = scale * (_LUMA if channels.shape[2] == 3 else np.ones(1))
    from depthgauge.regions import _kernels

    squared = _kernels.squared_gradient(np.ascontiguousarray(channels), weights.astype(np.float32))
    flat: Mask = _kernels.window_mean_below(squared, radius, threshold)
    return flat
