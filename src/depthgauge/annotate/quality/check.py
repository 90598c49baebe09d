"""What people should fix in files of records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge._progress import Progress
from depthgauge._shorten import few_of_each_kind
from depthgauge.annotate.quality.problems import problems_of
from depthgauge.annotate.reconstruct.hand_normals import hand_normals, viewing_ray
from depthgauge.annotate.reconstruct.reconstruction import Reconstruction, reconstruct
from depthgauge.annotate.reconstruct.relations import faces_away
from depthgauge.annotate.records.annotation import Annotation, NormalMark
from depthgauge.annotate.records.files import history
from depthgauge.annotate.records.folders import find_records
from depthgauge.errors import DepthgaugeError
from depthgauge.types import Camera

_EDGE_ON = 0.05
"""Below this cosine to the ray, a plane's depth diverges: the minimum that `reconstruct` uses."""


@dataclass(frozen=True, slots=True)
class RecordProblems:
    """What people should fix in files of records."""

    by_file: Mapping[Path, tuple[str, ...]]
    """Sentences for each file; empty for a file without problems."""

    @property
    def count(self) -> int:
        """The number of problems."""
        return sum(map(len, self.by_file.values()))

    def to_json(self) -> dict[str, Any]:
        """Plain data for strict JSON."""
        listed = {str(path): list(texts) for path, texts in self.by_file.items()}
        return {"ok": not self.count, "problems": listed}


def check_records(places: Iterable[Path], *, progress: Progress | None = None) -> RecordProblems:
    """Finds the problems in every file.

    Depth orders are checked by a reconstruction, relations by turning the normals to satisfy them.
    At most eight problems of one kind are listed, followed by the number of the rest.

    Args:
        places: Files and folders of records.
        progress: Called before each file.

    Raises:
        BadData: There are no records.
    """
    paths = find_records(places)
    found: dict[Path, tuple[str, ...]] = {}
    for done, path in enumerate(paths):
        if progress is not None:
            progress(path.stem, done, len(paths))
        found[path] = tuple(_problems(path))
    return RecordProblems(found)


def _problems(path: Path) -> list[str]:
    try:
        told = history(path)
        annotation = told.annotation
        made = reconstruct(annotation)
        problems = [
            *(note.removeprefix(f"{path}: ") for note in told.notes),
            *problems_of(annotation, made.segmentation),
            *_of_edges(annotation, made),
            *_of_relations(annotation, made),
        ]
    except DepthgaugeError as error:
        return [str(error).removeprefix(f"{path}: ")]
    if made.violated:
        strokes = ", ".join(made.violated)
        problems.append(f"The depth orders of strokes {strokes} do not hold; check their sides.")
    return list(few_of_each_kind(problems))


def _of_edges(annotation: Annotation, made: Reconstruction) -> Iterator[str]:
    """Planes that are invisible; the rim of a curved surface may be edge-on."""
    surfaces = made.segmentation
    for name, mark in annotation.normals.items():
        if surfaces.shapes.get(surfaces.smooth_at(mark.at_px)) != "planar":
            continue
        degrees = _edge_on_degrees(mark, made.camera)
        if degrees is not None:
            yield (
                f"Normal '{name}' makes its plane appear edge-on ({degrees:.1f} degrees from the "
                "line of sight); turn it towards the viewer."
            )


def _edge_on_degrees(mark: NormalMark, camera: Camera) -> float | None:
    """The angle between normal and ray; None if the plane is visible or faces away."""
    normal = np.array(mark.normal, np.float64)
    if not normal.any():
        return None
    normal /= np.abs(normal).max()
    normal /= np.linalg.norm(normal)
    ray = viewing_ray(mark.at_px, camera)
    cosine = -float(normal @ ray)
    if faces_away(normal, ray) or cosine >= _EDGE_ON:
        return None
    return math.degrees(math.acos(max(cosine, 0.0)))


def _of_relations(annotation: Annotation, made: Reconstruction) -> list[str]:
    """Notes from turning the normals to the relations: contradictions, normals that had to stop."""
    surfaces = made.segmentation
    known = {surfaces.smooth_at(mark.at_px) for mark in annotation.normals.values()}

    def is_plane(mark: str) -> bool:
        number = surfaces.marks.get(mark, 0)
        return number in known and surfaces.shapes.get(number) == "planar"

    # `problems_of` reports relations between anything else.
    usable = {
        name: relation
        for name, relation in annotation.relations.items()
        if is_plane(relation.first)
        and is_plane(relation.second)
        and surfaces.marks[relation.first] != surfaces.marks[relation.second]
    }
    alone, related = (
        hand_normals(replace(annotation, relations=relations), surfaces, made.camera).notes
        for relations in ({}, usable)
    )
    return [note for note in related if note not in alone]
