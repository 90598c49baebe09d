"""Losses over all estimates of a sequence, later ones counting more, and errors to report."""

from __future__ import annotations

import torch
from torch import Tensor

_FARTHEST_PX = 400.0
"""Larger motions are not learned from."""
_DECAY = 0.85
"""Weight of an estimate relative to the next one."""


def sequence_loss(estimates: list[Tensor], truth: Tensor) -> Tensor:
    """Weighted mean absolute error of estimates (B, C, H, W), in their px."""
    known = (truth.abs().amax(1, keepdim=True) < _FARTHEST_PX).float()
    share = known.mean().clamp(min=1e-6)
    wanted = torch.nan_to_num(truth, 0.0, 0.0, 0.0)
    total = truth.new_zeros(())
    for i, estimate in enumerate(estimates):
        error = ((estimate.float() - wanted).abs() * known).mean() / share
        total = total + _DECAY ** (len(estimates) - 1 - i) * error
    return total


def errors(estimate: Tensor, truth: Tensor) -> dict[str, float]:
    """Mean length of the error in px, and the shares above 1 and 2 px, in percent."""
    known = truth.abs().amax(1) < _FARTHEST_PX
    length = (estimate.float() - truth).norm(dim=1)[known]
    return {
        "epe_px": float(length.mean()),
        "bad1": 100 * float((length > 1).float().mean()),
        "bad2": 100 * float((length > 2).float().mean()),
    }
