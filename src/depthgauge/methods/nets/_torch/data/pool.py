"""A pool of pairs, renewed while it is used: making a pair costs more than learning from it."""

from __future__ import annotations

import torch
from torch import Tensor

from depthgauge.methods.nets._torch.data.draw import Draw
from depthgauge.methods.nets._torch.data.pairs import Maker, Pairs
from depthgauge.methods.nets._torch.data.photometry import photographed


class Pool:
    """Pairs in memory; each use draws its own exposure, noise and flips."""

    def __init__(self, make: Maker, size: tuple[int, int], capacity: int) -> None:
        self._make = make
        self._size = size
        self._capacity = capacity
        self._kept: Pairs | None = None
        self._next = 0
        self._filled = 0

    def add(self, draw: Draw, bank: Tensor, count: int) -> None:
        """Makes new pairs; the oldest ones are dropped if it is full."""
        with torch.no_grad():
            new = self._make(draw, bank, count, self._size)
        parts = (new.first.half(), new.second.half(), new.motion.float(), new.number.byte())
        if self._kept is None:
            self._kept = Pairs(*(p.new_zeros(self._capacity, *p.shape[1:]) for p in parts))
        kept = self._kept
        at = (self._next + torch.arange(count, device=draw.device)) % self._capacity
        for store, part in zip(
            (kept.first, kept.second, kept.motion, kept.number), parts, strict=True
        ):
            store[at] = part
        self._next = (self._next + count) % self._capacity
        self._filled = min(self._capacity, self._filled + count)

    def batch(self, draw: Draw, count: int) -> Pairs:
        """Some pairs of the pool, as two cameras would take them."""
        assert self._kept is not None
        chosen = draw.whole(self._filled, count)
        kept = self._kept
        first, second = photographed(draw, kept.first[chosen].float(), kept.second[chosen].float())
        pairs = Pairs(first, second, kept.motion[chosen], kept.number[chosen].long())
        flips = draw.chance(0.5, 2).tolist()
        if flips[0]:
            pairs = upside_down(pairs)
        if flips[1] and pairs.motion.shape[2] == 2:
            pairs = mirrored(pairs)
        return pairs


def upside_down(pairs: Pairs) -> Pairs:
    """The same pairs upside down; a disparity stays what it is."""
    motion = pairs.motion.flip(-2)
    if motion.shape[2] == 2:
        motion = torch.cat([motion[:, :, :1], -motion[:, :, 1:]], 2)
    return Pairs(pairs.first.flip(-2), pairs.second.flip(-2), motion, pairs.number.flip(-2))


def mirrored(pairs: Pairs) -> Pairs:
    """The same pairs of flow with left and right exchanged."""
    motion = pairs.motion.flip(-1)
    motion = torch.cat([-motion[:, :, :1], motion[:, :, 1:]], 2)
    return Pairs(pairs.first.flip(-1), pairs.second.flip(-1), motion, pairs.number.flip(-1))
