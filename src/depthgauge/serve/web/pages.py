"""The pages of submissions."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from depthgauge.errors import BadData, BadFile, Refused
from depthgauge.serve import reports
from depthgauge.serve.storage.blobs import require_space
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
    _require_length(request, most, "archive")


def _require_length(request: Request, most: int, what: str) -> None:
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > most + _FORM_BYTES:
        raise Refused("invalid", f"The {what} may have at most {most >> 20} MiB")


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
        report = {"open": not found.benchmark.hidden, "there": reports.report_of(session, found.id)}
    return page(request, "submission", user, one=shown, own=own, report=report)


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


@pages.post("/submissions/{submission_id}/report")
async def attach(request: Request, submission_id: str, user: Member) -> Response:
    """Takes the report of a run from the page of a submission."""
    _require_length(request, reports.MOST_BYTES, "report")
    async with request.form(max_files=1, max_fields=4, max_part_size=_FORM_BYTES) as form:
        require_own_form(request, str(form.get("csrf", "")))
        report = form.get("report")
        if not isinstance(report, UploadFile) or not report.size:
            raise Refused("invalid", "Choose the report.html that depthgauge report wrote")
        await run_in_threadpool(_attach, web_of(request), user, submission_id, report)
    return RedirectResponse(f"/submissions/{submission_id}", 303)


def _attach(web: Any, user: User, submission_id: str, report: UploadFile) -> None:
    with reading(web.database) as session:
        views.own_submission(session, user, submission_id)
    require_space(web.site.uploads, report.size or 0)
    with tempfile.TemporaryDirectory(dir=web.site.uploads) as folder:
        path = Path(folder) / "sent.html"
        with open(path, "wb") as file:
            shutil.copyfileobj(report.file, file, _BLOCK)
        try:
            reports.attach_report(web.site, web.database, submission_id, path)
        except BadFile:
            most = reports.MOST_BYTES >> 20
            text = f"That is no report.html of depthgauge report, of at most {most} MiB"
            raise Refused("invalid", text) from None
        except BadData:
            raise Refused("conflict", "Only a submission with scores has a report") from None
