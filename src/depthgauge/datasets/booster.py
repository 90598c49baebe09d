"""Booster: stereo pairs and single pictures of glass, mirrors and metal (Unibo, CVLAB)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from depthgauge import io
from depthgauge._registry import unknown
from depthgauge.datasets._booster.layout import BALANCED, TRAIN, UNBALANCED, splits_of
from depthgauge.datasets._booster.reading import read_samples
from depthgauge.datasets._booster.writing import write_samples
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._paths import inside
from depthgauge.types import Map, Sample

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

SCALE = 64.0
"""Codes per px: a 16-bit PNG reaches to 1023.98 px."""
_STYLES = ("png", "npy")


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """One sample per illumination of a scene, such as `Bathroom/im0`; they share the scene's truth.

    `root` is the dataset's folder, `train` in it, or any folder of scenes. The only input of
    `test-mono` samples is the left picture; `unlabelled` samples have no truth.
    """
    yield from read_samples(SPEC, root, split, BALANCED)


def write(
    root: Path, samples: Iterable[Sample], *, split: str = TRAIN, overwrite: bool = False
) -> None:
    """Writes scenes in the layout of the dataset, `<root>/train/balanced/<Scene>/`.

    Args:
        root: The dataset's folder.
        samples: With ids such as `Bathroom/im0`; those of a scene have the same truth.
        split: Decides the folder, and which parts of a sample are written: only the left picture
            and the truth for `test-mono`, no truth for `unlabelled`.
        overwrite: Replace existing scenes.

    Raises:
        CannotWrite: A scene already exists.
        DoesNotFit: The layout cannot store a value, such as a disparity of 0.
        WrongShape: Maps, masks and pictures of a scene differ in size.
    """
    write_samples(Path(root), samples, split, BALANCED, overwrite)


def write_submission(
    root: Path,
    estimates: Mapping[str, Map] | Iterable[tuple[str, Map]],
    *,
    style: Literal["png", "npy"] = "png",
    setup: str = BALANCED,
) -> None:
    """Writes disparity maps in the layout of a submission.

    - `png`, the online benchmark: `<setup>/<Scene>/im0.png`, 16 bits, disparity * 64.
    - `npy`, the challenges: `<Scene>/im0.npy`, float32, without a folder around the scenes.

    `depthgauge check booster-balanced ROOT --data DIR` checks the result, and `score` reads it. A
    missing pixel is 0 in a PNG and NaN in a NumPy file.

    Args:
        root: The folder that is zipped and submitted.
        estimates: By sample id (`Bathroom/im0`); may be an iterator of pairs.
        style: One of the two.
        setup: `balanced` or `unbalanced`, for the PNG style.

    Raises:
        DoesNotFit: A PNG cannot hold a value: below 1/128 px, or above 1023.99 px.
    """
    if style not in _STYLES:
        raise unknown("style of submission", style, _STYLES)
    if setup not in (BALANCED, UNBALANCED):
        raise unknown("setup", setup, (BALANCED, UNBALANCED))
    pairs = estimates.items() if isinstance(estimates, Mapping) else estimates
    for sample_id, values in pairs:
        folder = f"{setup}/" if style == "png" else ""
        path = inside(Path(root), f"{folder}{sample_id}.{style}")
        path.parent.mkdir(parents=True, exist_ok=True)
        scale = SCALE if style == "png" else None
        io.write_map(path, values, quantity="disparity", scale=scale)
