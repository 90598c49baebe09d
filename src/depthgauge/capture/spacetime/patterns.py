"""The pattern pictures of a session as two stacks of rectified pictures, decoded once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge._progress import Progress
from depthgauge.capture.photographs.brackets import PatternFile, pattern_files
from depthgauge.capture.photographs.compression import brightness_warnings, compression_warnings
from depthgauge.capture.photographs.movements import Movements
from depthgauge.capture.spacetime.engine import Pairs, Stack
from depthgauge.capture.spacetime.eye import Eye
from depthgauge.errors import BadData, BadFile, CannotWrite
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.io.text import parse_json
from depthgauge.sessions import Session
from depthgauge.types import Mask

SIDES = {"left": "L", "right": "R"}
_Files = Mapping[str, Mapping[str, PatternFile]]
"""By side and name."""
_RECORD = "stacks.json"
_DARK_SHARE = 0.1
"""In a frame with less than this share of the best contrast, the projector failed."""
_LEAST_CONTRAST = 1.5
"""Contrast in grey levels; a picture with less shows nothing."""
_LOOKED_AT = 250
"""About this many rows and columns are sampled for the contrast of a picture."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which patterns can be used, and why others cannot."""

    names: tuple[str, ...]
    dropped: Mapping[str, str]

    def without(self, reasons: Mapping[str, str]) -> Choice:
        """The choice with some more patterns dropped."""
        names = tuple(name for name in self.names if name not in reasons)
        return Choice(names, {**self.dropped, **reasons})

    def need_one(self, session: Session) -> None:
        """Raises an error if no pattern remains.

        Raises:
            BadData: No pattern remains; the message says why each was dropped.
        """
        if not self.names:
            why = "; ".join(f"{name}: {reason}" for name, reason in self.dropped.items())
            raise BadData(
                f"{session.folder / 'pattern'}: no usable pattern remains ({why}); "
                "take the pictures again."
            )


def choose(session: Session, most: int | None) -> Choice:
    """The patterns that both cameras have, the first `most` of them.

    Raises:
        BadData: There are none.
    """
    found = {camera: pattern_files(session, camera) for camera in SIDES.values()}
    dropped = {}
    for camera, other in (("L", "R"), ("R", "L")):
        for name in found[camera].keys() - found[other].keys():
            dropped[name] = f"camera {other} has no picture of it"
    names = tuple(name for name in found["L"] if name in found["R"])
    if not names:
        raise BadData(
            f"{session.folder / 'pattern'}: no pattern has a picture in both L and R "
            f"(L has {len(found['L'])}, R has {len(found['R'])}); give both cameras' pictures of "
            "a pattern the same name."
        )
    return Choice(names[:most], {name: dropped[name] for name in sorted(dropped)})


def pattern_paths(session: Session, names: Sequence[str]) -> list[Path]:
    """All photographs of these patterns, both cameras' and all exposures."""
    files = [pattern_files(session, camera) for camera in SIDES.values()]
    return [path for by_name in files for name in names for path in by_name[name].paths]


def small_size(pair: RectifiedPair, scale: float) -> tuple[int, int]:
    """Width and height of rectified pictures at a scale."""
    width, height = pair.left.camera.size_px
    return max(round(width * scale), 1), max(round(height * scale), 1)


