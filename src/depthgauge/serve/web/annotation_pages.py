"""Drawing on photographs with an account: batches, one's own photographs, votes, dashboards."""

from __future__ import annotations

import hmac
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import select

from depthgauge.errors import Refused
from depthgauge.serve.annotating.batches import Batch, Tallied, batches, find_batch, person_of
from depthgauge.serve.annotating.dashboards import Comparisons, dashboard_of, disputed
from depthgauge.serve.annotating.quizzes import KEY, LIMIT_PERCENT, answers, is_qualified
from depthgauge.serve.desk import app as one_person
from depthgauge.serve.desk.app import Asked, Desk, Sent, TabOnly
from depthgauge.serve.desk.photographs import Prints
from depthgauge.serve.desk.presence import Rooms
from depthgauge.serve.storage.database import reading
from depthgauge.serve.storage.models import User
from depthgauge.serve.web.pages import Form, Member
from depthgauge.serve.web.rendering import page
from depthgauge.serve.web.security import admin, require_own_form, web_of

annotation_pages = APIRouter(include_in_schema=False)

Admin = Annotated[User, Depends(admin)]
_MOST_DESKS = 64
_MOST_BODY = 16 << 20


@dataclass
class Studio:
    """What the web process keeps of all batches: open desks, pictures, comparisons."""

    desks: OrderedDict[tuple[str, str], Desk] = field(default_factory=OrderedDict)
    prints: Prints = field(default_factory=Prints)
    comparisons: Comparisons = field(default_factory=Comparisons)
    rooms: OrderedDict[str, Rooms] = field(default_factory=OrderedDict)
    """Who has which photograph of a batch open."""
    alone: threading.Lock = field(default_factory=threading.Lock)

    def desk(self, batch: Batch, who: str) -> Desk:
        """The desk of one person in one batch; the last few stay open."""
        key = batch.id, who
        with self.alone:
            if key not in self.desks:
                rooms = self.rooms.setdefault(batch.id, Rooms())
                self.desks[key] = Desk(batch.folder, who, self.prints, batch.focal_px, rooms=rooms)
            self.desks.move_to_end(key)
            while len(self.desks) > _MOST_DESKS:
                self.desks.popitem(last=False)
            return self.desks[key]


def _studio(request: Request) -> Studio:
    found: Studio = request.app.state.studio
    return found


def _batch(request: Request, batch: str) -> Batch:
    return find_batch(web_of(request).site, batch)


InStudio = Annotated[Studio, Depends(_studio)]
OfBatch = Annotated[Batch, Depends(_batch)]


def _own_script(request: Request) -> None:
    """Requires that a request of a script comes from a page of ours, and is not too long."""
    require_own_form(request, request.headers.get("x-csrf", ""))
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > _MOST_BODY:
        raise Refused("invalid", "That is too much at once")


OwnScript = Depends(_own_script)


@annotation_pages.get("/annotate")
def overview(request: Request, user: Member) -> HTMLResponse:
    """All batches, and how far this person is in each."""
    who = person_of(user.id)
    listed = []
    for batch in batches(web_of(request).site):
        own = [picture for picture, people in batch.taken().items() if who in people]
        done = sum(batch.is_finished(who, picture) for picture in own)
        one = {"id": batch.id, "title": batch.title, "photographs": len(batch.pictures)}
        listed.append({**one, "own": len(own), "done": done})
    return page(request, "annotate", user, listed=listed)


@annotation_pages.get("/annotate/{batch}")
def batch_page(request: Request, user: Member, batch: OfBatch) -> HTMLResponse:
    """One's photographs of a batch, and what the votes say."""
    who, counted = person_of(user.id), batch.tallies()
    own = []
    for picture, people in batch.taken().items():
        if who in people:
            votes = counted.get(f"{who}/{picture}", Tallied())
            finished = batch.is_finished(who, picture)
            own.append({"picture": picture, "finished": finished, "votes": votes})
    waiting = batch.to_verify(who) is not None
    return page(request, "annotate_batch", user, batch=batch, own=own, waiting=waiting)


