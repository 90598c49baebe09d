"""A scene of cameras in a row: what its JSON files say, and its frames."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.datasets._stereogen import names
from depthgauge.datasets._stereogen.poses import MATRIX, UNITS, Poses, camera_index, parse_pose
from depthgauge.errors import BadData, BadFile, Unavailable
from depthgauge.geometry.projection import inverse_pose
from depthgauge.io.text import read_json
from depthgauge.types import Camera, Map

_WRONG = (KeyError, TypeError, ValueError, AttributeError)
"""What reading a field raises where something else is expected."""
Pair = tuple[int, int]
"""Two cameras, the left one first."""


@dataclass(frozen=True, slots=True, eq=False)
class RigScene:
    """One scene, without its frames."""

    folder: Path
    label: str
    index: int
    map_name: str
    focal_mm: float
    sensor_mm: tuple[float, float]
    """Width and height."""
    size_px: tuple[int, int]
    centre_px: tuple[float, float]
    primary: Pair
    baselines_cm: Mapping[Pair, float]
    """As recorded, for every pair of cameras, by their numbers in ascending order."""
    poses: Poses
    facts: Mapping[str, Any]
    """What else `baseline.json` says: split, regime, assets ..."""

    @property
    def length(self) -> int:
        """The number of frames."""
        return len(self.poses)

    @property
    def camera_count(self) -> int:
        """How many cameras the rig has."""
        return int(self.poses.shape[1])

    @property
    def focal_px(self) -> tuple[float, float]:
        """Along x and y, from the focal length and the sensor's size."""
        (width, height), (sensor_w, sensor_h) = self.size_px, self.sensor_mm
        return self.focal_mm / sensor_w * width, self.focal_mm / sensor_h * height

    def camera(self, number: int, frame: int = 0) -> Camera:
        """A camera at a frame."""
        pose = self.poses[frame, number]
        return Camera(self.focal_px, self.centre_px, self.size_px, world_from_camera=pose)

    def baseline_m(self, pair: Pair) -> float:
        """The recorded baseline of a pair."""
        first, second = sorted(pair)
        return self.baselines_cm[first, second] / 100

    def pairs(self) -> tuple[Pair, ...]:
        """All pairs, the left camera first, as the poses of frame 0 say."""
        return tuple(self.ordered(pair) for pair in combinations(range(self.camera_count), 2))

    def ordered(self, pair: Pair) -> Pair:
        """A pair with its left camera first."""
        first, second = sorted(pair)
        shift = inverse_pose(self.poses[0, first]) @ self.poses[0, second]
        return (first, second) if shift[0, 3] >= 0 else (second, first)

    def image(self, camera: int, frame: int) -> NDArray[np.uint8]:
        """A frame in colours, (H, W, 3) uint8.

        Raises:
            BadFile: The video is damaged, or has another size or number of frames.
        """
        path = self.folder / names.rgb_name(camera)
        self._check(path)
        return io.read_video_frame(path, frame)

    def depth(self, camera: int, frame: int) -> Map:
        """A frame of depth in metres along the optical axis.

        Raises:
            BadFile: The video is damaged, or has another size or number of frames.
        """
        path = self.folder / names.depth_name(camera)
        self._check(path)
        return io.read_depth_frame(path, frame)

    def _check(self, path: Path) -> None:
        info = io.video_info(path)
        if info.frames != self.length:
            raise BadFile(
                f"{path}: has {info.frames} frames, {names.TRAJECTORY} has {self.length}; render "
                "the scene again"
            )
        if info.size_px != self.size_px:
            raise BadFile(
                f"{path}: is {info.size_px[0]}x{info.size_px[1]}, {names.BASELINE} says "
                f"{self.size_px[0]}x{self.size_px[1]}; render the scene again"
            )


def scene_folders(root: Path) -> list[Path]:
    """The folders of all scenes below a folder, finished or not, in the order of their paths."""
    signs = (names.BASELINE, names.TRAJECTORY, names.COMPLETE)
    return sorted({path.parent for sign in signs for path in root.rglob(sign)})


