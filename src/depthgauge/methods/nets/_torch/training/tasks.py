"""The three networks that are trained, what on, and how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from depthgauge.methods.nets._torch.data.pairs import (
    Maker,
    Pairs,
    flow_pairs,
    layered_pairs,
    stereo_pairs,
)
from depthgauge.methods.nets._torch.flow_net import FlowNet
from depthgauge.methods.nets._torch.stereo_net import StereoNet
from depthgauge.methods.nets._torch.training.losses import sequence_loss

LAYERS = 4
"""Layers of the network of several."""


@dataclass(frozen=True, slots=True)
class Task:
    """A network, its data, and the size of its training."""

    net: Callable[[], nn.Module]
    pairs: Maker
    loss: Callable[[nn.Module, Pairs], tuple[Tensor, Tensor, Tensor]]
    """From a batch to the loss, the last estimate (B n, C, H, W) and the truth to compare with."""
    size: tuple[int, int]
    batch: int
    steps: int
    rate: float
    """The largest learning rate."""


def _stereo_loss(net: nn.Module, pairs: Pairs) -> tuple[Tensor, Tensor, Tensor]:
    estimates, _ = net(pairs.first, pairs.second, 10)
    truth = pairs.motion[:, 0]
    return sequence_loss(estimates, truth), estimates[-1], truth


def _flow_loss(net: nn.Module, pairs: Pairs) -> tuple[Tensor, Tensor, Tensor]:
    """For layers too: those of a pair follow each other, the last one is repeated in the truth."""
    halves, full, _ = net(pairs.first, pairs.second, 8, 4)
    truth = pairs.motion.flatten(0, 1)
    quarter = truth[..., 2::4, 2::4] / 4
    total = sequence_loss(full, truth) + 4 * 0.5 * sequence_loss(halves, quarter)
    return total, full[-1], truth


TASKS = {
    "stereo": Task(StereoNet, stereo_pairs, _stereo_loss, (256, 448), 16, 6000, 5e-4),
    "flow": Task(FlowNet, flow_pairs, _flow_loss, (256, 384), 16, 5000, 5e-4),
    "layers": Task(lambda: FlowNet(LAYERS), layered_pairs, _flow_loss, (256, 320), 12, 3000, 4e-4),
}
