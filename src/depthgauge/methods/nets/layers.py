"""Our network of several layers of flow: one context encoder per layer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from depthgauge.methods._images import two_images
from depthgauge.methods._spec import MethodSpec
from depthgauge.methods.nets._networks import LOCAL, NetworkOptions, as_colour, runner
from depthgauge.types import Inputs, Map


class LayersNetOptions(NetworkOptions):
    """Options of `nets-layers`."""

    prune_px: float = Field(default=0.5, ge=0)
    """A layer whose flow is within this distance of the previous layer's is left out."""


SPEC = MethodSpec(
    id="nets-layers",
    title="Network of ours for flow of up to four layers, trained on synthetic scenes",
    quantities=("layered_flow",),
    needs=("first_image", "second_image"),
    cite="after Wen et al. 2024",
    options=LayersNetOptions,
    local=LOCAL,
    revision=2,
)


def estimate(inputs: Inputs, options: LayersNetOptions) -> Map:
    """Flow (4, H, W, 2) of the layers, nearest first; NaN beyond the last one of a pixel."""
    first, second = two_images(inputs, "first_image", "second_image", grey=False)
    found = runner("layers", options).flow(as_colour(first), as_colour(second))
    return pruned(found.motion.transpose(0, 2, 3, 1), options.prune_px)


def pruned(flows: NDArray[np.float32], within_px: float) -> Map:
    """Leaves out repeated layers, all at once, and moves the others up.

    Each layer is compared with the raw estimate before it, so a chain of small steps is dropped as
    a whole.

    Args:
        flows: (layers, H, W, 2).
        within_px: Layers at this distance or less from the one before are repeated.
    """
    away = np.linalg.norm(np.diff(flows, axis=0), axis=-1)
    kept = np.concatenate([np.ones((1, *flows.shape[1:3]), bool), away > within_px])
    order = np.argsort(~kept, axis=0, kind="stable")
    moved = np.take_along_axis(flows, order[..., None], axis=0)
    there = np.take_along_axis(kept, order, axis=0)
    return np.where(there[..., None], moved, np.float32(np.nan)).astype(np.float32)
