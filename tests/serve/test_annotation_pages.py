"""Members of a site draw on batches of photographs, vote, and admins see how far they are."""

import errno
import hashlib
import io
import json
import re
import tarfile

import numpy as np
import pytest
from PIL import Image
from tests.serve.conftest import PASSWORD, only_sqlite
from tests.serve.desk.test_desk import exif

from depthgauge.annotate.quality.studies import compare_study
from depthgauge.annotate.records import read_records, write_records
from depthgauge.annotate.records.annotation import (
    Annotation,
    Focal,
    NormalMark,
    Origin,
    Picture,
    SurfaceMark,
)
from depthgauge.errors import BadData, BadFile, Misuse, Refused
from depthgauge.serve.annotating.batches import add_batch, batches, person_of
from depthgauge.serve.annotating.dashboards import Comparisons, dashboard_of, disputed
from depthgauge.serve.backup import back_up, restore
from depthgauge.serve.desk.photographs import records_path
from depthgauge.serve.site import Site

URL = "http://site.example"
FORM = {"Origin": URL}
STROKE = {
    "event": "stroke",
    "id": "s1",
    "kind": "fold",
    "points_px": [[10, 0], [10, 60]],
    "smooth": False,
    "at": "2026-05-04T10:00:00.001Z",
}


@pytest.fixture
def photographs(tmp_path):
    folder = tmp_path / "street"
    folder.mkdir()
    for name in ("a", "b"):
        Image.fromarray(np.full((60, 80, 3), 90, np.uint8)).save(folder / f"{name}.png")
    return folder


@pytest.fixture
def batch(site, photographs):
    return add_batch(site, "street", photographs, people=2, title="Streets")


@pytest.fixture
def member(client, add_user):
    """Logs people in, each with a browser of their own."""
    import starlette.testclient

    def member(email, **role):
        user = add_user(email, **role)
        own = starlette.testclient.TestClient(client.app, base_url=URL, follow_redirects=False)
        fields = {"email": email, "password": PASSWORD}
        assert own.post("/login", data=fields, headers=FORM).status_code == 303
        own.user = user
        return own

    return member


def csrf(client, path="/annotate/street"):
    found = re.search(r'name="csrf" value="([^"]+)"', client.get(path).text)
    return found[1]


def take(client):
    answer = client.post("/annotate/street/take", data={"csrf": csrf(client)}, headers=FORM)
    return answer.headers.get("location", "")


def drawn(picture, who, tilt=0.0, *, finished=True):
    """One plane, tilted."""
    normal = (tilt, 0.0, -float(np.sqrt(1 - tilt**2)))
    return Annotation(
        Picture(picture, 80, 60),
        Focal(90.0),
        surfaces={"m": SurfaceMark((40, 30), "planar")},
        normals={"n": NormalMark((40, 30), normal)},
        origin=Origin(who=who, seconds=120.0),
        finished=finished,
    )


def write(batch, picture, who, tilt=0.0):
    path = records_path(batch.folder, who, picture)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_records(path, drawn(picture, who, tilt))


def test_only_members_come_in(client, batch, member):
    assert client.get("/annotate").status_code == 401
    assert client.get("/annotate/street").status_code == 401
    assert client.get("/annotate/street/pictures/a").status_code == 401
    ann = member("ann@example.org")
    assert "Streets" in ann.get("/annotate").text
    assert ann.get("/annotate/nothing").status_code == 404
    assert ann.get("/annotate/street/dashboard").status_code == 404  # for admins


