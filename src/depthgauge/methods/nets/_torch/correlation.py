"""Correlations of features, looked up around the current match with bilinear interpolation.

All offsets of a window share the fraction of a pixel, so a window of 2r + 1 values is made of
2r + 2 whole-numbered ones. Outside the other picture, correlations are 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # PyTorch's usual name

LookUp = Callable[[Tensor], Tensor]
"""From the current match (x, or x and y, in px of the scale) to the correlations around it."""
LARGEST_VOLUME = 2**27
"""Correlations of all pairs are kept up to this number, and otherwise computed when looked up."""
_BLOCK = 32
"""Columns that are multiplied with all around them at once."""


def along_rows(first: Tensor, second: Tensor, levels: int, radius: int) -> LookUp:
    """Correlations with all pixels of the same row, at several scales of the other row.

    Args:
        first: (B, C, H, W).
        second: The same of the other picture.
        levels: Number of scales; each halves the one before.
        radius: Of the window at each scale.
    """
    scale = 1 / math.sqrt(first.shape[1])
    volume = torch.einsum("bchw,bchv->bhwv", first.float() * scale, second.float())
    return rows_of(volume, levels, radius)


def rows_of(volume: Tensor, levels: int, radius: int) -> LookUp:
    """Looks up in a volume (B, H, W, W) of correlations along rows."""
    margin = 2 * radius + 2
    pyramid = []
    for level in range(levels):
        pyramid.append((F.pad(volume, (margin, margin)), volume.shape[-1]))
        if level + 1 < levels:
            volume = F.avg_pool1d(volume.flatten(0, 1), 2, ceil_mode=True).unflatten(
                0, volume.shape[:2]
            )
    taps = torch.arange(-radius, radius + 2, device=volume.device)

    def look_up(x: Tensor) -> Tensor:
        """X is (B, 1, H, W): the column of the other picture that each pixel matches."""
        found = []
        for level, (padded, width) in enumerate(pyramid):
            at = _at_level(x[:, 0].float(), level).clamp(-radius - 1, width + radius)
            whole = torch.floor(at)
            part = (at - whole)[..., None]
            values = torch.gather(padded, 3, whole.long()[..., None] + taps + margin)
            found.append((1 - part) * values[..., :-1] + part * values[..., 1:])
        return torch.cat(found, -1).permute(0, 3, 1, 2)

    return look_up


def all_pairs(first: Tensor, second: Tensor, levels: int, radius: int) -> LookUp:
    """Correlations with all pixels of the other picture, at several of its scales.

    They are kept if they are few enough, else computed on demand; the values are the same. A
    look-up may have several matches per pair, one after the other, as for layers.
    """
    pairs = first.shape[0] * (first.shape[2] * first.shape[3]) ** 2
    if pairs <= LARGEST_VOLUME:
        return _kept(first, second, levels, radius)
    return on_demand(first, second, levels, radius)


def _at_level(x: Tensor, level: int) -> Tensor:
    """A coordinate at a coarser level: pixels of level l are means of 2^l, centres are whole."""
    return (x + 0.5) / 2**level - 0.5


def _pooled(features: Tensor, levels: int) -> list[Tensor]:
    found = [features]
    for _ in range(levels - 1):
        found.append(F.avg_pool2d(found[-1], 2, ceil_mode=True))
    return found


def _kept(first: Tensor, second: Tensor, levels: int, radius: int) -> LookUp:
    batch, channels, height, width = first.shape
    scale = 1 / math.sqrt(channels)
    margin = 2 * radius + 2
    volumes = []
    flat = first.float().flatten(2) * scale
    for other in _pooled(second.float(), levels):
        volume = torch.einsum("bcn,bcij->bnij", flat, other)
        volumes.append((F.pad(volume, (margin,) * 4), other.shape[-2:]))

    def look_up(match: Tensor) -> Tensor:
        found = []
        for level, (padded, size) in enumerate(volumes):
            index, across, down = _window(match, level, size, radius, padded.shape[-1])
            # Several matches per pair, of layers, are looked up like more taps of one.
            several = index.unflatten(0, (batch, -1)).transpose(1, 2)
            values = torch.gather(padded.flatten(2), 2, several.flatten(2))
            values = values.view(several.shape).transpose(1, 2).flatten(0, 1)
            found.append(_interpolated(values, across, down, radius))
        return torch.cat(found, -1).unflatten(1, (height, width)).permute(0, 3, 1, 2)

    return look_up


def on_demand(
    first: Tensor, second: Tensor, levels: int, radius: int, at_once: int = 2048
) -> LookUp:
    """Like `all_pairs`, but computes only the correlations that are looked up."""
    batch, channels, height, width = first.shape
    scale = 1 / math.sqrt(channels)
    margin = 2 * radius + 2
    others = [
        (F.pad(other, (margin,) * 4), other.shape[-2:]) for other in _pooled(second.float(), levels)
    ]
    flat = (first.float() * scale).flatten(2).transpose(1, 2)

    def of_level(match: Tensor, level: int) -> Tensor:
        padded, size = others[level]
        index, across, down = _window(match, level, size, radius, padded.shape[-1])
        columns = padded.flatten(2).transpose(1, 2)
        rows = []
        for b, indices in enumerate(index):
            one, other = flat[b * batch // len(index)], columns[b * batch // len(index)]
            parts = [
                torch.einsum("ntc,nc->nt", other[indices[i : i + at_once]], one[i : i + at_once])
                for i in range(0, height * width, at_once)
            ]
            rows.append(torch.cat(parts))
        return _interpolated(torch.stack(rows), across, down, radius)

    def look_up(match: Tensor) -> Tensor:
        found = torch.cat([of_level(match, level) for level in range(levels)], -1)
        return found.unflatten(1, (height, width)).permute(0, 3, 1, 2)

    return look_up


def _window(
    match: Tensor, level: int, size: torch.Size, radius: int, stride: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Indices (B, N, (2r + 2)^2) into a padded map, and the fractions of x and y."""
    margin = 2 * radius + 2
    taps = torch.arange(-radius, radius + 2, device=match.device)
    flat = match.float().flatten(2)
    x = _at_level(flat[:, 0], level).clamp(-radius - 1, size[1] + radius)
    y = _at_level(flat[:, 1], level).clamp(-radius - 1, size[0] + radius)
    left, top = torch.floor(x), torch.floor(y)
    columns = left.long()[..., None] + taps + margin
    rows = top.long()[..., None] + taps + margin
    index = (rows[..., :, None] * stride + columns[..., None, :]).flatten(2)
    return index, (x - left)[..., None, None], (y - top)[..., None, None]


