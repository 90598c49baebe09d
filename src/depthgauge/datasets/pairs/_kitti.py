"""What KITTI 2012 and KITTI 2015 have in common: 16-bit PNG maps by frame, and calibrations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec
from depthgauge.datasets.pairs._layout import (
    images,
    map_loader,
    new_file,
    no_data,
    official_folder,
    read_known,
    require,
    write_images,
)
from depthgauge.errors import BadFile, Misuse
from depthgauge.io.text import read_text
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Camera, Estimate, Map, Mask, Rig, Sample, Truth

SPLITS = {"training": ("training",), "test": ("testing",), "all": ("training", "testing")}
"""The names of the folder of each split; `all` is the first one that is there, because both have
the same ids."""
RANGE_PX = (0, 256)
"""What 16-bit codes / 256 can hold; known without looking at the truth."""
_FRAME = re.compile(r"\d{6}_10")
_MOST_TEXT = 1 << 16


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of one of the two datasets, by item."""

    images: tuple[tuple[str, str], ...]
    """Left and right, the preferred pair first."""
    maps: Mapping[str, tuple[str, str]]
    """By part: the folder with occluded pixels, and the one without."""
    masks: Mapping[str, str]
    """By the name of a mask: the folder whose maps have values inside of it."""
    quantities: Mapping[str, str]
    """What the maps of each folder are."""
    calibration: str
    projections: tuple[tuple[str, str], ...]
    """Names of the left and right projection matrices in a calibration file."""

    @property
    def signs(self) -> tuple[str, ...]:
        """Folders that tell the layout."""
        return (*(pair[0] for pair in self.maps.values()), *(pair[0] for pair in self.images))


def read_frames(
    spec: DatasetSpec, folders: Folders, root: Path, split: str
) -> Iterator[tuple[Path, str, dict[str, Any], dict[str, Any]]]:
    """For each frame of a split: its folder, id, inputs and truth."""
    names = SPLITS[split]
    others = set(SPLITS["all"]) - set(names)
    folder = official_folder(spec, root, names, folders.signs)
    if folder is None:
        raise no_data(spec, root, names)
    if folder == root and root.resolve().name in others:
        return  # the folder of another split
    listed = (p.stem for sign in folders.signs for p in (folder / sign).glob("*_10.png"))
    for frame in sorted({name for name in listed if _FRAME.fullmatch(name)}):
        inputs, truth = _inputs(folders, folder, frame), _truth(folders, folder, frame)
        yield folder, frame, inputs, truth


def _inputs(folders: Folders, folder: Path, frame: str) -> dict[str, Any]:
    later = f"{frame[:6]}_11"
    found: dict[str, Any] = {}
    for left, right in folders.images:
        found = images(
            {
                "left_image": folder / left / f"{frame}.png",
                "right_image": folder / right / f"{frame}.png",
                "second_image": folder / left / f"{later}.png",
                "right_next_image": folder / right / f"{later}.png",
            }
        )
        if found:
            break
    calibration = folder / folders.calibration / f"{frame[:6]}.txt"
    if calibration.is_file():
        place = next(
            (folder / pair[0] for pair in folders.images if (folder / pair[0]).is_dir()), None
        )
        picture = None if place is None else place / f"{frame}.png"
        found["rig"] = partial(read_calibration, calibration, folders.projections, picture)
    found["disparity_range"] = RANGE_PX
    return found


def _truth(folders: Folders, folder: Path, frame: str) -> dict[str, Any]:
    file = f"{frame}.png"
    found: dict[str, Any] = {}
    for part, (everything, _) in folders.maps.items():
        if (path := folder / everything / file).is_file():
            found[part] = map_loader(path, folders.quantities[everything])
    for name, place in folders.masks.items():
        if (path := folder / place / file).is_file():
            found[name] = partial(read_known, path, folders.quantities[place])
    if found:
        found["folder"] = folder
    return found


def read_calibration(
    path: Path, projections: tuple[tuple[str, str], ...], picture: Path | None = None
) -> Rig:
    """The rectified cameras of a calibration file.

    Args:
        path: The file.
        projections: Names of the left and right matrices, in the order of preference.
        picture: Tells the size where the file does not.

    Raises:
        BadFile: It lacks the matrices, or they are not numbers.
    """
    found: dict[str, list[str]] = {}
    for line in read_text(path, _MOST_TEXT).splitlines():
        name, colon, rest = line.partition(":")
        if colon:
            found[name.strip()] = rest.split()
    for left, right in projections:
        if left in found and right in found:
            size = found.get(left.replace("P_rect", "S_rect"), []) if "rect" in left else []
            if not size and picture is not None and picture.is_file():
                size = [str(n) for n in io.map_size(picture)[1::-1]]
            return _rig(path, found[left], found[right], size)
    wanted = " or ".join(f"{left} and {right}" for left, right in projections)
    raise BadFile(f"{path}: expected the projections {wanted}, found {', '.join(found)}")


