"""The rows of the table: what is timed, beside what, and the limit of the machine."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import cv2
import imageio.v3 as imageio
import numpy as np

from depthgauge.io import read_map, write_map
from depthgauge.metrics.fused.columns import columns_of
from depthgauge.metrics.terms import ABS, mean, own
from depthgauge.regions import pack
from depthgauge.types import Map
from perf import protocol
from perf.memory import extra_memory
from perf.scenes import FULL, Scene, make_scene

QUICK = (240, 320)
PNG_SCALE = 64.0


@dataclass
class Row:
    """One line of `results.json`, times in seconds."""

    name: str
    ours_s: float
    peers: dict[str, float] = field(default_factory=dict)
    limit_s: float | None = None
    extra_memory_maps: float | None = None
    """Extra peak memory of our call, in float32 copies of the map."""

    def as_json(self) -> dict[str, Any]:
        """Without the memory where it was not measured."""
        return {k: v for k, v in asdict(self).items() if k != "extra_memory_maps" or v is not None}


def best(call: Callable[[], Any], seconds: float = 2.0, most: int = 30) -> float:
    """The shortest of as many calls as fit in that time, after one that warms up."""
    call()
    times: list[float] = []
    while sum(times) < seconds and len(times) < most:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def all_rows(quick: bool) -> Iterator[Row]:
    """Every row, in order; the run ends where two versions disagree."""
    shape = QUICK if quick else FULL
    size = f"{shape[0] * shape[1] / 1e6:.1f} Mpx"
    yield from protocol_rows(make_scene(shape), size)
    yield random_row(make_scene(shape, random_regions=True), size)
    yield from own_rows(make_scene(shape), size)
    for megapixels in (0.02, 0.08) if quick else (0.3, 3, 12.4, 48):
        height = round((megapixels * 1e6 * FULL[0] / FULL[1]) ** 0.5)
        yield scaling_row(make_scene((height, round(height * FULL[1] / FULL[0]))))
    yield from reading_rows(make_scene(shape).estimate, size)


def protocol_rows(scene: Scene, size: str) -> Iterator[Row]:
    """The pass on a packed plane, the packing, and both together as the public call."""
    plane = pack(scene.masks, scene.truth)
    floor = best(lambda: protocol.limit(scene.estimate, scene.truth, plane.codes))
    masks_floor = best(
        lambda: (
            [protocol.total(m.view(np.uint8).ravel()) for m in scene.masks.values()]
            + [protocol.total(scene.truth.ravel())]
        )
    )
    versions = {"plain NumPy": protocol.plain_numpy, "careful NumPy": protocol.careful_numpy}
    for quantiles in (False, True):
        what = "bad-2/4/6/8, MAE, RMSE" + (", A50/A90/A99" if quantiles else "")
        expected = protocol.ours(scene.estimate, scene.truth, plane, quantiles)
        scores = protocol.public(scene, quantiles)
        found = protocol.from_public(scores, scene.masks, quantiles)
        protocol.require_agreement("the public call", found, expected)
        peers = {}
        for name, version in versions.items():
            protocol.require_agreement(name, version(scene, quantiles), expected)
            peers[name] = best(lambda v=version, q=quantiles: v(scene, q), most=3)
        yield Row(
            f"{what}: plane given, {size}",
            best(lambda q=quantiles: protocol.ours(scene.estimate, scene.truth, plane, q)),
            peers,
            floor,
            extra_memory(scene, "plane", quantiles),
        )
        yield Row(
            f"{what}: masks given (public call), {size}",
            best(lambda q=quantiles: protocol.public(scene, q)),
            peers,
            floor + masks_floor,
            extra_memory(scene, "masks", quantiles),
        )
    yield Row(
        f"packing of {len(scene.masks)} masks, {size}",
        best(lambda: pack(scene.masks, scene.truth)),
        {"careful NumPy": best(lambda: numpy_pack(scene), most=5)},
        masks_floor,
    )


def numpy_pack(scene: Scene) -> np.ndarray:
    """The plane in NumPy."""
    codes = np.zeros(scene.truth.shape, np.uint16)
    known = np.isfinite(scene.truth)
    for i, mask in enumerate(scene.masks.values()):
        codes |= (mask & known).astype(np.uint16) << np.uint16(i)
    return codes


def random_row(scene: Scene, size: str) -> Row:
    """The worst case for us: no two neighbours in one region."""
    plane = pack(scene.masks, scene.truth)
    expected = protocol.ours(scene.estimate, scene.truth, plane, False)
    found = protocol.careful_numpy(scene, False)
    protocol.require_agreement("careful NumPy on random regions", found, expected)
    return Row(
        f"bad-2/4/6/8, MAE, RMSE: random regions, {size}",
        best(lambda: protocol.ours(scene.estimate, scene.truth, plane, False)),
        {"careful NumPy": best(lambda: protocol.careful_numpy(scene, False), most=3)},
        best(lambda: protocol.limit(scene.estimate, scene.truth, plane.codes)),
    )


def own_rows(scene: Scene, size: str) -> Iterator[Row]:
    """A term of the kernel, the same by one's own function, and with weights."""
    plane = pack(scene.masks, scene.truth)
    floor = best(lambda: protocol.limit(scene.estimate, scene.truth, plane.codes))
    expected = protocol.sums(scene, plane, (ABS,))
    weights = {"w": np.ones(scene.truth.shape, np.float32)}
    for what, terms in {
        "of the kernel": (ABS,),
        "own function in NumPy": (own("size", protocol.size_of),),
        "with weights": columns_of(mean(ABS, weight="w"), weights),
    }.items():
        if not np.array_equal(protocol.sums(scene, plane, terms), expected):
            raise SystemExit(f"MAE, {what}, disagrees with the kernel's")
        peer = protocol.plain_mae if what != "with weights" else protocol.plain_weighted_mae
        yield Row(
            f"MAE, {what}, {size}",
            best(lambda t=terms: protocol.sums(scene, plane, t)),
            {"plain NumPy": best(lambda p=peer: p(scene, weights["w"]), most=3)},
            floor,
        )


