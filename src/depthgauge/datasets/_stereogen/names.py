"""Names of files and fields in the folder of a scene."""

from __future__ import annotations

CAMERAS = 6
BASELINE = "baseline.json"
TRAJECTORY = "trajectory.json"
COMPLETE = "_scene_complete.json"
DESCRIPTION = "scene_description_qwen_dataset_level.json"
CAPTION = "scene_description_qwen_dataset_level.txt"
MANIFEST = "metadata/manifest.jsonl"
DESCRIPTIONS = "metadata/scene_descriptions_qwen_dataset_level.jsonl"
FAMILIES = ("IPD_Gaussian", "Uniform", "Pairwise_Uniform")
TRAIN, EVAL = "train", "eval"
SEEN, UNSEEN = "MapSeenInTrain", "MapUnseenInTrain"
SUBSETS = {"eval-seen-map": SEEN, "eval-unseen-map": UNSEEN}
"""Folders of the subsets of `eval`, by split."""

BASELINE_FIELDS = frozenset(
    [
        "scene_id",
        "scene_label",
        "scene_index",
        "split",
        "regime",
        "eval_subset",
        "map_name",
        "map_path",
        "unit",
        "units",
        "camera_count",
        "camera_order",
        "camera_intrinsics",
        "image_width",
        "image_height",
        "num_frames",
        "fps",
        "primary_stereo_pair",
        "adjacent_baselines_cm",
        "adjacent_pairs",
        "pairwise_pairs",
        "character_mesh",
        "character",
        "animation",
        "assets",
        "seed",
        "source",
        "schema",
    ]
)
INTRINSICS_FIELDS = frozenset(
    [
        "focal_length_mm",
        "sensor_width_mm",
        "sensor_height_mm",
        "aperture_fstop",
        "principal_point_px",
        "cx",
        "cy",
    ]
)
TRAJECTORY_FIELDS = frozenset(
    [
        "scene_label",
        "scene_index",
        "map_name",
        "map_path",
        "character",
        "character_mesh",
        "unit",
        "units",
        "rotation_representation",
        "camera_count",
        "camera_order",
        "primary_stereo_pair",
        "fps",
        "frames",
        "schema",
    ]
)
FRAME_FIELDS = frozenset(("frame_index", "frame", "time_s", "cameras"))
POSE_FIELDS = frozenset(
    [
        "camera_index",
        "camera_name",
        "location",
        "position",
        "rotation",
        "quaternion",
        "rotation_matrix",
    ]
)
COMPLETE_FIELDS = frozenset(
    ["scene_label", "scene_index", "map_name", "map_path", "files", "depthgauge", "schema"]
)


def rgb_name(camera: int) -> str:
    """The colour video of a camera.

    >>> rgb_name(3), depth_name(3)
    ('cam_03_rgb.mp4', 'cam_03_depth.mkv')
    """
    return f"cam_{camera:02d}_rgb.mp4"


def depth_name(camera: int) -> str:
    """The depth video of a camera."""
    return f"cam_{camera:02d}_depth.mkv"


def pair_name(pair: tuple[int, int]) -> str:
    """How a pair is called in the id of a sample.

    >>> pair_name((0, 5))
    '00-05'
    """
    return f"{pair[0]:02d}-{pair[1]:02d}"
