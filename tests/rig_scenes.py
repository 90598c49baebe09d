"""Small scenes of six cameras, rendered by direct light, for tests of videos and audits."""

from __future__ import annotations

from functools import cache

import numpy as np

from depthgauge.datasets.stereogenbench import SceneDescription, SceneRecord, rig_poses
from depthgauge.synth.render.direct import direct_view
from depthgauge.synth.render.embree import trace, visible_surfaces
from depthgauge.synth.render.painted import paint
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene import texture as paints
from depthgauge.synth.scene.camera import pose_looking
from depthgauge.synth.scene.light import Light
from depthgauge.synth.scene.material import Material
from depthgauge.synth.scene.model import Scene, Thing
from depthgauge.synth.scene.motion import Moving
from depthgauge.types import Camera

SIZE = (96, 96)
FRAMES = 5
ADJACENT_CM = (6.351179, 7.125978, 6.912143, 6.140570, 6.731540)
"""Those of the sample row of the release."""
SENSOR_MM = (23.76, 23.76)
FOCAL_MM = 24.0


def _mottled(seed, low, high):
    middle = tuple((a + b) / 2 for a, b in zip(low, high, strict=True))
    waves = paints.waves(seed, 0.14, 3)
    return Material("diffuse", texture=paints.Mottled((low, middle, high), waves), texture_m=4.0)


def room(seed: int = 0) -> Scene:
    """A wall, a floor, a standing box and one that moves; all of them with texture."""
    dark, light = (0.08, 0.1, 0.12), (0.9, 0.85, 0.8)
    wall = meshes.rectangle((-4, -4, 3.2), (8, 0, 0), (0, 5, 0))
    floor = meshes.rectangle((-4, 0.6, 0), (8, 0, 0), (0, 0, 3.4))
    box = meshes.box(0.5, 0.9, 0.4).moved(x=-0.45, y=0.6, z=2.3)
    walker = meshes.box(0.3, 0.7, 0.3).moved(x=0.35, y=0.6, z=1.8)
    things = (
        Thing("wall", wall, _mottled(seed + 1, dark, light)),
        Thing("floor", floor, _mottled(seed + 2, (0.2, 0.1, 0.05), light)),
        Thing("box", box, _mottled(seed + 3, (0.05, 0.1, 0.4), light)),
        Thing("walker", walker, _mottled(seed + 4, (0.5, 0.05, 0.05), light)),
    )
    lamp = Light((1.0, -2.5, -0.5), (0, 0, 2), (1, 1), (1, 1, 1))
    return Scene("room", things, ((lamp,),), motions={"walker": Moving((0.3, 0.0, 0.0))})


def base_poses(frames: int = FRAMES) -> np.ndarray:
    """A camera that moves sideways and forwards."""
    eyes = [(-0.15 + 0.02 * i, -0.1, 0.03 * i) for i in range(frames)]
    return np.stack([pose_looking(eye, (0.0, -0.05, 2.5)) for eye in eyes])


def record(scene_id="scene_000026", *, size=SIZE, frames=FRAMES, **changes) -> SceneRecord:
    """What is known of a scene."""
    words = SceneDescription(
        scene_type="indoor room",
        setting="a room with mottled walls",
        primary_elements=("box", "walker"),
        spatial_layout="a box on the left, a moving one on the right",
        lighting_materials="one lamp, matt surfaces",
        short_caption="A room with two boxes.",
        detailed_caption="A room with mottled walls and two boxes, one of which moves.",
        tags=("indoor", "boxes"),
    )
    known = {
        "scene_id": scene_id,
        "label": f"Room_{scene_id}",
        "index": 26,
        "split": "train",
        "family": "IPD_Gaussian",
        "map_name": "Room",
        "focal_mm": FOCAL_MM,
        "sensor_mm": SENSOR_MM,
        "size_px": size,
        "adjacent_cm": ADJACENT_CM,
        "base_poses": base_poses(frames),
        "description": words,
        "character": "box",
        "animation": "walk",
        "aperture_fstop": 8.0,
        "assets": {"seed": 0},
    }
    return SceneRecord(**{**known, **changes})


@cache
def rendered(seed: int = 0, size=SIZE, frames: int = FRAMES):
    """For every frame, picture and depth of every camera."""
    made = record(size=size, frames=frames)
    poses = rig_poses(made.base_poses, made.adjacent_cm)
    focal = tuple(made.focal_mm / s * n for s, n in zip(made.sensor_mm, size, strict=True))
    centre = tuple((n - 1) / 2 for n in size)
    found = []
    for index, cameras in enumerate(poses):
        painted = paint(trace(room(seed), index / made.fps), 512)
        views = []
        for pose in cameras:
            camera = Camera(focal, centre, size, world_from_camera=pose)
            depth = visible_surfaces(painted.traced, camera).depth
            views.append((direct_view(painted, camera), depth.astype(np.float32)))
        found.append(views)
    return found


def flat_views(size=SIZE, frames: int = FRAMES):
    """The same shapes without rendering: each camera and frame has its own colour and depth."""
    width, height = size
    ramp = np.broadcast_to(np.linspace(0, 40, width)[None, :, None], (height, width, 3))
    found = []
    for frame in range(frames):
        views = []
        for camera in range(len(ADJACENT_CM) + 1):
            depth = np.full((height, width), 2.0 + camera / 10 + frame, np.float32)
            depth[0, 0] = np.nan
            image = np.rint(ramp + np.array([30 * camera, 40 * frame, 20])).astype(np.uint8)
            views.append((image, depth))
        found.append(views)
    return found
