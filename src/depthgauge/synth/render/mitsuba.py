"""Pictures by path tracing: Mitsuba, wrapped once.

The path tracer has no lens distortion. It renders a larger picture of an ideal camera
(`wide_pinhole`), which is then resampled through the exact lens (`through_lens`).
"""

from __future__ import annotations

import functools
import math
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import MissingExtra
from depthgauge.geometry.projection import project, slopes_at
from depthgauge.synth.scene.light import Light
from depthgauge.synth.scene.material import GLASS_INDEX, Material
from depthgauge.synth.scene.model import Scene, Thing
from depthgauge.types import Camera

Floats = NDArray[np.float32]

FAST, SLOW = "llvm_ad_rgb", "scalar_rgb"
_WAVE = 3_000_000
"""Paths at a time, which limits the memory."""
_PROBE = """
import mitsuba as mi
mi.set_variant("llvm_ad_rgb")
import drjit as dr
assert dr.sum(mi.Float([1, 2]))[0] == 3
"""


@functools.cache
def working_variant() -> tuple[str, str]:
    """The fastest variant that works, and a warning if it is the slow one.

    It is tried in a separate process, because some versions of LLVM abort the process.
    """
    try:
        tried = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, timeout=120)
        if tried.returncode == 0:
            return FAST, ""
    except (OSError, subprocess.TimeoutExpired):
        pass
    return SLOW, (
        "Mitsuba found no LLVM that it can use, so passive images are rendered 2 to 3 times more "
        "slowly; install libllvm19 or set DRJIT_LIBLLVM_PATH to its path."
    )


