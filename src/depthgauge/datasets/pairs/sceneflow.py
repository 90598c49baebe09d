"""SceneFlow: FlyingThings3D, Driving and Monkaa, in their common layout of PFM maps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets.pairs._layout import (
    images,
    map_loader,
    new_file,
    official_folder,
    require,
    sample_of,
    write_images,
)
from depthgauge.errors import Misuse
from depthgauge.types import Map, Sample, Truth

_PARTS = {"train": "TRAIN", "test": "TEST"}
_DISPARITY, _CHANGE, _FLOW = "disparity", "disparity_change", "optical_flow"

SPEC = DatasetSpec(
    id="sceneflow",
    title="SceneFlow: FlyingThings3D, Driving and Monkaa",
    quantities=("disparity", "flow", "image_scene_flow"),
    splits=("all", *_PARTS),
    licence="free for research with citation",
    cite="Mayer et al., A large dataset to train convolutional networks for disparity, optical "
    "flow, and scene flow estimation, CVPR 2016",
    homepage="https://lmb.informatik.uni-freiburg.de/resources/datasets/SceneFlowDatasets.en.html",
    sample_layout="frames_finalpass (or frames_cleanpass), disparity, optical_flow and "
    "disparity_change side by side, each with the same folders (TRAIN/A/0000, "
    "15mm_focallength/scene_forwards/fast ...) that have left/0006.png, left/0006.pfm, "
    "into_future/left/OpticalFlowIntoFuture_0006_L.pfm and into_future/left/0006.pfm",
)


@reader(SPEC)
def samples(root: Path, split: str, *, image_pass: str = "finalpass") -> Iterator[Sample]:
    """The left frames; ids are their folders and numbers, `TRAIN/A/0000/0006`.

    Inputs: `left_image`, `right_image`, `first_image` (the left one), `second_image` (the left one
    of the next time), `right_next_image`. Truth: `disparity`, `flow` into the next frame, and
    `second_disparity`, the disparity of the same point then (disparity + change).

    Args:
        root: The folder that has `disparity` and the others.
        split: `train` and `test` are FlyingThings3D's TRAIN and TEST; Driving and Monkaa have
            neither and are read with `all`.
        image_pass: `finalpass` or `cleanpass`: which pictures methods get.
    """
    if image_pass not in ("finalpass", "cleanpass"):
        raise Misuse(f"image_pass is '{image_pass}' but must be finalpass or cleanpass.")
    pictures = f"frames_{image_pass}"
    folder = official_folder(SPEC, root, (), (pictures, _DISPARITY))
    if folder is None:
        return
    for where, number in _listed(folder, pictures):
        if split == "all" or where.split("/")[0] == _PARTS[split]:
            yield _sample(folder, pictures, where, number)


def _listed(folder: Path, pictures: str) -> list[tuple[str, str]]:
    """Folders and numbers of the frames with truth; without any truth, of all pictures."""
    for name, ending in ((_DISPARITY, "*.pfm"), (pictures, "*.png")):
        places = [(p.parent.parent, p.stem) for p in (folder / name).rglob(f"left/{ending}")]
        if places:
            return sorted((w.relative_to(folder / name).as_posix(), n) for w, n in places)
    return []


def _sample(folder: Path, pictures: str, where: str, number: str) -> Sample:
    after = f"{int(number) + 1:0{len(number)}d}" if number.isdecimal() else ""
    place = folder / pictures / where
    inputs = images(
        {
            "left_image": place / f"left/{number}.png",
            "right_image": place / f"right/{number}.png",
            "second_image": place / f"left/{after}.png",
            "right_next_image": place / f"right/{after}.png",
        }
    )
    truth: dict[str, Any] = {}
    disparity = folder / _DISPARITY / where / f"left/{number}.pfm"
    change = folder / _CHANGE / where / f"into_future/left/{number}.pfm"
    flow = folder / _FLOW / where / _flow_file(number)
    if disparity.is_file():
        truth["disparity"] = map_loader(disparity, "disparity")
        if change.is_file():
            truth["second_disparity"] = partial(_read_second, disparity, change)
    if flow.is_file():
        truth["flow"] = map_loader(flow, "flow")
    return sample_of(f"{where}/{number}", inputs, truth, scene=where)


def _flow_file(number: str) -> str:
    return f"into_future/left/OpticalFlowIntoFuture_{number}_L.pfm"


def _read_second(disparity: Path, change: Path) -> Map:
    now, later = (io.read_map(path, quantity="disparity") for path in (disparity, change))
    return np.asarray(now + later)


def write(root: Path, samples: Iterable[Sample], *, image_pass: str = "finalpass") -> None:
    """Writes left frames as FlyingThings3D has them.

    Args:
        root: The folder that gets `disparity`, `optical_flow` and the others.
        samples: With ids like `TRAIN/A/0000/0006`.
        image_pass: `finalpass` or `cleanpass`: the name of the folder of pictures.
    """
    pictures = f"frames_{image_pass}"
    for sample in samples:
        require(sample, "disparity", "flow")
        where, _, number = sample.id.rpartition("/")
        if not where or not number.isdecimal():
            raise Misuse(f"sample id '{sample.id}' is not folders and a number: TRAIN/A/0000/0006.")
        after = f"{int(number) + 1:0{len(number)}d}"
        places = {
            "left_image": f"{pictures}/{where}/left/{number}.png",
            "right_image": f"{pictures}/{where}/right/{number}.png",
            "second_image": f"{pictures}/{where}/left/{after}.png",
            "right_next_image": f"{pictures}/{where}/right/{after}.png",
        }
        write_images(root, sample.inputs, places)
        if sample.truth is not None:
            _write_truth(root, where, number, sample.truth)


def _write_truth(root: Path, where: str, number: str, truth: Truth) -> None:
    if "disparity" in truth:
        place = new_file(root, f"{_DISPARITY}/{where}/left/{number}.pfm")
        io.write_map(place, truth.disparity, quantity="disparity")
        if "second_disparity" in truth:
            place = new_file(root, f"{_CHANGE}/{where}/into_future/left/{number}.pfm")
            change = truth.second_disparity - truth.disparity
            io.write_map(place, change, quantity="disparity")
    if "flow" in truth:
        flow = truth.flow
        third = np.zeros((*flow.shape[:2], 1), np.float32)
        place = new_file(root, f"{_FLOW}/{where}/{_flow_file(number)}")
        io.write_map(place, np.concatenate([flow, third], axis=-1), quantity="normals")
