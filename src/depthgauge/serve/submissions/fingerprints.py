"""Finds submissions of different teams that are nearly the same: one method under several names.

A fingerprint is the estimate at a few thousand fixed pixels, and how much it differs there from its
surroundings. Good methods agree about the scene; in such details each has its own errors, so two
submissions whose details agree are hardly independent. Fingerprints stay on the workers' side; only
how similar two submissions are is written to the database, for admins.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from depthgauge.engine.scoring.samples import samples_of
from depthgauge.quantities import QUANTITIES
from depthgauge.serve.site import Site
from depthgauge.serve.submissions.registry import Registered

Floats = npt.NDArray[np.float32]

PIXELS = 4096
"""Of all samples together."""
LEAST_CORRELATION = 0.7
"""From here on the details of two submissions are called the same."""
MOST_DIFFERENCE = 1e-3
"""As a share of the range of values; below it the estimates themselves are called the same."""
_FEWEST = 64
_STEP = 3
_SEED = 20_270_101


def fingerprint(found: Registered, estimates: Path) -> Floats:
    """Values and details of a submission's maps at fixed pixels: an array (N, 2).

    Args:
        found: The benchmark.
        estimates: The folder that scoring reads, with plain arrays only.
    """
    main = QUANTITIES[found.protocol.quantity].main.name
    frames = [
        frame for sample in samples_of(found.protocol, found.data) for frame in sample.frames()
    ]
    each = max(_FEWEST, PIXELS // max(1, len(frames)))
    random = np.random.default_rng(_SEED)
    parts = []
    for frame in frames:
        places = random.random((each, 2))
        values = np.load(estimates / frame.id / f"{main}.npy", allow_pickle=False)
        parts.append(_at_places(np.asarray(values, np.float32), places))
    return np.concatenate(parts)


def _at_places(values: Floats, places: npt.NDArray[np.float64]) -> Floats:
    """Value and detail at places given as shares of height and width."""
    height, width = values.shape[:2]
    layers = values.reshape(height, width, -1)[..., 0]
    if min(height, width) <= 2 * _STEP:
        return np.zeros((0, 2), np.float32)
    inner = np.array([height - 2 * _STEP, width - 2 * _STEP])
    y, x = (_STEP + (places * inner).astype(int)).T
    around = [
        layers[y - _STEP, x],
        layers[y + _STEP, x],
        layers[y, x - _STEP],
        layers[y, x + _STEP],
    ]
    here = layers[y, x]
    return np.stack([here, here - np.mean(around, axis=0)], axis=1).astype(np.float32)


def similarity(one: Floats, other: Floats) -> tuple[float, float]:
    """How well the details of two fingerprints agree (-1 to 1), and how far the values are apart.

    The distance is a share of the range of the values, without a constant shift. Details that are
    the same everywhere say nothing: their agreement is 0.
    """
    if one.shape != other.shape:
        return 0.0, 1.0
    known = np.isfinite(one).all(axis=1) & np.isfinite(other).all(axis=1)
    if known.sum() < _FEWEST:
        return 0.0, 1.0
    a, b = one[known].astype(np.float64), other[known].astype(np.float64)
    apart = a[:, 0] - b[:, 0]
    low, high = np.percentile(a[:, 0], (5, 95))
    distance = np.median(np.abs(apart - np.median(apart))) / max(high - low, 1e-6)
    return _agreement(a[:, 1], b[:, 1]), float(min(distance, 1.0))


def _agreement(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    """The correlation of details; those at the scene's own edges, which all share, are cut off."""
    cut = [np.clip(x, -3 * s, 3 * s) for x in (a, b) if (s := float(np.median(np.abs(x)))) > 1e-9]
    if len(cut) < 2 or min(x.std() for x in cut) == 0:
        return 0.0
    return float(np.corrcoef(cut[0], cut[1])[0, 1])


def compare_and_keep(
    site: Site, found: Registered, submission: str, mark: Floats
) -> Iterator[tuple[str, float, float]]:
    """Keeps a fingerprint; gives the submissions that are nearly the same: id, agreement, distance.

    Args:
        site: The site.
        found: The benchmark.
        submission: Whose fingerprint it is.
        mark: The fingerprint.
    """
    folder = site.workers / "fingerprints" / found.protocol.id
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{submission}.npy", mark)
    for path in sorted(folder.glob("*.npy")):
        if path.stem == submission:
            continue
        agreement, distance = similarity(mark, np.load(path, allow_pickle=False))
        if agreement >= LEAST_CORRELATION or distance <= MOST_DIFFERENCE:
            yield path.stem, round(agreement, 4), round(distance, 6)
