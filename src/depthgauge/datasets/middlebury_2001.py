"""Middlebury stereo 2001, 2003, 2005 and 2006: images in pairs, truth in 8 bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._middlebury_scales import disparity_scale
from depthgauge.datasets._scenes import new_scene, one_of, refuse, scene_folders, together
from depthgauge.errors import DoesNotFit, Unavailable
from depthgauge.types import Inputs, Map, Sample, Truth

SPEC = DatasetSpec(
    id="middlebury-2001",
    title="Middlebury stereo 2001, 2003, 2005 and 2006",
    quantities=("disparity",),
    splits=("all",),
    licence="free for research with citation",
    cite="Scharstein & Szeliski, IJCV 2002 and CVPR 2003; Scharstein & Pal, CVPR 2007; "
    "Hirschmueller & Scharstein, CVPR 2007",
    homepage="https://vision.middlebury.edu/stereo/data/",
    sample_layout="<Scene>/ with im2, im6, disp2, disp6 (2001, 2003) or view1, view5, disp1, disp5 "
    "(2005, 2006; the views also in Illum1/Exp1/) as .png, .ppm or .pgm",
)


@dataclass(frozen=True, slots=True)
class _Names:
    """Stems of the files of one generation of datasets."""

    left: str
    right: str
    truth: str
    right_truth: str


_GENERATIONS = (
    _Names("im2", "im6", "disp2", "disp6"),
    _Names("view1", "view5", "disp1", "disp5"),
)
_IMAGES = (".png", ".ppm", ".pgm")
_TRUTHS = (".png", ".pgm")


@dataclass(frozen=True, slots=True)
class _Scene:
    """The files of one scene; None for one that is not there."""

    folder: Path
    left: Path | None
    right: Path | None
    truth: Path | None
    right_truth: Path | None


@reader(SPEC)
def samples(
    root: Path, split: str, *, illumination: int = 1, exposure: int = 1
) -> Iterator[Sample]:
    """All scenes of a folder.

    Args:
        root: The folder of scenes.
        split: There is only `all`.
        illumination: Which `Illum<n>` of the 2005 and 2006 scenes that have several.
        exposure: Which `Exp<n>` below it.
    """
    lit = f"Illum{illumination}/Exp{exposure}/"
    scenes: list[_Scene] = []
    faults: dict[str, list[str]] = {}
    for folder in scene_folders(root, _signs(lit)):
        scene, faults[folder.name] = _find(folder, lit)
        scenes.append(scene)
    refuse(SPEC, root, faults)
    # Scales first: a scene whose scale is not known is told before any other is used.
    scales = [disparity_scale(s.folder, s.truth) if s.truth else None for s in scenes]
    for scene, scale in zip(scenes, scales, strict=True):
        yield _sample(scene, scale)


def _signs(lit: str) -> Iterator[str]:
    for names in _GENERATIONS:
        for stem in (names.left, names.right):
            yield from (stem + suffix for suffix in _IMAGES)
            yield from (lit + stem + suffix for suffix in _IMAGES)
        for stem in (names.truth, names.right_truth):
            yield from (stem + suffix for suffix in _TRUTHS)


def _find(folder: Path, lit: str) -> tuple[_Scene, list[str]]:
    found = [_find_names(folder, lit, names) for names in _GENERATIONS]
    used = [(scene, faults) for scene, faults in found if scene is not None]
    if len(used) == 1:
        return used[0]
    return used[0][0], ["has files of two layouts, im2/im6/disp2 and view1/view5/disp1"]


def _find_names(folder: Path, lit: str, names: _Names) -> tuple[_Scene | None, list[str]]:
    faults: list[str] = []

    def get(stem: str, suffixes: tuple[str, ...]) -> Path | None:
        return one_of(folder, [stem + suffix for suffix in suffixes], faults)

    left, right = (
        get(stem, _IMAGES) or get(lit + stem, _IMAGES) for stem in (names.left, names.right)
    )
    truth, right_truth = get(names.truth, _TRUTHS), get(names.right_truth, _TRUTHS)
    if not any((left, right, truth, right_truth)):
        return None, []
    together(left, right, (names.left, names.right), faults)
    if right_truth and not truth:
        faults.append(f"lacks {names.truth} but has {names.right_truth}")
    return _Scene(folder, left, right, truth, right_truth), faults


def _sample(scene: _Scene, scale: float | None) -> Sample:
    inputs: dict[str, Any] = {}
    if scene.left and scene.right:
        inputs["left_image"] = partial(io.read_image, scene.left)
        inputs["right_image"] = partial(io.read_image, scene.right)
    if scene.truth is None or scale is None:
        return Sample(scene.folder.name, Inputs(inputs), None)
    # No larger disparity fits into the files; this needs no look at the truth.
    inputs["disparity_range"] = (0, math.ceil(255 / scale))
    truth: dict[str, Any] = {
        "disparity": _loader(scene.truth, scale),
        "disparity_path": scene.truth,
        "disparity_scale": scale,
    }
    if scene.right_truth:
        truth["right_disparity"] = _loader(scene.right_truth, scale)
    return Sample(scene.folder.name, Inputs(inputs), Truth(truth))


def _loader(path: Path, scale: float) -> Callable[[], Map]:
    return partial(io.read_map, path, quantity="disparity", scale=scale)


def write(root: Path, samples: Iterable[Sample], *, scale: float, views: bool = False) -> None:
    """Writes scenes as PNG files, each with its `scale.txt`.

    Args:
        root: The folder of scenes.
        samples: With `disparity` truth, or without truth.
        scale: By which disparities are multiplied before they are rounded to 1..255.
        views: Names as in 2005 and 2006 (view1, view5, disp1, disp5), not im2, im6, disp2, disp6.

    Raises:
        DoesNotFit: A disparity times `scale` is not in 1..255 after rounding.
    """
    names = _GENERATIONS[1 if views else 0]
    for sample in samples:
        folder = new_scene(root, sample.id)
        for name, stem in (("left_image", names.left), ("right_image", names.right)):
            if name in sample.inputs:
                io.write_image(folder / f"{stem}.png", sample.inputs[name])
        if sample.truth is not None:
            _write_truth(folder, sample, sample.truth, names, scale)


def _write_truth(folder: Path, sample: Sample, truth: Truth, names: _Names, scale: float) -> None:
    if "disparity" not in truth:
        raise Unavailable(
            f"sample '{sample.id}' has no disparity truth, only {', '.join(truth)}; "
            "a Middlebury scene needs it."
        )
    (folder / "scale.txt").write_text(f"{scale:.17g}\n", encoding="utf-8")
    for name, stem in (("disparity", names.truth), ("right_disparity", names.right_truth)):
        if name in truth:
            _write_scaled(folder / f"{stem}.png", truth[name], scale)


def _write_scaled(path: Path, values: Map, scale: float) -> None:
    known = np.isfinite(values)
    stored = np.rint(np.where(known, values, 1.0) * scale)
    if (known & ~((stored >= 1) & (stored <= 255))).any():
        raise DoesNotFit(
            f"{path}: disparities {np.min(values[known]):g}..{np.max(values[known]):g} times "
            f"{scale:g} do not fit into 1..255; choose another scale or the 2014 layout."
        )
    io.write_image(path, np.where(known, stored, 0).astype(np.uint8))
