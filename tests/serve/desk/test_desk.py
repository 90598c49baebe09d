"""One person's desk: access, photographs without private notes, records that nothing loses."""

import io
import json
import struct
import subprocess
import sys
from contextlib import contextmanager

import httpx
import numpy as np
import pytest
from PIL import Image, ImageOps
from starlette.testclient import TestClient

from depthgauge.annotate.payload import unpacked
from depthgauge.annotate.reconstruct import reconstruct
from depthgauge.annotate.reconstruct.files import write_reconstruction
from depthgauge.annotate.records import append_record, history, read_records, start_records
from depthgauge.errors import BadData, CannotWrite, Misuse
from depthgauge.serve.desk import access, drawings, running
from depthgauge.serve.desk.access import Access
from depthgauge.serve.desk.app import make_desk
from depthgauge.serve.desk.photographs import photographs

HOME = "http://127.0.0.1:8410"
STROKE = {
    "event": "stroke",
    "id": "s1-abc",
    "kind": "occlusion",
    "points_px": [[40, -1], [40, 60]],
    "smooth": False,
    "closer": "left",
    "at": "2026-05-04T10:00:00.001Z",
    "seconds": 3.5,
}
NORMAL = {
    "event": "normal",
    "id": "n1-abc",
    "at_px": [20, 30],
    "normal": [0.6, 0.0, -0.8],
    "at": "2026-05-04T10:00:02.001Z",
}


def picture(width=80, height=60):
    ramp = np.add.outer(np.arange(height), np.arange(width))
    return np.stack([ramp, ramp * 2, 255 - ramp], axis=-1).astype(np.uint8)


@pytest.fixture
def folder(tmp_path):
    Image.fromarray(picture()).save(tmp_path / "beach.png")
    return tmp_path


@pytest.fixture
def client(folder):
    app = make_desk(folder, "ann", Access(8410, "secret-token"))
    with TestClient(app, base_url=HOME, headers={"origin": HOME}) as made:
        assert made.get("/?token=secret-token").status_code == 200
        yield made


def send(client, *events, tab="t1"):
    return client.post("/api/events/beach", json={"tab": tab, "events": list(events)})


def test_only_who_has_the_token_comes_in(folder):
    app = make_desk(folder, "ann", Access(8410, "secret-token"))
    with TestClient(app, base_url=HOME) as stranger:
        for path in ("/", "/draw/beach", "/pictures/beach", "/api/events/beach?tab=t"):
            assert stranger.get(path).status_code == 403
        assert stranger.get("/?token=other").status_code == 403
        entered = stranger.get("/?token=secret-token", follow_redirects=False)
        assert entered.headers["location"] == "/"
        cookie = entered.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert stranger.get("/").status_code == 200


def test_other_hosts_and_origins_are_refused(client):
    assert client.get("/", headers={"host": "evil.example"}).status_code == 421
    body = {"tab": "t", "events": [STROKE]}
    for origin in ("http://evil.example", "http://127.0.0.1:9999", "null"):
        answer = client.post("/api/events/beach", json=body, headers={"origin": origin})
        assert answer.status_code == 403
    assert client.get("/api/events/beach?tab=t").json()["revision"] == 0
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_events_are_lines_and_sent_twice_they_are_stored_once(client, folder):
    path = folder / "records" / "ann" / "beach.jsonl"
    client.get("/draw/beach")
    assert not path.exists()  # who only looks leaves nothing
    assert send(client, STROKE).json() == {"ok": True, "revision": 1, "kept": 1, "refused": {}}
    before = path.read_bytes()
    again = send(client, STROKE, NORMAL).json()
    assert (again["revision"], again["kept"]) == (2, 2)
    assert path.read_bytes().startswith(before)
    told = history(path)
    assert [record.id for record in told.records] == ["s1-abc", "n1-abc"]
    assert told.header.picture.id == "beach"
    assert len(told.header.must_contain_px) == 2
    assert told.annotation.origin.seconds == 3.5
    seen = client.get("/api/events/beach?tab=t2&since=1").json()
    assert [event["id"] for event in seen["events"]] == ["n1-abc"]
    assert seen["others"] == 1  # the tab that sent
    assert client.post("/api/leave/beach", json={"tab": "t1"}).json() == {"ok": True}
    assert client.get("/api/events/beach?tab=t2").json()["others"] == 0


