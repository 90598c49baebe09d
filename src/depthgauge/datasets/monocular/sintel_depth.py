"""MPI Sintel: exact depth of the animated film, frame by frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._paths import inside
from depthgauge.datasets.monocular._frames import (
    depth_of,
    frame,
    in_order,
    picture_of,
    split_id,
    write_picture,
)
from depthgauge.types import Sample

PASSES = ("final", "clean")

SPEC = DatasetSpec(
    id="sintel-depth",
    title="MPI Sintel, depth",
    quantities=("depth",),
    splits=(*PASSES, "all"),
    licence="free for research",
    cite="Butler, Wulff, Stanley & Black, A naturalistic open source movie for optical flow "
    "evaluation, ECCV 2012",
    homepage="http://sintel.is.tue.mpg.de/depth",
    sample_layout="depth/<scene>/frame_<number>.dpt with final/ or clean/<scene>/frame_<number>"
    ".png, directly or in training/",
    estimate_layouts=("{folder}/pred_{file}.npy",),
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """Samples `<scene>/frame_<number>`, 1064 in the training set.

    A split is a rendering pass; `all` means the final one, because both have the same depth.
    """
    place = root / "training" if (root / "training" / "depth").is_dir() else root
    yield from in_order(SPEC, root, _found(place, PASSES[0] if split == "all" else split))


def _found(place: Path, split: str) -> Iterator[Sample]:
    read = partial(io.read_map, quantity="depth")
    for depth in sorted((place / "depth").glob("*/*.dpt")):
        scene = depth.parent.name
        picture = picture_of([place / split / scene / depth.stem])
        yield frame(f"{scene}/{depth.stem}", picture, depth, read, scene)


def write(root: Path, samples: Iterable[Sample], *, split: str = "final") -> None:
    """Writes `depth/<scene>/<frame>.dpt` and the pictures of one pass."""
    for sample in samples:
        scene, name = split_id(sample.id, "/", "<scene>/<frame>")
        path = inside(Path(root), f"depth/{scene}/{name}.dpt")
        path.parent.mkdir(parents=True, exist_ok=True)
        io.write_map(path, depth_of(sample), quantity="depth")
        write_picture(inside(Path(root), f"{split}/{scene}/{name}.png"), sample.inputs)
