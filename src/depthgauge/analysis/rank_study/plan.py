"""The plan of a ranking study: a folder with `study.toml`, and the tasks of each person.

    schema = 1
    title = "Six methods on one scene"
    consent = "I take part of my own will ..."
    scene = "pipes"
    methods = ["cvf", "elas", "pm"]
    variants = ["basic", "detailed"]
    repeats = 1

    [[experiments]]
    name = "porosity"
    question = "Sort by holes in fine structures, the fewest first."

Every person gets every experiment in every variant, in an order of their own, and `repeats` of
them, drawn by lot, a second time (section 6.2.1 of Honauer 2019). Methods are letters in an order
of their own in every task.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from depthgauge.errors import BadData
from depthgauge.io.text import read_toml

FILE = "study.toml"
VARIANTS = {
    "basic": ("disparity",),
    "detailed": ("disparity", "truth", "error", "normals"),
}
"""What is shown of each method."""
_NAME = r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,63}"
Name = Annotated[str, Field(pattern=f"^{_NAME}$")]
Text = Annotated[str, Field(min_length=1, max_length=4000)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Experiment(_Strict):
    """What people are asked."""

    name: Name
    question: Text


class RankPlan(_Strict):
    """A study as its file says it."""

    schema_: Literal[1] = Field(alias="schema")
    title: Text
    consent: Text
    scene: Name
    methods: tuple[Name, ...] = Field(min_length=2, max_length=26)
    experiments: tuple[Experiment, ...] = Field(min_length=1)
    variants: tuple[Literal["basic", "detailed"], ...] = ("basic", "detailed")
    repeats: int = Field(default=1, ge=0)

    @model_validator(mode="after")
    def _once(self) -> Self:
        names = tuple(each.name for each in self.experiments)
        for what, listed in (
            ("methods", self.methods),
            ("experiments", names),
            ("variants", self.variants),
        ):
            if len(set(listed)) < len(listed) or not listed:
                raise ValueError(f"{what} must be there once each")
        if self.repeats > len(names) * len(self.variants):
            raise ValueError("there are not so many experiments to repeat")
        return self


@dataclass(frozen=True, slots=True)
class RankTask:
    """One ranking that a person is asked for."""

    experiment: str
    variant: str
    repeat: int
    methods: tuple[str, ...]
    """In the order of the letters A, B, C ... that the person sees."""

    @property
    def letters(self) -> tuple[str, ...]:
        """How methods are called in this task."""
        return tuple(chr(ord("A") + place) for place in range(len(self.methods)))


def read_plan(folder: Path) -> RankPlan:
    """The plan of a study's folder.

    Raises:
        BadData: There is none, or something in it is wrong; the sentence says what.
    """
    path = folder / FILE
    if not path.is_file():
        raise BadData(f"{folder}: there is no {FILE}; make one with `depthgauge ranking make`.")
    try:
        return RankPlan.model_validate(read_toml(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise BadData(f"{path}: {where}: {first['msg']}.") from None


def tasks_for(plan: RankPlan, person: str) -> tuple[RankTask, ...]:
    """The tasks of a person: the same whenever it is asked, another order for everybody else."""
    seed = hashlib.sha256(f"{plan.title}\0{person}".encode()).digest()
    draw = np.random.default_rng(list(seed))
    pairs = [(each.name, variant) for each in plan.experiments for variant in plan.variants]
    first = [(*pairs[k], 1) for k in draw.permutation(len(pairs))]
    again = [(*pairs[k], 2) for k in draw.choice(len(pairs), plan.repeats, replace=False)]
    return tuple(
        RankTask(
            experiment,
            variant,
            repeat,
            tuple(plan.methods[k] for k in draw.permutation(len(plan.methods))),
        )
        for experiment, variant, repeat in (*first, *again)
    )


def task_json(task: RankTask) -> dict[str, Any]:
    """A task as a history keeps it."""
    return {
        "experiment": task.experiment,
        "variant": task.variant,
        "repeat": task.repeat,
        "methods": list(task.methods),
    }


def is_person(name: str) -> bool:
    """Whether this can be the name of a person in a study: it is drawn by lot, and says nothing."""
    return re.fullmatch(r"[a-z0-9]{16}", name) is not None