def test_a_restart_goes_on_where_the_file_ends(client, folder):
    send(client, STROKE)
    with TestClient(make_desk(folder, "ann", Access(8410, "x" * 30)), base_url=HOME) as other:
        other.headers["origin"] = HOME
        other.get(f"/?token={'x' * 30}")
        assert send(other, STROKE, NORMAL).json()["revision"] == 2
        # The first server notices what another program has written.
        assert client.get("/api/events/beach?tab=t").json()["revision"] == 2


def test_what_cannot_be_recorded_is_said_and_does_not_stop_the_rest(client):
    single = {**STROKE, "id": "dot", "points_px": [[1, 1]]}
    bad = {**STROKE, "points_px": [[1, 1e9]]}
    answer = send(client, bad, {"event": "dance"}, single, NORMAL)
    found = answer.json()
    assert (answer.status_code, found["kept"], found["revision"]) == (200, 4, 2)
    assert "nowhere near a picture" in found["refused"]["0"]
    assert "not known" in found["refused"]["1"]
    body = client.post("/api/preview/beach", json={"tab": "t", "number": 1}).content
    texts = [problem["text"] for problem in parts(body)[0]["problems"]]
    assert any("'dot' has no length" in text for text in texts)


def test_a_full_disk_is_said_and_keeps_the_order(client, folder, monkeypatch):
    send(client, STROKE)

    def full(path, record):
        raise CannotWrite(f"{path}: cannot be written: No space left on device.")

    path = folder / "records" / "ann" / "beach.jsonl"
    before = path.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(drawings, "append_record", full)
        answer = send(client, STROKE, NORMAL)
    assert answer.status_code == 507
    assert "No space left" in answer.json()["error"]
    assert answer.json()["kept"] == 1  # the stroke is there; the normal is sent again
    assert path.read_bytes() == before
    assert send(client, NORMAL).json()["revision"] == 2


def parts(body):
    size = int.from_bytes(body[:4], "little")
    header = json.loads(body[4 : 4 + size])
    return header, unpacked(body[4 + size + header["labels"] :])


def ask(client, number=1, draft=(), tab="t"):
    body = {"tab": tab, "number": number, "draft": list(draft)}
    return client.post("/api/preview/beach", json=body)


def test_a_preview_is_what_the_records_give(client, folder):
    send(client, STROKE, NORMAL)
    header, payload = parts(ask(client).content)
    assert header["revision"] == 2
    assert [surface["shape"] for surface in header["surfaces"]] == ["curved", "curved"]
    (left,) = [surface for surface in header["surfaces"] if surface["normals"] == ["n1-abc"]]
    assert left["at_px"][0] < 40
    made = reconstruct(read_records(folder / "records" / "ann" / "beach.jsonl"), max_side_px=300)
    np.testing.assert_allclose(payload.depth, made.depth, rtol=2e-3)
    problems = {p["text"]: p["at_px"] for p in header["problems"]}
    (bare,) = [at for text, at in problems.items() if "has no normal" in text]
    assert bare[0] > 40


def test_what_a_page_makes_is_made_again_from_its_records_byte_for_byte(client, folder, tmp_path):
    """Drawn step by step with previews in between, drafts, undo, a lost answer and a restart."""
    turned = {**NORMAL, "normal": [-0.6, 0.0, -0.8], "at": "2026-05-04T10:00:03.000Z"}
    remove = {"event": "remove", "id": "s2", "what": "stroke", "at": "2026-05-04T10:00:05.000Z"}
    second = {**STROKE, "id": "s2", "points_px": [[0, 30], [40, 30]]}
    second["at"] = "2026-05-04T10:00:04.000Z"
    for number, event in enumerate((STROKE, NORMAL, turned, second, remove), 1):
        send(client, event)
        send(client, event)
        ask(client, 2 * number)
        ask(client, 2 * number + 1, [{**turned, "normal": [0.0, 0.6, -0.8]}])
    path = folder / "records" / "ann" / "beach.jsonl"
    # The file is what its own lines say.
    told = history(path)
    again = tmp_path / "again.jsonl"
    start_records(again, told.header)
    for record in told.records:
        append_record(again, record)
    assert again.read_bytes() == path.read_bytes()
    # Whatever was shown meanwhile: the surfaces follow from the file, to the byte.
    made = [write_reconstruction(one, tmp_path / str(k)) for k, one in enumerate((path, again))]
    assert made[0].to_json().keys() == made[1].to_json().keys()
    for name in ("depth.npy", "normals.npy", "labels.npy", "mesh.ply", "points.ply"):
        first, second = ((tmp_path / str(k) / name).read_bytes() for k in range(2))
        assert first == second, name
    # Another server, which has only the file, shows the same bytes, but for how often it updated.
    (tmp_path / "copy" / "records" / "ann").mkdir(parents=True)
    (tmp_path / "copy" / "beach.png").write_bytes((folder / "beach.png").read_bytes())
    (tmp_path / "copy" / "records" / "ann" / "beach.jsonl").write_bytes(path.read_bytes())
    app = make_desk(tmp_path / "copy", "ann", Access(8410, "secret-token"))
    with TestClient(app, base_url=HOME, headers={"origin": HOME}) as other:
        other.get("/?token=secret-token")
        shown, kept = parts(ask(other, 1).content), parts(ask(client, 99).content)
    assert shown[0] == kept[0]
    assert shown[1].header.pop("revision") != kept[1].header.pop("revision")
    assert shown[1].header == kept[1].header
    assert shown[1].depth.tobytes() == kept[1].depth.tobytes()
    assert shown[1].links.tobytes() == kept[1].links.tobytes()


