"""Middlebury 2014 and 2021 datasets and the Middlebury v3 evaluation (MiddEval3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._scenes import new_scene, one_of, refuse, scene_folders
from depthgauge.errors import Unavailable
from depthgauge.types import Inputs, Mask, Rig, Sample, Truth

SIZES = "FHQ"
"""Full, half and quarter size: the last letter of MiddEval3's folders."""
SIZED_SPLITS = tuple(f"{split}{size}" for split in ("training", "test") for size in SIZES)

SPEC = DatasetSpec(
    id="middlebury-2014",
    title="Middlebury stereo 2014, 2021 and v3 (MiddEval3)",
    quantities=("disparity",),
    splits=("training", "test", "all", *SIZED_SPLITS),
    licence="free for research with citation",
    cite="Scharstein et al., High-resolution stereo datasets with subpixel-accurate ground truth, "
    "GCPR 2014",
    homepage="https://vision.middlebury.edu/stereo/",
    sample_layout="<Scene>/ with im0.png, im1.png, calib.txt and disp0.pfm (2014) or disp0GT.pfm "
    "and mask0nocc.png (v3), directly or in training{F,H,Q}/ and test{F,H,Q}/",
    estimate_layouts=(
        "{sample}/disp0{name}.pfm",
        *(f"{split}/{{sample}}/disp0{{name}}.pfm" for split in SIZED_SPLITS),
    ),
    not_estimates=("disp0GT.pfm", "disp0.pfm"),
)

_TRUTHS = ("disp0GT.pfm", "disp0.pfm")
_RIGHT_TRUTHS = ("disp1GT.pfm", "disp1.pfm")
_SIGNS = ("im0.png", "im1.png", "calib.txt", "mask0nocc.png", *_TRUTHS, *_RIGHT_TRUTHS)


@dataclass(frozen=True, slots=True)
class _Scene:
    """The files of one scene; None for missing ones."""

    folder: Path
    left: Path | None
    right: Path | None
    calib: Path | None
    truth: Path | None
    right_truth: Path | None
    mask: Path | None


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """The scenes of a split.

    A folder of scenes counts as the requested split, unless its name is that of another split. In
    a MiddEval3 folder, `training` and `test` mean the largest available size. A scene whose truth
    is not in the data has `truth = None`.
    """
    scenes: list[_Scene] = []
    faults: dict[str, list[str]] = {}
    for folder in _parts(root, split):
        for place in scene_folders(folder, _SIGNS):
            name = str(place.relative_to(root))
            scene, faults[name] = _find(place)
            if any(place.name == other.folder.name for other in scenes):
                faults[name].append("is in training and in test")
            scenes.append(scene)
    refuse(SPEC, root, faults)
    for scene in sorted(scenes, key=lambda s: s.folder.name):
        yield _sample(scene)


def _parts(root: Path, split: str) -> list[Path]:
    """The folders of scenes that make up a split."""
    if split in SIZED_SPLITS:
        folder = root if root.resolve().name == split else root / split
        return [folder] if folder.is_dir() else []
    names = ("training", "test") if split == "all" else (split,)
    parts = [found for name in names if (found := _largest(root, name))]
    if parts:
        return parts
    of_root = _split_of(root)
    if any(_split_of(p) for p in root.iterdir()) or of_root not in ("", *names):
        return []
    return [root]


def _largest(root: Path, name: str) -> Path | None:
    return next((root / (name + s) for s in SIZES if (root / (name + s)).is_dir()), None)


def _split_of(folder: Path) -> str:
    name = folder.resolve().name
    return name[:-1] if name in SIZED_SPLITS else ""


def _find(folder: Path) -> tuple[_Scene, list[str]]:
    faults: list[str] = []

    def get(*names: str) -> Path | None:
        return one_of(folder, names, faults)

    scene = _Scene(
        folder,
        left=get("im0.png"),
        right=get("im1.png"),
        calib=get("calib.txt"),
        truth=get(*_TRUTHS),
        right_truth=get(*_RIGHT_TRUTHS),
        mask=get("mask0nocc.png"),
    )
    return scene, faults


