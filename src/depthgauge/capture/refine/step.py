"""The step that brings the measured maps to full size with sharp discontinuities."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.refine.engine import (
    REFINERS,
    MeasuredMaps,
    RefinedMaps,
    RefineEngine,
    RefineOptions,
)
from depthgauge.capture.registry import StepPlan, StepSpec, StepTask, step_function
from depthgauge.capture.resample import resample
from depthgauge.capture.steps import StepOutput
from depthgauge.errors import BadData, WrongShape
from depthgauge.geometry.rectified import RectifiedView
from depthgauge.io.text import parse_json
from depthgauge.sessions import Session
from depthgauge.types import is_known

SIDES = ("left", "right")
MAPS = ("disparity", "variance", "confidence")
_CAMERAS = {"left": "L", "right": "R"}

SPEC = StepSpec(
    "refine",
    "Refinement",
    "Brings the maps to full resolution with sharp discontinuities.",
    options=RefineOptions,
    after=("rectify", "spacetime"),
)


def plan(task: StepTask, options: RefineOptions) -> StepPlan:
    """Resizes both maps of `capture spacetime` to the size of the rectified images.

    Writes disparity, variance, confidence and choice (the share of the density at the chosen one of
    two candidates) of both views, in px of the full image, and the guides.

    Raises:
        BadData: An earlier step is not done, or its maps do not fit the rectified images.
        UnknownName: There is no such engine.
    """
    engine = REFINERS[options.engine]
    # The patterns are already part of the key of `spacetime`.
    seen = [next(iter(task.session.passive_images(c).values()), None) for c in _CAMERAS.values()]

    def make(folder: Path) -> StepOutput:
        return _make(task, folder, engine.refine, options)

    return StepPlan(
        make,
        files=[path for path in seen if path and options.guide == "passive"],
        revision=SPEC.revision + 1000 * (engine.spec.revision - 1),
    )


refine = step_function(SPEC, plan)


def read_measured(folder: Path, side: str) -> MeasuredMaps:
    """Disparity, variance and confidence of one side in a step's folder.

    Raises:
        BadData: One is missing, or they have different sizes.
    """
    maps = {}
    for name in MAPS:
        path = folder / f"{side}_{name}.npy"
        if not path.is_file():
            raise BadData(f"{path}: there is no such map; run the step `{folder.name}` again.")
        maps[name] = io.read_map(path)
    shapes = {name: values.shape for name, values in maps.items()}
    if len(set(shapes.values())) > 1:
        raise BadData(f"{folder}: the {side} maps must have the same size, found {shapes}.")
    return MeasuredMaps(**maps)


def _make(task: StepTask, folder: Path, run: RefineEngine, options: RefineOptions) -> StepOutput:
    pair = read_pair(task.work, "LR")
    figures: dict[str, Any] = {}
    for number, side in enumerate(SIDES):
        task.progress(f"refining the {side} map", number, len(SIDES))
        measured = read_measured(task.work / "spacetime", side)
        view = pair.left if side == "left" else pair.right
        image = make_guide(task.session, task.work, _CAMERAS[side], view, options.guide)
        refined = run(measured, image, options)
        _write(folder, side, refined, image)
        figures[side] = _figures(measured, refined)
    task.progress("refining", len(SIDES), len(SIDES))
    return StepOutput(figures)


def _write(folder: Path, side: str, refined: RefinedMaps, guide: NDArray[np.float32]) -> None:
    for name in (*MAPS, "choice"):
        io.write_map(folder / f"{side}_{name}.npy", getattr(refined, name))
    io.write_image(folder / f"{side}_guide.png", np.rint(255 * guide).astype(np.uint8))


def _figures(measured: MeasuredMaps, refined: RefinedMaps) -> Mapping[str, Any]:
    height, width = refined.disparity.shape
    two = np.isfinite(refined.choice)
    unsure = two & (refined.choice < 0.75)
    return {
        "size_px": [width, height],
        "scale": measured.disparity.shape[1] / width,
        "known": float(is_known(refined.disparity).mean()),
        "two_candidates": float(two.mean()),
        "unsure": float(unsure.mean()),
    }


def make_guide(
    session: Session, work: Path, camera: str, view: RectifiedView, kind: str
) -> NDArray[np.float32]:
    """The rectified guide of one camera, 0..1, (H, W, C).

    Args:
        session: The session.
        work: Its work folder.
        camera: `L` or `R`.
        view: That camera's view of the balanced pair.
        kind: `patterns` (the mean of those that `spacetime` used) or `passive` (the first picture).

    Raises:
        BadData: There are no such images, or they do not have the camera's size.
    """
    images = session.passive_images(camera)
    if kind == "patterns":
        images = _used(work, session.pattern_images(camera))
    if not images:
        raise BadData(
            f"{session.folder}: there are no {kind} images of camera {camera} to guide the "
            "refinement; choose the other guide."
        )
    paths = list(images.values())
    # Rectification is linear: so the mean is taken first and rectified once.
    mean = mean_image(paths if kind == "patterns" else paths[:1])
    try:
        return np.asarray(resample(view, mean, how="linear"), np.float32)
    except WrongShape as error:
        raise BadData(f"{paths[0]}: {error}.") from None


def mean_image(paths: list[Path]) -> NDArray[np.float32]:
    """The mean of pictures of the same size, 0..1, (H, W, 3).

    Raises:
        BadData: One has another size.
    """
    total: NDArray[np.float32] = np.zeros((1, 1, 3), np.float32)
    for number, path in enumerate(paths):
        image = io.read_image(path)
        scale = np.float32(255 if image.dtype == np.uint8 else 1)
        pixels: NDArray[np.float32] = image.astype(np.float32) / scale
        pixels = pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2)
        if number == 0:
            total = pixels
        elif pixels.shape != total.shape:
            raise BadData(
                f"{path}: is {pixels.shape[1]}x{pixels.shape[0]}, expected the size of "
                f"{paths[0].name}, {total.shape[1]}x{total.shape[0]}."
            )
        else:
            total += pixels
    return np.clip(total / len(paths), 0, 1)


def _used(work: Path, images: dict[str, Path]) -> dict[str, Path]:
    """The patterns that were matched; all if that was not recorded."""
    try:
        text = (work / "spacetime" / "patterns.json").read_text(encoding="utf-8")
        used = {str(name) for name in parse_json(text)["used"]}
    except (OSError, KeyError, TypeError, ValueError):
        return images
    return {name: path for name, path in images.items() if name in used} or images
