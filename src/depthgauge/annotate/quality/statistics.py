"""What is in a set of annotations: focal lengths, normals, boundaries, surfaces, time.

Every image gives one `RegionFacts`, from its records or from a dataset's truth; `statistics` sums
them up as plain numbers, which `report.annotate` draws.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._options import signature_from
from depthgauge._progress import Progress
from depthgauge.annotate.options import StatisticsOptions
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.reconstruct.segmentation import segment
from depthgauge.annotate.records.annotation import Annotation
from depthgauge.annotate.records.folders import read_all
from depthgauge.datasets import DATASETS
from depthgauge.errors import BadData, DepthgaugeError, Misuse
from depthgauge.types import Map, Sample, Truth, is_known

SCHEMA = 1
RINGS = 12
"""Rings of the disc of normals; n rings have n * n cells of equal area on the sphere."""
FOCAL_EDGES = tuple(float(2 ** (k / 2)) for k in range(-2, 9))
"""Half octaves of focal length over image width, 0.5 to 16; the outer bins hold the rest."""
SECONDS_EDGES = tuple(float(s) for s in range(0, 631, 30))
COUNT_EDGES = tuple(float(n) for n in range(22))
STROKE_EDGES = tuple(float(n) for n in range(0, 121, 10))
SURFACES = ("continuous", "smooth", "planar", "curved")
_PREVIEW_PX = 160


@dataclass(frozen=True, slots=True)
class RegionFacts:
    """The counts of one annotated region."""

    id: str
    focal_ratio: float
    """Focal length over the image's width; NaN if it is not known."""
    surfaces: Mapping[str, int]
    """Numbers of `continuous`, `smooth`, `planar` and `curved` surfaces."""
    has_occlusion: bool
    has_fold: bool
    normals: NDArray[np.int64] = field(default_factory=lambda: np.zeros(RINGS**2, np.int64))
    """Pixels in each cell of the disc of normals."""
    strokes: int | None = None
    seconds: float = math.nan
    source: str = ""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts between edges; values beyond the outer edges are in the outer bins."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    mean: float | None
    median: float | None
    known: int
    """Number of values; images without one are left out."""


@dataclass(frozen=True)
class Statistics:
    """All figures of a set of annotations, as plain data."""

    images: int
    focal_ratio: Histogram
    normals: tuple[int, ...]
    """Pixels in each cell of the disc, ring by ring from the centre (see `normal_cells`)."""
    boundaries: Mapping[str, int]
    """Regions with `only occlusion`, `only fold`, `both`, `none`."""
    curvature: Mapping[str, int]
    """Regions with `only planar`, `only curved`, `both`, `none`."""
    surfaces: Mapping[str, Histogram]
    seconds: Histogram
    strokes: Histogram
    sources: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """Plain data for strict JSON."""
        return {"schema": SCHEMA, "rings": RINGS, **asdict(self)}


def statistics(facts: Iterable[RegionFacts]) -> Statistics:
    """Sums up the counts of all images.

    Raises:
        Misuse: There is no image.
    """
    regions = list(facts)
    if not regions:
        raise Misuse("there is no annotation to count; give a folder with some.")
    return Statistics(
        images=len(regions),
        focal_ratio=histogram([r.focal_ratio for r in regions], FOCAL_EDGES),
        normals=tuple(int(n) for n in np.sum([r.normals for r in regions], axis=0)),
        boundaries=_kinds([(r.has_occlusion, r.has_fold) for r in regions], ("occlusion", "fold")),
        curvature=_kinds(
            [(r.surfaces["planar"] > 0, r.surfaces["curved"] > 0) for r in regions],
            ("planar", "curved"),
        ),
        surfaces={
            kind: histogram([r.surfaces[kind] for r in regions], COUNT_EDGES) for kind in SURFACES
        },
        seconds=histogram([r.seconds for r in regions], SECONDS_EDGES),
        strokes=histogram([r.strokes for r in regions if r.strokes is not None], STROKE_EDGES),
        sources=dict(sorted(Counter(r.source or "not said" for r in regions).items())),
    )


