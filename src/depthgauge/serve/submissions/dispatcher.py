"""The dispatcher: takes submissions from the queue and hands them to a dask cluster.

`python -m depthgauge.serve.submissions.dispatcher` is a process on the workers' side, in place of
local workers. The web process is never a client of the cluster, which could run code where the
truth is; it only writes to the database, which the dispatcher reads. Workers of the cluster get no
access to the database: they return an outcome, and the dispatcher, which holds the lease, writes
it. They need the same folders at the same paths: DIR/workers, data and truth, and the archives.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from depthgauge._confine import end_with_parent
from depthgauge.errors import BadData, DepthgaugeError, MissingExtra, Misuse
from depthgauge.serve.process_settings import own_settings
from depthgauge.serve.site import Site
from depthgauge.serve.storage.database import Database
from depthgauge.serve.submissions import worker
from depthgauge.serve.submissions.queue import LEASE_S, Job, Outcome

_LOCAL = ("localhost", "127.0.0.1", "::1")
_CONNECT_S = 20


def require_tls(address: str) -> None:
    """Requires an address that nobody on the network can listen to or pretend to be.

    Raises:
        Misuse: It is none: truth and estimates would cross the network in the open.
    """
    parts = urlsplit(address)
    if parts.scheme == "tls" and parts.hostname:
        return
    if parts.scheme == "tcp" and parts.hostname in _LOCAL:
        return
    raise Misuse(
        "--cluster must be tls://HOST:PORT (with certificates in dask's settings), or "
        "tcp://localhost:PORT on this machine"
    )


def connect(address: str) -> Any:
    """A client of the cluster; certificates are those of dask's own settings.

    Raises:
        Misuse: The address is not safe.
        MissingExtra: dask is not installed.
        BadData: The cluster does not answer.
    """
    require_tls(address)
    try:
        from distributed import Client, Security
    except ImportError:
        raise MissingExtra("a cluster needs dask; say: pip install 'depthgauge[cluster]'") from None
    tls = address.startswith("tls:")
    security = Security(require_encryption=True) if tls else None
    try:
        return Client(address, security=security, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise BadData(f"{address}: the cluster does not answer ({error}).") from None


@dataclass
class _Flying:
    """A job that the cluster works on."""

    job: Job
    future: Any
    renew_at: float


def process_there(root: str, archives_url: str, job: Job) -> Outcome | None:
    """Runs on a worker of the cluster: checks and scores one submission."""
    return worker.try_process(Site(Path(root), "", archives_url), job)


class Dispatcher:
    """Keeps the cluster busy with what is in the queue."""

    def __init__(self, site: Site, database: Database, client: Any) -> None:
        self._site, self._database, self._client = site, database, client
        self._flying: list[_Flying] = []

    def step(self) -> bool:
        """Ends what is done, renews leases, and hands over more; False if nothing happened."""
        done = [one for one in self._flying if one.future.done()]
        for one in done:
            self._flying.remove(one)
            self._end(one)
        self._renew()
        begun = 0
        while len(self._flying) < max(1, self._room()):
            job = worker.take(self._site, self._database)
            if job is None:
                break
            self._begin(job)
            begun += 1
        return bool(done or begun)

    def _room(self) -> int:
        """How many jobs the cluster can do at once; one more waits for none of them."""
        return sum(self._client.nthreads().values())

    def _begin(self, job: Job) -> None:
        future = self._client.submit(
            process_there,
            str(self._site.root),
            self._site.archives_url,
            job,
            key=f"{job.submission}-{job.lease}",
            pure=False,
            retries=0,
        )
        self._flying.append(_Flying(job, future, time.monotonic() + LEASE_S / 4))

    def _renew(self) -> None:
        for one in list(self._flying):
            if time.monotonic() < one.renew_at:
                continue
            one.renew_at = time.monotonic() + LEASE_S / 4
            if not worker.renew(self._database, one.job):
                one.future.cancel()  # withdrawn, or somebody else has it
                self._flying.remove(one)

    def _end(self, one: _Flying) -> None:
        try:
            outcome = one.future.result(timeout=_CONNECT_S)
        except Exception as error:  # its worker died, or the cluster is away: the lease runs out
            worker.write_log(self._site, one.job, f"the cluster did not finish it: {error!r}")
            return
        worker.finish(self._site, self._database, one.job, outcome)


def main() -> None:
    """The process; ends at SIGTERM. What is not done then is taken again when its lease is over."""
    known = own_settings()
    end_with_parent()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    database = known.site.open()
    try:
        dispatcher = Dispatcher(known.site, database, connect(known.cluster))
    except DepthgaugeError as error:
        sys.exit(f"error: {error}")
    try:
        worker.work(known.site, database, step=dispatcher.step, stop=stop)
    finally:
        os._exit(0)  # dask's threads may wait for a cluster that is away


if __name__ == "__main__":
    main()
