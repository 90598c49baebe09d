"""A ranking study on a site: by a link, without an account; results for admins."""

import csv
import io
import json
import re

import numpy as np
import pytest
import starlette.testclient
from click.testing import CliRunner
from tests.serve.conftest import PASSWORD, only_sqlite, served
from tests.serve.desk.browsing import browsing, check_page
from tests.serve.desk.test_ranking_page import (
    METHODS,
    make_folder,
    places_of,
    saved,
    simulated_ranks,
    sort_by_keys,
)

from depthgauge.analysis.agreement import measure_agreements, measure_study
from depthgauge.analysis.rank_study.plan import tasks_for
from depthgauge.analysis.rankings import Ranking
from depthgauge.cli import depthgauge as program
from depthgauge.errors import BadData, Misuse
from depthgauge.serve.accounts import rates
from depthgauge.serve.backup import back_up, restore
from depthgauge.serve.desk.ranking import export_study
from depthgauge.serve.site import Site
from depthgauge.serve.studies import add_study, find_study, set_open, studies
from depthgauge.serve.web import study_pages

URL = "http://site.example"
FORM = {"Origin": URL}


@pytest.fixture
def made(tmp_path):
    make_folder(tmp_path / "made", questions=("general",), repeats=1)
    return tmp_path / "made"


@pytest.fixture
def study(site, made):
    return add_study(site, "piano", made, most_people=12)


@pytest.fixture
def ada(client, add_user):
    """An admin."""
    own = starlette.testclient.TestClient(client.app, base_url=URL, follow_redirects=False)
    fields = {"email": add_user("ada@example.org", admin=True).email, "password": PASSWORD}
    assert own.post("/login", data=fields, headers=FORM).status_code == 303
    return own


def join(client, study):
    answer = client.post(f"/{study.path}", data={"csrf": ""}, headers=FORM)
    return answer.headers.get("location", "").rpartition("/")[2] if answer.is_redirect else answer


def form(client, path, **fields):
    csrf = re.search(r'name="csrf" value="([^"]+)"', client.get(path).text)[1]
    return client.post(path, data={"csrf": csrf, **fields}, headers=FORM)


def say(client, person, *events, name="piano", head=FORM):
    path = f"/studies/{name}/api/study/{person}/events"
    return client.post(path, json={"tab": "t", "events": list(events)}, headers=head)


def order(task, places, name="order-0001"):
    return {"id": name, "kind": "order", "task": task, "places": places, "seconds": 4.5}


def test_twelve_people_without_accounts_agree_as_they_were_made_to(client, study, ada, monkeypatch):
    monkeypatch.setattr(study_pages, "JOINS_BY_ADDRESS", rates.Limit("study-address", 12, 3600))
    draw, made = np.random.default_rng(11), []
    for _ in range(12):
        assert "I agree and begin" in client.get(f"/{study.path}").text
        person = join(client, study)
        assert "<dg-rank" in client.get(f"/studies/piano/p/{person}").text
        shown = client.get(f"/studies/piano/api/study/{person}").json()["tasks"]
        for place, task in enumerate(tasks_for(study.plan, person)):
            assert shown[place]["letters"] == list(task.letters)
            ranks = simulated_ranks(draw)
            answer = say(client, person, order(place, places_of(ranks, task), f"order-{place:04d}"))
            assert answer.json()["refused"] == {}
            made.append(Ranking(person, task.experiment, ranks, task.variant, task.repeat))
    assert client.cookies == {}, "nobody is followed"
    text = ada.get("/admin/studies/piano").text
    assert "12 people have ranked, 36 rankings in all" in text
    exported = ada.get("/admin/studies/piano/export/rankings.csv")
    rows = list(csv.DictReader(io.StringIO(exported.text)))
    assert {row["grader"] for row in rows} == {f"G{n}" for n in range(1, 13)}
    assert not any(person in exported.text for person in {one.grader for one in made})
    export_study(study.folder, study.folder / "out")
    assert (study.folder / "out" / "rankings.csv").read_bytes() == exported.content
    found = measure_study(study.folder / "out" / "rankings.csv")
    expected = measure_agreements(made, {})
    assert len(found.agreements) == len(expected) == 2
    for one in found.agreements:
        other = expected[one.experiment, one.variant]
        assert one.within.tau == pytest.approx(other.within.tau, nan_ok=True)
        assert (one.between.tau, one.between.rho) == pytest.approx(
            (other.between.tau, other.between.rho)
        )
        assert 0.3 < one.between.tau < 0.95, "noisy, and yet people agree"


