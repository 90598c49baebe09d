"""Writing of scenes, and of the lists of a dataset: a manifest, and all descriptions."""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.datasets._paths import inside
from depthgauge.datasets._stereogen import names
from depthgauge.datasets._stereogen.poses import MATRIX, rig_poses
from depthgauge.datasets._stereogen.scene import scene_folders
from depthgauge.errors import BadFile, CannotWrite, Misuse, RunWarning, WrongShape
from depthgauge.io.text import read_json, read_text

View = tuple[NDArray[np.generic], NDArray[np.generic]]
"""What one camera sees at one time: (H, W, 3) uint8 RGB, and (H, W) depth in metres, NaN where
there is none."""


@dataclass(frozen=True, slots=True)
class SceneDescription:
    """What a scene shows in words, made from its own parameters."""

    scene_type: str
    setting: str
    primary_elements: tuple[str, ...]
    spatial_layout: str
    lighting_materials: str
    short_caption: str
    detailed_caption: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class SceneRecord:
    """Everything about a scene but its frames."""

    scene_id: str
    """Its folder's name, such as `scene_000026`."""
    label: str
    index: int
    split: str
    """`train` or `eval`."""
    family: str
    """How the gaps between cameras were drawn: `IPD_Gaussian`, `Uniform`, `Pairwise_Uniform`."""
    map_name: str
    focal_mm: float
    sensor_mm: tuple[float, float]
    size_px: tuple[int, int]
    adjacent_cm: tuple[float, ...]
    """Gaps between neighbouring cameras, from left to right."""
    base_poses: NDArray[np.float64]
    """(frame, 4, 4) world-from-camera of camera 00; its x axis is the row of cameras."""
    description: SceneDescription
    eval_subset: str = ""
    """`MapSeenInTrain` or `MapUnseenInTrain` of `eval`."""
    map_path: str = ""
    character: str = ""
    animation: str = ""
    aperture_fstop: float | None = None
    fps: float = 15.0
    assets: Mapping[str, Any] = field(default_factory=dict)
    """What the scene is made of, and how: ids, seeds, options."""

    @property
    def path(self) -> str:
        """Where its folder is below the root of the dataset."""
        parts = [self.split, self.eval_subset, self.family, self.map_name, self.scene_id]
        return "/".join(part for part in parts if part)


def write_scene(
    root: Path,
    record: SceneRecord,
    frames: Iterable[Sequence[View]],
    *,
    scale_m: float = 0.001,
    quality: int = 12,
    chroma: Literal["420", "444"] = "420",
) -> Path:
    """Writes a scene frame by frame; its completion marker comes last.

    Args:
        root: The folder of the dataset.
        record: What is known of the scene.
        frames: For each frame, what every camera sees. Frames are taken one at a time.
        scale_m: Metres per code of the depth videos; `io.depth_scale` chooses one.
        quality: Constant rate factor of the colour videos.
        chroma: `420` or `444`.

    Returns:
        The folder of the scene.

    Raises:
        DoesNotFit: The scale cannot hold a depth.
        WrongShape: A frame has another size, or there are too few or too many frames or cameras.
    """
    _check_record(record)
    folder = inside(Path(root), record.path)
    if folder.exists():
        (folder / names.COMPLETE).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    _write_videos(folder, record, frames, scale_m, quality, chroma)
    write_json(folder / names.BASELINE, baseline_json(record))
    write_json(folder / names.TRAJECTORY, trajectory_json(record))
    write_json(folder / names.DESCRIPTION, asdict(record.description))
    io.write_text(folder / names.CAPTION, record.description.detailed_caption + "\n")
    files = sorted(p for p in folder.iterdir() if p.is_file())
    marker = {
        "scene_label": record.label,
        "scene_index": record.index,
        "map_name": record.map_name,
        "map_path": record.map_path,
        "files": {
            path.name: {"bytes": path.stat().st_size, "sha256": file_hash(path)} for path in files
        },
    }
    write_json(folder / names.COMPLETE, marker)
    return folder


def is_complete(root: Path, record: SceneRecord) -> bool:
    """Whether a scene was written to its end."""
    return (Path(root) / record.path / names.COMPLETE).is_file()


