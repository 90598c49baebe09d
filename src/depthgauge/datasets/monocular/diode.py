"""DIODE: dense indoor and outdoor depth of a laser scanner, with masks of what can be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, expected, reader
from depthgauge.datasets._paths import inside
from depthgauge.datasets.monocular._frames import (
    depth_of,
    frame,
    in_order,
    picture_of,
    write_picture,
)
from depthgauge.errors import BadData, WrongShape
from depthgauge.types import Map, Sample

_KINDS = ("indoors", "outdoor")
_DEPTH, _MASK = "_depth.npy", "_depth_mask.npy"
_PARTS = ("train", "val", "test")

SPEC = DatasetSpec(
    id="diode",
    title="DIODE, dense indoor and outdoor depth",
    quantities=("depth",),
    splits=("val", "val-indoors", "val-outdoor", "train", "test", "all"),
    licence="MIT",
    cite="Vasiljevic et al., DIODE: a Dense Indoor and Outdoor DEpth dataset, 2019",
    homepage="https://diode-dataset.org/",
    sample_layout="indoors/ and outdoor/, directly or in val/ and train/, with <...>/<name>.png, "
    "<name>_depth.npy (metres, 0 is no return) and <name>_depth_mask.npy (1 is valid)",
    estimate_layouts=("{folder}/pred_{file}.npy", "{sample}_{name}.npy"),
    not_estimates=("*_depth.npy", "*_depth_mask.npy", "*_normal.npy"),
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """Samples `indoors/<...>/<name>` and `outdoor/<...>/<name>`.

    What has no mask, or where the mask is 0, has no truth. The official validation set has 325
    indoor and 446 outdoor pictures. Folders without a name of a split count as the requested one.
    """
    yield from in_order(SPEC, root, _found(root, split))


def _found(root: Path, split: str) -> Iterator[Sample]:
    part, _, kind = split.partition("-")
    parted = [root / name for name in _PARTS if (root / name).is_dir()]
    places = [p for p in parted if part in ("all", p.name)] if parted else [root]
    for place in places:
        if root.resolve().name in _KINDS and not parted:
            raise BadData(f"{root}: give the folder that holds it, {root.resolve().parent}.")
        for name in (kind,) if kind else _KINDS:
            for depth in sorted((place / name).rglob(f"*{_DEPTH}")):
                yield _sample(place, depth)


def _sample(place: Path, depth: Path) -> Sample:
    base = depth.with_name(depth.name.removesuffix(_DEPTH))
    mask = base.with_name(base.name + _MASK)
    if not mask.is_file():
        raise BadData(f"{depth}: there is no {mask.name} beside it. {expected(SPEC)}")
    sample_id = base.relative_to(place).as_posix()
    scene = str(base.parent.relative_to(place))
    return frame(sample_id, picture_of([base]), depth, partial(_read, mask=mask), scene)


def _read(path: Path, mask: Path) -> Map:
    depth = io.read_map(path, quantity="depth")
    valid = io.read_map(mask)
    if valid.shape != depth.shape:
        raise WrongShape(f"{mask}: is {valid.shape} but the depth is {depth.shape}.")
    return np.where((valid > 0) & (depth > 0), depth, np.float32(np.nan))


def write(root: Path, samples: Iterable[Sample]) -> None:
    """Writes picture, depth (H, W, 1) and mask; the ids begin with `indoors/` or `outdoor/`."""
    for sample in samples:
        base = inside(Path(root), sample.id)
        base.parent.mkdir(parents=True, exist_ok=True)
        depth = depth_of(sample)
        known = np.isfinite(depth)
        stored = np.where(known, depth, np.float32(0))[:, :, None]
        np.save(base.with_name(base.name + _DEPTH), stored)
        np.save(base.with_name(base.name + _MASK), known.astype(np.float32))
        write_picture(base.with_name(base.name + ".png"), sample.inputs)
