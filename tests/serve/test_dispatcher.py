"""A dask cluster in place of workers: the dispatcher hands over, renews and ends."""

import subprocess
import time

import pytest
from tests.serve import tiny as made

from depthgauge.errors import BadData, Misuse
from depthgauge.serve import running
from depthgauge.serve.storage.models import Submission
from depthgauge.serve.submissions import dispatcher, queue, worker
from depthgauge.serve.submissions.queue import Outcome
from depthgauge.serve.web.settings import WebSettings


class Future:
    """What a cluster gives for a job."""

    def __init__(self, call):
        self.call, self.state, self.cancelled = call, "pending", False

    def done(self):
        return self.state != "pending"

    def result(self, timeout):
        if self.state == "lost":
            raise RuntimeError("its worker died")
        return self.call()

    def cancel(self):
        self.cancelled = True


class Cluster:
    """A cluster of so many threads; jobs end when they are told to."""

    def __init__(self, threads=2):
        self.threads, self.futures, self.keys = threads, [], []

    def nthreads(self):
        return {"a": self.threads}

    def submit(self, function, *given, key, pure, retries):
        self.futures.append(Future(lambda: function(*given)))
        self.keys.append(key)
        return self.futures[-1]


@pytest.fixture
def flying(site, database):
    cluster = Cluster()
    return dispatcher.Dispatcher(site, database, cluster), cluster


def test_jobs_go_to_the_cluster_and_come_back(site, database, tiny, add_user, send, read, flying):
    one, cluster = flying
    sent = [send(add_user(f"u{n}@example.org"), made.archive(made.estimates(n))) for n in range(3)]
    assert one.step()
    assert len(cluster.futures) == 2  # as many as there are threads
    assert not one.step()
    for future in cluster.futures:
        future.state = "done"
    assert one.step()
    assert len(cluster.futures) == 3
    cluster.futures[2].state = "done"
    one.step()
    assert {read(each)[0].state for each in sent} == {"scored"}
    assert len(set(cluster.keys)) == 3


def test_a_job_that_is_lost_is_taken_again(
    database, tiny, add_user, send, read, flying, monkeypatch
):
    one, cluster = flying
    sent = send(add_user())
    one.step()
    cluster.futures[0].state = "lost"
    one.step()
    assert read(sent)[0].state == "running"  # until the lease is over
    moment = queue.now()
    monkeypatch.setattr(queue, "now", lambda: moment + queue.LEASE_S + 1)
    one.step()
    cluster.futures[1].state = "done"
    one.step()
    assert (read(sent)[0].state, read(sent)[0].attempts) == ("scored", 2)


def test_leases_are_renewed_and_what_is_withdrawn_is_cancelled(
    database, tiny, add_user, send, read, flying, monkeypatch
):
    one, cluster = flying
    user = add_user()
    sent = send(user)
    moment, began = queue.now(), time.monotonic()
    monkeypatch.setattr(queue, "now", lambda: moment)
    one.step()
    before = read(sent)[0].lease_until
    monkeypatch.setattr(queue, "now", lambda: moment + 30)
    monkeypatch.setattr(dispatcher.time, "monotonic", lambda: began + 30)
    one.step()
    assert read(sent)[0].lease_until == before + 30
    with database.begin() as session:
        queue.withdraw(session, session.get_one(Submission, sent.id), user)
    monkeypatch.setattr(dispatcher.time, "monotonic", lambda: began + 60)
    one.step()
    assert cluster.futures[0].cancelled
    cluster.futures[0].state = "done"
    one.step()
    assert read(sent)[0].state == "withdrawn"


def test_what_no_machine_can_do_now_goes_back(site, database, tiny, add_user, send, read):
    sent = send(add_user())
    job = worker.take(site, database)
    worker.finish(site, database, job, None)
    found, _ = read(sent)
    assert (found.state, found.attempts) == ("queued", 0)
    assert not queue.end(database, job, Outcome("scored"))


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.1:8786", "10.0.0.1:8786", "tls://", "ws://localhost:1"]
)
def test_a_cluster_needs_tls(address, site):
    with pytest.raises(Misuse, match="tls://"):
        dispatcher.require_tls(address)
    url = WebSettings("http://127.0.0.1:1")
    with pytest.raises(Misuse, match="tls://"):
        running.run_site(site, url, host="127.0.0.1", port=1, cluster=address, only="workers")
    dispatcher.require_tls("tls://10.0.0.1:8786")
    dispatcher.require_tls("tcp://localhost:8786")


@pytest.mark.long
def test_the_web_process_imports_no_client_of_clusters():
    """Whoever takes it over finds no connection to the workers, and no code that makes one."""
    code = "import depthgauge.serve.web.process, sys; print('distributed' in sys.modules)"
    import sys

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_real_cluster_with_tls(site, database, tiny, add_user, send, read, tmp_path, monkeypatch):
    """Scheduler and worker with certificates; without them nobody gets in."""
    distributed = pytest.importorskip("distributed", reason="extra [cluster]")
    import dask

    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=depth"
    command += f" -keyout {key} -out {certificate}"
    subprocess.run(command.split(), check=True, capture_output=True)
    tls = "distributed.comm.tls"
    files = {f"{tls}.ca-file": str(certificate)}
    for role in ("client", "scheduler", "worker"):
        files |= {f"{tls}.{role}.key": str(key), f"{tls}.{role}.cert": str(certificate)}
    with dask.config.set(files):
        safe = distributed.Security(require_encryption=True)
        cluster = distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            security=safe,
            protocol="tls://",
            dashboard_address=None,
        )
        try:
            address = cluster.scheduler_address
            assert address.startswith("tls://")
            client = dispatcher.connect(address)
            one = dispatcher.Dispatcher(site, database, client)
            sent = send(add_user())
            for _ in range(200):
                one.step()
                if read(sent)[0].state == "scored":
                    break
                time.sleep(0.1)
            assert read(sent)[0].state == "scored"
            client.close()
            monkeypatch.setattr(dispatcher, "_CONNECT_S", 2)
            no_key = {f"{tls}.client.key": None, f"{tls}.client.cert": None, f"{tls}.ca-file": None}
            with dask.config.set(no_key), pytest.raises(BadData, match="does not answer"):
                dispatcher.connect(address)
        finally:
            cluster.close()
