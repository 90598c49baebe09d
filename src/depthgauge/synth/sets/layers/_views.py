"""The four views of a pair: what their pixels show, layer by layer, and their pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.render.denoise import denoise
from depthgauge.synth.render.embree import TracedScene, trace
from depthgauge.synth.render.layers import Layers, trace_layers
from depthgauge.synth.render.lit import RoomTracer
from depthgauge.synth.render.painted import paint, surface_at, texture_px
from depthgauge.synth.scene.texture import stored
from depthgauge.synth.sets.layers._stage import Stage
from depthgauge.types import Camera

Floats = NDArray[np.float32]

VIEWS = {
    "left": ("left", False),
    "right": ("right", False),
    "left_next": ("left", True),
    "right_next": ("right", True),
}
"""Names of the pictures: side and whether it is the later time."""
TIMES_S = (0.0, 1.0)
_MIDDLE = 0.22
"""Linear light of the middle of the first picture, which sets the exposure of all four."""
_GLASS_TONE = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One camera at one time."""

    frame: TracedScene
    camera: Camera
    layers: Layers


def views_of(stage: Stage, most: int, rough: float) -> dict[str, View]:
    """The four views with the layers of each."""
    frames = [trace(stage.scene, time_s) for time_s in TIMES_S]
    found = {}
    for name, (side, later) in VIEWS.items():
        frame, camera = frames[later], stage.cameras.at(side, later)
        found[name] = View(frame, camera, trace_layers(frame, camera, most, rough))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Pictures:
    """The pictures of a pair."""

    images: dict[str, NDArray[np.uint8]]
    exposure: float
    """Factor on the light of all of them."""
    variant: str
    """The variant of the path tracer."""
    warning: str


def photograph(
    stage: Stage, views: dict[str, View], *, samples: int, clean: bool, seed: int
) -> Pictures:
    """The pictures of all views, with one exposure.

    Args:
        stage: What is seen, and by what light.
        views: The result of `views_of`.
        samples: Light paths for each pixel.
        clean: Whether noise is removed.
        seed: Seed of the light paths.
    """
    side = texture_px(views["left"].camera.size_px[0])
    light: dict[str, Floats] = {}
    for later, time_s in enumerate(TIMES_S):
        tracer = RoomTracer(stage.scene, side, time_s)
        lit = tracer.under(stage.lamps, stage.sky)
        for number, (name, (_, is_later)) in enumerate(VIEWS.items()):
            if is_later == bool(later):
                # Passes of one picture have successive seeds; those of others stay apart.
                light[name] = tracer.render(lit, views[name].camera, samples, seed + 1000 * number)
    if clean:
        light = {name: denoise(light[name], *_guides(view, side)) for name, view in views.items()}
    exposure = _MIDDLE / max(float(np.median(light["left"].mean(axis=-1))), 1e-4)
    images = {
        name: np.rint(stored(exposure * np.maximum(linear, 0.0))).astype(np.uint8)
        for name, linear in light.items()
    }
    return Pictures(images, exposure, tracer.variant, tracer.warning)


def _guides(view: View, side_px: int) -> tuple[Floats, Floats]:
    """Reflectance and normals (H, W, 3) of what ends each ray, seen through the glass.

    Through smooth glass the surface behind it has the texture, so it guides the denoiser.
    """
    layers = view.layers
    last = np.maximum(layers.count.astype(np.intp) - 1, 0)
    row, column = np.indices(last.shape)
    at = (last, row, column)
    triangles = layers.triangle[at].ravel()
    points = layers.position[at].reshape(-1, 3)
    painted = paint(view.frame, side_px)
    eye = view.camera.world_from_camera[:3, 3]
    surface = surface_at(painted, eye, points, triangles)
    ends = (layers.material[at] == 0).ravel()
    tone = np.where(ends[:, None], surface.tone, np.float32(_GLASS_TONE))
    normal = np.where((triangles >= 0)[:, None], surface.normal, np.float32(0))
    shape = (*last.shape, 3)
    return tone.reshape(shape), normal.reshape(shape)
