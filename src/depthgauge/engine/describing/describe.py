"""Distributions of a dataset: values of the truth, texture, hazards, labels, tags, difficulty."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._canonical import finite_data
from depthgauge._progress import Progress
from depthgauge.datasets.tags import HAZARDS, Tags, find_tags, read_tags
from depthgauge.engine.describing.difficulty import PairDifficulty, pair_difficulty
from depthgauge.engine.explaining.source import find_dataset, first_quantity
from depthgauge.engine.scoring.samples import choose
from depthgauge.errors import DepthgaugeError
from depthgauge.quantities import QUANTITIES
from depthgauge.regions import compute_regions
from depthgauge.types import Image, Inputs, Map, Sample, Truth, is_known, overlaid

TEXTURE_WINDOW = 9
"""Of the standard deviation of grey values, in px."""
TEXTURE_BINS = (0, 1, 2, 4, 8, 16, 32, 64, 128)
"""Ends of its bins, in grey levels."""
_VALUE_BINS = 64
_PERCENT = (1, 25, 50, 75, 99)
_MOST_LABELS = 32
_PICTURES = ("left_image", "image", "centre_image", "first_image")


@dataclass(frozen=True)
class SampleFacts:
    """What one sample contains."""

    sample: str
    size: tuple[int, int]
    """Width and height of the truth, in px."""
    known: float
    """The share of pixels with truth."""
    percentiles: tuple[float, ...]
    """Values of the truth: 1, 25, 50, 75 and 99 %."""
    texture: tuple[int, ...]
    """Pixels by the standard deviation of grey values around them; empty without a picture."""
    hazards: Mapping[str, float]
    """The share of pixels with truth that have each hazard, where it can be found."""
    labels: Mapping[str, Mapping[str, int]]
    """Pixels of each label, by the name of the label map."""
    difficulty: PairDifficulty | None
    values: NDArray[np.float32] = field(repr=False, compare=False)
    """Some values of the truth, for a histogram."""


@dataclass(frozen=True)
class Description:
    """What a dataset contains."""

    dataset: str
    split: str
    quantity: str
    unit: str
    samples: tuple[SampleFacts, ...]
    ends: tuple[float, ...]
    """Ends of the bins of the truth's values."""
    shares: tuple[float, ...]
    """The mean over samples of each bin's share of the known pixels."""
    texture: tuple[float, ...]
    """The same for texture."""
    hazards: Mapping[str, tuple[float, int]]
    """The mean share of pixels with each hazard, and how many samples have it."""
    labels: Mapping[str, Mapping[str, float]]
    """Shares of labelled pixels, by label map."""
    tags: Mapping[str, Mapping[str, int]]
    """Samples of each tag, by kind."""
    missing: tuple[str, ...]
    """Hazards and tags that no sample has."""
    notes: tuple[str, ...] = ()

    @property
    def difficulty(self) -> tuple[PairDifficulty, ...]:
        """Of all pairs."""
        return tuple(s.difficulty for s in self.samples if s.difficulty is not None)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        names = ("dataset", "split", "quantity", "unit", "ends", "shares", "texture", "labels")
        samples = []
        for each in self.samples:
            own = {n: getattr(each, n) for n in ("sample", "size", "known", "percentiles")}
            own |= {"texture": each.texture, "hazards": dict(each.hazards), "labels": each.labels}
            if each.difficulty is not None:
                found = each.difficulty
                own["difficulty"] = asdict(found) | {
                    "matches_per_megapixel": found.matches_per_megapixel,
                    "off_row_share": found.off_row_share,
                    "wrong_share": found.wrong_share,
                }
            samples.append(own)
        body: dict[str, Any] = finite_data(
            {
                "schema": 1,
                **{name: getattr(self, name) for name in names},
                "texture_ends": TEXTURE_BINS,
                "hazards": {n: {"share": s, "samples": k} for n, (s, k) in self.hazards.items()},
                "tags": self.tags,
                "missing": list(self.missing),
                "notes": list(self.notes),
                "samples": samples,
            }
        )
        return body


