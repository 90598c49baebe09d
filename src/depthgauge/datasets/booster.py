"""Booster: stereo pairs and single pictures of glass, mirrors and metal (Unibo, CVLAB)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from depthgauge.datasets._booster.layout import BALANCED, TRAIN, splits_of
from depthgauge.datasets._booster.reading import read_samples
from depthgauge.datasets._booster.submission import write_submission
from depthgauge.datasets._booster.writing import write_samples
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.types import Sample

__all__ = ["SPEC", "samples", "write", "write_submission"]

SPEC = DatasetSpec(
    id="booster",
    title="Booster, balanced pairs and single pictures",
    quantities=("disparity", "depth"),
    splits=(*splits_of(BALANCED), "all"),
    licence="CC BY-NC-SA 4.0",
    cite="Zama Ramirez et al., Booster: a benchmark for depth from images of specular and "
    "transparent surfaces, PAMI 2024",
    homepage="https://cvlab-unibo.github.io/booster-web/",
    sample_layout="train/balanced/<Scene>/, test/balanced/<Scene>/, test/mono/<Scene>/ and "
    "unlabelled/balanced/<Scene>/, or the scenes directly, with camera_00/im0.png ..., "
    "camera_02/im0.png ..., calib_00-02.xml, disp_00.npy, disp_02.npy, mask_00.png, mask_02.png, "
    "mask_cat.png and mask_surface.png",
    estimate_layouts=(
        "balanced/{sample}.png",
        "balanced/{sample}.npy",
        "{folder}/camera_00/{file}.npy",
        "{folder}/camera_00/{file}.png",
    ),
    png_scales={"disparity": 64},
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """One sample for each illumination of a scene, `Bathroom/im0`; they share the scene's truth.

    `root` is the dataset's folder, `train` in it, or any folder of scenes. Samples of `test-mono`
    have the left picture for input and nothing else, those of `unlabelled` no truth.
    """
    yield from read_samples(SPEC, root, split, BALANCED)


def write(
    root: Path, samples: Iterable[Sample], *, split: str = TRAIN, overwrite: bool = False
) -> None:
    """Writes scenes as the dataset has them, `<root>/train/balanced/<Scene>/`.

    Args:
        root: The dataset's folder.
        samples: With ids such as `Bathroom/im0`; those of a scene have one truth.
        split: Decides the folder, and what of a sample is written: the left picture alone and the
            truth for `test-mono`, no truth for `unlabelled`.
        overwrite: Replace scenes that are there.

    Raises:
        CannotWrite: A scene is there already.
        DoesNotFit: The layout has no place for a value, such as a disparity of 0.
        WrongShape: Maps, masks and pictures of a scene are not of one size.
    """
    write_samples(Path(root), samples, split, BALANCED, overwrite)
