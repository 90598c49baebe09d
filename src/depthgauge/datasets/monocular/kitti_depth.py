"""KITTI depth from one picture: the annotated depth maps, and Eigen's choice of frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from depthgauge.datasets._dataset import DatasetSpec, expected, reader
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
from depthgauge.errors import BadData
from depthgauge.io.text import read_text
from depthgauge.types import Sample

_PER_METRE = 256
_BELOW = "proj_depth/groundtruth/image_02"
_LISTS = ("eigen_test_files_with_gt.txt", "eigen_test_files.txt")
_DAYS = ("2011_09_26", "2011_09_28", "2011_09_29", "2011_09_30", "2011_10_03")
_DAY = len(_DAYS[0])

SPEC = DatasetSpec(
    id="kitti-depth",
    title="KITTI, annotated depth and Eigen's frames",
    quantities=("depth",),
    splits=("eigen", "all"),
    licence="CC BY-NC-SA 3.0",
    cite="Uhrig et al., Sparsity invariant CNNs, 3DV 2017; the frames: Eigen, Puhrsch & Fergus, "
    "NeurIPS 2014",
    homepage="https://www.cvlibs.net/datasets/kitti/eval_depth.php?benchmark=depth_prediction",
    sample_layout=f"<drive>/{_BELOW}/<frame>.png (metres * 256, 0 is missing), directly or in "
    "train/ and val/, pictures as <day>/<drive>/image_02/data/<frame>.png, and perhaps "
    f"{_LISTS[0]}",
    estimate_layouts=(
        "{head}/image_02/data/pred_{tail}.npy",
        *(f"{day}/{{head}}/image_02/data/pred_{{tail}}.npy" for day in _DAYS),
    ),
    png_scales={"depth": _PER_METRE},
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """One sample `<drive>_<frame>` for each depth map of the left colour camera.

    `eigen` means the frames of a list of that name in the folder (697 lines, 652 of them with
    annotated depth; the list comes with BTS and other programs), or all frames if there is no list.
    """
    listed = _listed(root) if split == "eigen" else None
    yield from in_order(SPEC, root, _found(root, listed))


def _found(root: Path, listed: set[str] | None) -> Iterator[Sample]:
    known = set()
    for place in (root, root / "train", root / "val"):
        for folder in sorted(place.glob(f"*/{_BELOW}")):
            drive = folder.parents[2].name
            for depth in sorted(folder.glob("*.png")):
                sample_id = f"{drive}_{depth.stem}"
                known.add(sample_id)
                if listed is None or sample_id in listed:
                    yield _sample(root, sample_id, drive, depth)
    if known and listed is not None and (lacking := sorted(listed - known)):
        raise BadData(
            f"{root}: {len(lacking)} of the {len(listed)} frames of the list have no depth map "
            f"here, {lacking[0]} for one; complete the data or remove the list. {expected(SPEC)}"
        )


def _sample(root: Path, sample_id: str, drive: str, depth: Path) -> Sample:
    below = f"{drive}/image_02/data/{depth.stem}"
    picture = picture_of([root / drive[:_DAY] / below, root / below])
    return frame(sample_id, picture, depth, partial(read_codes, per_metre=_PER_METRE), drive)


def _listed(root: Path) -> set[str] | None:
    """The frames with depth of the first list in the folder; None without a list."""
    path = next((root / name for name in _LISTS if (root / name).is_file()), None)
    if path is None:
        return None
    found = set()
    for line in read_text(path).splitlines():
        words = line.split()
        if words and "None" not in words[1:2]:
            parts = Path(words[0]).parts
            drive = next((part for part in parts if part.endswith("_sync")), "")
            found.add(f"{drive}_{Path(words[0]).stem}")
    return found


def write(root: Path, samples: Iterable[Sample]) -> None:
    """Writes the depth maps, and pictures below the day's folder."""
    for sample in samples:
        drive, number = split_id(sample.id, "_", "<drive>_<frame>")
        folder = inside(Path(root), drive)
        write_codes(folder / _BELOW / f"{number}.png", depth_of(sample), _PER_METRE)
        below = f"{drive[:_DAY]}/{drive}/image_02/data/{number}.png"
        write_picture(inside(Path(root), below), sample.inputs)
