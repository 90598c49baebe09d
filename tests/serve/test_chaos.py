"""Everything that can go wrong at once: nothing is lost, nothing is doubled."""

import errno
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient
from tests.serve import tiny as made
from tests.serve.conftest import POSTGRESQL
from tests.serve.test_running import free_port

from depthgauge.errors import BadData, Refused
from depthgauge.serve import board, client, deletion, running
from depthgauge.serve.accounts import links, people
from depthgauge.serve.site import Site, make_folders
from depthgauge.serve.storage.database import engine_of, migrate
from depthgauge.serve.storage.models import (
    Benchmark,
    Notification,
    ReleasedScore,
    Rescoring,
    Snapshot,
    Submission,
    Upload,
    User,
)
from depthgauge.serve.submissions import intake, queue, revisions, worker
from depthgauge.serve.submissions.registry import add_benchmark
from depthgauge.serve.web.app import make_app
from depthgauge.serve.web.settings import WebSettings

worker_run_sandbox = worker.run_sandbox  # before a fixture replaces it
MANY = int(os.environ.get("DEPTHGAUGE_TEST_SUBMISSIONS", "100"))
USERS = 10


# A full disk


def test_a_full_disk_is_said_to_who_sends(site, database, tiny, add_user, monkeypatch):
    ann, content = add_user(), made.archive()
    with database.begin() as session:
        head = people.make_token(session, ann, "test", people.SCOPES, 1)
    url = "http://site.example"
    asked = TestClient(
        make_app(site, database, WebSettings(url)), base_url=url, raise_server_exceptions=False
    )
    asked.headers["Authorization"] = f"Bearer {head}"
    told = {"size": len(content), "sha256": made.sha256(content)}
    place = asked.post("/api/benchmarks/tiny/uploads", json=told).json()["id"]
    put = f"/api/uploads/{place}?offset=0"

    def full(*_args, **_more):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(intake, "append", full)
        answer = asked.put(put, content=content)
        assert (answer.status_code, answer.json()["code"]) == (507, "full")
    assert asked.put(put, content=content).json()["received"] == len(content)
    with monkeypatch.context() as patch:
        patch.setattr(type(site.blobs), "move_in", full)
        answer = asked.post(f"/api/uploads/{place}/submit", json={"method": "M"})
        assert answer.status_code == 507
    with database.begin() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Submission)) == 0
    assert asked.post(f"/api/uploads/{place}/submit", json={"method": "M"}).status_code == 202


def test_a_full_disk_fails_no_submission(site, database, tiny, add_user, send, read, monkeypatch):
    sent = send(add_user())

    def full(*_args):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(worker, "run_sandbox", full)
        patched.setattr(worker, "write_log", full)
        for _ in range(queue.MOST_ATTEMPTS + 2):
            assert not worker.work_once(site, database)  # so the worker rests before it goes on
    assert read(sent)[0].state == "queued"
    assert worker.work_once(site, database)
    assert (read(sent)[0].state, read(sent)[0].attempts) == ("scored", 1)


@pytest.mark.long
def test_a_sandbox_that_dies_of_a_full_disk_is_not_the_authors_fault(
    site, database, tiny, add_user, send, read, monkeypatch
):
    sent = send(add_user())
    usage = worker.shutil.disk_usage(site.workers)
    with monkeypatch.context() as patched:
        patched.setattr(worker, "run_sandbox", lambda *_: None)
        patched.setattr(worker.shutil, "disk_usage", lambda _: usage._replace(free=0))
        worker.work_once(site, database)
    assert read(sent)[0].state == "queued"
    monkeypatch.setattr(worker, "run_sandbox", lambda *_: None)
    worker.work_once(site, database)
    assert read(sent)[0].message == "too-long"


def test_a_disk_that_is_full_while_a_submission_is_written(
    site, database, tiny, add_user, send, monkeypatch
):
    """The archive has been moved, and the row cannot be written: the same call works later."""
    user = add_user()

    def full(*_args):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(intake, "audit", full)
        with pytest.raises(OSError, match="No space"):
            send(user)
    with database.begin() as session:
        assert session.query(Submission).count() == 0
        assert session.query(Upload).count() == 1
    sent = send(user)
    with database.begin() as session:
        assert session.query(Submission).count() == 1
        assert session.query(Upload).count() == 0
    assert list(site.blobs) == [sent.archive]


