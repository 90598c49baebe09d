"""Cleaning a cloud in a real browser: what the mouse removes, the audit does not see again."""

import json
from functools import partial

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.capture.by_hand.conftest import begin_edited
from tests.capture.conftest import make_world
from tests.serve.desk.browsing import browsing, check_page, served_desk, wait_until

from depthgauge.capture.by_hand.cloud import cloud_piece
from depthgauge.capture.by_hand.removals import RemovalView
from depthgauge.capture.by_hand.rework import rework
from depthgauge.capture.clean.manual_edits import (
    ManualEdits,
    manually_removed,
    read_manual_edits,
    write_manual_edits,
)
from depthgauge.capture.steps import read_step
from depthgauge.errors import BadFile, CannotWrite
from depthgauge.serve.desk import cleaning as pages
from depthgauge.serve.desk import journal as journals
from depthgauge.serve.desk.access import Access
from depthgauge.serve.desk.cleaning import write_list
from depthgauge.serve.desk.session_desk import make_session_desk

HOME = "http://127.0.0.1:8410"
POLYGON = {"view": "left", "points_px": [[10, 10], [60, 10], [60, 60], [10, 60]]}


@pytest.fixture(scope="module")
def edited(tmp_path_factory):
    """A simulated session of its own, audited once, in which a wrong patch floats."""
    world = make_world(tmp_path_factory.mktemp("world"))
    made = begin_edited(world, world.folder / "work")
    nothing = world.folder / "none.json"
    write_manual_edits(nothing, ManualEdits())
    rework(made.session, made.work, nothing)
    return made


@pytest.fixture
def fresh(edited):
    """The same session without removals."""
    folder = edited.session.folder / "by-hand"
    for path in folder.glob("*"):
        path.unlink()
    return edited


@pytest.fixture
def client(fresh):
    app = make_session_desk(fresh.session, fresh.work, Access(8410, "secret-token"))
    with TestClient(app, base_url=HOME, headers={"origin": HOME}) as made:
        assert made.get("/?token=secret-token").status_code == 200
        yield made


def removal(name="event-number-1", **changes):
    return {"id": name, "kind": "remove", "shape": "polygons", "entry": {**POLYGON, **changes}}


def send(client, *events, tab="t1"):
    return client.post("/api/clean/events", json={"tab": tab, "events": list(events)})


def test_the_list_follows_the_history_to_the_byte(client, fresh):
    folder = fresh.session.folder / "by-hand"
    body = send(client, removal(), removal("event-number-2", view="right")).json()
    assert body["ok"]
    assert body["removed"]["left"] > 500
    undo = {"id": "event-number-3", "kind": "undo", "of": "event-number-1"}
    assert send(client, undo).json()["removed"]["left"] == 0
    kept = (folder / "removals.json").read_bytes()
    assert len(read_manual_edits(folder / "removals.json").polygons) == 1
    (folder / "removals.json").unlink()
    assert write_list(fresh.session) == 1
    assert (folder / "removals.json").read_bytes() == kept
    assert len((folder / "removals.jsonl").read_text().splitlines()) == 3


def test_what_is_sent_again_is_stored_once(client):
    for _ in range(3):
        assert send(client, removal()).json()["revision"] == 1
    told = client.get("/api/clean/events?tab=t2&since=0").json()
    assert [event["id"] for event in told["events"]] == ["event-number-1"]
    assert told["others"] == 1
    client.post("/api/clean/leave", json={"tab": "t1"})
    assert client.get("/api/clean/events?tab=t2").json()["others"] == 0


def test_what_is_wrong_is_refused_and_the_rest_is_stored(client):
    wrong = removal("event-number-9", points_px=[[0, 0]])
    body = send(client, wrong, removal()).json()
    assert body["revision"] == 1
    assert "at least 3 points" in body["refused"]["event-number-9"]
    assert client.get("/api/clean/cloud/top").status_code == 404
    assert "has no pixel" in client.get("/api/clean/cloud/left?x=900&width=5&height=5").text


def test_a_full_disk_loses_nothing_and_is_said(client, fresh, monkeypatch):
    assert send(client, removal()).status_code == 200

    def full(path, line):
        raise CannotWrite(f"{path.name}: cannot be written: No space left on device.")

    with monkeypatch.context() as patch:
        patch.setattr(journals, "append_line", full)
        answer = send(client, removal("event-number-2"))
    assert answer.status_code == 507
    assert "No space left" in answer.json()["error"]
    assert send(client, removal("event-number-2")).json()["revision"] == 2


