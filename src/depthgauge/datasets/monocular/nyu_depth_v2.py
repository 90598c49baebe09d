"""NYU Depth v2, the labelled test pictures as folders of PNG files."""

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
    split_id,
    write_codes,
    write_picture,
)
from depthgauge.types import Sample

_PER_METRE = 1000
_DEPTH_NAMES = ("sync_depth_", "depth_")
"""As the tools of BTS and of Marigold extract them; `filled_*` is for training only."""

SPEC = DatasetSpec(
    id="nyu-depth-v2",
    title="NYU Depth v2, labelled pictures",
    quantities=("depth",),
    splits=("test", "train", "all"),
    licence="free for research",
    cite="Silberman, Hoiem, Kohli & Fergus, Indoor segmentation and support inference from RGBD "
    "images, ECCV 2012",
    homepage="https://cs.nyu.edu/~fergus/datasets/nyu_depth_v2.html",
    sample_layout="<room>/sync_depth_<number>.png or <room>/depth_<number>.png (millimetres, 0 is "
    "missing) with <room>/rgb_<number>.jpg or .png, directly or in test/ and train/",
    estimate_layouts=(
        "{head}_rgb_{tail}.png",
        "{head}/rgb_{tail}.png",
        "{head}/pred_{tail}.npy",
        "test/{head}/pred_{tail}.npy",
    ),
    png_scales={"depth": _PER_METRE},
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """One sample `<room>_<number>` for each depth map or picture.

    A folder of rooms counts as the requested split, unless it has folders of splits. The official
    test list has 654 pictures; raw depth is scored, as the public evaluators do.
    """
    yield from in_order(SPEC, root, _found(root, split))


def _found(root: Path, split: str) -> Iterator[Sample]:
    for place in _places(root, split):
        for room in sorted(p for p in place.iterdir() if p.is_dir()):
            yield from _of_room(room)


def _places(root: Path, split: str) -> list[Path]:
    parted = [root / name for name in ("test", "train") if (root / name).is_dir()]
    return [place for place in parted if split in ("all", place.name)] if parted else [root]


def _of_room(room: Path) -> Iterator[Sample]:
    numbers: dict[str, Path | None] = {}
    for path in sorted(room.iterdir()):
        for start in _DEPTH_NAMES:
            if path.name.startswith(start) and path.suffix == ".png":
                numbers[path.stem.removeprefix(start)] = path
        if path.name.startswith("rgb_"):
            numbers.setdefault(path.stem.removeprefix("rgb_"), None)
    for number, depth in numbers.items():
        picture = picture_of([room / f"rgb_{number}"])
        read = partial(read_codes, per_metre=_PER_METRE)
        yield frame(f"{room.name}_{number}", picture, depth, read, room.name)


def write(root: Path, samples: Iterable[Sample]) -> None:
    """Writes `<room>/sync_depth_<number>.png` and `<room>/rgb_<number>.png`."""
    for sample in samples:
        room, number = split_id(sample.id, "_", "<room>_<number>")
        folder = inside(Path(root), room)
        write_codes(folder / f"sync_depth_{number}.png", depth_of(sample), _PER_METRE)
        write_picture(folder / f"rgb_{number}.png", sample.inputs)
