"""Middlebury's calib.txt (2014 and later; ETH3D's two-view data too)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from depthgauge.errors import BadFile, DoesNotFit
from depthgauge.io._files import AnyPath, opened, read_whole, write_parts
from depthgauge.types import Camera, Rig

_MOST_BYTES = 2**20
# Each text is matched in one way only: with two, a file of many digits takes minutes to refuse.
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?"
_IS_NUMBER = re.compile(_NUMBER)
_ROW = rf"\s*{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}\s*"
_IS_MATRIX = re.compile(rf"\[{_ROW};{_ROW};{_ROW}(?:;\s*)?\]")
_REQUIRED = ("cam0", "cam1", "baseline", "width", "height", "ndisp")
_NUMBERS = (
    "doffs",
    "baseline",
    "width",
    "height",
    "ndisp",
    "isint",
    "vmin",
    "vmax",
    "dyavg",
    "dymax",
)


@dataclass(frozen=True, slots=True)
class MiddleburyCalib:
    """A rectified pair: its rig and what the benchmark says of its disparities."""

    rig: Rig
    """Cameras `left` and `right`; baseline in metres, `doffs` as the principal offset."""
    ndisp: int
    """A bound on the number of disparity levels."""
    isint: bool = False
    """Whether the true disparities are integers."""
    vmin: float | None = None
    """A tight bound on the least disparity, for viewing."""
    vmax: float | None = None
    """A tight bound on the greatest disparity, for viewing."""
    dyavg: float | None = None
    """Mean vertical disparity that rectification left, px."""
    dymax: float | None = None
    """Greatest vertical disparity that rectification left, px."""


def read_middlebury_limits(path: AnyPath) -> tuple[int, bool]:
    """`ndisp` and `isint` of a calib.txt, which may contain nothing else."""
    with opened(path) as file:
        fields = _fields(path, read_whole(path, file, _MOST_BYTES).decode("latin-1"))
    if "ndisp" not in fields:
        raise BadFile(f"{path}: expected a Middlebury calib.txt, ndisp not in it")
    ndisp = _whole(path, "ndisp", _number(path, "ndisp", *fields["ndisp"]))
    isint = _number(path, "isint", *fields["isint"]) if "isint" in fields else 0
    return ndisp, bool(isint)


def read_middlebury_calib(path: AnyPath) -> MiddleburyCalib:
    """Reads calib.txt; without `doffs` it is the difference of the principal points.

    Keys that are not Middlebury's are ignored, a line that is not `key=value` is an error.
    """
    with opened(path) as file:
        text = read_whole(path, file, _MOST_BYTES).decode("latin-1")
    fields = _fields(path, text)
    missing = [key for key in _REQUIRED if key not in fields]
    if missing:
        raise BadFile(f"{path}: expected a Middlebury calib.txt, {', '.join(missing)} not in it")
    number = {key: _number(path, key, *fields[key]) for key in _NUMBERS if key in fields}
    whole = {key: _whole(path, key, number[key]) for key in ("width", "height", "ndisp")}
    baseline_m = number["baseline"] / 1000
    size = (whole["width"], whole["height"])
    left = _camera(path, "cam0", *fields["cam0"], size, 0.0)
    right = _camera(path, "cam1", *fields["cam1"], size, baseline_m)
    offset = number.get("doffs", right.centre_px[0] - left.centre_px[0])
    return MiddleburyCalib(
        Rig({"left": left, "right": right}, baseline_m, offset),
        ndisp=whole["ndisp"],
        isint=bool(number.get("isint", 0)),
        vmin=number.get("vmin"),
        vmax=number.get("vmax"),
        dyavg=number.get("dyavg"),
        dymax=number.get("dymax"),
    )


def write_middlebury_calib(path: AnyPath, calib: MiddleburyCalib) -> None:
    """Writes calib.txt; values that are None are left out."""
    cameras = calib.rig.cameras
    if not {"left", "right"} <= set(cameras) or not math.isfinite(calib.rig.baseline_m):
        raise DoesNotFit(f"{path}: calib.txt needs cameras left and right and a known baseline")
    width, height = cameras["left"].size_px
    lines = [
        f"cam0={_matrix_text(cameras['left'])}",
        f"cam1={_matrix_text(cameras['right'])}",
        f"doffs={_text(calib.rig.principal_offset_px)}",
        # Twelve digits: 193.001 mm comes back as 193.001, not as 193.00099999999998.
        f"baseline={calib.rig.baseline_m * 1000:.12g}",
        f"width={width}",
        f"height={height}",
        f"ndisp={calib.ndisp}",
        f"isint={int(calib.isint)}",
    ]
    extra = {"vmin": calib.vmin, "vmax": calib.vmax, "dyavg": calib.dyavg, "dymax": calib.dymax}
    lines += [f"{key}={_text(value)}" for key, value in extra.items() if value is not None]
    write_parts(path, ("\n".join(lines) + "\n").encode())


def _fields(path: AnyPath, text: str) -> dict[str, tuple[int, str]]:
    fields: dict[str, tuple[int, str]] = {}
    for at, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        key, equals, value = line.partition("=")
        if not equals or not re.fullmatch(r"\s*\w{1,40}\s*", key, re.ASCII):
            raise BadFile(f"{path}: line {at}: expected key=value, found {line.strip()[:60]!r}")
        fields[key.strip()] = (at, value.strip())
    return fields


def _number(path: AnyPath, key: str, line: int, text: str) -> float:
    value = float(text) if _IS_NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise BadFile(f"{path}: line {line}: {key} is a number, found {text[:60]!r}")
    return value


def _whole(path: AnyPath, key: str, value: float) -> int:
    if value != int(value) or not 1 <= value <= 2**31:
        raise BadFile(f"{path}: {key} is a positive whole number, found {value:g}")
    return int(value)


def _camera(
    path: AnyPath, key: str, line: int, text: str, size: tuple[int, int], x_m: float
) -> Camera:
    if not _IS_MATRIX.fullmatch(text):
        raise BadFile(
            f"{path}: line {line}: {key} is a matrix [f 0 cx; 0 f cy; 0 0 1], found {text[:60]!r}"
        )
    fx, skew, cx, zero, fy, cy, *last = (float(n) for n in _IS_NUMBER.findall(text))
    plain = [skew, zero, *last] == [0, 0, 0, 0, 1]
    if not (plain and fx > 0 and fy > 0 and math.isfinite(fx + fy + cx + cy)):
        raise BadFile(
            f"{path}: line {line}: {key} is not a pinhole camera without skew: {text[:60]}"
        )
    pose = np.eye(4)
    pose[0, 3] = x_m
    return Camera((fx, fy), (cx, cy), size, world_from_camera=pose)


def _text(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _matrix_text(camera: Camera) -> str:
    (fx, fy), (cx, cy) = camera.focal_px, camera.centre_px
    return f"[{_text(fx)} 0 {_text(cx)}; 0 {_text(fy)} {_text(cy)}; 0 0 1]"