def test_a_draft_is_shown_but_not_stored(client, folder):
    send(client, STROKE, NORMAL)
    path = folder / "records" / "ann" / "beach.jsonl"
    before, plain = path.read_bytes(), parts(ask(client).content)[1]
    turned = {**NORMAL, "normal": [-0.6, 0.0, -0.8]}
    header, drawn = parts(ask(client, 2, [turned]).content)
    assert header["problems"] is None
    assert path.read_bytes() == before
    assert np.nanmax(np.abs(drawn.depth - plain.depth)) > 0.05
    np.testing.assert_allclose(parts(ask(client, 3).content)[1].depth, plain.depth, rtol=1e-3)


def test_an_older_question_is_not_answered(client):
    send(client, STROKE)
    assert ask(client, 5).status_code == 200
    assert ask(client, 4).status_code == 204
    assert ask(client, 1, tab="other").status_code == 200
    assert ask(client, 6, [{"event": "dance"}]).status_code == 422


def exif(orientation, *, with_place=True):
    """EXIF with an orientation, a focal length of 50 mm on 35 mm film, and a place."""
    made = Image.Exif()
    made[0x0112] = orientation
    made[0x010F] = "SecretCamera 12345"
    made.get_ifd(0x8769)[0xA405] = 50
    if with_place:
        made.get_ifd(0x8825).update({1: "N", 2: (48.0, 8.0, 0.0)})
    return made


@pytest.mark.parametrize("orientation", range(1, 9))
def test_photographs_are_upright_and_tell_nothing(tmp_path, orientation):
    source = Image.fromarray(picture())
    source.save(tmp_path / "beach.jpg", exif=exif(orientation), quality=95)
    app = make_desk(tmp_path, "ann", Access(8410, "secret-token"))
    with TestClient(app, base_url=HOME) as client:
        client.get("/?token=secret-token")
        content = client.get("/pictures/beach").content
        header = client.get("/api/events/beach?tab=t").json()["header"]
    shown = Image.open(io.BytesIO(content))
    upright = ImageOps.exif_transpose(Image.open(tmp_path / "beach.jpg"))
    assert shown.size == upright.size
    assert np.abs(np.asarray(shown).astype(int) - np.asarray(upright)).mean() < 3
    assert b"Exif" not in content
    assert b"Secret" not in content
    assert not shown.getexif()
    assert (header["picture"]["width_px"], header["picture"]["height_px"]) == upright.size
    assert header["focal"]["source"] == "exif"
    assert header["focal"]["focal_px"] == pytest.approx(50 * 100 / np.hypot(36, 24))


@pytest.mark.parametrize(
    "damage", [b"II*\0\xff\xff\xff\x7f", b"MM\0*\0\0\0\x08\xff\xff", b"junk", b""]
)
def test_broken_exif_counts_as_none(tmp_path, damage):
    stream = io.BytesIO()
    Image.fromarray(picture()).save(stream, "JPEG")
    body = b"Exif\0\0" + damage
    segment = b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body
    (tmp_path / "beach.jpg").write_bytes(stream.getvalue()[:2] + segment + stream.getvalue()[2:])
    app = make_desk(tmp_path, "ann", Access(8410, "secret-token"))
    with TestClient(app, base_url=HOME) as client:
        client.get("/?token=secret-token")
        header = client.get("/api/events/beach?tab=t").json()["header"]
    assert header["focal"] == {"focal_px": 96.0, "source": "assumed"}


