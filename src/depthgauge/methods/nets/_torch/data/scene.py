"""Scenes of textured layers, seen twice; the flow of each layer is known to a thousandth of a px.

A layer is a shape and a texture in coordinates of the first picture. A pixel q of the second
picture shows the point B(q) = H^-1 q + e(q) of the layer: a homography and an elastic part, a sum
of waves. So a point p is seen at the q with B(q) = p, which q <- H(p - e(q)) finds. Both pictures
are drawn from the same formulas, at several points per pixel, and a layer hides all with a smaller
key: its place in a fixed order, or its disparity.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # PyTorch's usual name

from depthgauge.methods.nets._torch.data.textures import look_up

_ROUNDS = 6
"""Fixed-point steps; each leaves a fifth of the error or so."""


@dataclass(slots=True)
class Layers:
    """Layers of a batch of scenes; all tensors begin with (scenes, layers)."""

    homography: Tensor
    """(3, 3), from the first picture to the second."""
    amplitude: Tensor
    """(2, waves): of the elastic part, in px."""
    wave: Tensor
    """(2, waves): radians per px along x and y."""
    phase: Tensor
    """(2, waves)."""
    centre: Tensor
    """(2): of the shape, in px."""
    half: Tensor
    """(2): half its width and height, in px."""
    angle: Tensor
    box: Tensor
    """Whether it is a rectangle, else an ellipse."""
    bumps: Tensor
    """(3): how much its outline deviates from that, by 2, 3 and 5 waves around it."""
    inner: Tensor
    """What is inside this share of the shape is a hole."""
    bars: Tensor
    """Number of bars that it consists of."""
    duty: Tensor
    """The share of each bar that is filled; 1: no gaps."""
    texture: Tensor
    """Number in the bank."""
    mapping: Tensor
    """(2, 3): from px of the first picture to texels."""
    key: Tensor
    """Layers of larger keys hide others, unless disparities decide."""
    opacity: Tensor
    """(2): where its pattern is 0 and where it is 1."""
    counts: Tensor
    """Whether the truth has this layer; reflections are seen but do not count."""

    def __len__(self) -> int:
        return self.key.shape[1]

    def one(self, i: int) -> Layers:
        """Layer i of all scenes, without the axis of layers."""
        return Layers(*(getattr(self, f.name)[:, i] for f in fields(self)))


@dataclass(slots=True)
class Seen:
    """What is seen at some points of a picture."""

    layer: Tensor
    """(B, H, W): number of the nearest opaque layer."""
    key: Tensor
    texture: Tensor
    at: Tensor
    """(B, 2, H, W): texels."""


def _affine(matrix: Tensor, at: Tensor) -> Tensor:
    """Matrix (B, n, 3) on points (B, 2, H, W)."""
    m = matrix[..., None, None]
    return m[:, :, 0] * at[:, :1] + m[:, :, 1] * at[:, 1:] + m[:, :, 2]


def _projective(matrix: Tensor, at: Tensor) -> Tensor:
    found = _affine(matrix, at)
    return found[:, :2] / found[:, 2:]


def _elastic(layer: Layers, at: Tensor) -> Tensor:
    total = torch.zeros_like(at)
    for k in range(layer.phase.shape[-1]):
        wave, phase, size = (
            v[:, :, k, None, None] for v in (layer.wave, layer.phase, layer.amplitude)
        )
        angle = wave[:, :1] * at[:, :1] + wave[:, 1:] * at[:, 1:]
        total = total + size * torch.sin(angle + phase)
    return total


def back(layer: Layers, q: Tensor) -> Tensor:
    """The points of the first picture whose layer is seen at points of the second."""
    return _projective(torch.linalg.inv(layer.homography), q) + _elastic(layer, q)


def forth(layer: Layers, p: Tensor) -> Tensor:
    """Where points of the first picture are seen in the second."""
    q = _projective(layer.homography, p)
    for _ in range(_ROUNDS):
        q = _projective(layer.homography, p - _elastic(layer, q))
    return q


def inside(layer: Layers, at: Tensor) -> Tensor:
    """Whether the layer covers these points of the first picture, (B, H, W)."""
    away = at - layer.centre[..., None, None]
    turn = layer.angle[:, None, None]
    x = (away[:, 0] * torch.cos(turn) + away[:, 1] * torch.sin(turn)) / layer.half[:, :1, None]
    y = (away[:, 1] * torch.cos(turn) - away[:, 0] * torch.sin(turn)) / layer.half[:, 1:, None]
    box = layer.box[:, None, None]
    size = torch.where(box, torch.maximum(x.abs(), y.abs()), torch.hypot(x, y))
    around = torch.atan2(y, x)
    edge = 1.0
    for i, waves in enumerate((2, 3, 5)):
        edge = edge + layer.bumps[:, i, None, None] * torch.cos(waves * around + i)
    bar = torch.remainder(layer.bars[:, None, None] * x, 1) <= layer.duty[:, None, None]
    return (size < edge) & (size >= layer.inner[:, None, None]) & bar


def points(size: tuple[int, int], per_px: int, device: torch.device) -> Tensor:
    """Coordinates (1, 2, n H, n W) of evenly spread points of each pixel."""
    height, width = size
    y = (torch.arange(height * per_px, device=device) + 0.5) / per_px - 0.5
    x = (torch.arange(width * per_px, device=device) + 0.5) / per_px - 0.5
    rows, columns = torch.meshgrid(y, x, indexing="ij")
    return torch.stack([columns, rows])[None]


@dataclass(slots=True)
class Scene:
    """Layers that are seen together."""

    opaque: Layers
    """The first one covers everything."""
    glass: Layers
    size: tuple[int, int]
    """Height and width of the pictures."""
    by_disparity: bool
    """Whether the larger disparity hides the smaller one, else the larger key."""

    def pixels(self) -> Tensor:
        """The centres of the pixels, (B, 2, H, W)."""
        found = points(self.size, 1, self.opaque.key.device)
        return found.expand(self.opaque.key.shape[0], -1, -1, -1)

    def matches(self) -> list[Tensor]:
        """Where each layer, opaque ones first, shows the pixels in the second picture."""
        p = self.pixels()
        return [
            forth(each.one(i), p) for each in (self.opaque, self.glass) for i in range(len(each))
        ]


@dataclass(slots=True)
class View:
    """Points of one of the pictures: several per pixel, or their centres."""

    at: Tensor
    """(B, 2, H, W)."""
    matches: list[Tensor] | None
    """Of the first picture's pixels, layer by layer; None: this is the second picture."""

    def shown(self, layer: Layers) -> Tensor:
        """The points of the first picture whose layer is seen at these points."""
        return self.at if self.matches is not None else back(layer, self.at)

    def key(self, scene: Scene, layer: Layers, number: int, p: Tensor) -> Tensor:
        """What decides which layer is nearer, (B, H, W).

        Disparities of the first picture are known once per pixel, and interpolated between.
        """
        if not scene.by_disparity:
            return layer.key[:, None, None].expand(p.shape[0], *p.shape[2:])
        if self.matches is None:
            return p[:, 0] - self.at[:, 0]
        disparity = (scene.pixels() - self.matches[number])[:, :1]
        if disparity.shape[2:] != p.shape[2:]:
            disparity = F.interpolate(disparity, size=p.shape[2:], mode="bilinear")
        return disparity[:, 0]


