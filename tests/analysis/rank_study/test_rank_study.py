"""Ranking studies: plans, tasks, answers, and what is exported."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.analysis.rank_study.answers import (
    answer_event,
    collected,
    tasks_of,
    write_answers,
)
from depthgauge.analysis.rank_study.plan import RankPlan, read_plan, task_json, tasks_for
from depthgauge.analysis.rankings import read_rankings
from depthgauge.errors import BadData

PLAN = RankPlan.model_validate(
    {
        "schema": 1,
        "title": "Three",
        "consent": "Yes.",
        "scene": "pipes",
        "methods": ["bm", "pm", "sgm"],
        "experiments": [
            {"name": "porosity", "question": "Holes?"},
            {"name": "general", "question": "Looks?"},
        ],
        "repeats": 2,
    }
)
PEOPLE = st.text("abcdefghij0123456789", min_size=16, max_size=16)


def begin(person):
    tasks = [task_json(task) for task in tasks_for(PLAN, person)]
    return {"id": f"begin-{person}", "kind": "begin", "consent": "Yes.", "tasks": tasks}


def order(task, places, number=0):
    body = {"kind": "order", "task": task, "places": places, "seconds": 1.5}
    return {"id": f"order-{task}-{number:03d}", **body}


@given(PEOPLE)
def test_everybody_gets_every_task_in_an_order_of_their_own(person):
    tasks = tasks_for(PLAN, person)
    assert tasks == tasks_for(PLAN, person) == tasks_of(begin(person))
    once = {(task.experiment, task.variant) for task in tasks if task.repeat == 1}
    assert len(once) == 4 == len([task for task in tasks if task.repeat == 1])
    again = [(task.experiment, task.variant) for task in tasks if task.repeat == 2]
    assert len(set(again)) == 2
    assert set(again) <= once
    assert all(sorted(task.methods) == ["bm", "pm", "sgm"] for task in tasks)


def test_orders_differ_between_people():
    assert len({tasks_for(PLAN, f"person{n:010d}") for n in range(20)}) == 20


def test_ties_share_the_mean_of_their_places_and_the_last_order_counts():
    person = "p" * 16
    task = tasks_for(PLAN, person)[0]
    events = [begin(person), order(0, [["A"], ["B"], ["C"]]), order(0, [["C"], ["A", "B"]], 1)]
    (found,) = collected({person: events}).rankings
    a, b, c = task.methods
    assert (found.grader, found.experiment, found.repeat) == ("G1", task.experiment, 1)
    assert found.ranks == {c: 1.0, a: 2.5, b: 2.5}


def test_who_withdraws_is_not_exported_and_nobody_is_named(tmp_path):
    people = ["a" * 16, "b" * 16]
    area = {"kind": "wrong", "task": 0, "letter": "A", "points_px": [[1, 2], [3, 2], [3, 4]]}
    histories = {
        who: [
            begin(who),
            order(0, [["A"], ["B", "C"]]),
            {"id": "opinion-1", "kind": "opinion", "task": 0, "letter": "B", "score": 4},
            {"id": "wrong-no-1", **area},
            {"id": "wrong-no-2", **area},
            {"id": "unwrong-1", "kind": "unwrong", "of": "wrong-no-1"},
        ]
        for who in people
    }
    histories["a" * 16].append({"id": "withdraw", "kind": "withdraw"})
    answers = collected(histories)
    assert (len(answers.rankings), len(answers.opinions), len(answers.wrong_areas)) == (1, 1, 1)
    write_answers(tmp_path, answers)
    assert read_rankings(tmp_path / "rankings.csv") == list(answers.rankings)
    texts = "".join(path.read_text() for path in tmp_path.iterdir())
    assert "aaaa" not in texts
    assert "bbbb" not in texts
    assert answers.opinions[0].score == 4
    assert not math.isnan(answers.rankings[0].ranks["bm"])


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ([], "is an object"),
        ({"id": "x", "kind": "order"}, "needs an id"),
        ({"id": "12345678", "kind": "vote"}, "is one of"),
        ({"id": "12345678", "kind": "order", "task": 0}, "order has id"),
        (order(9, [["A"]]), "there is no task 9"),
        (order(0, [["A"], ["B"]]), "has one place"),
        (order(0, [["A"], ["A", "B", "C"]]), "has one place"),
        (order(0, [["A"], [], ["B", "C"]]), "lists of letters"),
        ({**order(0, [["A", "B", "C"]]), "seconds": math.nan}, "seconds"),
        ({"id": "12345678", "kind": "opinion", "task": 0, "letter": "Z", "score": 1}, "a letter"),
        ({"id": "12345678", "kind": "opinion", "task": 0, "letter": "A", "score": 6}, "1 to 5"),
        (
            {"id": "12345678", "kind": "wrong", "task": 0, "letter": "A", "points_px": [[1, 2]]},
            "3 to 5000 points",
        ),
    ],
)
def test_what_is_no_answer_is_refused_in_words(event, said):
    with pytest.raises(BadData, match=said):
        answer_event(event, tasks_for(PLAN, "p" * 16))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("schema = 2", "schema"),
        ('schema = 1\ntitle = "x"', "consent"),
        ('schema = 1\ntitle="x"\nconsent="y"\nscene="s"\nmethods=["a","a"]\n', "experiments"),
    ],
)
def test_a_wrong_plan_is_named(tmp_path, text, said):
    with pytest.raises(BadData, match="make one with"):
        read_plan(tmp_path)
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(BadData, match=said):
        read_plan(tmp_path)