def test_photographs_are_given_out_and_drawn_on(client, batch, member):
    ann, ben, eve = (member(f"{name}@example.org") for name in ("ann", "ben", "eve"))
    assert ann.get("/annotate/street/draw/a").status_code == 404  # not hers yet
    assert take(ann) == "/annotate/street/draw/a"
    assert take(ann) == "/annotate/street/draw/a"  # it is not finished
    assert take(ben) == "/annotate/street/draw/a"
    assert take(eve) == "/annotate/street/draw/b"  # two people are enough
    page = ann.get("/annotate/street/draw/a").text
    token = re.search(r'data-csrf="([^"]+)"', page)[1]
    path, body = "/annotate/street/api/events/a", {"tab": "t", "events": [STROKE]}
    assert ann.post(path, json=body, headers=FORM).status_code == 403
    evil = {"Origin": "http://evil.example", "X-CSRF": token}
    assert ann.post(path, json=body, headers=evil).status_code == 403
    own = {**FORM, "X-CSRF": token}
    for _ in range(2):
        assert ann.post(path, json=body, headers=own).json()["revision"] == 1
    records = records_path(batch.folder, person_of(ann.user.id), "a")
    assert list(read_records(records).strokes) == ["s1"]
    assert read_records(records).origin.who == person_of(ann.user.id)
    assert "example.org" not in records.read_text()  # nobody's name or address
    answer = ann.post("/annotate/street/api/preview/a", json={"tab": "t", "number": 1}, headers=own)
    assert answer.status_code == 200
    # Ben has the same photograph and a drawing of his own.
    assert ben.get(f"{path}?tab=t").json()["events"] == []
    assert eve.get(f"{path}?tab=t").status_code == 404


def test_people_on_one_photograph_see_each_other(client, batch, member):
    ann, ben = (member(f"{name}@example.org") for name in ("ann", "ben"))
    assert take(ann) == take(ben) == "/annotate/street/draw/a"
    path = "/annotate/street/api/events/a"
    assert ann.get(f"{path}?tab=a1&x=10&y=20.5").json()["here"] == []
    told = ben.get(f"{path}?tab=b1").json()
    assert (told["here"], told["others"]) == ([{"own": False, "at_px": [10, 20.5]}], 0)
    # A second tab of one's own shows the same drawing; nobody is told who the other is.
    told = ben.get(f"{path}?tab=b2&x=3&y=4").json()
    assert {"own": True, "at_px": None} in told["here"]
    assert (len(told["here"]), told["others"]) == (2, 1)
    assert "ann" not in json.dumps(told["here"])
    seen = ann.get(f"{path}?tab=a1&x=nan&y=1").json()["here"]
    assert seen == [{"own": False, "at_px": None}, {"own": False, "at_px": [3, 4]}]
    assert ben.get(f"{path}?tab=b3&x=far&y=1").status_code == 422
    token = re.search(r'data-csrf="([^"]+)"', ben.get("/annotate/street/draw/a").text)[1]
    for tab in ("b1", "b2"):
        left = ben.post(
            "/annotate/street/api/leave/a", json={"tab": tab}, headers={**FORM, "X-CSRF": token}
        )
        assert left.status_code == 200
    assert ann.get(f"{path}?tab=a1").json()["here"] == []


def test_nobody_can_guess_the_mark_of_a_drawing(client, site, batch, member, photographs):
    """It depends on a key of the batch that is random, and on who votes."""
    ann, ben, eve = (member(f"{name}@example.org") for name in ("ann", "ben", "eve"))
    assert take(ann) == "/annotate/street/draw/a"
    who = person_of(ann.user.id)
    write(batch, "a", who)

    def mark(voter):
        page = voter.get("/annotate/street/verify").text
        return re.search(r'name="mark" value="([^"]+)"', page)[1]

    first = mark(ben)
    assert first == mark(ben)
    assert first != mark(eve)
    assert ben.get(f"/annotate/street/api/watched/{first}").status_code == 200
    assert eve.get(f"/annotate/street/api/watched/{first}").status_code == 404
    for guess in (f"street\0{who}\0a", f"{who}/a", f"{person_of(ben.user.id)}\0{who}\0a"):
        plain = hashlib.sha256(guess.encode()).hexdigest()[:32]
        assert ben.get(f"/annotate/street/api/watched/{plain}").status_code == 404
    key = batch.folder / "marks.key"
    assert (len(key.read_bytes()), key.stat().st_mode & 0o077) == (32, 0)
    # Another site gives the same drawing another mark.
    other = add_batch(site, "other", photographs)
    assert other.marks_key() != batch.marks_key() == batch.marks_key()


