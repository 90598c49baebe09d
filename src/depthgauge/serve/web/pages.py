"""The pages of submissions."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from depthgauge.errors import Refused
from depthgauge.serve.storage.database import reading
from depthgauge.serve.storage.models import User
from depthgauge.serve.submissions import intake
from depthgauge.serve.submissions.details import DETAILS
from depthgauge.serve.web import publishing, views
from depthgauge.serve.web.rendering import page
from depthgauge.serve.web.security import form_of, member, require_own_form, visitor, web_of

Visitor = Annotated[User | None, Depends(visitor)]
Member = Annotated[User, Depends(member)]
Form = Annotated[dict[str, str], Depends(form_of)]
_BLOCK = 4 << 20
_FORM_BYTES = 1 << 20

pages = APIRouter(include_in_schema=False)


@pages.post("/benchmarks/{benchmark_id}/submit")
async def submit(request: Request, benchmark_id: str, user: Member) -> Response:
    """Takes an archive from the page of a benchmark."""
    web = web_of(request)
    await run_in_threadpool(_require_size, request, benchmark_id)
    async with request.form(max_files=1, max_fields=40, max_part_size=_FORM_BYTES) as form:
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        require_own_form(request, fields.get("csrf", ""))
        archive = form.get("archive")
        if not isinstance(archive, UploadFile) or not archive.size:
            raise Refused("invalid", "Choose the archive")
        entry = intake.Entry(
            fields.get("method", ""),
            fields.get("version", ""),
            {name: fields.get(name, "") for name in DETAILS},
            fields.get("dry_run") == "yes",
            fields.get("accept_terms") == "yes",
        )
        made = await run_in_threadpool(_take_in, web, user, benchmark_id, archive, entry)
    return RedirectResponse(f"/submissions/{made}", 303)


def _require_size(request: Request, benchmark_id: str) -> None:
    """Requires a length that can be an archive's, before any of it is read."""
    with reading(web_of(request).database) as session:
        most = views.find_benchmark_row(session, benchmark_id).most_bytes
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > most + _FORM_BYTES:
        raise Refused("invalid", f"The archive may have at most {most >> 20} MiB")


def _take_in(web: Any, user: User, benchmark_id: str, archive: UploadFile, entry: Any) -> str:
    digest, size = hashlib.sha256(), 0
    while block := archive.file.read(_BLOCK):
        digest.update(block)
        size += len(block)
    sha256 = digest.hexdigest()
    upload_id = intake.begin_upload(web.site, web.database, user, benchmark_id, size, sha256)
    with reading(web.database) as session:
        upload = intake.find_upload(session, user, upload_id)
    # What was refused for another reason is here already: the same archive goes on where it is.
    offset = intake.received(web.site, upload)
    archive.file.seek(offset)
    while block := archive.file.read(_BLOCK):
        offset = intake.append(web.site, upload, offset, block)
    return intake.submit(web.site, web.database, user, upload_id, entry).id


@pages.get("/submissions/{submission_id}")
def submission(request: Request, submission_id: str, user: Visitor) -> HTMLResponse:
    """A submission: its state, problems, scores."""
    with reading(web_of(request).database) as session:
        found = views.find_submission(session, user, submission_id)
        shown = views.submission_view(session, found, user)
        own = views.is_own(found, user)
    return page(request, "submission", user, one=shown, own=own)


@pages.post("/submissions/{submission_id}/withdraw")
def withdraw(request: Request, submission_id: str, user: Member, _form: Form) -> Response:
    """Takes a submission back."""
    publishing.withdraw(request, user, submission_id)
    return RedirectResponse(f"/submissions/{submission_id}", 303)


@pages.post("/submissions/{submission_id}/visibility")
def set_visibility(request: Request, submission_id: str, user: Member, form: Form) -> Response:
    """Publishes an entry, or takes it off the leaderboard."""
    publishing.publish(request, user, submission_id, form.get("visibility", ""))
    return RedirectResponse(f"/submissions/{submission_id}", 303)
