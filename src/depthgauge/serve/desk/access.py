"""Who may use the pages of one person: who has the address that the terminal showed.

The page listens on this machine only. A token in that address becomes a cookie; requests for other
hosts, changes from other origins, and everything without the token are refused.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from fastapi import Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from depthgauge.serve.web.security import HEADERS

HOST = "127.0.0.1"
_MOST_BODY = 16 << 20


@dataclass(frozen=True, slots=True)
class Access:
    """The address of the pages and its token."""

    port: int
    token: str

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a browser on this machine may call it."""
        return f"{HOST}:{self.port}", f"localhost:{self.port}"

    @property
    def cookie(self) -> str:
        """Cookies know no ports, so its name does."""
        return f"dg-desk-{self.port}"


def owner_of(folder: Path, who: str = "") -> str:
    """Whose unsent work a browser keeps: of one folder and one person.

    Desks of different folders may have the same address one after the other.
    """
    name = f"{folder.resolve()}\0{who}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(name).hexdigest()[:16]


def token_of(folder: Path) -> str:
    """The token of a folder: the same after a restart, so that open pages go on working.

    It is kept for this user only. Where nothing can be kept, it is a new one each time.
    """
    kept = os.environ.get("XDG_STATE_HOME")
    home = Path(kept) if kept else Path.home() / ".local" / "state"
    name = hashlib.sha256(str(folder.resolve()).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    path = home / "depthgauge" / "desk" / f"{name}.token"
    fresh = secrets.token_urlsafe(24)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read(path) or fresh
    except OSError:
        return fresh
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(fresh)
    return fresh


def _read(path: Path) -> str:
    try:
        text = path.read_text("ascii").strip()
        # A token that others can read is none.
        return text if len(text) >= 24 and not path.stat().st_mode & 0o077 else ""
    except (OSError, UnicodeDecodeError):
        return ""


def access_guard(
    access: Access,
) -> Callable[[Request, Callable[[Request], Awaitable[Response]]], Awaitable[Response]]:
    """The check of every request, and the headers of every answer."""

    async def guard(
        request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        answer = _refusal(request, access) or _entrance(request, access) or await call_next(request)
        for name, value in HEADERS.items():
            answer.headers.setdefault(name, value)
        answer.headers.setdefault("Cache-Control", "no-store")
        return answer

    return guard


def _refusal(request: Request, access: Access) -> Response | None:
    """Why a request is not answered; None if it is."""
    host = request.headers.get("host", "").lower()
    if host not in access.hosts:
        return _no(421, f"This is {access.hosts[0]}.")
    if request.method not in ("GET", "HEAD"):
        if request.headers.get("origin", "").lower() != f"http://{host}":
            return _no(403, "This was not sent from a page of this desk; load the page again.")
        length = request.headers.get("content-length", "")
        if not length.isdigit() or int(length) > _MOST_BODY:
            return _no(413, "That is too much at once.")
    return None


def _entrance(request: Request, access: Access) -> Response | None:
    """Takes the token from the address, and asks for it where there is none."""
    given = request.query_params.get("token", "")
    if given and request.method == "GET":
        if not _same(given, access.token):
            return _no(403, "This token is not of this desk; open the address in the terminal.")
        # The address without the token is what stays in the history of the browser.
        answer = RedirectResponse(urlsplit(str(request.url)).path or "/", 303)
        answer.set_cookie(access.cookie, access.token, httponly=True, samesite="strict")
        return answer
    if not _same(request.cookies.get(access.cookie, ""), access.token):
        return _no(403, "Open the address that the terminal shows; it has a token.")
    return None


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _no(status: int, text: str) -> Response:
    return JSONResponse({"ok": False, "error": text}, status)