def read_scene(folder: Path) -> RigScene:
    """What the JSON files of a scene say; its videos only have to be there.

    Raises:
        BadData: A file is missing, or two files contradict each other.
        BadFile: A file is damaged; it is named, with the field.
    """
    wanted = (names.COMPLETE, names.BASELINE, names.TRAJECTORY)
    lacking = [name for name in wanted if not (folder / name).is_file()]
    if lacking:
        raise BadData(f"{folder}: lacks {', '.join(lacking)}; the scene is unfinished, make it.")
    baseline, trajectory = (_table(folder / name) for name in wanted[1:])
    try:
        poses = _poses(trajectory)
    except _WRONG as error:
        raise BadFile(f"{folder / names.TRAJECTORY}: {_said(error)}") from None
    try:
        scene = _scene(folder, baseline, poses)
    except _WRONG as error:
        raise BadFile(f"{folder / names.BASELINE}: {_said(error)}") from None
    videos = [f(n) for n in range(scene.camera_count) for f in (names.rgb_name, names.depth_name)]
    if absent := [name for name in videos if not (folder / name).is_file()]:
        raise BadData(f"{folder}: lacks {', '.join(absent)}; get or render the scene again.")
    _check_sizes(folder)
    return scene


def _check_sizes(folder: Path) -> None:
    """Compares files with the sizes that the marker has, where it has some."""
    listed = _table(folder / names.COMPLETE).get("files")
    for name, state in listed.items() if isinstance(listed, dict) else ():
        path, wanted = folder / name, state.get("bytes") if isinstance(state, dict) else None
        if name.endswith((".mp4", ".mkv")) and wanted is not None:
            found = path.stat().st_size if path.is_file() else 0
            if found != wanted:
                raise BadData(
                    f"{path}: has {found} bytes, {names.COMPLETE} says {wanted}; get or render the "
                    "scene again."
                )


