"""What `depthgauge demo` shows: data, methods that run on it, and rankings that are compared.

Nothing here prints or draws. Each step is a function with a `progress` callback; the caller
reports what is going on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from depthgauge._progress import Progress
    from depthgauge.analysis.rank_moves import Move, RankMoves
    from depthgauge.capture.steps import Step
    from depthgauge.engine.store.record import Run
    from depthgauge.sessions import Session


@dataclass(frozen=True, slots=True)
class Demonstration:
    """Methods on generated data."""

    what: str
    """A description of the data, for people."""
    kind: str
    """The generator of the data."""
    options: Mapping[str, Any]
    """Options of the generator."""
    folder: str
    """Folder of the data, inside the demonstration's folder."""
    run_folder: str
    benchmark: str
    methods: tuple[str, ...]
    page: str
    """The report's file."""
    title: str
    columns: tuple[str, ...]
    """The few scores that are printed; the first sorts the page."""

    def make_data(self, out: Path, progress: Progress) -> None:
        """Makes the data again."""
        from depthgauge.synth.generators import generate

        folder = out / self.folder
        generate(self.kind, folder, overwrite=True, progress=progress, **self.options)

    def run(self, out: Path, workers: int | None, progress: Progress) -> Run:
        """Runs the methods on the data; an interrupted run is continued."""
        from depthgauge.engine.running.run import run

        data, target = out / self.folder, out / self.run_folder
        return run(self.benchmark, data, self.methods, target, workers=workers, progress=progress)


DEMONSTRATIONS = {
    "stereo": Demonstration(
        "eight stereo scenes",
        "stereo-scenes",
        {},
        "scenes",
        "run",
        "stereo-scenes",
        (
            "sgbm",
            "sgbm-large=sgbm:block_size=11",
            "sgbm-filled=sgbm:mode=3way,fill=background",
            "bm-small=bm:block_size=9",
            "bm-large=bm:block_size=21",
            "constant",
        ),
        "report.html",
        "Bad pixels (error above 2 px or no estimate) on eight scenes",
        (
            "badpix:2@all",
            "badpix:2@thin",
            "foreground_fattening@all",
            "foreground_thinning@all",
            "porosity@all",
            "median_angular_error@planar",
        ),
    ),
    "light-field": Demonstration(
        "four stratified light fields",
        "stratified",
        # A quarter of the benchmark's pixels and a third of its views, so that it takes seconds.
        # Dots keep the widths in px that they have at full size, otherwise most would be invisible.
        {
            "scenes": ("backgammon", "dots", "pyramids", "stripes"),
            "size_px": 256,
            "views": 5,
            "scale": 4,
            "diameter": "3:30:10",
        },
        "light-fields",
        "light-fields-run",
        "stratified",
        (
            "lf-cost-volume",
            "lf-epi",
            "pair=lf-pair",
            "pair-filled=lf-pair:fill=background",
            "constant",
        ),
        "light-fields.html",
        "Bad pixels (error above 0.07 px or no estimate) on four light fields",
        (
            "badpix:0.07@all",
            "badpix:0.07@planar_surfaces",
            "foreground_fattening@all",
            "foreground_thinning@all",
            "porosity:0.15@all",
            "missed_dots:80@all",
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class LabelDemonstration:
    """Labels made by the capture pipeline, and whether they rank methods as the exact truth does.

    By default a fiftieth of a real session's pixels, which takes minutes.
    """

    scenes: tuple[str, ...] = ("kitchen", "bathroom")
    session: Mapping[str, Any] = field(
        default_factory=lambda: {
            "width_px": 480,
            "patterns": 10,
            "illuminations": 2,
            "poses": 16,
            "samples": 16,
        }
    )
    """Options of `make capture-session`."""
    benchmark: str = "booster-balanced@train"
    methods: tuple[str, ...] = (
        "sgbm-full=sgbm:fill=background",
        "sgbm-half=sgbm:input_scale=0.5,fill=background",
        "sgbm-quarter=sgbm:input_scale=0.25,fill=background",
        "sgbm-gaps=sgbm",
        "bm",
        "constant",
    )
    scores: tuple[str, ...] = ("badpix:2@visible", "mae@visible", "badpix:2@tom")
    """The first is the main one. They are measured where both views see the scene: elsewhere the
    pipeline gives no labels, but the truth has values."""

    def folders(self, out: Path) -> list[Path]:
        """The sessions' folders."""
        return [out / "sessions" / scene for scene in self.scenes]

    def photograph(self, folder: Path, progress: Progress) -> tuple[str, ...]:
        """Makes the session of a folder; returns warnings."""
        from depthgauge.synth.generators import generate

        options = {"scene": folder.name, **self.session}
        made = generate("capture-session", folder, overwrite=True, progress=progress, **options)
        return made.warnings

    def label(self, session: Session, out: Path, progress: Progress) -> Iterator[Step]:
        """Runs all steps of the pipeline, one after the other, and exports labels and truth."""
        from depthgauge.capture.export import export
        from depthgauge.capture.pipeline import run_steps

        work = session.folder / "work"
        yield from run_steps(session, work, progress=progress)
        export(session, work, out / "labels", overwrite=True)
        export(session, work, out / "exact", exact=True, overwrite=True)

    def run(self, out: Path, name: str, workers: int | None, progress: Progress) -> Run:
        """Runs the methods against `labels` or `exact`."""
        from depthgauge.engine.running.run import run

        target = out / f"{name}-run"
        return run(
            self.benchmark, out / name, self.methods, target, workers=workers, progress=progress
        )

    def compare(self, labels: Run, exact: Run) -> dict[str, RankMoves]:
        """For each score, the ranks against the labels and against the exact truth."""
        from depthgauge.analysis.boards.make_board import make_board
        from depthgauge.analysis.rank_moves import rank_moves

        found = {}
        for score in self.scores:
            old, new = (make_board(run, main=score) for run in (labels, exact))
            found[score] = rank_moves(old, new, (labels.protocol, exact.protocol))
        return found


def moved_methods(found: RankMoves) -> list[Move]:
    """The methods whose rank differs, sorted by their rank against the labels."""
    moved = [move for move in found.moves if move.places]
    return sorted(moved, key=lambda move: (move.old_rank, move.label))
