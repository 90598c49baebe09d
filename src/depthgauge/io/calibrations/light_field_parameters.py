"""`parameters.cfg` of the 4D light field benchmark: the camera grid and the scene's ranges."""

from __future__ import annotations

import configparser
import math
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile, DoesNotFit
from depthgauge.io._files import AnyPath, opened, read_whole, write_parts
from depthgauge.types import Camera, Rig

MOST_CAMERAS = 1000
"""Along one side of a camera grid."""
_MOST_BYTES = 2**20
_MM = 1000.0
# Blender's cameras look along their -z and have y upwards; ours look along z, y downwards.
_OURS_FROM_BLENDER = np.diag([1.0, -1.0, -1.0])
# What a value may be: in words, and the least and greatest whole number.
_WHOLE = {
    "whole": ("a whole number", -(2**63), 2**63),
    "pixels": ("a whole number from 1 to 1048576", 1, 2**20),
    "cameras": (f"a whole number from 1 to {MOST_CAMERAS}", 1, MOST_CAMERAS),
}


def _in(section: str, kind: str, default: Any = MISSING) -> Any:
    """A key of the file: its section, its type, and its default."""
    about = {"section": section, "kind": kind}
    return field(metadata=about) if default is MISSING else field(default=default, metadata=about)


@dataclass(frozen=True, slots=True)
class LightFieldParameters:
    """What `parameters.cfg` says, key by key and in its units.

    Views are on a grid in one plane, `baseline_mm` apart, with parallel axes; each sensor is
    shifted so that a point at `focus_distance_m` is at the same pixel of every view.
    """

    focal_length_mm: float = _in("intrinsics", "positive")
    image_resolution_x_px: int = _in("intrinsics", "pixels")
    image_resolution_y_px: int = _in("intrinsics", "pixels")
    sensor_size_mm: float = _in("intrinsics", "positive")
    """Along the larger side of the image."""
    num_cams_x: int = _in("extrinsics", "cameras")
    num_cams_y: int = _in("extrinsics", "cameras")
    baseline_mm: float = _in("extrinsics", "positive")
    focus_distance_m: float = _in("extrinsics", "distance")
    """Infinite where the sensors are not shifted."""
    fstop: float | None = _in("intrinsics", "number", None)
    center_cam_x_m: float = _in("extrinsics", "number", 0.0)
    center_cam_y_m: float = _in("extrinsics", "number", 0.0)
    center_cam_z_m: float = _in("extrinsics", "number", 0.0)
    center_cam_rx_rad: float = _in("extrinsics", "number", 0.0)
    """Blender's Euler angles, x first; at 0 the camera looks along -z of the world."""
    center_cam_ry_rad: float = _in("extrinsics", "number", 0.0)
    center_cam_rz_rad: float = _in("extrinsics", "number", 0.0)
    scene: str = _in("meta", "text", "")
    category: str = _in("meta", "text", "")
    date: str = _in("meta", "text", "")
    version: str = _in("meta", "text", "")
    authors: str = _in("meta", "text", "")
    contact: str = _in("meta", "text", "")
    cycles_seed: int | None = _in("meta", "whole", None)
    disp_min: float | None = _in("meta", "number", None)
    """Smallest disparity of the scene, in px per step between neighbouring views."""
    disp_max: float | None = _in("meta", "number", None)
    frustum_disp_min: float | None = _in("meta", "number", None)
    frustum_disp_max: float | None = _in("meta", "number", None)
    depth_map_scale: float | None = _in("meta", "positive", None)
    """Size of the high-resolution truth, in sizes of the images."""

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of every view."""
        return self.image_resolution_x_px, self.image_resolution_y_px

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of views."""
        return self.num_cams_y, self.num_cams_x

    @property
    def disparity_range(self) -> tuple[float, float] | None:
        """Least and greatest disparity of the scene; None where the file does not say it."""
        if self.disp_min is None or self.disp_max is None:
            return None
        return self.disp_min, self.disp_max

    @property
    def focal_px(self) -> float:
        """Focal length in pixels of the views."""
        return self.focal_length_mm / self.sensor_size_mm * max(self.size_px)

    @property
    def camera(self) -> Camera:
        """The centre view's camera, in the world's axes of the file (Blender's, z upwards)."""
        width, height = self.size_px
        pose = np.eye(4)
        angles = (self.center_cam_rx_rad, self.center_cam_ry_rad, self.center_cam_rz_rad)
        pose[:3, :3] = _rotation(*angles) @ _OURS_FROM_BLENDER
        pose[:3, 3] = self.center_cam_x_m, self.center_cam_y_m, self.center_cam_z_m
        centre = ((width - 1) / 2, (height - 1) / 2)
        return Camera((self.focal_px, self.focal_px), centre, (width, height), (), pose)

    @property
    def rig(self) -> Rig:
        """Camera `centre` and its neighbours' distance: depth = f b / (disparity + offset)."""
        baseline_m = self.baseline_mm / _MM
        offset_px = self.focal_px * baseline_m / self.focus_distance_m
        return Rig({"centre": self.camera}, baseline_m, offset_px)

    @classmethod
    def from_rig(
        cls, rig: Rig, grid: tuple[int, int], *, sensor_size_mm: float = 35.0, **others: Any
    ) -> LightFieldParameters:
        """The parameters of a rig whose camera `centre` is the middle of a grid.

        Args:
            rig: As `rig` gives it.
            grid: Rows and columns of views.
            sensor_size_mm: Decides how the focal length is written, in mm; nothing else.
            others: Further fields, by name.

        Raises:
            DoesNotFit: It is not a camera of this kind.
        """
        camera = rig.cameras.get("centre")
        if camera is None or not 0 < rig.baseline_m < math.inf or not rig.principal_offset_px >= 0:
            raise DoesNotFit(
                "parameters.cfg needs a rig with a camera 'centre', a known baseline and a "
                f"principal offset of 0 or more, found {', '.join(rig.cameras)} with "
                f"{rig.baseline_m:g} m and {rig.principal_offset_px:g} px."
            )
        (fx, fy), (cx, cy), (width, height) = camera.focal_px, camera.centre_px, camera.size_px
        if not np.allclose([fx, cx, cy], [fy, (width - 1) / 2, (height - 1) / 2], atol=1e-6):
            raise DoesNotFit(
                "parameters.cfg knows one focal length and a principal point in the middle of the "
                f"image, found {fx:g} and {fy:g} px with ({cx:g}, {cy:g}) in {width}x{height}."
            )
        offset = rig.principal_offset_px
        rotation = camera.world_from_camera[:3, :3] @ _OURS_FROM_BLENDER
        rx, ry, rz = _angles(rotation)
        x, y, z = (float(n) for n in camera.world_from_camera[:3, 3])
        return cls(
            focal_length_mm=fx * sensor_size_mm / max(width, height),
            image_resolution_x_px=width,
            image_resolution_y_px=height,
            sensor_size_mm=sensor_size_mm,
            num_cams_x=grid[1],
            num_cams_y=grid[0],
            baseline_mm=rig.baseline_m * _MM,
            focus_distance_m=fx * rig.baseline_m / offset if offset else math.inf,
            center_cam_x_m=x,
            center_cam_y_m=y,
            center_cam_z_m=z,
            center_cam_rx_rad=rx,
            center_cam_ry_rad=ry,
            center_cam_rz_rad=rz,
            **others,
        )


