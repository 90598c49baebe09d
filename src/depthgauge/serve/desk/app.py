"""The application of one person's desk: a list of photographs, and the page to draw on each."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from depthgauge.annotate.records import Focal, read_records
from depthgauge.annotate.records.events import header_text
from depthgauge.errors import Cancelled, DepthgaugeError, Refused
from depthgauge.serve.desk.access import Access, owner_of
from depthgauge.serve.desk.drawings import Drawing
from depthgauge.serve.desk.photographs import IMAGES, Photograph, Prints, photographs, records_path
from depthgauge.serve.desk.presence import Rooms, pointed, told
from depthgauge.serve.desk.shell import make_shell
from depthgauge.serve.web.rendering import rendered

_MOST_OPEN = 8
_PACKED = 1
"""Level of gzip: a preview is packed in a few milliseconds, to about half."""

desk = APIRouter(include_in_schema=False)


@dataclass
class Desk:
    """What is on the desk: the folder, who draws, and the drawings that are open."""

    folder: Path
    who: str
    prints: Prints = field(default_factory=Prints)
    focal_px: Mapping[str, float] = field(default_factory=dict)
    """Focal lengths that are known without the camera's notes."""
    drawings: dict[str, Drawing] = field(default_factory=dict)
    rooms: Rooms = field(default_factory=Rooms)
    """Who has which photograph open; people who draw on the same ones share it."""
    alone: threading.Lock = field(default_factory=threading.Lock)
    listed: tuple[tuple[int, ...], dict[str, Photograph]] = field(default=((), {}))

    def listing(self) -> dict[str, Photograph]:
        """The photographs; the folder is read again when something came or went."""
        places = (self.folder, self.folder / IMAGES)
        changed = tuple(path.stat().st_mtime_ns for path in places if path.is_dir())
        with self.alone:
            if self.listed[0] != changed:
                self.listed = changed, photographs(self.folder)
            return self.listed[1]

    def photograph(self, name: str) -> Photograph:
        """A photograph by its id; only names that are in the folder lead anywhere."""
        found = self.listing().get(name)
        if found is None:
            raise Refused("not-found", "There is no such photograph in the folder")
        return found

    def drawing(self, name: str) -> Drawing:
        """The drawing on a photograph; the last few stay open."""
        photograph = self.photograph(name)
        with self.alone:
            if name not in self.drawings:
                shown = self.prints.shown(photograph)
                if name in self.focal_px:
                    shown = replace(shown, focal=Focal(self.focal_px[name], "given"))
                path = records_path(self.folder, self.who, name)
                self.drawings[name] = Drawing(shown, path, self.who)
            # The last used is at the end.
            self.drawings[name] = found = self.drawings.pop(name)
            while len(self.drawings) > _MOST_OPEN:
                self.drawings.pop(next(iter(self.drawings)))
            return found


