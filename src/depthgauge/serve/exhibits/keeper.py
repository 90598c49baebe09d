"""Has exhibits drawn while a worker has nothing to score, in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict

from depthgauge.serve.exhibits import queue
from depthgauge.serve.exhibits.queue import Drawing
from depthgauge.serve.site import Site
from depthgauge.serve.storage.database import Database

_HASH_LENGTH = 64
_LOG = "drawing.txt"
_MOST_LOG = 1 << 20


class Keeper:
    """At most one drawing at a time; whatever becomes of it, scoring goes on.

    One process draws until there is nothing left, since it takes seconds to start.
    """

    def __init__(self, site: Site, database: Database) -> None:
        self._site, self._database = site, database
        self._drawing: Drawing | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._said = b""
        self._end = 0.0

    def tend(self, *, idle: bool) -> None:
        """Ends what is done or takes too long; begins the next drawing if the worker is idle."""
        if self._drawing is not None and not self._ended():
            return
        if not idle:
            return
        found = queue.take(self._database)
        if found is None:
            self.close()
        else:
            self._begin(found)

    @property
    def drawing(self) -> Drawing | None:
        """What is being drawn."""
        return self._drawing

    def close(self) -> None:
        """Ends the process; what it is drawing is begun again by another worker."""
        if self._process is None:
            return
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
        self._process = self._drawing = None

    def _begin(self, drawing: Drawing) -> None:
        if self._process is None or self._process.poll() is not None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        self._drawing, self._said = drawing, b""
        self._end = time.monotonic() + 0.9 * queue.LEASE_S
        with suppress(BrokenPipeError):  # it has died: seen at the next look
            self._process.stdin.write(f"{json.dumps(asdict(drawing))}\n".encode())
            self._process.stdin.flush()

    def _start(self) -> None:
        self.close()
        log = self._site.workers / "logs" / _LOG
        mode = "ab" if log.exists() and log.stat().st_size < _MOST_LOG else "wb"
        command = [sys.executable, "-P", "-m", "depthgauge.serve.exhibits.drawer"]
        with open(log, mode) as errors:
            self._process = subprocess.Popen(
                [*command, str(self._site.root)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                env={**os.environ, "DEPTHGAUGE_ARCHIVES": self._site.archives_url},
            )
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)

    def _ended(self) -> bool:
        """Whether the drawing has come to an end, which is noted."""
        assert self._process is not None
        assert self._process.stdout is not None
        assert self._drawing is not None
        gone = self._process.poll() is not None
        self._said += self._process.stdout.read() or b""
        if not self._said.endswith(b"\n"):
            if not gone and time.monotonic() < self._end:
                return False
            drawing = self._drawing
            self.close()
            queue.finish(self._database, drawing, None)
            return True
        sha256 = self._said.decode("ascii", "replace").strip()
        queue.finish(self._database, self._drawing, sha256 if len(sha256) == _HASH_LENGTH else None)
        self._drawing = None
        return True
