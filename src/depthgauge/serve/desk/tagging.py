"""The page on which a person checks the tags of objects: materials, layers, missed corners."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, JSONResponse
from numpy.typing import NDArray
from pydantic import Field

from depthgauge import io
from depthgauge.capture.by_hand.tag_edits import (
    HISTORY,
    note_event,
    tag_corrections,
    tag_event,
    tag_notes,
)
from depthgauge.capture.tags.corrections import FILE, TAGGED_VIEWS, write_corrections
from depthgauge.capture.tags.detect import snapped
from depthgauge.capture.tags.one_object import found_tags, read_notes
from depthgauge.errors import DepthgaugeError, Refused
from depthgauge.serve.desk.access import owner_of
from depthgauge.serve.desk.journal import Event, Journal
from depthgauge.serve.desk.journal_api import FromTab, SentEvents, stored, story
from depthgauge.serve.desk.pictures import jpeg, reduced
from depthgauge.serve.desk.session_parts import OnDesk, SessionDesk
from depthgauge.serve.web.rendering import rendered
from depthgauge.sessions import Session
from depthgauge.sessions.tags import TagObject, tag_objects, write_annotations

_SHOWN_PX = 4096
_FOUND = ".tags"

tagging = APIRouter(include_in_schema=False)


class Rough(FromTab):
    """Corners that a person pointed at."""

    view: str = Field(max_length=8)
    corners_px: list[list[float]] = Field(min_length=4, max_length=4)


class Tagging:
    """The tags of a session's objects."""

    def __init__(self, session: Session, work: Path) -> None:
        """Lists the objects.

        Raises:
            BadData: There are none.
        """
        self.work = work
        self.objects = {thing.name: thing for thing in tag_objects(session)}
        self._journals: dict[str, Journal] = {}
        self._told: dict[str, int] = {}
        self._alone = threading.Lock()

    def object(self, name: str) -> TagObject:
        """An object of the session.

        Raises:
            Refused: There is none of this name.
        """
        if name not in self.objects:
            raise Refused("not-found", "There is no such object")
        return self.objects[name]

    def journal(self, name: str) -> Journal:
        """The history of an object; notes that were written before it become its beginning."""
        thing = self.object(name)
        with self._alone:
            if name not in self._journals:
                journal = Journal(thing.folder / HISTORY, tag_event)
                if not journal.events():
                    notes = read_notes(thing)
                    journal.store(
                        [note_event(t, n, f"written-before-{t}") for t, n in notes.items()]
                    )
                self._journals[name] = journal
            return self._journals[name]

    def photograph(self, name: str, view: str) -> NDArray[Any]:
        """A photograph with tags.

        Raises:
            Refused: There is none of this name.
        """
        thing = self.object(name)
        path = thing.images.get(TAGGED_VIEWS.get(view, (-1, -1)))
        if path is None:
            raise Refused("not-found", f"There is no photograph {view[:8]}")
        return io.read_image(path)

    def found(self, name: str) -> dict[str, Any]:
        """Size and tags of each of the four photographs."""
        thing = self.object(name)
        views = {}
        for view, key in TAGGED_VIEWS.items():
            if key not in thing.images:
                continue
            image = self.photograph(name, view)
            tags = found_tags(thing.images[key], image, self.work / _FOUND)
            height, width = image.shape[:2]
            rows = [[tag, corners.tolist()] for tag, corners in tags]
            views[view] = {"width": width, "height": height, "tags": rows}
        return views

    def said(self, name: str, events: list[Event]) -> dict[str, Any]:
        """The files of `capture tags` follow the history here."""
        folder = self.object(name).folder
        with self._alone:
            if self._told.get(name) == len(events):
                return {"trouble": ""}
            try:
                write_annotations(folder / "annotations.toml", tag_notes(events))
                write_corrections(folder / FILE, tag_corrections(events))
            except (DepthgaugeError, OSError) as error:
                return {
                    "trouble": f"The files are behind their history and follow it soon: {error}"
                }
            self._told[name] = len(events)
            return {"trouble": ""}


def _open(here: SessionDesk) -> Tagging:
    return here.part(Tagging, Tagging)


@tagging.get("/tags")
def objects(here: OnDesk) -> Response:
    """The objects of the session."""
    at = _open(here)
    listed = [
        {
            "name": n,
            "notes": len([x for x in tag_notes(at.journal(n).events()).values() if x.filled_in]),
        }
        for n in at.objects
    ]
    return HTMLResponse(rendered("tag_objects.html.j2", name=here.session.name, listed=listed))


@tagging.get("/tags/{name}")
def page(name: str, here: OnDesk) -> Response:
    """The page of one object."""
    at = _open(here)
    at.object(name)
    names = list(at.objects)
    following = names[names.index(name) + 1 : names.index(name) + 2]
    about = {"session": here.session.name, "owner": owner_of(here.session.folder)}
    return HTMLResponse(rendered("tags.html.j2", name=name, following=following, **about))


@tagging.get("/tags/{name}/{view}.jpg")
def picture(name: str, view: str, here: OnDesk) -> Response:
    """A photograph with tags, without the camera's notes."""
    image = _open(here).photograph(name, view)
    plain = image if image.dtype == np.uint8 else np.rint(255 * np.clip(image, 0, 1))
    colours = plain if plain.ndim == 3 else np.repeat(plain[..., None], 3, axis=2)
    shown = np.ascontiguousarray(colours[..., :3], np.uint8)
    return Response(jpeg(reduced(shown, _SHOWN_PX)), media_type="image/jpeg")


@tagging.get("/api/tags/{name}")
def found(name: str, here: OnDesk) -> Response:
    """What was found in the four photographs."""
    return JSONResponse({"ok": True, "views": _open(here).found(name)})


@tagging.post("/api/tags/{name}/snap")
def snap(name: str, rough: Rough, here: OnDesk) -> Response:
    """Corners moved to where edges meet; null if there are none."""
    if any(len(point) != 2 for point in rough.corners_px):
        raise Refused("invalid", "A corner is [x, y]")
    image = _open(here).photograph(name, rough.view)
    corners = snapped(image, np.array(rough.corners_px, np.float64))
    return JSONResponse({"ok": True, "corners_px": None if corners is None else corners.tolist()})


@tagging.get("/api/tags/{name}/events")
def events(name: str, here: OnDesk, tab: str, since: int = 0) -> Response:
    """The history of an object."""
    at = _open(here)
    return story(at.journal(name), tab, since, lambda told: at.said(name, told))


@tagging.post("/api/tags/{name}/events")
def send(name: str, sent: SentEvents, here: OnDesk) -> Response:
    """Stores notes and corrections."""
    at = _open(here)
    return stored(at.journal(name), sent, lambda told: at.said(name, told))
