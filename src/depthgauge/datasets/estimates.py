"""How to find and read the estimate of a sample in a folder of estimates."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from depthgauge.datasets._dataset import Dataset
from depthgauge.errors import BadData, UnknownScale
from depthgauge.io.beside import read_main, read_parts
from depthgauge.io.reading import Reading
from depthgauge.io.stacks import is_member
from depthgauge.quantities import CONFIDENCE, QUANTITIES
from depthgauge.types import ClipEstimate, Estimate, Frames, frame_name

OWN_LAYOUT = "{sample}/{quantity}.npy"
"""What our own methods write."""
_MOST_PIXELS = 1 << 26
"""Most pixels of an estimate; a file that claims more is not read."""
SUFFIXES = ("pfm", "png", "npy", "npz", "flo", "exr", "tif", "tiff")
"""Suffixes of the files that are searched in every dataset: `{sample}.*` and
`{sample}/{quantity}.*`."""


def find_estimate(
    root: Path, dataset: Dataset, sample_id: str, quantity: str, name: str | None = None
) -> Path | None:
    """The one file that holds a sample's estimate, or None if there is none.

    Args:
        root: The folder of estimates.
        dataset: Defines the public layouts that are accepted in addition to our own.
        sample_id: The dataset's own name for the sample; may contain `/`.
        quantity: `disparity`, `depth`, `flow` ...
        name: The method's name if a layout has it in the file name; None accepts any name if there
            is only one.

    Raises:
        BadData: There are two candidates.
    """
    found: dict[Path, None] = {}
    stem = QUANTITIES[quantity].main.name
    for layout in _layouts(dataset, quantity):
        found.update(dict.fromkeys(_matches(root, dataset, layout, sample_id, stem, name)))
    if len(found) > 1:
        raise _ambiguous(root, sample_id, list(found), named=name is not None)
    fallbacks = (
        path
        for layout in dataset.spec.fallback_layouts.get(quantity, ())
        for path in _matches(root, dataset, layout, sample_id, stem, name)
    )
    return next(iter(found), None) or next(fallbacks, None)


def read_estimate(
    path: Path, dataset: Dataset, quantity: str, reading: Reading | None = None
) -> Estimate:
    """The estimate in a file, read the way the dataset's submissions are read.

    In our own layout (`{sample}/{quantity}.npy`) the other parts are beside the main map; single
    numbers, such as `focal_px`, are in an `estimate.json` beside any file. `extras` has the `path`.
    """
    if dataset.estimate_reader is not None:
        found = dataset.estimate_reader(path, quantity)
        if found is not None:
            return replace(found, extras={"path": str(path), **found.extras})
    scale = dataset.spec.png_scales.get(quantity)
    try:
        values = read_main(path, quantity, png_scale=scale, limit=_MOST_PIXELS, reading=reading)
    except UnknownScale as error:
        raise error.said_as("--estimate-scale {factor}") from None
    own = path.stem == QUANTITIES[quantity].main.name
    parts = read_parts(path, quantity, maps=own, limit=_MOST_PIXELS)
    return Estimate(values, quantity, parts, {"path": str(path)})


def read_clip(
    root: Path,
    dataset: Dataset,
    sample_id: str,
    quantity: str,
    length: int,
    name: str | None = None,
    reading: Reading | None = None,
) -> ClipEstimate:
    """The estimates of a clip's frames, each found and read as that of the sample `<id>/<frame>`.

    Frames without an estimate count as missing.

    Raises:
        BadData: No frame has an estimate.
    """
    ids = [f"{sample_id}/{frame_name(index)}" for index in range(length)]
    paths = [find_estimate(root, dataset, frame, quantity, name) for frame in ids]
    loaders = [
        p if p is None else partial(read_estimate, p, dataset, quantity, reading) for p in paths
    ]
    if not any(loaders):
        places = estimate_candidates(dataset, f"{sample_id}/{frame_name(0)}", quantity, name)
        raise BadData(
            f"{root}: no estimate for any frame of '{sample_id}'; expected {places[0]} and so on."
        )
    return ClipEstimate(Frames(loaders), quantity, {"path": str(root / sample_id)})


def estimate_candidates(
    dataset: Dataset, sample_id: str, quantity: str, name: str | None = None
) -> tuple[str, ...]:
    """Where an estimate could be, the most usual place first, for error messages."""
    public = (*dataset.spec.quantity_layouts.get(quantity, ()), *dataset.spec.estimate_layouts)
    layouts = (OWN_LAYOUT, *(layout for layout in public if _fits(layout, sample_id)))
    any_suffix = ".{" + ",".join(SUFFIXES) + "}"
    stem = QUANTITIES[quantity].main.name
    return (
        *(_fill(layout, sample_id, stem, "*" if name is None else name) for layout in layouts),
        sample_id + any_suffix,
        f"{sample_id}/{stem}{any_suffix}",
    )


def estimate_names(dataset: Dataset, sample_id: str, quantity: str) -> frozenset[str]:
    """All file names that a sample's estimate may have, other parts and numbers beside it included.

    Layouts with the method's name in file names are left out: they allow any name.
    """
    declared = QUANTITIES[quantity]
    known = (*_layouts(dataset, quantity), *dataset.spec.fallback_layouts.get(quantity, ()))
    layouts = [layout for layout in known if "{name}" not in layout]
    found = {_fill(layout, sample_id, declared.main.name, "") for layout in layouts}
    found |= {f"{sample_id}/{part.name}.npy" for part in (*declared.parts[1:], CONFIDENCE)}
    return frozenset({*found, f"{sample_id}/estimate.json"})


def _layouts(dataset: Dataset, quantity: str) -> Iterator[str]:
    yield OWN_LAYOUT
    yield from dataset.spec.quantity_layouts.get(quantity, ())
    yield from dataset.spec.estimate_layouts
    for suffix in SUFFIXES:
        yield "{sample}." + suffix
        yield "{sample}/{quantity}." + suffix


def _matches(
    root: Path, dataset: Dataset, layout: str, sample_id: str, quantity: str, name: str | None
) -> Iterator[Path]:
    if not _fits(layout, sample_id):
        found = []
    elif name is None and "{name}" in layout:
        # Only the method's name is a wildcard; a sample called `a[1]` is not a pattern.
        pattern = _fill(glob.escape(layout), glob.escape(sample_id), glob.escape(quantity), "*")
        found = sorted(root / match for match in glob.glob(pattern, root_dir=root))
    else:
        found = [root / _fill(layout, sample_id, quantity, name or "")]
    for path in found:
        if (path.is_file() or is_member(path)) and not _is_truth(dataset, path):
            yield path


def _fits(layout: str, sample_id: str) -> bool:
    """Whether an id has the parts that a layout names."""
    return "{head}" not in layout or "_" in sample_id


def _is_truth(dataset: Dataset, path: Path) -> bool:
    return any(fnmatchcase(path.name, pattern) for pattern in dataset.spec.not_estimates)


def _fill(layout: str, sample_id: str, quantity: str, name: str) -> str:
    # Not str.format, because a name may contain braces.
    folder, _, file = sample_id.rpartition("/")
    head, _, tail = sample_id.rpartition("_")
    values = {"sample": sample_id, "quantity": quantity, "name": name, "folder": folder}
    values |= {"file": file, "head": head, "tail": tail}
    filled = re.sub(r"\{(\w+)\}", lambda f: values.get(f[1], f[0]), layout)
    return filled.lstrip("/")  # an id without a folder is in the folder itself


def _ambiguous(root: Path, sample_id: str, found: list[Path], named: bool) -> BadData:
    listed = " and ".join(str(path.relative_to(root)) for path in found)
    advice = "keep one of them" if named else "choose one with --name, or keep one of them"
    return BadData(f"{root}: sample '{sample_id}' has {len(found)} estimates, {listed}; {advice}.")