def _rig(path: Path, left: list[str], right: list[str], size: list[str]) -> Rig:
    try:
        first, second = (np.array(words, np.float64).reshape(3, 4) for words in (left, right))
        width, height = (int(float(word)) for word in size or ("0", "0"))
    except ValueError:
        raise BadFile(f"{path}: a projection is not twelve numbers") from None
    cameras, places = {}, []
    for name, matrix in (("left", first), ("right", second)):
        pose = np.eye(4)
        pose[0, 3] = -matrix[0, 3] / matrix[0, 0]
        places.append(pose[0, 3])
        cameras[name] = Camera(
            (matrix[0, 0], matrix[1, 1]), (matrix[0, 2], matrix[1, 2]), (width, height), (), pose
        )
    offset = float(second[0, 2] - first[0, 2])
    return Rig(cameras, float(places[1] - places[0]), offset)


def read_parts(path: Path, quantity: str, folders: Mapping[str, str]) -> Estimate | None:
    """A submitted frame with all parts that are required; None where that is one.

    Args:
        path: The file of any part, in one of the folders.
        quantity: What is estimated.
        folders: The folder of each part in a submission.
    """
    declared = QUANTITIES[quantity]
    required = [part for part in declared.parts if part.required]
    if len(required) == 1 or path.parent.name not in folders.values():
        return None
    root, found = path.parent.parent, {}
    for part in required:
        place = root / folders[part.name] / path.name
        if place.is_file():
            found[part.name] = io.read_map(place, quantity=part.like)
    main = found.pop(declared.main.name, None)
    if main is None:
        size = next(iter(found.values())).shape[:2]
        main = np.full(size, np.nan, np.float32)
    return Estimate(main, quantity, found)


def write_frames(
    root: Path,
    samples: Iterable[Sample],
    folders: Folders,
    more: Callable[[Path, str, Truth], None] | None = None,
) -> None:
    """Writes frames as KITTI does: maps as 16-bit PNG, with and without occluded pixels.

    Args:
        root: The folder of a split, such as `training`.
        samples: With ids like `000000_10`.
        folders: Where things are.
        more: Writes what else a truth has: `more(root, file, truth)`.
    """
    left, right = folders.images[0]
    for sample in samples:
        if not _FRAME.fullmatch(sample.id):
            raise Misuse(f"sample id '{sample.id}' is not six digits and '_10', as KITTI's are.")
        require(sample, *folders.maps)
        file, later = f"{sample.id}.png", f"{sample.id[:6]}_11.png"
        places = {
            "left_image": f"{left}/{file}",
            "right_image": f"{right}/{file}",
            "second_image": f"{left}/{later}",
            "right_next_image": f"{right}/{later}",
        }
        write_images(root, sample.inputs, places)
        if "rig" in sample.inputs:
            place = new_file(root, f"{folders.calibration}/{sample.id[:6]}.txt")
            io.write_text(place, _calibration(sample.inputs.rig, folders.projections[0]))
        if sample.truth is not None:
            _write_maps(root, file, sample.truth, folders)
            if more is not None:
                more(root, file, sample.truth)


def _write_maps(root: Path, file: str, truth: Truth, folders: Folders) -> None:
    for part, (everything, seen) in folders.maps.items():
        if part not in truth:
            continue
        kind = folders.quantities[everything]
        io.write_map(new_file(root, f"{everything}/{file}"), truth[part], quantity=kind)
        mask = next(name for name, place in folders.masks.items() if place == seen)
        if mask in truth:
            visible = only(truth[part], truth[mask])
            io.write_map(new_file(root, f"{seen}/{file}"), visible, quantity=kind)


def only(values: Map, mask: Mask) -> Map:
    """A map without the values outside a mask."""
    inside = mask if values.ndim == 2 else mask[..., None]
    return np.where(inside, values, np.float32(np.nan))


def _calibration(rig: Rig, names: tuple[str, str]) -> str:
    lines = []
    for name, side in zip(names, ("left", "right"), strict=True):
        camera = rig.cameras[side]
        shift = 0.0 if side == "left" else -camera.focal_px[0] * rig.baseline_m
        matrix = np.hstack([camera.matrix(), [[shift], [0.0], [0.0]]])
        width, height = camera.size_px
        if name.startswith("P_rect"):
            lines.append(f"{name.replace('P_rect', 'S_rect')}: {width:e} {height:e}")
        lines.append(f"{name}: " + " ".join(f"{value:.12e}" for value in matrix.flat))
    return "\n".join([*lines, ""])


def with_scene_flow(truth: dict[str, Any]) -> dict[str, Any]:
    """The truth with the pixels at which all three maps are visible."""
    masks = ("visible_mask", "second_visible_mask", "flow_visible_mask")
    if not all(name in truth for name in masks):
        return truth
    loaders = tuple(truth[name] for name in masks)
    return {**truth, "scene_flow_visible_mask": partial(_all_of, loaders)}


def _all_of(loaders: tuple[Callable[[], Mask], ...]) -> Mask:
    return np.asarray(np.logical_and.reduce([load() for load in loaders]))
