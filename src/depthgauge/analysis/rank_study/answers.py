"""The answers of a ranking study: one history per person, and what follows from all of them.

    {"id": "...", "kind": "begin", "consent": "...", "tasks": [{"experiment": ..., ...}, ...]}
    {"id": "...", "kind": "order", "task": 0, "places": [["B"], ["A", "C"]], "seconds": 41.2}
    {"id": "...", "kind": "opinion", "task": 0, "letter": "A", "score": 4}
    {"id": "...", "kind": "wrong", "task": 0, "letter": "A", "points_px": [[10, 12], ...]}
    {"id": "...", "kind": "withdraw"}

The last order and the last opinion of a task count. `places` is from best to worst; letters in one
place are tied. Who withdraws is left out of everything that is exported.
"""

from __future__ import annotations

import csv
import io as streams
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depthgauge.analysis.rank_study.plan import RankTask
from depthgauge.analysis.rankings import Ranking, rankings_csv
from depthgauge.errors import BadData
from depthgauge.io import write_text

Event = dict[str, Any]
_FIELDS = {
    "begin": {"consent", "tasks"},
    "order": {"task", "places", "seconds"},
    "opinion": {"task", "letter", "score"},
    "wrong": {"task", "letter", "points_px"},
    "unwrong": {"of"},
    "withdraw": set[str](),
}
_MOST_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Opinion:
    """How good a person finds a method, from 1 (bad) to 5 (excellent)."""

    grader: str
    experiment: str
    variant: str
    repeat: int
    method: str
    score: int


@dataclass(frozen=True, slots=True)
class WrongArea:
    """An area that a person finds wrong, in px of the scene."""

    grader: str
    experiment: str
    variant: str
    repeat: int
    method: str
    points_px: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Answers:
    """What all people said, without who they are."""

    rankings: tuple[Ranking, ...]
    opinions: tuple[Opinion, ...]
    wrong_areas: tuple[WrongArea, ...]


def answer_event(event: object, tasks: Sequence[RankTask]) -> Event:
    """An answer, checked against the tasks of the person.

    Raises:
        BadData: It is none; the sentence says what is wrong.
    """
    if not isinstance(event, dict):
        raise BadData(f"an answer is an object, not {event!r:.60}.")
    name, kind = event.get("id"), event.get("kind")
    if not isinstance(name, str) or not 8 <= len(name) <= 64:
        raise BadData(f"an answer needs an id of 8 to 64 letters, found {name!r:.60}.")
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise BadData(f"an answer is one of {', '.join(_FIELDS)}, not {kind!r:.60}.")
    if set(event) != {"id", "kind", *_FIELDS[kind]}:
        raise BadData(f"{kind} has id, kind and {', '.join(sorted(_FIELDS[kind])) or 'no more'}.")
    if kind in ("order", "opinion", "wrong"):
        _check_answer(event, tasks)
    return dict(event)


def _check_answer(event: Mapping[str, Any], tasks: Sequence[RankTask]) -> None:
    task = event["task"]
    if type(task) is not int or not 0 <= task < len(tasks):
        raise BadData(f"there is no task {task!r:.20}; there are {len(tasks)}.")
    letters = tasks[task].letters
    if event["kind"] == "order":
        places, seconds = event["places"], event["seconds"]
        if not isinstance(places, list) or not all(isinstance(p, list) and p for p in places):
            raise BadData("places are lists of letters.")
        given = [letter for place in places for letter in place]
        if sorted(map(str, given)) != sorted(letters):
            raise BadData(f"every one of {', '.join(letters)} has one place, found {given!r:.80}.")
        if type(seconds) not in (int, float) or not 0 <= seconds <= _MOST_SECONDS:
            raise BadData(f"seconds are from 0 to a day, found {seconds!r:.20}.")
        return
    if event["letter"] not in letters:
        raise BadData(f"a letter is one of {', '.join(letters)}, not {event['letter']!r:.20}.")
    if event["kind"] == "opinion" and (
        type(event["score"]) is not int or not 1 <= event["score"] <= 5
    ):
        raise BadData(f"an opinion is from 1 to 5, not {event['score']!r:.20}.")
    if event["kind"] == "wrong":
        _check_area(event["points_px"])


