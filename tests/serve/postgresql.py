"""A PostgreSQL server for tests, from Debian's packages; it does not run as root."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

_START_S = 60


class Server:
    """A server in a folder of its own, on a port of its own."""

    def __init__(self, *, safe=False):
        """With `safe`, what was committed survives a crash of the machine, too; slower."""
        self._bin = _programs()
        self._user = _user()
        self.folder = Path(tempfile.mkdtemp(prefix="depthgauge-postgresql-"))
        if self._user is not None:
            shutil.chown(self.folder, self._user, self._user)
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        self.url = f"postgresql+psycopg://postgres@127.0.0.1:{self.port}"
        self._safe = safe
        data = str(self.folder / "data")
        options = ["--auth=trust", "--username=postgres", "--no-sync", "--encoding=UTF8"]
        self._run("initdb", "-D", data, *options)
        self.process = None
        self.start()

    def start(self):
        """Starts it, also after `kill`: it recovers by itself."""
        sync = "on" if self._safe else "off"
        settings = (f"port={self.port}", "listen_addresses=127.0.0.1", f"fsync={sync}")
        settings += (f"unix_socket_directories={self.folder}", "max_connections=60")
        words = [word for setting in settings for word in ("-c", setting)]
        self.process = subprocess.Popen(
            [self._bin / "postgres", "-D", str(self.folder / "data"), *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            start_new_session=True,
            **self._identity(),
        )
        end = time.monotonic() + _START_S
        while subprocess.run(
            [self._bin / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False
        ).returncode:
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("PostgreSQL does not start")
            time.sleep(0.1)

    def kill(self):
        """kill -9 of the server and everything it started."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Ends it and removes its folder."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program, *words):
        subprocess.run(
            [self._bin / program, *words],
            check=True,
            capture_output=True,
            cwd=self.folder,
            **self._identity(),
        )

    def _identity(self):
        return {} if self._user is None else {"user": self._user, "group": self._user}


def _programs():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
    if not found:
        pytest.skip("PostgreSQL is not installed; say: apt-get install postgresql")
    return found[-1]


def _user():
    """Who runs it; None: whoever runs the tests."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    pytest.skip("PostgreSQL does not run as root, and there is no user postgres or nobody")
    return None
