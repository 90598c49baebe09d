"""AlexNet with the heads of LPIPS in plain NumPy: what its five layers see in a picture."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.io.weights import find_weights
from depthgauge.metrics.views._frames import Picture

Layer = NDArray[np.float32]
"""(H, W, C)."""
WEIGHTS = "alexnet.npz"
LEAST_PX = 35
"""Smaller pictures leave nothing of the last layers."""
_WHAT = "AlexNet with the heads of LPIPS v0.1; docs/stereo-generation.md says how to make it"
_DIGEST = "7af66b7cb753b489287047135243b38856c58973f2df53d21a38edf3ab4b5349"
"""SHA-256 of all weights as float32, in the order of their names."""
_SHAPES = ((11, 3, 64), (5, 64, 192), (3, 192, 384), (3, 384, 256), (3, 256, 256))
"""Side of the kernel, channels in and out, of each convolution."""
_STRIDES, _PADDINGS, _POOLED_BEFORE = (4, 1, 1, 1, 1), (2, 2, 1, 1, 1), (1, 2)
_SHIFT = np.array([-0.030, -0.088, -0.188], np.float32)
_SCALE = np.array([0.458, 0.448, 0.450], np.float32)
_ROWS = 16
"""Rows of a layer that are computed at once, so that unfolded windows stay small."""


class AlexNet(NamedTuple):
    """The weights."""

    kernels: tuple[Layer, ...]
    """(k * k * in, out) of each convolution."""
    biases: tuple[Layer, ...]
    heads: tuple[Layer, ...]
    """One weight for each channel of each layer."""


def load_alexnet() -> AlexNet:
    """The network of the weights folder; read once.

    Raises:
        Unavailable: The file is not there.
        BadFile: It has other weights.
    """
    path = find_weights(WEIGHTS, _WHAT)
    return _load(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _load(path: Path, changed: int) -> AlexNet:
    names = [f"AlexNet_0/Conv_{i}/{what}" for i in range(5) for what in ("kernel", "bias")]
    names += [f"NetLinLayer_{i}/Conv_0/kernel" for i in range(5)]
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: np.asarray(file[name], np.float32) for name in names}
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise BadFile(f"{path}: is not {_WHAT} ({error}).") from error
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(np.ascontiguousarray(found[name]).tobytes())
    if digest.hexdigest() != _DIGEST:
        raise BadFile(f"{path}: its weights are not those of LPIPS v0.1; make the file anew.")
    return AlexNet(
        tuple(found[f"AlexNet_0/Conv_{i}/kernel"].reshape(-1, s[2]) for i, s in enumerate(_SHAPES)),
        tuple(found[f"AlexNet_0/Conv_{i}/bias"] for i in range(5)),
        tuple(found[f"NetLinLayer_{i}/Conv_0/kernel"].reshape(-1) for i in range(5)),
    )


def layers_of(picture: Picture, network: AlexNet) -> list[Layer]:
    """The five layers of a picture, at least 35 px wide and high, after their rectification."""
    values: Layer = ((picture * 2 - 1) - _SHIFT) / _SCALE
    found = []
    for i, (side, _, _) in enumerate(_SHAPES):
        if i in _POOLED_BEFORE:
            values = _pooled(values)
        values = _convolved(values, network, i, side)
        found.append(values)
    return found


def _convolved(values: Layer, network: AlexNet, index: int, side: int) -> Layer:
    stride, pad = _STRIDES[index], _PADDINGS[index]
    wide = np.pad(values, ((pad, pad), (pad, pad), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (side, side), axis=(0, 1))
    windows = windows[::stride, ::stride].transpose(0, 1, 3, 4, 2)
    height, width = windows.shape[:2]
    kernel, bias = network.kernels[index], network.biases[index]
    out = np.zeros((height, width, kernel.shape[1]), np.float32)
    for top in range(0, height, _ROWS):
        band = windows[top : top + _ROWS]
        flat = np.ascontiguousarray(band).reshape(-1, kernel.shape[0])
        out[top : top + _ROWS] = (flat @ kernel + bias).reshape(len(band), width, -1)
    return np.maximum(out, 0, out=out)


def _pooled(values: Layer) -> Layer:
    """The largest of 3 x 3 values at every second one."""
    height, width = ((n - 3) // 2 + 1 for n in values.shape[:2])
    parts = [
        values[y : y + 2 * height - 1 : 2, x : x + 2 * width - 1 : 2]
        for y in range(3)
        for x in range(3)
    ]
    largest = parts[0].copy()
    for part in parts[1:]:
        np.maximum(largest, part, out=largest)
    return largest