def test_bad_files_are_said_in_words(client, folder):
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0\x00")
    answer = client.get("/draw/broken")
    assert answer.status_code == 422
    assert "broken.jpg" in answer.text
    assert str(folder) not in answer.text
    assert client.get("/").status_code == 200
    for path in ("/draw/..%2f..%2fetc%2fpasswd", "/pictures//etc/passwd", "/draw/nothing"):
        assert client.get(path).status_code == 404
    records = folder / "records" / "ann"
    records.mkdir(parents=True)
    (records / "beach.jsonl").write_text("no records\n")
    assert "is not a JSON record" in client.get("/draw/beach").text
    assert "is not a JSON record" in client.get("/").text


def test_names_of_photographs(tmp_path):
    for name in ("a.png", "a.jpg", "B.JPG", "c.txt"):
        Image.fromarray(picture(8, 8)).save(tmp_path / name, "PNG") if name != "c.txt" else (
            tmp_path / name
        ).write_text("")
    assert sorted(photographs(tmp_path)) == ["B", "a", "a.jpg"]
    (tmp_path / "none").mkdir()
    with pytest.raises(BadData, match="no photograph"):
        photographs(tmp_path / "none")
    with pytest.raises(BadData, match="no such folder"):
        photographs(tmp_path / "nowhere")


def test_tokens_stay_and_are_private(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    token = access.token_of(tmp_path)
    assert access.token_of(tmp_path) == token
    assert access.token_of(tmp_path / "other") != token
    (kept,) = [p for p in (tmp_path / "state").rglob("*.token") if p.read_text() == token]
    assert kept.stat().st_mode & 0o077 == 0
    kept.chmod(0o644)
    assert access.token_of(tmp_path) != token  # others could have read it


def test_unsent_work_belongs_to_a_folder_and_a_person(client, folder, tmp_path):
    names = {access.owner_of(*one) for one in ((folder,), (folder, "ann"), (tmp_path / "x", "ann"))}
    assert len(names) == 3
    assert f'data-owner="{access.owner_of(folder, "ann")}"' in client.get("/draw/beach").text


def test_names_of_people():
    assert running._person("Ann B.") == "Ann B."
    for bad in ("../up", ".hidden", "a/b", "x" * 70):
        with pytest.raises(Misuse):
            running._person(bad)


@contextmanager
def started(folder):
    """A server in a process of its own, and a client that came in; both are closed at the end."""
    command = [sys.executable, "-m", "depthgauge", "annotate", "serve", str(folder)]
    command += ["--port", "0", "--who", "ann"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().strip()
            home = address.partition("/?")[0]
            with httpx.Client(base_url=home, headers={"origin": home}) as client:
                assert client.get(address, follow_redirects=True).status_code == 200
                yield process, client, address.partition("token=")[2]
        finally:
            process.kill()


@pytest.mark.long
def test_nothing_is_lost_when_the_server_is_killed(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with started(folder) as (process, client, first):
        assert send(client, STROKE).json()["revision"] == 1
        process.kill()
    with started(folder) as (_, client, second):
        assert second == first
        assert send(client, STROKE, NORMAL).json()["revision"] == 2
    path = folder / "records" / "ann" / "beach.jsonl"
    assert len(path.read_text().splitlines()) == 3


@pytest.mark.long
def test_fifty_megapixels_are_shown_smaller_and_drawn_at_full_size(tmp_path):
    rng = np.random.default_rng(0)
    tile = rng.integers(0, 255, (60, 80, 3), np.uint8)
    Image.fromarray(np.tile(tile, (102, 102, 1))).save(tmp_path / "beach.jpg", quality=70)
    app = make_desk(tmp_path, "ann", Access(8410, "secret-token"))
    with TestClient(app, base_url=HOME, headers={"origin": HOME}) as client:
        client.get("/?token=secret-token")
        header = client.get("/api/events/beach?tab=t").json()["header"]
        assert (header["picture"]["width_px"], header["picture"]["height_px"]) == (8160, 6120)
        shown = Image.open(io.BytesIO(client.get("/pictures/beach").content))
        assert shown.size == (4096, 3072)
        far = {**STROKE, "points_px": [[4000, -1], [4000, 6120]]}
        assert send(client, far).json()["revision"] == 1
        found, payload = parts(ask(client).content)
        assert payload.depth.shape == (225, 300)
        assert sorted(surface["at_px"][0] > 4000 for surface in found["surfaces"]) == [False, True]
    Image.fromarray(np.zeros((9000, 9000), np.uint8)).save(tmp_path / "huge.png")
    with TestClient(app, base_url=HOME) as client:
        client.get("/?token=secret-token")
        answer = client.get("/draw/huge")
    assert answer.status_code == 422
    assert "huge.png has more than 67 million pixels; make it smaller." in answer.text
