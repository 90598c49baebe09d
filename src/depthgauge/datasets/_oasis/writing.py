"""Writes samples in the layout of OASIS, so that its public tools can read them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge._registry import unknown
from depthgauge.datasets._oasis import relations
from depthgauge.datasets._oasis.index import COLUMNS, FOLDERS, SPLITS, Row, index_name, read_rows
from depthgauge.datasets._oasis.reading import BOX, PAIRS_FOLDER, PLANE_RELATIONS_FOLDER
from depthgauge.errors import BadData, CannotWrite, DoesNotFit, Misuse, Unavailable, WrongShape
from depthgauge.io.pickles import safe_pickle
from depthgauge.types import Camera, Map, Mask, Sample, Truth

_ID = re.compile(r"[^/\\,\"\s:]+")
_MOST_LABEL = 65535
_BY_NAME = (PAIRS_FOLDER, PLANE_RELATIONS_FOLDER)
"""Folders whose files are found by the name of the image."""


def write_samples(root: Path, samples: Iterable[Sample], split: str, overwrite: bool) -> None:
    """Writes all files, the index last, so that an unfinished dataset has no index."""
    if split not in SPLITS:
        raise unknown("oasis split", split, SPLITS)
    index = root / index_name(split)
    before = _before(root, index, overwrite)
    folder = root / FOLDERS[split]
    rows: dict[str, dict[str, str]] = {}
    pairs: dict[str, str] = {}
    after: set[Path] = set()
    for sample in samples:
        _require_id(sample.id, rows)
        writer = _write_sample(root, folder, sample.fresh(), pairs)
        rows[sample.id] = writer.row
        after |= writer.written
    replaced = {*rows, *(row.id for row in before)}
    _write_pairs(root / relations.RELATIVE_NORMALS, replaced, pairs)
    lines = [",".join(row.get(name, "") for name in COLUMNS) for row in rows.values()]
    io.write_text(index, "\n".join([",".join(COLUMNS), *lines]) + "\n")
    for path in {path for row in before for path in _files(row)} - after:
        path.unlink(missing_ok=True)


def _before(root: Path, index: Path, overwrite: bool) -> list[Row]:
    """The images of the existing index, which is removed first."""
    if not index.exists():
        root.mkdir(parents=True, exist_ok=True)
        return []
    if not overwrite:
        raise CannotWrite(
            f"{index}: already exists; use --overwrite (overwrite=True) to replace it."
        )
    try:
        found = list(read_rows(root, index))
    except BadData:
        found = []
    index.unlink()
    return found


def _files(row: Row) -> Iterator[Path]:
    """All files of an image, including those that are found by its name."""
    yield row.image
    yield from row.files.values()
    for place in _BY_NAME:
        yield row.image.parent.parent / place / f"{row.id}.csv"


def _require_id(sample_id: str, known: Mapping[str, Any]) -> None:
    if sample_id in known:
        raise BadData(f"two samples are called '{sample_id}'; rename one.")
    if _ID.fullmatch(sample_id) is None or sample_id.startswith(".") or "image" in sample_id:
        raise Misuse(
            f"sample id '{sample_id}' does not fit: an id is a file name without spaces, commas, "
            "slashes or colons, and without 'image', which the public code replaces in paths."
        )


def _write_sample(root: Path, folder: Path, sample: Sample, pairs: dict[str, str]) -> _Writer:
    """Writes the files of a sample."""
    if "left_image" not in sample.inputs:
        raise Unavailable(
            f"sample '{sample.id}' has no left_image, only {', '.join(sample.inputs)}."
        )
    writer = _Writer(root, folder, sample.id, sample.inputs["left_image"].shape[:2])
    writer.put("Image", "image", ".png", io.write_image, sample.inputs["left_image"])
    truth = sample.truth or Truth({})
    if "camera" in truth:
        writer.row["FocalLength"] = repr(_focal(sample.id, truth["camera"], writer.shape))
    _write_maps(writer, truth)
    _write_lines(writer, truth)
    _write_labels(writer, truth)
    if "relative_normals" in truth:
        found = _pairs(writer, "relative_normals", truth)
        pairs[sample.id] = relations.normal_pairs_text(writer.row["Image"], found)
    writer.drop_old()
    return writer


class _Writer:
    """Writes the files of one sample into their folders and records where they are."""

    def __init__(self, root: Path, folder: Path, sample: str, shape: tuple[int, int]) -> None:
        self.root, self.folder, self.sample, self.shape = root, folder, sample, shape
        self.row: dict[str, str] = {}
        """Its line in the index."""
        self.written: set[Path] = set()

    def put(
        self, column: str, place: str, suffix: str, write: Callable[[Path, Any], None], thing: Any
    ) -> None:
        """Writes a file; `column` is empty if the index does not list it."""
        path = self.folder / place / f"{self.sample}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, thing)
        self.written.add(path)
        if column:
            self.row[column] = path.relative_to(self.root).as_posix()

    def drop_old(self) -> None:
        """Removes files of an earlier image that would be found by the name of this one."""
        for place in _BY_NAME:
            path = self.folder / place / f"{self.sample}.csv"
            if path not in self.written:
                path.unlink(missing_ok=True)

    def sized(
        self, item: str, values: NDArray[Any], channels: tuple[int, ...] = ()
    ) -> NDArray[Any]:
        """An item, checked to have the size of the picture."""
        if values.shape != (*self.shape, *channels):
            raise WrongShape(
                f"sample '{self.sample}': {item} is {values.shape} but the picture is "
                f"{self.shape[1]}x{self.shape[0]}."
            )
        return values


def _write_maps(writer: _Writer, truth: Truth) -> None:
    if "depth" in truth:
        depth = writer.sized("depth", truth["depth"])
        known = np.isfinite(depth)
        if (depth[known] <= 0).any():
            raise DoesNotFit(f"sample '{writer.sample}': a depth is not above 0; make it NaN.")
        if known.any():
            box = _boxed("depth", depth, known)
            writer.put("Depth", "depth", ".pkl", safe_pickle.dump, box)
    if "normals" in truth:
        normals = writer.sized("normals", truth["normals"], (3,)).astype(np.float32)
        known = np.isfinite(normals).all(axis=2) & (normals != 0).any(axis=2)
        normals[~known] = 0
        normals[..., 2] *= -1
        if known.any():
            box = _boxed("normal", normals, known)
            writer.put("Normal", "normal", ".pkl", safe_pickle.dump, box)
    if "relative_depth" in truth:
        pairs = _pairs(writer, "relative_depth", truth)
        text = relations.depth_pairs_text(pairs, writer.shape[1], writer.shape[0])
        writer.put("RelativeDepth", PAIRS_FOLDER, ".csv", io.write_text, text)


def _boxed(key: str, values: Map, known: Mask) -> dict[str, Any]:
    """The smallest box around the known values, as in the files."""
    rows, columns = (np.flatnonzero(known.any(axis=axis)) for axis in (1, 0))
    edges = [int(edge) for edge in (rows[0], rows[-1], columns[0], columns[-1])]
    top, bottom, left, right = edges
    box = np.ascontiguousarray(values[top : bottom + 1, left : right + 1], np.float32)
    return {**dict(zip(BOX, edges, strict=True)), key: box}


def _pairs(writer: _Writer, item: str, truth: Truth) -> relations.Pairs:
    pairs = np.asarray(truth[item])
    allowed = (-1, 1) if item == "relative_depth" else tuple(relations.RELATION_NAMES)
    height, width = writer.shape
    fits = pairs.ndim == 2 and pairs.shape[1] == 5 and pairs.dtype.kind in "iu"
    if not fits or not (
        (pairs[:, :4] >= 0).all()
        and (pairs[:, [0, 2]] < width).all()
        and (pairs[:, [1, 3]] < height).all()
        and np.isin(pairs[:, 4], allowed).all()
    ):
        raise DoesNotFit(
            f"sample '{writer.sample}': {item} must be integers (n, 5), pixels of the picture "
            f"and a relation of {allowed}, found an array {pairs.shape} of {pairs.dtype}."
        )
    return pairs.astype(np.int32)


def _write_lines(writer: _Writer, truth: Truth) -> None:
    """Masks and lines, black and white in three channels, of which the public code uses one."""
    region = _region(writer, truth)
    if region is not None:
        writer.put("Mask", "mask", ".png", _write_mask, region)
    if "boundaries" in truth:
        lines = writer.sized("boundaries", truth["boundaries"], (2,))
        for channel, column, place in ((0, "Occlusion", "occlusion"), (1, "Fold", "fold")):
            writer.put(column, place, ".png", _write_mask, lines[..., channel] == 1)
    for item, column in (("sharp_occlusion", "SharpOcc"), ("smooth_occlusion", "SmoothOcc")):
        if f"{item}_mask" in truth:
            mask = writer.sized(item, truth[f"{item}_mask"])
            writer.put(column, item, ".png", _write_mask, mask)


def _region(writer: _Writer, truth: Truth) -> Mask | None:
    """The region of interest, which is also where boundaries and planes are not NaN."""
    given = dict(_regions(writer, truth))
    if not given:
        return None
    name, first = next(iter(given.items()))
    for other, mask in given.items():
        if not np.array_equal(mask, first):
            raise DoesNotFit(
                f"sample '{writer.sample}': {other} is not NaN exactly where {name} has no region "
                "of interest; this layout has one region for both."
            )
    return None if "roi_mask" not in given and first.all() else first


def _regions(writer: _Writer, truth: Truth) -> Iterator[tuple[str, Mask]]:
    if "roi_mask" in truth:
        yield "roi_mask", writer.sized("roi_mask", np.asarray(truth["roi_mask"], bool))
    if "boundaries" in truth:
        lines = writer.sized("boundaries", truth["boundaries"], (2,))
        yield "boundaries", ~np.isnan(lines).any(axis=2)
    if "planes" in truth:
        yield "planes", ~np.isnan(writer.sized("planes", truth["planes"]))


def _write_labels(writer: _Writer, truth: Truth) -> None:
    for item, column in (
        ("continuous_labels", "ContinuousInstance"),
        ("smooth_labels", "SmoothInstance"),
        ("planes", "PlanarInstance"),
    ):
        if item in truth:
            found = writer.sized(item, truth[item])
            labels = np.nan_to_num(found, nan=0.0) if found.dtype.kind == "f" else found
            place = f"segmentation/{column.removesuffix('Instance').lower()}_instance"
            writer.put(column, place, ".png", _write_label_map, labels)
    if "plane_relations" in truth:
        text = relations.plane_relations_text(np.asarray(truth["plane_relations"], np.int32))
        writer.put("", PLANE_RELATIONS_FOLDER, ".csv", io.write_text, text)


def _write_mask(path: Path, mask: NDArray[Any]) -> None:
    rgb = np.zeros((*mask.shape, 3), np.uint8)
    rgb[np.asarray(mask, bool)] = 255
    io.write_image(path, rgb)


def _write_label_map(path: Path, labels: NDArray[Any]) -> None:
    """8 bits if they suffice, which is all that the public code reads."""
    least, most = labels.min(), labels.max()
    if least < 0 or most > _MOST_LABEL or (labels != np.round(labels)).any():
        raise DoesNotFit(
            f"{path}: labels are {least}..{most}; they must be integers from 0 to {_MOST_LABEL}."
        )
    if most < 256:
        io.write_image(path, labels.astype(np.uint8))
    else:
        io.write_image(path, labels.astype(np.uint16))


def _focal(sample: str, camera: Camera, shape: tuple[int, int]) -> float:
    fx, fy = camera.focal_px
    middle = (shape[1] / 2, shape[0] / 2)
    away = max(abs(c - m) for c, m in zip(camera.centre_px, middle, strict=True))
    if fx != fy or any(camera.distortion) or away > 1:
        raise DoesNotFit(
            f"sample '{sample}': this layout has one focal length, no distortion and the centre in "
            f"the middle of the picture, found {camera.focal_px} px and {camera.centre_px}."
        )
    return float(fx)


def _write_pairs(path: Path, replaced: Iterable[str], pairs: Mapping[str, str]) -> None:
    """Writes the pairs of the new images and keeps those of other images."""
    kept = relations.other_lines(path, replaced)
    text = kept + "".join(pairs.values())
    if text:
        io.write_text(path, text)
    elif path.exists():
        path.unlink()
