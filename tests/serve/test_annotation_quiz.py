"""The quiz: careful people pass, who draws too little does not, and nobody sees answers early."""

from dataclasses import replace

import pytest
from tests.serve.test_annotation_pages import FORM, csrf, member, photographs  # noqa: F401

from depthgauge.annotate.records import read_records, write_records
from depthgauge.annotate.records.annotation import Origin
from depthgauge.annotate.simulate import CAREFUL, simulate
from depthgauge.errors import CannotWrite
from depthgauge.serve.annotating import quizzes
from depthgauge.serve.annotating.batches import add_batch, person_of
from depthgauge.serve.annotating.quizzes import KEY, add_quiz, answers, is_qualified
from depthgauge.serve.desk.photographs import records_path
from depthgauge.synth.sets.single_views import make_view

# Scenes of the size that people draw on take seconds.
pytestmark = pytest.mark.long


@pytest.fixture
def quiz(site):
    return add_quiz(site, "quiz", questions=1)


def write(quiz, who, picture, drawn):
    path = records_path(quiz.folder, who, picture)
    path.parent.mkdir(parents=True, exist_ok=True)
    named = replace(drawn.picture, id=picture)
    write_records(path, replace(drawn, picture=named, origin=Origin(who=who), finished=True))


def key_of(quiz, picture):
    return read_records(records_path(quiz.folder, KEY, picture))


def test_careful_people_pass_and_lines_alone_do_not(quiz):
    _example, question = quiz.scenes
    kind, _, seed = quiz.scenes[question].rpartition("-")
    view = make_view(kind, int(seed), (320, 240))
    careful = simulate(view, CAREFUL, seed=3)
    assert quiz.focal_px[question] == view.focal_px
    write(quiz, "person-1", question, careful)
    write(quiz, "person-2", question, replace(careful, normals={}, relations={}))
    assert is_qualified(quiz, "person-1")
    assert not is_qualified(quiz, "person-2")
    assert not is_qualified(quiz, "person-3")
    (one,), (two,) = answers(quiz, "person-1"), answers(quiz, "person-2")
    assert one.apart_percent < 6 < 15 < two.apart_percent
    write(quiz, "person-4", question, key_of(quiz, question))
    assert answers(quiz, "person-4")[0].apart_percent < 1
    assert quiz.take("person-9") == question  # the example is none


def test_the_key_is_shown_when_the_drawing_is_finished(site, quiz, client, member):  # noqa: F811
    ann = member("ann@example.org")
    example, question = quiz.scenes
    assert "worked example" in ann.get("/annotate/quiz/course").text
    assert ann.get(f"/annotate/quiz/api/key/{example}?tab=t").json()["revision"] > 10
    assert ann.get(f"/annotate/quiz/api/key/{question}?tab=t").status_code == 403
    assert ann.get(f"/annotate/quiz/key/{question}").status_code == 403
    write(
        quiz,
        person_of(ann.user.id),
        question,
        read_records(records_path(quiz.folder, KEY, question)),
    )
    assert ann.get(f"/annotate/quiz/key/{question}").status_code == 200
    assert "You have passed" in ann.get("/annotate/quiz/course").text


def test_a_batch_can_ask_for_the_quiz(site, quiz, client, member, photographs):  # noqa: F811
    add_batch(site, "street", photographs, quiz="quiz")
    ann = member("ann@example.org")
    path, fields = "/annotate/street/take", {"csrf": csrf(ann)}
    refused = ann.post(path, data=fields, headers=FORM)
    assert refused.status_code == 403
    assert "Pass the quiz first" in refused.text
    _, question = quiz.scenes
    write(
        quiz,
        person_of(ann.user.id),
        question,
        read_records(records_path(quiz.folder, KEY, question)),
    )
    assert ann.post(path, data=fields, headers=FORM).status_code == 303


def test_a_quiz_replaces_nothing(site, quiz):
    assert add_quiz(site, "quiz", questions=1) == quiz
    with pytest.raises(CannotWrite, match="such a batch already"):
        add_quiz(site, "quiz", questions=2)


def test_scenes_on_which_lines_alone_are_enough_are_no_questions(site, monkeypatch):
    refused = []

    def refuse_two(view):
        refused.append(view.id)
        return len(refused) > 2

    monkeypatch.setattr(quizzes, "is_question", refuse_two)
    made = add_quiz(site, "other", questions=1, seed=7)
    _example, question = made.scenes
    assert refused == ["planar-0008", "planar-0009", "planar-0010"]
    assert made.scenes[question] == "planar-0010"


def test_what_is_asked_cannot_be_answered_without_normals(quiz):
    _example, question = quiz.scenes
    kind, _, seed = quiz.scenes[question].rpartition("-")
    view = make_view(kind, int(seed), (320, 240))
    assert quizzes.is_question(view)
    write(quiz, "person-1", question, replace(key_of(quiz, question), normals={}, relations={}))
    (answer,) = answers(quiz, "person-1")
    assert answer.apart_percent > 1.5 * quizzes.LIMIT_PERCENT