@pytest.mark.long
@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a small disk")
def test_a_disk_that_is_really_full(tmp_path, empty_site, tiny_data):
    """A disk of 300 MiB, of which the site keeps 256 free; it fills up, and somebody frees some."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this system does not permit mounting a small disk")
    try:
        site = Site(place / "site")
        make_folders(site)
        (site.web / "site.db").write_bytes(empty_site.read_bytes())
        database = site.open()
        folders = {"data": tiny_data / "public", "hidden": tiny_data / "hidden"}
        add_benchmark(site, database, str(tiny_data / "tiny.toml"), **folders)
        with database.begin() as session:
            people.join(session, links.make_link(session, "invitation"), "a@b.c", "A", "p" * 12)
            user = session.query(User).one()
        waste = place / "waste"
        waste.write_bytes(bytes(60 << 20))
        content = made.archive()
        given = (site, database, user, "tiny", len(content), made.sha256(content))
        with pytest.raises(Exception, match="no room"):
            intake.begin_upload(*given)
        waste.unlink()
        upload = intake.begin_upload(*given)
        with database.begin() as session:
            row = intake.find_upload(session, user, upload)
        waste.write_bytes(bytes(290 << 20))  # others fill it while a piece arrives
        with suppress(OSError), open(place / "rest", "wb") as rest:
            rest.write(bytes(64 << 20))
        with pytest.raises(OSError, match="No space"):
            intake.append(site, row, 0, content)
        waste.unlink()
        (place / "rest").unlink(missing_ok=True)
        arrived = intake.received(site, row)
        intake.append(site, row, arrived, content[arrived:])
        intake.submit(site, database, user, upload, intake.Entry("Mine"))
        assert worker.work_once(site, database)
        engine_of(database).dispose()
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_job_that_ends_while_it_is_hidden(site, tmp_path, monkeypatch):
    """The sandbox hides other jobs; one of them may just have ended, which is nobody's fault."""
    other, truth = site.workers / "jobs" / "other", tmp_path / "truth"
    for folder in (other, truth):
        folder.mkdir()
    task = {"folder": str(tmp_path), "hide": [str(truth), str(other)]}
    hidden = []

    def once(_site, _job, given):
        hidden.append(given["hide"])
        if len(hidden) == 1:
            other.rmdir()
            return None
        return {"archive": []}

    monkeypatch.setattr(worker, "_run_sandbox_once", once)
    real = worker_run_sandbox
    assert real(site, None, task) == {"archive": []}
    assert hidden == [[str(truth), str(other)], [str(truth)]]  # the truth is hidden in any case
    hidden[:] = [0]
    monkeypatch.setattr(worker, "_run_sandbox_once", lambda *_: hidden.append(1))
    assert real(site, None, task) is None
    assert hidden == [0, 1]  # a sandbox that dies of itself is started once


def test_work_that_is_done_waits_for_the_database(
    site, database, tiny, add_user, send, read, monkeypatch
):
    """The database goes away before the outcome is written, and once after it was."""
    sent = send(add_user())
    end, calls = queue.end, []

    def away(*given):
        calls.append(given)
        if len(calls) == 2:
            end(*given)  # written, but nobody hears of it
        if len(calls) < 3:
            raise sa.exc.OperationalError("x", {}, Exception("away"))
        return end(*given)

    monkeypatch.setattr(queue, "end", away)
    monkeypatch.setattr(worker, "_IDLE_S", 0.0)
    assert worker.work_once(site, database)
    assert len(calls) == 3
    found, scores = read(sent)
    assert (found.state, found.attempts, len(scores)) == ("scored", 1, 2)


# Clocks


def test_clocks_that_jump(site, database, tiny, add_user, send, read, monkeypatch):
    """A submission of tomorrow is scored today; one of next week is not given up."""
    user = add_user()
    true = queue.now()

    def at(moment):
        for module in (queue, intake, people, links):
            monkeypatch.setattr(module, "now", lambda: moment)

    at(true + 86_400)
    ahead = send(user, made.archive(made.estimates(1.0)))
    at(true)
    behind = send(user, made.archive(made.estimates(2.0)))
    for _ in range(2):
        assert worker.work_once(site, database)
    assert {read(one)[0].state for one in (ahead, behind)} == {"scored"}
    job_user = send(user, made.archive(made.estimates(3.0)))
    job = queue.take(database)
    at(true - 10**6)  # back before everything: the lease holds on
    assert queue.take(database) is None
    assert queue.renew(database, job)
    at(true + 60)
    assert queue.end(database, job, queue.Outcome("scored", scores=[("", "mae@all", 3.0)]))
    assert read(job_user)[1] == {("", "mae@all"): 3.0}


# At the same moment


def at_once(*calls):
    """Does all of it at once; exceptions are results."""

    def quiet(call):
        try:
            return call()
        except Refused as refused:
            return refused

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(quiet, calls))


