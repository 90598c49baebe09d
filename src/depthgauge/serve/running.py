"""Runs a site: one web process and its workers, each started again if it dies."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from depthgauge._confine import landlock
from depthgauge.errors import BadData
from depthgauge.serve.lockout import hidden_folders, require_outside
from depthgauge.serve.mail.server import mail_server
from depthgauge.serve.process_settings import ProcessSettings
from depthgauge.serve.site import Site
from depthgauge.serve.submissions.dispatcher import require_tls
from depthgauge.serve.web.settings import WebSettings

_LOOK_S = 0.2
_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 30.0
_HEALTHY_S = 60.0
_END_S = 10.0
_START_S = 30.0


@dataclass
class _SupervisedProcess:
    """A process that is started again when it dies, after a pause that grows."""

    command: Sequence[str]
    environment: Mapping[str, str] | None = None
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = _SHORTEST_PAUSE_S
    next_start: float = 0.0
    """When it may be started again; set when its end is noticed."""

    def look(self) -> None:
        moment = time.monotonic()
        if self.process is not None:
            if self.process.poll() is None:
                return
            lived = moment - self.started
            longer = min(2 * self.pause, _LONGEST_PAUSE_S)
            self.pause = _SHORTEST_PAUSE_S if lived > _HEALTHY_S else longer
            self.process, self.next_start = None, moment + self.pause
        if moment >= self.next_start:
            self.process, self.started = self._start(), moment

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self.command, env=self.environment)

    def end(self) -> None:
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def run_site(
    site: Site,
    settings: WebSettings,
    *,
    host: str,
    port: int,
    workers: int = 1,
    smtp: str = "",
    cluster: str = "",
    only: str = "",
    stop: threading.Event | None = None,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Runs until it is stopped.

    Args:
        site: The site; its tables are up to date.
        settings: Of the web process.
        host: The address to listen on.
        port: The port to listen on.
        workers: How many processes score.
        smtp: The URL of a mail server; then a process sends mail, as `settings.mail` promises.
        cluster: The address of a dask cluster; then a dispatcher hands it the submissions, in place
            of workers here.
        only: `web` or `workers`, where they run as two users; the mailer belongs to the web.
        stop: Set to end it; SIGTERM and Ctrl-C do so, too.
        on_ready: Called when the site answers.

    Raises:
        BadData: There is hidden truth that nothing protects, or the port is taken.
        Misuse: That is no URL of a mail server, or the cluster's is not safe.
    """
    require_protection(site)
    shared = ProcessSettings(site, settings, host, port)
    kept = [] if only == "web" else _scoring(shared, workers, cluster)
    if only != "workers":
        _require_free(host, port)
        kept += _web(shared, smtp)
    stop = stop or _stopped_by_signals()
    try:
        begun, ready = time.monotonic(), False
        while not stop.wait(_LOOK_S):
            for one in kept:
                one.look()
            if not ready and (ready := only == "workers" or _answers(host, port)):
                on_ready()
            if not ready and time.monotonic() - begun > _START_S:
                raise BadData(f"{site.root}: the web process does not start; see what it printed.")
    finally:
        for one in kept:
            one.end()


def _web(shared: ProcessSettings, smtp: str) -> list[_SupervisedProcess]:
    """The web process, and the mailer if there is a mail server."""
    kept = [_process("web.process", shared)]
    if smtp:
        mail_server(smtp, shared.settings.host)  # a bad URL is refused here, not later
        kept.append(_process("mail.mailer", replace(shared, smtp=smtp)))
    return kept


def _scoring(shared: ProcessSettings, workers: int, cluster: str) -> list[_SupervisedProcess]:
    """Workers of this machine, or the dispatcher of a cluster."""
    if not cluster:
        return [_process("submissions.worker", shared) for _ in range(workers)]
    require_tls(cluster)
    return [_process("submissions.dispatcher", replace(shared, cluster=cluster))]


def _process(module: str, shared: ProcessSettings) -> _SupervisedProcess:
    command = [sys.executable, "-P", "-m", f"depthgauge.serve.{module}"]
    return _SupervisedProcess(command, shared.environment())


def require_protection(site: Site) -> None:
    """Requires that the web process can be locked out of the hidden truth.

    Raises:
        BadData: It cannot.
    """
    try:
        hidden = hidden_folders(site)
    except PermissionError:
        return
    require_outside(hidden)
    if hidden and not landlock.works():
        raise BadData(
            f"{site.root}: has benchmarks with hidden truth, and this system has no Landlock "
            "(Linux 6.2 or newer); run web and workers as two users (see the operators' page)."
        )


def _stopped_by_signals() -> threading.Event:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop


def _require_free(host: str, port: int) -> None:
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            why = f"{host}:{port} cannot be used ({error.strerror}); choose another with --port."
            raise BadData(why) from None


def _answers(host: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((host, port), 0.2):
        return True
    return False
