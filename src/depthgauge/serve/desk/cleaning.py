"""The page that removes points of a session's cloud by hand."""

from __future__ import annotations

import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, JSONResponse
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.capture.by_hand.cloud import Window, cloud_piece
from depthgauge.capture.by_hand.removals import (
    FOLDER,
    HISTORY,
    LIST,
    RemovalView,
    removal_event,
    removal_list,
)
from depthgauge.capture.by_hand.rework import rework
from depthgauge.capture.clean.manual_edits import write_manual_edits
from depthgauge.errors import DepthgaugeError, Refused
from depthgauge.serve.desk.access import owner_of
from depthgauge.serve.desk.journal import Event, Journal, read_events
from depthgauge.serve.desk.journal_api import FromTab, SentEvents, stored, story
from depthgauge.serve.desk.pictures import jpeg, reduced
from depthgauge.serve.desk.session_parts import OnDesk, SessionDesk
from depthgauge.serve.web.rendering import rendered
from depthgauge.sessions import Session

_CAMERAS = {"left": "L", "right": "R"}
_SHOWN_PX = 4096

cleaning = APIRouter(include_in_schema=False)


class Cleaning:
    """The removals of one session: their history, the list, the maps, and cleaning again."""

    def __init__(self, session: Session, work: Path) -> None:
        """Opens the history; the list is written from it if it differs.

        Raises:
            BadData: The maps are not there yet.
            BadFile: The history is damaged.
        """
        self.session, self.work = session, work
        self.view = RemovalView(work)
        self.journal = Journal(session.folder / FOLDER / HISTORY, removal_event)
        self.list = session.folder / FOLDER / LIST
        self._images: dict[str, NDArray[np.uint8]] = {}
        self._alone = threading.Lock()
        self._telling = threading.Lock()
        self._job: dict[str, Any] = {"state": "idle"}
        self._told: tuple[int, dict[str, Any]] = (-1, {})
        if self.journal.events():
            write_list(session)

    def said(self, events: list[Event]) -> dict[str, Any]:
        """What a page is told; after a change, the list follows the history here."""
        with self._telling:
            revision, told = self._told
            if revision != len(events) or told["trouble"]:
                told = {"removed": self.view.removed(events), "trouble": self._follow(events)}
                self._told = len(events), told
            return dict(told)

    def _follow(self, events: list[Event]) -> str:
        """Writes the list; returns why it could not be written."""
        try:
            self.list.parent.mkdir(parents=True, exist_ok=True)
            write_manual_edits(self.list, removal_list(events))
        except (DepthgaugeError, OSError) as error:
            return f"The list is behind its history and follows it as soon as it can: {error}"
        return ""

    def image(self, side: str) -> NDArray[np.uint8]:
        """The rectified picture of a view, or its guide where there is none."""
        with self._alone:
            if side not in self._images:
                self._images[side] = _image(self.work, side, self.view)
            return self._images[side]

    def begin(self) -> dict[str, Any]:
        """Starts cleaning again, unless that is under way."""
        with self._alone:
            if self._job["state"] != "running":
                self._job = {"state": "running", "text": "starting"}
                threading.Thread(target=self._rework, daemon=True).start()
            return dict(self._job)

    def job(self) -> dict[str, Any]:
        """How far cleaning again is."""
        with self._alone:
            return dict(self._job)

    def _rework(self) -> None:
        try:
            self._follow(self.journal.events())
            found = rework(self.session, self.work, self.list, self._tell)
            job: dict[str, Any] = {"state": "done", **asdict(found)}
        except Exception as error:  # a thread has nobody else to tell
            job = {"state": "failed", "text": str(error) or type(error).__name__}
        with self._alone:
            self._job = job

    def _tell(self, what: str, done: int, of: int) -> None:
        with self._alone:
            self._job = {"state": "running", "text": what, "done": done, "of": of}


def write_list(session: Session) -> int:
    """Writes the list of removals from its history; returns how many actions stand.

    Raises:
        BadFile: There is no history, or it is damaged.
    """
    folder = session.folder / FOLDER
    chosen = removal_list(read_events(folder / HISTORY, removal_event))
    write_manual_edits(folder / LIST, chosen)
    return sum(len(part) for part in (chosen.polygons, chosen.boxes, chosen.balls, chosen.lassos))


def _image(work: Path, side: str, view: RemovalView) -> NDArray[np.uint8]:
    """A picture of the size of the view's map; grey if there is none."""
    shape = view.maps[side].disparity.shape
    folder = work / "rectify" / "LR" / _CAMERAS[side]
    for path in (folder / "im0.png", work / "refine" / f"{side}_guide.png"):
        if path.is_file():
            image = io.read_image(path)
            if image.shape[:2] == shape:
                bytes_ = image if image.dtype == np.uint8 else np.rint(255 * np.clip(image, 0, 1))
                colours = bytes_ if bytes_.ndim == 3 else np.repeat(bytes_[..., None], 3, axis=2)
                return np.ascontiguousarray(colours[..., :3], np.uint8)
    return np.full((*shape, 3), 128, np.uint8)


def _open(here: SessionDesk) -> Cleaning:
    return here.part(Cleaning, Cleaning)


@cleaning.get("/clean")
def page(here: OnDesk) -> Response:
    """The page with the cloud and the picture."""
    _open(here)
    session = here.session
    about = {"name": session.name, "simulated": session.simulated}
    return HTMLResponse(rendered("clean.html.j2", owner=owner_of(session.folder), **about))


@cleaning.get("/clean/picture/{side}.jpg")
def picture(side: str, here: OnDesk) -> Response:
    """The picture of a view."""
    if side not in _CAMERAS:
        raise Refused("not-found", "There is no such view")
    return Response(jpeg(reduced(_open(here).image(side), _SHOWN_PX)), media_type="image/jpeg")


@cleaning.get("/api/clean/cloud/{side}")
def cloud(
    side: str, here: OnDesk, x: int = 0, y: int = 0, width: int = 0, height: int = 0
) -> Response:
    """A piece of the cloud; without a size, all of it."""
    if side not in _CAMERAS:
        raise Refused("not-found", "There is no such view")
    at = _open(here)
    window = Window(x, y, width, height) if width and height else None
    piece = cloud_piece(at.view, side, at.image(side), window)
    return Response(piece, media_type="application/octet-stream")


@cleaning.get("/api/clean/events")
def events(here: OnDesk, tab: str, since: int = 0) -> Response:
    """The history, and how much it removes."""
    at = _open(here)
    return story(at.journal, tab, since, at.said)


@cleaning.post("/api/clean/events")
def send(sent: SentEvents, here: OnDesk) -> Response:
    """Stores removals and what takes them back."""
    at = _open(here)
    return stored(at.journal, sent, at.said)


@cleaning.post("/api/clean/leave")
def leave(body: FromTab, here: OnDesk) -> Response:
    """A tab was closed."""
    _open(here).journal.leave(body.tab)
    return JSONResponse({"ok": True})


@cleaning.post("/api/clean/again")
def again(body: FromTab, here: OnDesk) -> Response:
    """Cleans the maps again and audits them."""
    del body
    return JSONResponse({"ok": True, **_open(here).begin()})


@cleaning.get("/api/clean/again")
def progress(here: OnDesk) -> Response:
    """How far that is."""
    return JSONResponse({"ok": True, **_open(here).job()})
