"""Exact geometry of one picture, from any sample that contains it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.simulate._depth_steps import estimated_gaps
from depthgauge.errors import BadData, WrongShape
from depthgauge.synth.sets.single_views import ExactView, flat_pieces, linked
from depthgauge.types import Camera, Map, Mask, Sample

__all__ = ["ExactView", "view_of_sample"]

_WANTED = "a `left_image`, and `depth`, `normals`, `smooth_labels` and `camera` in its truth"


def view_of_sample(sample: Sample) -> ExactView:
    """The exact view of a sample with depth, normals, labels of smooth surfaces and a camera.

    Depth jumps are estimated from both surfaces' tangent planes at each border.

    Raises:
        BadData: One of these items is missing.
        WrongShape: The maps have different sizes.
    """
    truth = {} if sample.truth is None else sample.truth
    absent = [n for n in ("depth", "normals", "smooth_labels", "camera") if n not in truth]
    absent += [] if "left_image" in sample.inputs else ["left_image"]
    if absent:
        raise BadData(
            f"sample {sample.id!r} has no {', '.join(absent)}; an exact view needs {_WANTED}."
        )
    depth, normals = np.asarray(truth["depth"]), np.asarray(truth["normals"])
    labels = np.asarray(truth["smooth_labels"])
    if labels.shape != depth.shape or normals.shape != (*depth.shape, 3):
        raise WrongShape(
            f"sample {sample.id!r}: depth {depth.shape}, normals {normals.shape} and labels "
            f"{labels.shape} must have the same size."
        )
    known = np.isfinite(depth) & np.isfinite(normals).all(axis=2) & (labels > 0)
    return _view(sample.id, sample.inputs["left_image"], depth, normals, labels, known, truth)


def _view(
    name: str,
    image: NDArray[Any],
    depth: Map,
    normals: Map,
    labels: NDArray[Any],
    known: Mask,
    truth: Any,
) -> ExactView:
    camera: Camera = truth["camera"]
    same = [(labels[:, 1:] == labels[:, :-1]), (labels[1:] == labels[:-1])]
    both = [known[:, 1:] & known[:, :-1], known[1:] & known[:-1]]
    smooth = linked(same[0] & both[0], same[1] & both[1], known)
    planar = flat_pieces(smooth, normals)
    right, down = estimated_gaps(depth, normals, smooth, planar, camera)
    joined = linked((right == 0) & both[0], (down == 0) & both[1], known)
    return ExactView(
        id=name,
        image=_as_bytes(image),
        depth=np.where(known, depth, np.nan).astype(np.float32),
        normals=np.where(known[..., None], normals, np.nan).astype(np.float32),
        smooth_labels=smooth,
        continuous_labels=joined,
        planar=planar,
        camera=camera,
        gap_right=right,
        gap_down=down,
    )


def _as_bytes(image: NDArray[Any]) -> NDArray[np.uint8]:
    grey = image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2)
    if grey.dtype != np.uint8:
        grey = np.rint(255 * np.sqrt(np.clip(grey, 0, 1)))
    return np.asarray(grey, np.uint8)