def unknown_fields(folder: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The JSON files of a scene that have fields which nobody knows, and those fields."""
    trajectory = _table(folder / names.TRAJECTORY)
    baseline = _table(folder / names.BASELINE)
    frames = [f for f in trajectory.get("frames", ()) if isinstance(f, Mapping)]
    cameras = [c for f in frames for c in _cameras(f) if isinstance(c, Mapping)]
    intrinsics = baseline.get("camera_intrinsics")
    tables: tuple[tuple[str, frozenset[str], Sequence[Any]], ...] = (
        (names.BASELINE, names.BASELINE_FIELDS, [baseline]),
        (names.BASELINE, names.INTRINSICS_FIELDS, [intrinsics]),
        (names.TRAJECTORY, names.TRAJECTORY_FIELDS, [trajectory]),
        (names.TRAJECTORY, names.FRAME_FIELDS, frames),
        (names.TRAJECTORY, names.POSE_FIELDS, cameras),
        (names.COMPLETE, names.COMPLETE_FIELDS, [_table(folder / names.COMPLETE)]),
    )
    for file, known, found in tables:
        fields = {str(name) for table in found if isinstance(table, Mapping) for name in table}
        if strange := tuple(sorted(fields - known)):
            yield file, strange


def usable(load: Any, *arguments: Any) -> Any:
    """Calls a loader; a damaged file costs only its sample.

    Raises:
        Unavailable: It names the file.
    """
    try:
        return load(*arguments)
    except (BadFile, BadData) as error:
        raise Unavailable(f"cannot be used: {error}") from error


# --- fields ---------------------------------------------------------------------------------------


def _table(path: Path) -> dict[str, Any]:
    found = read_json(path)
    if not isinstance(found, dict):
        raise BadFile(f"{path}: expected an object with named fields.")
    return found


def _said(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"lacks the field '{error.args[0]}'."
    if isinstance(error, AttributeError):
        return "a list stands where an object with named fields is expected."
    return f"{error}."


def _scene(folder: Path, doc: Mapping[str, Any], poses: Poses) -> RigScene:
    intrinsics = doc["camera_intrinsics"]
    focal_mm = _positive(intrinsics, "focal_length_mm")
    sensor_mm = (
        _positive(intrinsics, "sensor_width_mm"),
        _positive(intrinsics, "sensor_height_mm"),
    )
    size_px = _size(folder, doc)
    count = poses.shape[1]
    if (said := doc.get("camera_count", count)) != count:
        raise ValueError(f"says {said} cameras but {names.TRAJECTORY} has {count}")
    primary = _primary(doc["primary_stereo_pair"])
    if max(primary) >= count or primary[0] == primary[1]:
        raise ValueError(f"the primary pair {primary} is not two of {count} cameras")
    used = {"camera_intrinsics", "pairwise_pairs", "primary_stereo_pair"}
    return RigScene(
        folder,
        str(doc.get("scene_label", folder.name)),
        int(doc.get("scene_index", 0)),
        str(doc.get("map_name", folder.parent.name)),
        focal_mm,
        sensor_mm,
        size_px,
        _centre(intrinsics, size_px),
        primary,
        _baselines(doc["pairwise_pairs"], count),
        poses,
        {name: value for name, value in doc.items() if name not in used}
        | {"aperture_fstop": intrinsics.get("aperture_fstop")},
    )


def _positive(table: Mapping[str, Any], name: str) -> float:
    value = float(table[name])
    if not 0 < value < math.inf:
        raise ValueError(f"{name} is {value} but must be positive")
    return value


def _size(folder: Path, doc: Mapping[str, Any]) -> tuple[int, int]:
    """As recorded; releases do not record it, then of the first video."""
    if "image_width" in doc:
        width = int(doc["image_width"])
        height = int(doc.get("image_height", width))
        if min(width, height) < 1:
            raise ValueError(f"the image size is {width} x {height}")
        return width, height
    first = folder / names.rgb_name(0)
    return io.video_info(first).size_px if first.is_file() else (1, 1)


def _centre(intrinsics: Mapping[str, Any], size_px: tuple[int, int]) -> tuple[float, float]:
    if "principal_point_px" in intrinsics:
        x, y = intrinsics["principal_point_px"]
    else:
        x = intrinsics.get("cx", (size_px[0] - 1) / 2)
        y = intrinsics.get("cy", (size_px[1] - 1) / 2)
    if not (math.isfinite(float(x)) and math.isfinite(float(y))):
        raise ValueError("the principal point is not finite")
    return float(x), float(y)


def _primary(given: Any) -> Pair:
    if isinstance(given, Mapping):
        given = [given["left_camera"], given["right_camera"]]
    left, right = given
    return camera_index(left), camera_index(right)


def _baselines(entries: Any, count: int) -> dict[Pair, float]:
    found: dict[Pair, float] = {}
    for entry in entries:
        first, second = sorted(
            camera_index(entry[f"camera_index_{side}"])
            if f"camera_index_{side}" in entry
            else camera_index(entry[f"camera_{side}"])
            for side in "ab"
        )
        found[first, second] = _positive(entry, "baseline_cm")
    wanted = set(combinations(range(count), 2))
    if set(found) != wanted:
        wrong = sorted(wanted ^ set(found))[0]
        raise ValueError(f"pairwise_pairs does not fit {count} cameras: see pair {wrong}")
    return found


def _cameras(frame: Mapping[str, Any]) -> list[Any]:
    """The cameras of a frame: a list, or a table by name."""
    given = frame.get("cameras", [])
    if isinstance(given, Mapping):
        return [{"camera_name": name, **body} for name, body in given.items()]
    return list(given)


def _poses(doc: Mapping[str, Any]) -> Poses:
    unit = str(doc.get("unit", doc.get("units", "cm"))).lower()
    if unit not in UNITS:
        raise ValueError(f"the unit '{unit}' is none of {', '.join(UNITS)}")
    kind = str(doc.get("rotation_representation", MATRIX))
    frames = doc["frames"]
    if not frames:
        raise ValueError("has no frames")
    rows = []
    for place, frame in enumerate(frames):
        if (said := frame.get("frame_index", frame.get("frame", place))) != place:
            raise ValueError(f"frame {place} is called {said}: frames must count from 0")
        by_number: dict[int, NDArray[np.float64]] = {}
        for position, body in enumerate(_cameras(frame)):
            name = body.get("camera_index", body.get("camera_name", position))
            by_number[camera_index(name)] = parse_pose(body, kind, UNITS[unit])
        if sorted(by_number) != list(range(len(by_number))) or len(by_number) < 2:
            raise ValueError(f"frame {place} has the cameras {sorted(by_number)}")
        rows.append([by_number[number] for number in sorted(by_number)])
    if len({len(row) for row in rows}) > 1:
        raise ValueError("frames have different numbers of cameras")
    return np.array(rows)
