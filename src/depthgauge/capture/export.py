"""The labels of a session as a scene in Booster's layout, balanced and unbalanced."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from depthgauge import io
from depthgauge._options import Options, signature_from
from depthgauge.capture.exact_truth import exact_truth
from depthgauge.capture.labels import LABELS
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.steps import has_step, read_step
from depthgauge.datasets import booster, booster_unbalanced
from depthgauge.datasets._booster import layout
from depthgauge.datasets._test_splits import folder_of_truth, is_test_split, without_truth
from depthgauge.errors import BadData, CannotWrite, Misuse
from depthgauge.geometry.ray_scene import RayScene
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.sessions import Session, read_simulated
from depthgauge.types import Inputs, Map, Sample, Truth

_STEP_PX = 16
"""Disparity ranges end at multiples of this, so that they limit the search without revealing the
truth."""


_Truths = Callable[[str], Truth | None]
"""The truth of pair LR or LC, empty in an unlabelled scene; None if the pair is left out."""


class ExportOptions(Options):
    """What is written, and where."""

    scene: str | None = None
    """The scene's name; by default the session's."""
    split: Literal["train", "test-stereo", "test-mono", "unlabelled"] = "train"
    """The split to write to; `unlabelled` has no truth and needs only step rectify, the test splits
    are written without theirs."""
    with_truth: Path | None = None
    """Of a test split: a folder outside of the dataset's that gets the scene with its truth."""
    exact: bool = False
    """For a simulated session: write its exact truth instead of the labels, in the same frames;
    needs only step rectify."""
    overwrite: bool = False
    """Replace an existing scene of that name."""


@dataclass(frozen=True, slots=True)
class ExportedScene:
    """What was written."""

    scene: str
    setups: tuple[str, ...]
    """`balanced`, and `unbalanced` if there is such a pair."""
    images: int
    """Illuminations of each."""
    warnings: tuple[str, ...] = ()


@signature_from(ExportOptions)
def export(session: Session, work: Path, out: Path, options: ExportOptions) -> ExportedScene:
    """Writes a labelled session as a scene of a dataset in Booster's layout: everything, or
    nothing.

    Args:
        session: The session.
        work: Its work folder, with step `check` done; if step `warp` is done too, the unbalanced
            pair is also written.
        out: The dataset's folder; it can hold scenes of several sessions.
        options: What is written.

    Raises:
        BadData: A step is not done, or there is no passive picture.
        CannotWrite: The scene exists already.
        Misuse: The exact truth was requested for a session that was not simulated, or for pictures
            without labels; or the truth would be written beside published images.
    """
    split = options.split
    kept = folder_of_truth(out, split, options.with_truth)
    name = options.scene or session.name
    truths = _truths(session, work, split, options.exact)
    warnings: list[str] = []
    found: dict[str, list[Sample]] = {}
    for setup, letters in _PAIRS.items():
        # The pictures of the balanced pair also serve for monocular depth.
        if setup == layout.UNBALANCED and split == layout.TEST_MONO:
            continue
        truth = truths(letters)
        if truth is None:
            warnings.append(f"{work}: {_lacking(work, letters)}; it is left out.")
            continue
        found[setup] = list(_samples(work, name, letters, truth))
        warnings += _without_labels(work, letters, truth)
    published = (
        {s: list(without_truth(of)) for s, of in found.items()} if is_test_split(split) else found
    )
    write_scene({out: published} | ({kept: found} if kept else {}), name, split, options.overwrite)
    images = max(len(samples) for samples in found.values())
    return ExportedScene(name, tuple(found), images, tuple(warnings))


Setups = Mapping[str, list[Sample]]
"""Samples of a scene: of the balanced pair, and of the unbalanced one."""


def write_scene(copies: Mapping[Path, Setups], scene: str, split: str, overwrite: bool) -> None:
    """Writes all setups to all folders, or none: first aside, to see whether that works.

    Args:
        copies: What goes to which dataset.
        scene: Its name.
        split: Where it goes.
        overwrite: Replace a scene that is there.

    Raises:
        CannotWrite: The scene exists already.
    """
    for out, found in copies.items():
        require_room(out, scene, split, found, overwrite)
    with ExitStack() as stack:
        asides = {out: stack.enter_context(_folder_aside(out)) for out in copies}
        for out, found in copies.items():
            for setup, samples in found.items():
                _WRITERS[setup](asides[out], samples, split=split)
        for out, found in copies.items():
            for setup, at in _places(found, split, scene).items():
                if (out / at).exists():  # it may hold files that are not ours
                    _WRITERS[setup](out, found[setup], split=split, overwrite=True)
                else:
                    (out / at).parent.mkdir(parents=True, exist_ok=True)
                    os.replace(asides[out] / at, out / at)


def _places(found: Iterable[str], split: str, scene: str) -> dict[str, Path]:
    return {setup: layout.place_of(Path(), split, setup) / scene for setup in found}


def require_room(out: Path, scene: str, split: str, setups: Iterable[str], overwrite: bool) -> None:
    """Rejects a scene that exists already.

    Raises:
        CannotWrite: It does, and it may not be replaced.
    """
    places = _places(setups, split, scene)
    files = (layout.CALIBRATION, layout.LEFT, layout.RIGHT, *layout.TRUTH_FILES)
    there = {s for s, at in places.items() if any((out / at / file).exists() for file in files)}
    if there and not overwrite:
        raise CannotWrite(
            f"{out / places[min(there)]}: holds a scene already; say --overwrite (overwrite=True) "
            "to replace it."
        )


