"""KITTI 2012: stereo and flow of static scenes, with laser truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._submission import Submission, SubmittedFile
from depthgauge.datasets.pairs._kitti import SPLITS, Folders, only, read_frames, write_frames
from depthgauge.datasets.pairs._layout import new_file, sample_of
from depthgauge.types import Sample, Truth

_REFLECTIVE = ("disp_refl_occ", "disp_refl_noc")
FOLDERS = Folders(
    images=(("colored_0", "colored_1"), ("image_0", "image_1")),
    maps={"disparity": ("disp_occ", "disp_noc"), "flow": ("flow_occ", "flow_noc")},
    masks={
        "visible_mask": "disp_noc",
        "flow_visible_mask": "flow_noc",
        "reflective_mask": "disp_refl_occ",
    },
    quantities={
        **dict.fromkeys(("disp_occ", "disp_noc", *_REFLECTIVE), "disparity"),
        **dict.fromkeys(("flow_occ", "flow_noc"), "flow"),
    },
    calibration="calib",
    projections=(("P2", "P3"), ("P0", "P1")),
)

SPEC = DatasetSpec(
    id="kitti-2012",
    title="KITTI 2012: stereo and flow",
    quantities=("disparity", "flow"),
    splits=tuple(SPLITS),
    licence="CC BY-NC-SA 3.0",
    cite="Geiger, Lenz & Urtasun, Are we ready for autonomous driving?, CVPR 2012",
    homepage="https://www.cvlibs.net/datasets/kitti/eval_stereo_flow.php",
    sample_layout="training/ or its content: disp_occ, disp_noc, disp_refl_occ, disp_refl_noc, "
    "flow_occ and flow_noc with 000000_10.png ..., colored_0 and colored_1 (or image_0 and "
    "image_1) with 000000_10.png and 000000_11.png ..., calib/000000.txt; testing/ has the images "
    "only",
    quantity_layouts={
        "disparity": ("disp_0/{sample}.png", "data/{sample}.png"),
        "flow": ("flow/{sample}.png", "data/{sample}.png"),
    },
    submission=Submission(
        files=(
            SubmittedFile("disparity", "{sample}.png", "png"),
            SubmittedFile("flow", "{sample}.png", "flow-png"),
        ),
        samples=195,
        archive=True,
        url="https://www.cvlibs.net/datasets/kitti/eval_stereo_flow.php",
        about="A zip file whose root has the 195 test frames of one quantity.",
    ),
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """The frames of a split: 194 for training and 195 for the test, as published.

    Inputs as for `kitti-2015`. Truth: `disparity` and `flow` with occluded pixels; the masks
    `visible` and `flow_visible` are the `noc` maps, `reflective` is where `disp_refl_occ` has
    values.
    """
    for _, frame, inputs, truth in read_frames(SPEC, FOLDERS, root, split):
        yield sample_of(frame, inputs, truth)


def write(root: Path, samples: Iterable[Sample]) -> None:
    """Writes frames as `training` has them."""
    write_frames(root, samples, FOLDERS, _write_reflective)


def _write_reflective(root: Path, file: str, truth: Truth) -> None:
    if "reflective_mask" not in truth or "disparity" not in truth:
        return
    everything, seen = _REFLECTIVE
    shining = only(truth.disparity, truth.reflective_mask)
    io.write_map(new_file(root, f"{everything}/{file}"), shining, quantity="disparity")
    if "visible_mask" in truth:
        visible = only(shining, truth.visible_mask)
        io.write_map(new_file(root, f"{seen}/{file}"), visible, quantity="disparity")
