"""The command `depthgauge` for the shell of a page, run by the process of the tests.

A real command takes a second to start, and a run starts two more processes. So the shell finds a
`depthgauge` that hands its arguments, folder and streams to this process, which waits for the shell
anyway. Runs are done without worker processes: a method that ends its process would end the tests.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from unittest import mock

from depthgauge.cli import main

_CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as link:
    link.connect({address!r})
    call = json.dumps([os.getcwd(), sys.argv[1:]]).encode()
    socket.send_fds(link, [call], [1, 2])
    sys.exit(int(link.recv(16)))
"""
_RUNS = ("demo", "run", "rescore")


def run_bash(text: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in the current folder; `depthgauge` in it is run by this process."""
    with (
        tempfile.TemporaryDirectory() as place,
        socket.socket(socket.AF_UNIX) as server,
        open(Path(place, "out"), "w+", encoding="utf-8") as out,
        open(Path(place, "err"), "w+", encoding="utf-8") as err,
    ):
        address, client = Path(place, "socket"), Path(place, "depthgauge")
        client.write_text(_CLIENT.format(python=sys.executable, address=str(address)))
        client.chmod(0o755)
        server.bind(str(address))
        server.listen()
        path = os.pathsep.join([place, str(Path(sys.executable).parent), os.environ["PATH"]])
        with mock.patch.dict(os.environ, PATH=path):
            shell = subprocess.Popen(["bash", "-e", "-c", text], stdout=out, stderr=err)
            while shell.poll() is None:
                if select.select([server], [], [], 0.02)[0]:
                    _serve(server)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(text, shell.returncode, out.read(), err.read())


def _serve(server: socket.socket) -> None:
    link, _ = server.accept()
    with link:
        call, streams, _, _ = socket.recv_fds(link, 1 << 16, 2)
        folder, arguments = json.loads(call)
        if arguments[0] in _RUNS and "--workers" not in arguments:
            arguments += ["--workers", "0"]
        with open(streams[0], "w") as out, open(streams[1], "w") as err:
            code = _call(folder, arguments, out, err)
        link.sendall(str(code).encode())


def _call(folder: str, arguments: list[str], out, err) -> int:
    """The exit code of the command line, called as its own process would call it."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        stack.enter_context(warnings.catch_warnings())
        warnings.resetwarnings()
        for category in (DeprecationWarning, PendingDeprecationWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        before, sys.argv = sys.argv, ["depthgauge", *arguments]
        try:
            main()
        except SystemExit as ended:
            return int(ended.code or 0)
        finally:
            sys.argv = before
    raise AssertionError("the command line ends with SystemExit")
