"""The server's side of the page that draws masks: nothing is lost, and the file follows."""

import json

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.capture.masks.networks import decoder, encoder
from tests.serve.desk.masked import drawable

from depthgauge import io
from depthgauge.capture.masks.segment_anything import open_networks
from depthgauge.errors import BadFile, CannotWrite, WrongShape
from depthgauge.serve.desk import journal as journals
from depthgauge.serve.desk import masking as pages
from depthgauge.serve.desk.access import Access
from depthgauge.serve.desk.masking import Masking, tinted, write_materials
from depthgauge.serve.desk.session_desk import make_session_desk

HOME = "http://127.0.0.1:8410"
SQUARE = [[20, 20], [60, 20], [60, 50], [20, 50]]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return drawable(tmp_path_factory.mktemp("world"))


@pytest.fixture
def session(made):
    """The session without a mask."""
    found, _, _ = made
    for folder in ("by-hand", "labels"):
        for path in (found.folder / folder).glob("*"):
            path.unlink()
    return found


def opened(session, networks=None):
    work = session.folder / "work"
    app = make_session_desk(session, work, Access(8410, "secret-token"), networks)
    client = TestClient(app, base_url=HOME, headers={"origin": HOME})
    assert client.get("/?token=secret-token").status_code == 200
    return client


@pytest.fixture
def client(session):
    with opened(session) as found:
        yield found


def paint(name="event-number-1", number=3, shape="polygon", **entry):
    made = {"points_px": SQUARE, **entry}
    return {"id": name, "kind": "paint", "class": number, "shape": shape, "entry": made}


def send(client, *events, tab="t1"):
    return client.post("/api/masks/events", json={"tab": tab, "events": list(events)})


def mask(session):
    return io.read_labels(session.folder / "labels" / "materials.png")


def test_the_mask_follows_the_history_to_the_byte(client, session):
    path = session.folder / "labels" / "materials.png"
    body = send(client, paint()).json()
    assert body["ok"]
    assert body["counts"] == [200 * 150 - 40 * 30, 0, 0, 40 * 30]
    assert (mask(session)[20:50, 20:60] == 3).all()
    stroke = paint("event-number-2", 1, "brush", points_px=[[100, 100]], radius_px=5)
    undo = {"id": "event-number-3", "kind": "undo", "of": "event-number-1"}
    assert send(client, stroke, undo).json()["counts"][3] == 0
    kept = path.read_bytes()
    path.unlink()
    assert write_materials(session, session.folder / "work") == 3
    assert path.read_bytes() == kept
    assert len((session.folder / "by-hand" / "materials.jsonl").read_text().splitlines()) == 3


def test_the_page_says_what_it_is_about(client):
    about = client.get("/api/masks").json()
    assert (about["width"], about["height"], about["network"]) == (200, 150, False)
    assert about["pictures"] == ["im0", "im1"]
    assert len(about["classes"]) == 4
    assert "Draw the material mask" in client.get("/").text
    assert "dg-masks" in client.get("/masks").text
    for address in ("picture/im0", "piece/im1"):
        found = client.get(f"/masks/{address}.jpg?x=10&y=10&width=50&height=40")
        assert found.headers["content-type"] == "image/jpeg"
    assert client.get("/masks/picture/im7.jpg").status_code == 404
    assert client.get("/masks/piece/im0.jpg?x=900&y=0&width=9&height=9").status_code == 422
    assert client.get("/masks/carried/LR/right.jpg").status_code == 404
    assert client.get("/masks/carried/../right.jpg").status_code == 404


def test_what_is_sent_again_is_stored_once_and_tabs_are_counted(client):
    for _ in range(3):
        assert send(client, paint()).json()["revision"] == 1
    told = client.get("/api/masks/events?tab=t2&since=0").json()
    assert [event["id"] for event in told["events"]] == ["event-number-1"]
    assert told["others"] == 1
    client.post("/api/masks/leave", json={"tab": "t1"})
    assert client.get("/api/masks/events?tab=t2").json()["others"] == 0


def test_what_is_wrong_is_refused_and_the_rest_is_stored(client):
    wrong = [
        paint("event-number-7", 4),
        paint("event-number-8", points_px=SQUARE[:2]),
        paint("event-number-9", 1, "brush", points_px=[[5, 5]], radius_px=-1),
    ]
    body = send(client, *wrong, paint()).json()
    assert body["revision"] == 1
    assert "a class is from 0 to 3" in body["refused"]["event-number-7"]
    assert "3 to 5000 points, found 2" in body["refused"]["event-number-8"]
    assert "radius" in body["refused"]["event-number-9"]


def test_a_full_disk_loses_nothing_and_is_said(client, session, monkeypatch):
    assert send(client, paint()).status_code == 200

    def full(path, *content):
        raise CannotWrite(f"{path}: cannot be written: No space left on device.")

    second = paint("event-number-2", 1)
    with monkeypatch.context() as patch:
        patch.setattr(journals, "append_line", full)
        answer = send(client, second)
    assert answer.status_code == 507
    assert "No space left" in answer.json()["error"]
    with monkeypatch.context() as patch:
        patch.setattr(pages, "write_mask", full)
        body = send(client, second).json()
    assert body["ok"], "the history has it"
    assert "behind its history" in body["trouble"]
    assert mask(session).max() == 3
    assert client.get("/api/masks/events?tab=t").json()["trouble"] == ""
    assert mask(session).max() == 1


