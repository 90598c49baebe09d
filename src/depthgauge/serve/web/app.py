"""The application: pages and API of one site."""

from __future__ import annotations

import errno
import logging

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DataError
from starlette.exceptions import HTTPException

from depthgauge import __version__
from depthgauge.errors import CannotWrite, Refused
from depthgauge.serve.site import Site
from depthgauge.serve.storage.database import Database
from depthgauge.serve.web.account_pages import account_pages
from depthgauge.serve.web.admin_pages import admin_pages
from depthgauge.serve.web.annotation_pages import Studio, annotation_pages
from depthgauge.serve.web.answers import Caches
from depthgauge.serve.web.api import api
from depthgauge.serve.web.boards import boards
from depthgauge.serve.web.compare_pages import compare_pages
from depthgauge.serve.web.islands import islands
from depthgauge.serve.web.kept import kept
from depthgauge.serve.web.method_pages import method_pages
from depthgauge.serve.web.metrics import metrics
from depthgauge.serve.web.pages import pages
from depthgauge.serve.web.reading_api import reading_api
from depthgauge.serve.web.rendering import page
from depthgauge.serve.web.sample_pages import sample_pages
from depthgauge.serve.web.security import HEADERS, STATUS, Web, guard
from depthgauge.serve.web.settings import WebSettings
from depthgauge.serve.web.site_pages import site_pages
from depthgauge.serve.web.study_pages import OpenStudies, study_pages

ROUTERS = (
    api,
    reading_api,
    site_pages,
    boards,
    pages,
    account_pages,
    admin_pages,
    islands,
    kept,
    sample_pages,
    method_pages,
    compare_pages,
    metrics,
    annotation_pages,
    study_pages,
)
_LOG = logging.getLogger("depthgauge.serve")


def make_app(site: Site, database: Database, settings: WebSettings) -> FastAPI:
    """The site as an ASGI application."""
    app = FastAPI(
        title="depthgauge",
        version=__version__,
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.web = Web(site, database, settings)
    app.middleware("http")(guard)
    app.state.caches = Caches()
    app.state.studio = Studio()
    app.state.studies = OpenStudies()
    for router in ROUTERS:
        app.include_router(router)
    app.add_exception_handler(Refused, _on_refusal)
    app.add_exception_handler(RequestValidationError, _on_bad_request)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(DataError, _on_bad_value)
    app.add_exception_handler(CannotWrite, _on_full_disk)
    app.add_exception_handler(OSError, _on_system_error)
    app.add_exception_handler(Exception, _on_fault)
    return app


def _answer(request: Request, status: int, code: str, text: str) -> Response:
    """One shape of errors: JSON for the API, a page for people."""
    sentence = text if text.endswith(".") else f"{text}."
    if "/api/" in request.url.path:
        return JSONResponse({"ok": False, "error": sentence, "code": code}, status)
    return page(request, "error", None, status=status, text=sentence)


def _on_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return _answer(request, STATUS[error.code], error.code, str(error))


def _on_bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:])
    return _answer(request, 422, "invalid", f"{where}: {first['msg']}")


def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "not-found", 405: "invalid"}.get(error.status_code, "invalid")
    text = {404: "There is no such page", 405: "That is not possible here"}
    return _answer(request, error.status_code, code, text.get(error.status_code, "Bad request"))


def _on_bad_value(request: Request, _error: Exception) -> Response:
    # PostgreSQL has no NUL in texts and no integers of any size, SQLite has both.
    return _answer(request, 422, "invalid", "A text or a number of the request is not possible")


def _on_full_disk(request: Request, error: Exception) -> Response:
    _LOG.error("%s", error)
    return _answer(request, 507, "full", "The site has no room for it now; try again later")


def _on_system_error(request: Request, error: Exception) -> Response:
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return _on_full_disk(request, error) if full else _on_fault(request, error)


def _on_fault(request: Request, error: Exception) -> Response:
    _LOG.error("a request failed", exc_info=error)
    answer = _answer(request, 500, "fault", "Something went wrong on this site; it was noted")
    answer.headers.update(HEADERS)  # what comes after a fault does not pass the guard
    return answer
