"""The queue: leases, deaths, withdrawals, quotas, uploads in pieces."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.serve import tiny as made
from tests.serve.conftest import only_sqlite

from depthgauge.errors import BadData, Misuse, Refused
from depthgauge.serve.lockout import hidden_folders
from depthgauge.serve.storage.models import Benchmark, Phase, Submission, Upload
from depthgauge.serve.submissions import intake, queue, worker
from depthgauge.serve.submissions.queue import Outcome
from depthgauge.serve.submissions.registry import add_benchmark, read_registered


@pytest.fixture
def later(monkeypatch):
    """Moves the clock of queue and intake."""
    moment = queue.now()

    def move(seconds):
        for module in (queue, intake):
            monkeypatch.setattr(module, "now", lambda: moment + seconds)

    move(0)
    return move


def test_what_a_dead_worker_left_is_taken_again_and_ended_once(
    database, tiny, add_user, send, read, later
):
    sent = send(add_user())
    first = queue.take(database)
    assert queue.take(database) is None  # somebody works on it
    later(queue.LEASE_S - 1)
    assert queue.renew(database, first)
    later(2 * queue.LEASE_S)
    second = queue.take(database)
    assert second.submission == first.submission == sent.id
    # The first worker was only slow: its outcome comes too late.
    assert not queue.renew(database, first)
    assert not queue.end(database, first, Outcome("scored", scores=[("", "mae@all", 1.0)]))
    assert queue.end(database, second, Outcome("scored", scores=[("", "mae@all", 2.0)]))
    assert not queue.end(database, second, Outcome("failed", "not-scored"))
    found, scores = read(sent)
    assert (found.state, scores) == ("scored", {("", "mae@all"): 2.0})


def test_a_submission_that_kills_its_workers_is_given_up(
    database, tiny, add_user, send, read, later
):
    sent = send(add_user())
    for n in range(queue.MOST_ATTEMPTS):
        later(n * 2 * queue.LEASE_S)
        assert queue.take(database) is not None
    later(99 * queue.LEASE_S)
    assert queue.take(database) is None
    found, _ = read(sent)
    assert (found.state, found.message) == ("failed", "not-scored")


def test_what_waits_too_long_is_given_up(database, tiny, add_user, send, read, later):
    sent = send(add_user())
    later(queue.QUEUE_S + 1)
    assert queue.take(database) is None
    assert read(sent)[0].message == "late"


def test_a_clock_that_jumps_doubles_nothing(database, tiny, add_user, send, read, later):
    sent = send(add_user())
    first = queue.take(database)
    later(10**6)  # all leases look old
    second = queue.take(database)
    later(-(10**6))
    assert queue.end(database, second, Outcome("scored", scores=[("", "mae@all", 2.0)]))
    assert not queue.end(database, first, Outcome("scored", scores=[("", "mae@all", 1.0)]))
    assert read(sent)[1] == {("", "mae@all"): 2.0}


def test_many_workers_take_each_submission_once(site, database, tiny, add_user):
    user = add_user()
    with database.begin() as session:
        for n in range(20):
            upload = Upload(
                id=f"{n}", user_id=1, benchmark_id="tiny", size=1, sha256="0" * 64, expires_at=0
            )
            session.add(intake._submission(user, upload, intake.Entry(f"m{n}")))
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda _: queue.take(database), range(30)))
    ids = [job.submission for job in taken if job is not None]
    assert len(ids) == len(set(ids)) == 20


def test_a_withdrawn_submission_is_not_scored(database, tiny, add_user, send, read):
    user = add_user()
    sent = send(user)
    job = queue.take(database)
    with database.begin() as session:
        queue.withdraw(session, session.get_one(Submission, sent.id), user)
    assert not queue.end(database, job, Outcome("scored", scores=[("", "mae@all", 1.0)]))
    found, scores = read(sent)
    assert (found.state, scores) == ("withdrawn", {})
    with database.begin() as session, pytest.raises(Refused, match="cannot be withdrawn"):
        queue.withdraw(session, session.get_one(Submission, sent.id), user)


def test_states_only_go_forward():
    assert queue.ALLOWED["scored"] == {"withdrawn", "failed"}
    assert not queue.ALLOWED["failed"] | queue.ALLOWED["withdrawn"]


@only_sqlite
def test_a_worker_that_is_killed_loses_nothing(site, database, tiny, add_user, send, read):
    """kill -9 of a real process in the middle of a submission; another one ends it."""
    sent = send(add_user())
    code = (
        "import sys, time; from pathlib import Path\n"
        "from depthgauge.serve.site import Site\n"
        "from depthgauge.serve.submissions import worker\n"
        "worker.process = lambda site, job: (print('begun', flush=True), time.sleep(60))\n"
        "site = Site(Path(sys.argv[1])); worker.work(site, site.open())\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(site.root)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "begun\n"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert read(sent)[0].state == "running"
    with database.begin() as session:
        session.get_one(Submission, sent.id).lease_until = int(time.time()) - 1
    assert worker.work_once(site, database)
    found, scores = read(sent)
    assert (found.state, found.attempts, len(scores)) == ("scored", 2, 2)


def test_the_position_in_the_queue(database, tiny, add_user, send):
    sent = [send(add_user(f"u{n}@example.org")) for n in range(3)]
    with database.begin() as session:
        rows = [session.get_one(Submission, one.id) for one in sent]
        assert sorted(queue.position(session, row) for row in rows) == [0, 1, 2]


# Uploads


def begin(site, database, user, content, **more):
    args = {"size": len(content), "sha256": made.sha256(content), **more}
    return intake.begin_upload(site, database, user, "tiny", args["size"], args["sha256"])


def test_an_upload_goes_on_where_it_stopped(site, database, tiny, add_user):
    user, content = add_user(), made.archive()
    upload_id = begin(site, database, user, content)
    with database.begin() as session:
        upload = intake.find_upload(session, user, upload_id)
    assert intake.append(site, upload, 0, content[:100]) == 100
    with pytest.raises(Refused, match="100 bytes have arrived"):
        intake.append(site, upload, 0, content[:100])  # the same piece again
    with pytest.raises(Refused, match="100 of"):
        intake.submit(site, database, user, upload_id, intake.Entry("Mine"))
    with pytest.raises(Refused, match="more"):
        intake.append(site, upload, 100, content)
    intake.append(site, upload, intake.received(site, upload), content[100:])
    sent = intake.submit(site, database, user, upload_id, intake.Entry("Mine"))
    assert site.blobs.path(sent.archive).read_bytes() == content
    with pytest.raises(Refused, match="no such upload"):
        intake.submit(site, database, user, upload_id, intake.Entry("Mine"))


def test_an_upload_must_be_what_was_announced(site, database, tiny, add_user):
    user, content = add_user(), made.archive()
    upload_id = begin(site, database, user, content, sha256="0" * 64)
    with database.begin() as session:
        intake.append(site, intake.find_upload(session, user, upload_id), 0, content)
    with pytest.raises(Refused, match="SHA-256 that was announced"):
        intake.submit(site, database, user, upload_id, intake.Entry("Mine"))
    assert list(site.blobs) == []
    for bad in ({"sha256": "../../x"}, {"size": 0}, {"size": tiny.protocol and 5 << 30}):
        with pytest.raises(Refused):
            begin(site, database, user, content, **bad)


def test_uploads_of_others_do_not_exist(site, database, tiny, add_user):
    content = made.archive()
    upload_id = begin(site, database, add_user(), content)
    other = add_user("eve@example.org")
    with database.begin() as session:
        for name in (upload_id, "0" * 16, "../x"):
            with pytest.raises(Refused, match="no such upload"):
                intake.find_upload(session, other, name)


def test_abandoned_uploads_are_removed(site, database, tiny, add_user, later):
    upload_id = begin(site, database, add_user(), made.archive())
    assert intake.upload_file(site, upload_id).exists()
    later(intake.UPLOAD_S + 1)
    intake.expire_uploads(site, database)
    assert not list(site.uploads.iterdir())


def test_files_that_a_killed_process_left_are_removed_when_they_are_old(
    site, database, tiny, add_user, later
):
    begun = begin(site, database, add_user(), made.archive())
    lost = intake.upload_file(site, "f" * 16)
    lost.touch()
    intake.expire_uploads(site, database)
    assert lost.exists()  # somebody may be about to take it
    os.utime(lost, (0, 0))
    intake.expire_uploads(site, database)
    assert [file.name for file in site.uploads.iterdir()] == [begun]


def test_the_same_archive_of_another_team_is_uploaded_in_full(tiny, add_user, send):
    """So nobody learns whether somebody else has it."""
    first, second = send(add_user()), send(add_user("eve@example.org"))
    assert first.archive == second.archive
    assert first.id != second.id


def test_quotas_count_by_team_and_whatever_became_of_it(
    site, database, tiny, add_user, send, later, read
):
    ann = add_user()
    bob = add_user("bob@example.org", team_id=ann.team_id)
    with database.begin() as session:
        session.get_one(Benchmark, "tiny").monthly_quota = 3
    send(ann, made.archive(made.estimates(1)))
    withdrawn = send(bob, made.archive(made.estimates(2)))
    with database.begin() as session:
        queue.withdraw(session, session.get_one(Submission, withdrawn.id), bob)
    failed = send(ann, made.archive({}, [("x", b"")]))
    for _ in range(2):
        worker.work_once(site, database)
    assert read(failed)[0].message == "archive"
    send(bob, made.archive(made.estimates(3)), dry_run=True)
    send(ann, made.archive(made.estimates(4)))
    for user in (ann, bob):
        with pytest.raises(Refused, match="3 submissions of this month") as caught:
            send(user, made.archive(made.estimates(5)))
        assert caught.value.code == "quota"
    send(add_user("eve@example.org"), made.archive(made.estimates(6)))  # another team
    later(32 * 86_400)
    send(ann, made.archive(made.estimates(7)))


def test_what_failed_after_the_truth_was_read_counts(site, database, tiny, add_user, send):
    ann = add_user()
    with database.begin() as session:
        session.get_one(Benchmark, "tiny").monthly_quota = 1
    send(ann)
    assert queue.end(database, queue.take(database), Outcome("failed", "not-scored"))
    with pytest.raises(Refused, match="1 submissions of this month"):
        send(ann, made.archive(made.estimates(2)))


def test_room_that_was_announced_is_not_given_away(site, database, tiny, add_user, monkeypatch):
    user, content = add_user(), made.archive(made.estimates(1))
    wanted = []
    monkeypatch.setattr(intake, "require_space", lambda _, size: wanted.append(size))
    first = begin(site, database, user, content)
    with database.begin() as session:
        intake.append(site, intake.find_upload(session, user, first), 0, content[:100])
    begin(site, database, add_user("bob@example.org"), content)
    assert wanted == [len(content), 2 * len(content) - 100]


def test_two_at_once_do_not_pass_the_quota(site, database, tiny, add_user):
    user = add_user()
    with database.begin() as session:
        session.get_one(Benchmark, "tiny").monthly_quota = 1
    uploads = []
    for n in range(4):
        content = made.archive(made.estimates(n))
        uploads.append(begin(site, database, user, content))
        with database.begin() as session:
            intake.append(site, intake.find_upload(session, user, uploads[-1]), 0, content)

    def submit(upload):
        try:
            return intake.submit(site, database, user, upload, intake.Entry("Mine"))
        except Refused:
            return None

    with ThreadPoolExecutor(4) as pool:
        assert sum(one is not None for one in pool.map(submit, uploads)) == 1


def test_the_same_archive_twice_is_one_submission(tiny, add_user, send):
    user = add_user()
    first = send(user)
    with pytest.raises(Refused, match=first.id):
        send(user)


def test_phases_open_and_close(database, tiny, add_user, send, later):
    moment = queue.now()
    with database.begin() as session:
        session.add(
            Phase(benchmark_id="tiny", name="A", opens_at=moment + 100, closes_at=moment + 200)
        )
    user = add_user()
    for at, is_open in ((0, False), (150, True), (201, False)):
        later(at)
        if is_open:
            send(user)
        else:
            with pytest.raises(Refused) as caught:
                send(user, made.archive(made.estimates(at)))
            assert caught.value.code == "closed"


def test_what_authors_write_is_checked(site, database, tiny, add_user):
    user, content = add_user(), made.archive()
    upload = begin(site, database, user, content)
    with database.begin() as session:
        intake.append(site, intake.find_upload(session, user, upload), 0, content)
    for details in (
        {"link": "javascript:alert(1)"},
        {"paper": "ftp://x"},
        {"link": 'https://x" onclick="x'},
        {"other": "x"},
        {"setup": "x" * 1001},
    ):
        with pytest.raises(Refused):
            intake.submit(site, database, user, upload, intake.Entry("Mine", details=details))
    entry = intake.Entry(" A\n<b>method</b> ", details={"link": "https://x.org/a?b=c"})
    sent = intake.submit(site, database, user, upload, entry)
    assert sent.method == "A <b>method</b>"  # escaped where it is shown, not here


# Benchmarks


def test_truth_beside_the_images_is_refused(site, database, tiny_data, tmp_path):
    toml = str(tiny_data / "tiny.toml")
    public, hidden = tiny_data / "public", tiny_data / "hidden"
    with pytest.raises(BadData, match="beside their images"):
        add_benchmark(site, database, toml, hidden, hidden=tmp_path / "kept")
    with pytest.raises(BadData, match="--hidden"):
        add_benchmark(site, database, toml, public)
    with pytest.raises(BadData, match="neither inside"):
        add_benchmark(site, database, toml, public, hidden=site.web / "truth")
    with pytest.raises(BadData, match="neither inside"):
        add_benchmark(site, database, toml, public, hidden=public)
    with pytest.raises(Misuse, match="toolkit"):
        add_benchmark(site, database, "middlebury-toolkit", public)
    assert hidden_folders(site) == []


def test_what_one_benchmark_hides_another_does_not_publish(
    site, database, tiny, tiny_data, tmp_path
):
    other = tmp_path / "other.toml"
    other.write_text(made.TOML.replace('id = "tiny"', 'id = "other"'))
    with pytest.raises(BadData, match="another benchmark hides"):
        add_benchmark(site, database, str(other), tiny.hidden)
    with pytest.raises(BadData, match="another benchmark hides"):
        add_benchmark(site, database, str(other), tiny.hidden.parent, hidden=tmp_path)
    made.write_data(tmp_path / "new")
    with pytest.raises(BadData, match="neither inside"):
        add_benchmark(site, database, str(other), tmp_path / "new" / "public", hidden=tiny.data)
    add_benchmark(site, database, str(other), tiny.data, hidden=tiny.hidden)  # the same folders


@only_sqlite
def test_only_workers_know_where_the_truth_is(site, database, tiny):
    assert read_registered(site, "tiny").hidden == tiny.hidden
    assert (site.workers.stat().st_mode & 0o777) == 0o700
    file = site.workers / "benchmarks" / "tiny.json"
    assert (file.stat().st_mode & 0o777) == 0o600
    for path in site.web.rglob("*"):
        if path.is_file():
            assert str(tiny.hidden).encode() not in path.read_bytes()
    for name in ("../tiny", "a/b", ""):
        with pytest.raises(BadData):
            read_registered(site, name)


def test_another_protocol_of_the_same_name_is_refused(site, database, tiny, tiny_data, tmp_path):
    changed = tmp_path / "tiny.toml"
    changed.write_text(made.TOML.replace("threshold = [1, 2]", "threshold = [1, 3]"))
    with pytest.raises(BadData, match="--rescore"):
        add_benchmark(site, database, str(changed), tiny.data, hidden=tiny.hidden)
    assert read_registered(site, "tiny").protocol.hash == tiny.protocol.hash
