"""Who asks, from where, and whether a form is ours; headers of every answer."""

from __future__ import annotations

import hmac
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from depthgauge.errors import Refused
from depthgauge.serve.accounts import rates
from depthgauge.serve.accounts.people import user_of_session, user_of_token
from depthgauge.serve.accounts.secrets import secret_hash
from depthgauge.serve.site import Site
from depthgauge.serve.storage.database import Database, reading
from depthgauge.serve.storage.models import User
from depthgauge.serve.web.settings import WebSettings

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data: blob:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    # Not `no-referrer`: with it, browsers send forms without their origin, and we refuse them.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
STATUS = {
    "login": 401,
    "forbidden": 403,
    "not-found": 404,
    "conflict": 409,
    "closed": 409,
    "terms": 422,
    "invalid": 422,
    "rate": 429,
    "quota": 429,
}
_MOST_FORM = 64 << 10
_NOT_OURS = "This form was not sent from this site; load the page again"
_LOCAL = ("127.0.0.1", "::1", "localhost", "[::1]")
_FORWARDED = ("x-forwarded-for", "forwarded", "x-real-ip", "via")


@dataclass(slots=True)
class Traffic:
    """What this web process has answered since it started."""

    responses: Counter[str] = field(default_factory=Counter)
    """By the first digit of the status: `2xx`."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Web:
    """What every request needs."""

    site: Site
    database: Database
    settings: WebSettings
    traffic: Traffic = field(default_factory=Traffic)


def web_of(request: Request) -> Web:
    """The site that a request is for."""
    found: Web = request.app.state.web
    return found


def client_address(request: Request) -> str:
    """Where a request comes from; what a proxy says counts only if the proxy is trusted."""
    address = request.client.host if request.client else ""
    if address in web_of(request).settings.trusted_proxies:
        forwarded = request.headers.get("x-forwarded-for", "").split(",")[-1].strip()
        return forwarded or address
    return address


def visitor(request: Request) -> User | None:
    """Who is logged in with this browser."""
    secret = session_secret(request)
    if not secret:
        return None
    with reading(web_of(request).database) as session:
        return user_of_session(session, secret)


def session_secret(request: Request) -> str:
    """The secret in the cookie; empty if there is none."""
    return request.cookies.get(web_of(request).settings.cookie, "")


def member(request: Request) -> User:
    """Who is logged in.

    Raises:
        Refused: Nobody is.
    """
    user = visitor(request)
    if user is None:
        raise Refused("login", "Log in first")
    return user


def admin(request: Request) -> User:
    """Who is logged in, if it is an admin; for everybody else the page does not exist.

    Raises:
        Refused: It is not.
    """
    user = visitor(request)
    if user is None or user.role != "admin":
        raise Refused("not-found", "There is no such page")
    return user


def bearer(scope: str) -> Callable[[Request], User]:
    """Whose token comes with a request to the API; cookies do not count there."""

    def find(request: Request) -> User:
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not secret:
            raise Refused("login", "Send a token: Authorization: Bearer dg_...")
        with reading(web_of(request).database) as session:
            return user_of_token(session, secret.strip(), scope)

    return find


def csrf_token(request: Request) -> str:
    """What forms of this session carry; nobody without the cookie can know it."""
    secret = session_secret(request)
    return secret_hash(f"csrf:{secret}") if secret else ""


def require_own_form(request: Request, given: str) -> None:
    """Requires that a form was sent from a page of ours, by this session.

    Raises:
        Refused: It was not.
    """
    require_own_origin(request)
    token = csrf_token(request)
    if token and not hmac.compare_digest(token.encode(), given.encode()):
        raise Refused("forbidden", _NOT_OURS)


def require_own_origin(request: Request) -> None:
    """Requires that a browser sent this from a page of ours.

    Raises:
        Refused: It did not.
    """
    origin = request.headers.get("origin", "").lower()
    own = origin == web_of(request).settings.origin or (
        not origin and request.headers.get("sec-fetch-site") == "same-origin"
    )
    if not own:
        raise Refused("forbidden", _NOT_OURS)


async def form_of(request: Request) -> Mapping[str, str]:
    """The fields of a form of ours.

    Raises:
        Refused: It is too long, of another type, or of another site.
    """
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        raise Refused("invalid", "That is no form of this site")
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST_FORM:
            raise Refused("invalid", "The form is too long")
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=50)
    found = {name: values[-1] for name, values in fields.items()}
    require_own_form(request, found.get("csrf", ""))
    return found


async def guard(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    """Refuses other hosts, adds the headers of every answer, and counts."""
    web, begun = web_of(request), time.perf_counter()
    own = request.headers.get("host", "").lower() == web.settings.host
    if not (own or (request.url.path == "/metrics" and is_local(request))):
        answer: Response = JSONResponse(
            {"ok": False, "error": f"This is {web.settings.host}", "code": "invalid"}, 421
        )
    else:
        answer = await call_next(request)
    for name, value in HEADERS.items():
        answer.headers.setdefault(name, value)
    answer.headers.setdefault("Cache-Control", "no-store")
    if web.settings.is_secure:
        answer.headers.setdefault("Strict-Transport-Security", "max-age=31536000")
    web.traffic.responses[f"{answer.status_code // 100}xx"] += 1
    web.traffic.seconds += time.perf_counter() - begun
    return answer


def is_local(request: Request) -> bool:
    """Whether a request comes from this machine, and not through a proxy on it.

    A proxy passes on the host that it was asked for, or says for whom it asks.
    """
    client = request.client.host if request.client else ""
    host = request.headers.get("host", "").rpartition(":")[0]
    forwarded = any(name in request.headers for name in _FORWARDED)
    return client in _LOCAL and host in _LOCAL and not forwarded


def require_pace(request: Request) -> None:
    """Counts attempts with links and codes by address.

    Raises:
        Refused: There were too many.
    """
    rates.require_rate(web_of(request).database, rates.LINKS_BY_ADDRESS, client_address(request))
