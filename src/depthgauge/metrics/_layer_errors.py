"""The layers of an estimate beside those of a truth; what several metrics need is computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from depthgauge._once import cached_property
from depthgauge.errors import BadScoreId, Unavailable
from depthgauge.geometry.layers import MATERIALS, TRANSPARENT
from depthgauge.types import Map, Mask, State

ANY = "any"
"""Stands for all materials."""


@dataclass(frozen=True)
class LayerComparison:
    """Estimate and truth with all their layers, at one size."""

    read_estimate: Callable[[], Map]
    """(L, H, W) or (L, H, W, C); called when it is first needed."""
    read_truth: Callable[[], Map]
    """The same; it may have another number of layers."""
    materials: NDArray[np.uint8] | None = None
    """(L, H, W), indices into `MATERIALS`; None if they are not known."""
    total: NDArray[np.integer] | None = None
    """(H, W), how many layers there really are, also those that the truth leaves out."""
    _worst: dict[tuple[int, str], Map] = field(default_factory=dict, repr=False)

    @cached_property
    def _measured(self) -> tuple[Map, NDArray[np.uint8], NDArray[np.uint8]]:
        from depthgauge.metrics.kernels.layers import layer_errors

        estimate, truth = (_flat(read()) for read in (self.read_estimate, self.read_truth))
        pixels = truth.shape[1]
        errors = np.zeros((len(truth), pixels), np.float32)
        estimated, last = np.zeros(pixels, np.uint8), np.zeros(pixels, np.uint8)
        layer_errors(estimate, truth, errors, estimated, last)
        return errors, estimated, last

    @property
    def errors(self) -> Map:
        """(L, pixels): NaN where there is no truth, infinite where there is no estimate."""
        return self._measured[0]

    @property
    def estimated(self) -> NDArray[np.uint8]:
        """(pixels): the number of layers that are estimated."""
        return self._measured[1]

    @property
    def last(self) -> NDArray[np.uint8]:
        """(pixels): the last annotated layer, from 1; 0 where there is no truth."""
        return self._measured[2]

    @cached_property
    def right(self) -> Mask:
        """(pixels): whether the number of layers is plausible.

        If the last annotated layer is transparent, or the truth is cut there, at least that many
        layers must be estimated; otherwise exactly as many.
        """
        last, estimated = self.last.astype(np.int64), self.estimated
        return np.where(self._open_end(last), estimated >= last, estimated == last) & (last > 0)

    @cached_property
    def _all_right(self) -> Mask:
        """Stands for `right` where the number of layers does not count."""
        return np.ones(self.last.size, bool)

    def _open_end(self, last: NDArray[np.int64]) -> Mask:
        """Whether there may be more behind the last annotated layer."""
        if self.materials is None:
            raise Unavailable("the number of layers needs their materials", ["layer_material"])
        codes = self.materials.reshape(len(self.materials), -1)
        index = np.clip(last - 1, 0, len(codes) - 1)
        ends = np.take_along_axis(codes, index[None], axis=0)[0] == TRANSPARENT
        if self.total is not None:
            # A truth that is cut at its last layer goes on behind it.
            ends |= (last == len(codes)) & (self.total.reshape(-1) > len(codes))
        return np.asarray(ends)

    def worst(self, layer: int = 0, material: str = ANY) -> Map:
        """(pixels): the largest error of the chosen layers; NaN where none of them has a truth.

        Args:
            layer: The only one that counts, from 1; 0: all annotated layers.
            material: The only material that counts; `any`: all.
        """
        key = (layer, material)
        if key not in self._worst:
            from depthgauge.metrics.kernels.layers import worst_errors

            errors = self.errors
            code = -1 if material == ANY else MATERIALS.index(material)
            worst = np.zeros(errors.shape[1], np.float32)
            worst_errors(errors, self._codes(errors.shape, code), layer, code, worst)
            self._worst[key] = worst
        return self._worst[key]

    def _codes(self, shape: tuple[int, ...], code: int) -> NDArray[np.uint8]:
        if code < 0:
            return np.zeros((1, 1), np.uint8)
        if self.materials is None:
            raise Unavailable("scores of a material need a map of materials", ["layer_material"])
        return np.ascontiguousarray(self.materials.reshape(shape))

    def _judged(self, layer: int, material: str) -> tuple[Map, NDArray[np.uint8], int]:
        """Errors of pixels, and which material of them counts; of one layer without a copy."""
        if not 0 < layer <= len(self.errors):
            return self.worst(layer, material), np.zeros(1, np.uint8), -1
        code = -1 if material == ANY else MATERIALS.index(material)
        codes = self._codes(self.errors.shape, code)
        return self.errors[layer - 1], codes[layer - 1 if code >= 0 else 0], code

    def count(
        self, region: Mask | None, tau: float, layer: int, material: str, *, counted: bool
    ) -> State:
        """Pixels with an estimate of the chosen layers, without one, and bad ones as the sum."""
        from depthgauge.metrics.kernels.layers import count_over

        if not tau >= 0:
            raise BadScoreId(f"tau is {tau} but must be 0 or more; it may be inf.")
        worst, codes, code = self._judged(layer, material)
        right = self.right if counted else self._all_right
        inside = np.ones(worst.size, bool) if region is None else region.reshape(-1)
        counts = np.zeros(3, np.int64)
        count_over(worst, codes, code, right, inside, np.float32(tau), counts)
        return State(int(counts[0]), int(counts[1]), counts[2:].astype(np.float64))


def _flat(stack: Map) -> Map:
    """(layers, pixels, channels)."""
    channels = stack.shape[3] if stack.ndim == 4 else 1
    return np.ascontiguousarray(stack, np.float32).reshape(len(stack), -1, channels)
