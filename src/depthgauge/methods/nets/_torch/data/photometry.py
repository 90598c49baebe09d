"""What cameras do to pictures: exposure, colour, uneven light, blur, noise, dust, rounding."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # PyTorch's usual name

from depthgauge.methods.nets._torch.data.draw import Draw


def photographed(draw: Draw, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """Both pictures (B, 3, H, W) as two exposures, mostly alike."""
    batch = first.shape[0]
    grey = draw.chance(0.1, batch, 1, 1, 1)
    first, second = (torch.where(grey, p.mean(1, keepdim=True), p) for p in (first, second))
    gain = draw.normal(0.15, batch, 3, 1, 1) * 0.4 + draw.normal(0.2, batch, 1, 1, 1)
    gamma = draw.normal(0.15, batch, 1, 1, 1)
    alike = torch.where(draw.chance(0.5, batch, 1, 1, 1), 0.15, 1.0)
    seen = []
    for picture in (first, second):
        own = draw.normal(0.03, batch, 3, 1, 1) + draw.normal(0.08, batch, 1, 1, 1)
        exponent = torch.exp(gamma + alike * draw.normal(0.08, batch, 1, 1, 1))
        bright = picture.clamp(1e-4, 1) ** exponent * torch.exp(gain + alike * own)
        bright = bright + alike * draw.normal(0.02, batch, 1, 1, 1)
        bright = bright * (1 + alike * _uneven(draw, picture))
        blurred = _blurred(draw, bright)
        noise = draw.magnitude(0.001, 0.03, batch, 1, 1, 1) * draw.normal(1, *picture.shape)
        seen.append(torch.round(255 * (blurred + noise).clamp(0, 1)) / 255)
    return seen[0], _dusty(draw, seen[1])


def _uneven(draw: Draw, like: Tensor) -> Tensor:
    """A smooth field around 0, (B, 1, H, W)."""
    coarse = draw.normal(0.06, like.shape[0], 1, 3, 4)
    return F.interpolate(coarse, size=like.shape[-2:], mode="bicubic", align_corners=False)


def _blurred(draw: Draw, picture: Tensor) -> Tensor:
    """Half of the pictures are blurred, by up to a px or so."""
    batch = picture.shape[0]
    sigma = draw.uniform(0.05, 1.0, batch, 1) * draw.chance(0.5, batch, 1) + 0.05
    offsets = torch.arange(-2, 3, device=picture.device)
    kernel = torch.exp(-0.5 * (offsets / sigma) ** 2)
    kernel = (kernel / kernel.sum(1, keepdim=True)).repeat_interleave(3, 0)
    flat = F.pad(picture.flatten(0, 1)[None], (2, 2, 2, 2), mode="replicate")
    flat = F.conv2d(flat, kernel[:, None, None, :], groups=3 * batch)
    flat = F.conv2d(flat, kernel[:, None, :, None], groups=3 * batch)
    return flat[0].unflatten(0, (batch, 3))


def _dusty(draw: Draw, picture: Tensor) -> Tensor:
    """Some pictures have rectangles of one colour, which match nothing."""
    batch, _, height, width = picture.shape
    y = torch.arange(height, device=picture.device)[None, :, None]
    x = torch.arange(width, device=picture.device)[None, None, :]
    for _ in range(2):
        top, left = draw.uniform(0, height, batch, 1, 1), draw.uniform(0, width, batch, 1, 1)
        tall, wide = (
            draw.uniform(8, height / 4, batch, 1, 1),
            draw.uniform(8, width / 5, batch, 1, 1),
        )
        here = (y >= top) & (y < top + tall) & (x >= left) & (x < left + wide)
        here = here & draw.chance(0.15, batch, 1, 1)
        picture = torch.where(here[:, None], draw.uniform(0, 1, batch, 3, 1, 1), picture)
    return picture
