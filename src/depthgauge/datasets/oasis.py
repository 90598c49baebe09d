"""OASIS: single pictures with hand-annotated depth, normals, boundaries, planes (Princeton)."""

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
    licence="as its LICENSE file says; images have their own licences",
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
    """One sample per line of the index, named after its image; `all` reads all indices.

    The truth contains what the line lists: depth, normals (our axes), boundaries, planes, masks,
    labels, the camera, and pairs of pixels. If only pairs are known, the map has no values.
    """
    pairs = root / RELATIVE_NORMALS
    related = names_with_relations(pairs)
    for row in read_index(SPEC, root, split):
        yield sample_of(row, pairs if row.id in related else "")


def write(
    root: Path, samples: Iterable[Sample], *, split: str = "val", overwrite: bool = False
) -> None:
    """Writes samples in the layout of the dataset: pickles, PNGs, and the index last.

    Pairs are added to `relative_normal.csv`; those of other images are kept. A camera's centre is
    not stored: readers assume the middle of the picture.

    Args:
        root: The dataset's folder.
        samples: With a `left_image`, and any items of the truth that this layout supports; others
            are left out. Each sample is written and released before the next.
        split: `train`, `val` or `test`.
        overwrite: Replace an existing split.

    Raises:
        CannotWrite: The split already exists.
        DoesNotFit: The layout cannot store a value, such as a depth of 0.
        WrongShape: Maps and picture of a sample differ in size.
    """
    write_samples(Path(root), samples, split, overwrite)