def _sample(scene: _Scene) -> Sample:
    inputs: dict[str, Any] = {}
    if scene.left:
        inputs["left_image"] = partial(io.read_image, scene.left)
    if scene.right:
        inputs["right_image"] = partial(io.read_image, scene.right)
    if scene.calib:
        inputs["calib"] = partial(io.read_middlebury_calib, scene.calib)
        inputs["rig"] = partial(_read_rig, scene.calib)
        inputs["disparity_range"] = partial(_read_range, scene.calib)
    return Sample(scene.folder.name, Inputs(inputs), _truth(scene))


def _truth(scene: _Scene) -> Truth | None:
    if scene.truth is None:
        return None
    truth: dict[str, Any] = {
        "disparity": partial(io.read_map, scene.truth, quantity="disparity"),
        "disparity_path": scene.truth,
    }
    if scene.mask:
        truth["visible_mask"] = partial(_read_visible, scene.mask)
        truth["mask_path"] = scene.mask
    if scene.right_truth:
        truth["right_disparity"] = partial(io.read_map, scene.right_truth, quantity="disparity")
    return Truth(truth)


def _read_rig(path: Path) -> Rig:
    return io.read_middlebury_calib(path).rig


def _read_range(path: Path) -> tuple[int, int]:
    return 0, io.read_middlebury_calib(path).ndisp


def _read_visible(path: Path) -> Mask:
    # 128 is an occluded pixel: not every nonzero value is visible.
    visible: Mask = io.read_labels(path) == 255
    return visible


def write(root: Path, samples: Iterable[Sample], *, style: Literal["2014", "v3"] = "v3") -> None:
    """Writes scenes as Middlebury does.

    Args:
        root: The folder of scenes, e.g. `trainingF`.
        samples: With `disparity` truth, or without truth.
        style: `2014`: disp0.pfm; `v3`: disp0GT.pfm, and mask0nocc.png if there is a `visible_mask`.
    """
    for sample in samples:
        folder = new_scene(root, sample.id)
        _write_inputs(folder, sample.inputs)
        if sample.truth is not None:
            _write_truth(folder, sample, sample.truth, "GT" if style == "v3" else "")


def _write_inputs(folder: Path, inputs: Inputs) -> None:
    for name, file in (("left_image", "im0.png"), ("right_image", "im1.png")):
        if name in inputs:
            io.write_image(folder / file, inputs[name])
    if "calib" in inputs:
        io.write_middlebury_calib(folder / "calib.txt", inputs.calib)
    elif "rig" in inputs and "disparity_range" in inputs:
        io.write_middlebury_calib(folder / "calib.txt", _calib(inputs))


def _calib(inputs: Inputs) -> io.MiddleburyCalib:
    low, high = inputs.disparity_range
    ndisp = int(np.ceil(high))
    return io.MiddleburyCalib(
        rig=inputs.rig, ndisp=ndisp, isint=False, vmin=low, vmax=high, dyavg=0.0, dymax=0.0
    )


def _write_truth(folder: Path, sample: Sample, truth: Truth, tag: str) -> None:
    if "disparity" not in truth:
        raise Unavailable(
            f"sample '{sample.id}' has no disparity truth, only {', '.join(truth)}; "
            "a Middlebury scene needs it."
        )
    io.write_map(folder / f"disp0{tag}.pfm", truth.disparity, quantity="disparity")
    if "right_disparity" in truth:
        io.write_map(folder / f"disp1{tag}.pfm", truth.right_disparity, quantity="disparity")
    if tag and "visible_mask" in truth:
        known = np.where(np.isfinite(truth.disparity), np.uint8(128), np.uint8(0))
        visible = truth.visible_mask & (known > 0)
        io.write_image(folder / "mask0nocc.png", np.where(visible, np.uint8(255), known))
