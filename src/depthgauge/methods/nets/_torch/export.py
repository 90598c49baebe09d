"""Networks as ONNX files of one picture size, which run without PyTorch."""

from __future__ import annotations

import warnings
from pathlib import Path

import torch
from torch import Tensor, nn

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
    """Writes a network (stereo, flow, layers) for pictures of one size, a multiple of 32."""
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
