"""The desk of a capture session: what one person can do in it by hand, each on a page."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, FastAPI, Response
from fastapi.responses import HTMLResponse

from depthgauge.capture.masks.segment_anything import SegmentAnything
from depthgauge.capture.steps import has_step
from depthgauge.serve.desk.access import Access
from depthgauge.serve.desk.cleaning import cleaning
from depthgauge.serve.desk.masking import masking
from depthgauge.serve.desk.session_parts import OnDesk, SessionDesk
from depthgauge.serve.desk.shell import make_shell
from depthgauge.serve.desk.tagging import tagging
from depthgauge.serve.web.rendering import rendered
from depthgauge.sessions import Session
from depthgauge.sessions.tags import has_tag_objects

session_desk = APIRouter(include_in_schema=False)


def make_session_desk(
    session: Session, work: Path, access: Access, networks: SegmentAnything | None = None
) -> FastAPI:
    """The pages of a session as an ASGI application."""
    app = make_shell(access, session_desk, cleaning, tagging, masking)
    app.state.session_desk = SessionDesk(session, work, networks)
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
        {
            "address": "/masks",
            "title": "Draw the material mask",
            "about": "Say which surfaces are glossy, distorting or clear, for scores by material.",
            "lacks": _lacks_pictures(here),
        },
    ]
    if has_tag_objects(here.session):
        tags = {
            "address": "/tags",
            "title": "Check the tags",
            "about": "Say what each tag sticks to and its layer, and set corners that were missed.",
            "lacks": "",
        }
        tasks = [tags] if not here.session.pattern_images("L") else [*tasks, tags]
    return HTMLResponse(rendered("session_desk.html.j2", name=here.session.name, tasks=tasks))


def _lacks_pictures(here: SessionDesk) -> str:
    if here.session.labels_on == "raw" or has_step(here.work, "rectify"):
        return ""
    return "depthgauge capture rectify"
