"""Has exhibits drawn while a worker has nothing to score, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

from depthgauge.serve.exhibits import queue
from depthgauge.serve.exhibits.queue import Drawing
from depthgauge.serve.site import Site
from depthgauge.serve.storage.database import Database

_HASH_LENGTH = 64


class Keeper:
    """At most one drawing at a time; whatever becomes of it, scoring goes on."""

    def __init__(self, site: Site, database: Database) -> None:
        self._site, self._database = site, database
        self._drawing: Drawing | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._end = 0.0

    def tend(self, *, idle: bool) -> None:
        """Ends what is done or takes too long; begins the next drawing if the worker is idle."""
        if self._process is not None:
            if self._process.poll() is None and time.monotonic() < self._end:
                return
            self._finish()
        if idle and (found := queue.take(self._database)) is not None:
            self._begin(found)

    def close(self) -> None:
        """Gives up what is being drawn; another worker begins again."""
        if self._process is not None:
            self._kill()
            self._process = None

    def _begin(self, drawing: Drawing) -> None:
        log = self._site.workers / "logs" / f"drawing-{drawing.subject.replace(':', '-')}.txt"
        command = [sys.executable, "-P", "-m", "depthgauge.serve.exhibits.drawer"]
        given = [str(self._site.root), drawing.subject, drawing.benchmark]
        given += [drawing.archive] if drawing.archive else []
        with open(log, "wb") as errors:
            self._process = subprocess.Popen(
                [*command, *given],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        self._drawing, self._end = drawing, time.monotonic() + 0.9 * queue.LEASE_S

    def _finish(self) -> None:
        assert self._process is not None
        assert self._drawing is not None
        self._kill()
        said, _ = self._process.communicate()
        sha256 = said.decode("ascii", "replace").strip()
        good = self._process.returncode == 0 and len(sha256) == _HASH_LENGTH
        queue.finish(self._database, self._drawing, sha256 if good else None)
        self._process = self._drawing = None

    def _kill(self) -> None:
        """Ends the process and what it started; one that has ended is left alone."""
        assert self._process is not None
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
