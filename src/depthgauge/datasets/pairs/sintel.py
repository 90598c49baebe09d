"""MPI-Sintel: flow of an animated film, and the disparity of its stereo version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._submission import Submission, SubmittedFile
from depthgauge.datasets.pairs._layout import (
    id_parts,
    images,
    new_file,
    no_data,
    official_folder,
    require,
    sample_of,
    shown_mask,
    write_images,
)
from depthgauge.errors import BadData, BadFile
from depthgauge.types import Map, Mask, Sample, Truth

PASSES = ("clean", "final")
_TEST = "test-"
_FORM = "clean/<sequence>/frame_0001"
_FLOW, _DISPARITY, _OCCLUDED = "flow", "disparities", "occlusions"
_BYTES = 1 << 14

SPEC = DatasetSpec(
    id="sintel",
    title="MPI-Sintel: flow and disparity",
    quantities=("flow", "disparity"),
    splits=(*PASSES, *(_TEST + name for name in PASSES), "all"),
    licence="free for research with citation; film by the Blender Foundation, CC BY 3.0",
    cite="Butler et al., A naturalistic open source movie for optical flow evaluation, ECCV 2012",
    homepage="http://sintel.is.tue.mpg.de/",
    sample_layout="training/ or its content: clean and final with <sequence>/frame_0001.png ..., "
    "flow/<sequence>/frame_0001.flo, occlusions and invalid with <sequence>/frame_0001.png; of the "
    "stereo download clean_left, clean_right, final_left, final_right, disparities, occlusions and "
    "outofframe; test/ has the images only",
    submission=Submission(
        files=(SubmittedFile("flow", "{sample}.flo", "flo"),),
        samples=1104,
        dense=True,
        url="http://sintel.is.tue.mpg.de/submit",
        about="clean/<sequence>/frame_0001.flo and final/...: the folder that Sintel's bundler "
        "packs; the server takes its .lzma file only. 552 frames per pass.",
    ),
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """The frames of a pass, or of both (`all`); ids are `clean/alley_1/frame_0001`.

    Inputs: `first_image` and `second_image`, or `left_image` and `right_image` of the stereo
    download. Truth: `flow` without invalid pixels, and the mask `matched` (not occluded in the next
    frame); or `disparity` without pixels that are out of the other frame, and the mask `visible`.
    """
    folders = ("test",) if split.startswith(_TEST) else ("training",)
    names = PASSES if split == "all" else (split.removeprefix(_TEST),)
    signs = (*names, *(f"{name}_left" for name in names), _FLOW, _DISPARITY)
    folder = official_folder(SPEC, root, folders, signs)
    if folder is None:
        raise no_data(SPEC, root, folders)
    for name in names:
        if len(names) == 1 or (folder / name).is_dir() or (folder / f"{name}_left").is_dir():
            yield from _frames(folder, name)


def _frames(folder: Path, name: str) -> Iterator[Sample]:
    """The frames of one pass."""
    if (folder / _FLOW).is_dir() and (folder / _DISPARITY).is_dir():
        raise BadData(
            f"{folder}: has flow and disparities, whose occlusions have the same names; keep "
            "Sintel's flow and stereo downloads in two folders."
        )
    stereo = (folder / _DISPARITY).is_dir() or (folder / f"{name}_left").is_dir()
    find = _stereo_frames if stereo else _flow_frames
    for sequence, frame, inputs, truth in find(folder, name):
        sample_id = f"{name}/{sequence}/{frame}"
        yield sample_of(sample_id, inputs, truth, scene=sequence)


def _listed(*places: Path) -> list[tuple[str, str]]:
    """Sequences and frames that have a file in one of these folders."""
    found = {
        (path.parent.name, path.stem)
        for place in places
        for path in place.glob("*/frame_*")
        if path.suffix in (".png", ".flo")
    }
    return sorted(found)


def _flow_frames(folder: Path, name: str) -> Iterator[tuple[str, str, Any, Any]]:
    known = _listed(folder / name, folder / _FLOW)
    frames = set(known)
    for sequence, frame in known:
        after = f"frame_{int(frame.removeprefix('frame_')) + 1:04d}"
        path = folder / _FLOW / sequence / f"{frame}.flo"
        if not path.is_file() and (sequence, after) not in frames:
            continue  # the last frame of a sequence has no next one
        pictures = folder / name / sequence
        inputs = images(
            {"first_image": pictures / f"{frame}.png", "second_image": pictures / f"{after}.png"}
        )
        truth: dict[str, Any] = {}
        if path.is_file():
            invalid = folder / "invalid" / sequence / f"{frame}.png"
            occluded = folder / _OCCLUDED / sequence / f"{frame}.png"
            truth["flow"] = partial(_read_flow, path, invalid)
            if occluded.is_file():
                truth["matched_mask"] = partial(_read_outside, occluded)
        yield sequence, frame, inputs, truth


def _stereo_frames(folder: Path, name: str) -> Iterator[tuple[str, str, Any, Any]]:
    for sequence, frame in _listed(folder / f"{name}_left", folder / _DISPARITY):
        file = f"{sequence}/{frame}.png"
        sides = {f"{side}_image": folder / f"{name}_{side}" / file for side in ("left", "right")}
        truth: dict[str, Any] = {}
        if (path := folder / _DISPARITY / file).is_file():
            outside = folder / "outofframe" / file
            truth["disparity"] = partial(_read_disparity, path, outside)
            if (occluded := folder / _OCCLUDED / file).is_file():
                truth["visible_mask"] = partial(_read_outside, occluded)
        yield sequence, frame, images(sides), truth


def _read_flow(path: Path, invalid: Path) -> Map:
    return _without(io.read_map(path, quantity="flow"), invalid)


def _read_disparity(path: Path, outside: Path) -> Map:
    """Red, green and blue are the bytes of one number, disparity * 2^14."""
    codes = io.read_image(path)
    if codes.ndim != 3 or codes.dtype != np.uint8:
        raise BadFile(f"{path}: a disparity of Sintel is a colour PNG of 8 bits")
    red, green, blue = (codes[..., i].astype(np.int64) for i in range(3))
    return _without(((red << 16 | green << 8 | blue) / _BYTES).astype(np.float32), outside)


def _without(values: Map, excluded: Path) -> Map:
    """A map without the pixels of a mask, where there is one."""
    if excluded.is_file():
        values[io.read_mask(excluded)] = np.nan
    return values


def _read_outside(path: Path) -> Mask:
    return np.asarray(~io.read_mask(path))


def write(root: Path, samples: Iterable[Sample]) -> None:
    """Writes frames as `training` has them: flow, or the stereo download where there is disparity.

    The mask of invalid pixels is where the flow is missing; disparities are rounded to 2^-14 px.
    """
    for sample in samples:
        require(sample, "flow", "disparity")
        name, sequence, frame = id_parts(sample.id, 3, _FORM)
        file = f"{sequence}/{frame}"
        truth = sample.truth
        if truth is not None and "disparity" in truth:
            places = {f"{side}_image": f"{name}_{side}/{file}.png" for side in ("left", "right")}
            write_images(root, sample.inputs, places)
            _write_disparity(root, file, truth)
            continue
        after = f"frame_{int(frame.removeprefix('frame_')) + 1:04d}"
        places = {
            "first_image": f"{name}/{file}.png",
            "second_image": f"{name}/{sequence}/{after}.png",
        }
        write_images(root, sample.inputs, places)
        if truth is not None:
            _write_flow(root, file, truth)


def _write_flow(root: Path, file: str, truth: Truth) -> None:
    missing = np.isnan(truth.flow).any(axis=-1)
    flow = np.where(missing[..., None], np.float32(0), truth.flow)
    io.write_map(new_file(root, f"{_FLOW}/{file}.flo"), flow, quantity="flow")
    io.write_image(new_file(root, f"invalid/{file}.png"), shown_mask(missing))
    if "matched_mask" in truth:
        io.write_image(new_file(root, f"{_OCCLUDED}/{file}.png"), shown_mask(~truth.matched_mask))


def _write_disparity(root: Path, file: str, truth: Truth) -> None:
    missing = np.isnan(truth.disparity)
    codes = np.rint(np.where(missing, 0.0, truth.disparity).astype(np.float64) * _BYTES)
    codes = codes.astype(np.int64)
    colours = np.dstack([codes >> 16, codes >> 8 & 255, codes & 255]).astype(np.uint8)
    io.write_image(new_file(root, f"{_DISPARITY}/{file}.png"), colours)
    io.write_image(new_file(root, f"outofframe/{file}.png"), shown_mask(missing))
    if "visible_mask" in truth:
        io.write_image(new_file(root, f"{_OCCLUDED}/{file}.png"), shown_mask(~truth.visible_mask))
