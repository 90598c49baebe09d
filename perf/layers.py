"""`python -m perf.layers`: layers through glass and their motion, beside plain NumPy.

640 x 480 rays with up to four layers, in a kitchen and in the worst case, where every ray goes
through three panes and a bottle stands behind them. Plain NumPy makes the same steps on the same
Embree, whole arrays at a time; the two must agree. Writes `perf/layers.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from depthgauge.synth.library.objects import bottle, placed
from depthgauge.synth.library.rooms import kitchen
from depthgauge.synth.render.embree import TracedScene, barycentric, pixel_rays, trace
from depthgauge.synth.render.layered_motion import VALID, layered_motion
from depthgauge.synth.render.layers import trace_layers
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.camera import camera_row, pinhole, pose_looking
from depthgauge.synth.scene.material import GLASS_INDEX, Material, plain
from depthgauge.synth.scene.model import Scene, Thing
from depthgauge.types import Camera

HERE = Path(__file__).parent
SIZE, QUICK = (640, 480), (96, 72)
MOST, STEPS = 4, 12


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf.layers", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small images")
    parser.add_argument("--out", type=Path, default=HERE / "layers.json")
    options = parser.parse_args()
    size = QUICK if options.quick else SIZE
    pose = pose_looking((0.0, -0.45, 0.0), (0.05, -0.1, 1.2))
    camera = pinhole(size, 0.8 * size[0], pose)
    scenes = {"kitchen": kitchen(seed=4), "glass everywhere": glass_everywhere()}
    rows = {name: row(trace(scene), camera) for name, scene in scenes.items()}
    load = [round(part, 1) for part in os.getloadavg()]
    body = {"size_px": size, "layers": MOST, "cores": os.cpu_count(), "load": load, "scenes": rows}
    options.out.write_text(json.dumps(body, indent=1) + "\n")
    Console().print(table(rows, size))


def glass_everywhere() -> Scene:
    """Three panes that fill the view, a bottle and a wall."""
    clear = Material("glass")
    wall = meshes.rectangle((-5, -5, 3.0), (0, 10, 0), (10, 0, 0))
    things = [Thing("wall", wall, plain("#888888")), *placed(bottle("bottle", clear), 0.0, 1.2)]
    for number in range(3):
        pane = meshes.box(4.0, 4.0, 0.01).moved(y=2.0, z=0.4 + 0.1 * number)
        things.append(Thing(f"pane {number}", pane, clear))
    return Scene("glass everywhere", tuple(things), ())


def row(frame: TracedScene, camera: Camera) -> dict[str, Any]:
    """Times of one scene, in seconds."""
    layers = trace_layers(frame, camera, MOST)  # compiles
    depth = plain_layers(frame, camera)
    # A ray through an edge of two triangles may take either.
    same = np.isclose(depth, layers.depth, atol=1e-6) | (np.isnan(depth) & np.isnan(layers.depth))
    if same.mean() < 0.995:
        raise SystemExit(f"plain NumPy differs at {100 * (1 - same.mean()):.2f} % of the layers")
    right = camera_row(camera, 2, 0.1)[1]
    motion = layered_motion(frame, camera, frame, right, layers)
    through = layers.valid[1:].sum()
    return {
        "ours_s": best(lambda: trace_layers(frame, camera, MOST)),
        "plain_s": best(lambda: plain_layers(frame, camera), 1),
        "motion_s": best(lambda: layered_motion(frame, camera, frame, right, layers), 2),
        "triangles": len(frame.mesh.triangles),
        "points_behind_glass": int(through),
        "valid": float((motion.state == VALID)[layers.valid].mean()),
    }


def plain_layers(frame: TracedScene, camera: Camera) -> np.ndarray:
    """Depths of layers (L, H, W) as one would write it: every step on whole arrays."""
    eye, ways = pixel_rays(camera)
    ways = ways / np.linalg.norm(ways, axis=1)[:, None]
    starts, faces = np.tile(eye, (len(ways), 1)), frame.rays.normals()
    axis = camera.world_from_camera[:3, 2]
    out, count = np.full((MOST, len(ways)), np.nan), np.zeros(len(ways), int)
    alive = np.arange(len(ways))
    for _ in range(STEPS):
        begin = starts[alive] + 1e-5 * ways[alive]
        hits = frame.rays.cast(begin, ways[alive])
        hit = hits.triangle >= 0
        alive, triangle = alive[hit], hits.triangle[hit]
        starts[alive] = begin[hit] + hits.distance[hit, None] * ways[alive]
        enters = np.einsum("ij,ij->i", faces[triangle], ways[alive]) < 0
        clear = frame.surfaces[triangle] == 1
        rough = frame.looks(triangle) == "frosted"
        counted = enters | ~clear | rough
        layer = alive[counted]
        out[count[layer], layer] = (starts[layer] - eye) @ axis
        count[layer] += 1
        on = clear & ~rough & (count[alive] < MOST)
        alive, triangle, enters = alive[on], triangle[on], enters[on]
        ways[alive] = bent(frame, faces, starts[alive], ways[alive], triangle, enters)
        alive = alive[np.isfinite(ways[alive, 0])]
        if not len(alive):
            break
    width, height = camera.size_px
    return out.reshape(MOST, height, width)


def bent(
    frame: TracedScene,
    faces: np.ndarray,
    points: np.ndarray,
    ways: np.ndarray,
    triangle: np.ndarray,
    enters: np.ndarray,
) -> np.ndarray:
    """Directions behind surfaces by Snell's law; NaN where all light is reflected."""
    flat = np.where(enters[:, None], faces[triangle], -faces[triangle])
    shares = barycentric(frame.mesh, points, triangle)
    smooth = np.einsum("ij,ijk->ik", shares, frame.mesh.normals[frame.mesh.triangles[triangle]])
    smooth /= np.linalg.norm(smooth, axis=1, keepdims=True)
    smooth *= np.sign(np.einsum("ij,ij->i", smooth, flat))[:, None]
    away = np.einsum("ij,ij->i", smooth, ways) >= 0
    normal = np.where(away[:, None], flat, smooth)
    ratio = np.where(enters, 1 / GLASS_INDEX, GLASS_INDEX)
    cosine = -np.einsum("ij,ij->i", ways, normal)
    with np.errstate(invalid="ignore"):
        root = np.sqrt(1 - ratio**2 * (1 - cosine**2))
    new = ratio[:, None] * ways + (ratio * cosine - root)[:, None] * normal
    return new / np.linalg.norm(new, axis=1, keepdims=True)


def best(call: Callable[[], Any], times: int = 4) -> float:
    """The shortest of some calls."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken)


def table(rows: dict[str, dict[str, Any]], size: tuple[int, int]) -> Table:
    made = Table("scene", title=f"seconds, {size[0]}x{size[1]}, up to {MOST} layers")
    for heading in ("layers", "plain NumPy", "disparity of all layers", "points behind glass"):
        made.add_column(heading, justify="right")
    for name, found in rows.items():
        numbers = [f"{found[key]:.2f}" for key in ("ours_s", "plain_s", "motion_s")]
        made.add_row(name, *numbers, str(found["points_behind_glass"]))
    return made


if __name__ == "__main__":
    main()
