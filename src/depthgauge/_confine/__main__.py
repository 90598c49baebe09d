"""Hides folders, and becomes another program: `python -m depthgauge._confine SOCKET PROGRAM...`.

What to hide comes through the socket: a command line can be read by everybody. Nothing but the
standard library is loaded here, so that there are no threads, which would stay as they are.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import Any

from depthgauge._confine.family import end_with_parent
from depthgauge._confine.ways import CannotHide, hide

_LENGTH = struct.Struct("<I")


def main() -> None:
    """Reads `{"hide": [...], "ways": [...]}`, answers with what was done, goes on."""
    pipe = socket.socket(fileno=int(sys.argv[1]))
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    message = _receive(pipe)
    answer = {"hidden_by": "", "why_not_hidden": "", "temporary": ""}
    try:
        way, temporary = hide([Path(path) for path in message["hide"]], message["ways"])
        answer |= {"hidden_by": way, "temporary": str(temporary or "")}
    except CannotHide as error:
        answer["why_not_hidden"] = str(error)
    body = json.dumps(answer).encode()
    pipe.sendall(_LENGTH.pack(len(body)) + body)
    program = [*sys.argv[2:], str(pipe.fileno())]
    pipe.set_inheritable(True)
    os.execv(program[0], program)


def _receive(pipe: socket.socket) -> Any:
    (length,) = _LENGTH.unpack(_exactly(pipe, _LENGTH.size))
    return json.loads(_exactly(pipe, length))


def _exactly(pipe: socket.socket, n: int) -> bytes:
    body = b""
    while len(body) < n:
        part = pipe.recv(n - len(body))
        if not part:
            raise EOFError
        body += part
    return body


if __name__ == "__main__":
    main()
