"""What the pages of one person have in common: access, style, scripts, and refusals in words."""

from __future__ import annotations

import logging

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

shell = APIRouter(include_in_schema=False)


def make_shell(access: Access, *pages: APIRouter) -> FastAPI:
    """An ASGI application with these pages, for who has the token."""
    app = FastAPI(title="depthgauge", docs_url=None, redoc_url=None, openapi_url=None)
    app.middleware("http")(access_guard(access))
    for router in (*pages, shell, islands):
        app.include_router(router)
    app.add_exception_handler(Refused, _on_refusal)
    app.add_exception_handler(DepthgaugeError, _on_refusal)
    app.add_exception_handler(RequestValidationError, _on_bad_request)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(Exception, _on_fault)
    return app


@shell.get("/static/site.{digest}.css")
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