def discard_scene(folder: Path) -> None:
    """Removes the folder of a scene, finished or not."""
    if not any((folder / name).is_file() for name in (names.BASELINE, names.COMPLETE)) and any(
        folder.iterdir()
    ):
        raise CannotWrite(f"{folder}: is not the folder of a scene.")
    shutil.rmtree(folder)


def write_lists(root: Path) -> list[dict[str, Any]]:
    """Writes the manifest, a row per finished scene, and one file with all descriptions.

    A scene whose JSON files are damaged is left out, and a `RunWarning` names the file.

    Returns:
        The rows.
    """
    root = Path(root)
    rows, descriptions = [], []
    for folder in scene_folders(root):
        if not (folder / names.COMPLETE).is_file():
            continue
        path = folder.relative_to(root).as_posix()
        try:
            row, told = _listed(folder)
        except BadFile as error:
            warnings.warn(f"left out of the lists: {error}", RunWarning, stacklevel=2)
            continue
        rows.append({**row, "path": path})
        if told is not None:
            descriptions.append({"scene_id": row["scene_id"], "path": path, **told})
    (root / names.MANIFEST).parent.mkdir(parents=True, exist_ok=True)
    for name, lines in ((names.MANIFEST, rows), (names.DESCRIPTIONS, descriptions)):
        io.write_text(root / name, "".join(json.dumps(line) + "\n" for line in lines))
    return rows


def _listed(folder: Path) -> tuple[dict[str, Any], Mapping[str, Any] | None]:
    """The row of a scene, and its description if it has one.

    Raises:
        BadFile: One of its JSON files is damaged.
    """
    path, description = folder / names.BASELINE, folder / names.DESCRIPTION
    try:
        row = scene_row(read_json(path))
        path = description
        return row, dict(read_json(path)) if path.is_file() else None
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"{path}: is not what was written there ({error!r}).") from None


def read_manifest(root: Path) -> list[dict[str, Any]]:
    """The rows of the manifest."""
    return [json.loads(line) for line in read_text(Path(root) / names.MANIFEST).splitlines()]