@annotation_pages.post("/annotate/{batch}/take")
def take(request: Request, user: Member, batch: OfBatch, _form: Form, studio: InStudio) -> Response:
    """Gives the next photograph, and opens it."""
    if batch.quiz:
        quiz = find_batch(web_of(request).site, batch.quiz)
        if not is_qualified(quiz, person_of(user.id)):
            why = f"Pass the quiz first: /annotate/{quiz.id}/course"
            raise Refused("forbidden", why)
    found = batch.take(person_of(user.id), disputed(batch, studio.comparisons))
    if found is None:
        raise Refused("conflict", "Every photograph of this batch has enough people; thank you")
    return RedirectResponse(_address(batch, "draw", found), 303)


@annotation_pages.get("/annotate/{batch}/draw/{picture:path}")
def draw(request: Request, user: Member, batch: OfBatch, picture: str) -> HTMLResponse:
    """The page to draw on one's photograph."""
    who = person_of(user.id)
    batch.require_taken(who, picture)
    return page(request, "annotate_draw", user, batch=batch, picture=picture, owner=who)


@annotation_pages.get("/annotate/{batch}/pictures/{picture:path}")
def shown(user: Member, batch: OfBatch, picture: str, studio: InStudio) -> Response:
    """A photograph of the batch, without the camera's notes."""
    return one_person.picture(picture, studio.desk(batch, person_of(user.id)))


@annotation_pages.get("/annotate/{batch}/api/events/{picture:path}")
def events(
    user: Member,
    batch: OfBatch,
    picture: str,
    studio: InStudio,
    tab: str,
    since: int = 0,
    x: float | None = None,
    y: float | None = None,
) -> Response:
    """What this person drew, and who else has the photograph open."""
    batch.require_taken(person_of(user.id), picture)
    return one_person.events(picture, studio.desk(batch, person_of(user.id)), tab, since, x, y)


@annotation_pages.post("/annotate/{batch}/api/events/{picture:path}", dependencies=[OwnScript])
def send(user: Member, batch: OfBatch, picture: str, studio: InStudio, sent: Sent) -> Response:
    """Stores events of this person."""
    batch.require_taken(person_of(user.id), picture)
    return one_person.send(picture, sent, studio.desk(batch, person_of(user.id)))


@annotation_pages.post("/annotate/{batch}/api/leave/{picture:path}", dependencies=[OwnScript])
def leave(user: Member, batch: OfBatch, picture: str, studio: InStudio, body: TabOnly) -> Response:
    """A tab was closed."""
    batch.require_taken(person_of(user.id), picture)
    return one_person.leave(picture, body, studio.desk(batch, person_of(user.id)))


@annotation_pages.post("/annotate/{batch}/api/preview/{picture:path}", dependencies=[OwnScript])
def preview(
    request: Request, user: Member, batch: OfBatch, picture: str, studio: InStudio, asked: Asked
) -> Response:
    """The surfaces of what this person drew."""
    batch.require_taken(person_of(user.id), picture)
    return one_person.preview(picture, asked, studio.desk(batch, person_of(user.id)), request)


@annotation_pages.get("/annotate/{batch}/verify")
def verify(request: Request, user: Member, batch: OfBatch) -> HTMLResponse:
    """Somebody else's finished drawing, to vote on."""
    who = person_of(user.id)
    found = batch.to_verify(who)
    person, picture = found if found is not None else ("", "")
    mark = _mark(batch, who, person, picture) if found is not None else ""
    return page(request, "annotate_verify", user, batch=batch, picture=picture, mark=mark)


@annotation_pages.post("/annotate/{batch}/verify")
def vote(user: Member, batch: OfBatch, form: Form) -> Response:
    """Takes a vote, and shows the next drawing."""
    who = person_of(user.id)
    person, picture = _marked(batch, who, form.get("mark", ""))
    if form.get("good") not in ("yes", "no"):
        raise Refused("invalid", "Say whether the surfaces reflect the photograph")
    batch.vote(who, person, picture, form["good"] == "yes")
    return RedirectResponse(f"/annotate/{batch.id}/verify", 303)


@annotation_pages.get("/annotate/{batch}/api/watched/{mark}")
def watched(user: Member, batch: OfBatch, mark: str, studio: InStudio) -> Response:
    """What somebody else drew, for who votes on it."""
    person, picture = _watchable(batch, person_of(user.id), mark)
    return one_person.watched(picture, studio.desk(batch, person))