def mitsuba(variant: str) -> Any:
    """The library, set to a variant. Nothing else sets it.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import mitsuba as mi
    except ImportError as error:
        raise MissingExtra(
            "passive images need Mitsuba, which is not installed; run: pip install "
            "'depthgauge[render]', or leave them out"
        ) from error
    mi.set_variant(variant)
    mi.set_log_level(mi.LogLevel.Error)
    return mi


class PathTracer:
    """Renders a scene at one time under any lamps, seen by any camera without distortion."""

    def __init__(self, scene: Scene, texture_px: int, time_s: float = 0.0) -> None:
        """Chooses the variant of Mitsuba; shapes are loaded when they are first needed.

        Args:
            scene: What is seen.
            texture_px: Side of the textures' pictures.
            time_s: The time of the scene.

        Raises:
            MissingExtra: Mitsuba is not installed.
        """
        variant, self.warning = working_variant()
        self._mi = mitsuba(variant)
        self._scene, self._time_s, self._texture_px = scene, time_s, texture_px
        self._shapes: dict[str, Any] | None = None

    def lit(self, lamps: Sequence[Light]) -> Any:
        """Mitsuba's scene under lamps."""
        if self._shapes is None:
            self._shapes = {
                f"thing{number}": _shape(self._mi, thing, self._texture_px)
                for number, thing in enumerate(self._scene.things_at(self._time_s))
            }
        parts: dict[str, Any] = {
            "type": "scene",
            "integrator": {"type": "path", "max_depth": 14, "rr_depth": 8},
            **self._shapes,
        }
        for number, lamp in enumerate(lamps):
            parts[f"lamp{number}"] = _lamp(self._mi, lamp)
        return self._mi.load_dict(parts, optimize=False)

    def render(self, lit: Any, camera: Camera, samples: int, seed: int) -> Floats:
        """Linear light (H, W, 3), the mean of passes that fit into the memory.

        Args:
            lit: The result of `lit`.
            camera: Without distortion.
            samples: Light paths for each pixel.
            seed: Seed of the paths.
        """
        width, height = camera.size_px
        each = max(1, min(samples, _WAVE // (width * height)))
        total = np.zeros((height, width, 3), np.float64)
        taken = 0
        for number in range(math.ceil(samples / each)):
            now = min(each, samples - taken)
            sensor = self._mi.load_dict(self._sensor(camera, now))
            image = self._mi.render(lit, sensor=sensor, spp=now, seed=seed + number)
            total += now * np.asarray(image, np.float64)[..., :3]
            taken += now
        return np.asarray(total / taken, np.float32)

    def _sensor(self, camera: Camera, samples: int) -> dict[str, Any]:
        # Mitsuba's cameras have x to the left and y up.
        pose = camera.world_from_camera @ np.diag([-1.0, -1.0, 1.0, 1.0])
        width, height = camera.size_px
        angle = 2 * math.degrees(math.atan(width / 2 / camera.focal_px[0]))
        film = {"type": "hdrfilm", "width": width, "height": height, "pixel_format": "rgb"}
        return {
            "type": "perspective",
            "fov": angle,
            "fov_axis": "x",
            "near_clip": 0.02,
            "far_clip": 50.0,
            "to_world": self._mi.ScalarTransform4f(pose.tolist()),
            "sampler": {"type": "independent", "sample_count": samples},
            "film": {**film, "rfilter": {"type": "box"}, "component_format": "float32"},
        }


def wide_pinhole(camera: Camera, finer: float) -> Camera:
    """An ideal camera at the same place whose image covers all that the lens sees."""
    width, height = camera.size_px
    xs, ys = (np.linspace(-0.5, n - 0.5, 65) for n in (width, height))
    sides = [(x, y) for x in xs for y in ys[[0, -1]]], [(x, y) for y in ys for x in xs[[0, -1]]]
    reach = np.abs(slopes_at(np.array([*sides[0], *sides[1]]), camera)).max(axis=0)
    focal = camera.focal_px[0] * finer
    # Two pixels more on each side, for the interpolation.
    size = [2 * math.ceil(float(r) * focal + 2) for r in reach]
    centre = ((size[0] - 1) / 2, (size[1] - 1) / 2)
    pose = camera.world_from_camera
    return Camera((focal, focal), centre, (size[0], size[1]), (), pose)


def through_lens(light: Floats, ideal: Camera, camera: Camera) -> Floats:
    """An ideal camera's picture as the lens shows it; never negative."""
    import cv2

    width, height = camera.size_px
    out = np.zeros((height, width, 3), np.float32)
    for first in range(0, height, 512):
        y, x = np.mgrid[first : min(first + 512, height), 0:width]
        slopes = slopes_at(np.stack([x, y], axis=-1).astype(np.float64), camera)
        ways = np.concatenate([slopes, np.ones((*slopes.shape[:2], 1))], axis=-1)
        at = project(ways, ideal).astype(np.float32)
        out[first : first + 512] = cv2.remap(light, at[..., 0], at[..., 1], cv2.INTER_CUBIC)
    return np.maximum(out, 0.0)


def _shape(mi: Any, thing: Thing, texture_px: int) -> Any:
    mesh = thing.mesh
    props = mi.Properties()
    props["bsdf"] = mi.load_dict(_bsdf(mi, thing.material, texture_px))
    shape = mi.Mesh(
        thing.name,
        len(mesh.vertices),
        len(mesh.triangles),
        props,
        has_vertex_normals=True,
        has_vertex_texcoords=True,
    )
    values = mi.traverse(shape)
    side = thing.material.texture_m
    values["vertex_positions"] = mesh.vertices.astype(np.float32).ravel()
    values["vertex_normals"] = mesh.normals.astype(np.float32).ravel()
    values["vertex_texcoords"] = (mesh.uv / side).astype(np.float32).ravel()
    values["faces"] = mesh.triangles.astype(np.uint32).ravel()
    values.update()
    return shape


def _lamp(mi: Any, lamp: Light) -> dict[str, Any]:
    wide, high = lamp.size_m
    up = [0, 0, 1] if abs(lamp.centre[1] - lamp.towards[1]) > 1.2 else [0, -1, 0]
    place = mi.ScalarTransform4f
    to_world = place().look_at(origin=list(lamp.centre), target=list(lamp.towards), up=up)
    return {
        "type": "rectangle",
        "to_world": to_world @ place().scale([wide / 2, high / 2, 1]),
        "emitter": {"type": "area", "radiance": _rgb(lamp.colour)},
    }


def _bsdf(mi: Any, material: Material, texture_px: int) -> dict[str, Any]:
    colour: dict[str, Any] = _rgb(material.colour)
    picture = material.picture(texture_px)
    if picture is not None:
        bitmap = mi.Bitmap(picture.copy())  # it rejects read-only arrays
        colour = {"type": "bitmap", "bitmap": bitmap, "raw": True, "wrap_mode": "repeat"}
    metal = {"material": "none", "specular_reflectance": colour}
    glass = {"int_ior": GLASS_INDEX, "ext_ior": 1.0}
    looks: dict[str, dict[str, Any]] = {
        "diffuse": {"type": "diffuse", "reflectance": colour},
        "ceramic": {"type": "roughplastic", "diffuse_reflectance": colour, "alpha": 0.06},
        "mirror": {"type": "conductor", **metal},
        "polished": {"type": "roughconductor", "alpha": 0.015, **metal},
        "rough": {"type": "roughconductor", "alpha": 0.11, **metal},
        "brushed": {"type": "roughconductor", "alpha_u": 0.14, "alpha_v": 0.38, **metal},
        "glass": {"type": "dielectric", **glass},
        "tinted": {"type": "dielectric", "specular_transmittance": colour, **glass},
        "frosted": {"type": "roughdielectric", "alpha": 0.32, **glass},
    }
    look = looks[material.look]
    # The back of a thin sheet reflects light too.
    return look if "ior" in " ".join(look) else {"type": "twosided", "bsdf": look}


def _rgb(colour: tuple[float, float, float]) -> dict[str, Any]:
    return {"type": "rgb", "value": [float(v) for v in colour]}
