"""A revised metric or truth: everything is scored again, once, and the old table stays."""

import json
import shutil

import pytest
from tests.serve import tiny as made

from depthgauge.errors import BadData, Refused
from depthgauge.serve import board
from depthgauge.serve.leaderboards.states import find_state
from depthgauge.serve.storage.models import (
    Benchmark,
    Notification,
    Rescore,
    Rescoring,
    Snapshot,
    Submission,
)
from depthgauge.serve.submissions import intake, queue, rescoring, revisions, worker
from depthgauge.serve.submissions.queue import Outcome
from depthgauge.serve.submissions.registry import add_benchmark, read_body, write_body


@pytest.fixture
def data(tmp_path, tiny_data):
    """Folders that a test may change."""
    shutil.copytree(tiny_data, tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def entries(site, database, data, add_user, send):
    """A benchmark with a published, a private and a withdrawn entry of one team."""
    folders = {"data": data / "public", "hidden": data / "hidden"}
    add_benchmark(site, database, str(data / "tiny.toml"), **folders, monthly_quota=3)
    ann = add_user()
    sent = [
        send(ann, made.archive(made.estimates(error)), method=name)
        for name, error in (("Public", 0.5), ("Private", 0.25), ("Withdrawn", 0.125))
    ]
    assert revisions.notice_changes(site, database) == []  # from here on the truth is known
    work_all(site, database)
    with database.begin() as session:
        rows = [session.get_one(Submission, one.id) for one in sent]
        for row in (rows[0], rows[2]):
            board.publish(session, row, ann, "public")
        queue.withdraw(session, rows[2], ann)
        board.take_snapshot(session, "tiny")
    return [ann, *sent]


def work_all(site, database):
    done = 0
    while worker.work_once(site, database):
        done += 1
    return done


def table(database):
    with database.begin() as session:
        rows = board.leaderboard(session, "tiny")
        return {row["method"]: row["values"]["mae@all"] for row in rows}


def shift_truth(data, by):
    """Writes the hidden folder anew, with another truth."""
    made.write_data(data / "new", by=by)
    shutil.rmtree(data / "hidden")
    (data / "new" / "hidden").rename(data / "hidden")


def test_another_truth_is_noticed_and_everything_scored_again(site, database, data, entries, read):
    ann, public, private, withdrawn = entries
    assert table(database) == {"Public": 0.5}
    shift_truth(data, 0.25)
    assert revisions.notice_changes(site, database) == ["tiny"]
    assert revisions.notice_changes(site, database) == []  # once is enough
    assert table(database) == {"Public": 0.5}  # the old table stands
    assert work_all(site, database) == 2
    assert table(database) == {"Public": 0.25}
    assert read(private)[1]["", "mae@all"] == 0.0
    assert read(withdrawn)[1]["", "mae@all"] == 0.125
    with database.begin() as session:
        told = {(n.submission_id, n.kind) for n in session.query(Notification)}
        assert {(public.id, "rescored"), (private.id, "rescored")} <= told
        assert (withdrawn.id, "rescored") not in told
        assert session.query(Rescore).count() == 0
        assert session.query(Rescoring).one().reason == "truth"
        states = [s.id for s in session.query(Snapshot).order_by(Snapshot.id)]
        old, new = (board.read_snapshot(session, "tiny", n).body["rows"] for n in states[-2:])
        assert [row["values"]["mae@all"] for row in (*old, *new)] == [0.5, 0.25]
        first = find_state(session, "tiny", number=states[1]).entries
        assert sorted(one.method for one in first) == ["Public", "withdrawn entry"]
        # Three were sent; scoring again counts as nothing.
        benchmark = session.get_one(Benchmark, "tiny")
        benchmark.monthly_quota = 4
        intake.require_quota(session, ann, benchmark)
        benchmark.monthly_quota = 3
        with pytest.raises(Refused):
            intake.require_quota(session, ann, benchmark)
    assert work_all(site, database) == 0


@pytest.mark.long
def test_files_that_only_look_new_or_are_damaged_are_no_other_truth(site, database, data, entries):
    shift_truth(data, 0.0)
    assert revisions.notice_changes(site, database) == []
    next((data / "hidden").rglob("disparity.*")).write_bytes(b"half copied")
    assert revisions.notice_changes(site, database) == []
    with database.begin() as session:
        assert session.query(Rescoring).count() == 0


def test_a_revised_metric_changes_the_protocol(site, database, entries, monkeypatch, data):
    """As after an upgrade: the file of the workers has a hash that this version does not give."""
    body = read_body(site, "tiny")
    write_body(site, "tiny", {**body, "protocol_hash": "0" * 64})
    assert revisions.notice_changes(site, database) == ["tiny"]
    assert work_all(site, database) == 2
    with database.begin() as session:
        assert session.query(Rescoring).one().reason == "protocol"
        assert session.get_one(Benchmark, "tiny").protocol_hash == body["protocol_hash"]


@pytest.mark.long
def test_another_protocol_of_the_same_id(site, database, data, entries):
    toml = data / "tiny.toml"
    text = made.TOML.replace('"mae@all", "badpix:1@all"', '"mae@all", "badpix:3@all"')
    toml.write_text(text.replace("threshold = [1, 2]", "threshold = [1, 3]"))
    folders = {"data": data / "public", "hidden": data / "hidden"}
    with pytest.raises(BadData, match="--rescore"):
        add_benchmark(site, database, str(toml), **folders)
    add_benchmark(site, database, str(toml), **folders, rescore=True)
    with database.begin() as session:
        before = session.get_one(Benchmark, "tiny").protocol_hash
    assert revisions.notice_changes(site, database) == ["tiny"]
    work_all(site, database)
    with database.begin() as session:
        benchmark = session.get_one(Benchmark, "tiny")
        assert benchmark.protocol_hash != before
        assert [column["id"] for column in benchmark.columns] == ["mae@all", "badpix:3@all"]
        bodies = [s.body for s in session.query(Snapshot).order_by(Snapshot.id)]
        numbers = [n for (n,) in session.query(Snapshot.id).order_by(Snapshot.id)][-2:]
        old, new = (find_state(session, "tiny", number=number) for number in numbers)
    assert [body["protocol_hash"] for body in bodies[-2:]] == [before, benchmark.protocol_hash]
    # The old table can be drawn as it was, with the protocol that it had.
    for state, last in ((old, "badpix:1@all"), (new, "badpix:3@all")):
        assert state.columns[-1]["id"] == last
        assert last in state.protocol.score_ids
        assert state.board is not None


def test_new_submissions_wait_and_running_ones_begin_again(
    site, database, data, entries, add_user, send, read
):
    bob = add_user("bob@example.org")
    running = send(bob, made.archive(made.estimates(1.0)), method="Running")
    job = queue.take(database)
    revisions.begin(site, database, "tiny", "asked")
    assert not queue.end(database, job, Outcome("scored", scores=[("", "mae@all", 9.0)]))
    assert queue.take(database) is None
    assert read(running)[0].state == "queued"
    assert work_all(site, database) == 3
    assert read(running)[1]["", "mae@all"] == 1.0
    assert read(running)[0].attempts == 1


@pytest.mark.long
def test_a_worker_that_dies_while_scoring_again(site, database, entries, monkeypatch, read):
    _, public, private, _ = entries
    moment = rescoring.now()
    revisions.begin(site, database, "tiny", "asked")
    slow = rescoring.take(database)
    monkeypatch.setattr(rescoring, "now", lambda: moment + 2 * queue.LEASE_S)
    assert work_all(site, database) == 2
    assert not rescoring.renew(database, slow)
    assert not rescoring.end(database, slow, Outcome("scored", scores=[("", "mae@all", 9.0)]))
    for one, value in ((public, 0.5), (private, 0.25)):
        assert read(one)[1]["", "mae@all"] == value


@pytest.mark.long
def test_an_entry_that_cannot_be_scored_again(site, database, entries, read):
    ann, _, private, _ = entries
    site.blobs.remove(private.archive)
    revisions.begin(site, database, "tiny", "asked")
    work_all(site, database)
    found, scores = read(private)
    assert (found.state, found.message, scores) == ("failed", "not-rescored", {})
    assert table(database) == {"Public": 0.5}
    with database.begin() as session:  # it was scored once, so it counts
        benchmark = session.get_one(Benchmark, "tiny")
        with pytest.raises(Refused):
            intake.require_quota(session, ann, benchmark)


@pytest.mark.long
def test_what_was_interrupted_begins_again(site, database, entries, monkeypatch):
    def die(*_args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(rescoring, "begin", die)
        with pytest.raises(KeyboardInterrupt):
            revisions.begin(site, database, "tiny", "truth")
    assert read_body(site, "tiny")["pending"] == "truth"
    assert revisions.notice_changes(site, database) == ["tiny"]
    assert read_body(site, "tiny")["pending"] == ""
    # Asked again in the middle: all begin anew, none is done twice in the end.
    worker.work_once(site, database)
    revisions.begin(site, database, "tiny", "asked")
    assert work_all(site, database) == 2
    with database.begin() as session:
        assert session.query(Rescoring).filter(Rescoring.ended_at.is_not(None)).count() == 1


@pytest.mark.long
def test_the_web_never_learns_what_the_truth_was(site, database, entries):
    body = read_body(site, "tiny")
    assert len(body["truth_hash"]) == 64
    for path in site.web.rglob("*"):
        if path.is_file():
            assert body["truth_hash"].encode() not in path.read_bytes()
    json.dumps(body)
