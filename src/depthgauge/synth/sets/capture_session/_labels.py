"""Label maps of the raw left image, and the truth of the whole session."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from depthgauge.sessions import SimulatedTruth
from depthgauge.synth.scene.model import Solid
from depthgauge.synth.sets.capture_session._painted import hit_points, row_bands
from depthgauge.types import Camera


def labels(solid: Solid, camera: Camera) -> dict[str, NDArray[np.uint8]]:
    """`materials` and `surfaces` (H, W) of what each pixel's centre shows; 0 where nothing is."""
    width, height = camera.size_px
    triangles = np.full((height, width), -1, np.int32)
    for rows in row_bands(camera, 1):
        y, x = np.mgrid[rows.start : rows.stop, 0:width]
        pixels = np.stack([x.ravel(), y.ravel()], axis=-1).astype(np.float64)
        triangles[rows.start : rows.stop] = hit_points(solid, camera, pixels)[1].reshape(-1, width)
    classes = {"materials": solid.categories, "surfaces": solid.surfaces}
    return {
        name: np.where(triangles >= 0, of[triangles], 0).astype(np.uint8)
        for name, of in classes.items()
    }


def truth(
    solid: Solid, cameras: Mapping[str, Camera], projectors: Mapping[str, Camera]
) -> SimulatedTruth:
    """All that the simulation knows."""
    return SimulatedTruth(
        cameras=dict(cameras),
        projectors=dict(projectors),
        vertices=solid.mesh.vertices,
        triangles=solid.mesh.triangles,
        materials=solid.categories,
        surfaces=solid.surfaces,
        objects=solid.objects,
    )