def read_light_field_parameters(path: AnyPath) -> LightFieldParameters:
    """Reads parameters.cfg; keys that are not the benchmark's are ignored.

    Raises:
        BadFile: It is not an INI file, a key is missing, or a value is wrong; every
            such key is named.
    """
    parser = _parse(path)
    faults: list[str] = []
    values: dict[str, Any] = {}
    for key in fields(LightFieldParameters):
        section = key.metadata["section"]
        text = parser.get(section, key.name, fallback=None)
        if text is not None:
            try:
                values[key.name] = _value(text.strip(), key.metadata["kind"])
            except ValueError as error:
                faults.append(f"{key.name} is {error}, found '{text[:60]}'")
        elif key.default is MISSING:
            faults.append(f"{key.name} is not in section [{section}]")
    if faults:
        raise BadFile(f"{path}: no light field's parameters.cfg: {'; '.join(faults)}")
    return LightFieldParameters(**values)


def write_light_field_parameters(path: AnyPath, parameters: LightFieldParameters) -> None:
    """Writes parameters.cfg as in the benchmark; fields that are None are left out.

    Raises:
        DoesNotFit: A text has more than one line.
    """
    sections: dict[str, list[str]] = {"intrinsics": [], "extrinsics": [], "meta": []}
    for key in fields(parameters):
        value = getattr(parameters, key.name)
        if value is None:
            continue
        if isinstance(value, str) and not value.isprintable():
            raise DoesNotFit(f"{path}: {key.name} must be one line of plain text, it is {value!r}")
        sections[key.metadata["section"]].append(f"{key.name} = {_text(value)}")
    parts = ["\n".join([f"[{name}]", *lines, ""]) for name, lines in sections.items()]
    write_parts(path, "\n".join(parts).encode())


