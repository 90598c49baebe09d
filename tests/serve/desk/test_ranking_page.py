"""A ranking study in a real browser: the agreement of simulated people comes out as it went in."""

import json
import re

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.serve.desk.browsing import browsing, check_page, served_desk

from depthgauge.analysis.agreement import measure_agreements, measure_study
from depthgauge.analysis.rank_study.maps import Geometry
from depthgauge.analysis.rank_study.plan import tasks_for
from depthgauge.analysis.rankings import Ranking
from depthgauge.errors import BadData, Misuse, WrongShape
from depthgauge.report.rank_study import make_rank_study
from depthgauge.serve.desk.access import Access
from depthgauge.serve.desk.ranking import export_study, make_study_desk

HOME = "http://127.0.0.1:8410"
METHODS = ("bm", "elas", "pm", "sgm")


def make_folder(folder, *, questions=("general",), repeats=0, **changes):
    draw = np.random.default_rng(3)
    truth = np.tile(np.linspace(5, 20, 90, dtype=np.float32), (60, 1))
    truth[15:40, 30:60] += 20
    noise = {
        name: (truth + (k + 0.2) * draw.standard_normal(truth.shape)).astype(np.float32)
        for k, name in enumerate(METHODS)
    }
    given = {
        "image": np.repeat((4 * truth[..., None]).astype(np.uint8), 3, axis=2),
        "truth": truth,
        "estimates": noise,
        "questions": {name: f"Sort by {name} quality." for name in questions},
        "title": "Four methods",
        "repeats": repeats,
        "geometry": Geometry(100.0, 0.1),
    }
    return make_rank_study(folder, **{**given, **changes})


@pytest.fixture
def folder(tmp_path):
    make_folder(tmp_path)
    return tmp_path


@pytest.fixture
def client(folder):
    app = make_study_desk(folder, Access(8410, "secret-token"))
    with TestClient(app, base_url=HOME, headers={"origin": HOME}) as made:
        assert made.get("/?token=secret-token").status_code == 200
        yield made


def joined(client):
    answer = client.post("/join", follow_redirects=False)
    assert answer.status_code == 303
    return answer.headers["location"].removeprefix("/p/")


def test_nobody_is_told_the_names_of_methods(client, folder):
    person = joined(client)
    seen = client.get(f"/p/{person}").text + client.get(f"/api/study/{person}").text
    seen += client.get(f"/api/study/{person}/events?tab=t").text
    assert not any(re.search(rf"\b{name}\b", seen) for name in METHODS)
    tasks = client.get(f"/api/study/{person}").json()["tasks"]
    kinds = {tuple(task["kinds"]) for task in tasks}
    assert kinds == {("disparity",), ("disparity", "truth", "error", "normals")}
    basic = next(k for k, task in enumerate(tasks) if len(task["kinds"]) == 1)
    assert client.get(f"/study/{person}/{basic}/A/disparity.png").status_code == 200
    assert client.get(f"/study/{person}/{basic}/A/error.png").status_code == 404
    assert client.get(f"/study/{person}/{basic}/Z/disparity.png").status_code == 404
    assert client.get("/p/somebodyelse1234").status_code == 404
    plan = make_study_desk(folder, Access(1, "x")).state.study_desk.plan
    own = tasks_for(plan, person)[basic]
    picture = (folder / "pictures" / "methods" / own.methods[0] / "disparity.png").read_bytes()
    assert client.get(f"/study/{person}/{basic}/A/disparity.png").content == picture


def test_a_page_cannot_begin_twice_nor_answer_for_another_task(client, folder):
    person = joined(client)
    path = f"/api/study/{person}/events"
    wrong = {"id": "begin-again", "kind": "begin", "consent": "", "tasks": []}
    body = client.post(path, json={"tab": "t", "events": [wrong]}).json()
    assert "begins once" in body["refused"]["begin-again"]
    with pytest.raises(BadData, match="nobody has ranked"):
        export_study(folder, folder / "out")


def test_a_study_that_cannot_be_is_refused(tmp_path):
    with pytest.raises(WrongShape, match="has shape"):
        make_folder(tmp_path, truth=np.zeros((5, 5), np.float32))
    with pytest.raises(Misuse, match="needs two methods"):
        make_folder(tmp_path, estimates={})
    make_folder(tmp_path)
    with pytest.raises(Misuse, match="has a study already"):
        make_folder(tmp_path)


def places_of(ranks, task):
    """What a person does who has these ranks of methods: letters by place."""
    letters = dict(zip(task.methods, task.letters, strict=True))
    return [
        sorted(letters[method] for method in ranks if ranks[method] == rank)
        for rank in sorted(set(ranks.values()))
    ]


def shown_places(page):
    return page.evaluate(
        "[...document.querySelector('dg-rank').shadowRoot.querySelectorAll('.place')]"
        ".map(p => [...p.querySelectorAll('.card')].map(c => c.dataset.letter))"
    )


def sort_by_keys(page, wanted):
    """Moves cards with arrow keys, place by place from the top, as a person would."""
    for at, place in enumerate(wanted):
        for k, letter in enumerate(place):
            card = page.locator(f'dg-rank button[data-letter="{letter}"]')
            card.focus()
            for _ in range(30):
                now = shown_places(page)
                here = next(n for n, cards in enumerate(now) if letter in cards)
                done = set(now[here]) - {letter} == set(place[:k]) and here == at
                if done:
                    break
                page.keyboard.press("ArrowUp")
            else:
                raise AssertionError(f"{letter} never comes to {at}: {shown_places(page)}")


