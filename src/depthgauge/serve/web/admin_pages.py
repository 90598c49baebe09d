"""The pages of admins: accounts, queue, disk, log."""

from __future__ import annotations

from collections import defaultdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session, selectinload

from depthgauge.errors import Refused
from depthgauge.serve.accounts import links, people
from depthgauge.serve.storage.database import audit, now, reading
from depthgauge.serve.storage.models import AuditEntry, Benchmark, Similarity, Submission, User
from depthgauge.serve.studies import studies
from depthgauge.serve.web import views
from depthgauge.serve.web.overview import overview
from depthgauge.serve.web.pages import Form
from depthgauge.serve.web.rendering import page
from depthgauge.serve.web.security import admin, web_of

Admin = Annotated[User, Depends(admin)]
_MOST_ROWS = 200

admin_pages = APIRouter(include_in_schema=False)


@admin_pages.get("/admin")
def admin_page(request: Request, user: Admin) -> HTMLResponse:
    """Accounts, queue, disk, log."""
    return _admin_page(request, user)


def _admin_page(request: Request, user: User, text: str = "", secret: str = "") -> HTMLResponse:
    web = web_of(request)
    newest = select(Submission).options(selectinload(Submission.team))
    newest = newest.order_by(Submission.created_at.desc()).limit(_MOST_ROWS)
    log = select(AuditEntry).order_by(AuditEntry.id.desc()).limit(_MOST_ROWS)
    with reading(web.database) as session:
        values: dict[str, Any] = {
            "users": list(session.scalars(select(User).order_by(User.id))),
            "submissions": list(session.scalars(newest)),
            "log": list(session.scalars(log)),
            "names": dict(session.execute(select(User.id, User.email)).all()),
            "duplicates": _duplicates(session),
            "similar": _similar(session),
            "benchmarks": [
                views.benchmark_view(session, one, rows=False)
                for one in session.scalars(select(Benchmark).order_by(Benchmark.id))
            ],
            "counts": overview(session, web.site),
            "studies": studies(web.site),
        }
    shown = {"text": text, "secret": secret} if secret else None
    return page(request, "admin", user, shown=shown, **values)


def _similar(session: Session) -> list[dict[str, Any]]:
    """Near-duplicates of different teams, the newest first."""
    found = session.scalars(select(Similarity).order_by(Similarity.at.desc()).limit(_MOST_ROWS))
    listed = []
    for one in found:
        pair = [session.get_one(Submission, name) for name in (one.first_id, one.second_id)]
        shown = [{"id": s.id, "method": s.method, "team": s.team.name} for s in pair]
        numbers = {"agreement": one.agreement, "distance": one.distance}
        listed.append({"pair": shown, "benchmark": pair[0].benchmark_id, **numbers})
    return listed


def _duplicates(session: Session) -> dict[str, list[str]]:
    """Archives that several teams have sent."""
    teams = func.count(Submission.team_id.distinct())
    shared = select(Submission.archive).group_by(Submission.archive).having(teams > 1)
    found = select(Submission.archive, Submission.id).where(Submission.archive.in_(shared))
    listed: dict[str, list[str]] = defaultdict(list)
    for archive, name in session.execute(found.order_by(Submission.created_at)):
        listed[archive].append(name)
    return dict(listed)


@admin_pages.post("/admin/invite")
def invite(request: Request, user: Admin, _form: Form) -> HTMLResponse:
    """Makes an invitation to a team of its own."""
    web = web_of(request)
    with web.database.begin() as session:
        secret = links.make_link(session, "invitation")
        audit(session, "invitation made", "", user.id)
    link = web.settings.link(f"join/{secret}")
    return _admin_page(request, user, "Whoever has this link can make an account, once.", link)


@admin_pages.post("/admin/reset")
def reset_other(request: Request, user: Admin, form: Form) -> HTMLResponse:
    """Makes a link with which somebody sets a new password."""
    web = web_of(request)
    with web.database.begin() as session:
        secret = links.reset_link(session, _other(session, form).email)
        audit(session, "reset link made by admin", form.get("user", ""), user.id)
    link = web.settings.link(f"reset/{secret}")
    return _admin_page(request, user, "This link sets a new password, once, for an hour.", link)


@admin_pages.post("/admin/disable")
def disable(request: Request, user: Admin, form: Form) -> Response:
    """Closes an account, or opens it again."""
    with web_of(request).database.begin() as session:
        other = _other(session, form)
        if other.id == user.id:
            raise Refused("conflict", "You cannot close your own account here")
        if other.disabled_at is None:
            # Whoever asks may just have been disabled by somebody else.
            people.require_other_admin(session, other)
        other.disabled_at = None if other.disabled_at else now()
        people.revoke_all(session, other)
        done = "closed" if other.disabled_at else "opened"
        audit(session, f"account {done}", other.email, user.id)
    return RedirectResponse("/admin", 303)


def _other(session: Session, form: Form) -> User:
    number = form.get("user", "")
    found = session.get(User, int(number)) if number.isdigit() else None
    if found is None:
        raise Refused("not-found", "There is no such account")
    return found
