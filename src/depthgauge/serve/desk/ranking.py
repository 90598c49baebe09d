"""The desk of a ranking study: people follow a link, agree, and sort methods by what they see.

A site shows the same study to who has its link (`serve/web/study_pages.py`).
"""

from __future__ import annotations

import secrets
import string
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from depthgauge.analysis.agreement import measure_study
from depthgauge.analysis.rank_study.answers import (
    Answers,
    answer_event,
    answer_files,
    collected,
    tasks_of,
    write_answers,
)
from depthgauge.analysis.rank_study.plan import (
    VARIANTS,
    RankPlan,
    RankTask,
    is_person,
    read_plan,
    task_json,
    tasks_for,
)
from depthgauge.errors import BadData, CannotWrite, Refused
from depthgauge.io.json_lines import parse_object
from depthgauge.report.tables.formats import Table
from depthgauge.report.tables.study import agreement_table, rank_tables
from depthgauge.serve.desk.access import Access
from depthgauge.serve.desk.journal import Event, Journal
from depthgauge.serve.desk.journal_api import SentEvents, stored
from depthgauge.serve.desk.shell import make_shell
from depthgauge.serve.web.rendering import rendered

ANSWERS = "answers"
_ENDING = ".jsonl"
_EXPORTS = {
    "rankings.csv": "text/csv",
    "opinions.csv": "text/csv",
    "wrong_areas.json": "application/json",
}
_SCENE = ("image", "truth", "normals", "edges")

ranking = APIRouter(include_in_schema=False)


@dataclass
class StudyDesk:
    """A study on the desk, and the people who have begun."""

    folder: Path
    plan: RankPlan
    _people: dict[str, tuple[Journal, tuple[RankTask, ...]]] = field(default_factory=dict)
    _alone: threading.Lock = field(default_factory=threading.Lock)

    def join(self) -> str:
        """A new person, who has agreed; returns the name that was drawn."""
        person = "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(16))
        begin = {
            "id": f"begin-{person}",
            "kind": "begin",
            "consent": self.plan.consent,
            "tasks": [task_json(task) for task in tasks_for(self.plan, person)],
        }
        journal = Journal(self._path(person), _check(person, tasks_of(begin)))
        found = journal.store([begin])
        if found.full:
            raise CannotWrite(f"Nobody can begin now: {found.full}")
        return person

    def person(self, name: str) -> tuple[Journal, tuple[RankTask, ...]]:
        """The answers and the tasks of a person.

        Raises:
            Refused: Nobody has this name.
        """
        path = self._path(name)
        if not is_person(name) or not path.is_file():
            raise Refused("not-found", "Nobody of this name takes part")
        with self._alone:
            if name not in self._people:
                with open(path, "rb") as file:
                    tasks = tasks_of(parse_object(str(path), file.readline()))
                self._people[name] = Journal(path, _check(name, tasks)), tasks
            return self._people[name]

    def people(self) -> list[str]:
        """Who has agreed, by the names that were drawn."""
        names = [p.stem for p in sorted((self.folder / ANSWERS).glob(f"*{_ENDING}"))]
        return [name for name in names if is_person(name)]

    def has_ranked(self, name: str) -> bool:
        """Whether a person has saved an order."""
        return any(event["kind"] == "order" for event in self.person(name)[0].events())

    def answers(self) -> Answers:
        """What everybody said, without names."""
        return collected({name: self.person(name)[0].events() for name in self.people()})

    def picture(self, *parts: str) -> bytes:
        """A picture of the study.

        Raises:
            Refused: There is none.
        """
        path = self.folder.joinpath("pictures", *parts)
        if not path.is_file():
            raise Refused("not-found", "There is no such picture")
        return path.read_bytes()

    def _path(self, person: str) -> Path:
        return self.folder / ANSWERS / f"{person}{_ENDING}"


def _check(person: str, tasks: tuple[RankTask, ...]) -> Callable[[object], Event]:
    def check(event: object) -> Event:
        found = answer_event(event, tasks)
        if found["kind"] == "begin" and found["id"] != f"begin-{person}":
            raise BadData("a study begins once.")
        return found

    return check


def make_study_desk(folder: Path, access: Access) -> FastAPI:
    """The pages of a study as an ASGI application.

    Raises:
        BadData: There is no study in the folder, or its file is wrong.
    """
    app = make_shell(access, ranking)
    app.state.study_desk = StudyDesk(folder, read_plan(folder))
    return app


def export_study(folder: Path, out: Path) -> Answers:
    """Writes the answers of a study without names, for `depthgauge study`.

    Raises:
        BadData: There is no study in the folder.
    """
    answers = StudyDesk(folder, read_plan(folder)).answers()
    if not answers.rankings:
        raise BadData(f"{folder}: nobody has ranked anything yet.")
    write_answers(out, answers)
    return answers


