"""Packs: pairs with their motion in a few files below 16 MiB; needs NumPy only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.methods.nets._tensors import read_tensors, write_tensors

STEPS_PER_PX = 64
"""Motion is stored in 64ths of a px, up to 511 px."""
MISSING = -(2**15)
LARGEST_FILE = 15 * 2**20
INDEX = "packs.json"
SIZES = {"stereo": (256, 448), "flow": (256, 384), "layers": (256, 320)}
"""Height and width of the pairs that each network learns from by default."""
LAYERS = 4
"""Layers of the motion of layered pairs."""
_SCHEMA = 1

Packed = tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int16]]
"""Pictures (N, H, W, 3) and motion (N, layers, components, H, W)."""


def stored_motion(motion: NDArray[np.floating[Any]]) -> NDArray[np.int16]:
    """Motion in px as it is stored; NaN and what does not fit is missing."""
    steps = np.rint(motion.astype(np.float64) * STEPS_PER_PX)
    fits = np.abs(steps) < -MISSING
    return np.where(fits, np.nan_to_num(steps, posinf=0, neginf=0), MISSING).astype(np.int16)


def write_packs(
    folder: Path, kind: str, parts: Mapping[str, Packed], about: Mapping[str, Any]
) -> dict[str, Any]:
    """Writes packs; the index is written last and completes them.

    Args:
        folder: Where they go.
        kind: Of the network they are for: stereo, flow or layers.
        parts: The pairs to learn from under `train`, those of held-out scenes under `held`.
        about: What the index says besides.

    Returns:
        The index.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, list[str]] = {}
    for part, pairs in parts.items():
        per_file = max(1, LARGEST_FILE // max(1, sum(p[:1].nbytes for p in pairs)))
        files[part] = []
        for number, start in enumerate(range(0, len(pairs[0]), per_file)):
            name = f"{part}-{number:03d}.safetensors"
            chosen = (p[start : start + per_file] for p in pairs)
            tensors = dict(zip(("first", "second", "motion"), chosen, strict=True))
            write_tensors(folder / name, tensors, {"kind": kind})
            files[part].append(name)
    counts = {part: len(pairs[0]) for part, pairs in parts.items()}
    index = {"schema": _SCHEMA, "kind": kind, "files": files, "pairs": counts, **about}
    (folder / INDEX).write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    return index


def read_index(folder: Path) -> dict[str, Any]:
    """What the index of packs says.

    Raises:
        ValueError: There is none, or it is of another version.
    """
    path = folder / INDEX
    if not path.is_file():
        raise ValueError(f"{folder}: has no {INDEX}; `depthgauge train pack` writes packs.")
    index: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if index.get("schema") != _SCHEMA:
        raise ValueError(f"{path}: is of schema {index.get('schema')}, not {_SCHEMA}.")
    return index


def read_packs(folder: Path, kind: str, *, held_out: bool = False) -> Packed:
    """The pairs to learn from, or those of held-out scenes.

    Raises:
        ValueError: They are for another kind of network, there are none, or a file is cut off.
    """
    index = read_index(folder)
    if index["kind"] != kind:
        raise ValueError(f"{folder}: has pairs for {index['kind']}, not for {kind}.")
    names = index["files"]["held" if held_out else "train"]
    if not names:
        raise ValueError(f"{folder}: has no {'held-out ' if held_out else ''}pairs.")
    tensors = [read_tensors(folder / name)[0] for name in names]
    first, second, motion = (
        np.concatenate([each[name] for each in tensors]) for name in ("first", "second", "motion")
    )
    return first, second, motion