def seen(scene: Scene, view: View) -> Seen:
    """The nearest opaque layer at the points of a view."""
    found = None
    for i in range(len(scene.opaque)):
        layer = scene.opaque.one(i)
        p = view.shown(layer)
        key = view.key(scene, layer, i, p)
        texels = _affine(layer.mapping, p)
        texture = layer.texture[:, None, None].expand(key.shape)
        if found is None:
            found = Seen(torch.zeros_like(key, dtype=torch.long), key, texture, texels)
            continue
        nearer = inside(layer, p) & (key > found.key)
        found = Seen(
            torch.where(nearer, i, found.layer),
            torch.where(nearer, key, found.key),
            torch.where(nearer, texture, found.texture),
            torch.where(nearer[:, None], texels, found.at),
        )
    assert found is not None
    return found


def _in_front(scene: Scene, view: View, behind: Seen) -> tuple[list[Tensor], list[Tensor]]:
    """The key of each glass layer, and where it is in front of what is opaque."""
    keys, covers = [], []
    for i in range(len(scene.glass)):
        layer = scene.glass.one(i)
        p = view.shown(layer)
        key = view.key(scene, layer, len(scene.opaque) + i, p)
        keys.append(key)
        covers.append(inside(layer, p) & (key > behind.key))
    return keys, covers