def _parse(path: AnyPath) -> configparser.RawConfigParser:
    with opened(path) as file:
        body = read_whole(path, file, _MOST_BYTES)
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(body.decode())
    except UnicodeDecodeError:
        raise BadFile(f"{path}: expected a text file in UTF-8, found other bytes") from None
    except configparser.Error as error:
        reason = " ".join(str(error).split())[:200]
        raise BadFile(f"{path}: expected '[section]' and 'key = value' lines: {reason}") from None
    return parser


def _value(text: str, kind: str) -> Any:
    """The value of a key; a ValueError says what it should have been."""
    if kind == "text":
        return text
    try:
        number = math.nan if "_" in text else float(text)  # Python alone reads 1_000
    except ValueError:
        number = math.nan
    if kind in _WHOLE:
        words, least, most = _WHOLE[kind]
        if not (least <= number <= most and number == int(number)):
            raise ValueError(words)
        return int(number)
    if kind == "number" and math.isfinite(number):
        return number
    if number > 0 and (kind == "distance" or (kind == "positive" and number < math.inf)):
        return number
    raise ValueError("a number" if kind == "number" else "a positive number")


def _text(value: float | int | str) -> str:
    # Twelve digits if they are enough: 30 mm stays 30.0, not 30.000000000000004.
    if isinstance(value, float) and math.isfinite(value):
        short = float(f"{value:.12g}")
        return repr(short if math.isclose(short, value, rel_tol=1e-15) else float(value))
    return str(value)


def _rotation(rx: float, ry: float, rz: float) -> NDArray[np.float64]:
    """About x first, then y, then z."""
    (sx, cx), (sy, cy), (sz, cz) = ((math.sin(a), math.cos(a)) for a in (rx, ry, rz))
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cx, -sx], [0.0, sx, cx]])
    about_y = np.array([[cy, 0.0, sy], [0.0, 1.0, 0.0], [-sy, 0.0, cy]])
    about_z = np.array([[cz, -sz, 0.0], [sz, cz, 0.0], [0.0, 0.0, 1.0]])
    rotation: NDArray[np.float64] = about_z @ about_y @ about_x
    return rotation


def _angles(rotation: NDArray[np.float64]) -> tuple[float, float, float]:
    """The inverse of `_rotation`; where y is turned by 90 degrees, z is not."""
    across = math.hypot(rotation[0, 0], rotation[1, 0])
    ry = math.atan2(-rotation[2, 0], across)
    if across < 1e-9:
        return math.atan2(-rotation[1, 2], rotation[1, 1]), ry, 0.0
    rx = math.atan2(rotation[2, 1], rotation[2, 2])
    return rx, ry, math.atan2(rotation[1, 0], rotation[0, 0])
