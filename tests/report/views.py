"""Small made photographs with all that single-image benchmarks score, and runs on them."""

from __future__ import annotations

import numpy as np

import depthgauge as dg
from depthgauge.benchmarks import make_protocol
from depthgauge.datasets import DATASETS
from depthgauge.types import Camera, Estimate, Inputs, Sample, Truth

SIZE = (60, 80)
PLANES, SPHERE = (1, 2, 3), 4
SCORES = {
    "normals": [
        {"metric": "mean_angle", "region": ""},
        {"metric": "median_angle", "region": ""},
        {"metric": "within", "degrees": [11.25, 30], "region": ""},
        {"metric": "balanced_angle", "region": ""},
        {"metric": "ap_parallel", "region": ""},
        {"metric": "ap_orthogonal", "region": ""},
    ],
    "boundaries": [
        {"metric": "ods", "classes": "occlusion_fold", "name": "ods", "region": ""},
        {"metric": "ois", "classes": "occlusion_fold", "name": "ois", "region": ""},
        {"metric": "boundary_ap", "classes": "occlusion_fold", "name": "ap", "region": ""},
    ],
    "planes": [
        {"metric": "plane_ap", "overlap": 0.5, "name": "ap50", "region": ""},
        {"metric": "plane_ap", "overlap": 0.75, "name": "ap75", "region": ""},
    ],
    "depth": [
        {"metric": "lsiv", "region": ""},
        {"metric": "lsiv_root", "region": ""},
        {"metric": "wkdr", "region": ""},
    ],
}


def scene(n, size=SIZE):
    """A floor, a back wall, a side wall and a ball; each sample has them elsewhere."""
    rng = np.random.default_rng(n)
    height, width = size
    camera = Camera((width, width), (width / 2, height / 2), (width, height))
    y, x = np.mgrid[:height, :width].astype(np.float64)
    rays = np.stack([(x - width / 2) / width, (y - height / 2) / width, np.ones_like(x)], axis=-1)
    far, low, side = 4 + rng.uniform(0, 1), 0.8 + rng.uniform(0, 0.3), 1 + rng.uniform(0, 0.4)
    depths = [np.full(size, far)]
    with np.errstate(divide="ignore"):
        depths.append(np.where(rays[..., 1] > 0, low / rays[..., 1], np.inf))
        depths.append(np.where(rays[..., 0] < 0, -side / rays[..., 0], np.inf))
    normals = [(0, 0, -1), (0, -1, 0), (1, 0, 0)]
    centre, radius = np.array([rng.uniform(-0.2, 0.7), low - 0.6, 2.6]), 0.5
    a = (rays**2).sum(axis=-1)
    b = rays @ centre
    root = b * b - a * (centre @ centre - radius**2)
    depths.append(np.where(root > 0, (b - np.sqrt(np.maximum(root, 0))) / a, np.inf))
    ids = np.argmin(depths, axis=0) + 1
    depth = np.min(depths, axis=0)
    ball = (depth[..., None] * rays - centre) / radius
    vectors = np.select([(ids == k + 1)[..., None] for k in range(3)], normals, ball)
    return camera, ids, depth.astype(np.float32), vectors.astype(np.float32)


