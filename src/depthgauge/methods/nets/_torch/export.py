"""Networks as ONNX files of one picture size, which run without PyTorch."""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path

import torch
from torch import Tensor, nn

from depthgauge.io.weights import MADE_OF
from depthgauge.methods.nets._torch.inference import network
from depthgauge.methods.nets._torch.stereo_net import StereoNet

OPSET = 18


class _Whole(nn.Module):
    """Two pictures (1, 3, H, W) to the motion (layers, components, H, W) and spread.

    White is 1, or the number that is given.
    """

    def __init__(self, net: nn.Module, updates: int, white: float) -> None:
        super().__init__()
        self.net, self.updates, self.white = net, updates, white

    def forward(self, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
        if self.white != 1:
            first, second = first / self.white, second / self.white
        if isinstance(self.net, StereoNet):
            estimates, spread = self.net(first, second, self.updates)
        else:
            _, estimates, spread = self.net(first, second, self.updates, max(1, self.updates // 2))
        return estimates[-1], spread


def export_onnx(
    kind: str,
    weights: Path,
    path: Path,
    size: tuple[int, int],
    updates: int,
    *,
    white: float = 1.0,
) -> None:
    """Writes a network (stereo, flow, layers) for pictures of one size, a multiple of 32.

    The file says what it was made of: its bytes depend on the version of PyTorch.
    """
    whole = _Whole(network(kind, weights, "cpu"), updates, white).eval()
    pictures = (torch.zeros(1, 3, *size), torch.zeros(1, 3, *size))
    with warnings.catch_warnings():
        # The exporter announces its successor, and traces loops of fixed length on purpose.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            whole,
            pictures,
            str(path),
            input_names=["first", "second"],
            output_names=["motion", "spread"],
            opset_version=OPSET,
            dynamo=False,
        )
    sha256 = hashlib.sha256(weights.read_bytes()).hexdigest()
    told = f"weights {sha256}, {size[1]}x{size[0]} px, {updates} updates, white {white:g}"
    with path.open("ab") as file:
        file.write(_entry(MADE_OF, told))


def _entry(key: str, value: str) -> bytes:
    """An entry of `metadata_props`, field 14 of ONNX's ModelProto: fields may be appended."""
    both = _field(1, key.encode()) + _field(2, value.encode())
    return _field(14, both)


def _field(number: int, body: bytes) -> bytes:
    """A field of bytes in the encoding of Protocol Buffers: its number and kind, length, bytes."""
    length, head = len(body), [number << 3 | 2]
    while length > 127:
        head.append(length & 127 | 128)
        length >>= 7
    return bytes([*head, length]) + body
