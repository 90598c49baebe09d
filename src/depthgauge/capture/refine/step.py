"""The step that brings the measured maps to the full size with sharp discontinuities."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge._registry import unknown
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.refine._guide import make_guide
from depthgauge.capture.refine.engine import Measured, Refined, RefineEngine, Refining
from depthgauge.capture.refine.engines.classical import refine_classical
from depthgauge.capture.steps import Made, Progress, Step, do_step, read_step
from depthgauge.errors import BadData, Misuse
from depthgauge.sessions import Session
from depthgauge.types import is_known

__all__ = [
    "ENGINES",
    "Measured",
    "RefineEngine",
    "Refined",
    "Refining",
    "read_measured",
    "refine",
    "refine_classical",
]

ENGINES: dict[str, RefineEngine] = {"classical": refine_classical}
"""By name; a package with a trained network adds its own, as `ENGINES["learned"] = ...`."""
SIDES = ("left", "right")
MAPS = ("disparity", "variance", "confidence")
GUIDES = ("patterns", "passive")
_CAMERAS = {"left": "L", "right": "R"}
_REVISION = 1


def refine(
    session: Session,
    work: Path,
    *,
    engine: str = "classical",
    guide: Literal["patterns", "passive"] = "patterns",
    jump_px: float = Refining.jump_px,
    radius: int = Refining.radius,
    least_scale: float = Refining.least_scale,
    fill_px: float = Refining.fill_px,
    progress: Progress | None = None,
    again: bool = False,
) -> Step:
    """Brings both maps of `capture spacetime` to the rectified images' size.

    Writes disparity, variance, confidence and choice (the density's share at the chosen one of two
    candidates) of both views, in px of the full image, and the guides.

    Args:
        session: The session.
        work: Its work folder, with `rectify` and `spacetime` done.
        engine: One of `ENGINES`.
        guide: The image whose edges the jumps follow: the mean of the `patterns` images, in which
            glass is painted, or the first `passive` image.
        jump_px: Neighbours of the measured map that differ by more are on two surfaces.
        radius: Pixels of the measured map, each way, among which a pixel finds its candidates.
        least_scale: Laplacian scales are not taken to be smaller, in px of the measured map.
        fill_px: How far from the next measured pixel a hole is given a value; 0 for not at all.
        progress: Told what is being done.
        again: Do it even if nothing has changed.

    Raises:
        BadData: A step before is not done, or its maps do not fit the rectified images.
        UnknownName: There is no such engine.
        Misuse: An option is out of its range.
    """
    if engine not in ENGINES:
        raise unknown("engine of `capture refine`", engine, ENGINES)
    if guide not in GUIDES:
        raise Misuse(f"guide is 'patterns' or 'passive', found {guide!r}")
    options = Refining(jump_px, radius, least_scale, fill_px)
    before = [read_step(work, name) for name in ("rectify", "spacetime")]
    run = ENGINES[engine]
    # The patterns are part of the key of `spacetime` already.
    seen = [next(iter(session.passive_images(c).values()), None) for c in _CAMERAS.values()]

    def make(folder: Path) -> Made:
        return _make(session, work, folder, run, guide, options, progress or _quiet)

    return do_step(
        work,
        "refine",
        make,
        options={"engine": engine, "guide": guide, **dataclasses.asdict(options)},
        after=before,
        files=[path for path in seen if path and guide == "passive"],
        revision=_REVISION,
        again=again,
    )


def read_measured(folder: Path, side: str) -> Measured:
    """Disparity, variance and confidence of one side in a step's folder.

    Raises:
        BadData: One is missing, or they are not of one size.
    """
    maps = {}
    for name in MAPS:
        path = folder / f"{side}_{name}.npy"
        if not path.is_file():
            raise BadData(f"{path}: there is no such map; run the step `{folder.name}` again.")
        maps[name] = io.read_map(path)
    shapes = {name: values.shape for name, values in maps.items()}
    if len(set(shapes.values())) > 1:
        raise BadData(f"{folder}: the {side} maps are of one size, found {shapes}.")
    return Measured(**maps)


def _make(
    session: Session,
    work: Path,
    folder: Path,
    run: RefineEngine,
    guide: str,
    options: Refining,
    progress: Progress,
) -> Made:
    pair = read_pair(work, "LR")
    figures: dict[str, Any] = {}
    for number, side in enumerate(SIDES):
        progress(f"refining the {side} map", number, len(SIDES))
        measured = read_measured(work / "spacetime", side)
        view = pair.left if side == "left" else pair.right
        image = make_guide(session, work, _CAMERAS[side], view, guide)
        refined = run(measured, image, options)
        _write(folder, side, refined, image)
        figures[side] = _figures(measured, refined)
    progress("refining", len(SIDES), len(SIDES))
    return Made(figures)


def _write(folder: Path, side: str, refined: Refined, guide: NDArray[np.float32]) -> None:
    for name in (*MAPS, "choice"):
        io.write_map(folder / f"{side}_{name}.npy", getattr(refined, name))
    io.write_image(folder / f"{side}_guide.png", np.rint(255 * guide).astype(np.uint8))


def _figures(measured: Measured, refined: Refined) -> Mapping[str, Any]:
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


def _quiet(what: str, done: int, of: int) -> None:
    del what, done, of