def test_only_the_link_lets_people_in_and_nobody_is_told_names_of_methods(client, study, ada):
    assert client.get("/studies/piano/join/guess").status_code == 404
    assert (
        client.post("/studies/piano/join/guess", data={"csrf": ""}, headers=FORM).status_code == 404
    )
    evil = {"Origin": "http://evil.example"}
    assert client.post(f"/{study.path}", data={"csrf": ""}, headers=evil).status_code == 403
    assert list((study.folder / "answers").glob("*")) == []
    person = join(client, study)
    addresses = (f"p/{person}", f"api/study/{person}", f"api/study/{person}/events?tab=t")
    seen = "".join(client.get(f"/studies/piano/{one}").text for one in addresses)
    assert not any(re.search(rf"\b{name}\b", seen) for name in METHODS)
    pictures = (f"study/{person}/scene/image.png", f"study/{person}/0/A/disparity.png")
    for one in pictures:
        assert client.get(f"/studies/piano/{one}").headers["content-type"] == "image/png"
        assert client.get(f"/studies/piano/{one}".replace(person, "b" * 16)).status_code == 404
    # Results, the link and exports are for admins.
    for one in ("", "/export/rankings.csv"):
        assert client.get(f"/admin/studies/piano{one}").status_code == 404
    assert f"{URL}/{study.path}" in ada.get("/admin/studies/piano").text
    assert "/admin/studies/piano" in ada.get("/admin").text


def test_answers_come_from_pages_of_the_site_and_stay_small(client, study, monkeypatch):
    person = join(client, study)
    first = order(0, [[letter] for letter in "ABCD"])
    assert say(client, person, first, head={"Origin": "http://evil.example"}).status_code == 403
    assert say(client, "x" * 16, first).status_code == 404
    assert say(client, person, {**first, "more": 1}).json()["refused"].keys() == {"order-0001"}
    huge = {"id": "wrong-001", "kind": "wrong", "task": 0, "letter": "A"}
    huge["points_px"] = [[0.5, k] for k in range(4000)]
    many = [{**huge, "id": f"wrong-{k:03d}"} for k in range(60)]
    assert say(client, person, *many).status_code == 422
    monkeypatch.setattr(study_pages, "_MOST_SAID", 100)
    refused = say(client, person, first).json()["refused"]
    assert "more than a study keeps" in refused["order-0001"]
    # Who said too much can still withdraw.
    assert say(client, person, {"id": "withdraw-1", "kind": "withdraw"}).json()["refused"] == {}


def test_joins_are_counted(client, study, monkeypatch):
    monkeypatch.setattr(study_pages, "JOINS_BY_ADDRESS", rates.Limit("study-address", 2, 3600))
    assert len(join(client, study)) == len(join(client, study)) == 16
    assert join(client, study).status_code == 429
    assert len(list((study.folder / "answers").glob("*.jsonl"))) == 2


def test_a_study_is_full_when_enough_people_have_ranked(client, site, made):
    study = add_study(site, "small", made, most_people=1)
    looked, ranked = join(client, study), join(client, study)
    assert len(looked) == 16, "who only looks takes nobody's place"
    say(client, ranked, order(0, [["A", "B", "C", "D"]]), name="small")
    assert join(client, study).status_code == 409
    assert "Enough people have taken part" in client.get(f"/{study.path}").text
    # Added again, it is open for more; link and answers stay.
    again = add_study(site, "small", made, most_people=2)
    assert again.link == study.link
    for _ in range(3):
        assert len(join(client, again)) == 16
    monkeys = [join(client, again) for _ in range(8)]
    assert monkeys[-1].status_code == 409, "not everybody who looks may begin"


def test_a_closed_study_takes_nothing_but_withdrawals(client, study, ada):
    person, path = join(client, study), "/admin/studies/piano"
    say(client, person, order(0, [["A", "B", "C", "D"]]))
    assert form(ada, path, do="nonsense").status_code == 422
    assert form(ada, path, do="close").status_code == 303
    assert "closed" in client.get(f"/{study.path}").text
    assert join(client, study).status_code == 409
    late = order(1, [["A", "B", "C", "D"]], "order-0002")
    answer = say(client, person, late, {"id": "withdraw-1", "kind": "withdraw"}).json()
    assert answer["ok"]
    assert answer["refused"] == {"order-0002": "This study is closed; thank you."}
    with pytest.raises(BadData, match="nobody has ranked"):
        export_study(study.folder, study.folder / "out")
    assert form(ada, path, do="open").status_code == 303
    assert form(ada, path, do="new-link").status_code == 303
    assert client.get(f"/{study.path}").status_code == 404, "the old link is worth nothing"
    assert client.get(f"/studies/piano/p/{person}").status_code == 200, "who has begun goes on"
    assert len(join(client, find_study(Site(study.folder.parents[2]), "piano"))) == 16