@contextmanager
def _folder_aside(out: Path) -> Iterator[Path]:
    """A hidden folder in the dataset's folder, removed at the end."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        aside = tempfile.TemporaryDirectory(dir=out, prefix=".export-", ignore_cleanup_errors=True)
    except OSError as error:
        raise CannotWrite(f"{out}: cannot be written: {error.strerror or error}.") from None
    with aside as name:
        yield Path(name)


def _truths(session: Session, work: Path, split: str, exact: bool) -> _Truths:
    if split != layout.UNLABELLED:
        return _exact_truths(session, work) if exact else _label_truths(work)
    if exact:
        raise Misuse("an unlabelled scene has no truth; leave out --exact (exact=True)")
    return lambda letters: Truth({}) if _has_pair(work, letters) else None


def _has_pair(work: Path, letters: str) -> bool:
    """Whether a pair was rectified; without LR there is nothing to export."""
    there = (read_step(work, "rectify").folder / f"{letters}.json").is_file()
    return there or letters == "LR"


def _label_truths(work: Path) -> _Truths:
    """The labels of a pair that steps `check` and `warp` made."""
    read_step(work, "check")

    def truth_of(letters: str) -> Truth | None:
        step = "check" if letters == "LR" else "warp"
        return Truth(_label_items(work / step)) if has_step(work, step) else None

    return truth_of


def _exact_truths(session: Session, work: Path) -> _Truths:
    """The truth of a pair that a simulated session's mesh gives."""
    if not session.simulated:
        raise Misuse(f"{session.folder}: only a simulated session has an exact truth to export")
    known = read_simulated(session.truth_folder)
    scene = RayScene(known.vertices, known.triangles)

    def truth_of(letters: str) -> Truth | None:
        if not _has_pair(work, letters):
            return None
        pair = read_pair(work, letters)
        left = exact_truth(known, pair, letters, scene=scene)
        items: dict[str, Any] = {
            "disparity": _positive(left.disparity),
            "visible_mask": left.visible,
            "material_labels": np.maximum(left.materials, 0),
            "surface_labels": np.maximum(left.surfaces, 0),
        }
        if letters == "LR":
            right = exact_truth(known, pair, letters, "right", scene=scene)
            items["right_disparity"] = _positive(right.disparity)
            items["right_visible_mask"] = right.visible
        return Truth(items)

    return truth_of


def _samples(work: Path, scene: str, letters: str, truth: Truth) -> Iterator[Sample]:
    pair = read_pair(work, letters)
    folders = [read_step(work, "rectify").folder / letters / letter for letter in letters]
    left, right = ({p.stem: p for p in folder.glob("*.png")} for folder in folders)
    names = _by_number(left.keys() & right.keys())
    if not names:
        raise BadData(
            f"{folders[0].parent}: there is no rectified picture of both cameras; a scene needs "
            "passive pictures, run `depthgauge capture rectify` with them."
        )
    shared = _shared(pair, truth)
    for name, file in names.items():
        images = {
            "left_image": partial(io.read_image, left[file]),
            "right_image": partial(io.read_image, right[file]),
        }
        yield Sample(f"{scene}/{name}", Inputs({**shared, **images}), truth or None, scene=scene)


def _by_number(files: Iterable[str]) -> dict[str, str]:
    """The layout's names of pictures, im0, im1 ..., and the files that become them."""
    found = {file: re.fullmatch(r"im(\d{1,9})", file) for file in files}
    if all(found.values()):
        return {file: file for file in sorted(found, key=lambda file: int(file[2:]))}
    return {f"im{number}": file for number, file in enumerate(sorted(found))}


def _shared(pair: RectifiedPair, truth: Truth) -> dict[str, Any]:
    if not truth:
        return {"rig": pair.rig()}
    disparity = truth.fresh()["disparity"]
    known = disparity[np.isfinite(disparity)]
    if not known.size:
        raise BadData("the session has no labels; check the pictures of step clean.")
    low, high = float(known.min()), float(known.max())
    ends = (_STEP_PX * math.floor(low / _STEP_PX), _STEP_PX * math.ceil(high / _STEP_PX))
    return {"rig": pair.rig(), "disparity_range": (float(ends[0]), float(ends[1]))}


def _label_items(folder: Path) -> dict[str, Callable[[], Any]]:
    items: dict[str, tuple[str, Callable[[Path], Any]]] = {
        "disparity": ("disp_00.npy", _read_disparity),
        "right_disparity": ("disp_02.npy", _read_disparity),
        "visible_mask": ("mask_00.png", io.read_mask),
        "right_visible_mask": ("mask_02.png", io.read_mask),
        "material_labels": (LABELS["materials"], io.read_labels),
        "surface_labels": (LABELS["surfaces"], io.read_labels),
    }
    return {
        item: partial(read, folder / file)
        for item, (file, read) in items.items()
        if (folder / file).is_file()
    }


def _read_disparity(path: Path) -> Map:
    return _positive(io.read_map(path))


def _positive(disparity: Map) -> Map:
    """In this layout, values that are not above 0 mean no truth."""
    return np.where(disparity > 0, disparity, np.float32(np.nan))


def _without_labels(work: Path, letters: str, truth: Truth) -> list[str]:
    if letters != "LR" or not truth:  # both pairs have the same
        return []
    items = {"materials": "material_labels", "surfaces": "surface_labels"}
    return [
        f"{work}: there are no labels of {name}; {LABELS[name]} is left out."
        for name, item in items.items()
        if item not in truth
    ]


def _lacking(work: Path, letters: str) -> str:
    """Why a pair is left out."""
    if not _has_pair(work, letters):
        return f"there is no pair {letters}"
    return f"there are no labels of pair {letters} (step 'warp' is not done, or out of date)"


_PAIRS = {layout.BALANCED: "LR", layout.UNBALANCED: "LC"}
_WRITERS = {layout.BALANCED: booster.write, layout.UNBALANCED: booster_unbalanced.write}
