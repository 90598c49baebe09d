"""Writes a whole session; existing pictures are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge._options import signature_from
from depthgauge._progress import Progress
from depthgauge.geometry.intrinsics import scale_camera
from depthgauge.io._locks import only_one
from depthgauge.sessions import Board, Session, SimulatedTruth, write_simulated
from depthgauge.synth.generators.capture_session import CaptureOptions
from depthgauge.synth.library.rooms import room_by_name
from depthgauge.synth.render.denoise import denoise, guides
from depthgauge.synth.render.embree import TracedScene, hit_points, trace
from depthgauge.synth.render.mitsuba import PathTracer, through_lens, wide_pinhole
from depthgauge.synth.render.painted import PaintedScene, paint, texture_px
from depthgauge.synth.sets.capture_session import _folder, _painted, _rig
from depthgauge.synth.sets.capture_session._board import board_picture, board_poses, lens_slopes
from depthgauge.synth.sets.capture_session._folder import write_picture
from depthgauge.synth.sets.capture_session._sensor import GAINS, developed, key
from depthgauge.types import Camera


@dataclass(frozen=True, slots=True)
class SimulatedSession:
    """A complete session."""

    session: Session
    size_px: Mapping[str, tuple[int, int]]
    """Width and height of each camera's pictures."""
    warnings: tuple[str, ...] = ()
    """One sentence each."""


