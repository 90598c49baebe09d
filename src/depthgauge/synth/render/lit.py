"""Pictures of rooms: the path tracer with a sky, and with materials of any index and roughness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.render.mitsuba import FAST, PathTracer, _lamp, _rgb, _shape, working_variant
from depthgauge.synth.scene.light import Light
from depthgauge.synth.scene.material import (
    Finish,
    index_of,
    is_thin,
    outside_index_of,
    roughness_of,
)
from depthgauge.synth.scene.model import Scene, Thing

_DEPTH = 24
"""Surfaces that a path may meet: two hollow bottles one behind the other are eight."""
_SURE = 6
"""Surfaces after which a path that carries little light may end. Glass takes little, so paths
through it go on; waiting for twelve doubles the time and lowers the noise by 5 %."""


class RoomTracer(PathTracer):
    """Renders a scene at one time under lamps and a sky.

    It works on one thread, so that the same seed always gives the same bits; several pictures are
    made at once by several processes.
    """

    def __init__(self, scene: Scene, texture_px: int, time_s: float = 0.0) -> None:
        """As `PathTracer`.

        Raises:
            MissingExtra: Mitsuba is not installed.
        """
        super().__init__(scene, texture_px, time_s)
        self.variant = working_variant()[0]
        if self.variant == FAST:
            import drjit

            drjit.set_thread_count(1)

    def under(self, lamps: Sequence[Light], sky: NDArray[np.float32]) -> Any:
        """Mitsuba's scene under lamps and a sky.

        Args:
            lamps: Rectangular lamps.
            sky: Radiance (H, 2 H, 3) by direction, as `Environment.picture` gives it.
        """
        mi = self._mi
        parts: dict[str, Any] = {
            "type": "scene",
            "integrator": {"type": "path", "max_depth": _DEPTH, "rr_depth": _SURE},
            "sky": {
                "type": "envmap",
                "bitmap": mi.Bitmap(np.ascontiguousarray(sky)),
                # Its y is up, ours is down.
                "to_world": mi.ScalarTransform4f().rotate([1, 0, 0], 180),
            },
        }
        for number, thing in enumerate(self._scene.things_at(self._time_s)):
            parts[f"thing{number}"] = self._finished(thing)
        for number, lamp in enumerate(lamps):
            parts[f"lamp{number}"] = _lamp(mi, lamp)
        return mi.load_dict(parts, optimize=False)

    def _finished(self, thing: Thing) -> Any:
        shape = _shape(self._mi, thing, self._texture_px)
        if isinstance(thing.material, Finish):
            shape.set_bsdf(self._mi.load_dict(_finish(thing.material)))
        return shape


def _finish(material: Finish) -> dict[str, Any]:
    """Mitsuba's description of a material with an index and a roughness of its own."""
    colour, alpha = _rgb(material.colour), roughness_of(material)
    rough = {"alpha": alpha} if alpha > 0 else {}
    if material.transparent:
        glass = {"int_ior": index_of(material), "ext_ior": outside_index_of(material)}
        if is_thin(material):
            return {"type": "thindielectric", "specular_transmittance": colour, **glass}
        kind = "roughdielectric" if rough else "dielectric"
        return {"type": kind, "specular_transmittance": colour, **glass, **rough}
    if material.look == "diffuse":
        look: dict[str, Any] = {"type": "diffuse", "reflectance": colour}
    elif material.look == "ceramic":
        look = {"type": "roughplastic", "diffuse_reflectance": colour, **rough}
    else:
        kind = "roughconductor" if rough else "conductor"
        look = {"type": kind, "material": "none", "specular_reflectance": colour, **rough}
    return {"type": "twosided", "bsdf": look}
