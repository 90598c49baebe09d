"""Random layers: shapes, textures, elastic parts, and motions of rigid and of free scenes."""

from __future__ import annotations

import torch
from torch import Tensor

from depthgauge.methods.nets._torch.data.draw import Draw
from depthgauge.methods.nets._torch.data.scene import Layers

_WAVES = 2
_STEEPEST = 0.2
"""Slope of an elastic part, px per px, so that its inverse is found quickly."""
_EVERYTHING = 1e6
_GROUPS = 3
"""Kinds of things of which a scene may have many, so that neighbours look alike."""


def draw_layers(
    draw: Draw, batch: int, count: int, size: tuple[int, int], textures: int, infinite: int = 1
) -> Layers:
    """Layers at rest; the first ones are planes that cover everything.

    Args:
        draw: Random numbers.
        batch: Number of scenes.
        count: Number of layers of each.
        size: Height and width of the pictures.
        textures: Number of textures in the bank.
        infinite: Number of planes.
    """
    height, width = size
    shape = (batch, count)
    length = torch.sqrt(torch.tensor(float(height * width), device=draw.device))
    half = length * draw.magnitude(0.04, 0.45, *shape, 1) * draw.magnitude(0.4, 2.5, *shape, 2)
    thin = draw.chance(0.2, *shape)[..., None]
    bar = torch.stack([draw.magnitude(1.2, 8, *shape), length * draw.uniform(0.1, 0.6, *shape)], -1)
    half = torch.where(thin, bar, half)
    angle = draw.uniform(0, 2 * torch.pi, *shape)
    angle = torch.where(draw.chance(0.3, *shape), draw.normal(0.05, *shape), angle)
    gaps = draw.chance(0.1, *shape) & ~thin[..., 0]
    half[:, :infinite] = _EVERYTHING
    gaps[:, :infinite] = False
    bumps = draw.normal(0.12, *shape, 3) * draw.chance(0.6, *shape, 1)
    bumps[:, :infinite] = 0
    hole = draw.chance(0.12, *shape)
    hole[:, :infinite] = False
    corner = torch.tensor([width, height], device=draw.device)
    return Layers(
        homography=torch.eye(3, device=draw.device).repeat(*shape, 1, 1),
        amplitude=torch.zeros(*shape, 2, _WAVES, device=draw.device),
        wave=torch.zeros(*shape, 2, _WAVES, device=draw.device),
        phase=draw.uniform(0, 2 * torch.pi, *shape, 2, _WAVES),
        centre=draw.uniform(-0.05, 1.05, *shape, 2) * corner,
        half=half,
        angle=angle,
        box=draw.chance(0.4, *shape),
        bumps=bumps,
        inner=torch.where(hole, draw.uniform(0.5, 0.9, *shape), 0.0),
        bars=draw.whole(6, *shape) + 2.0,
        duty=torch.where(gaps, draw.uniform(0.25, 0.7, *shape), 1.0),
        texture=draw.whole(textures, *shape),
        mapping=_mappings(draw, shape),
        key=torch.arange(count, device=draw.device).float().repeat(batch, 1),
        opacity=torch.ones(*shape, 2, device=draw.device),
        counts=torch.ones(*shape, dtype=torch.bool, device=draw.device),
    )


def make_alike(draw: Draw, layers: Layers, size: tuple[int, int], infinite: int) -> None:
    """In some scenes many things look alike, as leaves and fence posts do; in some they are thin.

    Neighbours of one texture have no edge in colour where one hides the other.

    Args:
        draw: Random numbers.
        layers: Changed in place.
        size: Height and width of the pictures.
        infinite: Number of planes, which stay as they are.
    """
    batch, count = layers.key.shape
    kind = draw.whole(_GROUPS, batch, count)
    alike = draw.chance(0.5, batch, 1) & draw.chance(0.7, batch, count)
    alike[:, :infinite] = False
    of_kind = layers.texture[:, infinite : infinite + _GROUPS]
    layers.texture = torch.where(alike, of_kind.gather(1, kind), layers.texture)
    length = float(size[0] * size[1]) ** 0.5
    thin = draw.magnitude(1.2, 9, batch, count)
    leaf = torch.stack([thin, thin + length * draw.uniform(0.03, 0.4, batch, count)], -1)
    slim = draw.chance(0.3, batch, 1) & draw.chance(0.7, batch, count)
    slim[:, :infinite] = False
    layers.half = torch.where(slim[..., None], leaf, layers.half)
    layers.duty = torch.where(slim, 1.0, layers.duty)


