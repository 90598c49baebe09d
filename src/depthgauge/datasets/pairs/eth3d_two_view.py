"""ETH3D, low-resolution two-view stereo: grey pairs with laser truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._scenes import new_scene, scene_folders
from depthgauge.datasets._submission import Submission, SubmittedFile
from depthgauge.datasets.pairs._layout import images, map_loader, require, sample_of
from depthgauge.types import Mask, Rig, Sample, Truth

TRUTH, VISIBLE = "disp0GT.pfm", "mask0nocc.png"
_SIGNS = ("im0.png", "im1.png", TRUTH, VISIBLE)
_SPLITS = {
    "training": ("two_view_training", "training", "two_view_training_gt"),
    "test": ("two_view_test", "test"),
}

SPEC = DatasetSpec(
    id="eth3d-two-view",
    title="ETH3D, low-resolution two-view stereo",
    quantities=("disparity",),
    splits=(*_SPLITS, "all"),
    licence="CC BY-NC-SA 4.0",
    cite="Schöps et al., A multi-view stereo benchmark with high-resolution images and "
    "multi-camera videos, CVPR 2017",
    homepage="https://www.eth3d.net/low_res_two_view",
    sample_layout="<scene>/ with im0.png, im1.png, calib.txt, and for training disp0GT.pfm and "
    "mask0nocc.png; directly or in two_view_training/ and two_view_test/ (pictures and truth come "
    "in two archives: unpack both into one folder)",
    estimate_layouts=("low_res_two_view/{sample}.pfm",),
    submission=Submission(
        files=(SubmittedFile("disparity", "low_res_two_view/{sample}.pfm", "pfm"),),
        samples=47,
        archive=True,
        runtime="low_res_two_view/{sample}.txt",
        url="https://www.eth3d.net/submit",
        about="An archive with low_res_two_view/<scene>.pfm and <scene>.txt (a line 'runtime "
        "<seconds>') for the 27 training and the 20 test scenes.",
    ),
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """The scenes of a split: 27 for training and 20 for the test, as published.

    Inputs: `left_image`, `right_image`, `rig` and `disparity_range` (0 to `ndisp`).
    Truth: `disparity`, and the mask `visible` (255 in `mask0nocc.png`).
    """
    wanted = list(_SPLITS) if split == "all" else [split]
    others = {n for key, found in _SPLITS.items() if key not in wanted for n in found}
    parts = [_part(root, _SPLITS[key]) for key in wanted]
    folders = [part for part in parts if part is not None]
    if not folders and root.resolve().name in others:
        return
    if (root / TRUTH).is_file() or (root / "im0.png").is_file():
        scene_folders(root, _SIGNS)  # says that this is the folder of one scene
    found = [scene for part in folders or [root] for scene in scene_folders(part, _SIGNS)]
    for folder in sorted(found, key=lambda scene: scene.name):
        yield _sample(folder)


def _part(root: Path, names: tuple[str, ...]) -> Path | None:
    """The folder of a split below the given one."""
    return next((root / name for name in names if (root / name).is_dir()), None)


def _sample(folder: Path) -> Sample:
    inputs = images({"left_image": folder / "im0.png", "right_image": folder / "im1.png"})
    inputs.pop("first_image", None)  # a rig's two views at one time
    if (calib := folder / "calib.txt").is_file():
        inputs["rig"] = partial(_read_rig, calib)
        inputs["disparity_range"] = partial(_read_range, calib)
    truth: dict[str, Any] = {}
    if (path := folder / TRUTH).is_file():
        truth = {"disparity": map_loader(path, "disparity"), "disparity_path": path}
        if (mask := folder / VISIBLE).is_file():
            truth |= {"visible_mask": partial(_read_visible, mask), "mask_path": mask}
    return sample_of(folder.name, inputs, truth)


def _read_rig(path: Path) -> Rig:
    return io.read_middlebury_calib(path).rig


def _read_range(path: Path) -> tuple[int, int]:
    return 0, io.read_middlebury_calib(path).ndisp


def _read_visible(path: Path) -> Mask:
    visible: Mask = io.read_labels(path) == 255
    return visible


def write(root: Path, samples: Iterable[Sample]) -> None:
    """Writes scenes as ETH3D does; the mask has 255 where visible, 128 where occluded."""
    for sample in samples:
        require(sample, "disparity")
        folder = new_scene(root, sample.id)
        for name, file in (("left_image", "im0.png"), ("right_image", "im1.png")):
            if name in sample.inputs:
                io.write_image(folder / file, sample.inputs[name])
        if "rig" in sample.inputs:
            rig = sample.inputs.rig
            _, most = sample.inputs.get("disparity_range", (0, rig.cameras["left"].size_px[0]))
            calib = io.MiddleburyCalib(rig=rig, ndisp=int(np.ceil(most)))
            io.write_middlebury_calib(folder / "calib.txt", calib)
        if sample.truth is not None:
            _write_truth(folder, sample.truth)


def _write_truth(folder: Path, truth: Truth) -> None:
    io.write_map(folder / TRUTH, truth.disparity, quantity="disparity")
    if "visible_mask" in truth:
        known = np.where(np.isfinite(truth.disparity), np.uint8(128), np.uint8(0))
        visible = truth.visible_mask & (known > 0)
        io.write_image(folder / VISIBLE, np.where(visible, np.uint8(255), known))
