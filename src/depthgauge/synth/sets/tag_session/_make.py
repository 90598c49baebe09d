"""Writes a whole session with tags; existing pictures are kept."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge._options import signature_from
from depthgauge._progress import Progress
from depthgauge.errors import CannotWrite
from depthgauge.io._locks import only_one
from depthgauge.sessions import Board, Session, write_session
from depthgauge.sessions.tags import (
    TAGGED_TIMES,
    TIMES,
    TagNote,
    TagSessionTruth,
    read_tag_truth,
    tag_truth_file,
    write_annotations,
    write_tag_truth,
)
from depthgauge.synth.generators.tag_session import TagSessionOptions
from depthgauge.synth.render.embree import trace
from depthgauge.synth.sets.capture_session._board import (
    Pose,
    board_picture,
    board_poses,
    lens_slopes,
)
from depthgauge.synth.sets.capture_session._folder import (
    LOCK,
    need_folder,
    note,
    open_made,
    write_picture,
)
from depthgauge.synth.sets.capture_session._sensor import GAINS, developed, key
from depthgauge.synth.sets.tag_session._arrangements import ARRANGEMENTS
from depthgauge.synth.sets.tag_session._light import Lit, photograph
from depthgauge.synth.sets.tag_session._rig import AIM_M, FOCAL_WIDTHS, rig, standing, stands
from depthgauge.synth.sets.tag_session._table import AFTER_S, BEFORE_S, Table
from depthgauge.synth.sets.tag_session._truth import tag_truths
from depthgauge.types import Camera

MAKER = "depthgauge make tag-session"
REVISION = 1
"""Raised whenever the same options may give other bytes."""
TAG_PX = 34.0
"""How large small tags appear in the middle of the scene."""
SQUARE_M = 0.05
"""Squares of the board."""
EXPOSURE = 0.75
"""Of a full pixel: what paper in full light gives."""
_TIMES_S = {0: BEFORE_S, 1: BEFORE_S, 2: AFTER_S, 3: AFTER_S}
_CAMERAS = ("L", "R")
_AT_ONCE = 15
"""Poses of the board that all cameras see, in one call of `board_poses`."""
_OURS = ("calibration", "objects", "truth")


@dataclass(frozen=True, slots=True)
class SimulatedTagSession:
    """A complete session."""

    session: Session
    objects: tuple[str, ...]
    """Their names."""
    tags: int
    """Tags of all objects."""


@signature_from(TagSessionOptions)
def write_tag_session(
    out: Path | str,
    options: TagSessionOptions,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> SimulatedTagSession:
    """Photographs tables with tags by a simulated stereo rig.

    Existing pictures are kept, so an interrupted session is continued.

    Args:
        out: The session's folder.
        options: What is photographed, and how; or its fields as keywords.
        overwrite: Replaces a simulated session with other options.
        progress: Called after every picture.

    Raises:
        Misuse: An option is out of its limits.
        CannotWrite: The folder contains something else.
        MissingExtra: Embree is not installed.
    """
    out = Path(out)
    need_folder(out)
    busy = f"{out}: another process is making this session; wait for it or write elsewhere."
    with only_one(out / LOCK, busy):
        return _write(out, options, overwrite, progress)


def _write(
    out: Path, options: TagSessionOptions, overwrite: bool, progress: Progress | None
) -> SimulatedTagSession:
    session = _prepared(out, options, overwrite)
    count = _Count(2 * options.boards + len(TIMES) * 2 * options.objects, progress)
    cameras = rig((options.width, options.height), options.seed)
    _write_boards(session, cameras, options, count)
    names = tuple(_object_name(number) for number in range(options.objects))
    tags = 0
    for number, name in enumerate(names):
        tags += _Object(session, options, number, name, cameras).write(count)
    return SimulatedTagSession(note(session, complete=True), names, tags)


def _object_name(number: int) -> str:
    """The kinds in turn.

    >>> _object_name(4)
    '04-cabinet'
    """
    kinds = tuple(ARRANGEMENTS)
    return f"{number:02d}-{kinds[number % len(kinds)]}"


class _Count:
    """Counts pictures and reports progress."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._done, self._progress = total, 0, progress

    def add(self, what: str) -> None:
        """Counts a finished picture."""
        self._done += 1
        if self._progress is not None:
            self._progress(what, self._done, self._total)


# --- the folder -----------------------------------------------------------------------------------