def drag(page, letter, target):
    start = page.locator(f'dg-rank button[data-letter="{letter}"]').bounding_box()
    end = page.locator(f'dg-rank [data-drop="{target}"]').bounding_box()
    page.mouse.move(start["x"] + 20, start["y"] + 15)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] - 12, end["y"] + end["height"] / 2, steps=4)
    page.mouse.up()


def saved(page):
    page.get_by_text("Everything is saved.").wait_for()


def simulated_ranks(draw, noise=0.8):
    """Ranks by noisy eyes of methods whose quality is 0, 1, 2, 3; ties where they are close."""
    seen = np.round(np.arange(len(METHODS)) + noise * draw.standard_normal(len(METHODS)))
    order = sorted(set(seen))
    return {name: float(order.index(v) + 1) for name, v in zip(METHODS, seen, strict=True)}


@pytest.mark.long
def test_twelve_people_agree_as_they_were_made_to(chromium, tmp_path):
    plan = make_folder(tmp_path, questions=("general",), repeats=1)
    draw = np.random.default_rng(11)
    made = []
    with served_desk(lambda access: make_study_desk(tmp_path, access)) as access:
        for number in range(12):
            with browsing(chromium, height=700) as context:
                page = context.new_page()
                page.goto(access.address)
                page.goto(f"http://127.0.0.1:{access.port}/join")
                page.get_by_role("button", name="I agree and begin").click()
                page.wait_for_selector("dg-rank[data-task]")
                person = page.url.rsplit("/", 1)[1]
                for place, task in enumerate(tasks_for(plan, person)):
                    page.wait_for_selector(f'dg-rank[data-task="{place}"]')
                    ranks = simulated_ranks(draw)
                    sort_by_keys(page, places_of(ranks, task))
                    page.get_by_role("button", name="Save this order").click()
                    made.append(Ranking(person, task.experiment, ranks, task.variant, task.repeat))
                page.get_by_text("That was all. Thank you!").wait_for()
                saved(page)
                del number
        with browsing(chromium) as context:
            page = context.new_page()
            page.goto(access.address)
            check_page(page, "rank-results")
            assert "12 people have ranked" in page.locator("main").inner_text()
    answers = export_study(tmp_path, tmp_path / "out")
    assert len(answers.rankings) == 36
    found = measure_study(tmp_path / "out" / "rankings.csv")
    expected = measure_agreements(made, {})
    for one in found.agreements:
        other = expected[one.experiment, one.variant]
        assert one.within.tau == pytest.approx(other.within.tau, nan_ok=True)
        assert one.between.tau == pytest.approx(other.between.tau)
        assert one.between.rho == pytest.approx(other.between.rho)
        assert one.between.pairs == other.between.pairs
        assert 0.3 < one.between.tau < 0.95, "noisy, and yet people agree"


def test_sorting_by_mouse_and_keys_opinions_areas_and_a_lost_connection(chromium, folder):
    away = (
        "ERR_CONNECTION_REFUSED",
        "Failed to load resource",
        "ERR_CONNECTION_RESET",
        "ERR_EMPTY",
    )
    with browsing(chromium, allow=away) as context:
        with served_desk(lambda access: make_study_desk(folder, access)) as access:
            page = context.new_page()
            page.goto(access.address)
            check_page(page, "rank-empty")
            page.get_by_role("link", name="Take part").click()
            page.get_by_role("button", name="I agree and begin").wait_for()
            check_page(page, "rank-join")
            page.get_by_role("button", name="I agree and begin").click()
            page.wait_for_selector('dg-rank[data-task="0"]')
            drag(page, "D", "gap:0")
            assert shown_places(page) == [["D"], ["A"], ["B"], ["C"]]
            drag(page, "C", "place:0")
            assert shown_places(page) == [["D", "C"], ["A"], ["B"]]
            page.locator('dg-rank button[data-letter="B"]').focus()
            page.keyboard.press("ArrowUp")
            assert shown_places(page) == [["D", "C"], ["A", "B"]]
            page.get_by_label("true discontinuities").check()
            page.locator('dg-rank button[data-letter="B"]').click()
            page.get_by_label("my opinion").select_option("4")
            page.get_by_role("button", name="Mark wrong areas").click()
            page.locator("dg-rank .pane").first.focus()
            for key in ("ArrowRight", "ArrowDown", "ArrowLeft"):
                page.keyboard.press(key)
                page.keyboard.press("Space")
            page.keyboard.press("Enter")
            saved(page)
            check_page(page, "rank-basic")
        page.get_by_role("button", name="Save this order").click()
        page.get_by_text("is kept in this browser").wait_for()
        with served_desk(lambda access: make_study_desk(folder, access), access.port):
            page.reload()
            page.wait_for_selector('dg-rank[data-task="1"]')
            saved(page)
            check_page(page, "rank-detailed")
            page.set_viewport_size({"width": 500, "height": 900})
            check_page(page, "rank-narrow")
    (path,) = (folder / "answers").glob("*.jsonl")
    kinds = [json.loads(line)["kind"] for line in path.read_text().splitlines()]
    assert kinds == ["begin", "opinion", "wrong", "order"]
    answers = export_study(folder, folder / "out")
    assert sorted(answers.rankings[0].ranks.values()) == [1.5, 1.5, 3.5, 3.5]
    assert (answers.opinions[0].score, len(answers.wrong_areas[0].points_px)) == (4, 3)
