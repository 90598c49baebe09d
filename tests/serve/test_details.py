"""The submission form: what authors say, terms, versions, phases; and cancelling."""

import re

import pytest
from fastapi.testclient import TestClient
from tests.serve import tiny as made
from tests.serve.conftest import PASSWORD
from tests.serve.test_web import FORM, URL, post

from depthgauge.errors import Refused
from depthgauge.serve import board
from depthgauge.serve.storage.models import Benchmark, Phase, Submission
from depthgauge.serve.submissions import details, queue, worker
from depthgauge.serve.web.app import make_app
from depthgauge.serve.web.settings import WebSettings


@pytest.fixture
def visit(site, database):
    app = make_app(site, database, WebSettings(URL))

    def make(user=None):
        client = TestClient(app, base_url=URL, follow_redirects=False)
        if user is not None:
            fields = {"email": user.email, "password": PASSWORD}
            client.post("/login", data=fields, headers=FORM)
        return client

    return make


def test_the_form_takes_everything_it_asks_for(site, database, tiny, add_user, visit):
    with database.begin() as session:
        session.get_one(Benchmark, "tiny").terms = "My maps may be shown."
    client = visit(add_user())
    text = client.get("/benchmarks/tiny").text
    asked = set(re.findall(r'<(?:input|textarea) name="(\w+)"', text))
    assert set(details.DETAILS) - {"tier"} <= asked
    fields = {name: f"{name} of mine" for name in details.DETAILS}
    fields |= {name: f"https://x.org/{name}" for name in ("link", "code", "paper")}
    bibtex = "@inproceedings{a,\n  title={A <b>},\n}"
    fields |= {"runtime": "0.25", "bibtex": bibtex, "method": "Mine"}
    fields["csrf"] = re.search(r'name="csrf" value="(\w+)"', text)[1]

    def send():
        files = {"archive": ("a.zip", made.archive(), "application/zip")}
        return client.post("/benchmarks/tiny/submit", data=fields, files=files, headers=FORM)

    refused = send()
    assert refused.status_code == 422
    assert "My maps may be shown." in refused.text
    fields["accept_terms"] = "yes"
    sent = send()
    assert sent.status_code == 303, sent.text
    page = client.get(sent.headers["location"]).text
    for name in set(details.DETAILS) - {"link", "code", "paper", "runtime", "bibtex"}:
        assert f"{name} of mine" in page
    assert 'href="https://x.org/code"' in page
    assert "0.25 s per sample" in page
    assert "title={A &lt;b&gt;},\n" in page
    with database.begin() as session:
        assert session.query(Submission).one().terms == "My maps may be shown."


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("link", "javascript:alert(1)"),
        ("code", "ftp://x.org"),
        ("paper", 'https://x" onclick="x'),
        ("runtime", "fast"),
        ("runtime", "-1"),
        ("bibtex", "x" * 5000),
        ("description", "\n" * 61 + "x"),
        ("password", "x"),
    ],
)
def test_what_is_not_possible_in_a_field(name, text):
    with pytest.raises(Refused):
        details.checked({name: text})


def test_lines_stay_and_control_characters_do_not():
    found = details.checked({"bibtex": " @a{b,\r\n\tc\x00\x1b[31m}\n", "language": " "})
    assert found == {"bibtex": "@a{b,\n c  [31m}"}


def test_versions_of_a_method(site, database, tiny, add_user, send, visit, read):
    ann = add_user()
    sent = [send(ann, made.archive(made.estimates(error))) for error in (0.1, 0.2)]
    sent.append(send(ann, made.archive(made.estimates(0.3)), version="long"))
    other = send(add_user("eve@example.org"), made.archive(made.estimates(0.4)))
    assert [read(one)[0].version for one in (*sent, other)] == ["", "2", "long", ""]
    for _ in range(4):
        worker.work_once(site, database)
    with database.begin() as session:
        board.publish(session, session.get_one(Submission, sent[0].id), ann, "public")
        board.publish(session, session.get_one(Submission, sent[1].id), ann, "public")
    page = visit().get(f"/submissions/{sent[0].id}").text
    assert f'<a href="/submissions/{sent[1].id}">2</a>' in page
    assert sent[2].id not in page  # private
    assert sent[2].id in visit(ann).get(f"/submissions/{sent[0].id}").text


def test_phases_are_shown_with_their_times(database, tiny, add_user, visit):
    moment = queue.now()
    times = (("First", -200, -100), ("Second", -100, 100), ("Third", 100, None))
    with database.begin() as session:
        for name, opens, closes in times:
            end = None if closes is None else moment + closes
            session.add(
                Phase(benchmark_id="tiny", name=name, opens_at=moment + opens, closes_at=end)
            )
    client = visit(add_user())
    phases = client.get("/api/benchmarks/tiny").json()["phases"]
    assert [one["state"] for one in phases] == ["closed", "open", "not open yet"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", phases[1]["closes"])
    assert 'name="archive"' in client.get("/benchmarks/tiny").text
    with database.begin() as session:
        session.query(Phase).filter_by(name="Second").delete()
    text = client.get("/benchmarks/tiny").text
    assert 'name="archive"' not in text
    assert "takes no submissions now" in text


def test_an_author_sees_the_place_in_the_queue_and_cancels(
    database, tiny, add_user, send, visit, read
):
    send(add_user("eve@example.org"))
    ann = add_user()
    sent = send(ann)
    with database.begin() as session:  # else ids decide
        session.get_one(Submission, sent.id).created_at += 1
    client = visit(ann)
    page = client.get(f"/submissions/{sent.id}").text
    assert "queued, 1 before it" in page
    assert ">Cancel</button>" in page
    post(client, f"/submissions/{sent.id}/withdraw")
    assert read(sent)[0].state == "withdrawn"