def test_the_same_archive_at_the_same_moment(site, database, tiny, add_user):
    """Two uploads by two people of one team, submitted at once: one is taken."""
    ann = add_user()
    bob = add_user("bob@example.org", team_id=ann.team_id)
    content = made.archive()
    uploads = []
    for user in (ann, bob):
        given = (site, database, user, "tiny", len(content), made.sha256(content))
        uploads.append((user, intake.begin_upload(*given)))
        with database.begin() as session:
            row = intake.find_upload(session, user, uploads[-1][1])
        intake.append(site, row, 0, content)

    def submit(user, upload):
        return lambda: intake.submit(site, database, user, upload, intake.Entry("Mine"))

    answers = at_once(*(submit(*one) for one in uploads), *(submit(*one) for one in uploads))
    assert sum(isinstance(one, Submission) for one in answers) == 1
    with database.begin() as session:
        assert session.query(Submission).count() == 1


def test_two_admins_at_once(site, database, tiny, add_user, send, read):
    ada = add_user("ada@example.org", admin=True)
    bea = add_user("bea@example.org")
    with database.begin() as session:
        session.get_one(User, bea.id).role = "admin"
        session.get_one(Benchmark, "tiny").monthly_quota = 20
    sent = [send(ada, made.archive(made.estimates(n))) for n in (1.0, 2.0)]
    for _ in sent:
        worker.work_once(site, database)

    def publish(one):
        def call():
            with database.begin() as session:
                board.publish(session, session.get_one(Submission, one.id), ada, "public")

        return call

    at_once(*(publish(one) for one in sent))
    with database.begin() as session:
        last = session.query(Snapshot).order_by(Snapshot.id.desc()).first()
        assert {row["submission"] for row in last.body["rows"]} == {one.id for one in sent}
    # Both have everything scored again: it is begun twice and done once.
    at_once(*(lambda: revisions.begin(site, database, "tiny", "asked") for _ in range(2)))
    while worker.work_once(site, database):
        pass
    with database.begin() as session:
        assert session.query(Rescoring).filter(Rescoring.ended_at.is_not(None)).count() == 1
        assert session.query(Rescoring).filter(Rescoring.ended_at.is_(None)).count() == 0
        told = session.query(Notification).filter_by(kind="rescored", user_id=ada.id)
        assert told.count() == len(sent)

    # Both delete their accounts: somebody must stay.
    def leave(user):
        def call():
            with database.begin() as session:
                deletion.delete_account(session, user.id)

        return call

    answers = at_once(leave(ada), leave(bea))
    assert sum(isinstance(one, Refused) for one in answers) == 1
    with database.begin() as session:
        assert session.query(User).filter_by(role="admin").count() == 1


# kill -9 of everything, again and again


def pids_of(module):
    """Processes of ours that run a module."""
    found = []
    for place in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            words = (place / "cmdline").read_bytes().split(b"\0")
            if module.encode() in words and _is_ours(int(place.name)):
                found.append(int(place.name))
    return found


def _is_ours(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("PPid:")[1].split()[0]) == os.getpid()


