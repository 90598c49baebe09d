"""The stereo network: correlations along rows, recurrent updates at three scales.

After Lipson, Teed & Deng 2021 (RAFT-Stereo), smaller: the finest scale is 1/4, the hidden states
have 64, 80 and 80 channels.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from depthgauge.methods.nets._torch.blocks import (
    Cell,
    Encoder,
    Head,
    MotionEncoder,
    double,
    halve,
)
from depthgauge.methods.nets._torch.correlation import along_rows, pixels

MULTIPLE = 16
"""Sides of pictures are multiples of this."""
_WIDTHS = (32, 64, 80, 112)
_HIDDEN = (64, 80, 80)
_LEVELS, _RADIUS = 4, 4
_SPREAD_OVER = 4
"""The confidence is the spread of the last so many estimates."""


class StereoNet(nn.Module):
    """Disparity of the left picture."""

    FUSED = ("encoded", "step")

    def __init__(self) -> None:
        super().__init__()
        fine, middle, coarse = _HIDDEN
        self.features = Encoder(_WIDTHS, (96,))
        self.context = Encoder(_WIDTHS, tuple(4 * h for h in _HIDDEN))
        self.motion = MotionEncoder(_LEVELS * (2 * _RADIUS + 1), 1, 64)
        self.fine = Cell(fine, 64 + middle)
        self.middle = Cell(middle, fine + coarse)
        self.coarse = Cell(coarse, middle)
        self.head = Head(fine, 1, 4)

    def forward(
        self, left: Tensor, right: Tensor, updates: int, start: Tensor | None = None
    ) -> tuple[list[Tensor], Tensor]:
        """Estimates (B, 1, H, W) in px, and the spread of the last ones.

        Args:
            left: (B, 3, H, W), 0 to 1; sides are multiples of 16.
            right: The same of the other picture.
            updates: Number of updates.
            start: A first estimate (B, 1, H / 4, W / 4) in px of that scale; none: 0.

        Returns:
            All estimates while training, else the last one; and the spread (B, 1, H, W) in px.
        """
        (one, other), states, contexts = self.encoded(left, right)
        look_up = along_rows(one, other, _LEVELS, _RADIUS)
        x = pixels(one)[:, :1]
        batch, _, height, width = one.shape
        disparity = x.new_zeros((batch, 1, height, width)) if start is None else start.float()
        estimates, last = [], [disparity]
        for i in range(updates):
            disparity = disparity.detach()
            states, change = self.step(states, contexts, look_up(x - disparity), disparity)
            disparity = disparity + change.float()
            last = [*last[1 - _SPREAD_OVER :], disparity.detach()]
            if self.training or i + 1 == updates:
                estimates.append(self.head.enlarged(disparity, states[0]))
        spread = torch.stack(last).std(0, correction=0)
        return estimates, 4 * double(double(spread))

    def encoded(
        self, left: Tensor, right: Tensor
    ) -> tuple[tuple[Tensor, Tensor], list[Tensor], list[Tensor]]:
        """Features of both pictures, first hidden states and contexts at the three scales."""
        both = self.features(2 * torch.cat([left, right]) - 1)[0]
        states, contexts = [], []
        for found, hidden in zip(self.context(2 * left - 1), _HIDDEN, strict=True):
            states.append(torch.tanh(found[:, :hidden]))
            contexts.append(found[:, hidden:])
        one, other = both.chunk(2)
        return (one, other), states, contexts

    def step(
        self, states: list[Tensor], contexts: list[Tensor], looked_up: Tensor, disparity: Tensor
    ) -> tuple[list[Tensor], Tensor]:
        """The next hidden states, and the change of the disparity in px of 1/4."""
        fine, middle, coarse = states
        coarse = self.coarse(coarse, contexts[2], halve(middle))
        middle = self.middle(middle, contexts[1], halve(fine), double(coarse))
        motion = self.motion(looked_up, disparity)
        fine = self.fine(fine, contexts[0], motion, double(middle))
        return [fine, middle, coarse], self.head.change(fine)