def _desk(request: Request) -> StudyDesk:
    found: StudyDesk = request.app.state.study_desk
    return found


OnDesk = Annotated[StudyDesk, Depends(_desk)]


def results(here: StudyDesk) -> dict[str, Any]:
    """What is known so far, for the page of who leads the study."""
    answers = here.answers()
    people = len({one.grader for one in answers.rankings})
    tables: list[Table] = []
    if people:
        study = measure_study(answers.rankings)
        tables = [agreement_table(study), *rank_tables(study)]
    return {
        "plan": here.plan,
        "people": people,
        "answers": answers,
        "tables": tables,
        "exports": list(_EXPORTS),
    }


_ALONE = {"layout": "desk_base.html.j2", "base": "", "action": "/join"}
"""What pages of studies need to know: their frame, how addresses begin, where people agree."""


@ranking.get("/")
def overview(here: OnDesk) -> Response:
    """For who leads the study: the link, and what is known so far."""
    return HTMLResponse(rendered("study.html.j2", **_ALONE, **results(here)))


@ranking.get("/join")
def join(here: OnDesk) -> Response:
    """What people agree to."""
    return HTMLResponse(rendered("study_join.html.j2", **_ALONE, plan=here.plan))


@ranking.post("/join")
def begin(here: OnDesk) -> Response:
    """Somebody agreed."""
    return RedirectResponse(f"/p/{here.join()}", 303)


@ranking.get("/p/{person}")
def page(person: str, here: OnDesk) -> Response:
    """The page on which a person sorts."""
    here.person(person)
    return HTMLResponse(rendered("study_rank.html.j2", **_ALONE, plan=here.plan, person=person))


@ranking.get("/api/study/{person}")
def tasks(person: str, here: OnDesk) -> Response:
    """The tasks of a person: letters, never names."""
    _, own = here.person(person)
    questions = {each.name: each.question for each in here.plan.experiments}
    pictures = here.folder / "pictures"
    body = {
        "ok": True,
        "scene": [name for name in _SCENE if (pictures / f"{name}.png").is_file()],
        "tasks": [
            {
                "question": questions.get(task.experiment, task.experiment),
                "letters": list(task.letters),
                "kinds": [kind for kind in VARIANTS[task.variant] if _has(pictures, task, kind)],
            }
            for task in own
        ],
    }
    return JSONResponse(body)


def _has(pictures: Path, task: RankTask, kind: str) -> bool:
    if kind == "truth":
        return (pictures / "truth.png").is_file()
    return all((pictures / "methods" / m / f"{kind}.png").is_file() for m in task.methods)


@ranking.get("/api/study/{person}/events")
def events(person: str, here: OnDesk, tab: str, since: int = 0) -> Response:
    """What the person said."""
    journal, _ = here.person(person)
    told = [
        e if e["kind"] != "begin" else {"id": e["id"], "kind": "begin"} for e in journal.events()
    ]
    body = {
        "ok": True,
        "revision": len(told),
        "others": journal.seen(tab[:64]),
        "events": told[max(0, since) :],
    }
    return JSONResponse(body)


@ranking.post("/api/study/{person}/events")
def send(person: str, sent: SentEvents, here: OnDesk) -> Response:
    """Stores answers."""
    return stored(here.person(person)[0], sent)


@ranking.get("/study/{person}/scene/{name}.png")
def scene_picture(person: str, name: str, here: OnDesk) -> Response:
    """A picture of the scene."""
    here.person(person)
    if name not in _SCENE:
        raise Refused("not-found", "There is no such picture")
    return Response(here.picture(f"{name}.png"), media_type="image/png")


@ranking.get("/study/{person}/{task}/{letter}/{kind}.png")
def method_picture(person: str, task: int, letter: str, kind: str, here: OnDesk) -> Response:
    """A picture of a method, by the letter that it has in this task."""
    _, own = here.person(person)
    if not 0 <= task < len(own) or letter not in own[task].letters:
        raise Refused("not-found", "There is no such picture")
    if kind not in VARIANTS[own[task].variant]:
        raise Refused("not-found", "This is not shown in this task")
    if kind == "truth":
        return Response(here.picture("truth.png"), media_type="image/png")
    method = own[task].methods[own[task].letters.index(letter)]
    return Response(here.picture("methods", method, f"{kind}.png"), media_type="image/png")


@ranking.get("/export/{name}")
def export(name: str, here: OnDesk) -> Response:
    """The answers without names, as a file."""
    if name not in _EXPORTS:
        raise Refused("not-found", "There is no such file")
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    content = answer_files(here.answers())[name]
    return Response(content, media_type=_EXPORTS[name], headers=headers)
