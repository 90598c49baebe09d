"""Packs a dataset: crops of its pairs with their true motion, split by scene."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._progress import Progress
from depthgauge.datasets import DATASETS
from depthgauge.errors import BadData, Misuse
from depthgauge.methods.nets._packs import LAYERS, Packed, stored_motion, write_packs
from depthgauge.types import Image, Sample

_PICTURES = {
    "stereo": ("left_image", "right_image"),
    "flow": ("first_image", "second_image"),
    "layers": ("first_image", "second_image"),
}
_TRUTHS = {"stereo": "disparity", "flow": "flow", "layers": "layered_flow"}
KINDS = tuple(_PICTURES)
_GENERATED = "view"
"""Where the right picture is what methods generate, it is part of the truth."""
_LEAST_KNOWN = 0.1
"""Crops with truth at a smaller share of their pixels are not packed."""
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class PackRules:
    """What is cut out of each pair, and how much in all."""

    size: tuple[int, int]
    """Height and width of crops, multiples of 32."""
    crops: int = 4
    """Of each pair."""
    held_out: float = 0.2
    """About this share of the scenes is not learned from."""
    most_mib: float = 60.0
    """Size of all packs; of larger datasets, every sample gets fewer crops, then samples are left
    out, evenly."""
    largest_px: float = np.inf
    """Crops with larger motion are not packed."""
    seed: int = 0


def pack(
    dataset: str,
    root: Path,
    kind: str,
    folder: Path,
    rules: PackRules,
    *,
    split: str = "all",
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Writes packs of a dataset folder, and returns their index.

    Args:
        dataset: The layout of the folder, such as `layered`, `booster` or `folder`.
        root: The dataset folder.
        kind: The network that will learn from it: stereo, flow or layers.
        folder: Where the packs go.
        rules: How pairs are cut.
        split: Of the dataset.
        progress: Called with the number of samples.

    Raises:
        Misuse: The size or a share is impossible.
        BadData: No sample has two pictures and this kind of truth.
    """
    if any(side % 32 for side in rules.size) or not 0 <= rules.held_out < 1:
        raise Misuse("crops have sides that are multiples of 32, and 0 <= held-out < 1.")
    usable = [s for s in DATASETS[dataset].samples(root, split) if _usable(s, kind)]
    if not usable:
        raise BadData(
            f"{root}: no sample of '{dataset}' has {' and '.join(_PICTURES[kind])} and a true "
            f"{_TRUTHS[kind]}."
        )
    held = held_out_scenes({scene_of(s) for s in usable}, rules.held_out)
    each = _bytes_of_a_pair(rules.size, kind)
    most = max(1, int(rules.most_mib * _MIB / each))
    crops = max(1, min(rules.crops, most // len(usable)))
    count = min(most, len(usable))
    samples = [usable[i * len(usable) // count] for i in range(count)]
    parts: dict[str, list[Packed]] = {"train": [], "held": []}
    for number, sample in enumerate(samples):
        part = "held" if scene_of(sample) in held else "train"
        parts[part] += _crops(sample.fresh(), kind, rules, crops, number)
        if progress:
            progress("packing", number + 1, count)
    if not parts["train"]:
        raise BadData(
            f"{root}: nothing is left to learn from: all crops have too little truth or motion "
            "that is too large, or belong to scenes that are held out; choose a smaller size, or "
            "hold out fewer."
        )
    about = {
        "dataset": dataset,
        "size": list(rules.size),
        "scenes": {
            "train": sorted({scene_of(s) for s in samples} - held),
            "held": sorted({scene_of(s) for s in samples} & held),
        },
        "left_out": sorted({s.id for s in usable} - {s.id for s in samples}),
    }
    joined = {part: _joined(pairs, rules.size, kind) for part, pairs in parts.items()}
    return write_packs(folder, kind, joined, about)


def scene_of(sample: Sample) -> str:
    """The scene that a sample belongs to; its folder if the dataset names none."""
    return sample.scene or sample.id.split("/")[0]


def held_out_scenes(scenes: set[str], share: float) -> set[str]:
    """Scenes that are not learned from: the first by a hash of their names, so others stay put.

    At least one is held out if there are two, unless the share is 0.

    >>> sorted(held_out_scenes({"a", "b", "c", "d"}, 0.25))
    ['d']
    """
    if share == 0 or len(scenes) < 2:
        return set()
    order = sorted(scenes, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    return set(order[: max(1, min(len(order) - 1, round(share * len(order))))])


def _usable(sample: Sample, kind: str) -> bool:
    names = set(sample.inputs)
    first, second = _PICTURES[kind]
    truth = set(sample.truth or ())
    shown = second in names or (kind == "stereo" and _GENERATED in truth)
    return first in names and shown and _TRUTHS[kind] in truth


def _bytes_of_a_pair(size: tuple[int, int], kind: str) -> int:
    values = {"stereo": 1, "flow": 2, "layers": 2 * LAYERS}[kind]
    return size[0] * size[1] * (6 + 2 * values)


def _crops(
    sample: Sample, kind: str, rules: PackRules, count: int, number: int
) -> Iterator[Packed]:
    rng = np.random.default_rng([rules.seed, number])
    frames = list(sample.frames())
    for i in range(count):
        frame = frames[i * len(frames) // count]
        first, second, motion = _pair(frame, kind)
        at = [int(rng.integers(0, max(1, n - m + 1))) for n, m in _sides(motion, rules.size)]
        rows, columns = (slice(a, a + m) for a, m in zip(at, rules.size, strict=True))
        cut = _padded(motion[..., rows, columns], rules.size, np.nan, 2)
        if np.isfinite(cut[0]).mean() < _LEAST_KNOWN or np.nanmax(abs(cut)) > rules.largest_px:
            continue
        pictures = [
            _padded(p[rows, columns].transpose(2, 0, 1), rules.size, None, 1)
            for p in (first, second)
        ]
        one, other = (p.transpose(1, 2, 0)[None] for p in pictures)
        yield one, other, stored_motion(cut)[None]


def _sides(motion: NDArray[Any], size: tuple[int, int]) -> Iterator[tuple[int, int]]:
    return zip(motion.shape[-2:], size, strict=True)


def _padded(
    values: NDArray[Any], size: tuple[int, int], border: float | None, before: int
) -> NDArray[Any]:
    """Extended to a size, by its border pixels or by a value."""
    more = [(0, m - n) for n, m in _sides(values, size)]
    width = [(0, 0)] * before + more
    if border is None:
        return np.pad(values, width, mode="edge")
    return np.pad(values, width, constant_values=border)


def _pair(sample: Sample, kind: str) -> tuple[Image, Image, NDArray[np.float32]]:
    """Both pictures (H, W, 3) in 8 bits, and the motion (layers, components, H, W)."""
    truth: Any = sample.truth
    names = _PICTURES[kind]
    other = sample.inputs[names[1]] if names[1] in sample.inputs else truth[_GENERATED]
    first, second = (_colour(np.asarray(p)) for p in (sample.inputs[names[0]], other))
    motion = np.asarray(truth[_TRUTHS[kind]], np.float32)
    if kind == "stereo":
        return first, second, motion[None, None]
    if kind == "flow":
        return first, second, motion.transpose(2, 0, 1)[None]
    return first, second, _repeated(motion).transpose(0, 3, 1, 2)


def _repeated(layers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Four layers; those that a pixel does not have repeat its last one."""
    found = np.full((LAYERS, *layers.shape[1:]), np.nan, np.float32)
    found[: min(LAYERS, len(layers))] = layers[:LAYERS]
    for k in range(1, LAYERS):
        found[k] = np.where(np.isfinite(found[k]), found[k], found[k - 1])
    return found


def _colour(picture: NDArray[Any]) -> NDArray[np.uint8]:
    if picture.dtype != np.uint8:
        picture = np.rint(255 * np.clip(np.nan_to_num(picture), 0, 1)).astype(np.uint8)
    if picture.ndim == 2:
        picture = picture[..., None]
    return np.repeat(picture, 3, axis=2) if picture.shape[2] == 1 else picture[..., :3]


def _joined(pairs: list[Packed], size: tuple[int, int], kind: str) -> Packed:
    if pairs:
        first, second, motion = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
        return first, second, motion
    shape = {"stereo": (1, 1), "flow": (1, 2), "layers": (LAYERS, 2)}[kind]
    nothing = np.zeros((0, *size, 3), np.uint8)
    return nothing, nothing, np.zeros((0, *shape, *size), np.int16)