def describe_dataset(
    folder: Path,
    dataset: str | None = None,
    split: str | None = None,
    *,
    quantity: str | None = None,
    only: Iterable[str] = (),
    sift: bool = True,
    progress: Progress | None = None,
) -> Description:
    """Reads every sample once and counts.

    Args:
        folder: The dataset's folder.
        dataset: Its layout; found by trying all of them where it is not said.
        split: Its part; the first with truth where it is not said.
        quantity: Which truth; the dataset's first by default.
        only: Ids of samples; all by default.
        sift: Whether the pictures of pairs are matched, which takes most of the time.
        progress: Called after each sample.
    """
    layout, split, samples = find_dataset(folder, dataset, split)
    quantity = quantity or first_quantity(layout, samples)
    main = QUANTITIES[quantity].main.name
    chosen = [s for s in choose(samples, only) if s.truth is not None and main in s.truth]
    names = {name for s in chosen for name in s.truth or ()}
    declared = {name for name in names if name.endswith(("_mask", "_labels"))}
    facts = []
    for done, sample in enumerate(chosen, start=1):
        facts.append(_facts(sample.fresh(), quantity, declared, sift))
        if progress is not None:
            progress(sample.id, done, len(chosen))
    beside = find_tags(Path(folder))
    tags = read_tags(beside) if beside else Tags("")
    return _description(layout.id, split, quantity, facts, tags)


def _facts(sample: Sample, quantity: str, declared: set[str], sift: bool) -> SampleFacts:
    truth = sample.truth or Truth({})
    values = QUANTITIES[quantity].map_of(truth)
    known = is_known(values)
    numbers = np.linalg.norm(values[known], axis=-1) if values.ndim == 3 else values[known]
    picture = _first_picture(sample.inputs)
    return SampleFacts(
        sample=sample.id,
        size=(values.shape[1], values.shape[0]),
        known=float(known.mean()),
        percentiles=_percentiles(numbers),
        texture=() if picture is None else tuple(texture_counts(picture).tolist()),
        hazards=_hazards(sample, values, quantity, declared),
        labels=_labels(truth),
        difficulty=_difficulty(sample, quantity, values) if sift else None,
        values=_some(numbers),
    )


def _percentiles(numbers: NDArray[np.float32]) -> tuple[float, ...]:
    if not numbers.size:
        return (math.nan,) * len(_PERCENT)
    return tuple(float(v) for v in np.percentile(numbers, _PERCENT))


