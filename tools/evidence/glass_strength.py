"""How strong must the glass be: both layers' errors against refraction, tint and roughness.

One block of glass moves before a painted wall that moves otherwise. Only its material changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.methods import find_method
from depthgauge.synth.library.environments import ENVIRONMENTS
from depthgauge.synth.library.glassware._bodies import superquadric
from depthgauge.synth.render.embree import trace
from depthgauge.synth.render.layered_motion import layered_motion, refraction_px
from depthgauge.synth.render.layers import trace_layers
from depthgauge.synth.render.lit import RoomTracer
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene import texture as paints
from depthgauge.synth.scene.camera import pinhole
from depthgauge.synth.scene.material import Finish, Material
from depthgauge.synth.scene.model import Scene, Thing
from depthgauge.synth.scene.motion import Chain, Moving, Turning
from depthgauge.types import Inputs
from tools.evidence import Number, figure, within

AXES: dict[str, tuple[float, ...]] = {
    "index": (1.0, 1.05, 1.1, 1.2, 1.33, 1.5, 1.8),
    "tint": (0.0, 0.3, 0.6, 0.8, 0.9, 0.95),
    "roughness": (0.0, 0.03, 0.06, 0.1, 0.15, 0.19),
}
"""Refractive index; share of light that each surface takes away; slopes of the microfacets."""
TAU_PX = 1.0
METHODS = ("dis", "peel:prune=false")
CAMERA = pinhole((200, 150), 190.0)
_SAMPLES, _MIDDLE, _SEED = 48, 0.22, 1
_AT_M = (0.0, 0.0, 1.0)
_PAINT = paints.Mottled(((0.05,) * 3, (0.4,) * 3, (0.9,) * 3), paints.waves(3, 0.06, 3))


@figure(
    "glass-strength",
    data="a block of glass before a painted wall, 200x150 px, 48 paths a pixel, both move",
    needs=("embreex", "mitsuba"),
)
def glass_strength() -> Iterator[Number]:
    """Errors of both layers where the block is, against the strength of its glass."""
    found: dict[tuple[str, float, str], float] = {}
    for axis, values in AXES.items():
        for value in values:
            for name, rate in _measured(axis, value):
                found[axis, value, name] = rate
                yield Number(f"{axis} {value:g}, {name}", rate)
    strong, weak = AXES["index"][-1], AXES["index"][0]
    behind = "dis, layer 2: bad, %"
    gain = found["index", strong, behind] - found["index", weak, behind]
    yield within("what glass of the largest index adds behind it, dis, points", gain, 10, 100)
    yield within(f"index 1, {behind}", found["index", 1.0, behind], 0, 5)


def _measured(axis: str, value: float) -> Iterator[tuple[str, float]]:
    inputs, truth, bend = _pair(_glass(axis, value))
    yield "refraction: median px", bend
    for method in METHODS:
        flow = _flow(method, inputs, len(truth))
        for layer in (0, 1):
            where = np.isfinite(truth[1, ..., 0]) & np.isfinite(truth[layer, ..., 0])
            off = np.linalg.norm(flow[layer] - truth[layer], axis=-1)[where]
            yield f"{method}, layer {layer + 1}: bad, %", 100 * float(np.mean(~(off <= TAU_PX)))
            yield f"{method}, layer {layer + 1}: EPE, px", float(off.mean())


def _flow(method: str, inputs: Inputs, layers: int) -> NDArray[Any]:
    if method == "dis":
        return np.stack([find_method(method).estimate(inputs, "flow").values] * layers)
    return np.asarray(find_method(method).estimate(inputs, "layered_flow").values)


def _glass(axis: str, value: float) -> Finish:
    if axis == "index":
        return Finish("glass", (1.0,) * 3, index=value)
    if axis == "tint":
        return Finish("glass", (1.0 - value,) * 3, index=1.33)
    return Finish("glass", (1.0,) * 3, index=1.33, roughness=value)


def _pair(glass: Finish) -> tuple[Inputs, NDArray[Any], float]:
    """Pictures of both times, flow of two layers, and how far the block bends the view."""
    wall = Material("diffuse", (0.4,) * 3, _PAINT, 2.0)
    sheet = meshes.rectangle((-1.5, -1.5, 1.6), (3.0, 0.0, 0.0), (0.0, 3.0, 0.0))
    block = superquadric((0.3, 0.22, 0.07), 0.45).turned(12).moved(0.0, 0.22, 1.0)
    turning = Chain((Turning(3.0, "y", _AT_M), Moving((-0.022, 0.01, 0.0))))
    things = (Thing("wall", sheet, wall), Thing("block", block, glass))
    scene = Scene("wall", things, ()).moving({"block": turning, "wall": Moving((0.025, 0.01, 0.0))})
    before, after = (trace(scene, time_s) for time_s in (0.0, 1.0))
    first, second = (trace_layers(frame, CAMERA, 2) for frame in (before, after))
    motion = layered_motion(before, CAMERA, after, CAMERA, first, second)
    bend = refraction_px(first, CAMERA)[1]
    names = ("first_image", "second_image")
    pictures = _pictures(scene)
    median = float(np.nanmedian(bend)) if np.isfinite(bend).any() else 0.0
    return Inputs(dict(zip(names, pictures, strict=True))), motion.flow, median


def _pictures(scene: Scene) -> list[NDArray[np.uint8]]:
    sky = ENVIRONMENTS["clouds"].picture()
    light = []
    for time_s in (0.0, 1.0):
        tracer = RoomTracer(scene, 512, time_s)
        light.append(tracer.render(tracer.under((), sky), CAMERA, _SAMPLES, _SEED + int(time_s)))
    exposure = _MIDDLE / float(np.median(light[0]))
    return [
        np.rint(paints.stored(exposure * np.maximum(linear, 0.0))).astype(np.uint8)
        for linear in light
    ]
