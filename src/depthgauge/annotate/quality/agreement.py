"""How well people agree with each other and with a sensor, and methods with the sensor (table 1).

Every ordered pair of witnesses of one photograph gives a row: the *moving* one is aligned to the
*fixed* one, whose depth order is taken as right. Rows are stored; tables are means over them.

Distances are in metres if a sensor saw the photograph. A person's cloud has no metres, so as the
fixed one it is first scaled to the sensor's. Without a sensor, the unit is the mean depth of the
fixed cloud.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

import numpy as np

from depthgauge._progress import Progress
from depthgauge.annotate.quality.clouds import cloud_distances, fit_cloud, mean_distance
from depthgauge.annotate.quality.turned_shape import TurnableSurfaces
from depthgauge.annotate.quality.witnesses import Witness, of_size
from depthgauge.errors import BadData
from depthgauge.geometry.angles import angles_between
from depthgauge.geometry.pairs import sample_depth_pairs
from depthgauge.geometry.projection import backproject
from depthgauge.metrics.ordinal import percent_wrong
from depthgauge.types import Map, Mask

SCHEMA = 1
COMPARISONS = ("human-human", "human-sensor", "method-sensor")
MEASURES = {
    "edist_surfaces": "EDist, a scale for each surface",
    "edist_global": "EDist, one scale",
    "edist_planar": "EDist, planar regions",
    "edist_curved": "EDist, curved regions",
    "edist_rotated": "EDist after the best rotation of normals",
    "rotation_deg": "that rotation",
    "angle_deg": "normals, mean angular error",
    "wkdr_percent": "depth order, WKDR",
}
"""The measures of a row, and their names. EDist in regions and after a rotation uses one scale for
each surface; the alignment is always that of the whole cloud."""
_PAIRS = 3000
MARGIN_PERCENT = 1.0
"""Least difference of the right depths of a pair, in percent of the smaller one."""


@dataclass(frozen=True, slots=True)
class PairRow:
    """One witness against another on one photograph; NaN if something cannot be measured."""

    sample: str
    comparison: str
    """One of `COMPARISONS`."""
    moving: str
    fixed: str
    pixels: int
    """Points that both have."""
    edist_surfaces: float
    edist_global: float
    edist_planar: float
    edist_curved: float
    edist_rotated: float
    rotation_deg: float
    angle_deg: float
    wkdr_percent: float


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over pairs."""

    value: float
    standard_error: float
    """Over images, with the pairs of one image taken together; NaN with fewer than two images."""
    pairs: int
    images: int


@dataclass(frozen=True)
class AgreementTable:
    """All pairs, and their means."""

    rows: tuple[PairRow, ...]
    unit: str
    """Unit of distances: `m`, or `mean depth` without a sensor."""
    depth_mean_m: float = math.nan
    """Mean depth of the sensor over all pixels of all photographs."""
    depth_std_m: float = math.nan

    def mean(self, comparison: str, measure: str) -> Mean:
        """The mean of a measure over all pairs of a comparison that have it.

        Args:
            comparison: One of `COMPARISONS`.
            measure: One of `MEASURES`.
        """
        found: dict[str, list[float]] = {}
        for row in self.rows:
            value = getattr(row, measure)
            if row.comparison == comparison and math.isfinite(value):
                found.setdefault(row.sample, []).append(value)
        return _mean(list(found.values()))

    def comparisons(self) -> tuple[str, ...]:
        """The comparisons that have a row."""
        there = {row.comparison for row in self.rows}
        return tuple(name for name in COMPARISONS if name in there)

    def to_json(self) -> dict[str, Any]:
        """Plain data for strict JSON: means, and every row."""
        means = {
            comparison: {m: _plain(asdict(self.mean(comparison, m))) for m in MEASURES}
            for comparison in self.comparisons()
        }
        body = {"unit": self.unit, "depth_mean_m": self.depth_mean_m}
        body["depth_std_m"] = self.depth_std_m
        rows = [_plain(asdict(row)) for row in self.rows]
        return {"schema": SCHEMA, **_plain(body), "means": means, "pairs": rows}


