"""The shell of every desk: one folder, one kind of work, one person, this machine only.

    app = make_desk(access, pages, work=MyWork(folder))

`pages` is a router of FastAPI with the pages of that kind of work; it finds the work by `work_of`.
The shell adds what all desks share: who may come in, headers, scripts, style, and errors in words.
"""

from __future__ import annotations

import logging
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException

from depthgauge.errors import CannotWrite, DepthgaugeError, Refused
from depthgauge.serve.desk.access import Access, access_guard
from depthgauge.serve.web.answers import FOREVER
from depthgauge.serve.web.islands import islands
from depthgauge.serve.web.rendering import rendered, style_sheet
from depthgauge.serve.web.security import HEADERS, STATUS

_LOG = logging.getLogger("depthgauge.serve")

_shared = APIRouter(include_in_schema=False)


def make_desk(access: Access, pages: APIRouter, work: object) -> FastAPI:
    """A desk as an ASGI application.

    Args:
        access: Its port and token.
        pages: The pages of its kind of work; addresses below `/api/` answer in JSON.
        work: What the pages work on; `work_of(request)` gives it to them.
    """
    app = FastAPI(title="depthgauge", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.work = work
    app.middleware("http")(access_guard(access))
    for router in (_shared, islands, pages):
        app.include_router(router)
    app.add_exception_handler(Refused, _on_refusal)
    app.add_exception_handler(DepthgaugeError, _on_refusal)
    app.add_exception_handler(RequestValidationError, _on_bad_request)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(Exception, _on_fault)
    return app


def work_of(request: Request) -> Any:
    """What the pages of this desk work on."""
    return request.app.state.work


@_shared.get("/static/site.{digest}.css")
def style(digest: str) -> Response:
    """The style of all pages."""
    if digest != style_sheet().digest:
        raise Refused("not-found", "There is no such file")
    return Response(style_sheet().text, media_type="text/css", headers=FOREVER)


def _answer(request: Request, status: int, text: str) -> Response:
    sentence = text if text.endswith(".") else f"{text}."
    if request.url.path.startswith("/api/"):
        return JSONResponse({"ok": False, "error": sentence}, status)
    return HTMLResponse(rendered("desk_error.html.j2", text=sentence), status)


def _on_refusal(request: Request, error: Exception) -> Response:
    if isinstance(error, Refused):
        return _answer(request, STATUS[error.code], str(error))
    return _answer(request, 507 if isinstance(error, CannotWrite) else 422, str(error))


def _on_bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:])
    return _answer(request, 422, f"{where}: {first['msg']}")


def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _answer(request, error.status_code, "There is no such page")


def _on_fault(request: Request, error: Exception) -> Response:
    _LOG.error("a request failed", exc_info=error)
    answer = _answer(request, 500, "Something went wrong here; the terminal says what")
    answer.headers.update(HEADERS)  # what comes after a fault does not pass the guard
    return answer
