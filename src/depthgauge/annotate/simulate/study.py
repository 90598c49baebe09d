"""A study with simulated people and an exact sensor, for experiments and tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depthgauge import io
from depthgauge._options import signature_from
from depthgauge._progress import Progress
from depthgauge.annotate.options import StudyOptions
from depthgauge.annotate.quality.studies import SENSOR
from depthgauge.annotate.records.annotation import Annotation
from depthgauge.annotate.records.files import read_records, write_records
from depthgauge.annotate.records.folders import RECORDS, SUFFIX
from depthgauge.annotate.simulate.annotator import simulate
from depthgauge.annotate.simulate.noise import LEVELS
from depthgauge.errors import CannotWrite
from depthgauge.synth.sets.single_views import make_view


@dataclass(frozen=True, slots=True)
class SimulatedStudy:
    """A study that was written."""

    folder: Path
    scenes: tuple[str, ...]
    """Their ids."""
    annotators: int

    def to_json(self) -> dict[str, Any]:
        """Plain data for strict JSON."""
        return {
            "folder": str(self.folder),
            "scenes": list(self.scenes),
            "annotators": self.annotators,
        }


@signature_from(StudyOptions)
def write_study(
    out: Path,
    kind: str,
    *,
    options: StudyOptions,
    progress: Progress | None = None,
) -> SimulatedStudy:
    """Writes scenes annotated by simulated people, with the exact depth as that of the sensor.

    Writing the same study again changes nothing; other records are never replaced.

    Args:
        out: The study's folder (see `annotate.studies`).
        kind: Kind of scene: `planar`, `curved`, `mixed` or a room.
        progress: Called after each annotation.
        options: The fields of `StudyOptions`, as keywords.
    """
    scenes, annotators = options.scenes, options.annotators
    made = []
    for number in range(scenes):
        view = make_view(kind, options.seed + number, (options.width, options.height))
        made.append(view.id)
        people = [simulate(view, LEVELS[options.noise], seed=n) for n in range(1, annotators + 1)]
        _refuse_others(out, people)
        # Records first: if they are rejected, their picture stays unchanged.
        for person, annotation in enumerate(people, 1):
            write_records(_place(_record(out, annotation)), annotation)
            if progress is not None:
                progress(view.id, number * annotators + person, scenes * annotators)
        io.write_image(_place(out / "images" / f"{view.id}.png"), view.image)
        for quantity in ("depth", "normals"):
            path = _place(out / SENSOR / quantity / f"{view.id}.npy")
            io.write_map(path, getattr(view, quantity), quantity=quantity)
    return SimulatedStudy(out, tuple(made), annotators)


def _record(out: Path, annotation: Annotation) -> Path:
    return out / RECORDS / annotation.origin.who / f"{annotation.picture.id}{SUFFIX}"


def _refuse_others(out: Path, people: list[Annotation]) -> None:
    """Other records under the same name belong to someone else, or to other options."""
    for annotation in people:
        path = _record(out, annotation)
        if path.is_file() and read_records(path) != annotation:
            raise CannotWrite(f"{path}: holds other records already; give another --out.")


def _place(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
