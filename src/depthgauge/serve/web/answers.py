"""Answers that are the same for all visitors: made once, sent packed, not sent twice."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request, Response
from sqlalchemy import func, select
from starlette.concurrency import run_in_threadpool

from depthgauge.serve.leaderboards.states import LeastRecent, StateCache
from depthgauge.serve.storage.database import now, reading
from depthgauge.serve.storage.models import AuditEntry, User
from depthgauge.serve.web.security import session_secret, visitor, web_of

FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
"""For what has its hash in its address."""
_MOST_PAGES, _MOST_STATES = 512, 16
_LEVEL = 5


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer as it is kept."""

    etag: str
    packed: bytes
    media_type: str
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Caches:
    """What the web process keeps in memory."""

    states: StateCache = field(default_factory=lambda: StateCache(_MOST_STATES))
    pages: LeastRecent[KeptAnswer] = field(default_factory=lambda: LeastRecent(_MOST_PAGES))


async def reader(request: Request) -> User | None:
    """Who is logged in; for the many who are not, nothing waits for a thread."""
    if not session_secret(request):
        return None
    return await run_in_threadpool(visitor, request)


Reader = Annotated[User | None, Depends(reader)]


def caches_of(request: Request) -> Caches:
    """The caches of the site that a request is for."""
    found: Caches = request.app.state.caches
    return found


def public_answer(
    request: Request, user: User | None, key: Hashable, make: Callable[[], Response]
) -> Response:
    """An answer that depends on nothing but its address and what is public.

    For visitors without an account it is kept until anything changes: every change is in the audit
    log, so the number of its last entry says whether there was one. Members have their name and
    secrets of forms on their pages, so theirs are made anew, and not packed (which would let the
    length of a page tell about its secrets).

    Args:
        request: The request.
        user: Who asks.
        key: What distinguishes it from other answers of this site.
        make: Makes it.
    """
    if user is not None:
        return make()
    with reading(web_of(request).database) as session:
        generation = session.scalar(select(func.max(AuditEntry.id)))
    # Phases open and close without anybody doing anything.
    kept = caches_of(request).pages.get((generation, now() // 60, key), lambda: _pack(make()))
    headers = {
        **kept.headers,
        "ETag": kept.etag,
        "Cache-Control": "public, no-cache",
        "Vary": "Accept-Encoding, Cookie",
    }
    if kept.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(gzip.decompress(kept.packed), 200, headers, kept.media_type)
    headers["Content-Encoding"] = "gzip"
    return Response(kept.packed, 200, headers, kept.media_type)


def _pack(answer: Response) -> KeptAnswer:
    body = bytes(answer.body)
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    extra = {n: v for n, v in answer.headers.items() if n == "content-disposition"}
    packed = gzip.compress(body, _LEVEL, mtime=0)
    return KeptAnswer(etag, packed, answer.headers["content-type"], extra)
