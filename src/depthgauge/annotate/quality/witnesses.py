"""Witnesses of one photograph: a person, a sensor or a method, each as maps of the same size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct.reconstruction import Reconstruction, reconstruct
from depthgauge.annotate.reconstruct.segmentation import Segmentation
from depthgauge.annotate.records.annotation import Annotation
from depthgauge.errors import BadData
from depthgauge.geometry.intrinsics import scale_camera
from depthgauge.geometry.resizing import resize, resize_labels
from depthgauge.geometry.rigs import surface_normals
from depthgauge.types import Camera, Map, Mask, Rig

Kind = Literal["human", "sensor", "method"]


@dataclass(frozen=True, eq=False)
class Witness:
    """One account of the surfaces in a photograph."""

    who: str
    kind: Kind
    depth: Map
    """In metres for a sensor; up to one scale per continuous surface for a person."""
    normals: Map
    """(H, W, 3), unit, camera axes, NaN outside."""
    camera: Camera
    surfaces: NDArray[np.int32] | None = None
    """Numbers of the continuous surfaces, 0 outside; None: one scale for everything."""
    planar: Mask | None = None
    """Pixels on planar surfaces; None if unknown."""
    reconstruction: Reconstruction | None = None
    """Of a person: what the maps come from, at its own size."""
    annotation: Annotation | None = None
    """Of a person: what was drawn."""
    seed: int = 0
    """Of the reconstruction."""


def human(annotation: Annotation, *, seed: int = 0, max_side_px: int | None = None) -> Witness:
    """A person's records, reconstructed.

    Args:
        annotation: The records.
        seed: Seed of the reconstruction.
        max_side_px: Reconstruct a smaller picture, for speed.
    """
    made = reconstruct(annotation, seed=seed, max_side_px=max_side_px)
    parts = made.segmentation
    return Witness(
        annotation.origin.who or "somebody",
        "human",
        made.depth,
        made.normals,
        made.camera,
        parts.continuous,
        planar_pixels(parts),
        made,
        annotation,
        seed,
    )


def measured(
    who: str,
    kind: Kind,
    depth: Map,
    camera: Camera,
    *,
    normals: Map | None = None,
    surfaces: NDArray[np.int32] | None = None,
    planar: Mask | None = None,
) -> Witness:
    """A sensor or a method; normals are derived from the depth if none are given."""
    found = normals
    if found is None:
        found = surface_normals(depth, "depth", Rig({"left": camera}))
    return Witness(who, kind, depth, found, camera, surfaces, planar)


def planar_pixels(parts: Segmentation) -> Mask:
    """Pixels of smooth surfaces that were marked planar."""
    planar = [number for number, shape in parts.shapes.items() if shape == "planar"]
    return np.isin(parts.smooth, planar) & (parts.smooth > 0)


def of_size(witness: Witness, size_px: tuple[int, int]) -> Witness:
    """The same witness at another size; maps are sampled, never blended across borders.

    Raises:
        BadData: The proportions differ, so the maps are not of the same photograph.
    """
    width, height = witness.camera.size_px
    if (width, height) == size_px:
        return witness
    if abs(size_px[1] - height * size_px[0] / width) > 1.0:  # more than rounding
        raise BadData(
            f"{witness.who}: the maps are {width}x{height}, the annotated picture is "
            f"{size_px[0]}x{size_px[1]}; they must be of the same photograph."
        )
    shape = (size_px[1], size_px[0])
    surfaces = (
        None if witness.surfaces is None else resize_labels(witness.surfaces, shape, "nearest")
    )
    planar = None if witness.planar is None else resize_labels(witness.planar, shape, "nearest")
    return replace(
        witness,
        depth=resize(witness.depth, shape, "nearest", "depth"),
        normals=resize(witness.normals, shape, "nearest", "normals"),
        camera=scale_camera(witness.camera, *size_px),
        surfaces=surfaces,
        planar=planar,
    )