def _prepared(folder: Path, options: TagSessionOptions, overwrite: bool) -> Session:
    """The session in the folder, new or to be continued."""
    parameters = {**options.model_dump(mode="json"), "revision": REVISION}
    if (folder / "session.json").exists():
        known = open_made(folder, MAKER).notes.get("parameters", {})
        if overwrite:
            for name in _OURS:
                shutil.rmtree(folder / name, ignore_errors=True)
        elif differ := _differences(known, parameters):
            raise CannotWrite(
                f"{folder}: holds a session with other parameters: {differ}; write elsewhere or "
                "overwrite it."
            )
    elif any(path.name not in (LOCK, *_OURS) for path in folder.iterdir()):
        raise CannotWrite(f"{folder}: holds other files already; choose an empty or new folder.")
    notes = {"made_by": MAKER, "parameters": parameters}
    session = Session(
        folder, f"tags-{options.seed}", Board(square_m=SQUARE_M), simulated=True, notes=notes
    )
    write_session(session)
    return session


def _differences(known: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    names = [name for name in asked if known.get(name) != asked[name]]
    return ", ".join(f"{n} {known.get(n)!r} (asked for {asked[n]!r})" for n in names)


# --- the boards -----------------------------------------------------------------------------------


def _write_boards(
    session: Session, cameras: Mapping[str, Camera], options: TagSessionOptions, count: _Count
) -> None:
    """Writes calibration/<camera>/<pose>.png; both cameras see the whole board in every pose."""
    board = session.known_board()
    # The left camera also stands in for the wide one of a trinocular rig.
    seen_by = {"L": cameras["L"], "C": cameras["L"], "R": cameras["R"]}
    poses: list[Pose] = []
    while (left := options.boards - len(poses)) > 0:
        seed = options.seed * 1000 + len(poses) // _AT_ONCE
        poses += board_poses(board, seen_by, min(left, _AT_ONCE), seed)
    for name, camera in cameras.items():
        slopes = None
        for number in range(options.boards):
            file = session.folder / "calibration" / name / f"{number:02d}.png"
            if not file.is_file():
                slopes = lens_slopes(camera) if slopes is None else slopes
                noise = key(options.seed, "board", name, number)
                write_picture(file, board_picture(board, poses[number], camera, slopes, noise))
            count.add(f"board {number} in {name}")


# --- an object ------------------------------------------------------------------------------------


class _Object:
    """One object: eight photographs, annotations and truth."""

    def __init__(
        self,
        session: Session,
        options: TagSessionOptions,
        number: int,
        name: str,
        cameras: Mapping[str, Camera],
    ) -> None:
        self._session, self._options, self._name = session, options, name
        self._folder = session.folder / "objects" / name
        rng = np.random.default_rng([options.seed, 82, number])
        self._table = Table(rng, TAG_PX * AIM_M / (FOCAL_WIDTHS * options.width))
        ARRANGEMENTS[name.partition("-")[2]](self._table)
        before, after = (standing(cameras, stand) for stand in stands(rng))
        self._cameras = {
            (time, number): (before if time < 2 else after)[camera]
            for time in TIMES
            for number, camera in enumerate(_CAMERAS)
        }

    def write(self, count: _Count) -> int:
        """Writes what is missing; returns the number of tags."""
        for time in TIMES:
            files = [self._folder / f"{time}_{camera}.png" for camera in (0, 1)]
            if not all(file.is_file() for file in files):
                self._photograph(time, files)
            for camera in (0, 1):
                count.add(f"{self._name} at time {time}, camera {camera}")
        truth_file = tag_truth_file(self._session, self._name)
        notes_file = self._folder / "annotations.toml"
        if not (truth_file.is_file() and notes_file.is_file()):
            truth, notes = self._truth()
            write_annotations(notes_file, notes)
            write_tag_truth(truth_file, truth)
        return len(read_tag_truth(truth_file).tags)

    def _photograph(self, time: int, files: list[Path]) -> None:
        scene, stickers = self._table.scene(self._name, tags=time in TAGGED_TIMES)
        lit = Lit(trace(scene, _TIMES_S[time]), stickers, self._options.width)
        for camera, file in enumerate(files):
            exact = self._cameras[time, camera]
            light = photograph(lit, exact, self._options.samples)
            light *= np.float32(EXPOSURE * GAINS[_CAMERAS[camera]])
            noise = key(self._options.seed, self._name, time, camera)
            picture = developed(light.reshape(-1, 3), noise).reshape(light.shape)
            write_picture(file, picture)

    def _truth(self) -> tuple[TagSessionTruth, dict[int, TagNote]]:
        """The exact truth, and what a person writes who looks at the photographs."""
        scene, stickers = self._table.scene(self._name)
        frames = {time: trace(scene, _TIMES_S[time]) for time in TAGGED_TIMES}
        cameras = {view: c for view, c in self._cameras.items() if view[0] in TAGGED_TIMES}
        tags, same = tag_truths(stickers, frames, cameras)
        notes = {
            tag.identity: TagNote(tag.material, tag.layer, valid=same[tag.identity])
            for tag in tags
            if tag.identity in same
        }
        return TagSessionTruth(cameras, tags), notes
