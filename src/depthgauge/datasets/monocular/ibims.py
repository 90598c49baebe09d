"""iBims-1: indoor depth of a laser scanner with planes, edges, transparent and invalid pixels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, expected, reader
from depthgauge.datasets._paths import inside
from depthgauge.datasets.monocular._frames import (
    depth_of,
    picture_of,
    read_codes,
    write_codes,
    write_picture,
)
from depthgauge.errors import BadData, BadFile, Unavailable
from depthgauge.io.mat import read_mat
from depthgauge.io.text import read_text
from depthgauge.types import Camera, Inputs, Mask, Sample, Truth

KINDS = ("wall", "table", "floor")
_PER_METRE = 65535 / 50
_NUMBERS = 4
_NORMAL_COLUMNS = slice(4, 7)
"""Of the planes' parameters in the .mat files."""

SPEC = DatasetSpec(
    id="ibims-1",
    title="iBims-1, planes and edges of indoor depth",
    quantities=("depth",),
    splits=("all",),
    licence="CC BY-NC-SA 4.0",
    cite="Koch, Liebel, Fraundorfer & Körner, Evaluation of CNN-based single-image depth "
    "estimation methods, ECCV Workshops 2018",
    homepage="https://www.asg.ed.tum.de/lmf/ibims1/",
    sample_layout="depth/<name>.png (metres * 65535 / 50, 0 is missing), mask_invalid/, "
    "mask_transp/, edges/, mask_{wall,table,floor}/ with <name>.png, {wall,table,floor}_planes/"
    "<name>.txt, rgb/<name>.png and calib.txt or calib/<name>.txt; or <name>.mat files",
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """One sample per depth map, or per `.mat` file.

    The depth has no value where the scanner saw nothing; `usable_mask` is what is neither invalid
    nor transparent. Planes have numbers from 1 in `<kind>_labels`, and all together in
    `plane_labels`; row n - 1 of `plane_normals` is the normal of plane n, towards the viewer.
    """
    pictures = sorted((root / "depth").glob("*.png"))
    for path in pictures:
        yield _of_folder(root, path.stem)
    if not pictures:
        for path in sorted(root.glob("*.mat")):
            items = {key: partial(_of_matlab, path, key) for key in _ITEMS}
            inputs = {key: partial(_of_matlab, path, key) for key in ("camera", "left_image")}
            yield Sample(path.stem, Inputs(inputs), Truth(items))


_ITEMS = (
    "depth",
    "usable_mask",
    "edges_mask",
    "plane_labels",
    "plane_normals",
    *(f"{kind}_labels" for kind in KINDS),
    *(f"{kind}_planes" for kind in KINDS),
)


def _of_folder(root: Path, name: str) -> Sample:
    folders = ("mask_invalid", "mask_transp", "edges", *(f"mask_{kind}" for kind in KINDS))
    masks = {folder: root / folder / f"{name}.png" for folder in folders}
    texts = {kind: root / f"{kind}_planes" / f"{name}.txt" for kind in KINDS}
    own = root / "calib" / f"{name}.txt"
    calib = own if own.is_file() else root / "calib.txt"
    for path in (*masks.values(), *texts.values(), calib):
        if not path.is_file():
            raise BadData(f"{path}: is missing. {expected(SPEC)}")
    depth = root / "depth" / f"{name}.png"
    labels = tuple(masks[f"mask_{kind}"] for kind in KINDS)
    truth: dict[str, Any] = {
        "depth": partial(read_codes, depth, _PER_METRE),
        "usable_mask": partial(_both, masks["mask_invalid"], masks["mask_transp"]),
        "edges_mask": partial(io.read_mask, masks["edges"]),
        "plane_labels": partial(_plane_labels, labels, tuple(texts.values())),
        "plane_normals": partial(_plane_normals, tuple(texts.values())),
        **{f"{kind}_labels": partial(io.read_labels, masks[f"mask_{kind}"]) for kind in KINDS},
        **{f"{kind}_planes": partial(_rows, texts[kind]) for kind in KINDS},
    }
    inputs: dict[str, Any] = {"camera": partial(_read_camera, calib, depth)}
    picture = picture_of([root / "rgb" / name])
    if picture is not None:
        inputs["left_image"] = partial(io.read_image, picture)
    return Sample(name, Inputs(inputs), Truth(truth))


def _both(first: Path, second: Path) -> Mask:
    return io.read_mask(first) & io.read_mask(second)


def _plane_labels(labels: tuple[Path, ...], texts: tuple[Path, ...]) -> NDArray[np.int32]:
    return join_labels(map(io.read_labels, labels), [len(_rows(text)) for text in texts])


def _plane_normals(texts: tuple[Path, ...]) -> NDArray[np.float32]:
    return to_camera_axes(np.concatenate([_rows(text)[:, :3] for text in texts]))


def _rows(path: Path) -> NDArray[np.float64]:
    """Rows of four numbers."""
    try:
        values = np.array([float(word) for word in read_text(path).split()])
        return values.reshape(-1, _NUMBERS)
    except ValueError:
        raise BadFile(f"{path}: expected rows of {_NUMBERS} numbers") from None


def _read_camera(path: Path, depth: Path) -> Camera:
    numbers = _rows(path).ravel()
    if numbers.size != _NUMBERS:
        raise BadFile(f"{path}: expected fx fy cx cy, found {numbers.size} numbers")
    height, width, _ = io.map_size(depth)
    return _camera(numbers, (width, height))


def _camera(numbers: NDArray[np.float64], size_px: tuple[int, int]) -> Camera:
    """Pixels are counted from 1 in the files and from 0 here."""
    fx, fy, cx, cy = numbers.tolist()
    return Camera((fx, fy), (cx - 1.0, cy - 1.0), size_px)


def _of_matlab(path: Path, key: str) -> Any:
    """One item of a `.mat` file."""
    data = read_mat(path).get("data")
    if not isinstance(data, dict):
        raise BadFile(f"{path}: expected the struct 'data' of iBims-1")
    masks = tuple(f"mask_{kind}" for kind in KINDS)
    needed = ("depth", "edges", "calib", "mask_invalid", "mask_transp", *masks)
    if lacking := [name for name in needed if name not in data]:
        raise BadFile(f"{path}: 'data' has no {', '.join(lacking)}")
    stored = np.asarray(data["depth"], np.float32)
    if key == "depth":
        return np.where(stored > 0, stored, np.float32(np.nan))
    if key == "usable_mask":
        return (np.asarray(data["mask_invalid"]) > 0) & (np.asarray(data["mask_transp"]) > 0)
    if key == "edges_mask":
        return np.asarray(data["edges"]) > 0
    if key == "left_image":
        return np.asarray(data["rgb"]) if "rgb" in data else np.zeros((*stored.shape, 3), np.uint8)
    if key == "camera":
        calib = np.asarray(data["calib"], np.float64)  # stored as its transpose
        numbers = np.array([calib[0, 0], calib[1, 1], calib[2, 0], calib[2, 1]])
        return _camera(numbers, (stored.shape[1], stored.shape[0]))
    planes = {kind: _matlab_planes(data, kind) for kind in KINDS}
    labels = {kind: np.asarray(data[f"mask_{kind}"], np.int32) for kind in KINDS}
    if key == "plane_labels":
        return join_labels(labels.values(), [len(rows) for rows in planes.values()])
    if key == "plane_normals":
        return to_camera_axes(np.concatenate([rows[:, :3] for rows in planes.values()]))
    kind, _, what = key.partition("_")
    return labels[kind] if what == "labels" else planes[kind]


def _matlab_planes(data: dict[str, Any], kind: str) -> NDArray[np.float64]:
    """Normals and a zero for each plane."""
    stored = np.asarray(data.get(f"mask_{kind}_paras", data.get(f"{kind}_paras", ())), np.float64)
    rows = stored.reshape(-1, stored.shape[-1]) if stored.size else np.zeros((0, 7))
    return np.pad(rows[:, _NORMAL_COLUMNS], ((0, 0), (0, 1)))


def join_labels(labels: Iterable[NDArray[np.int32]], counts: Iterable[int]) -> NDArray[np.int32]:
    """All planes under one numbering; where two kinds overlap, the last one counts.

    >>> join_labels([np.array([[1, 2, 0]]), np.array([[0, 1, 1]])], [2, 1]).tolist()
    [[1, 3, 3]]
    """
    joined: NDArray[np.int32] | None = None
    before = 0
    for own, count in zip(labels, counts, strict=True):
        numbered = np.where((own > 0) & (own <= count), own + before, 0).astype(np.int32)
        joined = numbered if joined is None else np.where(numbered > 0, numbered, joined)
        before += count
    return np.zeros((0, 0), np.int32) if joined is None else joined


def to_camera_axes(normals: NDArray[np.float64]) -> NDArray[np.float32]:
    """Unit normals in x right, y down, z forward from iBims' X right, Y forward, Z up.

    They point towards the viewer: their z is not positive.
    """
    turned = np.stack([normals[:, 0], -normals[:, 2], normals[:, 1]], axis=1)
    length = np.linalg.norm(turned, axis=1, keepdims=True)
    turned = np.divide(turned, length, out=np.zeros_like(turned), where=length > 0)
    return np.asarray(np.where(turned[:, 2:] > 0, -turned, turned), np.float32)


def write(root: Path, samples: Iterable[Sample]) -> None:
    """Writes the folders of PNG and text files.

    Raises:
        Unavailable: A sample lacks masks, planes or its camera.
    """
    root = Path(root)
    for sample in samples:
        sample = sample.fresh()
        truth = sample.truth or Truth({})
        lacking = [key for key in _ITEMS if key not in truth and not key.startswith("plane_")]
        if lacking or "camera" not in sample.inputs:
            what = ", ".join([*lacking, *(() if "camera" in sample.inputs else ("camera",))])
            raise Unavailable(f"sample '{sample.id}' has no {what}, which iBims-1 needs.")
        write_codes(inside(root, f"depth/{sample.id}.png"), depth_of(sample), _PER_METRE)
        write_picture(inside(root, f"rgb/{sample.id}.png"), sample.inputs)
        _write_masks(root, sample.id, truth)
        _write_texts(root, sample.id, truth, sample.inputs["camera"])


def _write_masks(root: Path, name: str, truth: Truth) -> None:
    usable = np.asarray(truth["usable_mask"], np.uint8)
    masks = {
        "mask_invalid": usable,
        "mask_transp": np.ones_like(usable),
        "edges": np.asarray(truth["edges_mask"], np.uint8),
        **{f"mask_{kind}": np.asarray(truth[f"{kind}_labels"], np.uint8) for kind in KINDS},
    }
    for folder, values in masks.items():
        path = inside(root, f"{folder}/{name}.png")
        path.parent.mkdir(parents=True, exist_ok=True)
        io.write_image(path, values)


def _write_texts(root: Path, name: str, truth: Truth, camera: Camera) -> None:
    (fx, fy), (cx, cy) = camera.focal_px, camera.centre_px
    texts = {"calib": [(fx, fy, cx + 1.0, cy + 1.0)]}
    texts |= {f"{kind}_planes": np.asarray(truth[f"{kind}_planes"]).tolist() for kind in KINDS}
    for folder, rows in texts.items():
        path = inside(root, f"{folder}/{name}.txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        io.write_text(path, "".join(" ".join(map(repr, row)) + "\n" for row in rows))
