"""What `capture register` finds of planted motions, and what they cost with and without it.

The rooms, seeds and sizes are others than those that the step was made with (bathroom 7, desk 11,
kitchen 0). Sessions are kept in out/evidence, so a stopped measurement goes on where it was.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from depthgauge import io
from depthgauge.capture.exact_truth import exact_truth
from depthgauge.capture.photographs.brackets import linear_light, srgb_codes
from depthgauge.capture.pipeline import run_steps
from depthgauge.capture.rectify import read_pair
from depthgauge.capture.registry import STEPS
from depthgauge.errors import BadData
from depthgauge.sessions import Session, open_session, read_simulated
from depthgauge.synth.sets.capture_session import write_capture_session
from tools._measured import table, update
from tools.evidence import REPOSITORY, Number, figure, recorded_values, within
from tools.evidence._sources import SIMULATOR, digest

ROOMS = (("desk", 23, 320), ("kitchen", 31, 360))
PATTERNS = 8
_HALF = PATTERNS // 2
_STEPS = ("rectify", "spacetime")
Picture = NDArray[np.uint8]


@dataclass(frozen=True)
class Fault:
    """Photographs that are shifted, and what should be found."""

    words: str
    shifts: Mapping[str, tuple[float, float]]
    """By folder; with `+`, from the middle of the patterns on."""
    finds: Mapping[str, tuple[float, float]]
    """By camera and figure of the step: px to the right and down."""
    drift_px: float = 0.0
    """Rows by which all photographs of R are lower."""


_BUMP = (0.4, -0.3)
_LATER = f"patterns {_HALF:03d} to {PATTERNS - 1:03d}"
_EARLIER = f"patterns 000 to {_HALF - 1:03d}"
_AWAY = (-5.0, 3.0)
FAULTS = (
    Fault("nothing", {}, {"L scene_to_patterns": (0, 0), "R scene_to_patterns": (0, 0)}),
    Fault(
        "all patterns 5 px left and 3 px down",
        {"pattern/L": _AWAY, "pattern/R": _AWAY},
        {"L scene_to_patterns": _AWAY, "R scene_to_patterns": _AWAY},
    ),
    Fault("right patterns 1 row down", {"pattern/R": (0, 1)}, {"R scene_to_patterns": (0, 1)}),
    Fault(
        "right patterns 0.3 rows down", {"pattern/R": (0, 0.3)}, {"R scene_to_patterns": (0, 0.3)}
    ),
    Fault(
        "both cameras bumped by 0.5 px at half of the patterns",
        {"pattern/L+": _BUMP, "pattern/R+": _BUMP},
        {f"L {_LATER}": _BUMP, f"R {_LATER}": _BUMP},
    ),
    Fault("the right camera bumped by 0.5 px", {"pattern/R+": _BUMP}, {f"R {_LATER}": _BUMP}),
    Fault(
        "R 1 row down since the calibration", {"pattern/R": (0, 1), "passive/R": (0, 1)}, {}, 1.0
    ),
)
_LARGE = {"pattern/L": (8.0, 5.0), "pattern/R": (8.0, 5.0)}


@figure(
    "registration",
    data="simulated desk (seed 23, 320 px) and kitchen (seed 31, 360 px), "
    f"{PATTERNS} patterns, one illumination; photographs shifted by splines",
    needs=("embreex", "mitsuba"),
)
def registration() -> Iterator[Number]:
    """Motions found against planted ones, and errors of space-time stereo with and without them.

    Errors are medians over what both cameras see and projectors light, in the left view.
    """
    for room, seed, width in ROOMS:
        session = _session(room, seed, width)
        base = 0.0
        for fault in FAULTS:
            with tempfile.TemporaryDirectory() as folder:
                name = f"{room}, {fault.words}"
                without, with_it, found = _both(session, fault, Path(folder))
            base = with_it if fault.words == "nothing" else base
            yield Number(f"{name}: median |error| without register, px", without)
            yield within(f"{name}: median |error|, px", with_it, 0.0, base + 0.03)
            for what, px in found.items():
                yield within(f"{name}: {what}: found minus planted, px", px, 0.0, 0.06)
        yield Number(f"{room}, 8x5 px of {width}: refused", float(_refused(session)), 1.0, 0.0)
        for gain in (3.0, 12.0):
            yield from _exposed(session, f"{room}, {gain:g} times the light", gain)


def write_page(check: bool = False) -> bool:
    """Writes the tables of docs/capture-register.md."""
    values = recorded_values("registration")
    if not values:
        return True
    head = ["planted", *(f"{room}: {what}" for room, *_ in ROOMS for what in ("without", "with"))]
    rows = []
    for fault in FAULTS:
        keys = (f"{room}, {fault.words}: median |error|" for room, *_ in ROOMS)
        cells = [
            f"{values[k + end]:.4f}" for k in keys for end in (" without register, px", ", px")
        ]
        rows.append([fault.words, *cells])
    worst = max(v for k, v in values.items() if k.endswith("found minus planted, px"))
    text = f"{table(head, rows)}\n\nAll motions were found to {worst:.3f} px."
    return update("capture-register.md", {"registration": text}, "evidence", check)


def _session(room: str, seed: int, width: int) -> Session:
    folder = REPOSITORY / "out" / "evidence" / f"moved-{room}-{digest(SIMULATOR)}"
    write_capture_session(
        folder,
        scene=room,
        seed=seed,
        width_px=width,
        patterns=PATTERNS,
        illuminations=1,
        samples=8,
    )
    session = open_session(folder)
    list(run_steps(session, folder / "work", until="calibrate"))
    return session


def _copy(session: Session, folder: Path) -> Session:
    shutil.copytree(session.folder, folder)
    return replace(session, folder=folder)


def _change(session: Session, where: str, change: Callable[[Picture], Picture]) -> None:
    """Changes the photographs of a folder; with `+`, those from the middle on."""
    paths = sorted((session.folder / where.rstrip("+")).glob("*.png"))
    for path in paths[_HALF:] if where.endswith("+") else paths:
        io.write_image(path, change(np.asarray(io.read_image(path), np.uint8)))


def _shifted(image: Picture, by: tuple[float, float]) -> Picture:
    moved = [
        ndimage.shift(image[..., c].astype(float), (by[1], by[0]), order=3, mode="nearest")
        for c in range(image.shape[2])
    ]
    return np.asarray(np.clip(np.rint(np.stack(moved, axis=-1)), 0, 255), np.uint8)


def _both(session: Session, fault: Fault, folder: Path) -> tuple[float, float, dict[str, float]]:
    """Median errors without and with the step, and how far its motions are from the planted."""
    moved = _copy(session, folder / "session")
    for where, by in fault.shifts.items():
        _change(moved, where, partial(_shifted, by=by))
    plain, checked = folder / "plain", folder / "checked"
    for work in (plain, checked):
        shutil.copytree(session.folder / "work", work)
    step = STEPS["register"].run(moved, checked)
    for work in (plain, checked):
        for name in _STEPS:
            STEPS[name].run(moved, work)
    found = {}
    for what, px in fault.finds.items():
        camera, _, key = what.partition(" ")
        figures = step.figures["cameras"][camera]
        sign = 1.0 if key in figures else -1.0  # the other half may be the larger group
        got = figures[key if key in figures else _EARLIER]
        off = (got["right_px"] - sign * px[0], got["down_px"] - sign * px[1])
        found[what] = float(np.hypot(*off))
    if fault.drift_px:
        right = read_pair(checked, "LR").right.raw.centre_px[1]
        before = read_pair(plain, "LR").right.raw.centre_px[1]
        found["R rows"] = abs(right - before - fault.drift_px)
    return _error(moved, plain, fault), _error(moved, checked, fault), found


def _error(session: Session, work: Path, fault: Fault) -> float:
    truth = read_simulated(session.truth_folder)
    right = truth.cameras["R"]
    lower = (right.centre_px[0], right.centre_px[1] + fault.drift_px)
    cameras = {**truth.cameras, "R": replace(right, centre_px=lower)}
    exact = exact_truth(replace(truth, cameras=cameras), read_pair(work, "LR"))
    error = np.abs(io.read_map(work / "spacetime" / "left_disparity.npy") - exact.disparity)
    return float(np.nanmedian(error[exact.visible & exact.lit]))


def _refused(session: Session) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        moved = _copy(session, Path(folder) / "session")
        for where, by in _LARGE.items():
            _change(moved, where, partial(_shifted, by=by))
        try:
            STEPS["register"].run(moved, moved.folder / "work")
        except BadData as error:
            return "8.0 px right and 5.0 px down" in str(error)
    return False


def _exposed(session: Session, name: str, gain: float) -> Iterator[Number]:
    """With more light on the patterns: what is said, and that all numbers are numbers."""

    def brighter(image: Picture) -> Picture:
        light = gain * linear_light(image.astype(np.float32) / np.float32(255))
        return np.rint(255 * srgb_codes(np.clip(light, 0, 1))).astype(np.uint8)

    with tempfile.TemporaryDirectory() as folder:
        bright = _copy(session, Path(folder) / "session")
        for camera in "LR":
            _change(bright, f"pattern/{camera}", brighter)
        work = bright.folder / "work"
        step = STEPS["register"].run(bright, work)
        for stage in _STEPS:
            STEPS[stage].run(bright, work)
        share = step.figures["exposure"]["L"]["saturated_median_share"]
        said = sum("saturated" in sentence for sentence in step.warnings)
        known = np.isfinite(io.read_map(work / "spacetime" / "left_disparity.npy"))
        variance = io.read_map(work / "spacetime" / "left_variance.npy")[known]
        yield Number(f"{name}: saturated in L, %", 100 * share)
        yield Number(f"{name}: cameras with a warning", said, 2, 0)
        bad = int((~(variance >= 0) | ~np.isfinite(variance)).sum())
        yield Number(f"{name}: variances that are negative or not finite", bad, 0, 0)
        yield Number(f"{name}: median |error|, px", _error(bright, work, FAULTS[0]))
