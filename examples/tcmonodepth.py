"""tcmonodepth.py PICTURE OUT QUANTITY: depth from one picture, by TCMonoDepth's small network.

The network gives inverse depth without a scale, so the estimate needs a benchmark that fits one.
Of `depth` this writes the plain inverse. Li et al. 2021, "Enforcing temporal consistency in video
depth estimation".
"""

from __future__ import annotations

import sys

import numpy as np
from network_files import Weights, read_colour, session, shrunk, write_estimate

WEIGHTS = Weights(
    "tcmonodepth_tcsmallnet_192x320.onnx",
    "TCMONODEPTH_WEIGHTS",
    "github.com/royshil/obs-backgroundremoval (data/models)",
)
WIDTH, HEIGHT = 320, 192
FARTHEST = 0.01
"""Inverse depths below this share of the largest are raised to it: none is infinitely far."""


def main(picture: str, out: str, quantity: str) -> None:
    """Reads a picture, writes a map."""
    network = session(WEIGHTS.path())
    image = read_colour(picture)
    # The network wants RGB from 0 to 255, channels first.
    planes = shrunk(image, WIDTH, HEIGHT).astype(np.float32).transpose(2, 0, 1)[None]
    inverse = network.run(None, {network.get_inputs()[0].name: planes})[0][0, 0]
    inverse = np.maximum(inverse, FARTHEST * inverse.max())
    values = np.reciprocal(inverse) if quantity == "depth" else inverse
    write_estimate(out, values, image.shape, quantity)


if __name__ == "__main__":
    main(*sys.argv[1:])