def test_a_killed_server_begins_with_its_history(session):
    with opened(session) as client:
        send(client, paint())
    folder = session.folder / "by-hand"
    text = (folder / "materials.jsonl").read_text()
    # Killed after the next line and before the mask, and in the middle of the line after that.
    next_line = json.dumps(paint("event-number-2", 2))
    (folder / "materials.jsonl").write_text(text + next_line + '\n{"id": "event-num')
    with opened(session) as client:
        told = client.get("/api/masks/events?tab=t").json()
        assert [event["kind"] for event in told["events"]] == ["paint", "paint"]
        assert mask(session).max() == 2, "an old mask is no change of somebody else"
        assert send(client, paint("event-number-3", 1)).json()["revision"] == 3
    assert (folder / "materials.jsonl.damaged").read_text() == '{"id": "event-num\n'


def test_a_mask_from_elsewhere_is_the_beginning_and_can_be_taken_back(session):
    path = session.folder / "labels" / "materials.png"
    drawn = np.zeros((150, 200), np.uint8)
    drawn[100:, :] = 2
    io.write_image(path, drawn)
    before = path.read_bytes()
    with opened(session) as client:
        told = client.get("/api/masks/events?tab=t").json()
        assert [event["kind"] for event in told["events"]] == ["labels"]
        assert told["counts"][2] == 50 * 200
        assert path.read_bytes() == before, "nothing was painted yet"
        assert send(client, paint()).json()["counts"] == [18800, 0, 10000, 1200]
        # Another program changes it while the page is open.
        changed = mask(session).astype(np.uint8)
        changed[0, :7] = 1
        io.write_image(path, changed)
        told = client.get("/api/masks/events?tab=t").json()
        assert [event["kind"] for event in told["events"]] == ["labels", "paint", "labels"]
        assert told["counts"] == [18793, 7, 10000, 1200]
        back = {"id": "event-number-5", "kind": "undo", "of": told["events"][2]["id"]}
        assert send(client, back).json()["counts"] == [18800, 0, 10000, 1200]
    assert Masking(session, session.folder / "work").journal.events()[-1]["kind"] == "undo"


def test_masks_of_another_size_and_damaged_histories_are_named(session):
    path = session.folder / "labels" / "materials.png"
    io.write_image(path, np.zeros((3, 4), np.uint8))
    with pytest.raises(WrongShape, match="is 4x3, the pictures it is drawn on are 200x150"):
        Masking(session, session.folder / "work")
    path.unlink()
    folder = session.folder / "by-hand"
    folder.mkdir(exist_ok=True)
    (folder / "materials.jsonl").write_text('{"id": "event-number-1", "kind": "draw"}\n')
    with pytest.raises(BadFile, match="line 1: an event is paint"):
        write_materials(session, session.folder / "work")


def ask(client, tool="flood", clicks=((150, 20, True),), **more):
    listed = [{"x": x, "y": y, "wanted": wanted} for x, y, wanted in clicks]
    body = {"tab": "t", "picture": "im0", "tool": tool, "clicks": listed, **more}
    return client.post("/api/masks/propose", json=body)


def test_proposals_become_events(client, made):
    truth = made[2].exact["LR"].objects
    y, x = np.argwhere(truth == 2).mean(axis=0)
    for tool in ("flood", "clicks"):
        found = ask(client, tool, [[x, y, True]]).json()
        event = {**paint(f"event-of-{tool}", 3, "region"), "entry": found["entry"]}
        assert send(client, event).json()["refused"] == {}
        counts = client.get("/api/masks/events?tab=t").json()["counts"]
        assert counts[3] == pytest.approx(np.count_nonzero(truth == 2), rel=0.05)
        assert found["pixels"] == counts[3]
        undo = {"id": f"undo-of-{tool}", "kind": "undo", "of": f"event-of-{tool}"}
        assert send(client, undo).json()["counts"][3] == 0


def test_questions_without_an_answer(client):
    assert "outside of what is seen" in ask(client, clicks=[[500, 3, True]]).json()["error"]
    assert "no click says" in ask(client, "clicks", [[5, 3, False]]).json()["error"]
    assert "No network was given" in ask(client, "network").json()["error"]
    assert ask(client, picture="../im0").status_code == 404
    for wrong in ({"tool": "magic"}, {"tolerance": 999}, {"clicks": []}, {"within": [1, 2]}):
        assert ask(client, **wrong).status_code == 422


def test_the_operator_s_networks_answer(session, tmp_path):
    pytest.importorskip("onnxruntime")
    (tmp_path / "e.onnx").write_bytes(encoder())
    (tmp_path / "d.onnx").write_bytes(decoder())
    with opened(session, open_networks(tmp_path / "e.onnx", tmp_path / "d.onnx")) as client:
        assert client.get("/api/masks").json()["network"]
        found = ask(client, "network", [[100, 60, True]]).json()
    assert found["pixels"] > 10
    assert found["entry"]["made_by"].startswith("network on im0")


def test_only_this_page_may_write(client):
    for path in ("events", "propose", "carry", "leave"):
        answer = client.post(f"/api/masks/{path}", json={}, headers={"origin": "http://evil.org"})
        assert answer.status_code == 403
    answer = client.get("/masks/picture/im0.jpg", headers={"host": "evil.org"})
    assert answer.status_code == 421


def test_colours_and_hatching():
    image = np.full((8, 8), 100, np.uint8)
    labels = np.zeros((8, 8), np.int32)
    labels[:, 4:] = 3
    labels[:4] = 255
    found = tinted(image, labels)
    assert (found[5, 0] == 100).all()
    assert found[5, 5, 2] > 150 > 100 > found[5, 5, 0]
    assert (found[0, 0] == 255).all()
