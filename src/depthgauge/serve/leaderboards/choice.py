"""What a reader chooses of a leaderboard: columns by metric or by scene, a region, a ranking score.

| metric | scene | columns |
|---|---|---|
| all | all | every score of all samples together |
| all | one | every score of that sample |
| one | all | that metric: all samples together, then sample by sample |
| one | one | that metric of that sample, region by region |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from depthgauge.analysis.boards.board import Board, Column
from depthgauge.errors import Refused
from depthgauge.serve.leaderboards.released import Pick, resorted, values_board
from depthgauge.serve.leaderboards.states import State

OF_ONE_SCENE = "These are values of a single sample, so there are no intervals and no tie groups."
WITH_SCENES = "Values of single samples have no intervals; those of all samples have."


@dataclass(frozen=True, slots=True)
class Choice:
    """What the address of a leaderboard says; empty: all of them."""

    metric: str = ""
    """`badpix:2`"""
    region: str = ""
    scene: str = ""
    """The id of a sample."""
    by: str = ""
    """The score that ranks; by default the first column."""

    @property
    def query(self) -> str:
        """For an address: empty, or with its question mark."""
        said = {name: value for name, value in self.fields.items() if value}
        return f"?{urlencode(said, safe=':@,/')}" if said else ""

    @property
    def fields(self) -> dict[str, str]:
        """By the names of the form."""
        return {"metric": self.metric, "region": self.region, "scene": self.scene, "by": self.by}


@dataclass(frozen=True, slots=True)
class View:
    """A choice, and the board that it leads to."""

    choice: Choice
    """With what follows from it: the region of a metric that is shown by scene."""
    board: Board
    title: str
    samples: Mapping[str, str]
    """Column id -> the sample that it is about."""


def make_view(state: State, choice: Choice) -> View:
    """The board that a reader asked for.

    Raises:
        Refused: The benchmark has no such metric, region, sample or score.
    """
    whole = state.board
    columns = _matching(whole, choice)
    if choice.scene and (choice.scene not in state.samples or not state.has_samples):
        raise Refused("not-found", "This leaderboard has no values of such a sample")
    if choice.scene:
        return _one_scene(state, choice, columns)
    if choice.metric and state.has_samples and any(c.level != "dataset" for c in columns):
        return _by_scene(state, choice, next(c for c in columns if c.level != "dataset"))
    board = resorted(replace(whole, columns=columns), _ranking(columns, choice))
    return View(choice, board, state.title, {})


def _matching(board: Board, choice: Choice) -> tuple[Column, ...]:
    found = tuple(
        column
        for column in board.columns
        if choice.metric in ("", column.metric) and choice.region in ("", column.region)
    )
    if not found:
        raise Refused("not-found", "This leaderboard has no such metric and region")
    return found


def _ranking(columns: tuple[Column, ...], choice: Choice) -> str:
    if not choice.by:
        return columns[0].id
    if not any(column.id == choice.by for column in columns):
        raise Refused("not-found", "This table has no such score to rank by")
    return choice.by


def _one_scene(state: State, choice: Choice, columns: tuple[Column, ...]) -> View:
    scene = choice.scene
    there = [
        c for c in columns if any(c.id in entry.values.get(scene, {}) for entry in state.entries)
    ]
    if not there:
        raise Refused("not-found", "This leaderboard has no values of such a sample")
    picks = [Pick(column, column.id, scene) for column in there]
    board = values_board(state.board, state.entries, (), picks)
    board = resorted(board, _ranking(board.columns, choice))
    board = replace(board, notes=(OF_ONE_SCENE,))
    return View(choice, board, f"{state.title}: {scene}", {c.id: scene for c in there})


def _by_scene(state: State, choice: Choice, column: Column) -> View:
    """The pooled score, then its value of every sample."""
    columns = {
        sample: replace(column, id=f"{column.id} {sample}", metric=sample)
        for sample in state.samples
    }
    picks = [Pick(columns[sample], column.id, sample) for sample in state.samples]
    mean = replace(column, metric="all samples")
    board = values_board(state.board, state.entries, (mean,), picks)
    if choice.by and choice.by not in {c.id for c in board.columns}:
        choice = replace(choice, by="")
    board = resorted(board, choice.by or column.id)
    board = replace(board, notes=(*state.board.notes, WITH_SCENES))
    resolved = replace(choice, region=column.region)
    samples = {columns[sample].id: sample for sample in state.samples}
    return View(resolved, board, f"{state.title}: {column.id} sample by sample", samples)
