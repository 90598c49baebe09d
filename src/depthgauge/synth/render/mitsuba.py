"""Mitsuba, wrapped once: which variant works here, and scenes from our meshes."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from depthgauge.errors import MissingExtra
from depthgauge.synth.scene.material import Material
from depthgauge.synth.scene.model import Light, Scene, Thing

FAST, SLOW = "llvm_ad_rgb", "scalar_rgb"
_PROBE = """
import mitsuba as mi
mi.set_variant("llvm_ad_rgb")
import drjit as dr
assert dr.sum(mi.Float([1, 2]))[0] == 3
"""


@functools.cache
def working_variant() -> tuple[str, str]:
    """The fastest variant that works, and a sentence where that is not the fast one.

    It is tried in a process of its own: with some versions of LLVM the whole process ends.
    """
    try:
        tried = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, timeout=120)
        if tried.returncode == 0:
            return FAST, ""
    except (OSError, subprocess.TimeoutExpired):
        pass
    return SLOW, (
        "Mitsuba found no LLVM that it can use, so passive images are rendered 2 to 3 times more "
        "slowly; install libllvm19 or say where it is with DRJIT_LIBLLVM_PATH."
    )


def mitsuba(variant: str) -> Any:
    """The library, set to a variant: the only place where that is done.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import mitsuba as mi
    except ImportError as error:
        raise MissingExtra(
            "passive images need Mitsuba, which is not installed; say: pip install "
            "'depthgauge[render]', or leave them out"
        ) from error
    mi.set_variant(variant)
    mi.set_log_level(mi.LogLevel.Error)
    return mi


def shapes(mi: Any, scene: Scene, texture_px: int) -> dict[str, Any]:
    """The things of a scene: the same under all illuminations."""
    return {
        f"thing{number}": _shape(mi, thing, texture_px) for number, thing in enumerate(scene.things)
    }


def loaded(mi: Any, shapes: Mapping[str, Any], lamps: Sequence[Light]) -> Any:
    """Things under lamps."""
    parts: dict[str, Any] = {
        "type": "scene",
        "integrator": {"type": "path", "max_depth": 14, "rr_depth": 8},
        **shapes,
    }
    for number, lamp in enumerate(lamps):
        parts[f"lamp{number}"] = _lamp(mi, lamp)
    return mi.load_dict(parts, optimize=False)


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
        bitmap = mi.Bitmap(picture.copy())  # it refuses read-only arrays
        colour = {"type": "bitmap", "bitmap": bitmap, "raw": True, "wrap_mode": "repeat"}
    metal = {"material": "none", "specular_reflectance": colour}
    glass = {"int_ior": 1.5, "ext_ior": 1.0}
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
    # Light that comes from the back of a thin sheet is reflected there too.
    return look if "ior" in " ".join(look) else {"type": "twosided", "bsdf": look}


def _rgb(colour: tuple[float, float, float]) -> dict[str, Any]:
    return {"type": "rgb", "value": [float(v) for v in colour]}