def test_who_only_looks_is_not_there(client, batch, member):
    ann, ben = (member(f"{name}@example.org") for name in ("ann", "ben"))
    assert take(ann) == "/annotate/street/draw/a"
    write(batch, "a", person_of(ann.user.id))
    page = ben.get("/annotate/street/verify").text
    mark = re.search(r'name="mark" value="([^"]+)"', page)[1]
    assert ben.get(f"/annotate/street/api/watched/{mark}?tab=t").json()["here"] == []
    assert ann.get("/annotate/street/api/events/a?tab=a1").json()["here"] == []


def test_members_get_photographs_without_the_camera_s_notes(site, client, member, tmp_path):
    folder = tmp_path / "beach"
    folder.mkdir()
    Image.fromarray(np.full((60, 80, 3), 90, np.uint8)).save(folder / "a.jpg", exif=exif(6))
    add_batch(site, "street", folder)
    ann = member("ann@example.org")
    assert take(ann) == "/annotate/street/draw/a"
    pages = ("draw/a", "pictures/a", "api/events/a?tab=t")
    for address in ("/annotate", *(f"/annotate/street/{one}" for one in pages)):
        content = ann.get(address).content
        assert not any(word in content for word in (b"Exif", b"Secret", b"GPS"))
    assert Image.open(io.BytesIO(ann.get("/annotate/street/pictures/a").content)).size == (60, 80)
    assert b"Secret" in (site.web / "annotation/street/images/a.jpg").read_bytes()  # it was there


