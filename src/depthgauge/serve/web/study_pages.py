"""Ranking studies on a site: by a link, without an account; results for admins.

Who agrees gets an address with a name drawn by lot: the only key to what they said, so it needs no
account, no cookie and no secret in forms.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from depthgauge.errors import Refused
from depthgauge.serve.accounts import rates
from depthgauge.serve.desk import ranking as alone
from depthgauge.serve.desk.journal import Journal
from depthgauge.serve.desk.journal_api import SentEvents, stored
from depthgauge.serve.desk.ranking import StudyDesk
from depthgauge.serve.storage.blobs import require_space
from depthgauge.serve.storage.database import audit
from depthgauge.serve.storage.models import User
from depthgauge.serve.studies import (
    SiteStudy,
    find_study,
    renew_link,
    require_link,
    set_open,
)
from depthgauge.serve.web.pages import Form, Visitor
from depthgauge.serve.web.rendering import page
from depthgauge.serve.web.security import admin, client_address, require_own_origin, web_of

study_pages = APIRouter(include_in_schema=False)

Admin = Annotated[User, Depends(admin)]
JOINS_BY_ADDRESS = rates.Limit("study-address", 30, 3600)
_BEGUN_PER_PERSON = 5
"""So many may begin for each who may take part: some only look."""
_MOST_BODY = 1 << 20
_MOST_SAID = 4 << 20
"""Bytes that are kept of one person."""
_KEPT = {"Cache-Control": "private, max-age=3600"}
_CLOSED = "This study is closed; thank you"


@dataclass
class OpenStudies:
    """The studies that the web process has read."""

    desks: dict[Path, StudyDesk] = field(default_factory=dict)
    alone: threading.Lock = field(default_factory=threading.Lock)

    def desk(self, study: SiteStudy) -> StudyDesk:
        """A study with its answers; read anew if its plan was exchanged."""
        plan = study.plan
        with self.alone:
            found = self.desks.get(study.folder)
            if found is None or found.plan != plan:
                found = self.desks[study.folder] = StudyDesk(study.folder, plan)
            return found


def _study(request: Request, study: str) -> SiteStudy:
    return find_study(web_of(request).site, study)


OfSite = Annotated[SiteStudy, Depends(_study)]


def _desk(request: Request, study: OfSite) -> StudyDesk:
    found: OpenStudies = request.app.state.studies
    return found.desk(study)


OnDesk = Annotated[StudyDesk, Depends(_desk)]


@study_pages.get("/studies/{study}/join/{link}")
def join(request: Request, user: Visitor, study: OfSite, link: str, here: OnDesk) -> HTMLResponse:
    """What people agree to."""
    require_link(study, link)
    return page(
        request,
        "study_join",
        user,
        layout="base.html.j2",
        plan=here.plan,
        action=f"/studies/{study.name}/join/{link}",
        closed=_no_more(study, here),
    )


@study_pages.post("/studies/{study}/join/{link}")
def begin(request: Request, study: OfSite, link: str, here: OnDesk, _form: Form) -> Response:
    """Somebody agreed."""
    require_link(study, link)
    rates.require_rate(web_of(request).database, JOINS_BY_ADDRESS, client_address(request))
    if why := _no_more(study, here):
        raise Refused("closed", why)
    require_space(study.folder, _MOST_SAID)
    return RedirectResponse(f"/studies/{study.name}/p/{here.join()}", 303)


def _no_more(study: SiteStudy, here: StudyDesk) -> str:
    """Why nobody can begin now; empty if somebody can."""
    if not study.is_open:
        return _CLOSED
    begun = here.people()
    if len(begun) < study.most_people:
        return ""
    ranked = sum(here.has_ranked(person) for person in begun)
    enough = ranked >= study.most_people or len(begun) >= _BEGUN_PER_PERSON * study.most_people
    return "Enough people have taken part in this study; thank you" if enough else ""


@study_pages.get("/studies/{study}/p/{person}")
def rank(request: Request, user: Visitor, study: OfSite, person: str, here: OnDesk) -> HTMLResponse:
    """The page on which a person sorts."""
    here.person(person)
    where: dict[str, Any] = {"layout": "base.html.j2", "base": f"/studies/{study.name}"}
    return page(request, "study_rank", user, plan=here.plan, person=person, **where)


@study_pages.get("/studies/{study}/api/study/{person}")
def tasks(person: str, here: OnDesk) -> Response:
    """The tasks of a person: letters, never names."""
    return alone.tasks(person, here)


@study_pages.get("/studies/{study}/api/study/{person}/events")
def events(person: str, here: OnDesk, tab: str, since: int = 0) -> Response:
    """What the person said."""
    return alone.events(person, here, tab, since)


def _own_script(request: Request) -> None:
    """Requires that a request comes from a page of ours, and is not too long."""
    require_own_origin(request)
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > _MOST_BODY:
        raise Refused("invalid", "That is too much at once")


@study_pages.post("/studies/{study}/api/study/{person}/events", dependencies=[Depends(_own_script)])
def send(person: str, sent: SentEvents, study: OfSite, here: OnDesk) -> Response:
    """Stores answers; of a closed study, and of who said too much, only that they withdraw."""
    journal, _ = here.person(person)
    why = _no_answers(study, journal)
    late = [event for event in sent.events if event.get("kind") != "withdraw"] if why else []
    if not late:
        return stored(journal, sent)
    refused = {str(event.get("id", ""))[:64]: f"{why}." for event in late}
    rest = [event for event in sent.events if event.get("kind") == "withdraw"]
    return stored(journal, SentEvents(tab=sent.tab, events=rest), lambda _: {"refused": refused})


def _no_answers(study: SiteStudy, journal: Journal) -> str:
    if not study.is_open:
        return _CLOSED
    too_much = journal.path.stat().st_size > _MOST_SAID
    return "You have said more than a study keeps" if too_much else ""


@study_pages.get("/studies/{study}/study/{person}/scene/{picture}.png")
def scene_picture(person: str, picture: str, here: OnDesk) -> Response:
    """A picture of the scene."""
    return _kept(alone.scene_picture(person, picture, here))


@study_pages.get("/studies/{study}/study/{person}/{task}/{letter}/{kind}.png")
def method_picture(person: str, task: int, letter: str, kind: str, here: OnDesk) -> Response:
    """A picture of a method, by the letter that it has in this task."""
    return _kept(alone.method_picture(person, task, letter, kind, here))


def _kept(answer: Response) -> Response:
    answer.headers.update(_KEPT)
    return answer


@study_pages.get("/admin/studies/{study}")
def results(request: Request, user: Admin, study: OfSite, here: OnDesk) -> HTMLResponse:
    """The link, and what is known so far."""
    where: dict[str, Any] = {"layout": "base.html.j2", "base": f"/admin/studies/{study.name}"}
    link = web_of(request).settings.link(study.path)
    about: dict[str, Any] = {"study": study, "link": link, "begun": len(here.people())}
    return page(request, "admin_study", user, **where, **about, **alone.results(here))


@study_pages.post("/admin/studies/{study}")
def change(request: Request, user: Admin, study: OfSite, form: Form) -> Response:
    """Closes or opens a study, or gives it another link."""
    wanted = form.get("do", "")
    if wanted not in ("open", "close", "new-link"):
        raise Refused("invalid", "Choose what to do with the study")
    if wanted == "new-link":
        renew_link(study)
    else:
        set_open(study, wanted == "open")
    with web_of(request).database.begin() as session:
        audit(session, f"study: {wanted}", study.name, user.id)
    return RedirectResponse(f"/admin/studies/{study.name}", 303)


@study_pages.get("/admin/studies/{study}/export/{file}")
def export(_user: Admin, file: str, here: OnDesk) -> Response:
    """The answers without names, as a file."""
    return alone.export(file, here)
