"""StereoGenBench: six cameras in a row filmed at once, with depth, baselines and poses."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._registry import unknown
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._stereogen import names
from depthgauge.datasets._stereogen.croissant import DatasetCard as DatasetCard
from depthgauge.datasets._stereogen.croissant import ResponsibleUse as ResponsibleUse
from depthgauge.datasets._stereogen.croissant import write_croissant as write_croissant
from depthgauge.datasets._stereogen.poses import rig_poses as rig_poses
from depthgauge.datasets._stereogen.scene import (
    Pair,
    RigScene,
    read_scene,
    scene_folders,
    usable,
)
from depthgauge.datasets._stereogen.writing import SceneDescription as SceneDescription
from depthgauge.datasets._stereogen.writing import SceneRecord as SceneRecord
from depthgauge.datasets._stereogen.writing import is_complete as is_complete
from depthgauge.datasets._stereogen.writing import pairwise_cm as pairwise_cm
from depthgauge.datasets._stereogen.writing import read_manifest as read_manifest
from depthgauge.datasets._stereogen.writing import scene_row as scene_row
from depthgauge.datasets._stereogen.writing import write_lists as write_lists
from depthgauge.datasets._stereogen.writing import write_scene as write_scene
from depthgauge.errors import BadData, BadFile, Misuse, RunWarning, Unavailable
from depthgauge.geometry.disparity import disparity_from_depth
from depthgauge.types import Frames, Inputs, Map, Rig, Sample, Truth

SPEC = DatasetSpec(
    id="stereogenbench",
    title="StereoGenBench, videos of six cameras in a row",
    quantities=("view", "disparity", "depth"),
    splits=("train", "eval", *names.SUBSETS, "all"),
    licence="CC BY 4.0",
    cite="Cui, Qiao, Jacobs, StereoGenBench: a synthetic multi-camera benchmark for stereo "
    "generation under controlled baseline regimes, arXiv 2605.23237, 2026",
    homepage="https://arxiv.org/abs/2605.23237",
    sample_layout="train/<family>/<map>/<scene>/, eval/MapSeenInTrain/<family>/<map>/<scene>/ and "
    "eval/MapUnseenInTrain/<family>/<map>/<scene>/ with cam_00_rgb.mp4 ..., cam_00_depth.mkv ..., "
    "baseline.json, trajectory.json and _scene_complete.json",
    facts=("baseline_m", "focal_length_mm", "map_name", "family", "subset"),
)
_PAIRS = ("primary", "adjacent", "all")
_TASKS = ("generation", "matching", "depth")
TIERS = ("G0", "G1", "G2")
"""What a method of generation may see: target geometry, the target camera, the left view only."""


@reader(SPEC)
def samples(
    root: Path,
    split: str,
    *,
    task: str = "generation",
    pairs: str = "primary",
    family: str = "",
    tier: str = "G0",
    every: int = 1,
) -> Iterator[Sample]:
    """Clips: one per scene and pair of cameras (`<path of the scene>/00-01`), or per camera.

    Args:
        root: The dataset's folder, or any folder of scenes.
        split: `train`, `eval`, `eval-seen-map`, `eval-unseen-map` or `all`.
        task: `generation`: the right view is the truth. `matching`: both views are inputs,
            disparity is the truth. `depth`: a sample per camera (`<path>/cam_00`), depth is the
            truth.
        pairs: `primary`: the recorded pair. `adjacent`, or `all` pairs of a scene.
        family: Only scenes whose gaps were drawn like that: `IPD_Gaussian`, `Uniform`,
            `Pairwise_Uniform`.
        tier: Inputs of `generation`: `G2` has `left_image`; `G1` also has `rig`; `G0` also has the
            left view's `disparity` and `depth`.
        every: Takes each n-th frame only.
    """
    for name, given, known in (
        ("task", task, _TASKS),
        ("choice of pairs", pairs, _PAIRS),
        ("tier", tier, TIERS),
        ("family", family, ("", *names.FAMILIES)),
    ):
        if given not in known:
            raise unknown(name, given, known)
    if every < 1:
        raise Misuse(f"every is {every} but must be at least 1.")
    for folder in scene_folders(root):
        path = folder.relative_to(root).as_posix()
        if is_in_split(root, folder, split) and (not family or family in folder.parts):
            yield from _samples(folder, path, task, pairs, tier, every)


def is_in_split(root: Path, folder: Path, split: str) -> bool:
    """Whether a scene is in a split, by the folders that it is in.

    The root itself may be one of them.
    """
    parts = (root.resolve().name, *folder.relative_to(root).parts)
    if split == "all":
        return True
    if split in names.SUBSETS:
        return names.SUBSETS[split] in parts
    subset = any(part in names.SUBSETS.values() for part in parts)
    return split in parts or (split == names.EVAL and subset)


def _samples(
    folder: Path, path: str, task: str, pairs: str, tier: str, every: int
) -> Iterator[Sample]:
    try:
        scene = read_scene(folder)
    except (BadFile, BadData) as error:
        # Without truth it is left out by name, and nobody runs a method on it.
        warnings.warn(f"left out: {error}", RunWarning, stacklevel=2)
        yield Sample(path, Inputs({}), None, scene=path)
        return
    frames = range(0, scene.length, every)
    if task == "depth":
        for camera in range(scene.camera_count):
            yield _depth_sample(scene, path, camera, frames)
        return
    for pair in _chosen(scene, pairs):
        make = _matching_sample if task == "matching" else partial(_view_sample, tier=tier)
        yield make(scene, f"{path}/{names.pair_name(pair)}", path, pair, frames)


def _chosen(scene: RigScene, pairs: str) -> tuple[Pair, ...]:
    if pairs == "primary":
        return (scene.primary,)
    found = scene.pairs()
    return found if pairs == "all" else tuple(p for p in found if abs(p[0] - p[1]) == 1)


# --- one kind of sample each ----------------------------------------------------------------------


def _view_sample(
    scene: RigScene, name: str, path: str, pair: Pair, frames: range, tier: str
) -> Sample:
    left, right = pair
    geometry = {
        "disparity": _clip(_read_disparity, scene, pair, frames),
        "depth": _clip(_read_depth, scene, left, frames),
    }
    inputs: dict[str, Any] = {"left_image": _clip(_read_image, scene, left, frames)}
    if tier != "G2":
        inputs["rig"] = _rig(scene, pair)
    if tier == "G0":
        inputs |= geometry
    truth = {
        "view": _clip(_read_view, scene, right, frames),
        "right_depth": _clip(_read_depth, scene, right, frames),
        "rig": _rig(scene, pair),
        **geometry,
        **_facts(scene, pair),
    }
    others = [n for n in (2, 1, 0) if n < scene.camera_count and n not in pair]
    if others:  # for the control "wrong baseline": the same scene from another camera
        truth["wrong_view"] = _clip(_read_view, scene, others[0], frames)
    return Sample(name, Inputs(inputs), Truth(truth), scene=path)


def _matching_sample(scene: RigScene, name: str, path: str, pair: Pair, frames: range) -> Sample:
    left, right = pair
    inputs = {
        "left_image": _clip(_read_image, scene, left, frames),
        "right_image": _clip(_read_image, scene, right, frames),
        "rig": _rig(scene, pair),
    }
    truth = {
        "disparity": _clip(_read_disparity, scene, pair, frames),
        "right_disparity": _clip(_read_right_disparity, scene, pair, frames),
        "depth": _clip(_read_depth, scene, left, frames),
        **_facts(scene, pair),
    }
    return Sample(name, Inputs(inputs), Truth(truth), scene=path)


def _depth_sample(scene: RigScene, path: str, camera: int, frames: range) -> Sample:
    inputs = {
        "left_image": _clip(_read_image, scene, camera, frames),
        "rig": Rig({"left": scene.camera(camera)}),
    }
    truth = {
        "depth": _clip(_read_depth, scene, camera, frames),
        "focal_px": scene.focal_px[0],
        **_facts(scene, scene.primary),
    }
    return Sample(f"{path}/cam_{camera:02d}", Inputs(inputs), Truth(truth), scene=path)


def _facts(scene: RigScene, pair: Pair) -> dict[str, Any]:
    """By what tables of results are split."""
    return {
        "baseline_m": scene.baseline_m(pair),
        "focal_length_mm": scene.focal_mm,
        "map_name": scene.map_name,
        "family": str(scene.facts.get("regime", "")),
        "subset": next((n for n, s in names.SUBSETS.items() if s in scene.folder.parts), "train"),
    }


def _rig(scene: RigScene, pair: Pair) -> Rig:
    """Both cameras of frame 0, which is enough: the rig is rigid."""
    cameras = {"left": scene.camera(pair[0]), "right": scene.camera(pair[1])}
    return Rig(cameras, scene.baseline_m(pair))


def _clip(load: Callable[..., Any], scene: RigScene, which: Any, frames: range) -> Frames:
    return Frames(partial(load, scene, which, frame) for frame in frames)


def _read_image(scene: RigScene, camera: int, frame: int) -> NDArray[np.uint8]:
    found: NDArray[np.uint8] = usable(scene.image, camera, frame)
    return found


def _read_view(scene: RigScene, camera: int, frame: int) -> Map:
    """A picture as a truth: code / 255."""
    image = usable(scene.image, camera, frame)
    return np.asarray(image, np.float32) / np.float32(255)


def _read_depth(scene: RigScene, camera: int, frame: int) -> Map:
    found: Map = usable(scene.depth, camera, frame)
    if not np.isfinite(found).any():
        path = scene.folder / names.depth_name(camera)
        raise Unavailable(f"cannot be used: {path}: frame {frame} has no depth at all.")
    return found


def _read_disparity(scene: RigScene, pair: Pair, frame: int) -> Map:
    return _disparity(scene, pair, pair[0], frame)


def _read_right_disparity(scene: RigScene, pair: Pair, frame: int) -> Map:
    return _disparity(scene, pair, pair[1], frame)


def _disparity(scene: RigScene, pair: Pair, camera: int, frame: int) -> Map:
    """Of one of the two views: f b / z, positive in both."""
    depth = _read_depth(scene, camera, frame)
    return disparity_from_depth(depth, scene.focal_px[0], scene.baseline_m(pair))
