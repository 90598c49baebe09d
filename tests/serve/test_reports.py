"""Reports of runs that are attached to entries."""

import re

import pytest
from tests.serve import boards as made
from tests.serve.conftest import PASSWORD
from tests.serve.test_leaderboards import BAD, GOOD

from depthgauge.errors import BadData, BadFile, Refused
from depthgauge.report.page.html import render_sections
from depthgauge.report.page.templates import asset
from depthgauge.serve.reports import attach_report, forget_reports, report_policy
from depthgauge.serve.storage.models import AttachedReport, Submission


@pytest.fixture
def entry(database):
    with database.begin() as session:
        benchmark = made.add_benchmark(session)
        made.publish(session, benchmark, "other", BAD)
        return made.publish(session, benchmark, "mine", GOOD)[0]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "out" / "report.html"
    path.parent.mkdir()
    path.write_text(render_sections("A run", "sgbm is best", facts=[], sections=[]))
    return path


def test_a_report_is_shown_in_a_sandbox_with_its_own_script(site, database, entry, file, client):
    assert client.get(f"/submissions/{entry.id}/report").status_code == 404
    attach_report(site, database, entry.id, file.parent)
    answer = client.get(f"/submissions/{entry.id}/report")
    assert answer.text == file.read_text()
    policy = answer.headers["content-security-policy"]
    assert "sandbox allow-scripts;" in policy
    assert "allow-same-origin" not in policy
    # The script that the page carries is the only one that the policy lets run.
    own = policy.partition("script-src '")[2].partition("'")[0]
    assert f"script-src '{own}'" in answer.text
    assert str(asset("report.js")) in answer.text
    assert f"/submissions/{entry.id}/report" in client.get("/benchmarks/open").text
    assert report_policy() == policy


def test_who_may_not_see_an_entry_does_not_see_its_report(site, database, entry, file, client):
    attach_report(site, database, entry.id, file)
    with database.begin() as session:
        session.get_one(Submission, entry.id).visibility = "private"
    assert client.get(f"/submissions/{entry.id}/report").status_code == 404


def test_reports_replace_each_other_and_go_with_the_entry(site, database, entry, file):
    first = attach_report(site, database, entry.id, file)
    file.write_text(file.read_text() + "<!-- newer -->")
    second = attach_report(site, database, entry.id, file)
    assert list(site.blobs) == [second] != [first]
    with database.begin() as session:
        assert forget_reports(session, [entry.id]) == {second}
        assert session.query(AttachedReport).count() == 0


def test_what_cannot_be_attached_is_said(site, database, entry, file, tmp_path):
    with pytest.raises(BadFile, match="cannot be read"):
        attach_report(site, database, entry.id, tmp_path / "nothing.html")
    (tmp_path / "x.html").write_text("not a report")
    with pytest.raises(BadFile, match="no report"):
        attach_report(site, database, entry.id, tmp_path / "x.html")
    with pytest.raises(BadData, match="no scored submission"):
        attach_report(site, database, "nope", file)
    with database.begin() as session:
        session.get_one(Submission, entry.id).benchmark.hidden = True
    with pytest.raises(Refused, match="truth is hidden"):
        attach_report(site, database, entry.id, file)


def csrf_of(client, email):
    """Logs somebody in; the secret of forms."""
    client.cookies.clear()
    form = {"Origin": "http://site.example"}
    client.post("/login", data={"email": email, "password": PASSWORD}, headers=form)
    return re.search(r'name="csrf" value="(\w+)"', client.get("/").text)[1]


def test_authors_attach_reports_on_the_page(site, database, entry, file, client, add_user):
    user = add_user()
    with database.begin() as session:
        session.get_one(Submission, entry.id).team_id = user.team_id
    place = f"/submissions/{entry.id}"
    csrf = csrf_of(client, user.email)
    assert "Attach the report" in client.get(place).text

    def send(content, csrf=csrf):
        files = {"report": ("report.html", content, "text/html")}
        form = {"Origin": "http://site.example"}
        return client.post(f"{place}/report", data={"csrf": csrf}, files=files, headers=form)

    assert send(b"GIF89a").status_code == 422
    assert send(file.read_bytes(), csrf="forged").status_code == 403
    with database.begin() as session:
        assert session.query(AttachedReport).count() == 0
    assert send(file.read_bytes()).status_code == 303
    assert client.get(f"{place}/report").text == file.read_text()
    assert "Replace the report" in client.get(place).text
    with database.begin() as session:
        session.get_one(Submission, entry.id).benchmark.hidden = True
    assert send(file.read_bytes()).status_code == 403
    assert "Attach the report" not in client.get(place).text
    stranger = add_user("eve@example.org")
    csrf = csrf_of(client, stranger.email)
    assert send(file.read_bytes(), csrf).status_code == 404
