"""Random numbers of one generator, on one device."""

from __future__ import annotations

import math

import torch
from torch import Tensor


class Draw:
    """Draws from one generator, so that a seed fixes everything on a kind of device."""

    def __init__(self, seed: int, device: str | torch.device = "cpu") -> None:
        self.device = torch.device(device)
        self.generator = torch.Generator(self.device).manual_seed(seed)

    def uniform(self, low: float, high: float, *shape: int) -> Tensor:
        """Evenly from `low` to `high`."""
        drawn = torch.rand(shape, generator=self.generator, device=self.device)
        return low + (high - low) * drawn

    def normal(self, sigma: float, *shape: int) -> Tensor:
        """Normal, around 0."""
        return sigma * torch.randn(shape, generator=self.generator, device=self.device)

    def magnitude(self, low: float, high: float, *shape: int) -> Tensor:
        """Evenly in the logarithm."""
        return torch.exp(self.uniform(math.log(low), math.log(high), *shape))

    def chance(self, share: float, *shape: int) -> Tensor:
        """True with this probability."""
        return self.uniform(0, 1, *shape) < share

    def whole(self, count: int, *shape: int) -> Tensor:
        """Whole numbers from 0 to count - 1."""
        return torch.randint(count, shape, generator=self.generator, device=self.device)