def make_stacks(
    session: Session,
    pair: RectifiedPair,
    names: Sequence[str],
    size: tuple[int, int],
    folder: Path,
    progress: Progress | None = None,
    movements: Movements | None = None,
) -> tuple[Pairs, dict[str, str]]:
    """Rectified pictures of all patterns, stored in the folder; and which are unusable.

    Unusable are unreadable pictures and those with another size than the calibrated one, with
    reasons. Pictures that an interrupted attempt finished are reused.

    Args:
        session: The session.
        pair: The rectified pair.
        names: The patterns.
        size: Width and height at which they are matched.
        folder: Where they are stored.
        progress: Called after each pattern.
        movements: How the photographs moved; they are brought back.

    Raises:
        BadData: Most pictures do not have their camera's size.
    """
    width, height = size
    shape = (len(names), height, width, 3)
    moved = movements or Movements()
    files = {side: pattern_files(session, camera) for side, camera in SIDES.items()}
    kind = stack_dtype(files, names)
    record = _read_record(folder, shape, kind)
    stacks = {side: _opened(folder / f"{side}_stack.npy", shape, kind, record) for side in SIDES}
    unreadable: dict[str, str] = dict(record.get("unreadable", {}))
    odd: dict[str, str] = dict(record.get("odd", {}))
    eyes = {"left": Eye(pair.left, size), "right": Eye(pair.right, size)}
    for t in range(record.get("done", 0), len(names)):
        try:
            _add(files, names[t], eyes, {side: stacks[side][t] for side in SIDES}, moved)
        except BadFile as error:
            unreadable[names[t]] = f"cannot be read ({error})"
        except _OddSize as error:
            odd[names[t]] = str(error)
            _check_most(session, odd, len(names))
        state = {"shape": shape, "dtype": kind.name, "done": t + 1}
        state |= {"unreadable": unreadable, "odd": odd}
        io.write_text(folder / _RECORD, json.dumps(state) + "\n")
        if progress:
            progress("rectifying patterns", t + 1, len(names))
    known = [
        eyes[side].known(moved.of("pattern", camera, name) for name in names)
        for side, camera in SIDES.items()
    ]
    return Pairs(stacks["left"], stacks["right"], *known), {**unreadable, **odd}


def stack_dtype(files: _Files, names: Sequence[str]) -> np.dtype[Any]:
    """How rectified pictures are kept: float32 if a picture has more than 8 bits, else uint8.

    Both are grey levels from 0 to 255; only those of float32 have fractions.
    """
    found = (files[side].get(name) for side in SIDES for name in names)
    return np.dtype(np.float32 if any(f and _is_deep(f) for f in found) else np.uint8)


def _is_deep(file: PatternFile) -> bool:
    try:
        return file.deep
    except BadFile:  # left out later, with the reason
        return False


def crossed_pairs(
    session: Session, pair: RectifiedPair, names: Sequence[str], size: tuple[int, int]
) -> Pairs | None:
    """The same with the cameras' pictures exchanged; None if they have different sizes."""
    if pair.left.raw.size_px != pair.right.raw.size_px:
        return None
    eyes = {"left": Eye(pair.right, size), "right": Eye(pair.left, size)}
    files = {side: pattern_files(session, camera) for side, camera in SIDES.items()}
    kind = stack_dtype(files, names)
    stacks = {side: np.zeros((len(names), size[1], size[0], 3), kind) for side in SIDES}
    for t, name in enumerate(names):
        _add(files, name, eyes, {side: stacks[side][t] for side in SIDES}, Movements())
    known = eyes["right"].known(), eyes["left"].known()
    return Pairs(stacks["right"], stacks["left"], *known)


def remove_stacks(folder: Path) -> None:
    """Removes the files of `make_stacks`."""
    for name in (_RECORD, *(f"{side}_stack.npy" for side in SIDES)):
        (folder / name).unlink(missing_ok=True)


def dark_frames(pairs: Pairs, patterns: Mapping[str, int]) -> dict[str, str]:
    """Patterns whose picture has far less contrast than the best one, with the reason.

    It is compared with the best, not the typical: a projector may have failed in most pictures.

    Args:
        pairs: The pictures, perhaps mapped files.
        patterns: Names of the patterns to check, and their places in the pairs.
    """
    found = {}
    for camera, stack, known in (
        ("L", pairs.left, pairs.left_known),
        ("R", pairs.right, pairs.right_known),
    ):
        contrasts = _contrasts(stack, list(patterns.values()), known)
        best = float(contrasts.max(initial=0.0))
        for name, contrast in zip(patterns, contrasts, strict=True):
            if contrast < _LEAST_CONTRAST:
                found[name] = (
                    f"camera {camera}'s picture is uniform, or dark except for room light "
                    f"({contrast:.1f} levels of contrast)"
                )
            elif contrast < _DARK_SHARE * best:
                found[name] = (
                    f"camera {camera}'s picture is dark ({contrast:.1f} levels of contrast, the "
                    f"best has {best:.1f})"
                )
    return found


