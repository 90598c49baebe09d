"""Parts that the networks share: encoders, recurrent cells, motion encoders, upsampling."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # PyTorch's usual name


def conv(inside: int, outside: int, size: int = 3, stride: int = 1) -> nn.Conv2d:
    """A convolution that keeps the size, or divides it by its stride."""
    return nn.Conv2d(inside, outside, size, stride, size // 2)


class Residual(nn.Module):
    """Two convolutions with instance normalisation, added to what came in."""

    def __init__(self, inside: int, outside: int, stride: int = 1) -> None:
        super().__init__()
        self.first = conv(inside, outside, 3, stride)
        self.second = conv(outside, outside)
        self.norms = nn.ModuleList(nn.InstanceNorm2d(outside, affine=True) for _ in range(2))
        same = inside == outside and stride == 1
        self.skip = nn.Identity() if same else conv(inside, outside, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Same size, or divided by the stride."""
        y = F.relu(self.norms[0](self.first(x)))
        y = self.norms[1](self.second(y))
        return F.relu(self.skip(x) + y)


class Encoder(nn.Module):
    """Features of a picture at 1/4 and coarser scales, each with a head of its own.

    Finer scales also see what the coarser ones found.
    """

    def __init__(self, widths: tuple[int, ...], heads: tuple[int, ...]) -> None:
        """Widths of the stages at 1/2, 1/4, 1/8 ...; channels of the heads from 1/4 on."""
        super().__init__()
        self.stem = conv(3, widths[0], 7, 2)
        self.norm = nn.InstanceNorm2d(widths[0], affine=True)
        self.start = Residual(widths[0], widths[0])
        self.stages = nn.ModuleList(
            nn.Sequential(Residual(a, b, 2), *([Residual(b, b)] if b < widths[-1] else []))
            for a, b in pairwise(widths)
        )
        self.down = nn.ModuleList(conv(b, a, 1) for a, b in pairwise(widths[1:]))
        self.heads = nn.ModuleList(
            nn.Sequential(conv(w, w), nn.ReLU(), conv(w, h, 1))
            for w, h in zip(widths[1:], heads, strict=False)
        )

    def forward(self, picture: Tensor) -> list[Tensor]:
        """Head values from 1/4 on; the picture's sides are multiples of the coarsest scale."""
        x = self.start(F.relu(self.norm(self.stem(picture))))
        found = []
        for stage in self.stages:
            x = stage(x)
            found.append(x)
        for i in range(len(self.down) - 1, -1, -1):
            found[i] = found[i] + double(self.down[i](found[i + 1]))
        return [head(x) for head, x in zip(self.heads, found, strict=False)]


def double(x: Tensor) -> Tensor:
    """Twice as wide and high, bilinear."""
    return F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)


def halve(x: Tensor) -> Tensor:
    """Half as wide and high, by averaging."""
    return F.avg_pool2d(x, 2)


class Cell(nn.Module):
    """A convolutional gated recurrent unit; the context enters as three biases (z, r, q)."""

    def __init__(self, hidden: int, inside: int) -> None:
        super().__init__()
        self.gates = conv(hidden + inside, 2 * hidden)
        self.candidate = conv(hidden + inside, hidden)

    def forward(self, h: Tensor, context: Tensor, *inside: Tensor) -> Tensor:
        """The next hidden state."""
        x = torch.cat(inside, 1)
        for_z, for_r, for_q = context.chunk(3, 1)
        z, r = self.gates(torch.cat([h, x], 1)).chunk(2, 1)
        z, r = torch.sigmoid(z + for_z), torch.sigmoid(r + for_r)
        q = torch.tanh(self.candidate(torch.cat([r * h, x], 1)) + for_q)
        return (1 - z) * h + z * q


class MotionEncoder(nn.Module):
    """What the correlations around the current match, and the match itself, say."""

    def __init__(self, looked_up: int, components: int, outside: int) -> None:
        super().__init__()
        self.of_correlation = nn.Sequential(
            conv(looked_up, outside, 1), nn.ReLU(), conv(outside, outside)
        )
        self.of_motion = nn.Sequential(conv(components, 32, 7), nn.ReLU(), conv(32, 32))
        self.both = conv(outside + 32, outside - components)

    def forward(self, looked_up: Tensor, motion: Tensor) -> Tensor:
        """Features, with the motion itself as their last channels."""
        c = F.relu(self.of_correlation(looked_up))
        m = F.relu(self.of_motion(motion))
        return torch.cat([F.relu(self.both(torch.cat([c, m], 1))), motion], 1)


class Head(nn.Module):
    """The next change of the motion, and the weights of upsampling it."""

    FUSED = ("enlarged",)

    def __init__(self, hidden: int, components: int, factor: int, inside: int = 96) -> None:
        super().__init__()
        self._factor = factor
        self.change = nn.Sequential(conv(hidden, inside), nn.ReLU(), conv(inside, components))
        self.weights = nn.Sequential(
            conv(hidden, inside), nn.ReLU(), conv(inside, 9 * factor**2, 1)
        )

    def enlarged(self, motion: Tensor, state: Tensor) -> Tensor:
        """The motion in px of the finer scale."""
        return enlarge(motion, self.weights(state), self._factor)


def enlarge(motion: Tensor, weights: Tensor, factor: int) -> Tensor:
    """Convex upsampling: each fine value is a weighted mean of its 3x3 coarse neighbours.

    Args:
        motion: (B, C, H, W) in px of its own scale.
        weights: (B, 9 f^2, H, W), before the softmax over the nine neighbours.
        factor: f.

    Returns:
        (B, C, f H, f W) in px of the finer scale.
    """
    batch, channels, height, width = motion.shape
    shares = torch.softmax(weights.float().view(batch, 1, 9, factor, factor, height, width), 2)
    around = F.pad(factor * motion.float(), (1, 1, 1, 1), mode="replicate")
    near = torch.stack(
        [around[:, :, i : i + height, j : j + width] for i in range(3) for j in range(3)], 2
    )
    fine = (shares * near.view(batch, channels, 9, 1, 1, height, width)).sum(2)
    fine = fine.permute(0, 1, 4, 2, 5, 3)
    return fine.reshape(batch, channels, factor * height, factor * width)
