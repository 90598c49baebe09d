"""The stereo network on several pairs of one scene: correlations are averaged over the pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # PyTorch's usual name

from depthgauge.methods.nets._torch.correlation import pixels, rows_of
from depthgauge.methods.nets._torch.stereo_net import _HIDDEN, _LEVELS, _RADIUS, StereoNet

FEATURE_PX = 4
"""A feature of the network covers this many px along x and y."""
_MULTIPLE = 32

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Guidance:
    """What the network takes from one left picture: first hidden states, and contexts."""

    states: list[Tensor]
    contexts: list[Tensor]
    size: tuple[int, int]


@dataclass(frozen=True, slots=True)
class SharedVolume:
    """The stereo network, taken apart: features, correlations, and disparities from a volume.

    Pictures (H, W, 3) have grey levels from 0 to 255. They are enlarged by `zoom` before the
    network sees them, so that its features, at 1/4, show thin objects.
    """

    net: StereoNet
    device: str
    zoom: int
    updates: int

    @torch.inference_mode()
    def features(self, picture: NDArray[np.generic]) -> Floats:
        """(H', W', F): features of a picture, for comparison with the other view's."""
        found = self.net.features(2 * self._tensor(picture) - 1)[0]
        return np.asarray(found[0].permute(1, 2, 0).float().cpu().numpy())

    @torch.inference_mode()
    def guidance(self, picture: NDArray[np.generic]) -> Guidance:
        """What the updates take from a left picture."""
        states, contexts = [], []
        scales = self.net.context(2 * self._tensor(picture) - 1)
        for found, hidden in zip(scales, _HIDDEN, strict=True):
            states.append(torch.tanh(found[:, :hidden]))
            contexts.append(found[:, hidden:])
        return Guidance(states, contexts, (picture.shape[0], picture.shape[1]))

    @torch.inference_mode()
    def disparity(self, guidance: Guidance, volume: Floats) -> Floats:
        """The last estimate (H, W) in px of the picture, from a volume (H', W', W')."""
        shared = torch.from_numpy(np.ascontiguousarray(volume)).to(self.device)[None]
        look_up = rows_of(shared, _LEVELS, _RADIUS)
        x = pixels(shared[:, None, :, :, 0])[:, :1].to(self.device)
        disparity, states = torch.zeros_like(x), guidance.states
        for _ in range(self.updates):
            states, change = self.net.step(
                states, guidance.contexts, look_up(x - disparity), disparity
            )
            disparity = disparity + change.float()
        full = self.net.head.enlarged(disparity, states[0])
        height, width = guidance.size
        own = full[..., : self.zoom * height, : self.zoom * width]
        if self.zoom > 1:
            own = F.avg_pool2d(own, self.zoom) / self.zoom
        return np.asarray(own[0, 0].float().cpu().numpy())

    def _tensor(self, picture: NDArray[np.generic]) -> Tensor:
        values = np.ascontiguousarray(np.asarray(picture, np.float32).transpose(2, 0, 1))
        given = torch.from_numpy(values).to(self.device)[None] / 255
        if self.zoom > 1:
            given = F.interpolate(
                given, scale_factor=self.zoom, mode="bicubic", align_corners=False
            ).clamp(0, 1)
        height, width = given.shape[2:]
        return F.pad(given, (0, -width % _MULTIPLE, 0, -height % _MULTIPLE), mode="replicate")