@signature_from(CaptureOptions)
def write_capture_session(
    out: Path | str,
    options: CaptureOptions,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> SimulatedSession:
    """Photographs a scene with a simulated trinocular rig.

    Existing pictures are kept, so an interrupted session is continued.

    Args:
        out: The session's folder.
        options: What is photographed, and how; or its fields as keywords.
        overwrite: Replaces a simulated session with other options.
        progress: Called after every picture.

    Raises:
        Misuse: An option is out of its limits.
        CannotWrite: The folder contains something else.
        MissingExtra: Embree, or for passive images Mitsuba, is not installed.
    """
    out = Path(out)
    _folder.need_folder(out)
    busy = f"{out}: another process is making this session; wait for it or write elsewhere."
    with only_one(out / _folder.LOCK, busy):
        return _write(out, options, overwrite, _Count(options, progress))


class _Count:
    """Counts pictures and reports progress."""

    def __init__(self, options: CaptureOptions, progress: Progress | None) -> None:
        passive = 3 * options.illuminations if options.passive else 0
        self.all = 3 * options.poses + 2 * options.patterns + passive
        self.done = 0.0
        self._progress = progress

    def add(self, what: str, count: float = 1.0) -> None:
        """Counts finished pictures."""
        self.done += count
        if self._progress is not None:
            self._progress(what, min(int(self.done + 1e-6), self.all), self.all)


def _write(out: Path, options: CaptureOptions, overwrite: bool, count: _Count) -> SimulatedSession:
    room = room_by_name(options.scene, options.seed)
    board = Board(square_m=options.square_m)
    name = f"{options.scene}-{options.seed}"
    known = (options.parameters(), options.passive_parameters())
    session = _folder.prepare(out, name, board, *known, overwrite=overwrite)
    cameras = _rig.cameras(options.width_px, room.stand, options.seed)
    sizes = {camera: cameras[camera].size_px for camera in cameras}
    if all((out / file).is_file() for file in _expected(options)):
        count.add("nothing is missing", count.all)
        return SimulatedSession(_folder.note(session, complete=True), sizes)
    traced = trace(room)
    painted = paint(traced, texture_px(options.width_px))
    projectors = _rig.projectors(options.projectors, options.width_px, room.stand, options.seed)
    write_simulated(session.truth_folder, exact_truth(traced, cameras, projectors))
    _write_labels(out, traced, cameras["L"])
    _write_boards(session, cameras, options, count)
    _write_patterns(out, options, painted, cameras, projectors, count)
    warnings = _write_passive(out, options, painted, cameras, count)
    session = _folder.note(session, complete=True)
    return SimulatedSession(session, sizes, warnings)


def _expected(options: CaptureOptions) -> list[str]:
    """The files of a complete session."""
    files = ["truth/cameras.json", "truth/mesh.npz", "labels/materials.png", "labels/surfaces.png"]
    files += [f"calibration/{c}/{k:02d}.png" for c in "LCR" for k in range(options.poses)]
    files += [f"pattern/{c}/{k:03d}.png" for c in "LR" for k in range(options.patterns)]
    illuminations = range(options.illuminations if options.passive else 0)
    return [*files, *(f"passive/{c}/im{k}.png" for c in "LCR" for k in illuminations)]


def _write_labels(out: Path, traced: TracedScene, left: Camera) -> None:
    folder = out / "labels"
    folder.mkdir(exist_ok=True)
    if all((folder / f"{name}.png").is_file() for name in ("materials", "surfaces")):
        return
    for name, values in label_maps(traced, left).items():
        io.write_image(folder / f"{name}.png", values)


def _write_boards(
    session: Session, cameras: Mapping[str, Camera], options: CaptureOptions, count: _Count
) -> None:
    board = session.known_board()
    poses = board_poses(board, cameras, options.poses, options.seed)
    for name, camera in cameras.items():
        files = [session.folder / "calibration" / name / f"{k:02d}.png" for k in range(len(poses))]
        missing = [number for number, file in enumerate(files) if not file.is_file()]
        count.add(f"board in {name}", len(poses) - len(missing))
        if not missing:
            continue
        slopes = lens_slopes(camera)
        for number in missing:
            noise = key(options.seed, "board", name, number)
            picture = board_picture(board, poses[number], camera, slopes, noise)
            _folder.write_picture(files[number], picture)
            count.add(f"board {number} in {name}")


def _write_patterns(
    out: Path,
    options: CaptureOptions,
    painted: PaintedScene,
    cameras: Mapping[str, Camera],
    projectors: Mapping[str, Camera],
    count: _Count,
) -> None:
    if all((out / file).is_file() for file in _expected(options) if file.startswith("pattern/")):
        count.add("patterns", 2 * options.patterns)
        return
    shown = _rig.patterns(options.seed, options.patterns, len(projectors), options.width_px)
    lighting = _painted.exposed(_painted.Lighting(painted, projectors, shown), cameras["L"])
    for name in ("L", "R"):
        before = count.done

        def done(share: float, start: float = before, name: str = name) -> None:
            count.add(f"patterns in {name}", start + share * options.patterns - count.done)

        _painted.write_patterns(
            out,
            name,
            cameras[name],
            lighting,
            seed=options.seed,
            side=options.pattern_side,
            done=done,
        )
        done(1.0)


def _write_passive(
    out: Path,
    options: CaptureOptions,
    painted: PaintedScene,
    cameras: Mapping[str, Camera],
    count: _Count,
) -> tuple[str, ...]:
    """Writes the passive images; returns warnings."""
    if not options.passive:
        return ()
    samples, denoise, seed = options.samples, options.denoise, options.seed
    studio = Studio(painted, cameras, samples=samples, denoised=denoise, seed=seed)
    for illumination in range(options.illuminations):
        studio.photograph(out, illumination, count.add)
    return studio.warnings


def label_maps(traced: TracedScene, camera: Camera) -> dict[str, NDArray[np.uint8]]:
    """`materials` and `surfaces` (H, W) of what each pixel's centre shows; 0 where nothing is."""
    width, height = camera.size_px
    triangles = np.full((height, width), -1, np.int32)
    for rows in _painted.row_bands(camera, 1):
        y, x = np.mgrid[rows.start : rows.stop, 0:width]
        pixels = np.stack([x.ravel(), y.ravel()], axis=-1).astype(np.float64)
        triangles[rows.start : rows.stop] = hit_points(traced, camera, pixels)[1].reshape(-1, width)
    classes = {"materials": traced.categories, "surfaces": traced.surfaces}
    return {
        name: np.where(triangles >= 0, of[triangles], 0).astype(np.uint8)
        for name, of in classes.items()
    }


def exact_truth(
    traced: TracedScene, cameras: Mapping[str, Camera], projectors: Mapping[str, Camera]
) -> SimulatedTruth:
    """Everything that the simulation knows."""
    return SimulatedTruth(
        cameras=dict(cameras),
        projectors=dict(projectors),
        vertices=traced.mesh.vertices,
        triangles=traced.mesh.triangles,
        materials=traced.categories,
        surfaces=traced.surfaces,
        objects=traced.objects,
    )


# --- the scene as it is, under several illuminations ----------------------------------------------


FINER = 1.15
"""Pixels of the rendered picture per pixel of the photograph, along a side."""
_BRIGHT = 30.0
"""Light above this many full pixels is clipped as noise of the path tracer."""
_FULL = 0.85
_PREVIEW_PX, _PREVIEW_SAMPLES = 96, 10


class Studio:
    """The scene, the cameras and the path tracer."""

    def __init__(
        self,
        painted: PaintedScene,
        cameras: Mapping[str, Camera],
        *,
        samples: int,
        denoised: bool,
        seed: int,
    ) -> None:
        self._scene, self._painted, self._cameras = painted.traced.scene, painted, cameras
        self._tracer = PathTracer(self._scene, painted.pictures.shape[1])
        self.warnings = (self._tracer.warning,) if self._tracer.warning else ()
        self._samples, self._denoised, self._seed = samples, denoised, seed

    def photograph(
        self, folder: Path, illumination: int, done: Callable[[str, float], None]
    ) -> None:
        """Writes the missing pictures of passive/<camera>/im<k>.png."""
        files = {c: folder / "passive" / c / f"im{illumination}.png" for c in self._cameras}
        missing = {name: file for name, file in files.items() if not file.is_file()}
        done(f"passive im{illumination}", len(files) - len(missing))
        if not missing:
            return
        lit = self._tracer.lit(self._scene.lights[illumination])
        exposure = self._exposure(lit)
        for name, file in missing.items():
            write_picture(file, self._picture(lit, name, illumination, exposure))
            done(f"passive im{illumination} in {name}", 1.0)

    def _picture(
        self, lit: Any, name: str, illumination: int, exposure: float
    ) -> NDArray[np.uint8]:
        camera = self._cameras[name]
        ideal = wide_pinhole(camera, FINER)
        seed = key(self._seed, "passive", name, illumination)
        light = self._tracer.render(lit, ideal, self._samples, seed) * exposure
        light = np.minimum(light, np.float32(_BRIGHT))
        if self._denoised:
            light = denoise(light, *guides(self._painted, ideal))
        seen = through_lens(light, ideal, camera) * GAINS[name]
        width, height = camera.size_px
        return developed(seen.reshape(-1, 3), seed).reshape(height, width, 3)

    def _exposure(self, lit: Any) -> float:
        """The exposure at which few pixels of the left photograph saturate."""
        left = self._cameras["L"]
        height = round(_PREVIEW_PX * left.size_px[1] / left.size_px[0])
        small = scale_camera(left, _PREVIEW_PX, height)
        light = self._tracer.render(lit, wide_pinhole(small, 1.0), _PREVIEW_SAMPLES, 0)
        return _FULL / max(float(np.percentile(light.max(axis=2), 97.0)), 1e-6)
