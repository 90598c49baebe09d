"""Networks on whole pictures: at once, or in tiles and from coarse to fine where they must be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # PyTorch's usual name

from depthgauge.methods.nets._tensors import read_tensors
from depthgauge.methods.nets._torch.flow_net import FlowNet
from depthgauge.methods.nets._torch.stereo_net import StereoNet
from depthgauge.methods.nets._torch.training.checkpoint import load_weights

Floats = NDArray[np.float32]

_LEARNED_DISPARITY_PX = 170.0
"""Up to here, disparities were learned; larger ones are found at a smaller scale first."""
_SURELY_LEARNED_PX = 0.9 * _LEARNED_DISPARITY_PX
_BEYOND = 1e-3
"""Where a smaller share of the pixels is beyond what was learned, the guide is not followed."""
_LARGER = 1.5
"""Factor on the pictures' sides for a third estimate; chosen on synthetic pairs."""
_DISAGREE_PX = 0.5
"""Where the mean of three estimates is farther from their median, one of them is far off."""
_MOST_TILES = 4
"""Pictures are not enlarged beyond this number of tiles, which would be narrow strips."""
_MULTIPLE = 32
"""Sides at each scale; a multiple of what the networks need."""
_MARGIN_PX = 64
"""Seen around a tile, and not used."""


@dataclass(frozen=True, slots=True)
class Found:
    """Estimates (layers, components, H, W), and the spread of the last updates (layers, H, W)."""

    motion: Floats
    spread_px: Floats