def test_a_list_that_cannot_be_written_follows_later(client, fresh, monkeypatch):
    def full(path, chosen):
        raise CannotWrite(f"{path.name}: cannot be written: No space left on device.")

    with monkeypatch.context() as patch:
        patch.setattr(pages, "write_manual_edits", full)
        body = send(client, removal()).json()
    assert body["ok"], "the history has it"
    assert "behind its history" in body["trouble"]
    path = fresh.session.folder / "by-hand" / "removals.json"
    assert not path.exists()
    assert client.get("/api/clean/events?tab=t").json()["trouble"] == ""
    assert len(read_manual_edits(path).polygons) == 1


def test_a_half_written_line_of_a_killed_process_is_set_aside(fresh):
    folder = fresh.session.folder / "by-hand"
    folder.mkdir(exist_ok=True)
    (folder / "removals.jsonl").write_text(json.dumps(removal()) + '\n{"id": "event-num')
    app = make_session_desk(fresh.session, fresh.work, Access(8410, "secret-token"))
    with TestClient(app, base_url=HOME, headers={"origin": HOME}) as client:
        client.get("/?token=secret-token")
        assert client.get("/api/clean/events?tab=t").json()["revision"] == 1
        assert send(client, removal("event-number-2")).json()["revision"] == 2
    assert len((folder / "removals.jsonl").read_text().splitlines()) == 2
    assert (folder / "removals.jsonl.damaged").read_text() == '{"id": "event-num\n'


def test_a_damaged_history_is_named(fresh):
    folder = fresh.session.folder / "by-hand"
    folder.mkdir(exist_ok=True)
    (folder / "removals.jsonl").write_text('{"id": "event-number-1", "kind": "draw"}\n')
    with pytest.raises(BadFile, match="line 1: an event is a remove"):
        write_list(fresh.session)


def test_a_session_without_maps_says_what_to_run(fresh, tmp_path):
    app = make_session_desk(fresh.session, tmp_path, Access(8410, "secret-token"))
    with TestClient(app, base_url=HOME) as client:
        client.get("/?token=secret-token")
        assert "depthgauge capture refine" in client.get("/").text
        answer = client.get("/clean")
        assert answer.status_code == 422
        assert "is not done yet" in answer.text


def open_cleaning(context, access):
    page = context.new_page()
    page.goto(access.address)
    page.goto(f"http://127.0.0.1:{access.port}/clean")
    page.wait_for_selector("dg-clean[data-shown]")
    return page


def box_of(page, name):
    return page.locator(f"dg-clean canvas.{name}").bounding_box()


def drawn_around(page, box, places):
    """A line by the mouse through places (0..1) of a canvas."""
    points = [(box["x"] + u * box["width"], box["y"] + v * box["height"]) for u, v in places]
    page.mouse.move(*points[0])
    page.mouse.down()
    for x, y in points[1:]:
        page.mouse.move(x, y, steps=6)
    page.mouse.up()


def fitted(box, width, height):
    """Where a picture of this size is in its canvas: pixels to places of the canvas."""
    scale = min(box["width"] / width, box["height"] / height)
    left = (box["width"] - width * scale) / 2
    top = (box["height"] - height * scale) / 2

    def place(x, y):
        return (
            (left + (x + 0.5) * scale) / box["width"],
            (top + (y + 0.5) * scale) / box["height"],
        )

    return place


def standing(page, count):
    page.wait_for_selector(f'dg-clean[data-standing="{count}"]')


def saved(page):
    page.get_by_text("Everything is saved.").wait_for()


def test_a_cloud_is_cleaned_by_the_mouse_and_the_audit_improves(chromium, fresh):
    before = read_step(fresh.work, "audit").figures["true_error"]
    assert before["bad_2_percent"] > 1.0, "the patch is wrong"

    def make(access):
        return make_session_desk(fresh.session, fresh.work, access)

    with served_desk(make) as access, browsing(chromium) as context:
        page = open_cleaning(context, access)
        check_page(page, "clean-begin")
        page.locator("dg-clean select").nth(1).select_option("standard deviation")
        # Only what is uncertain is shown, and only that is removed.
        slider = page.get_by_role("slider", name="only points with a standard deviation from")
        slider.focus()
        for _ in range(60):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("l")
        box = box_of(page, "cloud")
        drawn_around(page, box, [(0.02, 0.02), (0.6, 0.02), (0.6, 0.6), (0.02, 0.6), (0.02, 0.04)])
        standing(page, 1)
        saved(page)
        check_page(page, "clean-lasso")
        page.keyboard.press("Control+z")
        standing(page, 0)
        page.keyboard.press("Control+Shift+z")
        standing(page, 1)
        # The right view has the same patch at another place; the picture is lassoed there.
        page.locator("dg-clean select").first.select_option("right")
        wait_until(
            page, "document.querySelector('dg-clean').shadowRoot.querySelector('.removed') !== null"
        )
        page.wait_for_timeout(300)
        box = box_of(page, "picture")
        place = fitted(box, 200, 150)
        drawn_around(page, box, [place(15, 15), place(50, 15), place(50, 50), place(15, 50)])
        standing(page, 2)
        saved(page)
        page.get_by_role("button", name="Clean again and audit").click()
        page.wait_for_selector("dg-clean table.audit", timeout=60000)
        check_page(page, "clean-done")
        said = page.locator("dg-clean table.audit").inner_text()
    after = read_step(fresh.work, "audit").figures["true_error"]
    assert after["bad_2_percent"] < 0.2 < before["bad_2_percent"]
    assert after["mean_abs_px"] < 0.5 * before["mean_abs_px"]
    assert f"{after['bad_2_percent']:.3f} %" in said
    # What is right there stays: nothing with a small standard deviation was removed.
    chosen = read_manual_edits(fresh.session.folder / "by-hand" / "removals.json")
    assert all(lasso.least_sigma_px > 0.2 for lasso in chosen.lassos)