def test_a_full_disk_is_said_and_nothing_is_lost(client, batch, member, monkeypatch):
    ann, ben = (member(f"{name}@example.org") for name in ("ann", "ben"))
    assert take(ann) == "/annotate/street/draw/a"
    page = ann.get("/annotate/street/draw/a").text
    own = {**FORM, "X-CSRF": re.search(r'data-csrf="([^"]+)"', page)[1]}
    body = {"tab": "t", "events": [STROKE]}

    def full(*_arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        for place in ("batches.append_line", "batches.append_vote"):
            patch.setattr(f"depthgauge.serve.annotating.{place}", full)
        patch.setattr("depthgauge.serve.desk.drawings.append_record", full)
        said = ann.post("/annotate/street/api/events/a", json=body, headers=own)
        assert (said.status_code, said.json()["kept"]) == (507, 0)
        assert "No space left" in said.json()["error"]
        fields = {"csrf": csrf(ben)}
        said = ben.post("/annotate/street/take", data=fields, headers=FORM)
        assert said.status_code == 507
        assert "no room" in said.text
    assert batch.taken()["a"] == [person_of(ann.user.id)]
    said = ann.post("/annotate/street/api/events/a", json=body, headers=own)
    assert (said.status_code, said.json()["kept"], said.json()["revision"]) == (200, 1, 1)


def test_damaged_records_stop_nobody_else_and_are_said(client, batch, member):
    ann, ben = (member(f"{name}@example.org") for name in ("ann", "ben"))
    assert take(ann) == take(ben) == "/annotate/street/draw/a"
    path = records_path(batch.folder, person_of(ann.user.id), "a")
    path.parent.mkdir(parents=True)
    path.write_text("no records\n")
    for who in (ann, ben):
        for address in ("/annotate", "/annotate/street", "/annotate/street/verify"):
            assert who.get(address).status_code == 200, address
    assert ben.get("/annotate/street/api/events/a?tab=t").status_code == 200
    said = ann.get("/annotate/street/api/events/a?tab=t")
    assert said.status_code == 422
    assert "is not a JSON record" in said.json()["error"]
    assert str(batch.folder) not in said.text


def test_votes_decide_and_a_rejected_drawing_is_drawn_again(client, batch, member):
    ann, ben, eve, dan = (member(f"{name}@example.org") for name in ("ann", "ben", "eve", "dan"))
    assert take(ann) == "/annotate/street/draw/a"
    write(batch, "a", person_of(ann.user.id))
    assert "No drawing waits" in ann.get("/annotate/street/verify").text
    for voter in (ben, eve):
        page = voter.get("/annotate/street/verify").text
        mark = re.search(r'name="mark" value="([^"]+)"', page)[1]
        told = voter.get(f"/annotate/street/api/watched/{mark}?tab=t").json()
        assert [event["event"] for event in told["events"]] == ["surface", "normal", "finish"]
        fields = {"csrf": csrf(voter, "/annotate/street/verify"), "mark": mark, "good": "no"}
        assert voter.post("/annotate/street/verify", data=fields, headers=FORM).status_code == 303
        assert "No drawing waits" in voter.get("/annotate/street/verify").text
    # Nobody else can use the mark of a voter, and nobody votes on their own drawing.
    fields = {"csrf": csrf(ann), "mark": mark, "good": "yes"}
    assert ann.post("/annotate/street/verify", data=fields, headers=FORM).status_code == 404
    with pytest.raises(Refused, match="your own"):
        batch.vote(person_of(ann.user.id), person_of(ann.user.id), "a", True)
    assert "rejected" in ann.get("/annotate/street").text
    assert batch.wanted() == {"a": 3, "b": 2}
    assert take(dan) == "/annotate/street/draw/a"
    (name,) = batch.tallies()
    assert name == f"{person_of(ann.user.id)}/a"


def test_the_dashboard_counts_and_compares(client, batch, member):
    ada = member("ada@example.org", admin=True)
    people = ["person-7", "person-8", "person-9"]
    for who, tilt in zip(people[:2], (0.0, 0.6), strict=True):
        assert batch.take(who) == "a"
        write(batch, "a", who, tilt)
    comparisons = Comparisons()
    found = dashboard_of(batch, comparisons)
    (a, b) = found.pictures
    assert (a.people, a.finished, a.minutes, b.apart_percent) == (2, 2, 2.0, None)
    # The same surfaces are not apart; a plane turned by 37 degrees is.
    assert a.apart_percent > 5
    assert comparisons.apart_percent(batch, "b", [drawn("b", w) for w in people]) < 1e-3
    assert disputed(batch, comparisons) == (frozenset({"a"}) if a.apart_percent > 15 else set())
    assert batch.take("person-9", frozenset({"a"})) == "a"  # a second opinion
    page = ada.get("/annotate/street/dashboard").text
    assert "person-7" in page
    assert "former member" in page
    # The folder is a study for every other command.
    table = compare_study(batch.folder, notes=print, size=64, rotation=False)
    assert table.to_json()


def test_batches_grow_and_refuse_other_photographs(site, batch, photographs):
    Image.fromarray(np.zeros((60, 80, 3), np.uint8)).save(photographs / "c.png")
    assert add_batch(site, "street", photographs).pictures == ["a", "b", "c"]
    Image.fromarray(np.ones((60, 80, 3), np.uint8)).save(photographs / "c.png")
    with pytest.raises(BadData, match="another photograph of that name"):
        add_batch(site, "street", photographs)
    with pytest.raises(Misuse, match="small letters"):
        add_batch(site, "../up", photographs)
    assert [one.id for one in batches(site)] == ["street"]


@only_sqlite
def test_backups_have_the_drawings(site, database, batch, tmp_path):
    assert batch.take("person-1") == "a"
    write(batch, "a", "person-1", 0.2)
    assert batch.take("person-1") == "b"  # the first one is finished
    back_up(site, tmp_path / "site.tar")
    restore(tmp_path / "site.tar", tmp_path / "again")
    (found,) = batches(Site(tmp_path / "again"))
    assert (found.title, found.people, found.pictures) == ("Streets", 2, ["a", "b"])
    assert found.drawing("person-1", "a") == batch.drawing("person-1", "a")
    assert found.taken() == batch.taken()


@only_sqlite
@pytest.mark.parametrize(
    "name", ["annotation/../x", "annotation/a/../../../x", "annotation//x", "annotation/a/b/c/d/e"]
)
def test_no_backup_leads_out_of_the_folder(tmp_path, site, database, name):
    back_up(site, tmp_path / "site.tar")
    with tarfile.open(tmp_path / "site.tar", "a") as made:
        made.addfile(tarfile.TarInfo(name), io.BytesIO())
    with pytest.raises(BadFile, match="which no backup has"):
        restore(tmp_path / "site.tar", tmp_path / "again")
