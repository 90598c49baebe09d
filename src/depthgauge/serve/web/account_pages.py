"""The pages of accounts: joining, logging in, tokens; and the admin's."""

from __future__ import annotations

import shutil
from collections import defaultdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session, selectinload

from depthgauge.errors import Refused
from depthgauge.serve.accounts import links, people
from depthgauge.serve.accounts.secrets import is_password
from depthgauge.serve.deletion import delete_account
from depthgauge.serve.storage.database import audit, now, reading
from depthgauge.serve.storage.models import ApiToken, AuditEntry, Submission, Team, User
from depthgauge.serve.web import views
from depthgauge.serve.web.pages import Form, Member, Visitor
from depthgauge.serve.web.rendering import page
from depthgauge.serve.web.security import (
    admin,
    client_address,
    require_pace,
    session_secret,
    web_of,
)

Admin = Annotated[User, Depends(admin)]
_MOST_ROWS = 200

account_pages = APIRouter(include_in_schema=False)


@account_pages.get("/login")
def login_form(request: Request, user: Visitor) -> HTMLResponse:
    """Asks for address and password."""
    return page(request, "login", user, note="")


@account_pages.post("/login")
def login(request: Request, form: Form) -> Response:
    """Logs in; the session gets a new secret."""
    web = web_of(request)
    try:
        secret = people.log_in(
            web.database,
            form.get("email", ""),
            form.get("password", ""),
            client_address(request),
        )
    except Refused as refused:
        status = 429 if refused.code == "rate" else 401
        return page(request, "login", None, status=status, note=f"{refused}.")
    answer = RedirectResponse("/account", 303)
    answer.set_cookie(
        web.settings.cookie,
        secret,
        max_age=people.SESSION_S,
        path="/",
        secure=web.settings.is_secure,
        httponly=True,
        samesite="lax",
    )
    return answer


@account_pages.post("/logout")
def logout(request: Request, _form: Form) -> Response:
    """Ends the session."""
    web = web_of(request)
    with web.database.begin() as session:
        people.log_out(session, session_secret(request))
    answer = RedirectResponse("/", 303)
    answer.delete_cookie(web.settings.cookie, path="/", secure=web.settings.is_secure)
    return answer


@account_pages.get("/join/{secret}")
def join_form(request: Request, secret: str, user: Visitor) -> HTMLResponse:
    """Asks for what a new account needs; looking at the page does not use the link."""
    return page(request, "join", user, secret=secret, note="")


@account_pages.post("/join")
def join(request: Request, form: Form) -> HTMLResponse:
    """Makes an account."""
    require_pace(request)
    secret = form.get("secret", "")
    entries = (form.get("email", ""), form.get("name", ""), form.get("password", ""))
    try:
        with web_of(request).database.begin() as session:
            codes = people.join(session, secret, *entries)
    except Refused as refused:
        return page(request, "join", None, status=422, secret=secret, note=f"{refused}.")
    return page(request, "codes", None, codes=codes)


@account_pages.get("/recover")
def recover_form(request: Request, user: Visitor) -> HTMLResponse:
    """Asks for a recovery code."""
    return page(request, "recover", user, secret="", note="")


@account_pages.get("/reset/{secret}")
def reset_form(request: Request, secret: str, user: Visitor) -> HTMLResponse:
    """Asks for a new password."""
    return page(request, "recover", user, secret=secret, note="")


@account_pages.post("/recover")
def recover(request: Request, form: Form) -> Response:
    """Sets a new password with a link or a code."""
    require_pace(request)
    try:
        with web_of(request).database.begin() as session:
            people.reset(session, form.get("secret", ""), form.get("password", ""))
    except Refused as refused:
        return page(request, "recover", None, status=422, secret="", note=f"{refused}.")
    return page(request, "login", None, note="The password is set; log in.")


# The account of who is logged in.


@account_pages.get("/account")
def account(request: Request, user: Visitor) -> Response:
    """Submissions, tokens, team."""
    return RedirectResponse("/login", 303) if user is None else _account_page(request, user)


def _account_page(request: Request, user: User, text: str = "", secret: str = "") -> HTMLResponse:
    with reading(web_of(request).database) as session:
        values: dict[str, Any] = {
            "team": session.get_one(Team, user.team_id).name,
            "submissions": views.submissions_of(session, user),
            "tokens": _tokens(session, user),
            "shown": {"text": text, "secret": secret} if secret else None,
        }
    return page(request, "account", user, **values)


def _tokens(session: Session, user: User) -> list[ApiToken]:
    own = select(ApiToken).where(ApiToken.user_id == user.id, ApiToken.expires_at > now())
    return list(session.scalars(own.order_by(ApiToken.id)))