@dataclass(frozen=True, slots=True)
class Runner:
    """A network on a device, and how much it is shown at once."""

    net: nn.Module
    device: str
    updates: int
    at_once_px: int

    @torch.inference_mode()
    def stereo(
        self, left: Floats, right: Floats, largest_px: float, *, averaged: bool = False
    ) -> Found:
        """Disparity of pictures (H, W, 3) from 0 to 1.

        Args:
            left: The picture whose pixels get a disparity.
            right: The other one.
            largest_px: The largest disparity that may occur.
            averaged: Combine with estimates upside down, one of them of larger pictures.
        """
        first, second = self._tensor(left), self._tensor(right)
        found = [self._stereo(first, second, largest_px)]
        if averaged:
            found += self._upside_down(first, second, largest_px)
        return _found(*_combined(found))

    @torch.inference_mode()
    def flow(self, one: Floats, other: Floats, *, averaged: bool = False) -> Found:
        """Flow, or flows of all layers, from the first picture (H, W, 3) to the second.

        Args:
            one: The picture whose pixels get a flow.
            other: The other one.
            averaged: Combine with estimates upside down and mirrored; for one layer only.
        """
        first, second = self._tensor(one), self._tensor(other)
        found = [self._flow(first, second)]
        if averaged:
            found += (self._turned_flow(first, second, axis) for axis in (2, 3))
        return _found(*_combined(found))

    def _tensor(self, picture: Floats) -> Tensor:
        values = torch.from_numpy(np.ascontiguousarray(picture.transpose(2, 0, 1)))[None]
        return values.to(self.device)

    def _stereo(self, first: Tensor, second: Tensor, largest_px: float) -> tuple[Tensor, Tensor]:
        """Disparity and spread; half the size is the guide where disparities may be too large.

        A network that starts from a guide misses what the guide misses, so a start from 0 is tried
        as well, and each pixel gets the estimate that is closer to the guide.
        """
        motion, spread = self._in_parts(first, second, None)
        if largest_px <= _LEARNED_DISPARITY_PX or min(first.shape[2:]) < 4 * _MULTIPLE:
            return motion, spread
        coarse = self._stereo(_half(first), _half(second), largest_px / 2)
        guide, wider = (_doubled(each, first.shape[2:]) for each in coarse)
        if (guide > _SURELY_LEARNED_PX).float().mean() < _BEYOND:
            return motion, spread
        led, led_spread = self._in_parts(first, second, guide)
        closer = (led - guide).abs() < (motion - guide).abs()
        spread = torch.where(closer, led_spread, spread)
        return torch.where(closer, led, motion), torch.maximum(spread, 0.5 * wider)

    def _upside_down(
        self, first: Tensor, second: Tensor, largest_px: float
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Disparity and spread by pictures upside down; also enlarged unless that is too large.

        Their errors are not those of the pictures as they are, and thin things are wider.
        """
        yield self._turned(first, second, largest_px, 1.0)
        height, width = first.shape[2:]
        fits = _LARGER**2 * height * width <= _MOST_TILES * self.at_once_px
        if fits and _LARGER * largest_px <= _LEARNED_DISPARITY_PX:
            yield self._turned(first, second, largest_px, _LARGER)

    def _turned(
        self, first: Tensor, second: Tensor, largest_px: float, factor: float
    ) -> tuple[Tensor, Tensor]:
        height, width = first.shape[2:]
        size = (round(factor * height), round(factor * width))
        one, other = (
            F.interpolate(p.flip(2), size=size, mode="bicubic").clamp(0, 1) for p in (first, second)
        )
        found = self._stereo(one, other, factor * largest_px)
        again, wide = (
            F.interpolate(each, size=(height, width), mode="bilinear").flip(2) * (width / size[1])
            for each in found
        )
        return again, wide

    def _flow(self, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
        """Flow and spread; tiles start from half the size, which knows where they moved."""
        height, width = first.shape[2:]
        if height * width <= self.at_once_px or min(height, width) < 4 * _MULTIPLE:
            return self._whole(first, second, None)
        coarse = self._flow(_half(first), _half(second))
        guide, wider = (_doubled(each, first.shape[2:]) for each in coarse)
        motion, spread = self._in_parts(first, second, guide)
        return motion, torch.maximum(spread, 0.5 * wider)

    def _turned_flow(self, first: Tensor, second: Tensor, axis: int) -> tuple[Tensor, Tensor]:
        """Flow and spread by pictures upside down (axis 2) or mirrored (axis 3)."""
        motion, spread = (f.flip(axis) for f in self._flow(first.flip(axis), second.flip(axis)))
        signs = motion.new_tensor([1, -1] if axis == 2 else [-1, 1])
        return motion * signs[:, None, None], spread

    def _in_parts(
        self, first: Tensor, second: Tensor, start: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """At once, or tile by tile where pictures are large.

        The second picture's tile follows the motion that is known. Disparities need whole rows,
        since they may differ by more than a tile is wide.
        """
        size = first.shape[2:]
        if size[0] * size[1] <= self.at_once_px:
            return self._whole(first, second, start)
        motion = spread = torch.empty(0)
        for inner, outer in _tiles(size, self.at_once_px, isinstance(self.net, StereoNet)):
            rows, columns = outer
            found, again = self._tile(first, second, start, rows, columns)
            if not motion.numel():
                motion, spread = (each.new_empty(*each.shape[:2], *size) for each in (found, again))
            here = (
                ...,
                slice(inner[0].start - rows.start, inner[0].stop - rows.start),
                slice(inner[1].start - columns.start, inner[1].stop - columns.start),
            )
            motion[..., inner[0], inner[1]] = found[here]
            spread[..., inner[0], inner[1]] = again[here]
        return motion, spread

    def _tile(
        self, first: Tensor, second: Tensor, start: Tensor | None, rows: slice, columns: slice
    ) -> tuple[Tensor, Tensor]:
        one = first[..., rows, columns]
        if start is None:
            return self._whole(one, second[..., rows, columns], None)
        known = start[..., rows, columns]
        shift, offset = _common(known)
        motion, spread = self._whole(one, _cut(second, rows, columns, shift), known - offset)
        return motion + offset, spread

    def _whole(self, first: Tensor, second: Tensor, start: Tensor | None) -> tuple[Tensor, Tensor]:
        """One pass; sides are extended to multiples by their border pixels."""
        updates = self.updates
        height, width = first.shape[2:]
        down, right = -height % _MULTIPLE, -width % _MULTIPLE
        one, other = (F.pad(p, (0, right, 0, down), mode="replicate") for p in (first, second))
        with torch.autocast("cuda", torch.float16, enabled=self.device.startswith("cuda")):
            if isinstance(self.net, StereoNet):
                estimates, spread = self.net(one, other, updates, _shrunk(start, right, down, 4))
            else:
                _, estimates, spread = self.net(
                    one, other, updates, max(1, updates // 2), _shrunk(start, right, down, 8)
                )
        return estimates[-1][..., :height, :width], spread[..., :height, :width].float()


def _combined(found: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """One motion and spread of up to three: the mean, or the median where one is far off.

    At edges a mean of foreground and background would be neither.
    """
    if len(found) == 1:
        return found[0]
    motions, spreads = (torch.stack(parts) for parts in zip(*found, strict=True))
    mean = motions.mean(0)
    apart = motions.var(0, correction=0).sum(1, keepdim=True)
    spread = torch.sqrt((spreads**2).mean(0) + apart)
    if len(found) == 2:
        return mean, spread
    median = motions.median(0).values
    far = (mean - median).norm(dim=1, keepdim=True) > _DISAGREE_PX
    return torch.where(far, median, mean), spread


def _shrunk(start: Tensor | None, right: int, down: int, factor: int) -> Tensor | None:
    """A first estimate in px of a coarser scale."""
    if start is None:
        return None
    return F.avg_pool2d(F.pad(start, (0, right, 0, down), mode="replicate"), factor) / factor


def _half(picture: Tensor) -> Tensor:
    """Half as wide and high; an odd side is extended by its border."""
    odd = (0, picture.shape[3] % 2, 0, picture.shape[2] % 2)
    return F.interpolate(F.pad(picture, odd, mode="replicate"), scale_factor=0.5, mode="area")


def _doubled(coarse: Tensor, size: torch.Size) -> Tensor:
    """Values in px of half the size at the full size."""
    wide = F.interpolate(coarse, scale_factor=2, mode="bilinear")
    return 2 * wide[..., : size[0], : size[1]]


def _common(known: Tensor) -> tuple[list[int], Tensor]:
    """A whole-numbered shift of the second picture, and the motion (C, 1, 1) that it stands for.

    What is left of a disparity is never negative, as in training.
    """
    if known.shape[1] == 2:
        shift = known.mean(0).flatten(1).median(1).values.round().long().tolist()
        return shift, known.new_tensor(shift)[:, None, None]
    least = max(0, int(known.min()) - 2)
    return [-least, 0], known.new_full((1, 1, 1), least)


def _tiles(
    size: torch.Size, at_once_px: int, whole_rows: bool
) -> Iterator[tuple[tuple[slice, slice], tuple[slice, slice]]]:
    """Tiles that cover a picture: what is used of each, and what is seen."""
    height, width = size
    side = int(at_once_px / width if whole_rows else at_once_px**0.5)
    tall = max(4 * _MARGIN_PX, side) - 2 * _MARGIN_PX
    wide = width if whole_rows else tall
    for top in range(0, height, tall):
        for left in range(0, width, wide):
            inner = (slice(top, min(top + tall, height)), slice(left, min(left + wide, width)))
            yield (
                inner,
                (
                    slice(max(0, top - _MARGIN_PX), min(height, inner[0].stop + _MARGIN_PX)),
                    slice(max(0, left - _MARGIN_PX), min(width, inner[1].stop + _MARGIN_PX)),
                ),
            )


def _cut(picture: Tensor, rows: slice, columns: slice, shift: list[int]) -> Tensor:
    """A tile of a picture at a place that may reach beyond it: border pixels are repeated."""
    height, width = picture.shape[2:]
    y = torch.arange(rows.start, rows.stop, device=picture.device) + shift[1]
    x = torch.arange(columns.start, columns.stop, device=picture.device) + shift[0]
    return picture[:, :, y.clamp(0, height - 1)][..., x.clamp(0, width - 1)]


def _found(motion: Tensor, spread: Tensor) -> Found:
    return Found(motion.float().cpu().numpy(), spread[:, 0].cpu().numpy())


@lru_cache(maxsize=3)
def network(kind: str, path: Path, device: str) -> Any:
    """A network of a kind (stereo, flow, layers) with the weights of a file, ready to be used."""
    tensors, _ = read_tensors(path)
    net: nn.Module
    if kind == "stereo":
        net = StereoNet()
    else:
        layers = sum(name.endswith(".stem.weight") for name in tensors) - 1
        net = FlowNet(layers)
    load_weights(net, tensors)
    return net.to(device, memory_format=torch.channels_last).eval()


def device_of(wanted: str) -> str:
    """The device that is wanted; `auto`: a GPU if there is one."""
    if wanted != "auto":
        return wanted
    return "cuda" if torch.cuda.is_available() else "cpu"
