"""One picture with exact geometry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import WrongShape
from depthgauge.types import Camera, Map

Labels = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class ExactView:
    """A picture, and the surfaces in it.

    A *smooth* surface is a piece of the image over which depth and normal vary without a jump; a
    *continuous* one consists of smooth pieces attached to each other, with folds between them.
    """

    id: str
    image: NDArray[np.uint8]
    """(H, W, 3) RGB."""
    depth: Map
    """(H, W) along the optical axis; NaN where nothing is seen."""
    normals: Map
    """(H, W, 3), unit, towards the viewer; NaN where nothing is seen."""
    smooth_labels: Labels
    """(H, W), 1, 2, ... for each smooth piece, 0 where nothing is seen."""
    continuous_labels: Labels
    """(H, W), 1, 2, ... for each continuous surface, 0 where nothing is seen."""
    planar: Mapping[int, bool]
    """Whether each smooth piece is flat."""
    camera: Camera
    gap_right: Map = field(repr=False)
    """(H, W-1): depth behind the border to the right neighbour minus that before it; 0 if both
    belong to one smooth piece or are attached."""
    gap_down: Map = field(repr=False)
    """(H-1, W): the same towards the neighbour below."""

    def __post_init__(self) -> None:
        height, width = self.depth.shape
        wanted = {
            "image": (height, width, 3),
            "normals": (height, width, 3),
            "smooth_labels": (height, width),
            "continuous_labels": (height, width),
            "gap_right": (height, width - 1),
            "gap_down": (height - 1, width),
        }
        for name, shape in wanted.items():
            found = getattr(self, name).shape
            if found != shape:
                raise WrongShape(f"view {self.id!r}: {name} must be {shape}, found {found}.")
        if self.camera.size_px != (width, height):
            raise WrongShape(
                f"view {self.id!r}: the camera has {self.camera.size_px} px but the depth map has "
                f"{(width, height)}."
            )

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height."""
        return self.camera.size_px

    @property
    def focal_px(self) -> float:
        """Focal length; pixels are square."""
        return self.camera.focal_px[0]