def _nearer(keys: list[Tensor], covers: list[Tensor], i: int) -> Tensor:
    """How many layers that are seen are nearer than layer i, (B, H, W)."""
    total = torch.zeros_like(keys[i], dtype=torch.long)
    for j, key in enumerate(keys):
        if j != i:
            total = total + (((key > keys[i]) | ((key == keys[i]) & (j < i))) & covers[j])
    return total


def colours(scene: Scene, bank: Tensor, view: View) -> Tensor:
    """Colours (B, 3, H, W) at the points of a view; each glass is put over what is behind it."""
    behind = seen(scene, view)
    colour = look_up(bank, behind.texture, behind.at)[:, :3].float()
    keys, covers = _in_front(scene, view, behind)
    shares, tints = [], []
    for i, here in enumerate(covers):
        layer = scene.glass.one(i)
        which = layer.texture[:, None, None].expand(here.shape)
        values = look_up(bank, which, _affine(layer.mapping, view.shown(layer))).float()
        low, high = (layer.opacity[:, k, None, None, None] for k in range(2))
        shares.append((low + (high - low) * values[:, 3:]) * here[:, None])
        tints.append(values[:, :3])
    ranks = [_nearer(keys, covers, i) for i in range(len(keys))]
    for rank in range(len(keys) - 1, -1, -1):  # the farthest first
        for i, tint in enumerate(tints):
            share = shares[i] * (ranks[i] == rank)[:, None]
            colour = (1 - share) * colour + share * tint
    return colour


def truth(scene: Scene, matches: list[Tensor], most: int) -> tuple[Tensor, Tensor]:
    """Flow (B, most, 2, H, W) of each pixel's layers, nearest first, and their number (B, H, W).

    Beyond the last layer of a pixel its flow is repeated.
    """
    p = scene.pixels()
    view = View(p, matches)
    behind = seen(scene, view)
    last = torch.zeros_like(p)
    for i in range(len(scene.opaque)):
        last = torch.where((behind.layer == i)[:, None], matches[i] - p, last)
    keys, covers = _in_front(scene, view, behind)
    covers = [c & scene.glass.counts[:, i, None, None] for i, c in enumerate(covers)]
    flows = last[:, None].repeat(1, most, 1, 1, 1)
    number = torch.ones_like(behind.layer)
    for i, cover in enumerate(covers):
        number = number + cover
        rank = _nearer(keys, covers, i)
        flow = matches[len(scene.opaque) + i] - p
        for place in range(most):
            here = (cover & (rank == place))[:, None]
            flows[:, place] = torch.where(here, flow, flows[:, place])
    return flows, number.clamp(max=most)


def two_pictures(
    scene: Scene,
    bank: Tensor,
    matches: list[Tensor],
    per_px: int = 2,
    skew: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Both pictures (B, 3, H, W); `skew` (B, 2) shifts rows of the second: px, and px per px."""
    at = points(scene.size, per_px, bank.device).expand(scene.opaque.key.shape[0], -1, -1, -1)
    other = at
    if skew is not None:
        rows = skew[:, :1, None] + skew[:, 1:, None] * (at[:, 0] - scene.size[1] / 2)
        other = torch.stack([at[:, 0], at[:, 1] + rows], 1)
    first = colours(scene, bank, View(at, matches))
    second = colours(scene, bank, View(other, None))
    return F.avg_pool2d(first, per_px), F.avg_pool2d(second, per_px)