def scaling_row(scene: Scene) -> Row:
    """The same pass at another size; a small scene has more borders of regions per pixel."""
    plane = pack(scene.masks, scene.truth)
    return Row(
        f"scaling: {scene.truth.size / 1e6:.2g} Mpx",
        best(lambda: protocol.ours(scene.estimate, scene.truth, plane, False)),
        {},
        best(lambda: protocol.limit(scene.estimate, scene.truth, plane.codes)),
    )


def reading_rows(estimate: Map, size: str) -> Iterator[Row]:
    """Files to float32 maps with NaN where missing; the limit is reading the bytes."""
    with tempfile.TemporaryDirectory() as folder:
        pfm, png = Path(folder, "estimate.pfm"), Path(folder, "estimate.png")
        write_map(pfm, estimate)
        write_map(png, np.maximum(estimate, 1), scale=PNG_SCALE)
        readers: dict[Path, dict[str, Callable[[], Map]]] = {
            pfm: {"OpenCV": lambda: _floats(_opencv(pfm))},
            png: {
                "OpenCV": lambda: _decoded(_opencv(png)),
                "imageio": lambda: _decoded(imageio.imread(png)),
            },
        }
        for path, peers in readers.items():
            here = read_map(path)
            for name, peer in peers.items():
                if not np.array_equal(peer(), here, equal_nan=True):
                    raise SystemExit(f"{name} reads another {path.suffix} map than we do")
            yield Row(
                f"reading {path.suffix[1:].upper()}, {size}",
                best(lambda p=path: read_map(p)),
                {name: best(peer) for name, peer in peers.items()},
                best(path.read_bytes),
            )


def _opencv(path: Path) -> np.ndarray:
    return cv2.imread(str(path), cv2.IMREAD_UNCHANGED)  # noqa: TID251 - it is the peer


def _floats(values: np.ndarray) -> Map:
    values[np.isinf(values)] = np.nan
    return values


def _decoded(codes: np.ndarray) -> Map:
    values = codes.astype(np.float32) / np.float32(PNG_SCALE)
    values[codes == 0] = np.nan
    return values
