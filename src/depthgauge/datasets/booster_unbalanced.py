"""Booster, unbalanced: the right picture comes from another, smaller camera."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from depthgauge.datasets import booster
from depthgauge.datasets._booster.layout import TRAIN, UNBALANCED, splits_of
from depthgauge.datasets._booster.reading import read_samples
from depthgauge.datasets._booster.writing import write_samples
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.types import Sample

__all__ = ["SPEC", "samples", "write"]

SPEC = DatasetSpec(
    id="booster-unbalanced",
    title="Booster, unbalanced pairs",
    quantities=booster.SPEC.quantities,
    splits=(*splits_of(UNBALANCED), "all"),
    licence=booster.SPEC.licence,
    cite=booster.SPEC.cite,
    homepage=booster.SPEC.homepage,
    sample_layout="train/unbalanced/<Scene>/, test/unbalanced/<Scene>/ and "
    "unlabelled/unbalanced/<Scene>/, or the scenes directly, with the files of 'booster'; the "
    "pictures of camera_02 are smaller than those of camera_00, the truth is of the larger size",
    estimate_layouts=("unbalanced/{sample}.png", "unbalanced/{sample}.npy"),
    png_scales=booster.SPEC.png_scales,
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """One sample per illumination of a scene, such as `Bathroom/im0`; they share the scene's truth.

    The truth has the size of the left picture; the right picture is smaller. `root` is the
    dataset's folder, `train` in it, or any folder of scenes.
    """
    yield from read_samples(SPEC, root, split, UNBALANCED)


def write(
    root: Path, samples: Iterable[Sample], *, split: str = TRAIN, overwrite: bool = False
) -> None:
    """Writes scenes as `<root>/train/unbalanced/<Scene>/`; see `booster.write`."""
    write_samples(Path(root), samples, split, UNBALANCED, overwrite)
