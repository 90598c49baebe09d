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
from depthgauge.capture.matching.engine import Pairs, Stack
from depthgauge.capture.steps import Progress
from depthgauge.errors import BadData, BadFile, CannotWrite
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.sessions import Session
from depthgauge.types import Image, Mask

SIDES = {"left": "L", "right": "R"}
_RECORD = "stacks.json"
_DARK_SHARE = 0.1
"""A frame whose light is less than this share of the others' is one of a projector that failed."""
_LEAST_CONTRAST = 1.5
"""Grey levels; a picture with less shows nothing."""
_LOOKED_AT = 250
"""About so many rows and columns are looked at for a picture's brightness."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which patterns can be used, and why others cannot."""

    names: tuple[str, ...]
    dropped: Mapping[str, str]

    def without(self, reasons: Mapping[str, str]) -> Choice:
        """With some more dropped."""
        names = tuple(name for name in self.names if name not in reasons)
        return Choice(names, {**self.dropped, **reasons})

    def need_one(self, session: Session) -> None:
        """Raises where nothing is left.

        Raises:
            BadData: It says why each was dropped.
        """
        if not self.names:
            why = "; ".join(f"{name}: {reason}" for name, reason in self.dropped.items())
            raise BadData(
                f"{session.folder / 'pattern'}: no pattern is left that can be used ({why}); "
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
            "one pattern the same name."
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
    """Rectified pictures of all patterns, kept in files of the folder; and which are unreadable.

    What an interrupted attempt has made is not made again.

    Raises:
        BadData: A picture is not of its camera's size.
    """
    width, height = size
    shape = (len(names), height, width, 3)
    record = _read_record(folder, shape)
    stacks = {side: _opened(folder / f"{side}_stack.npy", shape, record) for side in SIDES}
    unreadable: dict[str, str] = dict(record.get("unreadable", {}))
    eyes = {"left": _Eye(pair.left, size), "right": _Eye(pair.right, size)}
    for t in range(record.get("done", 0), len(names)):
        reason = _add(session, names[t], eyes, {side: stacks[side][t] for side in SIDES})
        if reason:
            unreadable[names[t]] = reason
        state = {"shape": shape, "done": t + 1, "unreadable": unreadable}
        io.write_text(folder / _RECORD, json.dumps(state) + "\n")
        if progress:
            progress("rectifying patterns", t + 1, len(names))
    known = eyes["left"].known(), eyes["right"].known()
    return Pairs(stacks["left"], stacks["right"], *known), unreadable


def crossed_pairs(
    session: Session, pair: RectifiedPair, names: Sequence[str], size: tuple[int, int]
) -> Pairs | None:
    """The same with the cameras' pictures exchanged; None where they have different sizes."""
    if pair.left.raw.size_px != pair.right.raw.size_px:
        return None
    eyes = {"left": _Eye(pair.right, size), "right": _Eye(pair.left, size)}
    stacks = {side: np.zeros((len(names), size[1], size[0], 3), np.uint8) for side in SIDES}
    for t, name in enumerate(names):
        _add(session, name, eyes, {side: stacks[side][t] for side in SIDES})
    known = eyes["right"].known(), eyes["left"].known()
    return Pairs(stacks["right"], stacks["left"], *known)


def remove_stacks(folder: Path) -> None:
    """Takes the files of `make_stacks` away."""
    for name in (_RECORD, *(f"{side}_stack.npy" for side in SIDES)):
        (folder / name).unlink(missing_ok=True)


def dark_frames(pairs: Pairs, names: Sequence[str]) -> dict[str, str]:
    """Patterns whose picture has far less light or contrast than the others, with the reason."""
    found = {}
    for camera, stack, known in (
        ("L", pairs.left, pairs.left_known),
        ("R", pairs.right, pairs.right_known),
    ):
        light, contrast = _light(stack, known)
        usual = float(np.median(light)) if light.size > 2 else float(light.max())
        for name, level, spread in zip(names, light, contrast, strict=True):
            if spread < _LEAST_CONTRAST:
                found[name] = f"camera {camera}'s picture is uniform ({spread:.1f} levels)"
            elif level < _DARK_SHARE * usual:
                found[name] = (
                    f"camera {camera}'s picture is dark ({level:.1f} levels of light, "
                    f"others have {usual:.1f})"
                )
    return found


def _light(stack: Stack, known: Mask) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean light and contrast of each picture, without what all of them have: the room's light."""
    step = max(1, min(stack.shape[1:3]) // _LOOKED_AT)
    seen = known[::step, ::step]
    values = np.asarray(stack[:, ::step, ::step])[:, seen].astype(np.float32)
    if not values.shape[1]:
        return np.zeros(len(stack)), np.zeros(len(stack))
    # Two pictures hardly ever show a point's darkest state.
    always = values.min(axis=0) if len(stack) > 2 else np.float32(0)
    light = (values - always).mean(axis=(1, 2), dtype=np.float64)
    return light, values.std(axis=(1, 2), dtype=np.float64)


class _Eye:
    """One rectified view; where its pixels are in the raw pictures is computed once."""

    def __init__(self, view: RectifiedView, size: tuple[int, int]) -> None:
        self.view = view
        self.size = size
        self.xs, self.ys = view.raw_grid()

    def see(self, raw: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """A raw picture rectified, at the size that is matched.

        By splines: Keys' cubic kernel left stripes in the disparities of simulated sessions.
        """
        from depthgauge.capture.matching import _spline_kernels

        values = raw.astype(np.float32)
        _spline_kernels.spline_rows(values)
        _spline_kernels.spline_columns(values.reshape(values.shape[0], -1))
        out = np.zeros((*self.xs.shape, raw.shape[2]), np.uint8)
        _spline_kernels.sample(values, self.xs, self.ys, out)
        return _shrunk(out, self.size)

    def known(self) -> Mask:
        """Where the camera saw anything, less a pixel's border: slopes there are not the scene's.

        The border of the whole picture is none.
        """
        import cv2

        width, height = self.view.raw.size_px
        inside = (abs(self.xs - (width - 1) / 2) <= width / 2) & (
            abs(self.ys - (height - 1) / 2) <= height / 2
        )
        seen = _shrunk(np.where(inside, np.uint8(255), np.uint8(0)), self.size)
        return np.asarray(cv2.erode(seen, np.ones((3, 3), np.uint8)) == 255)


def _add(
    session: Session,
    name: str,
    eyes: Mapping[str, _Eye],
    places: Mapping[str, NDArray[np.uint8]],
) -> str:
    """Fills in a pattern's pictures; else says why it cannot be used."""
    for side, eye in eyes.items():
        path = session.pattern_images(SIDES[side])[name]
        try:
            image = io.read_image(path)
        except BadFile as error:
            return f"cannot be read ({error})"
        _check_size(path, image, eye.view)
        places[side][:] = eye.see(_rgb8(image))
    return ""


def _check_size(path: Path, image: Image, view: RectifiedView) -> None:
    height, width = image.shape[:2]
    if (width, height) != view.raw.size_px:
        want = "x".join(str(n) for n in view.raw.size_px)
        raise BadData(
            f"{path}: the picture is {width}x{height}, its camera was calibrated at {want}; "
            "pattern and calibration pictures must be of one size."
        )


def _rgb8(image: Image) -> NDArray[np.uint8]:
    levels = image if image.dtype == np.uint8 else np.rint(np.clip(image, 0, 1) * 255)
    levels = levels if levels.ndim == 3 else np.repeat(levels[..., None], 3, axis=2)
    return np.ascontiguousarray(levels, np.uint8)


def _shrunk(image: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    if image.shape[1::-1] == size:
        return image
    import cv2

    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))


def _read_record(folder: Path, shape: tuple[int, ...]) -> dict[str, Any]:
    try:
        data = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
        return dict(data) if data["shape"] == list(shape) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _opened(path: Path, shape: tuple[int, ...], record: Mapping[str, Any]) -> Stack:
    try:
        mode = "r+" if record and path.is_file() else "w+"
        if mode == "r+":
            return np.lib.format.open_memmap(path, mode)
        return np.lib.format.open_memmap(path, mode, np.uint8, shape)
    except OSError as error:
        raise CannotWrite(f"{path}: cannot be written: {error.strerror or error}.") from None
