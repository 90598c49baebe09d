"""Middlebury stereo 2001, 2003, 2005 and 2006: image pairs with 8-bit truth."""

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
from depthgauge.datasets._scenes import new_scene, one_of, refuse, scene_folders, together
from depthgauge.errors import BadData, DoesNotFit, Unavailable
from depthgauge.io.text import read_toml
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
    """File stems of one generation of datasets."""

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

# Factors by which the 8-bit disparities are multiplied.
# 2001: one size. https://vision.middlebury.edu/stereo/data/scenes2001/
_OF_2001 = dict.fromkeys(("barn1", "barn2", "bull", "poster", "sawtooth", "venus"), 8.0)
_OF_2001["tsukuba"] = 16.0
# 2003: 1800, 900 and 450 columns; the zip files of the three sizes are called conesF, H and Q.
_OF_2003 = frozenset(name + size for name in ("cones", "teddy") for size in ("", "f", "h", "q"))
_WIDTHS_2003 = {1800: 1.0, 900: 2.0, 450: 4.0}
_OF_2005 = frozenset(
    ("art", "books", "computer", "dolls", "drumsticks", "dwarves", "laundry", "moebius", "reindeer")
)
_ONCE_2006 = ("aloe", "flowerpots", "monopoly", "plastic")
_SEVERAL_2006 = {
    "baby": 3,
    "bowling": 2,
    "cloth": 4,
    "lampshade": 2,
    "midd": 2,
    "rocks": 2,
    "wood": 2,
}
_OF_2006 = frozenset(_ONCE_2006) | {
    f"{name}{i}" for name, count in _SEVERAL_2006.items() for i in range(1, count + 1)
}
_FULL_WIDTHS = (1230, 1400)
"""The widths of all full-size images of 2005 and 2006 are between these; the ranges of half and
third size are far from it and from each other."""
_SIZES_2005_2006 = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class _Scene:
    """The files of one scene; None for missing ones."""

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
    # Scales first, so that a scene with unknown scale is reported before any scene is used.
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
    # The largest disparity that fits into the files; known without looking at the truth.
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
        scale: Factor by which disparities are multiplied before they are rounded to 1..255.
        views: Use the names of 2005 and 2006 (view1, view5, disp1, disp5) instead of im2, im6,
            disp2 and disp6.

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


def disparity_scale(folder: Path, truth: Path) -> float:
    """Stored value divided by disparity, for the truth file of a scene.

    A value in `scale.txt` or `depthgauge.toml`, in the scene's folder or the one above, takes
    precedence over the known value of the scene.

    Raises:
        BadData: The scene is unknown, or unknown at that size, and there is no such file.
    """
    written = _written(folder) or _written(folder.parent)
    return written if written is not None else _known(folder, truth)


def _written(folder: Path) -> float | None:
    text, toml = folder / "scale.txt", folder / "depthgauge.toml"
    if text.is_file():
        return _positive(text, text.read_text(encoding="utf-8", errors="replace").strip())
    if not toml.is_file():
        return None
    section = read_toml(toml).get("disparity", {})
    if not isinstance(section, dict) or "scale" not in section:
        return None
    return _positive(toml, section["scale"])


def _positive(path: Path, value: object) -> float:
    try:
        scale = float(value) if isinstance(value, (str, int, float)) else 0.0
    except ValueError:
        scale = 0.0
    if not 0.0 < scale < float("inf"):
        raise BadData(f"{path}: the disparity scale must be a positive number, found '{value}'.")
    return scale


def _known(folder: Path, truth: Path) -> float:
    name = folder.resolve().name.lower()
    if name in _OF_2001:
        return _OF_2001[name]
    if name in _OF_2003 or name in _OF_2005 or name in _OF_2006:
        width = io.map_size(truth)[1]
        scale = _of_2003(width) if name in _OF_2003 else _of_2005_2006(width)
        if scale is not None:
            return scale
        raise _unsure(folder, f"it is {width} px wide, which is not one of the scene's sizes")
    raise _unsure(folder, "the scene is not one of Middlebury's 2001-2006")


def _of_2003(width: int) -> float | None:
    return _WIDTHS_2003.get(width)


def _of_2005_2006(width: int) -> float | None:
    low, high = _FULL_WIDTHS
    return next((float(n) for n in _SIZES_2005_2006 if low <= width * n <= high), None)


def _unsure(folder: Path, why: str) -> BadData:
    return BadData(
        f"{folder}: the factor of its disparities is unknown: {why}. "
        f"Write the factor (stored value / disparity, e.g. 4) to {folder / 'scale.txt'}."
    )