def _mappings(draw: Draw, shape: tuple[int, int]) -> Tensor:
    """From px to texels: turned, scaled, shifted."""
    angle, scale = draw.uniform(0, 2 * torch.pi, *shape), draw.magnitude(0.35, 1.5, *shape)
    angle = torch.where(draw.chance(0.3, *shape), draw.normal(0.03, *shape), angle)
    cos, sin = scale * torch.cos(angle), scale * torch.sin(angle)
    shift = draw.uniform(0, 1000, *shape, 2)
    return torch.stack(
        [torch.stack([cos, -sin, shift[..., 0]], -1), torch.stack([sin, cos, shift[..., 1]], -1)],
        -2,
    )


def add_elastic(
    draw: Draw, layers: Layers, size: tuple[int, int], along: tuple[float, float], most_px: Tensor
) -> None:
    """Gives half of the layers an elastic part along x and y (factors), of limited size (B, L)."""
    shape = tuple(layers.key.shape)
    length = draw.magnitude(0.2, 2.0, *shape, 1, _WAVES) * float(min(size))
    angle = draw.uniform(0, 2 * torch.pi, *shape, 1, _WAVES)
    wave = 2 * torch.pi / length * torch.cat([torch.cos(angle), torch.sin(angle)], -2)
    steepest = _STEEPEST / _WAVES * length / (2 * torch.pi)
    size_px = torch.minimum(most_px[..., None, None], steepest) * draw.uniform(
        0, 1, *shape, 2, _WAVES
    )
    chosen = draw.chance(0.5, *shape)[..., None, None]
    factors = torch.tensor(along, device=draw.device)[:, None]
    layers.wave = wave
    layers.amplitude = size_px * chosen * factors


def move_as_stereo(
    draw: Draw, layers: Layers, size: tuple[int, int], largest_px: float, planes: int
) -> None:
    """Slanted and curved surfaces at disparities from 0 on; the nearer hides the farther.

    The first planes are a far wall, then ground or walls that come nearer to one side.
    """
    height, width = size
    batch, count = layers.key.shape
    top = draw.magnitude(5, largest_px, batch, 1)
    low = top * draw.uniform(0, 0.35, batch, 1)
    middle = low + (top - low) * draw.uniform(0, 1, batch, count)
    flat = draw.chance(0.3, batch, count, 1)
    slope = draw.normal(1, batch, count, 2) * torch.tensor([0.06, 0.1], device=draw.device)
    slope = torch.where(flat, 0.0, slope).clamp(-0.35, 0.35)
    slope = slope * (top / 64).clamp(0.15, 1.5)[..., None]
    for i in range(1, planes):  # ground, or a wall at a side: from the far wall to the nearest
        rise = (top[:, 0] - low[:, 0]) * draw.uniform(0.3, 1.5, batch)
        side = draw.uniform(-1, 1, batch, 2) * torch.tensor([0.3 / width, 0.0], device=draw.device)
        side[:, i % 2] = (
            torch.where(draw.chance(0.75 if i == 1 else 0.5, batch), 1.0, -1.0) / size[1 - i % 2]
        )
        slope[:, i] = side * rise[:, None] / 1.5
        middle[:, i] = low[:, 0] + 0.5 * rise - rise * draw.uniform(0.0, 0.6, batch)
    reach = slope[:, 0].abs() @ torch.tensor([width / 2, height / 2], device=draw.device)
    middle[:, 0] = low[:, 0] + reach
    layers.centre[:, :planes] = torch.tensor([width / 2, height / 2], device=draw.device)
    at_origin = middle - (slope * layers.centre).sum(-1)
    h = layers.homography
    h[..., 0, 0] = 1 - slope[..., 0]
    h[..., 0, 1] = -slope[..., 1]
    h[..., 0, 2] = -at_origin
    add_elastic(draw, layers, size, (1.0, 0.0), (0.15 * top).expand(batch, count))