class TabOnly(BaseModel):
    """Which tab of a browser asks."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tab: str = Field(min_length=1, max_length=64)


class Sent(TabOnly):
    """Events from a page."""

    events: list[dict[str, Any]] = Field(max_length=1000)


class Asked(TabOnly):
    """A question for a preview."""

    number: int = Field(ge=0)
    draft: list[dict[str, Any]] = Field(default=[], max_length=100)


def make_desk(folder: Path, who: str, access: Access) -> FastAPI:
    """The pages of one person as an ASGI application."""
    app = make_shell(access, desk)
    app.state.desk = Desk(folder, who)
    return app


def _desk(request: Request) -> Desk:
    found: Desk = request.app.state.desk
    return found


OnDesk = Annotated[Desk, Depends(_desk)]


@desk.get("/")
def overview(here: OnDesk) -> Response:
    """The photographs, and how far each is."""
    listed = [
        {"id": name, **_progress(records_path(here.folder, here.who, name))}
        for name in here.listing()
    ]
    return HTMLResponse(
        rendered("desk.html.j2", folder=here.folder.resolve().name, who=here.who, listed=listed)
    )


def _progress(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {"state": "not begun", "lines": 0, "normals": 0}
    try:
        found = read_records(path)
    except DepthgaugeError as error:
        return {"state": str(error), "lines": 0, "normals": 0}
    state = "finished" if found.finished else "begun"
    return {"state": state, "lines": len(found.strokes), "normals": len(found.normals)}


@desk.get("/draw/{name:path}")
def draw(name: str, here: OnDesk) -> Response:
    """The page to draw on one photograph."""
    header = here.drawing(name).header
    names = list(here.listing())
    after = names.index(name) + 1
    return HTMLResponse(
        rendered(
            "draw.html.j2",
            name=name,
            owner=owner_of(here.folder, here.who),
            picture=header.picture,
            following=names[after] if after < len(names) else None,
        )
    )


@desk.get("/pictures/small/{name:path}")
def small(name: str, here: OnDesk) -> Response:
    """A photograph for the list."""
    return _picture(here.prints.small(here.photograph(name)))


@desk.get("/pictures/{name:path}")
def picture(name: str, here: OnDesk) -> Response:
    """A photograph to draw on, without the camera's notes."""
    return _picture(here.prints.shown(here.photograph(name)).shown)


def _picture(content: bytes) -> Response:
    return Response(
        content, media_type="image/jpeg", headers={"Cache-Control": "private, no-cache"}
    )


@desk.get("/api/events/{name:path}")
def events(
    name: str,
    here: OnDesk,
    tab: str,
    since: int = 0,
    x: float | None = None,
    y: float | None = None,
) -> Response:
    """The header, the events after the first `since`, and who else has the photograph open.

    `x` and `y` are where this tab points, for the others.
    """
    drawing = here.drawing(name)
    present = here.rooms.of(name).seen(tab[:64], here.who, pointed(x, y))
    return _story(drawing, since, told(present, here.who))


def watched(name: str, here: Desk) -> Response:
    """What is drawn, for somebody who only looks."""
    return _story(here.drawing(name), 0, [])


def _story(drawing: Drawing, since: int, present: list[dict[str, Any]]) -> Response:
    revision, lines = drawing.story(max(0, since))
    others = sum(one["own"] for one in present)
    body = f'{{"ok":true,"revision":{revision},"others":{others},"here":{json.dumps(present)},'
    body += f'"header":{header_text(drawing.header)},"events":[{",".join(lines)}]}}'
    return Response(body, media_type="application/json")


@desk.post("/api/events/{name:path}")
def send(name: str, sent: Sent, here: OnDesk) -> Response:
    """Stores events; those that were stored before are not stored twice."""
    drawing = here.drawing(name)
    here.rooms.of(name).seen(sent.tab, here.who)
    found = drawing.store(sent.events)
    body = {
        "ok": not found.full,
        "revision": found.revision,
        "kept": found.kept,
        "refused": {str(place): text for place, text in found.refused.items()},
    }
    if found.full:
        body["error"] = f"It could not be saved: {found.full}"
    return JSONResponse(body, 507 if found.full else 200)


@desk.post("/api/leave/{name:path}")
def leave(name: str, body: TabOnly, here: OnDesk) -> Response:
    """A tab was closed."""
    here.drawing(name).forget(body.tab)
    here.rooms.of(name).leave(body.tab)
    return JSONResponse({"ok": True})


@desk.post("/api/preview/{name:path}")
def preview(name: str, asked: Asked, here: OnDesk, request: Request) -> Response:
    """The surfaces; 204 for a question that was asked again since."""
    try:
        body = here.drawing(name).preview(asked.tab, asked.number, asked.draft)
    except Cancelled:
        return Response(status_code=204)
    headers = {}
    if "gzip" in request.headers.get("accept-encoding", ""):
        body, headers = gzip.compress(body, _PACKED, mtime=0), {"Content-Encoding": "gzip"}
    return Response(body, media_type="application/octet-stream", headers=headers)
