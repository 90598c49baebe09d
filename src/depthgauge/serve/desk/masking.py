"""The page on which a person draws a session's material mask."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, JSONResponse
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from depthgauge import io
from depthgauge.capture.by_hand.mask_edits import (
    FOLDER,
    HISTORY,
    MATERIALS,
    MaskReplay,
    labels_event,
    mask_event,
    region_entry,
    replayed,
)
from depthgauge.capture.masks.drawn_on import (
    DrawnOn,
    drawn_on,
    is_ours,
    label_path,
    note_mask,
    read_mask,
    write_mask,
)
from depthgauge.capture.masks.proposals import Click, Window, flood, from_clicks
from depthgauge.capture.masks.segment_anything import SegmentAnything, open_networks
from depthgauge.capture.masks.session_masks import FOLDER as CARRIED
from depthgauge.capture.masks.session_masks import carry_masks
from depthgauge.errors import DepthgaugeError, Refused
from depthgauge.serve.desk.access import owner_of
from depthgauge.serve.desk.journal import Event, Journal, read_events
from depthgauge.serve.desk.journal_api import FromTab, SentEvents, stored, story
from depthgauge.serve.desk.pictures import jpeg, reduced
from depthgauge.serve.desk.session_parts import OnDesk, SessionDesk
from depthgauge.serve.web.rendering import rendered
from depthgauge.sessions import Session

_SHOWN_PX = 4096
_PIECE_PX = 2048
_KEPT_PICTURES = 2
_COLOURS = np.array([[0, 0, 0], [255, 200, 0], [230, 60, 200], [0, 170, 255]], np.float32)
"""Of the classes, as in `web/src/masks/classes.ts`."""
_SHARE = 0.55

masking = APIRouter(include_in_schema=False)


class Pointed(BaseModel):
    """A click of a page."""

    model_config = ConfigDict(extra="forbid", strict=True)

    x: float = Field(ge=-1e6, le=1e6)
    y: float = Field(ge=-1e6, le=1e6)
    wanted: bool = True


class Asked(FromTab):
    """A question for a region."""

    picture: str = Field(max_length=200)
    tool: Literal["flood", "clicks", "network"]
    clicks: list[Pointed] = Field(min_length=1, max_length=200)
    tolerance: float = Field(default=30.0, ge=0, le=255)
    within: list[int] | None = Field(default=None, min_length=4, max_length=4)


class Masking:
    """The mask of one session: its history, the file that follows it, and proposals."""

    def __init__(
        self, session: Session, work: Path, networks: SegmentAnything | None = None
    ) -> None:
        """Opens the history; a mask that was made elsewhere becomes its next action.

        Raises:
            BadData: There are no pictures to draw on.
            BadFile: The history is damaged.
            WrongShape: The mask that is there has another size.
        """
        self.session, self.work, self.networks = session, work, networks
        self.on: DrawnOn = drawn_on(session, work)
        self.journal = Journal(
            session.folder / FOLDER / HISTORY, partial(mask_event, size_px=self.on.size_px)
        )
        self._replay = MaskReplay(self.on.size_px)
        self._telling, self._alone = threading.RLock(), threading.Lock()
        self._pictures: dict[str, NDArray[np.uint8]] = {}
        self._told: tuple[int, dict[str, Any]] = (-1, {})
        self._written: tuple[int, int] | None = None
        self._job: dict[str, Any] = {"state": "idle"}
        self._adopt()
        if self.journal.events():
            self.said(self.journal.events())

    def said(self, events: list[Event]) -> dict[str, Any]:
        """What a page is told; after a change, the mask follows the history here."""
        with self._telling:
            revision, told = self._told
            if revision != len(events) or told["trouble"] or self._changed_elsewhere():
                if self._changed_elsewhere():
                    self._adopt()
                    events = self.journal.events()
                labels = self._replay.follow(events)
                counts = np.bincount(labels.ravel(), minlength=len(MATERIALS)).tolist()
                told = {"counts": counts, "trouble": self._follow(labels) if events else ""}
                self._told = len(events), told
            return dict(told)

    def _follow(self, labels: NDArray[np.uint8]) -> str:
        """Writes the mask; returns why it could not be written."""
        try:
            there = read_mask(self.session, self.on.size_px) if self._written is None else None
            if there is not None and np.array_equal(there, labels):
                note_mask(self.session)  # the same pixels in other bytes are no change
            else:
                write_mask(self.session, labels)
        except (DepthgaugeError, OSError) as error:
            return f"The mask is behind its history and follows it as soon as it can: {error}"
        self._written = self._stamp()
        return ""

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = label_path(self.session).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    def _changed_elsewhere(self) -> bool:
        stamp = self._stamp()
        return self._written is not None and stamp is not None and stamp != self._written

    def _adopt(self) -> None:
        """Takes a mask that another program wrote into the history: nothing is painted over."""
        there = read_mask(self.session, self.on.size_px)
        self._written = None
        if there is None or is_ours(self.session):
            return
        events = self.journal.events()
        if np.array_equal(there, replayed(events, self.on.size_px)):
            return
        note = f"labels/{label_path(self.session).name} as it was found"
        found = self.journal.store([labels_event(there, f"found-{time.time_ns()}", note)])
        if found.full:
            raise Refused("invalid", f"The mask that is there cannot be kept: {found.full}")

    def picture(self, name: str) -> NDArray[np.uint8]:
        """A picture to draw on; the last two are kept.

        Raises:
            Refused: There is none of this name.
        """
        if name not in self.on.files:
            raise Refused("not-found", "There is no such picture")
        with self._alone:
            if name not in self._pictures:
                self._pictures[name] = self.on.picture(name)
            self._pictures[name] = found = self._pictures.pop(name)
            while len(self._pictures) > _KEPT_PICTURES:
                self._pictures.pop(next(iter(self._pictures)))
            return found

    def propose(self, asked: Asked) -> dict[str, Any]:
        """The region that some clicks mean, as the entry of an event.

        Raises:
            BadData: They mean nothing; the sentence says why.
            Refused: There is no such network.
        """
        image = self.picture(asked.picture)
        window = Window.of(image, asked.within)
        clicks = [Click(each.x, each.y, each.wanted) for each in asked.clicks]
        if asked.tool == "flood":
            region = flood(image, clicks[-1], asked.tolerance, window)
        elif asked.tool == "clicks":
            region = from_clicks(image, clicks, window)
        elif self.networks is None:
            raise Refused("invalid", "No network was given: capture edit --sam-encoder")
        else:
            region = self.networks.segment(image, clicks, window, key=asked.picture)
        if not region.pixels:
            raise Refused("invalid", "Nothing was found there")
        said = "" if asked.tool == "clicks" else f", tolerance {asked.tolerance:g}"
        made_by = f"{asked.tool} on {asked.picture[:60]}, {len(clicks)} clicks{said}"
        return {"entry": region_entry(region, made_by), "pixels": region.pixels}

    def begin(self) -> dict[str, Any]:
        """Starts carrying the mask to the other pictures, unless that is under way."""
        with self._alone:
            if self._job["state"] != "running":
                self._job = {"state": "running", "text": "starting"}
                threading.Thread(target=self._carry, daemon=True).start()
            return dict(self._job)

    def job(self) -> dict[str, Any]:
        """How far that is."""
        with self._alone:
            return dict(self._job)

    def _carry(self) -> None:
        try:
            if trouble := self.said(self.journal.events())["trouble"]:
                raise Refused("invalid", trouble)
            step = carry_masks(self.session, self.work, progress=self._tell)
            job: dict[str, Any] = {"state": "done", "pairs": dict(step.figures)}
        except Exception as error:  # a thread has nobody else to tell
            job = {"state": "failed", "text": str(error) or type(error).__name__}
        with self._alone:
            self._job = job

    def _tell(self, what: str, done: int, of: int) -> None:
        with self._alone:
            self._job = {"state": "running", "text": what, "done": done, "of": of}

    def carried(self, pair: str, side: str) -> NDArray[np.uint8]:
        """A rectified picture with the mask that was carried to it, in colours.

        Raises:
            Refused: There is none.
        """
        letters = {"LR": "LR", "LC": "LC"}.get(pair, "")
        camera = {"left": letters[:1], "right": letters[1:]}.get(side, "")
        path = self.work / CARRIED / pair / f"{side}.png"
        if not camera or not path.is_file():
            raise Refused("not-found", "There is no such mask yet")
        labels = io.read_labels(path)
        found = sorted((self.work / "rectify" / pair / camera).glob("*.png"))
        image = io.read_image(found[0]) if found else np.full((*labels.shape, 3), 128, np.uint8)
        return tinted(np.asarray(image, np.uint8), labels)


def tinted(image: NDArray[np.uint8], labels: NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
    """A picture with the colours of the classes; what has no label is hatched in white."""
    plain = image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2)
    colours = plain[..., :3].astype(np.float32)
    marked = (labels > 0) & (labels < len(_COLOURS))
    colours[marked] += _SHARE * (_COLOURS[labels[marked]] - colours[marked])
    y, x = np.nonzero(labels >= len(_COLOURS))
    hatched = (x + y) // 4 % 2 == 0
    colours[y[hatched], x[hatched]] = 255
    return np.rint(colours).astype(np.uint8)


def write_materials(session: Session, work: Path) -> int:
    """Writes the mask from its history; returns how many events that has.

    Raises:
        BadFile: There is no history, or it is damaged.
    """
    size_px = drawn_on(session, work).size_px
    path = session.folder / FOLDER / HISTORY
    events = read_events(path, partial(mask_event, size_px=size_px))
    write_mask(session, replayed(events, size_px))
    return len(events)


def networks_from(files: Mapping[str, Path | None]) -> SegmentAnything | None:
    """The networks that the operator named; None without both files.

    Raises:
        MissingExtra: onnxruntime is not installed.
        BadFile: One of them is no such network.
    """
    encoder, decoder = files["encoder"], files["decoder"]
    return None if encoder is None or decoder is None else open_networks(encoder, decoder)


def _open(here: SessionDesk) -> Masking:
    return here.part(Masking, partial(Masking, networks=here.networks))


@masking.get("/masks")
def page(here: OnDesk) -> Response:
    """The page with the picture and the mask."""
    at = _open(here)
    first = next(iter(at.on.files))
    about = {"name": here.session.name, "owner": owner_of(here.session.folder)}
    return HTMLResponse(rendered("masks.html.j2", first=first, **about))


@masking.get("/masks/picture/{name}.jpg")
def picture(name: str, here: OnDesk) -> Response:
    """A picture to draw on, of at most 4096 px."""
    return Response(jpeg(reduced(_open(here).picture(name), _SHOWN_PX)), media_type="image/jpeg")


@masking.get("/masks/piece/{name}.jpg")
def piece(name: str, here: OnDesk, x: int, y: int, width: int, height: int) -> Response:
    """A part of a picture in all its detail, of at most 2048 px."""
    image = _open(here).picture(name)
    window = Window.of(image, (x, y, width, height))
    cut = np.ascontiguousarray(window.cut(image))
    return Response(jpeg(reduced(cut, _PIECE_PX)), media_type="image/jpeg")


@masking.get("/masks/carried/{pair}/{side}.jpg")
def carried(pair: str, side: str, here: OnDesk) -> Response:
    """A rectified picture with the mask that was carried to it."""
    return Response(jpeg(reduced(_open(here).carried(pair, side), 1600)), media_type="image/jpeg")


@masking.get("/api/masks")
def about(here: OnDesk) -> Response:
    """Size and names of the pictures, the classes, and whether there is a network."""
    at = _open(here)
    width, height = at.on.size_px
    body = {
        "width": width,
        "height": height,
        "pictures": list(at.on.files),
        "classes": list(MATERIALS),
        "network": at.networks is not None,
    }
    return JSONResponse({"ok": True, **body})


@masking.get("/api/masks/events")
def events(here: OnDesk, tab: str, since: int = 0) -> Response:
    """The history, and how many pixels each class has."""
    at = _open(here)
    at.said(at.journal.events())  # a mask that was changed elsewhere becomes a part of it
    return story(at.journal, tab, since, at.said)


@masking.post("/api/masks/events")
def send(sent: SentEvents, here: OnDesk) -> Response:
    """Stores what was painted and what takes it back."""
    at = _open(here)
    return stored(at.journal, sent, at.said)


@masking.post("/api/masks/leave")
def leave(body: FromTab, here: OnDesk) -> Response:
    """A tab was closed."""
    _open(here).journal.leave(body.tab)
    return JSONResponse({"ok": True})


@masking.post("/api/masks/propose")
def propose(asked: Asked, here: OnDesk) -> Response:
    """The region that some clicks mean."""
    return JSONResponse({"ok": True, **_open(here).propose(asked)})


@masking.post("/api/masks/carry")
def carry(body: FromTab, here: OnDesk) -> Response:
    """Carries the mask to the other pictures."""
    del body
    return JSONResponse({"ok": True, **_open(here).begin()})


@masking.get("/api/masks/carry")
def progress(here: OnDesk) -> Response:
    """How far that is."""
    return JSONResponse({"ok": True, **_open(here).job()})
