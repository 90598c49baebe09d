"""Processes that are killed, a disk that is full, two admins at once: nothing lost or doubled."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select
from tests.serve import tiny as made
from tests.serve.conftest import only_sqlite

from depthgauge._confine import descendants
from depthgauge.errors import BadData, Refused
from depthgauge.serve import board, client, running
from depthgauge.serve.accounts import people, rates
from depthgauge.serve.storage.models import AuditEntry, ReleasedScore, Snapshot, Submission, Upload
from depthgauge.serve.submissions import intake, worker
from depthgauge.serve.web.app import make_app
from depthgauge.serve.web.settings import WebSettings

WORKER = """
import sys
from pathlib import Path
from depthgauge.serve.site import Site
from depthgauge.serve.submissions import queue, sandbox, worker
queue.LEASE_S = worker.LEASE_S = 2
worker.run_sandbox = lambda site, job, task: sandbox.check(task)
site = Site(Path(sys.argv[1]))
database = site.open()
print("begun", flush=True)
while True:
    worker.work_once(site, database)
"""


@only_sqlite
@pytest.mark.long
def test_workers_that_are_killed_lose_and_double_nothing(
    site, database, tiny, add_user, send, monkeypatch
):
    """kill -9 of a worker again and again, during a hundred submissions."""
    monkeypatch.setattr(rates, "UPLOADS_BY_TEAM", rates.Limit("uploads", 10**6, 1))
    ann = add_user()
    with database.begin() as session:
        session.get_one(board.Benchmark, "tiny").monthly_quota = 1000
    code = WORKER.replace("queue.LEASE_S", "queue.MOST_ATTEMPTS = 1000; queue.LEASE_S")
    sent = [send(ann, made.archive(made.estimates(n / 100))).id for n in range(100)]
    end = time.monotonic() + 150
    kills = 0
    while _states(database)["scored"] < 100 and time.monotonic() < end:
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(site.root)], stdout=subprocess.PIPE
        )
        process.stdout.readline()
        time.sleep(1.5)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        kills += 1
    assert _states(database) == {"scored": 100}
    assert kills > 1
    with database.begin() as session:
        for number, one in enumerate(sent):
            scores = session.scalars(select(ReleasedScore).filter_by(submission_id=one))
            assert {s.score for s in scores} == {"mae@all", "badpix:1@all"}, number
        value = session.get_one(ReleasedScore, (sent[25], "", "mae@all")).value
        assert value == pytest.approx(0.25)


def _states(database):
    with database.begin() as session:
        return Counter(session.scalars(select(Submission.state)))


@only_sqlite
@pytest.mark.long
def test_a_web_process_that_is_killed_during_uploads(site, database, tiny, add_user, tmp_path):
    """The same command again goes on; every archive is one submission."""
    import numpy as np
    from tests.serve.test_running import free_port

    folders = []
    for number in range(6):
        folders.append(tmp_path / str(number))
        for name, values in made.estimates(number / 10).items():
            (folders[-1] / name).mkdir(parents=True)
            np.save(folders[-1] / name / "disparity.npy", values)
    ann = add_user()
    with database.begin() as session:
        session.get_one(board.Benchmark, "tiny").monthly_quota = 1000
        token = people.make_token(session, ann, "test", people.SCOPES, 1)
    port, stop, ready = free_port(), threading.Event(), threading.Event()
    url = f"http://127.0.0.1:{port}"
    more = {"host": "127.0.0.1", "port": port, "stop": stop, "on_ready": ready.set, "workers": 0}
    thread = threading.Thread(target=running.run_site, args=(site, WebSettings(url)), kwargs=more)
    thread.start()
    try:
        assert ready.wait(60)
        for number, folder in enumerate(folders):
            killer = threading.Timer(0.04 * number, _kill_web)
            killer.start()
            _submit_until_done(url, folder, token)
            killer.join()
    finally:
        stop.set()
        thread.join()
    with database.begin() as session:
        archives = list(session.scalars(select(Submission.archive)))
        left = set(session.scalars(select(Upload.sha256)))
    assert len(archives) == len(set(archives)) == 6
    assert set(archives) <= set(site.blobs)
    assert left <= set(archives)  # sent again after an answer was lost; they expire


def _kill_web():
    for process in descendants(os.getpid()):
        with open(f"/proc/{process}/cmdline", "rb") as file:
            if b"web.process" in file.read():
                os.kill(process, signal.SIGKILL)


def _submit_until_done(url, folder, token):
    for _ in range(60):
        try:
            return client.submit(url, "tiny", folder, token=token, method="M")
        except BadData:  # it does not answer
            time.sleep(0.5)
        except Refused as refused:  # the answer was lost, the submission was not
            if "already" not in str(refused):
                raise
            return None
    return pytest.fail("the site did not come back")


def test_a_full_disk_is_said_and_nothing_is_half_there(site, database, tiny, add_user, monkeypatch):
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
        assert session.scalar(select(func.count()).select_from(Submission)) == 0
    assert asked.post(f"/api/uploads/{place}/submit", json={"method": "M"}).status_code == 202
    assert worker.work_once(site, database)
    assert _states(database) == {"scored": 1}


def test_two_admins_at_once(site, database, tiny, add_user, send):
    """Both publish the same entry at the same moment: one state of the leaderboard."""
    admins = [add_user("ada@example.org", admin=True), add_user("bob@example.org")]
    with database.begin() as session:
        session.get_one(type(admins[1]), admins[1].id).role = "admin"
        admins[1].role = "admin"
    sent = send(add_user())
    worker.work_once(site, database)
    start, failed = threading.Barrier(2), []

    def publish(admin):
        try:
            start.wait()
            with database.begin() as session:
                entry = session.get_one(Submission, sent.id, with_for_update=True)
                board.publish(session, entry, admin, "baseline")
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=publish, args=(admin,)) for admin in admins]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with database.begin() as session:
        assert session.scalar(select(func.count()).select_from(Snapshot)) == 1
        said = select(func.count()).where(AuditEntry.action == "submission made baseline")
        assert session.scalar(said) == 2