def _some(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """At most 65,536 of them, evenly spread."""
    step = max(1, numbers.size // 65536)
    return np.asarray(numbers[::step], np.float32)


def _first_picture(inputs: Inputs) -> Image | None:
    name = next((name for name in _PICTURES if name in inputs), None)
    if name is None:
        return None
    found: Image = inputs[name]
    return found


def texture_counts(picture: Image) -> NDArray[np.int64]:
    """How many pixels have each standard deviation of grey values (in 9 x 9 px) around them."""
    import cv2

    grey = picture.astype(np.float32)
    if picture.dtype != np.uint8:
        grey = 255 * grey
    if grey.ndim == 3:
        grey = grey[..., :3].mean(axis=2)
    window = (TEXTURE_WINDOW, TEXTURE_WINDOW)
    mean, square = (
        cv2.blur(each.astype(np.float64), window, borderType=cv2.BORDER_REFLECT)
        for each in (grey, grey.astype(np.float64) ** 2)
    )
    spread = np.sqrt(np.maximum(square - mean**2, 0))
    counts, _ = np.histogram(spread, (*TEXTURE_BINS[:-1], np.inf))
    return np.asarray(counts, np.int64)


def _hazards(sample: Sample, values: Map, quantity: str, declared: set[str]) -> dict[str, float]:
    """Shares of hazards; those that this sample cannot give are left out."""
    items = overlaid(sample.truth or {}, sample.inputs)
    known = is_known(values)
    n = int(known.sum())
    found: dict[str, float] = {}
    for number, (name, text) in enumerate(HAZARDS.items()):
        try:
            masks = compute_regions(
                {f"hazard_{number}": text}, values, items, quantity=quantity, declared=declared
            ).masks
        except DepthgaugeError:
            continue
        if masks and n:
            found[name] = float((next(iter(masks.values())) & known).sum()) / n
    return found


def _labels(truth: Truth) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for name in truth:
        if not name.endswith("_labels"):
            continue
        labels, counts = np.unique(np.asarray(truth[name]), return_counts=True)
        if len(labels) <= _MOST_LABELS:
            stem = name.removesuffix("_labels")
            found[stem] = {str(k): int(n) for k, n in zip(labels, counts, strict=True)}
    return found


def _difficulty(sample: Sample, quantity: str, values: Map) -> PairDifficulty | None:
    inputs = sample.inputs
    if "left_image" not in inputs or "right_image" not in inputs:
        return None
    left, right = inputs["left_image"], inputs["right_image"]
    if left.shape[:2] != right.shape[:2]:
        return None
    fits = QUANTITIES[quantity].between_views and values.shape == left.shape[:2]
    return pair_difficulty(left, right, values if fits else None)


def _description(
    dataset: str, split: str, quantity: str, facts: Sequence[SampleFacts], tags: Tags
) -> Description:
    names = [each.sample for each in facts]
    ends, shares = _histogram([each.values for each in facts])
    with_texture = [each.texture for each in facts if each.texture]
    hazards = {
        name: (
            float(np.mean([f.hazards[name] for f in facts if name in f.hazards])),
            sum(1 for f in facts if f.hazards.get(name, 0) > 0),
        )
        for name in HAZARDS
        if any(name in f.hazards for f in facts)
    }
    counted = {kind: _counted(tags, kind, names) for kind in tags.kinds}
    return Description(
        dataset=dataset,
        split=split,
        quantity=quantity,
        unit=QUANTITIES[quantity].unit,
        samples=tuple(facts),
        ends=ends,
        shares=shares,
        texture=tuple(_mean_shares(with_texture)),
        hazards=hazards,
        labels=_all_labels(facts),
        tags=counted,
        missing=tuple(name for name in HAZARDS if hazards.get(name, (0.0, 0))[1] == 0),
        notes=tags.check(names),
    )


def _counted(tags: Tags, kind: str, samples: Sequence[str]) -> dict[str, int]:
    return {word: len(members) for word, members in tags.strata(kind, samples).items()}


def _histogram(
    parts: Sequence[NDArray[np.float32]],
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    filled = [part for part in parts if part.size]
    if not filled:
        return (), ()
    low = min(float(part.min()) for part in filled)
    high = max(float(np.percentile(part, 99.9)) for part in filled)
    ends = np.linspace(low, high if high > low else low + 1, _VALUE_BINS + 1)
    shares = np.mean([np.histogram(p, ends)[0] / p.size for p in filled], axis=0)
    return tuple(float(e) for e in ends), tuple(float(s) for s in shares)


def _mean_shares(parts: Sequence[Sequence[int]]) -> list[float]:
    if not parts:
        return []
    return [float(v) for v in np.mean([np.array(p) / max(sum(p), 1) for p in parts], axis=0)]


def _all_labels(facts: Sequence[SampleFacts]) -> dict[str, dict[str, float]]:
    totals: dict[str, dict[str, int]] = {}
    for each in facts:
        for name, counts in each.labels.items():
            mine = totals.setdefault(name, {})
            for label, n in counts.items():
                mine[label] = mine.get(label, 0) + n
    return {
        name: {label: n / sum(mine.values()) for label, n in sorted(mine.items())}
        for name, mine in totals.items()
    }
