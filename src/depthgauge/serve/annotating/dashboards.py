"""What organisers want to know of a batch: who drew what, for how long, whether people agree."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from depthgauge.annotate.quality.clouds import edist
from depthgauge.annotate.reconstruct import reconstruct
from depthgauge.annotate.reconstruct.reconstruction import Reconstruction
from depthgauge.annotate.records import Annotation
from depthgauge.serve.annotating.batches import Batch

_SIDE_PX = 96
"""Drawings are compared at this size: a page shows many of them."""
_MOST_COMPARED = 8
"""Of one photograph; a quiz has the drawings of everybody."""
_DISPUTED_PERCENT = 15.0
"""About four times what careful people are apart (table 1 of the paper: 3 to 4 % of the depth)."""


@dataclass(frozen=True, slots=True)
class PersonRow:
    """One person in a batch."""

    who: str
    taken: int
    finished: int
    minutes: float | None
    """Median time of a finished drawing."""
    good: int
    bad: int


@dataclass(frozen=True, slots=True)
class PictureRow:
    """One photograph in a batch."""

    picture: str
    people: int
    wanted: int
    finished: int
    minutes: float | None
    apart_percent: float | None
    """Mean distance of the surfaces of two people in percent of the mean depth, after one scale and
    a shift; None with fewer than two."""
    accepted: int
    rejected: int


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A batch at a glance."""

    people: list[PersonRow]
    pictures: list[PictureRow]


class Comparisons:
    """How far apart people's drawings are; computed once as long as they do not change."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[tuple[Annotation, ...], float | None]] = {}

    def apart_percent(self, batch: Batch, picture: str, drawings: list[Annotation]) -> float | None:
        """Mean over all pairs of people, in percent of the mean depth."""
        key, given = (batch.id, picture), tuple(drawings)
        kept = self._kept.get(key)
        if kept is None or kept[0] != given:
            kept = self._kept[key] = given, _apart(drawings)
        return kept[1]


def disputed(batch: Batch, comparisons: Comparisons) -> frozenset[str]:
    """The photographs on which all who should have drawn, and whose surfaces are far apart."""
    found = set()
    for picture, people in batch.taken().items():
        drawings = [batch.drawing(person, picture) for person in people]
        done = [one for one in drawings if one is not None and one.finished]
        if len(done) == batch.people and batch.people > 1:
            apart = comparisons.apart_percent(batch, picture, done)
            if apart is not None and apart > _DISPUTED_PERCENT:
                found.add(picture)
    return frozenset(found)


def dashboard_of(batch: Batch, comparisons: Comparisons) -> Dashboard:
    """Counts what is in a batch."""
    taken, wanted = batch.taken(), batch.wanted()
    counted = batch.tallies()
    drawn = {
        (person, picture): found
        for picture, people in taken.items()
        for person in people
        if (found := batch.drawing(person, picture)) is not None and found.finished
    }
    pictures = []
    for picture, people in taken.items():
        here = [drawn[person, picture] for person in people if (person, picture) in drawn]
        votes = [counted[name] for person in people if (name := f"{person}/{picture}") in counted]
        pictures.append(
            PictureRow(
                picture,
                len(people),
                wanted[picture],
                len(here),
                _minutes(here),
                comparisons.apart_percent(batch, picture, here),
                sum(one.status == "accepted" for one in votes),
                sum(one.status == "rejected" for one in votes),
            )
        )
    everyone = sorted({person for people in taken.values() for person in people})
    rows = []
    for person in everyone:
        own = [found for (who, _), found in drawn.items() if who == person]
        votes = [one for name, one in counted.items() if name.partition("/")[0] == person]
        rows.append(
            PersonRow(
                person,
                sum(person in people for people in taken.values()),
                len(own),
                _minutes(own),
                sum(one.good for one in votes),
                sum(one.bad for one in votes),
            )
        )
    return Dashboard(rows, pictures)


def _minutes(drawings: list[Annotation]) -> float | None:
    return statistics.median(one.origin.seconds for one in drawings) / 60 if drawings else None


def _apart(drawings: list[Annotation]) -> float | None:
    made = [reconstruct(one, max_side_px=_SIDE_PX) for one in drawings[:_MOST_COMPARED]]
    found = [value for a, b in combinations(made, 2) if (value := _pair(a, b)) is not None]
    return float(np.mean(found)) if found else None


def _pair(moving: Reconstruction, fixed: Reconstruction) -> float | None:
    both = np.isfinite(moving.depth) & np.isfinite(fixed.depth)
    if np.count_nonzero(both) < 3:
        return None
    away = edist(moving.depth, moving.camera, fixed.depth, fixed.camera)
    depth = float(fixed.depth[both].mean())
    return 100 * float(away) / depth if np.isfinite(away) and depth > 0 else None
