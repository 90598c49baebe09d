"""All tagged objects of a session: calibration, rectification, then each object by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from depthgauge._options import Options, signature_from
from depthgauge._progress import Progress, no_progress
from depthgauge._registry import unknown
from depthgauge.capture.pipeline import run_steps
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.step_options import plain_options
from depthgauge.capture.steps import Step, do_step, file_hash, has_step, read_step
from depthgauge.capture.tags.corrections import FILE as CORRECTIONS
from depthgauge.capture.tags.one_object import ObjectTask, read_points, require_photographs
from depthgauge.capture.tags.truth import compare_with_truth
from depthgauge.errors import BadData, DepthgaugeError
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.sessions import Session
from depthgauge.sessions.tags import TagObject, read_tag_truth, tag_objects, tag_truth_file

FOLDER = "tags"
REVISION = 1
_FOUND = ".tags"
_DOCUMENT_PAIRS = 40
_NO_THIRD = "the pair LC is left out"


class TagOptions(Options):
    """What is required of photographs, and what is excluded."""

    row_limit_px: float = Field(default=2.0, ge=0.0)
    """Stereo pairs of corners whose rows differ by more are excluded."""
    motion_limit_px: float = Field(default=1.0, gt=0.0)
    """Details outside of the tags that move by more, while tags are put on or taken off, count as
    moved."""
    board_pairs: int = Field(default=_DOCUMENT_PAIRS, ge=3)
    """Pairs of photographs of the board that a calibration needs."""


@dataclass(frozen=True, slots=True, eq=False)
class DoneObject:
    """An object that is done."""

    name: str
    step: Step
    """Its folder, figures and warnings."""
    truth: Mapping[str, Any] | None
    """Simulated sessions only: errors against the exact truth."""


@dataclass(frozen=True, slots=True, eq=False)
class TagRun:
    """What was made of a session with tags."""

    work: Path
    objects: Sequence[DoneObject]
    """Those that were asked for."""
    earlier: Sequence[DoneObject]
    """The others, as they were done before with the same calibration."""
    failed: Mapping[str, str]
    """Objects that could not be used, and why."""
    warnings: Sequence[str]
    """Of the calibration; those of objects are in their steps."""

    @property
    def all_objects(self) -> list[DoneObject]:
        """Those of this run and of earlier ones, by name."""
        return sorted((*self.objects, *self.earlier), key=lambda one: one.name)


@signature_from(TagOptions)
def capture_tags(
    session: Session,
    work: Path,
    options: TagOptions,
    names: Sequence[str] = (),
    progress: Progress | None = None,
    again: bool = False,
) -> TagRun:
    """Correspondences of a session with tags: calibrates, rectifies, and does every object.

    Each object gets a folder in `work/tags`: the rectified pictures, `points.json` and, where
    annotations are missing, a template. What is done from the same files is not repeated. An object
    with bad input is named; the others go on.

    Args:
        session: The session.
        work: Its work folder.
        options: What is required and excluded.
        names: Only these objects; all by default.
        progress: Called with what is being done.
        again: Do it even if nothing has changed.

    Raises:
        BadData: There are no objects, or no calibration is possible.
        UnknownName: There is no object of that name.
    """
    report = progress or no_progress
    objects = {thing.name: thing for thing in tag_objects(session)}
    for name in names:
        if name not in objects:
            raise unknown("object", name, list(objects))
    warnings = _calibrate(session, work, options.board_pairs, report)
    pair = read_pair(work, "LR")
    done: list[DoneObject] = []
    failed: dict[str, str] = {}
    for name in dict.fromkeys(names) or objects:
        try:
            step = _do(work, objects[name], pair, options, report, again)
            done.append(DoneObject(name, step, truth_figures(session, work, name, pair)))
        except DepthgaugeError as error:
            failed[name] = str(error)
    others = [name for name in objects if names and name not in names]
    earlier = [
        DoneObject(step.name, step, truth_figures(session, work, step.name, pair))
        for step in _done_before(work, others)
    ]
    return TagRun(work, done, earlier, failed, warnings)


def _done_before(work: Path, names: Sequence[str]) -> Iterator[Step]:
    """The steps of objects that were made with the rectification that is there now."""
    rectification = _rectification(work)
    for name in names:
        if has_step(work / FOLDER, name):
            step = read_step(work / FOLDER, name)
            if step.options.get("rectification") == rectification:
                yield step


def truth_figures(
    session: Session, work: Path, name: str, pair: RectifiedPair
) -> dict[str, Any] | None:
    """Errors of an object's correspondences; None where no truth is known."""
    path = tag_truth_file(session, name)
    if not session.simulated or not path.is_file():
        return None
    return compare_with_truth(read_points(work / FOLDER / name), read_tag_truth(path), pair)


def _calibrate(session: Session, work: Path, fewest: int, progress: Progress) -> list[str]:
    poses = [set(session.board_images(camera)) for camera in ("L", "R")]
    both = len(poses[0] & poses[1])
    if both < fewest:
        raise BadData(
            f"{session.folder}: there are {both} pairs of photographs of the board in "
            f"calibration/L and calibration/R, but {fewest} are needed; take more, or allow fewer "
            f"with --board-pairs {max(3, both)}."
        )
    done = run_steps(session, work, until="rectify", progress=progress)
    steps = {step.name: step for step in done}
    # `rectify` says only that there are no passive pictures; they are not needed here.
    # Nobody misses camera C either: two cameras photograph tags.
    said = [text for text in steps["calibrate"].warnings if _NO_THIRD not in text]
    warnings = [f"calibrate: {text}" for text in said]
    used = int(steps["calibrate"].figures["pairs"]["LR"]["views_used"])
    if used < fewest:
        warnings.append(
            f"calibrate: {used} of {both} pairs of photographs of the board could be used; "
            f"{fewest} or more are recommended"
        )
    return warnings


def _do(
    work: Path,
    thing: TagObject,
    pair: RectifiedPair,
    options: TagOptions,
    progress: Progress,
    again: bool,
) -> Step:
    """Does an object; its key depends on photographs, annotations, options and rectification."""
    require_photographs(thing)
    written = (thing.annotations, thing.folder / CORRECTIONS)
    annotations = [path for path in written if path.is_file()]
    task = ObjectTask(
        thing,
        pair,
        options.row_limit_px,
        options.motion_limit_px,
        kept=work / _FOUND,
        again=again,
        progress=progress,
    )
    return do_step(
        work / FOLDER,
        thing.name,
        task.make,
        options={**plain_options(options), "rectification": _rectification(work)},
        revision=REVISION,
        files=[*thing.images.values(), *annotations],
        again=again,
    )


def _rectification(work: Path) -> str:
    """A hash of the rectification, part of every object's key."""
    return file_hash(work / "rectify" / "LR.json")
