"""Batches of training pairs with their truth; what cameras do to them comes later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from depthgauge.methods.nets._torch.data.draw import Draw
from depthgauge.methods.nets._torch.data.layers import (
    draw_layers,
    make_alike,
    move_as_flow,
    move_as_stereo,
)
from depthgauge.methods.nets._torch.data.scene import Layers, Scene, truth, two_pictures

OBJECTS = 14
"""Opaque layers of a scene."""
STEREO_OBJECTS = 18
"""The same for stereo, where clutter in depth is what is hard."""
SMALL_MOTION_PX = 6.0
"""Largest typical motion where fractions of a px are to be learned."""


@dataclass(slots=True)
class Pairs:
    """Pictures (B, 3, H, W) from 0 to 1, motion (B, n, C, H, W) in px, layers (B, H, W)."""

    first: Tensor
    second: Tensor
    motion: Tensor
    number: Tensor


Maker = Callable[[Draw, Tensor, int, tuple[int, int]], Pairs]
"""From random numbers, the bank of textures, the number of pairs and their size to a batch."""


def stereo_pairs(draw: Draw, bank: Tensor, batch: int, size: tuple[int, int]) -> Pairs:
    """Rectified pairs with disparity (B, 1, 1, H, W), not quite rectified in a third of them."""
    planes, most_px = 3, min(170.0, 0.4 * size[1])
    opaque = draw_layers(draw, batch, STEREO_OBJECTS, size, len(bank), planes)
    make_alike(draw, opaque, size, planes)
    move_as_stereo(draw, opaque, size, most_px, planes)
    glass = draw_layers(draw, batch, 1, size, len(bank), 0)
    move_as_stereo(draw, glass, size, most_px, 0)
    _make_glass(draw, glass, 0.15, 0.4)
    skew = draw.normal(1, batch, 2) * torch.tensor([0.5, 0.7 / size[1]], device=draw.device)
    skew = torch.where(draw.chance(0.35, batch, 1), skew, 0.0)
    pairs = _seen(Scene(opaque, glass, size, True), bank, 1, skew)
    pairs.motion = -pairs.motion[:, :, :1]
    return pairs


def flow_pairs(draw: Draw, bank: Tensor, batch: int, size: tuple[int, int]) -> Pairs:
    """Pairs with the flow (B, 1, 2, H, W) of what is opaque; some have reflections."""
    return _flow_pairs(draw, bank, batch, size, 0.25 * size[1], 0.15 * size[1])


def small_flow_pairs(draw: Draw, bank: Tensor, batch: int, size: tuple[int, int]) -> Pairs:
    """The same with motion of a few px, to learn fractions of a px."""
    return _flow_pairs(draw, bank, batch, size, SMALL_MOTION_PX, SMALL_MOTION_PX)


def _flow_pairs(
    draw: Draw, bank: Tensor, batch: int, size: tuple[int, int], most_px: float, glass_px: float
) -> Pairs:
    opaque = draw_layers(draw, batch, OBJECTS, size, len(bank))
    move_as_flow(draw, opaque, size, most_px)
    glass = draw_layers(draw, batch, 1, size, len(bank), 0)
    move_as_flow(draw, glass, size, glass_px)
    _make_glass(draw, glass, 0.15, 1.0)
    glass.counts[:] = False
    return _seen(Scene(opaque, glass, size, False), bank, 1)


def layered_pairs(draw: Draw, bank: Tensor, batch: int, size: tuple[int, int]) -> Pairs:
    """Pairs with the flow (B, 4, 2, H, W) of up to three glass layers and what is behind them."""
    opaque = draw_layers(draw, batch, OBJECTS, size, len(bank))
    glass = draw_layers(draw, batch, 3, size, len(bank), 0)
    glass.half = 1.8 * glass.half.clamp(min=12)
    move_as_flow(draw, opaque, size, 0.2 * size[1])
    move_as_flow(draw, glass, size, 0.12 * size[1])
    _make_glass(draw, glass, 0.7, 0.0)
    glass.key = draw.uniform(0.3, 1.3, *glass.key.shape) * opaque.key.amax(1, keepdim=True)
    return _seen(Scene(opaque, glass, size, False), bank, 4)


def _seen(scene: Scene, bank: Tensor, most: int, skew: Tensor | None = None) -> Pairs:
    matches = scene.matches()
    pictures = two_pictures(scene, bank, matches, skew=skew)
    return Pairs(*pictures, *truth(scene, matches, most))


def _make_glass(draw: Draw, glass: Layers, share: float, reflections: float) -> None:
    """Makes layers transparent, and only a share of them exist; some are mere reflections."""
    shape = tuple(glass.key.shape)
    low, high = draw.uniform(0.05, 0.45, *shape), draw.uniform(0.35, 0.85, *shape)
    weak = draw.chance(reflections, *shape)
    low, high = torch.where(weak, 0.3 * low, low), torch.where(weak, 0.4 * high, high)
    glass.opacity = torch.stack([low, torch.maximum(low, high)], -1)
    glass.counts = ~weak
    exists = draw.chance(share, *shape)[..., None]
    glass.half = torch.where(exists, glass.half, 1e-3)