def agreement(
    photographs: Mapping[str, Sequence[Witness]] | Iterable[tuple[str, Sequence[Witness]]],
    *,
    rotate: bool = True,
    margin_percent: float = MARGIN_PERCENT,
    seed: int = 0,
    progress: Progress | None = None,
) -> AgreementTable:
    """Compares all witnesses of every photograph.

    Args:
        photographs: The witnesses of each; at most one of them is a sensor. All maps are resized
            to the size of the first person's.
        rotate: Whether to search the best rotation, which takes most of the time.
        margin_percent: See `wkdr_percent`.
        seed: Seed of the pairs of points whose order is compared.
        progress: Called after each pair and each photograph; the number of photographs is 0 if
            it is not known in advance.

    Raises:
        BadData: There is nothing to compare, or only some photographs have a sensor.
    """
    pairs = photographs.items() if isinstance(photographs, Mapping) else photographs
    whole = len(photographs) if isinstance(photographs, Sized) else 0
    rows: list[PairRow] = []
    depths: list[Map] = []
    sensors = set()
    for done, (sample, witnesses) in enumerate(pairs, 1):
        sensor, others = _sorted(sample, witnesses)
        sensors.add(sensor is not None)
        if sensor is not None:
            depths.append(sensor.depth[np.isfinite(sensor.depth)])
        asked = _Asked(rotate, margin_percent, seed)
        for row in _rows(sample, sensor, others, asked):
            rows.append(row)
            if progress is not None:
                progress(f"{sample}: {row.moving}, {row.fixed}", done - 1, whole)
        if progress is not None:
            progress(sample, done, whole)
    if not rows:
        raise BadData(
            "no photograph has two to compare: give the records of two people, or a sensor "
            "(--sensor names another folder); repair or remove what was left out."
        )
    if len(sensors) > 1:
        raise BadData(
            "some photographs have a sensor's depth and some do not; their distances are in "
            "different units, so compare the two groups separately."
        )
    seen = np.concatenate(depths).astype(np.float64) if depths else np.zeros(0)
    spread = (float(seen.mean()), float(seen.std())) if len(seen) else (math.nan, math.nan)
    return AgreementTable(tuple(rows), "m" if depths else "mean depth", *spread)


def compare(
    sample: str,
    moving: Witness,
    fixed: Witness,
    *,
    sensor: Witness | None = None,
    turnable: TurnableSurfaces | None = None,
    margin_percent: float = MARGIN_PERCENT,
    seed: int = 0,
) -> PairRow:
    """One row: how far the moving witness is from the fixed one; all have the same size.

    Args:
        sample: The photograph.
        moving: The witness that is aligned.
        fixed: The witness that is taken as right.
        sensor: The witness whose metres are used.
        turnable: The moving person, prepared for rotation; None: no rotation is searched.
        margin_percent: See `wkdr_percent`.
        seed: Seed of the pairs of points.
    """
    clouds = backproject(moving.depth, moving.camera), backproject(fixed.depth, fixed.camera)
    unit = _unit(fixed, clouds[1], sensor)
    apart = cloud_distances(*clouds, moving.surfaces) * unit
    regions = _shapes(moving, fixed)
    nearest = mean_distance(apart)
    turned, angle = math.nan, math.nan
    if turnable is not None:
        found, turn = turnable.edist_after_turning(fixed)
        turned, angle = found * unit, turn.angle_deg
    return PairRow(
        sample=sample,
        comparison=f"{moving.kind}-{fixed.kind}",
        moving=moving.who,
        fixed=fixed.who,
        pixels=int(np.isfinite(apart).sum()),
        edist_surfaces=nearest,
        edist_global=mean_distance(cloud_distances(*clouds)) * unit,
        edist_planar=math.nan if regions is None else mean_distance(apart, regions),
        edist_curved=math.nan if regions is None else mean_distance(apart, ~regions),
        edist_rotated=turned,
        rotation_deg=angle,
        angle_deg=mean_angle_deg(moving.normals, fixed.normals),
        wkdr_percent=wkdr_percent(
            moving.depth, fixed.depth, margin_percent=margin_percent, seed=seed
        ),
    )