def lost_on_the_way(session: Session, pairs: Pairs, patterns: Mapping[str, int]) -> tuple[str, ...]:
    """Sentences about strong compression and varying exposure of the patterns that are used.

    Args:
        session: Their session.
        pairs: The pictures, perhaps mapped files.
        patterns: Names of the patterns, and their places in the pairs.
    """
    said = []
    for side, camera in SIDES.items():
        stack = pairs.left if side == "left" else pairs.right
        step = max(1, min(stack.shape[1:3]) // _LOOKED_AT)
        means = {
            name: float(np.asarray(stack[place, ::step, ::step]).mean(dtype=np.float64))
            for name, place in patterns.items()
        }
        files = pattern_files(session, camera)
        paths = [path for name in patterns for path in files[name].paths]
        said += compression_warnings(f"pattern/{camera}", paths)
        said += brightness_warnings(f"pattern/{camera}", means)
    return tuple(said)


def _contrasts(stack: Stack, places: Sequence[int], known: Mask) -> NDArray[np.float64]:
    """The contrast of each picture, with or without the common part (room light): the smaller."""
    step = max(1, min(stack.shape[1:3]) // _LOOKED_AT)
    seen = known[::step, ::step]
    values = np.asarray(stack[:, ::step, ::step])[places][:, seen].astype(np.float32)
    if not values.size:
        return np.zeros(len(places))
    contrasts = values.std(axis=(1, 2), dtype=np.float64)
    # Two pictures rarely show a point at its darkest.
    if len(places) > 2:
        values -= values.min(axis=0)
        contrasts = np.minimum(contrasts, values.std(axis=(1, 2), dtype=np.float64))
    return np.asarray(contrasts)


class _OddSize(Exception):
    """A picture does not have the size at which its camera was calibrated."""


def _add(
    files: _Files,
    name: str,
    eyes: Mapping[str, Eye],
    places: Mapping[str, Stack],
    moved: Movements,
) -> None:
    """Fills in a pattern's pictures; values are rounded once, if at all."""
    for side, eye in eyes.items():
        image = files[side][name].to_match()
        height, width = image.shape[:2]
        if (width, height) != eye.view.raw.size_px:
            want = "x".join(str(n) for n in eye.view.raw.size_px)
            raise _OddSize(
                f"camera {SIDES[side]}'s picture is {width}x{height} but the camera was calibrated "
                f"at {want}"
            )
        seen = eye.see(image, moved.of("pattern", SIDES[side], name))
        places[side][:] = np.rint(seen, out=seen) if places[side].dtype == np.uint8 else seen


def _check_most(session: Session, odd: Mapping[str, str], patterns: int) -> None:
    """A few pictures of another size are accidents; many mean another camera or setting."""
    if 2 * len(odd) > patterns:
        name, reason = next(iter(odd.items()))
        raise BadData(
            f"{session.folder / 'pattern'}: more than half of the {patterns} patterns have another "
            f"size than the calibration (pattern {name}: {reason}); pattern and calibration "
            "pictures must have the same size."
        )


def _read_record(folder: Path, shape: tuple[int, ...], kind: np.dtype[Any]) -> dict[str, Any]:
    try:
        data = parse_json((folder / _RECORD).read_text(encoding="utf-8"))
        same = data["shape"] == list(shape) and data["dtype"] == kind.name
        return dict(data) if same else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _opened(
    path: Path, shape: tuple[int, ...], kind: np.dtype[Any], record: Mapping[str, Any]
) -> Stack:
    try:
        mode = "r+" if record and path.is_file() else "w+"
        if mode == "r+":
            return np.lib.format.open_memmap(path, mode)
        return np.lib.format.open_memmap(path, mode, kind, shape)
    except OSError as error:
        raise CannotWrite(f"{path}: cannot be written: {error.strerror or error}.") from None