def test_studies_are_copies_and_do_not_replace_each_other(site, study, made, tmp_path):
    assert [one.name for one in studies(site)] == ["piano"]
    assert (study.folder / "pictures" / "image.png").is_file()
    with pytest.raises(Misuse, match="small letters"):
        add_study(site, "../up", made)
    with pytest.raises(BadData, match=r"there is no study\.toml"):
        add_study(site, "other", tmp_path)
    make_folder(tmp_path / "another", questions=("porosity",))
    with pytest.raises(BadData, match="another study of that name"):
        add_study(site, "piano", tmp_path / "another")
    # What people said elsewhere is not taken over.
    (made / "answers").mkdir()
    (made / "answers" / f"{'a' * 16}.jsonl").write_text("{}\n")
    assert not (add_study(site, "second", made).folder / "answers").exists()


@only_sqlite
def test_backups_have_the_answers(client, site, database, study, tmp_path):
    person = join(client, study)
    say(client, person, order(0, [["A"], ["B", "C"], ["D"]]))
    set_open(study, False)
    back_up(site, tmp_path / "site.tar")
    restore(tmp_path / "site.tar", tmp_path / "again")
    (found,) = studies(Site(tmp_path / "again"))
    assert (found.link, found.most_people, found.is_open) == (study.link, 12, False)
    assert len(export_study(found.folder, tmp_path / "out").rankings) == 1


def test_a_full_disk_is_said_and_nothing_is_lost(client, study, monkeypatch):
    from depthgauge.serve.desk import journal

    person = join(client, study)

    def full(path, line):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(journal, "append_line", full)
        answer = say(client, person, order(0, [["A", "B", "C", "D"]]))
        assert (answer.status_code, answer.json()["ok"]) == (507, False)
        assert "No space left" in answer.json()["error"]
        assert join(client, study).status_code == 507
    assert say(client, person, order(0, [["A", "B", "C", "D"]])).json()["revision"] == 2


@only_sqlite
def test_the_command_prints_the_link_and_changes_a_study(site, database, made):
    def run(*arguments):
        place = ["--site", str(site.root)]
        return CliRunner().invoke(program, ["serve", "study", "piano", *arguments, *place])

    said = run(str(made), "--json")
    study = find_study(site, "piano")
    assert json.loads(said.stdout)["link"] == f"http://127.0.0.1:8400/{study.path}"
    assert "closed" in run("--close").stdout
    assert not find_study(site, "piano").is_open
    assert run("--reopen").exit_code == 0
    assert run("--new-link").stdout.strip().endswith(find_study(site, "piano").path)
    assert find_study(site, "piano").link != study.link
    assert isinstance(run().exception, Misuse)


def test_somebody_takes_part_in_a_browser(chromium, site, database, study):
    with served(site, database) as address, browsing(chromium) as context:
        page = context.new_page()
        page.goto(f"{address}/{study.path}")
        check_page(page, "study-join")
        page.get_by_role("button", name="I agree and begin").click()
        page.wait_for_selector('dg-rank[data-task="0"]')
        sort_by_keys(page, [["B", "C"], ["A"], ["D"]])
        page.get_by_label("true discontinuities").check()
        page.get_by_role("button", name="Save this order").click()
        page.wait_for_selector('dg-rank[data-task="1"]')
        saved(page)
        check_page(page, "study-rank")
        assert context.cookies() == []
    (ranking,) = export_study(study.folder, study.folder / "out").rankings
    assert sorted(ranking.ranks.values()) == [1.5, 1.5, 3.0, 4.0]


@pytest.mark.long
def test_the_pages_of_admins_are_accessible(chromium, site, database, study, client, add_user):
    person = join(client, study)
    say(client, person, order(0, [["A"], ["B", "C"], ["D"]]))
    add_user("ada@example.org", admin=True)
    with served(site, database) as address, browsing(chromium) as context:
        page = context.new_page()
        page.goto(f"{address}/login")
        page.get_by_label("E-mail").fill("ada@example.org")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in").click()
        page.goto(f"{address}/admin/studies/piano")
        check_page(page, "study-admin")
        page.get_by_role("button", name="Close the study").click()
        page.get_by_role("button", name="Open it again").wait_for()
        check_page(page, "study-closed")