def mean_angle_deg(first: Map, second: Map) -> float:
    """Mean angle between two normal maps where both are known; NaN if there is no such pixel.

    >>> a = np.array([[[0, 0, -1.0]]]); b = np.array([[[1.0, 0, 0]]])
    >>> mean_angle_deg(a, b)
    90.0
    """
    angles = angles_between(first, second)
    known = angles[np.isfinite(angles)].astype(np.float64)
    return float(known.mean()) if known.size else math.nan


def wkdr_percent(
    depth: Map,
    right: Map,
    *,
    count: int = _PAIRS,
    margin_percent: float = MARGIN_PERCENT,
    seed: int = 0,
) -> float:
    """Share of point pairs whose order differs from the right one; a tie differs.

    Args:
        depth: The depth to judge.
        right: The depth with the right order; half of the pairs are random, half lie on one row.
        count: Number of pairs.
        margin_percent: The right depths of a pair differ by at least so much; 0, as published,
            includes pairs that differ by rounding only.
        seed: Seed of the pairs.

    Returns:
        In percent; NaN if the maps have no pair in common.
    """
    common = np.where(np.isfinite(depth), right, np.float32(np.nan))
    return percent_wrong(depth, sample_depth_pairs(common, count, seed, margin_percent))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What to compare."""

    rotate: bool
    margin_percent: float
    seed: int


def _sorted(sample: str, witnesses: Sequence[Witness]) -> tuple[Witness | None, list[Witness]]:
    """The sensor and the others, all with the same size."""
    if not witnesses:
        return None, []
    size_px = next((w for w in witnesses if w.kind == "human"), witnesses[0]).camera.size_px
    same = [of_size(witness, size_px) for witness in witnesses]
    sensors = [witness for witness in same if witness.kind == "sensor"]
    if len(sensors) > 1:
        raise BadData(f"{sample}: {len(sensors)} sensors; only one can be the unit of distances.")
    return (sensors[0] if sensors else None), [w for w in same if w.kind != "sensor"]


def _rows(
    sample: str, sensor: Witness | None, others: list[Witness], asked: _Asked
) -> Iterator[PairRow]:
    people = [witness for witness in others if witness.kind == "human"]
    pairs = list(permutations(people, 2))
    if sensor is not None:
        pairs += [(witness, sensor) for witness in others]
    turning = (
        {id(person): TurnableSurfaces(person) for person in people}
        if asked.rotate and pairs
        else {}
    )
    for moving, fixed in pairs:
        turnable = turning.get(id(moving))
        yield compare(
            sample,
            moving,
            fixed,
            sensor=sensor,
            turnable=turnable,
            margin_percent=asked.margin_percent,
            seed=asked.seed,
        )


def _unit(fixed: Witness, cloud: Map, sensor: Witness | None) -> float:
    """The factor for distances in the fixed cloud's unit."""
    if fixed.kind == "sensor":
        return 1.0
    if sensor is not None:
        return fit_cloud(cloud, backproject(sensor.depth, sensor.camera)).scales.get(1, math.nan)
    known = fixed.depth[np.isfinite(fixed.depth)].astype(np.float64)
    return 1.0 / float(known.mean()) if len(known) else math.nan


def _shapes(moving: Witness, fixed: Witness) -> Mask | None:
    """Planar pixels according to the moving witness, or else the fixed one."""
    return fixed.planar if moving.planar is None else moving.planar


def _mean(images: list[list[float]]) -> Mean:
    """The mean over all values; its standard error from the means of the images."""
    sizes = np.array([len(values) for values in images], np.float64)
    if not len(sizes):
        return Mean(math.nan, math.nan, 0, 0)
    means = np.array([np.mean(values) for values in images])
    n = len(sizes)
    value = float((sizes * means).sum() / sizes.sum())
    error = math.nan
    if n > 1:
        apart = sizes * (means - value)
        error = math.sqrt(float((apart * apart).sum()) * n / (n - 1)) / float(sizes.sum())
    return Mean(value, error, int(sizes.sum()), n)


def _plain(body: dict[str, Any]) -> dict[str, Any]:
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in body.items()
    }
