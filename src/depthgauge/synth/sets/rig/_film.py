"""Frames of a scene: pictures and depth of all six cameras, one time after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from depthgauge.datasets._stereogen.poses import rig_poses
from depthgauge.synth.library.environments import Environment
from depthgauge.synth.library.subjects import performed
from depthgauge.synth.render.lighting import Lighting
from depthgauge.synth.render.painted import texture_px
from depthgauge.synth.render.shaded import ShadedPlace, View
from depthgauge.synth.scene.light import Light
from depthgauge.synth.scene.model import Scene
from depthgauge.synth.scene.texture import stored
from depthgauge.synth.sets.rig._proposal import SENSOR_MM, Proposal
from depthgauge.synth.sets.rig._trajectory import Trajectory
from depthgauge.synth.sets.rig._world import prepared
from depthgauge.types import Camera

Floats = NDArray[np.float64]
_SAMPLED = 40
"""Rays along each side of the image that find the farthest depth."""
_MIDDLE = 0.32
"""Mean light of the first picture of a path-traced scene, from which its exposure follows."""


def film(
    proposal: Proposal, way: Trajectory, size_px: tuple[int, int], farthest_m: float
) -> Iterator[list[View]]:
    """What all cameras see at every frame, by direct light.

    Args:
        proposal: The scene.
        way: Where its cameras are.
        size_px: Width and height.
        farthest_m: Depth beyond this is not stored.
    """
    side = texture_px(size_px[0])
    still = prepared(proposal.map_name, proposal.layout, side)
    things, motions = performed(proposal.subject, proposal.action, proposal.look, proposal.path)
    place = ShadedPlace.of(still, proposal.world.place.lighting, things, motions)
    for time_s, cameras in zip(proposal.times_s, cameras_of(proposal, way, size_px), strict=True):
        moment = place.at(float(time_s))
        views = [moment.view(camera) for camera in cameras]
        yield [View(v.image, _limited(v.depth, farthest_m), v.moving) for v in views]


def traced_film(
    proposal: Proposal,
    way: Trajectory,
    size_px: tuple[int, int],
    farthest_m: float,
    samples: int,
    seed: int,
) -> Iterator[list[View]]:
    """The same by path tracing: depth as before, pictures by Mitsuba, one exposure for all.

    Raises:
        MissingExtra: Mitsuba or the denoiser is not installed.
    """
    from depthgauge.synth.render.lit import RoomTracer

    side = texture_px(size_px[0])
    things, motions = performed(proposal.subject, proposal.action, proposal.look, proposal.path)
    place = proposal.world.place
    scene = Scene(proposal.map_name, (*place.things, *things), ((),), motions=motions)
    lamps, sky = lamps_and_sky(place.lighting)
    exposure = 0.0
    rows = cameras_of(proposal, way, size_px)
    for number, views in enumerate(film(proposal, way, size_px, farthest_m)):
        tracer = RoomTracer(scene, side, float(proposal.times_s[number]))
        lit = tracer.under(lamps, sky)
        shown = []
        for index, (camera, view) in enumerate(zip(rows[number], views, strict=True)):
            # Noise of its own for every view: equal noise would look like a surface far away.
            own = seed + 1000 * (len(views) * number + index)
            light = tracer.render(lit, camera, samples, own % (1 << 30))
            exposure = exposure or _MIDDLE / max(float(np.mean(light)), 1e-9)
            picture = np.rint(stored(np.clip(exposure * light.astype(np.float64), 0, None)))
            shown.append(View(picture.astype(np.uint8), view.depth, view.moving))
        yield shown


def cameras_of(proposal: Proposal, way: Trajectory, size_px: tuple[int, int]) -> list[list[Camera]]:
    """The cameras at every frame."""
    focal = tuple(proposal.focal_mm / s * n for s, n in zip(SENSOR_MM, size_px, strict=True))
    centre = ((size_px[0] - 1) / 2, (size_px[1] - 1) / 2)
    return [
        [Camera((focal[0], focal[1]), centre, size_px, world_from_camera=pose) for pose in row]
        for row in rig_poses(way.base, proposal.gaps_cm)
    ]


def farthest(proposal: Proposal, way: Trajectory) -> float:
    """About the greatest depth in any picture, by a few rays of each."""
    half = np.array(SENSOR_MM) / (2 * proposal.focal_mm)
    along = np.linspace(-1, 1, _SAMPLED)
    x, y = np.meshgrid(along * half[0], along * half[1])
    local = np.stack([x.ravel(), y.ravel(), np.ones(x.size)], axis=-1)
    most = 1.0
    frames = np.unique(np.linspace(0, len(way.base) - 1, 9).astype(int))
    for row in rig_poses(way.base[frames], proposal.gaps_cm):
        for pose in row:
            far = proposal.world.distance(pose[:3, 3], local @ pose[:3, :3].T)
            most = max(most, float(far[far < 1e30].max(initial=0.0)))
    return 1.1 * most


def lamps_and_sky(lighting: Lighting) -> tuple[list[Light], NDArray[np.float32]]:
    """Lamps and a sky for the path tracer that resemble the direct light."""
    lamps, sun, up, turn = [], (0.0, 0.0, 0.0), 40.0, 0.0
    for lamp in lighting.lamps:
        x, y, z = lamp.place
        if lamp.reach_m > 0:
            bright = tuple(4 * lamp.reach_m**2 * part for part in lamp.colour)
            colour = (bright[0], bright[1], bright[2])
            lamps.append(Light((x, y + 0.02, z), (x, 0.0, z), (0.5, 0.5), colour))
            continue
        sun = (180 * lamp.colour[0], 180 * lamp.colour[1], 180 * lamp.colour[2])
        up = math.degrees(math.atan2(-y, math.hypot(x, z)))
        turn = math.degrees(math.atan2(z, x))
    sky = Environment("rig", lighting.zenith, lighting.horizon, lighting.below, sun, up, 4.0)
    return lamps, sky.picture(turn_deg=turn)


def _limited(depth: NDArray[np.float32], farthest_m: float) -> NDArray[np.float32]:
    with np.errstate(invalid="ignore"):
        return np.where(depth <= farthest_m, depth, np.float32(np.nan))