def move_as_flow(draw: Draw, layers: Layers, size: tuple[int, int], largest_px: float) -> None:
    """Half of the scenes are rigid and the camera moves; in the others each layer is free."""
    batch, count = layers.key.shape
    strength = draw.magnitude(0.4, largest_px, batch)
    rigid, near = _rigid(draw, layers, size, strength)
    free = _free(draw, layers, size, strength)
    is_rigid = draw.chance(0.5, batch)
    layers.homography = torch.where(is_rigid[:, None, None, None], rigid, free)
    own = draw.chance(0.15, batch, count)  # some things move on their own in a rigid scene
    layers.homography = torch.where(own[..., None, None], free, layers.homography)
    layers.key = torch.where(is_rigid[:, None], near, layers.key)
    layers.key[:, 0] = -1.0
    add_elastic(draw, layers, size, (1.0, 1.0), (0.25 * strength[:, None]).expand(batch, count))


def _rigid(
    draw: Draw, layers: Layers, size: tuple[int, int], strength: Tensor
) -> tuple[Tensor, Tensor]:
    """Homographies of planes for one camera motion per scene, and how near their centres are."""
    height, width = size
    batch, count = layers.key.shape
    focal = width * draw.uniform(0.7, 1.6, batch)
    zero, one = torch.zeros_like(focal), torch.ones_like(focal)
    k = torch.stack(
        [focal, zero, one * width / 2, zero, focal, one * height / 2, zero, zero, one], -1
    )
    k = k.view(batch, 3, 3)
    turn = draw.normal(0.25, batch, 3) * (strength / focal)[:, None]
    turn = turn * torch.tensor([1.0, 1.0, 2.0], device=draw.device)
    x, y, z = turn.unbind(-1)
    cross = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).view(batch, 3, 3)
    travel = draw.normal(1, batch, 3) * torch.tensor([1.0, 0.5, 1.5], device=draw.device)
    travel = travel / travel.norm(dim=-1, keepdim=True) * (strength / focal)[:, None]
    near = draw.uniform(0.1, 1.2, batch, count)
    near[:, 0] = draw.uniform(0.0, 0.5, batch)
    slope = draw.normal(0.25, batch, count, 2) * near[..., None] / width
    at_origin = near - (slope * layers.centre).sum(-1)
    plane = torch.cat([slope, at_origin[..., None]], -1)
    turned = k @ torch.linalg.matrix_exp(cross) @ torch.linalg.inv(k)
    moved = (k @ travel[..., None])[:, None] * plane[:, :, None, :]
    return turned[:, None] + moved, near


def _free(draw: Draw, layers: Layers, size: tuple[int, int], strength: Tensor) -> Tensor:
    """Each layer turns, grows, shears and moves on its own, beside a common motion."""
    batch, count = layers.key.shape
    far = (strength / min(size)).clamp(max=0.15)[:, None]
    linear = (
        torch.eye(2, device=draw.device)
        + draw.normal(0.6, batch, count, 2, 2) * far[..., None, None]
    )
    angle = draw.normal(0.8, batch, count) * far
    cos, sin = torch.cos(angle), torch.sin(angle)
    linear = linear @ torch.stack([cos, -sin, sin, cos], -1).view(batch, count, 2, 2)
    common = draw.normal(0.5, batch, 1, 2) * strength[:, None, None]
    own = draw.normal(0.5, batch, count, 2) * strength[:, None, None]
    own = own * draw.chance(0.8, batch, count, 1)
    shift = layers.centre - (linear @ layers.centre[..., None])[..., 0] + common + own
    h = torch.eye(3, device=draw.device).repeat(batch, count, 1, 1)
    h[..., :2, :2] = linear
    h[..., :2, 2] = shift
    h[..., 2, :2] = draw.normal(0.05, batch, count, 2) * far[..., None] / max(size)
    return h
