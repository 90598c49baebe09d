"""The JSON API: the same as the pages, for programs; its schema is at `/api/openapi.json`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from depthgauge.errors import Refused
from depthgauge.serve.storage.database import reading
from depthgauge.serve.storage.models import User
from depthgauge.serve.submissions import intake
from depthgauge.serve.web import publishing, views
from depthgauge.serve.web.security import bearer, web_of

PIECE_BYTES = 8 << 20
"""The longest piece of an upload."""

Submitter = Annotated[User, Depends(bearer("submit"))]
Reader = Annotated[User, Depends(bearer("read"))]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """What every answer that is no success says."""

    ok: Literal[False] = False
    error: str
    """One sentence."""
    code: str
    """For programs."""


class Announcement(_Strict):
    """An archive that will be sent."""

    size: int = Field(gt=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Received(BaseModel):
    """How far an upload is."""

    id: str
    received: int
    size: int
    piece_bytes: int = PIECE_BYTES


class NewSubmission(_Strict):
    """What an author says about a submission."""

    method: str
    version: str = ""
    details: dict[str, str] = {}
    dry_run: bool = False
    accept_terms: bool = False
    """Of the benchmark, if it has some."""


class Publication(_Strict):
    """Who may see an entry."""

    visibility: Literal["private", "public", "baseline"]


RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem} for status in (401, 403, 404, 409, 422, 429)
}
api = APIRouter(prefix="/api", responses=RESPONSES)


@api.post("/benchmarks/{benchmark_id}/uploads", status_code=201)
def begin_upload(
    request: Request, benchmark_id: str, announced: Announcement, user: Submitter
) -> Received:
    """Announces an archive; its pieces follow."""
    web = web_of(request)
    upload = intake.begin_upload(
        web.site, web.database, user, benchmark_id, announced.size, announced.sha256
    )
    return get_upload(request, upload, user)


@api.get("/uploads/{upload_id}")
def get_upload(request: Request, upload_id: str, user: Submitter) -> Received:
    """Where to go on with an upload that was interrupted."""
    web = web_of(request)
    with reading(web.database) as session:
        upload = intake.find_upload(session, user, upload_id)
    return Received(id=upload.id, received=intake.received(web.site, upload), size=upload.size)


@api.put("/uploads/{upload_id}")
async def put_piece(request: Request, upload_id: str, offset: int, user: Submitter) -> Received:
    """Adds a piece, which begins at `offset`; its bytes are the body."""
    piece = bytearray()
    async for part in request.stream():
        piece += part
        if len(piece) > PIECE_BYTES:
            raise Refused("invalid", f"A piece has at most {PIECE_BYTES} bytes")
    web = web_of(request)

    def add() -> Received:
        with reading(web.database) as session:
            upload = intake.find_upload(session, user, upload_id)
        received = intake.append(web.site, upload, offset, bytes(piece))
        return Received(id=upload.id, received=received, size=upload.size)

    return await run_in_threadpool(add)


@api.post("/uploads/{upload_id}/submit", status_code=202)
def submit(request: Request, upload_id: str, new: NewSubmission, user: Submitter) -> dict[str, Any]:
    """Puts a complete upload into the queue."""
    web = web_of(request)
    entry = intake.Entry(new.method, new.version, new.details, new.dry_run, new.accept_terms)
    made = intake.submit(web.site, web.database, user, upload_id, entry)
    return get_submission(request, made.id, user)


@api.get("/submissions")
def list_submissions(request: Request, user: Reader) -> list[dict[str, Any]]:
    """The submissions of the token's team."""
    with reading(web_of(request).database) as session:
        return views.submissions_of(session, user)


@api.get("/submissions/{submission_id}")
def get_submission(request: Request, submission_id: str, user: Reader) -> dict[str, Any]:
    """One submission: its state, and its scores once it has some."""
    with reading(web_of(request).database) as session:
        found = views.find_submission(session, user, submission_id)
        return views.submission_view(session, found, user)


@api.post("/submissions/{submission_id}/withdraw")
def withdraw(request: Request, submission_id: str, user: Submitter) -> dict[str, Any]:
    """Takes a submission back; it stays in the quota."""
    return publishing.withdraw(request, user, submission_id)


@api.post("/submissions/{submission_id}/visibility")
def set_visibility(
    request: Request, submission_id: str, wanted: Publication, user: Submitter
) -> dict[str, Any]:
    """Shows an entry on the leaderboard, or takes it off."""
    return publishing.publish(request, user, submission_id, wanted.visibility)
