"""What official folders of image pairs have in common: where they begin, and how files are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, expected
from depthgauge.datasets._paths import inside
from depthgauge.errors import BadData, Misuse, Unavailable
from depthgauge.types import Inputs, Map, Mask, Sample, Truth, is_known


def official_folder(
    spec: DatasetSpec, root: Path, names: Sequence[str], signs: Sequence[str]
) -> Path | None:
    """The folder of a split: `root` itself, or the subfolder that has one of these names.

    Args:
        spec: Named in errors.
        root: What the user gave.
        names: How the split's folder is called, such as `training`.
        signs: Folders of which it has at least one, such as `disp_occ_0`.

    Returns:
        None if there is no such folder, and nothing speaks for another level.

    Raises:
        BadData: The official folder is one level further up or down.
    """
    if root.resolve().name in signs and not _has_any(root, signs):
        raise BadData(
            f"{root}: this is one of the folders of '{spec.id}'; give the one above it, "
            f"{root.resolve().parent}."
        )
    for folder in (*(root / name for name in names), root):
        if _has_any(folder, signs):
            return folder
    for below in sorted(p for p in root.iterdir() if p.is_dir()):
        if any(_has_any(folder, signs) for folder in (*(below / name for name in names), below)):
            raise BadData(f"{root}: the data is one level further down; give {below}.")
    return None


def _has_any(folder: Path, signs: Iterable[str]) -> bool:
    return any((folder / sign).is_dir() for sign in signs)


def no_data(spec: DatasetSpec, root: Path, names: Sequence[str]) -> BadData:
    """The error for a folder that has nothing of a layout."""
    looked = " or ".join(str(root / name) for name in names)
    return BadData(f"{root}: neither it nor {looked} has data of '{spec.id}'. {expected(spec)}")


def map_loader(path: Path, quantity: str, **options: Any) -> Callable[[], Map]:
    """Reads a map when it is used."""
    return partial(io.read_map, path, quantity=quantity, **options)


def images(paths: Mapping[str, Path]) -> dict[str, Any]:
    """Loaders of those pictures that exist; the left one is also the first one."""
    found: dict[str, Any] = {
        name: partial(io.read_image, path) for name, path in paths.items() if path.is_file()
    }
    if "left_image" in found:
        found["first_image"] = found["left_image"]
    return found


def read_known(path: Path, quantity: str) -> Mask:
    """Where a map in a file has values."""
    return is_known(io.read_map(path, quantity=quantity))


def sample_of(
    sample_id: str, inputs: Mapping[str, Any], truth: Mapping[str, Any], scene: str = ""
) -> Sample:
    """A sample; without any truth it is one of a test split."""
    return Sample(sample_id, Inputs(inputs), Truth(truth) if truth else None, scene)


def new_file(root: Path, relative: str) -> Path:
    """The path of a file that is about to be written; its folder is made."""
    path = inside(Path(root), relative)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def write_images(root: Path, inputs: Inputs, places: Mapping[str, str]) -> None:
    """Writes those pictures that a sample has; `places` are relative paths by input."""
    for name, place in places.items():
        if name in inputs:
            io.write_image(new_file(root, place), inputs[name])


def require(sample: Sample, *names: str) -> None:
    """Refuses to write a sample whose truth has none of these maps.

    Raises:
        Unavailable: It has none of them.
    """
    if sample.truth is not None and not set(names) & set(sample.truth):
        raise Unavailable(
            f"sample '{sample.id}' has no {' or '.join(names)} as truth, only "
            f"{', '.join(sample.truth)}; this layout needs one."
        )


def id_parts(sample_id: str, count: int, form: str) -> list[str]:
    """The parts of a sample's id between its slashes.

    Raises:
        Misuse: There are more or fewer.
    """
    parts = sample_id.split("/")
    if len(parts) != count or not all(parts):
        raise Misuse(f"sample id '{sample_id}' is not of the form {form}, which the layout needs.")
    return parts


def shown_mask(mask: Mask) -> Any:
    """A mask as files have it: 255 inside."""
    return np.where(mask, np.uint8(255), np.uint8(0))
