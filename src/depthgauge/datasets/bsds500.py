"""BSDS500: photographs in which several people have marked the boundaries of segments."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, expected, reader
from depthgauge.errors import BadData, BadFile
from depthgauge.io.mat import read_mat
from depthgauge.types import Estimate, Inputs, Map, Sample, Truth

SPLITS = ("train", "val", "test")

SPEC = DatasetSpec(
    id="bsds500",
    title="Berkeley Segmentation Data Set 500, boundaries",
    quantities=("boundaries",),
    splits=("all", *SPLITS),
    licence="free for non-commercial research and education",
    cite="Arbelaez, Maire, Fowlkes & Malik, Contour detection and hierarchical image segmentation, "
    "PAMI 2011",
    homepage="https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/resources.html",
    sample_layout="groundTruth/<id>.mat or groundTruth/{train,val,test}/<id>.mat (or both below "
    "data/), and where methods are run images/<id>.jpg or images/{train,val,test}/<id>.jpg",
    estimate_layouts=("{sample}.png",),
)

_TRUTH, _IMAGES = "groundTruth", "images"
_IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png")


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """One sample per image, named by its number; without truth if there is only the picture.

    `all` includes the files directly in the folders and those in the folders of the splits.
    """
    place = root / "data" if (root / "data" / _TRUTH).is_dir() else root
    truths = _files(place / _TRUTH, split, (".mat",))
    pictures = _files(place / _IMAGES, split, _IMAGE_SUFFIXES)
    for sample_id in sorted({*truths, *pictures}):
        inputs: dict[str, Any] = {}
        if sample_id in pictures:
            inputs["left_image"] = partial(io.read_image, pictures[sample_id])
        truth = None
        if sample_id in truths:
            path = truths[sample_id]
            truth = Truth({"boundaries": partial(read_boundaries, path), "boundaries_path": path})
        yield Sample(sample_id, Inputs(inputs), truth)


def _files(folder: Path, split: str, suffixes: tuple[str, ...]) -> dict[str, Path]:
    """Files by their stems; a duplicate stem is a fault."""
    places = [folder, *(folder / name for name in SPLITS)] if split == "all" else [folder / split]
    found: dict[str, Path] = {}
    for place in places:
        for path in sorted(place.iterdir()) if place.is_dir() else ():
            ours = path.suffix.lower() in suffixes and not path.name.startswith(".")
            if not ours or not path.is_file():
                continue
            if path.stem in found:
                raise BadData(
                    f"{folder}: '{path.stem}' occurs twice, {found[path.stem]} and {path}; "
                    f"keep one. {expected(SPEC)}"
                )
            found[path.stem] = path
    return found


def read_boundaries(path: Path) -> Map:
    """The boundaries marked by people: (H, W, people), 1 on a boundary and 0 elsewhere.

    Raises:
        BadFile: The file is incomplete, or the maps of two people differ in size.
    """
    people = read_mat(path).get("groundTruth")
    if isinstance(people, dict):
        people = [people]
    if not isinstance(people, list) or not people:
        raise BadFile(
            f"{path}: expected the cell array 'groundTruth' with one struct for each annotator; "
            "is this a file of BSDS500?"
        )
    marked = [_marked(path, k, person) for k, person in enumerate(people, 1)]
    sizes = {found.shape for found in marked}
    if len(sizes) > 1:
        raise BadFile(f"{path}: annotators have boundaries of different sizes: {sorted(sizes)}")
    return np.stack(marked, axis=2)


def _marked(path: Path, number: int, person: Any) -> Map:
    found = person.get("Boundaries") if isinstance(person, dict) else None
    if not isinstance(found, np.ndarray) or found.ndim != 2 or not found.size:
        raise BadFile(
            f"{path}: annotator {number} has no 'Boundaries', an array (H, W) of zeros and ones"
        )
    return np.asarray(found != 0, np.float32)


def read_estimate(path: Path, quantity: str) -> Estimate | None:
    """Probabilities from 0 to 1; an 8-bit PNG holds code / 255, a 16-bit PNG code / 65535.

    Code 0 of a PNG is a probability of 0, not a missing value.

    Raises:
        BadFile: The file contains something else.
    """
    if quantity not in SPEC.quantities:
        return None
    is_png = path.suffix.lower() == ".png"
    values = _png_shares(path) if is_png else io.read_map(path, quantity=quantity)
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    if low < 0 or high > 1:
        raise BadFile(
            f"{path}: expected probabilities from 0 to 1, found {low:g} to {high:g}; "
            "divide codes by the largest one"
        )
    return Estimate(values, quantity)


def _png_shares(path: Path) -> Map:
    codes = io.read_image(path)
    if codes.ndim == 3:
        if not (codes == codes[..., :1]).all():
            raise BadFile(
                f"{path}: expected a grey PNG of probabilities, found a colour picture; "
                "a map drawn in colours cannot be scored"
            )
        codes = codes[..., 0]
    largest = np.float32(255 if codes.dtype == np.uint8 else 1)
    return np.asarray(codes, np.float32) / largest
