"""mccnn.py LEFT RIGHT OUT [SCALE]: disparity from patches compared by the fast MC-CNN.

The network gives every pixel a description of its surroundings, 11 px wide; here they are compared
along the row, and the most alike wins. No smoothing and no filling: what the network alone sees.
Zbontar & LeCun 2016, "Stereo matching by training a convolutional neural network to compare image
patches".
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from network_files import Weights, read_colour, session, shrunk, write_estimate
from numpy.typing import NDArray

WEIGHTS = Weights(
    "mc_cnn_fast_mb_weights_dynamo_int8_excl_01.onnx",
    "MCCNN_WEIGHTS",
    "the source archive of the package mccnn 1.3.0a1 on pypi.org",
)
MARGIN = 5
"""Pixels on each side that the network's convolutions take off."""
FEWEST = 64
Features = NDArray[np.float32]


def main(left: str, right: str, out: str, scale: str = "1") -> None:
    """Reads two pictures, writes a map."""
    network = session(WEIGHTS.path())
    pictures = [read_colour(path) for path in (left, right)]
    height, width = (max(1, round(n * float(scale))) for n in pictures[0].shape[:2])
    # A right picture of another size shows the same field of view, so it is brought to this one.
    small = [shrunk(picture, width, height) for picture in pictures]
    of_left, of_right = (features(network, picture) for picture in small)
    # No map says how far to search: an eighth of the width is enough indoors.
    disparity = most_alike(of_left, of_right, max(FEWEST, width // 8))
    write_estimate(out, disparity, pictures[0].shape, "disparity")


def features(network: Any, picture: NDArray[np.uint8]) -> Features:
    """(H, W, channels) of length 1, contiguous in the channels."""
    grey = picture.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
    grey = (grey - grey.mean()) / max(float(grey.std()), 1e-6)
    wide = np.pad(grey, MARGIN, mode="edge")
    found = network.run(None, {network.get_inputs()[0].name: wide})[0]
    return np.ascontiguousarray(found.transpose(1, 2, 0))


def most_alike(left: Features, right: Features, count: int) -> NDArray[np.float32]:
    """The disparity among 0 .. count - 1 with the largest product, refined by a parabola."""
    height, width = left.shape[:2]
    count = min(count, width)
    disparity = np.zeros((height, width), np.float32)
    for row in range(height):  # a row's costs fit into the cache; those of a picture do not
        costs = np.full((count, width), -1, np.float32)
        for d in range(count):
            costs[d, d:] = np.einsum("xc,xc->x", left[row, d:], right[row, : width - d])
        disparity[row] = _peak(costs)
    return disparity


def _peak(costs: NDArray[np.float32]) -> NDArray[np.float32]:
    """Where each column is largest, between its samples."""
    best = costs.argmax(axis=0)
    inner = np.clip(best, 1, max(1, costs.shape[0] - 2))
    columns = np.arange(costs.shape[1])
    below, here, above = (
        costs[np.clip(inner + k, 0, costs.shape[0] - 1), columns] for k in (-1, 0, 1)
    )
    bend = below - 2 * here + above
    move = np.where(bend < 0, (below - above) / np.where(bend < 0, 2 * bend, 1), 0)
    # At the ends of the search, and where a neighbour is outside the picture, it stays whole.
    sure = (best == inner) & (np.abs(move) <= 0.5) & (best < columns)
    return (best + np.where(sure, move, 0)).astype(np.float32)


if __name__ == "__main__":
    main(*sys.argv[1:])
