"""Pairs of a dataset, packed into a few files, as batches to learn from.

`depthgauge train pack` writes them: pictures in 8 bits, motion in 64ths of a px, so that they can
be carried to a machine that has PyTorch and NumPy only.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from depthgauge.methods.nets._packs import MISSING, STEPS_PER_PX, read_packs
from depthgauge.methods.nets._torch.data.draw import Draw
from depthgauge.methods.nets._torch.data.pairs import Pairs
from depthgauge.methods.nets._torch.data.photometry import photographed
from depthgauge.methods.nets._torch.data.pool import mirrored, upside_down


class PackedPairs:
    """All pairs of a folder of packs, in memory."""

    def __init__(self, folder: Path, kind: str, device: str, *, held_out: bool = False) -> None:
        """Reads the pairs to learn from, or those of scenes that are held out."""
        packs = read_packs(folder, kind, held_out=held_out)
        self._first, self._second, self._motion = (
            torch.from_numpy(part).to(device) for part in packs
        )

    def __len__(self) -> int:
        return len(self._first)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        return self._first.shape[1], self._first.shape[2]

    def batch(self, draw: Draw, count: int, size: tuple[int, int]) -> Pairs:
        """Some pairs, cut to a size, each with its own exposure and noise; some upside down."""
        chosen = draw.whole(len(self), count)
        rows, columns = (
            int(draw.whole(n - m + 1, 1)) for n, m in zip(self.size, size, strict=True)
        )
        pairs = self._pairs(chosen, slice(rows, rows + size[0]), slice(columns, columns + size[1]))
        pairs.first, pairs.second = photographed(draw, pairs.first, pairs.second)
        flips = draw.chance(0.5, 2).tolist()
        if flips[0]:
            pairs = upside_down(pairs)
        if flips[1] and pairs.motion.shape[2] == 2:
            pairs = mirrored(pairs)
        return pairs

    def in_order(self, start: int, count: int, size: tuple[int, int]) -> Pairs:
        """Pairs as they are, cut in their middle, from the first again after the last."""
        chosen = (torch.arange(count, device=self._first.device) + start) % len(self)
        at = [(n - m) // 2 for n, m in zip(self.size, size, strict=True)]
        return self._pairs(chosen, *(slice(a, a + m) for a, m in zip(at, size, strict=True)))

    def _pairs(self, chosen: Tensor, rows: slice, columns: slice) -> Pairs:
        pictures = [
            p[chosen][:, rows, columns].permute(0, 3, 1, 2).float() / 255
            for p in (self._first, self._second)
        ]
        stored = self._motion[chosen][..., rows, columns]
        motion = torch.where(stored == MISSING, torch.nan, stored.float() / STEPS_PER_PX)
        layers = torch.isfinite(motion[:, :, 0]).sum(1)
        return Pairs(pictures[0], pictures[1], motion, layers)