def _interpolated(values: Tensor, across: Tensor, down: Tensor, radius: int) -> Tensor:
    """(B, N, (2r + 1)^2) from whole-numbered offsets."""
    grid = values.unflatten(2, (2 * radius + 2,) * 2)
    grid = (1 - down) * grid[:, :, :-1] + down * grid[:, :, 1:]
    grid = (1 - across) * grid[..., :-1] + across * grid[..., 1:]
    return grid.flatten(2)


def nearby(first: Tensor, second: Tensor, radius: int) -> LookUp:
    """Correlations with a small window around the match, after warping the other features to it.

    Rows are multiplied block by block, as matrices: of the products of all columns of a block with
    all around it, those within the window are a band beside the diagonal.
    """
    channels, height, width = first.shape[1:]
    beyond, starts = -width % _BLOCK, range(0, width, _BLOCK)
    near = F.pad(first.float() / math.sqrt(channels), (0, beyond))
    near = near.unflatten(3, (len(starts), _BLOCK)).permute(0, 2, 3, 4, 1)

    def look_up(match: Tensor) -> Tensor:
        several = match.shape[0] // first.shape[0]
        moved = warp(_repeated(second.float(), several), match)
        moved = F.pad(moved, (radius, radius + beyond, radius, radius))
        blocks = [moved[..., start : start + _BLOCK + 2 * radius] for start in starts]
        around = torch.stack(blocks, 3).permute(0, 2, 3, 1, 4)
        own = _repeated(near, several)
        rows = [_band(own @ around[:, i : i + height]) for i in range(2 * radius + 1)]
        found = torch.stack(rows, -2).flatten(-2)
        return found.flatten(2, 3)[:, :, :width].permute(0, 3, 1, 2)

    return look_up


def _band(products: Tensor) -> Tensor:
    """The values (..., n, 1 + m) beside the diagonal of matrices (..., n, n + m)."""
    columns, more = products.shape[-2], products.shape[-1] - products.shape[-2]
    flat = F.pad(products.flatten(-2), (0, columns))
    return flat.unflatten(-1, (columns, columns + more + 1))[..., : more + 1]


def _repeated(values: Tensor, times: int) -> Tensor:
    return values if times == 1 else values.repeat_interleave(times, 0)


def warp(values: Tensor, match: Tensor) -> Tensor:
    """Values (B, C, H, W) of the other picture at the matches (B, 2, h, w), 0 outside."""
    height, width = values.shape[-2:]
    x, y = match.float().unbind(1)
    grid = torch.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], -1)
    return F.grid_sample(values, grid.to(values.dtype), align_corners=False)


def pixels(like: Tensor) -> Tensor:
    """The coordinates (1, 2, H, W) of the pixels of a map: x, then y."""
    height, width = like.shape[-2:]
    y, x = torch.meshgrid(
        torch.arange(height, device=like.device, dtype=torch.float32),
        torch.arange(width, device=like.device, dtype=torch.float32),
        indexing="ij",
    )
    return torch.stack([x, y])[None]
