"""Samples of Booster scenes: one per illumination, all with the truth of their scene."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.datasets._booster import calibration as calib
from depthgauge.datasets._booster import layout
from depthgauge.datasets._booster.layout import Scene
from depthgauge.datasets._dataset import DatasetSpec
from depthgauge.datasets._scenes import refuse
from depthgauge.errors import WrongShape
from depthgauge.geometry.disparity import depth_from_disparity
from depthgauge.types import Image, Inputs, Map, Mask, Rig, Sample, Truth


def read_samples(spec: DatasetSpec, root: Path, split: str, setup: str) -> Iterator[Sample]:
    """The samples of a split, scene by scene, illuminations in numerical order."""
    scenes = layout.find_scenes(spec, root, split, setup)
    refuse(spec, root, {scene.name: _faults(scene) for scene in scenes})
    for scene in scenes:
        truth, shared = truth_of(scene), _shared_inputs(scene)
        for name in layout.image_names(scene.folder / layout.LEFT):
            inputs = Inputs({**shared, **_images(scene, name, setup)})
            sample_id = f"{scene.name}/{Path(name).stem}"
            yield Sample(sample_id, inputs, truth, scene=scene.name)


def _faults(scene: Scene) -> list[str]:
    """Pictures without their partner; a scene may have no right camera at all."""
    if scene.split == layout.TEST_MONO:
        return []
    left, right = (
        set(layout.image_names(scene.folder / camera)) for camera in (layout.LEFT, layout.RIGHT)
    )
    if not right:
        return []
    return [f"lacks {layout.RIGHT}/{name}" for name in sorted(left - right)] + [
        f"lacks {layout.LEFT}/{name}" for name in sorted(right - left)
    ]


def _shared_inputs(scene: Scene) -> dict[str, Any]:
    """The inputs shared by all illuminations; empty for single pictures."""
    path = scene.folder / layout.CALIBRATION
    if scene.split == layout.TEST_MONO or not path.is_file():
        return {}
    inputs: dict[str, Any] = {
        "calibration": partial(calib.read_calibration, path),
        "rig": partial(_read_rig, scene.folder),
    }
    if calib.has_range(path):
        inputs["disparity_range"] = partial(calib.read_range, path)
    return inputs


def _images(scene: Scene, name: str, setup: str) -> dict[str, Any]:
    left, right = (scene.folder / camera / name for camera in (layout.LEFT, layout.RIGHT))
    images: dict[str, Any] = {"left_image": partial(_read_left, left)}
    if scene.split != layout.TEST_MONO and right.is_file():
        same_size = setup == layout.BALANCED
        images["right_image"] = (
            partial(_read_right, right, left) if same_size else partial(io.read_image, right)
        )
    return images


def truth_of(scene: Scene) -> Truth | None:
    """The truth of a scene for every illumination; None if it is not in the data."""
    folder = scene.folder
    disparity = folder / layout.DISPARITY
    if scene.split == layout.UNLABELLED or not disparity.is_file():
        return None
    truth: dict[str, Any] = {
        "disparity": partial(_read_disparity, disparity),
        "disparity_path": disparity,
    }
    path = folder / layout.CALIBRATION
    if path.is_file():
        truth["depth"] = partial(_read_depth, folder)
        truth["calibration"] = partial(calib.read_calibration, path)
    for item, file, read in _TRUTH_ITEMS:
        if (folder / file).is_file():
            truth[item] = partial(read, folder / file)
    if (folder / layout.MATERIALS).is_file():
        truth["material_path"] = folder / layout.MATERIALS
    return Truth(truth)


def _read_disparity(path: Path) -> Map:
    """A map in which values that are not above 0 are missing."""
    stored = io.read_map(path, quantity="disparity")
    return np.where(stored > 0, stored, np.float32(np.nan))


def _read_depth(folder: Path) -> Map:
    rig = _read_rig(folder)
    focal_px = rig.cameras["left"].focal_px[0]
    disparity_px = _read_disparity(folder / layout.DISPARITY)
    return depth_from_disparity(disparity_px, focal_px, rig.baseline_m, rig.principal_offset_px)


def _read_mask(path: Path) -> Mask:
    return _of_truths_size(path, io.read_mask(path), layout.DISPARITY)


def _read_right_mask(path: Path) -> Mask:
    return _of_truths_size(path, io.read_mask(path), layout.RIGHT_DISPARITY)


def _read_labels(path: Path) -> NDArray[np.int32]:
    return _of_truths_size(path, io.read_labels(path), layout.DISPARITY)


_TRUTH_ITEMS = (
    ("right_disparity", layout.RIGHT_DISPARITY, _read_disparity),
    ("visible_mask", layout.VISIBLE, _read_mask),
    ("right_visible_mask", layout.RIGHT_VISIBLE, _read_right_mask),
    ("material_labels", layout.MATERIALS, _read_labels),
    ("surface_labels", layout.SURFACES, _read_labels),
)


def _of_truths_size(path: Path, found: NDArray[Any], truth: str) -> NDArray[Any]:
    """A mask, checked to have the size of its truth."""
    other = path.with_name(truth)
    if other.is_file():
        _require_same(path, found.shape[:2], other, io.map_size(other)[:2])
    return found


def _read_left(path: Path) -> Image:
    image = io.read_image(path)
    truth = path.parent.parent / layout.DISPARITY
    if truth.is_file():
        _require_same(path, image.shape[:2], truth, io.map_size(truth)[:2])
    return image


def _read_right(path: Path, left: Path) -> Image:
    image = io.read_image(path)
    _require_same(path, image.shape[:2], left, io.map_size(left)[:2])
    return image


def _require_same(path: Path, found: tuple[int, ...], other: Path, wanted: tuple[int, ...]) -> None:
    if tuple(found) != tuple(wanted):
        raise WrongShape(
            f"{path}: is {found[1]}x{found[0]} but {other.parent.name}/{other.name} is "
            f"{wanted[1]}x{wanted[0]}; they must have the same size."
        )


def _read_rig(folder: Path) -> Rig:
    left = _size_px(folder, layout.LEFT, layout.DISPARITY)
    right = _size_px(folder, layout.RIGHT, layout.RIGHT_DISPARITY)
    return calib.read_rig(folder / layout.CALIBRATION, left or (0, 0), right)


def _size_px(folder: Path, camera: str, truth: str) -> tuple[int, int] | None:
    """Width and height of a camera's pictures, read from a file header."""
    names = layout.image_names(folder / camera)
    candidates = [folder / camera / name for name in names[:1]] + [folder / truth]
    for path in candidates:
        if path.is_file():
            height, width, _ = io.map_size(path)
            return width, height
    return None
