"""The painted scene under projected patterns, seen by the exact distorted camera.

Everything in it is diffuse, so the light of a projector that reaches a point is known in closed
form: what the projector's picture shows in that direction, times the cosine at the surface over the
squared distance, if nothing is in between. Light from other surfaces and from the room is
approximated by a constant share of the mean light.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.geometry.projection import inverse_pose
from depthgauge.io.text import parse_json
from depthgauge.synth.render.embree import TracedScene, hit_points
from depthgauge.synth.render.painted import PaintedScene, surface_at
from depthgauge.synth.sets.capture_session._folder import PARTS
from depthgauge.synth.sets.capture_session._sensor import GAINS, developed, footprint, key
from depthgauge.types import Camera

_INDIRECT = 0.07
"""Light from other surfaces, as a share of the mean light from projectors."""
_AMBIENT = 0.03
"""Light of the room itself, in the same unit."""
_FULL = 0.80
"""Target value of the brightest pixels."""
_BATCH = 1 << 20
"""Samples at a time."""
_PREVIEW_PX = 20_000
GAP_M = 5e-4
"""Surfaces nearer than this to a lit point cast no shadow on it."""


@dataclass(frozen=True, slots=True, eq=False)
class Lighting:
    """What shines on the painted scene, and how long the shutter is open."""

    painted: PaintedScene
    projectors: Mapping[str, Camera]
    shown: NDArray[np.uint8]
    """(P, h, w, T, 3), linear."""
    ambient: float = 0.0
    """Light that is everywhere, in the units of `shown` per square metre."""
    gain: float = 1.0
    """From light to pixel values, 1 for a full pixel."""


def exposed(lighting: Lighting, camera: Camera) -> Lighting:
    """The lighting with its constant part and an exposure at which almost nothing saturates."""
    width, height = camera.size_px
    step = max(1, int((width * height / _PREVIEW_PX) ** 0.5))
    y, x = np.mgrid[step // 2 : height : step, step // 2 : width : step]
    positions = np.stack([x.ravel(), y.ravel()], axis=-1).astype(np.float64)
    light, _ = _lit(lighting, camera, positions, 1)
    mean = float(lighting.shown[..., :1, :].mean()) * float(light[..., 2].sum(axis=0).mean())
    ambient = (_INDIRECT + _AMBIENT) * mean
    first = np.ascontiguousarray(lighting.shown[..., :1, :])
    dark = Lighting(lighting.painted, lighting.projectors, first, ambient, 1.0)
    bright = float(np.percentile(_seen(dark, camera, positions, 1), 98.5))
    return Lighting(
        lighting.painted, lighting.projectors, lighting.shown, ambient, _FULL / max(bright, 1e-12)
    )


def row_bands(camera: Camera, side: int) -> list[range]:
    """The image's rows in bands, which limits the memory."""
    width, height = camera.size_px
    rows = max(1, _BATCH // (width * side * side))
    return [range(first, min(first + rows, height)) for first in range(0, height, rows)]


def photographed(
    lighting: Lighting, camera: Camera, side: int, bands: list[range]
) -> Iterator[tuple[range, NDArray[np.float32]]]:
    """Bands of rows with their light (rows * width, T, 3), 1 for a full pixel.

    Args:
        lighting: The lighting, exposed.
        camera: Exact, with its distortion.
        side: Samples of a pixel along each side.
        bands: The result of `row_bands`, or a part of it.
    """
    width = camera.size_px[0]
    offsets = footprint(side)
    for band in bands:
        y, x = np.mgrid[band.start : band.stop, 0:width]
        pixels = np.stack([x.ravel(), y.ravel()], axis=-1).astype(np.float64)
        positions = (pixels[:, None] + offsets).reshape(-1, 2)
        yield band, _seen(lighting, camera, positions, len(offsets))


def _seen(
    lighting: Lighting, camera: Camera, positions: NDArray[np.float64], samples: int
) -> NDArray[np.float32]:
    from depthgauge.synth.sets.capture_session._light_kernels import gather

    light, tone = _lit(lighting, camera, positions, samples)
    shown = lighting.shown.reshape(*lighting.shown.shape[:3], -1)
    out = np.zeros((len(positions) // samples, shown.shape[3]), np.float32)
    gather(light, tone, shown, lighting.ambient, lighting.gain, samples, out)
    return out.reshape(len(out), -1, 3)


def _lit(
    lighting: Lighting, camera: Camera, positions: NDArray[np.float64], samples: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What reaches image positions: (P, N, 3) of each projector, and the reflectance (N, 3)."""
    from depthgauge.synth.sets.capture_session._light_kernels import projected

    traced = lighting.painted.traced
    points, hits = hit_points(traced, camera, positions)
    found = surface_at(lighting.painted, camera.world_from_camera[:3, 3], points, hits)
    groups = _grouped(np.where(hits < 0, -1, traced.objects[hits]), samples)
    light = np.zeros((len(lighting.projectors), len(points), 3), np.float32)
    for number, projector in enumerate(lighting.projectors.values()):
        stand = projector.world_from_camera[:3, 3].copy()
        inverse = inverse_pose(projector.world_from_camera)
        centre, size = np.array(projector.centre_px), np.array(projector.size_px, np.float64)
        lens = (projector.focal_px[0], centre, size)
        projected(points, found.normal, found.face, inverse, stand, *lens, light[number])
        light[number, ~_reached(traced, stand, points, light[number, :, 2] > 0, groups), 2] = 0.0
    return light, found.tone


def _grouped(objects: NDArray[np.int32], samples: int) -> NDArray[np.intp]:
    """For each sample, the index of the sample whose shadow is computed for it.

    Where all samples of a quarter of a pixel show one object, one of them serves all.
    """
    own = np.arange(len(objects))
    side = math.isqrt(samples)
    if side % 2:
        return own
    half = side // 2
    quarters = own.reshape(-1, 2, half, 2, half).transpose(0, 1, 3, 2, 4).reshape(-1, half * half)
    seen = objects[quarters]
    alike = (seen == seen[:, :1]).all(axis=1, keepdims=True)
    leaders = own.copy()
    leaders[quarters] = np.where(alike, quarters[:, :1], quarters)
    return leaders


def _reached(
    traced: TracedScene,
    stand: NDArray[np.float64],
    points: NDArray[np.float64],
    faces: NDArray[np.bool_],
    groups: NDArray[np.intp],
) -> NDArray[np.bool_]:
    """Which of the points that face a projector are not in shadow."""
    own = np.arange(len(points))
    leader = np.where(faces[groups], groups, own)
    asked = np.flatnonzero(faces & (leader == own))
    free = np.zeros(len(points), np.bool_)
    free[asked] = traced.rays.sees(stand, points[asked], GAP_M)
    return np.asarray(faces & free[leader])


# --- the photographs, band by band of rows; a stopped session continues --------------------------


def write_patterns(
    folder: Path,
    name: str,
    camera: Camera,
    lighting: Lighting,
    *,
    seed: int,
    side: int,
    done: Callable[[float], None],
) -> None:
    """Writes the missing pictures of pattern/<name>/<t>.png.

    Args:
        folder: Folder of the session.
        name: Name of the camera.
        camera: The exact camera.
        lighting: The lighting, exposed.
        seed: Seed of the sensor's noise.
        side: Samples of a pixel along each side.
        done: Called with the finished share.
    """
    target = folder / "pattern" / name
    target.mkdir(parents=True, exist_ok=True)
    files = [target / f"{number:03d}.png" for number in range(lighting.shown.shape[3])]
    missing = [number for number, file in enumerate(files) if not file.is_file()]
    if not missing:
        return
    with _Rows(folder / PARTS / name, missing, camera.size_px) as rows:
        bands = row_bands(camera, side)
        light = _dimmed(lighting, rows.numbers, GAINS[name])
        for band, seen in photographed(light, camera, side, bands[rows.bands :]):
            first = band.start * camera.size_px[0]
            for k, number in enumerate(rows.numbers):
                picture = developed(seen[:, k], key(seed, "pattern", name, number), first)
                rows.pixels[k, band.start : band.stop] = picture.reshape(len(band), -1, 3)
            rows.finish_band()
            done(0.9 * rows.bands / len(bands))
        for k, number in enumerate(rows.numbers):
            io.write_image(files[number], np.asarray(rows.pixels[k]))
            done(0.9 + 0.1 * (k + 1) / len(rows.numbers))


def _dimmed(lighting: Lighting, numbers: list[int], gain: float) -> Lighting:
    """Some of the patterns, for a camera with this gain."""
    shown = lighting.shown
    if numbers != list(range(shown.shape[3])):
        shown = np.ascontiguousarray(shown[..., numbers, :])
    full = gain * lighting.gain
    return Lighting(lighting.painted, lighting.projectors, shown, lighting.ambient, full)


class _Rows:
    """Pictures that grow on disk, so that memory does not depend on their number and size."""

    pixels: NDArray[np.uint8]
    """(K, H, W, 3)."""

    def __init__(self, stem: Path, numbers: list[int], size_px: tuple[int, int]) -> None:
        self._data, self._record = stem.with_suffix(".raw"), stem.with_suffix(".json")
        self.numbers, self.bands = numbers, 0
        self._size = size_px

    def __enter__(self) -> _Rows:
        self._data.parent.mkdir(parents=True, exist_ok=True)
        known = self._known()
        if known is not None and set(self.numbers) <= set(known["numbers"]):
            self.numbers, self.bands = list(known["numbers"]), int(known["bands"])
        mode = "r+" if self.bands else "w+"
        width, height = self._size
        shape = (len(self.numbers), height, width, 3)
        self.pixels = np.memmap(self._data, np.uint8, mode, shape=shape)  # type: ignore[call-overload]  # the mode is one of the literals
        return self

    def finish_band(self) -> None:
        """Records that one more band is on disk."""
        self.pixels.flush()  # type: ignore[attr-defined]  # a memmap
        self.bands += 1
        io.write_text(
            self._record, json.dumps({"numbers": self.numbers, "bands": self.bands}) + "\n"
        )

    def _known(self) -> dict[str, Any] | None:
        try:
            known = parse_json(self._record.read_text(encoding="utf-8"))
            width, height = self._size
            size = len(known["numbers"]) * height * width * 3
            return dict(known) if self._data.stat().st_size == size else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def __exit__(self, kind: object, *_: object) -> None:
        del self.pixels
        if kind is None:
            self._data.unlink(missing_ok=True)
            self._record.unlink(missing_ok=True)
