"""KITTI 2015: stereo, flow and scene flow of driving, with laser truth and fitted cars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._submission import Submission, SubmittedFile
from depthgauge.datasets.pairs._kitti import (
    SPLITS,
    Folders,
    read_frames,
    read_parts,
    with_scene_flow,
    write_frames,
)
from depthgauge.datasets.pairs._layout import new_file, sample_of
from depthgauge.types import Estimate, Mask, Sample, Truth

FOLDERS = Folders(
    images=(("image_2", "image_3"),),
    maps={
        "disparity": ("disp_occ_0", "disp_noc_0"),
        "second_disparity": ("disp_occ_1", "disp_noc_1"),
        "flow": ("flow_occ", "flow_noc"),
    },
    masks={
        "visible_mask": "disp_noc_0",
        "second_visible_mask": "disp_noc_1",
        "flow_visible_mask": "flow_noc",
    },
    quantities={
        **dict.fromkeys(("disp_occ_0", "disp_noc_0", "disp_occ_1", "disp_noc_1"), "disparity"),
        **dict.fromkeys(("flow_occ", "flow_noc"), "flow"),
    },
    calibration="calib_cam_to_cam",
    projections=(("P_rect_02", "P_rect_03"),),
)
SUBMITTED = {"disparity": "disp_0", "second_disparity": "disp_1", "flow": "flow"}
"""The folder of each part in a submission."""
OBJECTS = "obj_map"

SPEC = DatasetSpec(
    id="kitti-2015",
    title="KITTI 2015: stereo, flow and scene flow",
    quantities=("disparity", "flow", "image_scene_flow"),
    splits=tuple(SPLITS),
    licence="CC BY-NC-SA 3.0",
    cite="Menze & Geiger, Object scene flow for autonomous vehicles, CVPR 2015",
    homepage="https://www.cvlibs.net/datasets/kitti/eval_scene_flow.php",
    sample_layout="training/ or its content: disp_occ_0, disp_noc_0, disp_occ_1, disp_noc_1, "
    "flow_occ, flow_noc and obj_map with 000000_10.png ..., image_2 and image_3 with 000000_10.png "
    "and 000000_11.png ..., calib_cam_to_cam/000000.txt; testing/ has the images only",
    quantity_layouts={
        "disparity": ("disp_0/{sample}.png",),
        "flow": ("flow/{sample}.png",),
        "image_scene_flow": ("disp_0/{sample}.png",),
    },
    fallback_layouts={"image_scene_flow": ("disp_1/{sample}.png", "flow/{sample}.png")},
    submission=Submission(
        files=(
            SubmittedFile("disparity", "disp_0/{sample}.png", "png"),
            SubmittedFile("second_disparity", "disp_1/{sample}.png", "png"),
            SubmittedFile("flow", "flow/{sample}.png", "flow-png"),
        ),
        samples=200,
        archive=True,
        url="https://www.cvlibs.net/datasets/kitti/eval_scene_flow.php",
        about="A zip file whose root has disp_0 (stereo), flow (flow), or disp_0, disp_1 and flow "
        "(scene flow), each with the 200 test frames.",
    ),
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """The frames of a split: 200 each, as published.

    Inputs: `left_image`, `right_image`, `first_image` (the left one), `second_image` (the left one
    of the next time), `right_next_image`, `rig`, `disparity_range` (what the format can hold).
    Truth: `disparity`, `second_disparity` and `flow`, all with occluded pixels; the masks
    `visible`, `second_visible`, `flow_visible` and `scene_flow_visible` are the `noc` maps;
    `foreground` are the objects of `obj_map`.
    """
    for folder, frame, inputs, truth in read_frames(SPEC, FOLDERS, root, split):
        objects = folder / OBJECTS / f"{frame}.png"
        if truth and objects.is_file():
            truth["foreground_mask"] = partial(_read_objects, objects)
        yield sample_of(frame, inputs, with_scene_flow(truth))


def _read_objects(path: Path) -> Mask:
    return np.asarray(io.read_labels(path) > 0)


def read_estimate(path: Path, quantity: str) -> Estimate | None:
    """The maps of a submitted frame, for scene flow; None for a single map."""
    return read_parts(path, quantity, SUBMITTED)


def write(root: Path, samples: Iterable[Sample]) -> None:
    """Writes frames as `training` has them; the flow and disparities are rounded to the codes."""
    write_frames(root, samples, FOLDERS, _write_objects)


def _write_objects(root: Path, file: str, truth: Truth) -> None:
    if "foreground_mask" in truth:
        objects = truth.foreground_mask.astype(np.uint8)
        io.write_image(new_file(root, f"{OBJECTS}/{file}"), objects)
