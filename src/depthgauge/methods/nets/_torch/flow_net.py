"""The flow network: all pairs at 1/8, then nearby ones at 1/4; one or several contexts.

After Teed & Deng 2020 (RAFT), smaller, and with a second stage at 1/4 for fine motion. With several
context encoders it is the multi-layer network of Wen et al. 2024 (Multi-RAFT): one flow per context
from the same correlations and the same update operator.
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
)
from depthgauge.methods.nets._torch.correlation import LookUp, all_pairs, nearby, pixels

MULTIPLE = 16
"""Sides of pictures are multiples of this."""
_WIDTHS = (32, 64, 80, 112)
_COARSE, _FINE = 96, 64
_LEVELS, _RADIUS = 4, 4
_NEAR = 3
_SPREAD_OVER = 4
"""The confidence is the spread of the last so many estimates at 1/8."""


class Stage(nn.Module):
    """Recurrent updates at one scale."""

    FUSED = ("forward",)

    def __init__(self, hidden: int, looked_up: int, motion: int, more: int, factor: int) -> None:
        super().__init__()
        self.motion = MotionEncoder(looked_up, 2, motion)
        self.cell = Cell(hidden, motion + more)
        self.head = Head(hidden, 2, factor)

    def forward(
        self, state: Tensor, context: Tensor, looked_up: Tensor, flow: Tensor, *more: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The next hidden state, and the change of the flow in px of the scale."""
        state = self.cell(state, context, self.motion(looked_up, flow), *more)
        return state, self.head.change(state)


class FlowNet(nn.Module):
    """Flow from the first picture to the second, one per context."""

    FUSED = ("encoded",)

    def __init__(self, layers: int = 1) -> None:
        super().__init__()
        self.layers = layers
        self.features = Encoder(_WIDTHS, (64, 128))
        self.contexts = nn.ModuleList(
            Encoder(_WIDTHS[:3], (4 * _FINE, 4 * _COARSE)) for _ in range(layers)
        )
        self.coarse = Stage(_COARSE, _LEVELS * (2 * _RADIUS + 1) ** 2, 96, 0, 2)
        self.fine = Stage(_FINE, (2 * _NEAR + 1) ** 2, 64, _COARSE, 4)

    def forward(
        self,
        first: Tensor,
        second: Tensor,
        updates: int,
        fine_updates: int,
        start: Tensor | None = None,
    ) -> tuple[list[Tensor], list[Tensor], Tensor]:
        """Estimates at 1/4 (in px of 1/4) and at full size, and the spread of the coarse ones.

        Args:
            first: (B, 3, H, W), 0 to 1; sides are multiples of 16.
            second: The same of the other picture.
            updates: Number of updates at 1/8.
            fine_updates: Number of updates at 1/4 after that.
            start: A first estimate (B n, 2, H / 8, W / 8) in px of that scale; none: 0.

        Returns:
            Lists of (B n, 2, h, w): all while training, else the last one of full size; and the
            spread (B n, 1, H, W) in px. The n layers of a pair follow each other.
        """
        near, far, states, contexts = self.encoded(first, second)
        look_up = all_pairs(*far, _LEVELS, _RADIUS)
        size = (states[0].shape[0], 2, *far[0].shape[2:])
        flow = far[0].new_zeros(size).float() if start is None else start.float()
        state, halves, last = states[0], [], [flow]
        for i in range(updates):
            state, flow = self._updated(self.coarse, look_up, state, contexts[0], flow)
            last = [*last[1 - _SPREAD_OVER :], flow.detach()]
            if self.training or i + 1 == updates:
                halves.append(self.coarse.head.enlarged(flow, state))
        spread = torch.stack(last).std(0, correction=0).norm(dim=1, keepdim=True)
        look_up, above, state, flow = nearby(*near, _NEAR), double(state), states[1], halves[-1]
        full = []
        for i in range(fine_updates):
            state, flow = self._updated(self.fine, look_up, state, contexts[1], flow, above)
            if self.training or i + 1 == fine_updates:
                full.append(self.fine.head.enlarged(flow, state))
        return halves, full, 8 * double(double(double(spread)))

    @staticmethod
    def _updated(
        stage: nn.Module,
        look_up: LookUp,
        state: Tensor,
        context: Tensor,
        flow: Tensor,
        *more: Tensor,
    ) -> tuple[Tensor, Tensor]:
        flow = flow.detach()
        state, change = stage(state, context, look_up(pixels(flow) + flow), flow, *more)
        return state, flow + change.float()

    def encoded(
        self, first: Tensor, second: Tensor
    ) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor], list[Tensor], list[Tensor]]:
        """Features at 1/4 and 1/8 of both pictures; hidden states and contexts at 1/8 and 1/4."""
        near, far = self.features(2 * torch.cat([first, second]) - 1)
        found = [context(2 * first - 1) for context in self.contexts]
        states, contexts = [], []
        for i, hidden in ((1, _COARSE), (0, _FINE)):
            one = torch.stack([each[i] for each in found], 1).flatten(0, 1)
            states.append(torch.tanh(one[:, :hidden]))
            contexts.append(one[:, hidden:])
        a, b = near.chunk(2)
        c, d = far.chunk(2)
        return (a, b), (c, d), states, contexts


def layers_from_flow(flow: dict[str, Tensor], layers: int) -> dict[str, Tensor]:
    """Weights of a network of several layers that starts where one of a single layer ended."""
    found = {name: values for name, values in flow.items() if not name.startswith("contexts.")}
    for name, values in flow.items():
        if name.startswith("contexts.0."):
            for i in range(layers):
                found[f"contexts.{i}.{name.removeprefix('contexts.0.')}"] = values
    return found
