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
from depthgauge.capture.spacetime.engine import Pairs, Stack
from depthgauge.errors import BadData, BadFile, CannotWrite
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.io.text import parse_json
from depthgauge.sessions import Session
from depthgauge.types import Image, Mask

SIDES = {"left": "L", "right": "R"}
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
    found = {camera: session.pattern_images(camera) for camera in SIDES.values()}
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
) -> tuple[Pairs, dict[str, str]]:
    """Rectified pictures of all patterns, stored in the folder; and which are unusable.

    Unusable are unreadable pictures and those with another size than the calibrated one, with
    reasons. Pictures that an interrupted attempt finished are reused.

    Raises:
        BadData: Most pictures do not have their camera's size.
    """
    width, height = size
    shape = (len(names), height, width, 3)
    kind = stack_dtype(session, names)
    record = _read_record(folder, shape, kind)
    stacks = {side: _opened(folder / f"{side}_stack.npy", shape, kind, record) for side in SIDES}
    unreadable: dict[str, str] = dict(record.get("unreadable", {}))
    odd: dict[str, str] = dict(record.get("odd", {}))
    eyes = {"left": _Eye(pair.left, size), "right": _Eye(pair.right, size)}
    for t in range(record.get("done", 0), len(names)):
        try:
            _add(session, names[t], eyes, {side: stacks[side][t] for side in SIDES})
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
    known = eyes["left"].known(), eyes["right"].known()
    return Pairs(stacks["left"], stacks["right"], *known), {**unreadable, **odd}


def stack_dtype(session: Session, names: Sequence[str]) -> np.dtype[Any]:
    """How rectified pictures are kept: float32 if a picture has more than 8 bits, else uint8.

    Both are grey levels from 0 to 255; only those of float32 have fractions.
    """
    files = (
        session.pattern_images(camera).get(name) for camera in SIDES.values() for name in names
    )
    return np.dtype(np.float32 if any(f and _is_deep(f) for f in files) else np.uint8)


def _is_deep(path: Path) -> bool:
    try:
        return io.is_deep(path)
    except BadFile:  # left out later, with the reason
        return False


def crossed_pairs(
    session: Session, pair: RectifiedPair, names: Sequence[str], size: tuple[int, int]
) -> Pairs | None:
    """The same with the cameras' pictures exchanged; None if they have different sizes."""
    if pair.left.raw.size_px != pair.right.raw.size_px:
        return None
    eyes = {"left": _Eye(pair.right, size), "right": _Eye(pair.left, size)}
    kind = stack_dtype(session, names)
    stacks = {side: np.zeros((len(names), size[1], size[0], 3), kind) for side in SIDES}
    for t, name in enumerate(names):
        _add(session, name, eyes, {side: stacks[side][t] for side in SIDES})
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


class _Eye:
    """One rectified view; the raw positions of its pixels are computed once."""

    def __init__(self, view: RectifiedView, size: tuple[int, int]) -> None:
        self.view = view
        self.size = size
        self.xs, self.ys = view.raw_grid()

    def see(self, image: Image) -> NDArray[np.float32]:
        """Rectifies a raw picture at the matching size: grey levels from 0 to 255, not rounded.

        Uses splines: Keys' cubic kernel left stripes in the disparities of simulated sessions.
        """
        from depthgauge.capture import _spline_kernels

        values = _levels(image)
        _spline_kernels.spline_rows(values)
        _spline_kernels.spline_columns(values.reshape(values.shape[0], -1))
        out = np.zeros((*self.xs.shape, values.shape[2]), np.float32)
        _spline_kernels.sample(values, self.xs, self.ys, out)
        out = _shrunk(out, self.size)
        return np.clip(out, 0, 255, out=out)

    def known(self) -> Mask:
        """Where the camera saw anything, without a border of one pixel, where slopes are wrong.

        The border of the whole picture does not count.
        """
        import cv2

        width, height = self.view.raw.size_px
        inside = (abs(self.xs - (width - 1) / 2) <= width / 2) & (
            abs(self.ys - (height - 1) / 2) <= height / 2
        )
        seen = _shrunk(np.where(inside, np.uint8(255), np.uint8(0)), self.size)
        return np.asarray(cv2.erode(seen, np.ones((3, 3), np.uint8)) == 255)


class _OddSize(Exception):
    """A picture does not have the size at which its camera was calibrated."""


def _add(
    session: Session,
    name: str,
    eyes: Mapping[str, _Eye],
    places: Mapping[str, Stack],
) -> None:
    """Fills in a pattern's pictures; values are rounded once, if at all."""
    for side, eye in eyes.items():
        image = io.read_image(session.pattern_images(SIDES[side])[name])
        height, width = image.shape[:2]
        if (width, height) != eye.view.raw.size_px:
            want = "x".join(str(n) for n in eye.view.raw.size_px)
            raise _OddSize(
                f"camera {SIDES[side]}'s picture is {width}x{height} but the camera was calibrated "
                f"at {want}"
            )
        seen = eye.see(image)
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


def _levels(image: Image) -> NDArray[np.float32]:
    """RGB from 0 to 255, a copy; pictures with 16 bits keep their precision."""
    if image.dtype == np.uint8:
        levels = image.astype(np.float32)
    else:
        levels = np.clip(np.nan_to_num(image), 0, 1).astype(np.float32) * np.float32(255)
    levels = levels if levels.ndim == 3 else np.repeat(levels[..., None], 3, axis=2)
    return np.ascontiguousarray(levels)


def _shrunk(image: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    if image.shape[1::-1] == size:
        return image
    import cv2

    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))


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
