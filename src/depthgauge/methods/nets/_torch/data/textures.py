"""Textures that tile: noise of many spectra, dead leaves, gratings, and mixtures of them."""

from __future__ import annotations

import torch
from torch import Tensor

from depthgauge.methods.nets._torch.data.draw import Draw

_AT_ONCE = 16


def make_textures(draw: Draw, count: int, size: int, leaves: int = 120) -> Tensor:
    """Textures (count, size, size, 4): red, green, blue and a soft pattern, all from 0 to 1.

    Args:
        draw: Random numbers.
        count: Number of textures.
        size: Width and height; textures repeat beyond it.
        leaves: Number of leaves of a texture of dead leaves.
    """
    parts = []
    for first in range(0, count, _AT_ONCE):
        n = min(_AT_ONCE, count - first)
        kinds = torch.stack(
            [
                _coloured(draw, _noise(draw, n, size, 0.6, 1.4)),
                _dead_leaves(draw, n, size, leaves),
                _coloured(draw, _grating(draw, n, size)),
                _coloured(draw, _noise(draw, n, size, 1.4, 2.6)),
            ]
        )
        shares = torch.softmax(draw.normal(3.0, len(kinds), n, 1, 1, 1), 0)
        mixed = (shares * kinds).sum(0)
        mean = mixed.mean((-1, -2), keepdim=True)
        contrast = draw.magnitude(0.15, 1.6, n, 1, 1, 1)
        colour = draw.uniform(0.15, 0.85, n, 3, 1, 1)
        colour = torch.where(draw.chance(0.5, n, 1, 1, 1), colour, mean)
        mixed = colour + contrast * (mixed - mean)
        grey = mixed.mean(1, keepdim=True)
        mixed = grey + draw.uniform(0, 1, n, 1, 1, 1) * (mixed - grey)
        pattern = torch.sigmoid(3 * _noise(draw, n, size, 0.8, 2.0)[:, :1] - 1)
        parts.append(torch.cat([mixed.clamp(0, 1), pattern], 1))
    return torch.cat(parts).permute(0, 2, 3, 1).contiguous().to(torch.float16)


def _noise(draw: Draw, n: int, size: int, least: float, most: float) -> Tensor:
    """Noise whose amplitudes fall with a power of the frequency; 3 channels of variance 1."""
    x = torch.fft.fftfreq(size, device=draw.device) * size
    frequency = torch.hypot(x[:, None], x[None, : size // 2 + 1].abs()).clamp(min=1)
    power = draw.uniform(least, most, n, 1, 1, 1)
    spectrum = torch.fft.rfft2(draw.normal(1, n, 3, size, size)) * frequency ** (-power)
    values = torch.fft.irfft2(spectrum, s=(size, size))
    values = values - values.mean((-1, -2), keepdim=True)
    return values / values.std((-1, -2), keepdim=True).clamp(min=1e-6)


def _coloured(draw: Draw, values: Tensor) -> Tensor:
    """Channels mixed to colours, most of the variance in brightness."""
    n = values.shape[0]
    mix = 0.22 * torch.ones(n, 3, 1, device=values.device) + draw.normal(0.06, n, 3, 1)
    mix = torch.cat([mix, draw.normal(0.07, n, 3, 2)], -1)
    return 0.5 + torch.einsum("ncd,ndhw->nchw", mix, values)


def _grating(draw: Draw, n: int, size: int) -> Tensor:
    """Waves and their products: stripes, checks, dots; smooth or sharp."""
    line = torch.arange(size, device=draw.device) / size
    waves = []
    for _ in range(3):
        turns = torch.round(draw.normal(14, n, 2, 1, 1))
        phase = (
            turns[:, 0] * line[None, :] + turns[:, 1] * line[:, None] + draw.uniform(0, 1, n, 1, 1)
        )
        waves.append(torch.sin(2 * torch.pi * phase))
    checks = torch.where(draw.chance(0.5, n, 1, 1), waves[0] * waves[1], waves[0])
    sharpness = draw.magnitude(1, 30, n, 1, 1)
    return torch.stack([torch.tanh(sharpness * checks), waves[1], waves[2]], 1)


def _dead_leaves(draw: Draw, n: int, size: int, leaves: int) -> Tensor:
    """Discs, bars and rectangles of random colours over each other, sizes by a power law."""
    line = torch.arange(size, device=draw.device) / size
    picture = draw.uniform(0, 1, n, 3, 1, 1).expand(n, 3, size, size).contiguous()
    for _ in range(leaves):
        x = torch.remainder(line[None, None, :] - draw.uniform(0, 1, n, 1, 1) + 0.5, 1) - 0.5
        y = torch.remainder(line[None, :, None] - draw.uniform(0, 1, n, 1, 1) + 0.5, 1) - 0.5
        angle = draw.uniform(0, 2 * torch.pi, n, 1, 1)
        a = (x * torch.cos(angle) + y * torch.sin(angle)) / draw.magnitude(0.008, 0.25, n, 1, 1)
        b = (y * torch.cos(angle) - x * torch.sin(angle)) / draw.magnitude(0.008, 0.25, n, 1, 1)
        away = torch.where(
            draw.chance(0.5, n, 1, 1), torch.maximum(a.abs(), b.abs()), torch.hypot(a, b)
        )
        colour = draw.uniform(0, 1, n, 3, 1, 1) + draw.normal(0.15, n, 3, 1, 1) * a[:, None]
        picture = torch.where((away < 1)[:, None], colour, picture)
    return picture


def look_up(bank: Tensor, which: Tensor, at: Tensor) -> Tensor:
    """Bilinear values (B, 4, H, W) of textures at coordinates in texels; textures repeat.

    Args:
        bank: (K, S, S, 4).
        which: Number of the texture of each pixel, (B, H, W).
        at: (B, 2, H, W), x and y.
    """
    size = bank.shape[1]
    flat = bank.view(-1, 4)
    whole = torch.floor(at)
    part = at - whole
    left, top = torch.remainder(whole.long(), size).unbind(1)
    right, low = torch.remainder(left + 1, size), torch.remainder(top + 1, size)
    base = which * size * size
    x, y = part[:, 0, ..., None], part[:, 1, ..., None]
    above = flat[base + top * size + left] * (1 - x) + flat[base + top * size + right] * x
    below = flat[base + low * size + left] * (1 - x) + flat[base + low * size + right] * x
    return (above * (1 - y) + below * y).permute(0, 3, 1, 2)