def sample(n, size=SIZE):
    camera, ids, depth, normals = scene(n, size)
    height, width = size
    roi = np.ones(size, bool)
    roi[:, : width // 20] = False
    changes = np.zeros(size, bool)
    changes[:, 1:] |= ids[:, 1:] != ids[:, :-1]
    changes[1:] |= ids[1:] != ids[:-1]
    near = np.zeros(size, bool)
    near[:, 1:] |= (ids[:, 1:] == SPHERE) | (ids[:, :-1] == SPHERE)
    near[1:] |= (ids[1:] == SPHERE) | (ids[:-1] == SPHERE)
    lines = np.stack([changes & near, changes & ~near], axis=-1).astype(np.float32)
    shade = np.clip(-normals @ np.array([0.3, -0.5, 0.8]) * 0.5 + 0.5, 0, 1)
    colours = np.array([[0, 0, 0], [200, 190, 170], [150, 110, 80], [120, 150, 180], [220, 80, 60]])
    image = (colours[ids] * (0.4 + 0.6 * shade[..., None])).astype(np.uint8)

    def outside(values):
        values = np.array(values, np.float32)
        values[~roi] = np.nan
        return values

    rng = np.random.default_rng(n + 99)
    points = rng.integers((0, 0), (width, height), (40, 2, 2)).reshape(-1, 4)
    first, second = (ids[points[:, k + 1], points[:, k]] for k in (0, 2))
    flat = (first != SPHERE) & (second != SPHERE)
    relation = np.where(first == second, 1, 2)
    tilted = (first == SPHERE) | (second == SPHERE)
    pairs = np.column_stack([points, np.where(tilted, 0, relation)]).astype(np.int32)
    deeper = np.sign(depth[points[:, 1], points[:, 0]] - depth[points[:, 3], points[:, 2]])
    order = np.column_stack([points, deeper]).astype(np.int32)
    return Sample(
        f"view{n:02}",
        Inputs({"left_image": image}),
        Truth(
            {
                "depth": outside(depth),
                "normals": outside(normals),
                "boundaries": outside(lines),
                "planes": outside(np.where(ids == SPHERE, 0, ids)),
                "camera": camera,
                "roi_mask": roi,
                "continuous_labels": np.where(roi, 1 + (ids == SPHERE), 0).astype(np.int32),
                "smooth_labels": np.where(roi, ids, 0).astype(np.int32),
                "relative_depth": order[order[:, 4] != 0],
                "relative_normals": pairs[flat | tilted],
            }
        ),
    )


def exact(inputs):
    """All that `scene` knows of the sample that a method is given."""
    return scene(int(inputs["sample"][4:]), inputs["left_image"].shape[:2])


def estimators(quantity):
    """Three methods of a quantity, best first; the last one fails on one sample."""

    def noise(inputs, level, shape):
        return level * np.random.default_rng(int(inputs["sample"][4:])).normal(size=shape)

    def normals(inputs, level):
        truth = exact(inputs)[3]
        return truth + noise(inputs, level, truth.shape)

    def depth(inputs, level):
        truth = exact(inputs)[2]
        values = 3.0 * truth * np.exp(noise(inputs, level, truth.shape))
        return Estimate(
            values.astype(np.float32), "depth", parts={"focal_px": 1.1 * truth.shape[1]}
        )

    def boundaries(inputs, level):
        ids = exact(inputs)[1]
        lines = np.zeros(ids.shape)
        lines[:, 1:] = ids[:, 1:] != ids[:, :-1]
        lines[1:] = np.maximum(lines[1:], ids[1:] != ids[:-1])
        found = np.clip(0.7 * lines + np.abs(noise(inputs, level, ids.shape)), 0, 1)
        kind = np.clip(0.5 + noise(inputs, 1.5, ids.shape) * level + 0.3 * (ids == SPHERE), 0, 1)
        return np.stack([found, kind], axis=-1).astype(np.float32)

    def planes(inputs, level):
        ids = exact(inputs)[1]
        shift = round(20 * level)
        masks = [np.roll(ids == k, shift, axis=1) * (0.9 - 0.1 * k) for k in PLANES]
        masks += [(ids == SPHERE) * (0.95 if level > 0.2 else 0.2)]
        return np.stack(masks, axis=-1).astype(np.float32)

    made = locals()[quantity]

    def good(inputs):
        return made(inputs, 0.05)

    def fair(inputs):
        return made(inputs, 0.25)

    def poor(inputs):
        if inputs["sample"] == "view01":
            raise RuntimeError("no idea")
        return made(inputs, 0.6)

    return [good, fair, poor]


def protocol_of(quantity, **more):
    body = {
        "id": f"views-{quantity}",
        "version": 1,
        "title": f"Made views, {quantity}",
        "dataset": "depthgauge",
        "quantity": quantity,
        "pool": "pixel",
        "scores": SCORES[quantity],
        **more,
    }
    return make_protocol(body, "a test")


def write_views(root, count=9, size=SIZE):
    samples = [sample(n, size) for n in range(count)]
    DATASETS["depthgauge"].write(root, samples, id="views", title="Made views", licence="CC0")
    return root


def run_views(quantity, root, data, **more):
    return dg.run(protocol_of(quantity, **more), data, estimators(quantity), root, workers=0)