@account_pages.post("/account/tokens")
def make_token(request: Request, user: Member, form: Form) -> HTMLResponse:
    """Makes a token and shows it once."""
    days = form.get("days", "")
    with web_of(request).database.begin() as session:
        secret = people.make_token(
            session, user, form.get("name", ""), people.SCOPES, int(days) if days.isdigit() else 0
        )
    return _account_page(request, user, "Copy the token now; it is not shown again.", secret)


@account_pages.post("/account/tokens/revoke")
def revoke_token(request: Request, user: Member, form: Form) -> Response:
    """Ends a token."""
    number = form.get("token", "")
    with web_of(request).database.begin() as session:
        own = ApiToken.user_id == user.id
        wanted = ApiToken.id == (int(number) if number.isdigit() else -1)
        session.execute(delete(ApiToken).where(own, wanted))
        audit(session, "token revoked", number, user.id)
    return RedirectResponse("/account", 303)


@account_pages.post("/account/invite")
def invite_to_team(request: Request, user: Member, _form: Form) -> HTMLResponse:
    """Makes a link with which somebody joins the team."""
    web = web_of(request)
    require_pace(request)
    with web.database.begin() as session:
        secret = links.make_link(session, "invitation", team_id=user.team_id)
        audit(session, "invitation to a team made", str(user.team_id), user.id)
    link = web.settings.link(f"join/{secret}")
    return _account_page(request, user, "Whoever has this link can join your team, once.", link)


@account_pages.get("/account/export")
def export(request: Request, user: Member) -> JSONResponse:
    """Everything that the site knows about a user."""
    with reading(web_of(request).database) as session:
        entries = session.scalars(select(AuditEntry).where(AuditEntry.user_id == user.id))
        body = {
            "email": user.email,
            "name": user.name,
            "role": user.role,
            "since": views.day(user.created_at),
            "team": session.get_one(Team, user.team_id).name,
            "tokens": [token.name for token in _tokens(session, user)],
            "submissions": views.submissions_of(session, user),
            "log": [{"day": views.day(e.at), "action": e.action} for e in entries],
        }
    name = {"Content-Disposition": 'attachment; filename="depthgauge-account.json"'}
    return JSONResponse(body, headers=name)


@account_pages.post("/account/delete")
def delete_own(request: Request, user: Member, form: Form) -> Response:
    """Deletes the account of who is logged in, after asking for the password again."""
    web = web_of(request)
    require_pace(request)
    if not is_password(form.get("password", ""), user.password_hash):
        raise Refused("forbidden", "That is not your password; nothing was deleted")
    with web.database.begin() as session:
        archives = delete_account(session, user.id)
    for sha256 in archives:
        web.site.blobs.remove(sha256)
    answer = RedirectResponse("/", 303)
    answer.delete_cookie(web.settings.cookie, path="/", secure=web.settings.is_secure)
    return answer


# The admin's page.


@account_pages.get("/admin")
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
            "duplicates": _duplicates(session),
            **{state: _count(session, state) for state in ("queued", "running")},
        }
    free = shutil.disk_usage(web.site.web).free
    shown = {"text": text, "secret": secret} if secret else None
    return page(request, "admin", user, free=free, shown=shown, **values)


def _count(session: Session, state: str) -> int:
    return int(session.scalar(select(func.count()).where(Submission.state == state)) or 0)


def _duplicates(session: Session) -> dict[str, list[str]]:
    """Archives that several teams have sent."""
    teams = func.count(Submission.team_id.distinct())
    shared = select(Submission.archive).group_by(Submission.archive).having(teams > 1)
    found = select(Submission.archive, Submission.id).where(Submission.archive.in_(shared))
    listed: dict[str, list[str]] = defaultdict(list)
    for archive, name in session.execute(found.order_by(Submission.created_at)):
        listed[archive].append(name)
    return dict(listed)


@account_pages.post("/admin/invite")
def invite(request: Request, user: Admin, _form: Form) -> HTMLResponse:
    """Makes an invitation to a team of its own."""
    web = web_of(request)
    with web.database.begin() as session:
        secret = links.make_link(session, "invitation")
        audit(session, "invitation made", "", user.id)
    link = web.settings.link(f"join/{secret}")
    return _admin_page(request, user, "Whoever has this link can make an account, once.", link)


@account_pages.post("/admin/reset")
def reset_other(request: Request, user: Admin, form: Form) -> HTMLResponse:
    """Makes a link with which somebody sets a new password."""
    web = web_of(request)
    with web.database.begin() as session:
        secret = links.reset_link(session, _other(session, form).email)
        audit(session, "reset link made by admin", form.get("user", ""), user.id)
    link = web.settings.link(f"reset/{secret}")
    return _admin_page(request, user, "This link sets a new password, once, for an hour.", link)


@account_pages.post("/admin/disable")
def disable(request: Request, user: Admin, form: Form) -> Response:
    """Closes an account, or opens it again."""
    with web_of(request).database.begin() as session:
        other = _other(session, form)
        if other.id == user.id:
            raise Refused("conflict", "You cannot close your own account here")
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