def scene_row(baseline: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a scene in the manifest, from its `baseline.json`.

    Mean and deviation are over all pairs; the deviation is that of a population.
    """
    adjacent = [float(gap) for gap in baseline["adjacent_baselines_cm"]]
    pairs = list(pairwise_cm(adjacent).values())
    intrinsics = baseline["camera_intrinsics"]
    return {
        "scene_id": baseline["scene_id"],
        "scene_label": baseline["scene_label"],
        "split": baseline["split"],
        "regime": baseline["regime"],
        "eval_subset": baseline["eval_subset"],
        "map_name": baseline["map_name"],
        "character_mesh": baseline["character_mesh"],
        "animation": baseline["animation"],
        "num_frames": baseline["num_frames"],
        "focal_length_mm": intrinsics["focal_length_mm"],
        "sensor_width_mm": intrinsics["sensor_width_mm"],
        "sensor_height_mm": intrinsics["sensor_height_mm"],
        "aperture_fstop": intrinsics["aperture_fstop"],
        "baselines_adjacent_cm": adjacent,
        "baseline_min_cm": min(pairs),
        "baseline_max_cm": max(pairs),
        "baseline_mean_cm": float(np.mean(pairs)),
        "baseline_std_cm": float(np.std(pairs)),
    }


def pairwise_cm(adjacent_cm: Sequence[float]) -> dict[tuple[int, int], float]:
    """The baselines of all pairs of a row of cameras.

    >>> pairwise_cm([6.0, 7.0])
    {(0, 1): 6.0, (0, 2): 13.0, (1, 2): 7.0}
    """
    return {
        (a, b): float(sum(adjacent_cm[a:b]))
        for a, b in combinations(range(len(adjacent_cm) + 1), 2)
    }


def baseline_json(record: SceneRecord) -> dict[str, Any]:
    """The content of `baseline.json`."""
    width, height = record.size_px
    return {
        "scene_id": record.scene_id,
        "scene_label": record.label,
        "scene_index": record.index,
        "split": record.split,
        "regime": record.family,
        "eval_subset": record.eval_subset or None,
        "map_name": record.map_name,
        "map_path": record.map_path,
        "units": "cm",
        "camera_count": len(record.adjacent_cm) + 1,
        "num_frames": len(record.base_poses),
        "fps": record.fps,
        "image_width": width,
        "image_height": height,
        "camera_intrinsics": {
            "focal_length_mm": record.focal_mm,
            "sensor_width_mm": record.sensor_mm[0],
            "sensor_height_mm": record.sensor_mm[1],
            "aperture_fstop": record.aperture_fstop,
        },
        "primary_stereo_pair": _primary(record),
        "adjacent_baselines_cm": list(record.adjacent_cm),
        "pairwise_pairs": [
            {"camera_index_a": a, "camera_index_b": b, "baseline_cm": length}
            for (a, b), length in pairwise_cm(record.adjacent_cm).items()
        ],
        "character_mesh": record.character,
        "animation": record.animation,
        "assets": dict(record.assets),
    }


def trajectory_json(record: SceneRecord) -> dict[str, Any]:
    """The content of `trajectory.json`: rotations as matrices, locations in centimetres."""
    poses = rig_poses(record.base_poses, record.adjacent_cm)
    order = [camera_name(record, number) for number in range(poses.shape[1])]
    return {
        "scene_label": record.label,
        "scene_index": record.index,
        "map_name": record.map_name,
        "character": record.character,
        "unit": "cm",
        "rotation_representation": MATRIX,
        "camera_count": len(order),
        "primary_stereo_pair": _primary(record),
        "camera_order": order,
        "frames": [
            {
                "frame_index": frame,
                "cameras": [
                    {
                        "camera_index": number,
                        "camera_name": order[number],
                        "location": (100 * pose[:3, 3]).tolist(),
                        "rotation": pose[:3, :3].tolist(),
                    }
                    for number, pose in enumerate(cameras)
                ],
            }
            for frame, cameras in enumerate(poses)
        ],
    }


def camera_name(record: SceneRecord, number: int) -> str:
    """What a camera is called in the JSON files."""
    return f"{record.label}_Cam_{number:02d}"


def write_json(path: Path, body: Mapping[str, Any]) -> None:
    """Writes plain data, without NaN."""
    io.write_text(path, json.dumps(body, indent=1, allow_nan=False) + "\n")


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _primary(record: SceneRecord) -> dict[str, str]:
    return {"left_camera": camera_name(record, 0), "right_camera": camera_name(record, 1)}


def _check_record(record: SceneRecord) -> None:
    base = np.asarray(record.base_poses)
    if base.ndim != 3 or base.shape[1:] != (4, 4) or not len(base):
        raise WrongShape(f"{record.scene_id}: base_poses must be (frame, 4, 4), not {base.shape}.")
    if not record.adjacent_cm or min(record.adjacent_cm) <= 0:
        raise Misuse(f"{record.scene_id}: gaps between cameras must be positive.")


def _write_videos(
    folder: Path,
    record: SceneRecord,
    frames: Iterable[Sequence[View]],
    scale_m: float,
    quality: int,
    chroma: Literal["420", "444"],
) -> None:
    cameras = range(len(record.adjacent_cm) + 1)
    size, fps = record.size_px, record.fps
    with ExitStack() as files:
        colours, depths = [], []
        for number in cameras:
            colour = io.VideoWriter(
                folder / names.rgb_name(number), size, fps, quality=quality, chroma=chroma
            )
            depth = io.DepthWriter(folder / names.depth_name(number), size, fps, scale_m=scale_m)
            colours.append(files.enter_context(colour))
            depths.append(files.enter_context(depth))
        count = 0
        for views in frames:
            if len(views) != len(cameras):
                raise WrongShape(
                    f"{record.scene_id}: frame {count} has {len(views)} views for {len(cameras)} "
                    "cameras."
                )
            for number, (image, depth_m) in enumerate(views):
                colours[number].add(image)
                depths[number].add(depth_m)
            count += 1
        if count != len(record.base_poses):
            raise WrongShape(
                f"{record.scene_id}: {count} frames were given for {len(record.base_poses)} poses."
            )
