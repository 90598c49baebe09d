"""Spring: stereo, flow and scene flow of an animated film, with truth at twice the images' size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
from depthgauge.errors import Misuse
from depthgauge.io.text import read_text
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Camera, Estimate, Map, Mask, Rig, Sample, Truth

CAMERAS, DIRECTIONS = ("left", "right"), ("FW", "BW")
VALIDATION = ("0045", "0047")
"""Sequences that are commonly held out of the training data."""
BASELINE_M = 0.065
_VIEWS = tuple(f"{way}_{camera}" for way in DIRECTIONS for camera in CAMERAS)
_FLOW_FILES = tuple(f"{{folder}}/flow_{view}/flow_{{file}}.flo5" for view in _VIEWS)
_PARTS = {
    "disparity": ("disp1", "dsp5"),
    "second_disparity": ("disp2", "dsp5"),
    "flow": ("flow", "flo5"),
}
"""How files of each part begin and end."""
_PICTURES = {
    "left": ("left_image", "right_image"),
    "right": ("reference_image", "other_image"),
}
"""What the pictures of both cameras are called, that of the truth first."""


def _place(part: str, sample_id: str) -> str:
    """Where a part of a sample belongs in a submission."""
    sequence, name = id_parts(sample_id, 2, "0001/left_0001 or 0001/FW_left_0001")
    kind, ending = _PARTS[part]
    view, _, frame = name.rpartition("_")
    stem = f"{kind}_{view.rpartition('_')[2] if kind == 'disp1' else view}"
    return f"{sequence}/{stem}/{stem}_{frame}.{ending}"


SPEC = DatasetSpec(
    id="spring",
    title="Spring: stereo, flow and scene flow",
    quantities=("disparity", "flow", "image_scene_flow"),
    splits=("train", "validation", "train-rest", "test", "all"),
    licence="CC BY 4.0",
    cite="Mehl et al., Spring: a high-resolution high-detail dataset and benchmark for scene flow, "
    "optical flow and stereo, CVPR 2023",
    homepage="https://spring-benchmark.org/",
    sample_layout="train/ or its content: <0001>/ with frame_left/frame_left_0001.png ..., "
    "frame_right, disp1_left/disp1_left_0001.dsp5, disp2_FW_left, flow_FW_left and the same of BW "
    "and right, maps/detailmap_disp1_left/detailmap_disp1_left_0001.png and so on, "
    "cam_data/intrinsics.txt; test/ has the frames only",
    quantity_layouts={
        "disparity": tuple(f"{{folder}}/disp1_{c}/disp1_{{file}}.dsp5" for c in CAMERAS),
        "flow": _FLOW_FILES,
        "image_scene_flow": _FLOW_FILES,
    },
    submission=Submission(
        files=(
            SubmittedFile("disparity", partial(_place, "disparity"), "dsp5"),
            SubmittedFile("second_disparity", partial(_place, "second_disparity"), "dsp5"),
            SubmittedFile("flow", partial(_place, "flow"), "flo5"),
        ),
        dense=True,
        url="https://spring-benchmark.org/upload",
        about="The folder that Spring's subsampling program reads (2000 disparity maps, 3960 flow "
        "maps, both cameras and directions); the server takes the HDF5 file that it makes.",
    ),
)


@reader(SPEC)
def samples(
    root: Path, split: str, *, task: str = "stereo", camera: str = "left", direction: str = "FW"
) -> Iterator[Sample]:
    """The frames of a split, at the size of the images.

    The truth has four values for each pixel of the image; here it is every second row and column,
    as in Spring's own loader. `spring-toolkit` reads all four.

    Truth of `stereo`: `disparity` and the masks `detail`, `unmatched` and `sky`; ids are
    `0001/left_0001`. Of `flow`: `flow`, `disparity`, `second_disparity`, and the masks `detail`,
    `unmatched`, `nonrigid` and `sky`; ids are `0001/FW_left_0001`.

    Args:
        root: The folder with `train` and `test`, or one of them.
        split: `validation` are the sequences 0045 and 0047, `train-rest` all others.
        task: `stereo`, or `flow` (with scene flow).
        camera: `left`, `right` or `both`; frames of the right camera have a `reference_image` and
            an `other_image`, because their disparity goes the other way.
        direction: Of flow: `FW`, `BW` or `both`.
    """
    cameras = _chosen("camera", camera, CAMERAS)
    ways = _chosen("direction", direction, DIRECTIONS)
    if task not in ("stereo", "flow"):
        raise Misuse(f"task is '{task}' but must be stereo or flow.")
    for sequence in _sequences(root, split):
        for view in cameras:
            yield from _frames(sequence, view, ways if task == "flow" else ())


def _sequences(root: Path, split: str) -> list[Path]:
    """The folders of the sequences of a split, by number."""
    names = {"test": ("test",), "all": ("train", "test")}.get(split, ("train",))
    places = [root / name for name in names if _holds_sequences(root / name)]
    if not places or split != "all":
        places = [_split_folder(root, names)]
    found = [p for place in places for p in place.iterdir() if _is_sequence(p)]
    if split in ("validation", "train-rest"):
        found = [p for p in found if (p.name in VALIDATION) is (split == "validation")]
    return sorted(found, key=lambda path: path.name)


def _chosen(name: str, value: str, known: tuple[str, ...]) -> tuple[str, ...]:
    if value != "both" and value not in known:
        raise Misuse(f"{name} is '{value}' but must be {', '.join(known)} or both.")
    return known if value == "both" else (value,)


def _split_folder(root: Path, names: tuple[str, ...]) -> Path:
    for folder in (*(root / name for name in names), root):
        if _holds_sequences(folder):
            return folder
    official_folder(SPEC, root, names, ("frame_left", "disp1_left", "flow_FW_left"))
    raise no_data(SPEC, root, names)


def _holds_sequences(folder: Path) -> bool:
    return folder.is_dir() and any(_is_sequence(path) for path in folder.iterdir())


def _is_sequence(folder: Path) -> bool:
    return any((folder / name).is_dir() for name in ("frame_left", "disp1_left", "flow_FW_left"))


def _frames(sequence: Path, camera: str, ways: tuple[str, ...]) -> Iterator[Sample]:
    places = [f"frame_{camera}", f"disp1_{camera}", *(f"flow_{way}_{camera}" for way in ways)]
    listed = {p.stem.rpartition("_")[2] for place in places for p in (sequence / place).glob("*_*")}
    frames = sorted(name for name in listed if name.isdecimal())
    for frame in frames:
        if not ways:
            yield _stereo(sequence, camera, frame)
        for way in ways:
            other = _next(frame, way)
            if other in frames or _file(sequence, "flow", f"{way}_{camera}", frame).is_file():
                yield _moving(sequence, camera, way, frame, other)


def _next(frame: str, way: str) -> str:
    return f"{int(frame) + (1 if way == 'FW' else -1):04d}"


def _file(sequence: Path, kind: str, view: str, frame: str) -> Path:
    ending = "flo5" if kind == "flow" else "dsp5"
    return sequence / f"{kind}_{view}" / f"{kind}_{view}_{frame}.{ending}"


def _picture(sequence: Path, camera: str, frame: str) -> Path:
    return sequence / f"frame_{camera}" / f"frame_{camera}_{frame}.png"


def _stereo(sequence: Path, camera: str, frame: str) -> Sample:
    inputs = _inputs(sequence, camera, frame, "")
    truth = _maps({"disparity": _file(sequence, "disp1", camera, frame)})
    if truth:
        masks = {"detail_mask": "detailmap_disp1", "unmatched_mask": "matchmap_disp1"}
        truth |= _masks(sequence, frame, {n: f"{m}_{camera}" for n, m in masks.items()})
        truth |= _masks(sequence, frame, {"sky_mask": f"skymap_{camera}"})
        truth["folder"] = sequence
    return sample_of(f"{sequence.name}/{camera}_{frame}", inputs, truth, sequence.name)


def _moving(sequence: Path, camera: str, way: str, frame: str, other: str) -> Sample:
    view = f"{way}_{camera}"
    inputs = _inputs(sequence, camera, frame, other)
    truth = _maps(
        {
            "flow": _file(sequence, "flow", view, frame),
            "disparity": _file(sequence, "disp1", camera, frame),
            "second_disparity": _file(sequence, "disp2", view, frame),
        }
    )
    if truth:
        maps = {
            "detail_mask": f"detailmap_flow_{view}",
            "unmatched_mask": f"matchmap_flow_{view}",
            "nonrigid_mask": f"rigidmap_{view}",
            "sky_mask": f"skymap_{camera}",
        }
        truth |= _masks(sequence, frame, maps)
        truth["folder"] = sequence
    return sample_of(f"{sequence.name}/{view}_{frame}", inputs, truth, sequence.name)


def _inputs(sequence: Path, camera: str, frame: str, other: str) -> dict[str, Any]:
    own, opposite = CAMERAS if camera == "left" else CAMERAS[::-1]
    names = _PICTURES[camera]
    paths = {
        names[0]: _picture(sequence, own, frame),
        names[1]: _picture(sequence, opposite, frame),
        "first_image": _picture(sequence, own, frame),
    }
    if other:
        paths["second_image"] = _picture(sequence, own, other)
        paths["right_next_image"] = _picture(sequence, opposite, other)
    found = images(paths)
    intrinsics = sequence / "cam_data" / "intrinsics.txt"
    if intrinsics.is_file():
        found["rig"] = partial(_read_rig, intrinsics, int(frame))
    return found


def _read_rig(path: Path, frame: int) -> Rig:
    """One line per frame with fx, fy, cx, cy; the baseline of the whole film is 0.065 m."""
    lines = [line.split() for line in read_text(path).splitlines() if line.strip()]
    fx, fy, cx, cy = (float(word) for word in lines[min(frame, len(lines)) - 1][:4])
    right = np.eye(4)
    right[0, 3] = BASELINE_M
    cameras = {
        "left": Camera((fx, fy), (cx, cy), (1920, 1080)),
        "right": Camera((fx, fy), (cx, cy), (1920, 1080), (), right),
    }
    return Rig(cameras, BASELINE_M)


def _maps(paths: Mapping[str, Path]) -> dict[str, Any]:
    kinds = {"disparity": "disparity", "second_disparity": "disparity", "flow": "flow"}
    return {
        name: partial(_read_map, path, kinds[name])
        for name, path in paths.items()
        if path.is_file()
    }


def _read_map(path: Path, quantity: str) -> Map:
    """Every second row and column; values are in pixels of the images already."""
    return np.ascontiguousarray(io.read_map(path, quantity=quantity)[::2, ::2])


def _masks(sequence: Path, frame: str, names: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for mask, name in names.items():
        path = sequence / "maps" / name / f"{name}_{frame}.png"
        if path.is_file():
            found[mask] = partial(read_spring_mask, path)
    return found


def read_spring_mask(path: Path) -> Mask:
    """A mask at the size of the images; one of twice the size is the mean of 2 x 2, from a half on.

    Rigid and sky maps have twice the size, detail and match maps that of the images. A pixel of a
    match map is unmatched where red or green is not 0.
    """
    name = path.name
    if name.startswith("matchmap"):
        picture = io.read_image(path)
        if picture.ndim == 3:
            return np.asarray((picture[..., :2] > 0).any(axis=2))
    mask = io.read_mask(path)
    if not name.startswith(("rigidmap", "skymap")):
        return mask
    height, width = (n // 2 for n in mask.shape)
    four = mask[: 2 * height, : 2 * width].reshape(height, 2, width, 2)
    return np.asarray(four.mean(axis=(1, 3)) >= 0.5)


def read_estimate(path: Path, quantity: str) -> Estimate | None:
    """The maps of a submitted frame of scene flow; None for a single map."""
    declared = QUANTITIES[quantity]
    required = [part for part in declared.parts if part.required]
    if len(required) == 1 or path.suffix != ".flo5":
        return None
    found = {}
    for part in required:
        place = beside(path, part.name)
        if place.is_file():
            found[part.name] = io.read_map(place, quantity=part.like)
    main = found.pop(declared.main.name, None)
    if main is None:
        main = np.full(next(iter(found.values())).shape[:2], np.nan, np.float32)
    return Estimate(main, quantity, found)


def beside(flow: Path, part: str) -> Path:
    """The file of another part of the frame whose flow is in this file."""
    view, _, frame = flow.stem.removeprefix("flow_").rpartition("_")
    kind, ending = _PARTS[part]
    name = view.partition("_")[2] if kind == "disp1" else view
    return flow.parent.parent / f"{kind}_{name}" / f"{kind}_{name}_{frame}.{ending}"


def write(root: Path, samples: Iterable[Sample]) -> None:
    """Writes frames as `train` has them; each value of the truth is repeated in 2 x 2."""
    for sample in samples:
        require(sample, "disparity", "flow")
        sequence, name = id_parts(sample.id, 2, "0001/left_0001 or 0001/FW_left_0001")
        *way, camera, frame = name.split("_")
        if camera not in CAMERAS or not frame.isdecimal() or len(way) > 1:
            raise Misuse(f"sample id '{sample.id}' is not 0001/left_0001 or 0001/FW_left_0001.")
        own, opposite = CAMERAS if camera == "left" else CAMERAS[::-1]
        first, second = _PICTURES[camera]
        places = {first: (own, frame), second: (opposite, frame)}
        if way:
            other = _next(frame, way[0])
            places |= {"second_image": (own, other), "right_next_image": (opposite, other)}
        files = {n: f"{sequence}/frame_{c}/frame_{c}_{f}.png" for n, (c, f) in places.items()}
        write_images(root, sample.inputs, files)
        if sample.truth is not None:
            _write_truth(root, sequence, frame, camera, way[0] if way else "", sample.truth)


def _write_truth(
    root: Path, sequence: str, frame: str, camera: str, way: str, truth: Truth
) -> None:
    view = f"{way}_{camera}" if way else camera
    for name, (kind, ending) in _PARTS.items():
        if name in truth:
            place = f"{kind}_{camera}" if kind == "disp1" else f"{kind}_{view}"
            path = new_file(root, f"{sequence}/{place}/{place}_{frame}.{ending}")
            large = truth[name].repeat(2, axis=0).repeat(2, axis=1)
            io.write_map(path, large, quantity=QUANTITIES["image_scene_flow"].part(name).like)
    kind = f"flow_{view}" if way else f"disp1_{camera}"
    masks = {
        "detail_mask": f"detailmap_{kind}",
        "unmatched_mask": f"matchmap_{kind}",
        "nonrigid_mask": f"rigidmap_{view}",
        "sky_mask": f"skymap_{camera}",
    }
    for name, place in masks.items():
        if name in truth:
            mask = truth[name]
            if place.startswith(("rigidmap", "skymap")):
                mask = mask.repeat(2, axis=0).repeat(2, axis=1)
            path = new_file(root, f"{sequence}/maps/{place}/{place}_{frame}.png")
            io.write_image(path, shown_mask(mask))