@annotation_pages.post("/annotate/{batch}/api/watched/{mark}", dependencies=[OwnScript])
def watched_preview(
    request: Request, user: Member, batch: OfBatch, mark: str, studio: InStudio, asked: Asked
) -> Response:
    """The surfaces of what somebody else drew."""
    person, picture = _watchable(batch, person_of(user.id), mark)
    own = asked.model_copy(update={"tab": f"watch {user.id} {asked.tab}", "draft": []})
    return one_person.preview(picture, own, studio.desk(batch, person), request)


@annotation_pages.get("/annotate/{batch}/course")
def course(request: Request, user: Member, batch: OfBatch) -> HTMLResponse:
    """The course of a quiz: what to draw, a worked example, and what this person reached."""
    if not batch.scenes:
        raise Refused("not-found", "This batch is no quiz")
    who = person_of(user.id)
    found = answers(batch, who)
    return page(
        request,
        "annotate_course",
        user,
        batch=batch,
        example=next(iter(batch.scenes)),
        answers=found,
        qualified=all(one.passed for one in found),
        limit=LIMIT_PERCENT,
    )


@annotation_pages.get("/annotate/{batch}/key/{picture}")
def key_page(request: Request, user: Member, batch: OfBatch, picture: str) -> HTMLResponse:
    """The answer key of a question, for who has finished it."""
    _require_key(batch, person_of(user.id), picture)
    return page(request, "annotate_key", user, batch=batch, picture=picture)


@annotation_pages.get("/annotate/{batch}/api/key/{picture}")
def key(user: Member, batch: OfBatch, picture: str, studio: InStudio) -> Response:
    """What the answer key draws."""
    _require_key(batch, person_of(user.id), picture)
    return one_person.watched(picture, studio.desk(batch, KEY))


@annotation_pages.post("/annotate/{batch}/api/key/{picture}", dependencies=[OwnScript])
def key_preview(
    request: Request, user: Member, batch: OfBatch, picture: str, studio: InStudio, asked: Asked
) -> Response:
    """The surfaces of the answer key."""
    _require_key(batch, person_of(user.id), picture)
    own = asked.model_copy(update={"tab": f"watch {user.id} {asked.tab}", "draft": []})
    return one_person.preview(picture, own, studio.desk(batch, KEY), request)


def _require_key(batch: Batch, who: str, picture: str) -> None:
    """The example's key is for all, that of a question for who has finished it."""
    if picture not in batch.scenes:
        raise Refused("not-found", "There is no such question")
    if picture != next(iter(batch.scenes)) and not batch.is_finished(who, picture):
        raise Refused("forbidden", "Finish your drawing first; then you can see the answer")


@annotation_pages.get("/annotate/{batch}/dashboard")
def dashboard(request: Request, user: Admin, batch: OfBatch, studio: InStudio) -> HTMLResponse:
    """Progress, time and agreement, for admins."""
    with reading(web_of(request).database) as session:
        everyone = session.execute(select(User.id, User.name)).all()
    names = {person_of(number): name for number, name in everyone}
    found = dashboard_of(batch, studio.comparisons)
    return page(request, "annotate_dashboard", user, batch=batch, found=found, names=names)


def _address(batch: Batch, what: str, picture: str) -> str:
    return f"/annotate/{batch.id}/{what}/{quote(picture)}"


def _mark(batch: Batch, voter: str, person: str, picture: str) -> str:
    """A drawing in addresses of one voter.

    Without the key of the batch nobody can say whose drawing it is, nor make the mark of another.
    """
    about = f"{voter}\0{person}\0{picture}".encode()
    return hmac.digest(batch.marks_key(), about, "sha256").hex()[:32]


def _marked(batch: Batch, voter: str, mark: str) -> tuple[str, str]:
    for picture, people in batch.taken().items():
        for person in people:
            if hmac.compare_digest(_mark(batch, voter, person, picture).encode(), mark.encode()):
                return person, picture
    raise Refused("not-found", "There is no such drawing")


def _watchable(batch: Batch, voter: str, mark: str) -> tuple[str, str]:
    person, picture = _marked(batch, voter, mark)
    if not batch.is_finished(person, picture):
        raise Refused("not-found", "There is no such drawing")
    return person, picture
