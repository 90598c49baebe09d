"""What layouts with one depth map per picture have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, expected
from depthgauge.errors import BadData, Misuse, Unavailable
from depthgauge.types import Inputs, Map, Sample, Truth

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".JPG", ".ppm")


def read_codes(path: Path, per_metre: float) -> Map:
    """Depth in metres from a 16-bit picture whose code 0 means missing."""
    return io.read_map(path, quantity="depth", scale=per_metre)


def write_codes(path: Path, depth: Map, per_metre: float) -> None:
    """A 16-bit picture of depth; folders are made, missing pixels become 0."""
    path.parent.mkdir(parents=True, exist_ok=True)
    io.write_map(path, depth, quantity="depth", scale=per_metre)


def write_picture(path: Path, inputs: Mapping[str, Any]) -> None:
    """The picture of a sample, if it has one."""
    if "left_image" in inputs:
        path.parent.mkdir(parents=True, exist_ok=True)
        io.write_image(path, inputs["left_image"])


def picture_of(places: Iterable[Path]) -> Path | None:
    """The first of these files that exists; each is tried with every suffix of pictures."""
    for place in places:
        for suffix in IMAGE_SUFFIXES:
            path = place.with_name(f"{place.name}{suffix}")
            if path.is_file():
                return path
    return None


def frame(
    sample_id: str,
    picture: Path | None,
    depth: Path | None,
    read_depth: Callable[[Path], Map],
    scene: str = "",
) -> Sample:
    """One picture with its depth; either may be absent."""
    inputs = {} if picture is None else {"left_image": partial(io.read_image, picture)}
    truth = None
    if depth is not None:
        truth = Truth({"depth": partial(read_depth, depth), "depth_path": depth})
    return Sample(sample_id, Inputs(inputs), truth, scene=scene)


def in_order(spec: DatasetSpec, root: Path, found: Iterable[Sample]) -> Iterator[Sample]:
    """The samples in the order of their ids.

    Raises:
        BadData: Two files are called the same.
    """
    known: dict[str, Sample] = {}
    for sample in found:
        if sample.id in known:
            raise BadData(
                f"{root}: there are two samples '{sample.id}'; keep one of them. {expected(spec)}"
            )
        known[sample.id] = sample
    for name in sorted(known):
        yield known[name]


def depth_of(sample: Sample) -> Map:
    """The true depth of a sample that is about to be written.

    Raises:
        Unavailable: It has none.
    """
    if sample.truth is None or "depth" not in sample.truth:
        raise Unavailable(f"sample '{sample.id}' has no depth, which this layout needs.")
    return np.asarray(sample.truth["depth"], np.float32)


def split_id(sample_id: str, by: str, layout: str) -> tuple[str, str]:
    """The parts of an id before and after its last separator.

    Raises:
        Misuse: It has no separator.
    """
    head, found, tail = sample_id.rpartition(by)
    if not found or not head or not tail:
        raise Misuse(f"sample id '{sample_id}' must be {layout}.")
    return head, tail