def test_what_is_looked_at_closely_comes_in_more_detail(chromium, fresh, monkeypatch):
    """As with 12 Mpx: the whole view is thinned out, and a part of it is not."""
    monkeypatch.setattr(pages, "cloud_piece", partial(cloud_piece, most_points=2500))

    def make(access):
        return make_session_desk(fresh.session, fresh.work, access)

    with served_desk(make) as access, browsing(chromium) as context:
        page = open_cleaning(context, access)
        few = int(page.locator("dg-clean").get_attribute("data-shown"))
        assert few <= 2500
        page.locator("dg-clean canvas.cloud").focus()
        with page.expect_response(lambda answer: "cloud/left?x=" in answer.url):
            for _ in range(8):
                page.keyboard.press("+")
        text = "document.querySelector('dg-clean').shadowRoot.textContent"
        wait_until(page, f"!{text}.includes('{few:,} points')")
        # What is removed holds for the full maps, however few points are drawn.
        page.keyboard.press("l")
        box = box_of(page, "picture")
        place = fitted(box, 200, 150)
        drawn_around(page, box, [place(20, 60), place(60, 60), place(60, 100), place(20, 100)])
        standing(page, 1)
        saved(page)
        said = page.locator("dg-clean .removed").inner_text()
    assert 1200 < int(said.split()[0].replace(",", "")) < 2000, "about 40 x 40 pixels"


def test_the_brush_removes_at_the_keyboard_s_mark(chromium, fresh):
    def make(access):
        return make_session_desk(fresh.session, fresh.work, access)

    with served_desk(make) as access, browsing(chromium, width=800) as context:
        page = open_cleaning(context, access)
        page.keyboard.press("b")
        page.locator("dg-clean canvas.picture").focus()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Space")
        standing(page, 1)
        saved(page)
        assert "Pixel 9" in page.locator("dg-clean .about").inner_text()
        # A lasso by keys: corners by space, closed by Enter.
        page.keyboard.press("l")
        for key in ("ArrowRight", "ArrowDown", "ArrowLeft"):
            page.keyboard.press("Space")
            for _ in range(4):
                page.keyboard.press(key)
        page.keyboard.press("Enter")
        standing(page, 2)
        saved(page)
        check_page(page, "clean-narrow")
    chosen = read_manual_edits(fresh.session.folder / "by-hand" / "removals.json")
    assert len(chosen.balls) == len(chosen.polygons) == 1
    maps = RemovalView(fresh.work)
    for side in ("left", "right"):
        found = manually_removed(
            ManualEdits(balls=chosen.balls), maps.pair, maps.maps[side].disparity, side
        )
        assert np.count_nonzero(found) >= 1


def test_a_page_keeps_what_is_done_while_the_server_is_away(chromium, fresh):
    def make(access):
        return make_session_desk(fresh.session, fresh.work, access)

    away = (
        "ERR_CONNECTION_REFUSED",
        "Failed to load resource",
        "ERR_CONNECTION_RESET",
        "ERR_EMPTY",
    )
    with browsing(chromium, allow=away) as context:
        with served_desk(make) as access:
            page = open_cleaning(context, access)
            saved(page)
            page.keyboard.press("b")
            page.locator("dg-clean canvas.picture").focus()
            page.keyboard.press("ArrowLeft")
        page.keyboard.press("Space")
        page.get_by_text("1 action is kept in this browser").wait_for()
        standing(page, 1)
        # Another tab of this browser takes over what the closed one left.
        page.close()
        with served_desk(make, access.port):
            again = open_cleaning(context, access)
            saved(again)
            standing(again, 1)
            other = open_cleaning(context, access)
            other.get_by_text("open in 1 other tab").wait_for()
            again.keyboard.press("Control+z")
            standing(other, 0)
    lines = (fresh.session.folder / "by-hand" / "removals.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["remove", "undo"]
