"""Tags checked in a real browser: corners are set, wrong ones left out, notes are written."""

import json
import shutil

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.capture.tags.drawn import POSES
from tests.serve.desk.browsing import browsing, check_page, served_desk

from depthgauge.capture.by_hand.tag_edits import tag_event
from depthgauge.capture.tags import capture_tags
from depthgauge.capture.tags.corrections import read_corrections
from depthgauge.capture.tags.one_object import POINTS
from depthgauge.errors import BadData
from depthgauge.serve.desk.access import Access
from depthgauge.serve.desk.session_desk import make_session_desk
from depthgauge.sessions import open_session
from depthgauge.sessions.tags import read_annotations

HOME = "http://127.0.0.1:8410"


@pytest.fixture
def session(tagged_session, tmp_path):
    """A copy of the drawn session, with its steps; its object is `jar`."""
    shutil.copytree(tagged_session, tmp_path / "session")
    return open_session(tmp_path / "session")


@pytest.fixture
def client(session):
    app = make_session_desk(session, session.folder / "work", Access(8410, "secret-token"))
    with TestClient(app, base_url=HOME, headers={"origin": HOME}) as made:
        assert made.get("/?token=secret-token").status_code == 200
        yield made


def points(session):
    run = capture_tags(session, session.folder / "work", board_pairs=POSES)
    step = next(one.step for one in run.objects if one.name == "jar")
    return json.loads((step.folder / POINTS).read_text())


def test_notes_from_before_are_the_beginning_of_the_history(client, session):
    folder = session.folder / "objects" / "jar"
    before = read_annotations(folder / "annotations.toml")
    told = client.get("/api/tags/jar/events?tab=t").json()
    assert len(told["events"]) == len(before) > 3
    assert read_annotations(folder / "annotations.toml") == before
    tag = min(before)
    note = {"kind": "note", "tag": tag, "layer": 3, "valid": True, "bad_corners": [1]}
    sent = [{"id": "note-no-1", "material": "reflective", **note}]
    client.post("/api/tags/jar/events", json={"tab": "t", "events": sent})
    after = read_annotations(folder / "annotations.toml")
    assert (after[tag].material, after[tag].layer) == ("reflective", 3)
    assert {k: v for k, v in after.items() if k != tag} == {
        k: v for k, v in before.items() if k != tag
    }
    back = [{"id": "undo-no-1", "kind": "undo", "of": "note-no-1"}]
    client.post("/api/tags/jar/events", json={"tab": "t", "events": back})
    assert read_annotations(folder / "annotations.toml") == before
    assert client.get("/api/tags/vase").status_code == 404
    assert client.get("/tags/jar/0_0.jpg").status_code == 404


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"kind": "paint"}, "is one of note"),
        ({"kind": "reject", "tag": 3}, "reject has id"),
        ({"kind": "reject", "tag": 700, "view": "1_0"}, "from 0 to 586"),
        ({"kind": "reject", "tag": 3, "view": "0_0"}, "a view is one of"),
        ({"kind": "corners", "tag": 3, "view": "1_0", "corners_px": [[1, 2]]}, "four corners"),
    ],
)
def test_what_is_no_event_is_refused_in_words(event, said):
    with pytest.raises(BadData, match=said):
        tag_event({"id": "event-no-1", **event})


def test_a_file_of_corrections_that_is_none_is_named(tmp_path):
    (tmp_path / "corrections.json").write_text('{"schema": 1, "views": {"1_0": {"3": [[1, 2]]}}}')
    with pytest.raises(BadData, match="no file of corrected tags"):
        read_corrections(tmp_path)


def test_a_missed_tag_is_set_by_the_mouse_and_a_wrong_one_left_out(chromium, session):
    found = points(session)
    work = session.folder / "work"

    def make(access):
        return make_session_desk(session, work, access)

    with served_desk(make) as access, browsing(chromium) as context:
        page = context.new_page()
        page.goto(access.address)
        check_page(page, "tags-desk")
        page.goto(f"http://127.0.0.1:{access.port}/tags/jar")
        page.wait_for_selector("dg-tags[data-ready]")
        views = page.evaluate("fetch('/api/tags/jar').then(a => a.json())")["views"]
        tag, corners = views["1_0"]["tags"][0]
        other = next(each for each, _ in views["1_0"]["tags"] if each != tag)
        check_page(page, "tags-begin")
        # The tag is left out in this photograph, then its corners are set anew by the mouse.
        page.locator('dg-tags svg[data-view="1_0"]').focus()
        page.get_by_role("button", name=str(tag), exact=True).click()
        page.get_by_role("button", name="Leave out in before, left").click()
        page.keyboard.press("a")
        for x, y in corners:
            at = page.evaluate(
                """([x, y]) => {
                  const image = document.querySelector('dg-tags').shadowRoot
                    .querySelector('svg[data-view="1_0"]');
                  const p = new DOMPoint(x + 0.5, y + 0.5).matrixTransform(image.getScreenCTM());
                  return [p.x, p.y];
                }""",
                [x + 0.6, y - 0.5],
            )
            page.mouse.click(*at)
        page.get_by_text("Everything is saved.").wait_for()
        page.keyboard.press("a")
        # By keys only: another tag gets a material and a layer, and is left out in one photograph.
        page.get_by_role("button", name=str(other), exact=True).focus()
        page.keyboard.press("Enter")
        page.keyboard.press("r")
        page.keyboard.press("2")
        page.locator('dg-tags svg[data-view="2_1"]').focus()
        page.keyboard.press("x")
        page.keyboard.press("z")
        page.get_by_text("Everything is saved.").wait_for()
        check_page(page, "tags-done")
        page.set_viewport_size({"width": 500, "height": 900})
        check_page(page, "tags-narrow")
    folder = session.folder / "objects" / "jar"
    note = read_annotations(folder / "annotations.toml")[other]
    assert (note.material, note.layer) == ("reflective", 2)
    said = read_corrections(folder)
    # Pointed at half a pixel beside them, corners are moved to where the edges meet.
    assert np.abs(said[1, 0][tag] - np.array(corners)).max() < 0.05
    assert said[2, 1] == {other: None}
    tags = {one["id"]: one for one in points(session)["tags"]}
    was = {one["id"]: one for one in found["tags"]}
    assert "2_1" in was[other]["corners_px"]
    assert "2_1" not in tags[other]["corners_px"]
    assert (tags[other]["material"], tags[other]["layer"]) == ("reflective", 2)
    moved = np.array(tags[tag]["corners_px"]["1_0"]) - np.array(was[tag]["corners_px"]["1_0"])
    assert np.abs(moved).max() < 0.05
