"""The desk of a capture session: what one person can do in it by hand, each on a page."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.responses import HTMLResponse

from depthgauge.capture.steps import has_step
from depthgauge.serve.desk.access import Access
from depthgauge.serve.desk.shell import make_shell
from depthgauge.serve.web.rendering import rendered
from depthgauge.sessions import Session

Part = TypeVar("Part")

session_desk = APIRouter(include_in_schema=False)


@dataclass
class SessionDesk:
    """A session on the desk; its parts are opened when a page first needs them."""

    session: Session
    work: Path
    _parts: dict[type[Any], Any] = field(default_factory=dict)
    _alone: threading.Lock = field(default_factory=threading.Lock)

    def part(self, kind: type[Part], make: Callable[[Session, Path], Part]) -> Part:
        """The one object of its kind for this session."""
        with self._alone:
            if kind not in self._parts:
                self._parts[kind] = make(self.session, self.work)
            found: Part = self._parts[kind]
            return found


def _desk(request: Request) -> SessionDesk:
    found: SessionDesk = request.app.state.session_desk
    return found


OnDesk = Annotated[SessionDesk, Depends(_desk)]


def make_session_desk(session: Session, work: Path, access: Access) -> FastAPI:
    """The pages of a session as an ASGI application."""
    from depthgauge.serve.desk.cleaning import cleaning

    app = make_shell(access, session_desk, cleaning)
    app.state.session_desk = SessionDesk(session, work)
    return app


@session_desk.get("/")
def overview(here: OnDesk) -> Response:
    """What can be done by hand in this session."""
    tasks = [
        {
            "address": "/clean",
            "title": "Clean the point cloud",
            "about": "Remove wrong points with lasso and brush, guided by the standard deviation.",
            "lacks": "" if has_step(here.work, "refine") else "depthgauge capture refine",
        },
    ]
    return HTMLResponse(rendered("session_desk.html.j2", name=here.session.name, tasks=tasks))
