"""OASIS: single pictures with depth, normals, boundaries and planes by hand (Princeton)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._oasis.estimates import read_depth_dict, read_estimate, write_estimate
from depthgauge.datasets._oasis.index import SPLITS, read_index
from depthgauge.datasets._oasis.reading import picture_size, read_box, sample_of
from depthgauge.datasets._oasis.relations import RELATIVE_NORMALS, names_with_relations
from depthgauge.datasets._oasis.writing import write_samples
from depthgauge.types import Sample

__all__ = [
    "SPEC",
    "picture_size",
    "read_box",
    "read_depth_dict",
    "read_estimate",
    "samples",
    "write",
    "write_estimate",
]

SPEC = DatasetSpec(
    id="oasis",
    title="OASIS, single-image 3D from human annotation",
    quantities=("depth", "normals", "boundaries", "planes"),
    splits=(*SPLITS, "all"),
    licence="as its LICENSE file says; images have licences of their own",
    cite="Chen et al., OASIS: a large-scale dataset for single image 3D in the wild, CVPR 2020",
    homepage="https://pvl.cs.princeton.edu/OASIS",
    sample_layout="OASIS_val.csv (or _train, _test) with the columns Image, FocalLength, Mask, "
    "Normal, Depth, RelativeDepth, Fold, Occlusion ..., the files that it names below "
    "OASIS_trainval/, and relative_normal.csv",
    quantity_layouts={
        "depth": ("depth/{sample}.npy",),
        "normals": ("normals/{sample}.npy",),
        "boundaries": ("occfold/{sample}.npz",),
        "planes": ("planar/{sample}.txt", "{sample}.txt"),
    },
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """One sample for each line of the index, called as its image is; `all` has all indices.

    Truth has what the line names: depth, normals (our axes), boundaries, planes, masks, labels,
    the camera, and pairs of pixels. Where only pairs are known, the map has no value.
    """
    pairs = root / RELATIVE_NORMALS
    related = names_with_relations(pairs)
    for row in read_index(SPEC, root, split):
        yield sample_of(row, pairs if row.id in related else "")


def write(
    root: Path, samples: Iterable[Sample], *, split: str = "val", overwrite: bool = False
) -> None:
    """Writes samples as the dataset has them: pickles, PNGs, and the index last.

    Pairs go to `relative_normal.csv`, where those of other images stay. A camera's centre is not
    stored: readers take the middle of the picture.

    Args:
        root: The dataset's folder.
        samples: With a `left_image`, and any of the truth's items that this layout knows; others
            are left out. Each is written and let go before the next.
        split: `train`, `val` or `test`.
        overwrite: Replace the split that is there.

    Raises:
        CannotWrite: The split is there already.
        DoesNotFit: The layout has no place for a value, such as a depth of 0.
        WrongShape: Maps and picture of a sample are not of one size.
    """
    write_samples(Path(root), samples, split, overwrite)
