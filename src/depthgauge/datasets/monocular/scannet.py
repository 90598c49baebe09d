"""ScanNet-style folders: depth in millimetres beside colour pictures, scene by scene."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._paths import inside
from depthgauge.datasets.monocular._frames import (
    depth_of,
    frame,
    in_order,
    picture_of,
    read_codes,
    write_codes,
    write_picture,
)
from depthgauge.types import Sample

_PER_METRE = 1000

SPEC = DatasetSpec(
    id="scannet",
    title="ScanNet-style folders of depth",
    quantities=("depth",),
    splits=("all",),
    licence="ScanNet: terms of use, research only",
    cite="Dai et al., ScanNet: richly-annotated 3D reconstructions of indoor scenes, CVPR 2017",
    homepage="http://www.scan-net.org/",
    sample_layout="<scene>/depth/<frame>.png (millimetres, 0 is missing) with <scene>/color/"
    "<frame>.jpg; of a single scene also depth/<frame>.png alone, or <frame>.png",
    estimate_layouts=("{folder}/color/pred_{file}.npy", "{folder}/pred_{file}.npy"),
    png_scales={"depth": _PER_METRE},
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """Samples `<scene>/<frame>`; those of a folder without scenes are `<frame>`."""
    yield from in_order(SPEC, root, _found(root))


def _found(root: Path) -> Iterator[Sample]:
    scenes = sorted(p.parent for p in root.glob("*/depth") if p.is_dir())
    for scene in scenes:
        yield from _frames(scene / "depth", scene / "color", f"{scene.name}/")
    if not scenes:
        depth = root / "depth" if (root / "depth").is_dir() else root
        yield from _frames(depth, root / "color", "")


def _frames(folder: Path, pictures: Path, start: str) -> Iterator[Sample]:
    read = partial(read_codes, per_metre=_PER_METRE)
    for depth in sorted(folder.glob("*.png")):
        picture = picture_of([pictures / depth.stem])
        yield frame(f"{start}{depth.stem}", picture, depth, read, start.rstrip("/"))


def write(root: Path, samples: Iterable[Sample]) -> None:
    """Writes `<scene>/depth/<frame>.png` and `<scene>/color/<frame>.png`."""
    for sample in samples:
        scene, _, number = sample.id.rpartition("/")
        folder = inside(Path(root), scene) if scene else Path(root)
        write_codes(folder / "depth" / f"{number}.png", depth_of(sample), _PER_METRE)
        write_picture(folder / "color" / f"{number}.png", sample.inputs)