@signature_from(StatisticsOptions)
def count_annotations(
    place: Path,
    *,
    options: StatisticsOptions,
    notes: Callable[[str], None],
    progress: Progress | None = None,
) -> Statistics:
    """Counts what is in a folder of records, or in a dataset.

    Args:
        place: The folder.
        notes: Called with a note about everything that was left out.
        progress: Called before each image.
        options: The fields of `StatisticsOptions`, as keywords.

    Raises:
        BadData: There is no such folder, or nothing in it can be read.
    """
    if options.dataset is None:
        return statistics(facts_of_records([place], notes=notes, progress=progress))
    return statistics(
        facts_of_dataset(place, options.dataset, options.split, notes=notes, progress=progress)
    )


def facts_of_records(
    places: Iterable[Path], *, notes: Callable[[str], None], progress: Progress | None = None
) -> Iterator[RegionFacts]:
    """The counts of every file of records."""
    for recorded in read_all(places, notes=notes, progress=progress):
        yield facts_of_annotation(recorded.annotation)


def facts_of_dataset(
    root: Path,
    dataset: str,
    split: str,
    *,
    notes: Callable[[str], None],
    progress: Progress | None = None,
) -> Iterator[RegionFacts]:
    """The counts of every sample with truth; a damaged sample is left out."""
    if not root.is_dir():
        raise BadData(f"{root}: there is no such folder of data.")
    samples = list(DATASETS[dataset].samples(root, split))
    for done, sample in enumerate(samples):
        if progress is not None:
            progress(sample.id, done, len(samples))
        try:
            facts = facts_of_sample(sample.fresh())
        except DepthgaugeError as error:
            notes(f"{sample.id}: left out: {error}")
            continue
        if facts is not None:
            yield facts


def facts_of_annotation(annotation: Annotation, *, seed: int = 0) -> RegionFacts:
    """The counts of one image's records; normals come from a small reconstruction."""
    made = reconstruct(annotation, seed=seed, max_side_px=_PREVIEW_PX)
    # Lines and surfaces are counted at full size: thin ones disappear in a small picture.
    parts = segment(annotation, seed=seed)
    shapes = [parts.shapes.get(int(n), "curved") for n in np.unique(parts.smooth) if n > 0]
    return RegionFacts(
        id=annotation.picture.id,
        focal_ratio=_ratio(annotation.focal.focal_px, annotation.picture.width_px),
        surfaces={
            "continuous": _count(parts.continuous),
            "smooth": len(shapes),
            "planar": shapes.count("planar"),
            "curved": shapes.count("curved"),
        },
        has_occlusion=bool((parts.kind >= 2).any()),
        has_fold=bool((parts.kind == 1).any()),
        normals=normal_cells(made.normals),
        strokes=len(annotation.strokes),
        seconds=annotation.origin.seconds or math.nan,
        source=annotation.origin.source,
    )


def facts_of_sample(sample: Sample) -> RegionFacts | None:
    """The counts of one sample of a dataset with the items of OASIS; None if it has no truth.

    A smooth surface counts as planar if most of it lies on planes.
    """
    truth = sample.truth
    if truth is None:
        return None
    lines = truth["boundaries"] if "boundaries" in truth else np.zeros((1, 1, 2), np.float32)
    planar, curved = _planar_and_curved(truth)
    return RegionFacts(
        id=sample.id,
        focal_ratio=_focal_ratio(truth),
        surfaces={
            "continuous": _count(truth.get("continuous_labels")),
            "smooth": _count(truth.get("smooth_labels")),
            "planar": planar,
            "curved": curved,
        },
        has_occlusion=bool((lines[..., 0] == 1).any()),
        has_fold=bool((lines[..., 1] == 1).any()),
        normals=normal_cells(truth["normals"]) if "normals" in truth else _no_normals(),
    )


