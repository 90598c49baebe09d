"""Runs one person's desk until it is stopped."""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from depthgauge.errors import BadData, Misuse
from depthgauge.serve.desk.access import HOST, Access, token_of
from depthgauge.serve.desk.app import make_desk
from depthgauge.serve.desk.photographs import photographs

PORT = 8410


def run_desk(
    folder: Path,
    *,
    who: str = "",
    port: int = PORT,
    on_ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serves the pages of one person; ends with Ctrl-C.

    Args:
        folder: The photographs, in it or in its `images`; records are written to its `records`.
        who: The name of the person, a folder of the records; by default the user's.
        port: The port on this machine; 0 takes any that is free.
        on_ready: Called with the address when it is known.

    Raises:
        BadData: There are no photographs, or the port is taken.
        Misuse: The name cannot be that of a folder.
    """
    photographs(folder)
    person = _person(who)
    run_pages(folder, lambda access: make_desk(folder, person, access), port, on_ready)


def run_pages(
    folder: Path,
    make: Callable[[Access], FastAPI],
    port: int = PORT,
    on_ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serves any pages of one person on this machine; ends with Ctrl-C.

    Args:
        folder: What the pages are about; it has a token of its own.
        make: Makes the application.
        port: The port on this machine; 0 takes any that is free.
        on_ready: Called with the address when it is known.

    Raises:
        BadData: The port is taken.
    """
    with bound(port) as listening:
        access = Access(listening.getsockname()[1], token_of(folder))
        settings = uvicorn.Config(
            make(access),
            proxy_headers=False,
            server_header=False,
            access_log=False,
            log_level="warning",
        )
        on_ready(access.address)
        uvicorn.Server(settings).run(sockets=[listening])


def _person(who: str) -> str:
    if not who:
        try:
            who = getpass.getuser()
        except (OSError, KeyError, ImportError):
            who = "me"
    if not re.fullmatch(r"[^\W_][\w .@-]{0,63}", who):
        raise Misuse(f"--who is '{who}'; it names a folder: letters, digits, spaces, . @ - or _.")
    return who


def bound(port: int) -> socket.socket:
    """A socket of this machine only that listens.

    Raises:
        BadData: The port is taken.
    """
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        why = f"{HOST}:{port} cannot be used ({error.strerror}); choose another with --port."
        raise BadData(why) from None
    return listening
