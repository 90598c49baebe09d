"""nvtiny.py LEFT RIGHT OUT: disparity by NVTiny, a small end-to-end stereo network.

Its two halves are ONNX files; the cost volume between them is made here. Trained on KITTI's
streets. Smolyanskiy, Kamenev & Birchfield 2018, "On the importance of stereo for accurate depth
estimation".
"""

from __future__ import annotations

import sys

import numpy as np
from network_files import Weights, read_colour, session, shrunk, write_estimate
from numpy.typing import NDArray

SOURCE = "an ONNX export (tf2onnx) of NVTiny in github.com/NVIDIA-AI-IOT/redtail (stereoDNN)"
ENCODER = Weights("nvtiny_513x161_encoder.onnx", "NVTINY_WEIGHTS", SOURCE)
DECODER = Weights("nvtiny_513x161_decoder.onnx", "NVTINY_WEIGHTS", SOURCE)
WIDTH, HEIGHT = 513, 161
LEVELS = 24
"""Disparities of the cost volume, at half of that width."""


def main(left: str, right: str, out: str) -> None:
    """Reads two pictures, writes a map."""
    encoder, decoder = session(ENCODER.path()), session(DECODER.path())
    pictures = [read_colour(path) for path in (left, right)]
    small = [shrunk(p, WIDTH, HEIGHT).astype(np.float32)[None] / 255 for p in pictures]
    names = [tensor.name for tensor in encoder.get_inputs()]
    # The graph lists what it finds in the right picture before what it finds in the left one.
    of_right, of_left = encoder.run(None, dict(zip(names, small, strict=True)))
    volume = cost_volume(of_left, of_right)
    # The second volume is for a disparity of the right view, which is not needed.
    wanted = decoder.get_outputs()[0].name
    share = decoder.run([wanted], {tensor.name: volume for tensor in decoder.get_inputs()})[0]
    write_estimate(out, share[0, ..., 0] * WIDTH, pictures[0].shape, "disparity")


def cost_volume(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """For each disparity, the features of the left pixel and of the one that it would be.

    Args:
        left: (1, H, W, C).
        right: The same; where a disparity leads out of it there are zeros.

    Returns:
        (1, LEVELS, H, W, 2 C).
    """
    _, height, width, channels = left.shape
    volume = np.zeros((1, LEVELS, height, width, 2 * channels), np.float32)
    volume[..., :channels] = left[:, None]
    for disparity in range(LEVELS):
        volume[0, disparity, :, disparity:, channels:] = right[0, :, : width - disparity]
    return volume


if __name__ == "__main__":
    main(*sys.argv[1:])