def normal_cells(normals: Map, rings: int = RINGS) -> NDArray[np.int64]:
    """The number of normals in each cell of a disc that shows the half sphere towards the viewer.

    The disc is Lambert's equal-area projection: surfaces that face the viewer are in the middle,
    surfaces seen from the side at the border. Ring k (from 0) has 2 k + 1 cells of equal size,
    starting at the right and going downwards; cell j of ring k has the index k * k + j. Normals
    that face away are counted in the outer ring.

    Args:
        normals: (..., 3) in camera axes; their length does not matter, NaN is left out.
        rings: Number of rings.

    >>> cells = normal_cells(np.array([[0, 0, -1], [1, 0.01, 0], [0, 0, -2.0]]), rings=2)
    >>> cells.tolist()
    [2, 1, 0, 0]
    """
    flat = np.asarray(normals, np.float64).reshape(-1, 1, 3)
    flat = flat[is_known(flat)]  # type: ignore[arg-type]  # float64 serves as well
    length = np.linalg.norm(flat, axis=1)
    x, y, z = (flat[length > 0] / length[length > 0][:, None]).T
    ring = np.minimum((rings * np.sqrt(np.clip(1 + z, 0, 1))).astype(np.int64), rings - 1)
    share = (np.arctan2(y, x) / (2 * math.pi)) % 1.0
    cell = np.minimum((share * (2 * ring + 1)).astype(np.int64), 2 * ring)
    return np.asarray(np.bincount(ring * ring + cell, minlength=rings * rings), np.int64)


def histogram(values: Sequence[float], edges: tuple[float, ...]) -> Histogram:
    """Counts values between edges; NaN is left out.

    >>> histogram([0.5, 1, 7, math.nan], (0.0, 1.0, 2.0)).counts
    (1, 2)
    """
    known = np.array([v for v in values if not math.isnan(v)], np.float64)
    inside = np.clip(known, edges[0], edges[-1])
    counts = np.histogram(inside, np.array(edges))[0]
    return Histogram(
        edges,
        tuple(int(n) for n in counts),
        float(known.mean()) if len(known) else None,
        float(np.median(known)) if len(known) else None,
        len(known),
    )


def _kinds(pairs: Sequence[tuple[bool, bool]], names: tuple[str, str]) -> dict[str, int]:
    found = Counter(pairs)
    return {
        f"only {names[0]}": found[True, False],
        f"only {names[1]}": found[False, True],
        "both": found[True, True],
        "none": found[False, False],
    }


def _count(labels: NDArray[Any] | None) -> int:
    """The number of different values above 0."""
    return 0 if labels is None else int((np.unique(labels) > 0).sum())


def _planar_and_curved(truth: Truth) -> tuple[int, int]:
    planes = truth.get("planes")
    labels = truth.get("smooth_labels")
    if labels is None:
        return _count(planes if planes is None else np.nan_to_num(planes)), 0
    numbers = np.asarray(labels)[np.asarray(labels) > 0].astype(np.int64)
    flat = np.zeros(numbers.shape) if planes is None else np.nan_to_num(planes)[labels > 0] > 0
    sizes = np.bincount(numbers)
    shares = np.bincount(numbers, flat)[sizes > 0] / sizes[sizes > 0]
    planar = int((shares > 0.5).sum())
    return planar, len(shares) - planar


def _focal_ratio(truth: Truth) -> float:
    if "camera" not in truth:
        return math.nan
    camera = truth["camera"]
    return _ratio(camera.focal_px[0], camera.size_px[0])


def _ratio(focal_px: float, width_px: float) -> float:
    """NaN if the focal length is unusable."""
    return focal_px / width_px if 0 < focal_px < math.inf else math.nan


def _no_normals() -> NDArray[np.int64]:
    return np.zeros(RINGS**2, np.int64)