def _check_area(points: Any) -> None:
    def is_point(point: Any) -> bool:
        return (
            isinstance(point, list)
            and len(point) == 2
            and all(type(v) in (int, float) and abs(v) < 1e6 for v in point)
        )

    if (
        not isinstance(points, list)
        or not 3 <= len(points) <= 5000
        or not all(map(is_point, points))
    ):
        raise BadData("a wrong area has 3 to 5000 points [x, y].")


def tasks_of(begin: Mapping[str, Any]) -> tuple[RankTask, ...]:
    """The tasks that the first line of a history promised."""
    return tuple(
        RankTask(t["experiment"], t["variant"], int(t["repeat"]), tuple(t["methods"]))
        for t in begin["tasks"]
    )


def collected(histories: Mapping[str, Sequence[Event]]) -> Answers:
    """What all people said. They are called G1, G2 ... in the order of their drawn names.

    Args:
        histories: The events of each person, by name.
    """
    stayed = {
        person: events
        for person, events in sorted(histories.items())
        if events and not any(event["kind"] == "withdraw" for event in events)
    }
    rankings: list[Ranking] = []
    opinions: list[Opinion] = []
    areas: list[WrongArea] = []
    for number, events in enumerate(stayed.values(), 1):
        grader, tasks = f"G{number}", tasks_of(events[0])
        for place, event in sorted(_last(events, "order").items()):
            rankings.append(_ranking(grader, tasks[place[0]], event["places"]))
        for place, event in sorted(_last(events, "opinion").items()):
            opinions.append(Opinion(*_about(grader, tasks, place), event["score"]))
        gone = {event["of"] for event in events if event["kind"] == "unwrong"}
        for event in events:
            if event["kind"] == "wrong" and event["id"] not in gone:
                points = tuple((float(x), float(y)) for x, y in event["points_px"])
                about = _about(grader, tasks, (event["task"], event["letter"]))
                areas.append(WrongArea(*about, points))
    return Answers(tuple(rankings), tuple(opinions), tuple(areas))


def _last(events: Iterable[Event], kind: str) -> dict[tuple[int, str], Event]:
    return {(e["task"], e.get("letter", "")): e for e in events if e["kind"] == kind}


def _about(
    grader: str, tasks: Sequence[RankTask], place: tuple[int, str]
) -> tuple[str, str, str, int, str]:
    task = tasks[place[0]]
    method = task.methods[task.letters.index(place[1])]
    return grader, task.experiment, task.variant, task.repeat, method


def _ranking(grader: str, task: RankTask, places: Sequence[Sequence[str]]) -> Ranking:
    """Ties share the mean of their places."""
    names = dict(zip(task.letters, task.methods, strict=True))
    ranks: dict[str, float] = {}
    before = 0
    for tied in places:
        for letter in tied:
            ranks[names[letter]] = before + (len(tied) + 1) / 2
        before += len(tied)
    ordered = {method: ranks[method] for method in sorted(ranks)}
    return Ranking(grader, task.experiment, ordered, task.variant, task.repeat)


def answer_files(answers: Answers) -> dict[str, str]:
    """The answers as texts of files, by name.

    `depthgauge study` reads `rankings.csv`; the others are `opinions.csv` and `wrong_areas.json`.
    """
    about = ("grader", "experiment", "variant", "repeat", "method")
    opinions = streams.StringIO()
    writer = csv.writer(opinions, lineterminator="\n")
    writer.writerow((*about, "score"))
    writer.writerows(
        (*(getattr(one, name) for name in about), one.score) for one in answers.opinions
    )
    areas = [
        {
            **{name: getattr(one, name) for name in about},
            "points_px": [list(point) for point in one.points_px],
        }
        for one in answers.wrong_areas
    ]
    return {
        "rankings.csv": rankings_csv(answers.rankings),
        "opinions.csv": opinions.getvalue(),
        "wrong_areas.json": json.dumps({"schema": 1, "areas": areas}, indent=1) + "\n",
    }


def write_answers(folder: Path, answers: Answers) -> None:
    """Writes the files of `answer_files`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in answer_files(answers).items():
        write_text(folder / name, text)