def kill(pids):
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def chaos_site(tmp_path, tiny_data):
    """A site with ten accounts on PostgreSQL, where it is installed, and the server to kill."""
    from tests.serve.postgresql import Server

    server = Server(safe=True)
    engine = sa.create_engine(f"{server.url}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text("CREATE DATABASE site"))
    engine.dispose()
    site = Site(tmp_path / "site", f"{server.url}/site")
    make_folders(site)
    migrate(site.url)
    database = site.open()
    folders = {"data": tiny_data / "public", "hidden": tiny_data / "hidden"}
    add_benchmark(site, database, str(tiny_data / "tiny.toml"), **folders, monthly_quota=MANY)
    tokens = []
    for n in range(USERS):
        with database.begin() as session:
            link = links.make_link(session, "invitation")
            people.join(session, link, f"u{n}@example.org", f"U{n}", "correct horse")
            user = session.query(User).filter_by(email=f"u{n}@example.org").one()
            tokens.append(people.make_token(session, user, "t", ("submit", "read"), 1))
    yield site, database, server, tokens
    engine_of(database).dispose()
    server.stop()


def write_estimates(folder, n):
    """Estimates whose error tells which submission they are of."""
    for name, values in made.estimates(error(n)).items():
        (folder / name).mkdir(parents=True)
        np.save(folder / name / "disparity.npy", values)
    return folder


def error(n):
    return 0.5 + n / 100


def submit_stubbornly(url, token, folder, method, end):
    """As a person would: the same command again until the site says yes, or has it already."""
    while time.monotonic() < end:
        try:
            return client.submit(url, "tiny", folder, token=token, method=method)["id"]
        except BadData:
            time.sleep(1)
        except Refused as refused:
            if "already, as" in str(refused):
                return str(refused).rstrip(".").rsplit(" ", 1)[1]
            time.sleep(1)
    raise AssertionError(f"{method}: the site took too long")


@pytest.mark.long
@pytest.mark.skipif(bool(POSTGRESQL), reason="starts a server of its own")
@pytest.mark.parametrize("way", ["workers", "cluster"])
@pytest.mark.filterwarnings("ignore")
def test_kills_of_everything_lose_and_double_nothing(way, chaos_site, tmp_path, monkeypatch):
    site, database, server, tokens = chaos_site
    monkeypatch.setattr(client, "_TRIES", 2)
    port, stop, ready = free_port(), threading.Event(), threading.Event()
    url = f"http://127.0.0.1:{port}"
    cluster = _Cluster() if way == "cluster" else None
    options = {"cluster": cluster.address} if cluster else {"workers": 2}
    thread = threading.Thread(
        target=running.run_site,
        args=(site, WebSettings(url)),
        kwargs={
            "host": "127.0.0.1",
            "port": port,
            "stop": stop,
            "on_ready": ready.set,
            **options,
        },
    )
    thread.start()
    end = time.monotonic() + 60 + 12 * MANY
    try:
        assert ready.wait(60)
        targets = {
            "web": lambda: kill(pids_of("depthgauge.serve.web.process")),
            "database": lambda: (server.kill(), time.sleep(0.5), server.start()),
            "scorer": lambda: _kill_scorers(site, cluster),
        }
        chaos = threading.Thread(target=_rage, args=(targets, stop, database, end))
        chaos.start()
        with ThreadPoolExecutor(2) as pool:
            sent = list(
                pool.map(
                    lambda n: submit_stubbornly(
                        url,
                        tokens[n % USERS],
                        write_estimates(tmp_path / "mine" / str(n), n),
                        f"M{n}",
                        end,
                    ),
                    range(MANY),
                )
            )
        chaos.join()
        _wait_for_scores(database, end)
    finally:
        stop.set()
        thread.join()
        if cluster:
            cluster.close()
    with database.begin() as session:
        rows = {one.id: one for one in session.query(Submission)}
        scores = {s.submission_id: s for s in session.query(ReleasedScore) if s.score == "mae@all"}
        count = session.query(ReleasedScore).count()
        told = session.query(Notification).count()
    assert set(rows) == set(sent)
    assert len(sent) == len(set(sent)) == MANY
    not_scored = [(one.state, one.message, one.attempts) for one in rows.values()]
    assert [one for one in not_scored if one[0] != "scored"] == []
    assert count == 2 * MANY
    assert told == MANY  # one person per team, one notice per submission
    for n, name in enumerate(sent):
        assert rows[name].method == f"M{n}"
        assert scores[name].value == float(f"{error(n):.3g}")
    archives = {one.archive for one in rows.values()}
    assert len(archives) == MANY
    assert archives <= set(site.archives)  # and what was drawn
    _let_uploads_expire(site, database)
    assert list(site.uploads.iterdir()) == []


def _let_uploads_expire(site, database):
    """Two days later: a web process that was killed may have left files of uploads that it took."""
    with database.begin() as session:
        session.query(Upload).update({Upload.expires_at: 0})
    for file in site.uploads.iterdir():
        os.utime(file, (0, 0))
    intake.expire_uploads(site, database)


def _rage(targets, stop, database, end):
    """Kills each target twice, in a random order, while submissions come in."""
    order = [name for name in targets for _ in range(2)]
    random.Random(7).shuffle(order)
    for name in order:
        if stop.wait(5) or time.monotonic() > end:
            return
        targets[name]()
        if name == "scorer":
            _expire_leases(database)


def _kill_scorers(site, cluster):
    kill(pids_of("depthgauge.serve.submissions.worker"))
    kill(pids_of("depthgauge.serve.submissions.dispatcher"))
    if cluster:
        cluster.kill()


def _expire_leases(database):
    """Else each test would wait for a minute and a half."""
    for _ in range(20):
        with suppress(sa.exc.OperationalError), database.begin() as session:
            session.query(Submission).filter_by(state="running").update({"lease_until": 0})
            return
        time.sleep(1)


def _wait_for_scores(database, end):
    while time.monotonic() < end:
        with suppress(sa.exc.OperationalError), database.begin() as session:
            open_ones = Submission.state.in_(("queued", "running"))
            if session.query(Submission).filter(open_ones).count() == 0:
                return
        time.sleep(1)


class _Cluster:
    """A scheduler and a worker of dask as processes; `kill` kills both, and they start again."""

    def __init__(self):
        self._port = free_port()
        self.address = f"tcp://127.0.0.1:{self._port}"
        self._start()

    def _start(self):
        python = [sys.executable, "-m"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        scheduler = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port"]
        scheduler += [str(self._port), "--no-dashboard"]
        work = ["distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-dashboard"]
        self._processes = [
            subprocess.Popen([*python, *words], start_new_session=True, **quiet)
            for words in (scheduler, [*work, "--no-nanny"])
        ]

    def kill(self):
        self.close()
        self._start()

    def close(self):
        for process in self._processes:
            process.kill()
            process.wait()
