"""What workers draw for pages: of public samples only, in one pack, whatever goes wrong."""

import json
import zipfile

import numpy as np
import pytest
from tests.serve import tiny as made
from tests.serve.conftest import PASSWORD
from tests.serve.exhibiting import draw_all

from depthgauge.analysis.maps.point_cloud import decode_cloud
from depthgauge.errors import BadData, BadFile
from depthgauge.serve.exhibits import drawer, queue
from depthgauge.serve.exhibits.files import fitted
from depthgauge.serve.exhibits.pack import INDEX, read_member, write_pack
from depthgauge.serve.storage.models import Benchmark, Exhibit
from depthgauge.serve.submissions import worker

URL = "http://site.example:8400"


def test_a_pack_is_read_member_by_member(tmp_path):
    folder = tmp_path / "files"
    (folder / "0").mkdir(parents=True)
    (folder / "0" / "a.txt").write_bytes(b"first")
    (folder / "b.txt").write_bytes(b"")
    assert write_pack(folder, tmp_path / "one.zip") == 2
    write_pack(folder, tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    found = [read_member(tmp_path / "one.zip", name) for name in ("0/a.txt", "b.txt", "../b.txt")]
    assert found == [b"first", b"", None]
    (tmp_path / "bad.zip").write_bytes(b"no pack")
    with pytest.raises(BadFile, match="no pack"):
        read_member(tmp_path / "bad.zip", "b.txt")


def test_a_map_is_shrunk_to_its_share():
    values = np.arange(200 * 100, dtype=np.float32).reshape(100, 200)
    small = fitted(values, 3000)
    assert small.size <= 3000
    assert np.isin(small, values).all()
    assert fitted(values, 1e9) is values


def test_a_public_submission_is_drawn_and_seen_by_its_team_until_it_is_published(
    site, database, public, add_user, send
):
    ann, bob = add_user(), add_user("bob@example.org")
    sent = send(ann, made.archive(made.estimates(1.5)))
    worker.work_once(site, database)
    indices, read = draw_all(site, database)
    _check_submission(sent, indices, read)
    _check_samples(indices, read)
    _check_who_sees_it(site, database, sent, ann, bob)


def _check_submission(sent, indices, read):
    subject = queue.of_submission(sent.id)
    index = indices[subject]
    assert [sample["id"] for sample in index["samples"]] == list(made.NAMES)
    assert index["left_out"] == []
    first = index["samples"][0]
    assert [picture["kind"] for picture in first["pictures"]] == ["estimate", "error"]
    for picture in first["pictures"]:
        assert read(subject, picture["file"])[8:12] == b"WEBP"
    assert first["pictures"][1]["bar"]["high"] == 2.0  # twice the threshold of the main score
    with np.load(_file(read(subject, first["errors"]))) as kept:
        assert np.allclose(kept["values"], 1.5, atol=1e-4)
    with np.load(_file(read(subject, first["maps"]))) as kept:
        assert np.array_equal(kept["disparity"], made.estimates(1.5)["boxes"])
    tiles = json.loads(read(subject, first["tiles"]["estimate"]))
    assert (tiles["width"], tiles["height"], tiles["kind"]) == (64, 48, "values")
    cloud = decode_cloud(read(subject, first["cloud"]))
    assert list(cloud.colours) == ["image", "disparity", "error"]
    assert len(cloud.points) == made.SIZE[0] * made.SIZE[1]
    wrong = {point["threshold"]: point["percent"] for point in index["curves"]["lines"]}
    assert (wrong[1.0], wrong[2.0]) == (0.0, 100.0)


def _check_samples(indices, read):
    """The samples of a public benchmark have their truth."""
    subject = queue.of_benchmark("tiny")
    first = indices[subject]["samples"][0]
    assert [picture["name"] for picture in first["inputs"]] == ["left_image"]  # both are black
    assert read(subject, first["truth"]["file"])
    assert json.loads(read(subject, first["truth_tiles"]))["unit"] == "px"
    cloud = decode_cloud(read(subject, first["cloud"]))
    assert "error" not in cloud.colours


def _check_who_sees_it(site, database, sent, ann, bob):
    from fastapi.testclient import TestClient

    from depthgauge.serve.board import publish
    from depthgauge.serve.storage.models import Submission
    from depthgauge.serve.web import kept
    from depthgauge.serve.web.app import make_app
    from depthgauge.serve.web.settings import WebSettings

    app = make_app(site, database, WebSettings(URL))
    with database.begin() as session:
        picture = kept.cell_picture(site, session, sent.id, "fence")
        card = kept.card_picture(site, session, "tiny")

    def statuses(address):
        found = []
        for user in (None, bob, ann):
            client = TestClient(app, base_url=URL, follow_redirects=False)
            if user is not None:
                fields = {"email": user.email, "password": PASSWORD}
                client.post("/login", data=fields, headers={"Origin": URL})
            found.append(client.get(address).status_code)
        return found

    assert statuses(picture) == [404, 404, 200]
    assert statuses(card) == [200, 200, 200]
    with database.begin() as session:
        publish(session, session.get_one(Submission, sent.id), ann, "public")
    assert statuses(picture) == [200, 200, 200]
    answer = TestClient(app, base_url=URL).get(picture)
    assert answer.headers["content-type"] == "image/webp"
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    base = picture.rpartition("kept/")[0]
    for wrong in ("kept/" + "0" * 16 + "/1/error.webp", "kept/../../../x.webp"):
        assert TestClient(app, base_url=URL).get(base + wrong).status_code == 404


def _file(content):
    import io

    return io.BytesIO(content)


def test_of_hidden_truth_nothing_is_drawn(site, database, tiny, add_user, send):
    """Neither the truth nor an error map, in no form: the pack has inputs only."""
    sent = send(add_user())
    worker.work_once(site, database)
    indices, _ = draw_all(site, database)
    assert list(indices) == [queue.of_benchmark("tiny")]
    for sample in indices[queue.of_benchmark("tiny")]["samples"]:
        assert set(sample) == {"id", "scene", "inputs", "pair", "views", "clip"}
    (pack,) = [site.blobs.path(name) for name in site.blobs if name != sent.archive]
    with zipfile.ZipFile(pack) as packed:
        assert all("image" in name or name == INDEX for name in packed.namelist())


def test_the_registry_of_the_workers_has_the_last_word(site, database, tiny, add_user, send):
    """Whoever has the database say that a benchmark is public still sees nothing."""
    sent = send(add_user())
    worker.work_once(site, database)
    with database.begin() as session:
        session.get_one(Benchmark, "tiny").hidden = False
    taken = [queue.take(database), queue.take(database)]
    assert taken[1].subject == queue.of_submission(sent.id)
    with pytest.raises(BadData, match="hidden"):
        drawer.draw(site, taken[1])


def test_the_hidden_folder_is_not_even_opened(site, database, tiny, monkeypatch):
    from depthgauge.serve.exhibits import scenes

    opened = []
    real = scenes.samples_of
    monkeypatch.setattr(
        scenes, "samples_of", lambda protocol, data: opened.append(data) or real(protocol, data)
    )
    drawer.draw(site, queue.take(database))
    assert opened == [tiny.data]


def test_what_fails_is_tried_once_more_and_then_left(site, database, public):
    for _ in range(queue.MOST_ATTEMPTS):
        found = queue.take(database)
        assert queue.take(database) is None  # it has a lease
        queue.finish(database, found, None)
    assert queue.take(database) is None
    with database.begin() as session:
        queue.forget(session, found.subject)
    assert queue.take(database) == found


def test_a_sample_that_cannot_be_drawn_costs_only_itself(
    site, database, public, add_user, send, monkeypatch
):
    from depthgauge.serve.exhibits import submission

    real = submission.draw_sample

    def fail(maps):
        if maps.sample == "boxes":
            raise ValueError("no colours")
        return real(maps)

    monkeypatch.setattr(submission, "draw_sample", fail)
    sent = send(add_user())
    worker.work_once(site, database)
    indices, _ = draw_all(site, database)
    index = indices[queue.of_submission(sent.id)]
    assert [sample["id"] for sample in index["samples"]] == ["fence"]
    assert index["left_out"] == ["boxes: ValueError"]


def test_a_drawing_that_fails_never_fails_the_scoring(
    site, database, public, add_user, send, read, monkeypatch
):
    from depthgauge.serve.exhibits.keeper import Keeper

    sent = send(add_user())
    worker.work_once(site, database)
    keeper = Keeper(site, database)
    monkeypatch.setattr("sys.executable", "/bin/false")
    keeper.tend(idle=True)
    while keeper.drawing is not None:
        keeper.tend(idle=False)
    assert read(sent)[0].state == "scored"
    with database.begin() as session:
        row = session.get_one(Exhibit, queue.of_benchmark("tiny"))
        assert (row.sha256, row.attempts) == (None, 1)


def test_a_deleted_account_leaves_no_drawing(database, public, add_user, send):
    from depthgauge.serve.deletion import delete_account

    ann = add_user()
    sent = send(ann)
    with database.begin() as session:
        for subject in (queue.of_submission(sent.id), queue.of_benchmark("tiny")):
            session.add(Exhibit(subject=subject, sha256=subject[:1] * 64))
    with database.begin() as session:
        assert delete_account(session, ann.id) == sorted([sent.archive, "s" * 64])
    with database.begin() as session:
        assert [row.subject for row in session.query(Exhibit)] == ["benchmark:tiny"]


@pytest.mark.long
def test_a_worker_draws_in_a_process_of_its_own(site, database, public, add_user, send):
    import time

    from depthgauge.serve.exhibits.keeper import Keeper

    sent = send(add_user())
    worker.work_once(site, database)
    keeper = Keeper(site, database)
    subjects = [queue.of_benchmark("tiny"), queue.of_submission(sent.id)]
    end = time.monotonic() + 120
    packs = ["", ""]
    while not all(packs) and time.monotonic() < end:
        keeper.tend(idle=True)
        time.sleep(0.2)
        with database.begin() as session:
            packs = [queue.pack_of(session, subject) for subject in subjects]
    keeper.close()
    assert all(packs), [p.read_text() for p in (site.workers / "logs").iterdir()]


def test_tiles_of_truth_and_estimates_have_one_size_however_small(
    site, database, public, add_user, send, monkeypatch
):
    """Else a reader could not subtract them."""
    from depthgauge.serve.exhibits import scenes, submission

    share = 20_000  # room for about 800 of the 3072 pixels of each of two samples
    monkeypatch.setattr(scenes, "SUBMISSION_BYTES", share)
    drawn = submission.draw_submission
    monkeypatch.setattr(drawer, "draw_submission", lambda *a: drawn(*a, most_bytes=share))
    sent = send(add_user())
    worker.work_once(site, database)
    indices, read = draw_all(site, database)
    subject = queue.of_submission(sent.id)
    tiles = indices[subject]["samples"][0]["tiles"]
    found = [json.loads(read(subject, tiles[kind])) for kind in ("estimate", "error")]
    truth = queue.of_benchmark("tiny")
    found.append(json.loads(read(truth, indices[truth]["samples"][0]["truth_tiles"])))
    sizes = {(one["width"], one["height"]) for one in found}
    assert len(sizes) == 1
    assert next(iter(sizes))[0] < made.SIZE[1]
