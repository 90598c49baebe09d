"""The pages of accounts: joining, logging in, notices, tokens."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from depthgauge.errors import Refused
from depthgauge.serve.accounts import links, notices, people
from depthgauge.serve.accounts.secrets import is_password
from depthgauge.serve.deletion import delete_account
from depthgauge.serve.storage.database import audit, now, reading
from depthgauge.serve.storage.models import ApiToken, AuditEntry, Notification, Team, User
from depthgauge.serve.web import views
from depthgauge.serve.web.pages import Form, Member, Visitor
from depthgauge.serve.web.rendering import page
from depthgauge.serve.web.security import client_address, require_pace, session_secret, web_of

_ON_ITS_WAY = (
    "If that is possible for this address, a mail with a link is on its way. It may take some "
    "minutes; look among unwanted mail, too."
)
"""The same for everybody: nobody learns who has an account."""

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


@account_pages.post("/recover/mail")
def recover_by_mail(request: Request, form: Form) -> HTMLResponse:
    """Has a link mailed that sets a new password."""
    return _ask_for_mail(request, form, "reset", "recover", secret="")


@account_pages.get("/register")
def register_form(request: Request, user: Visitor) -> HTMLResponse:
    """Asks for an address, where everybody can make an account."""
    _require_open(request)
    return page(request, "register", user, note="")


@account_pages.post("/register")
def register(request: Request, form: Form) -> HTMLResponse:
    """Has a link mailed that makes an account."""
    _require_open(request)
    return _ask_for_mail(request, form, "registration", "register")


def _require_open(request: Request) -> None:
    if web_of(request).settings.registration != "open":
        raise Refused("not-found", "New accounts need an invitation from the organisers")


def _ask_for_mail(
    request: Request, form: Form, kind: str, template: str, **values: Any
) -> HTMLResponse:
    web = web_of(request)
    if not web.settings.mail:
        raise Refused("not-found", "This site sends no mail; ask an admin for a link")
    try:
        people.ask_for_mail(web.database, kind, form.get("email", ""), client_address(request))
    except Refused as refused:
        status = 429 if refused.code == "rate" else 422
        return page(request, template, None, status=status, note=f"{refused}.", **values)
    return page(request, template, None, note=_ON_ITS_WAY, **values)


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
            "notices": [_notice(one) for one in notices.notices_of(session, user)],
            "wants_mail": session.get_one(User, user.id).mail,
            "shown": {"text": text, "secret": secret} if secret else None,
        }
    return page(request, "account", user, **values)


def _notice(one: Notification) -> dict[str, Any]:
    return {
        "day": views.day(one.at),
        "method": one.submission.method,
        "submission": one.submission_id,
        "benchmark": one.submission.benchmark_id,
        "text": notices.TEXTS[one.kind],
        "new": one.read_at is None,
    }


@account_pages.post("/account/notices")
def read_notices(request: Request, user: Member, _form: Form) -> Response:
    """Marks all notices as read."""
    with web_of(request).database.begin() as session:
        notices.mark_read(session, user)
    return RedirectResponse("/account", 303)


@account_pages.post("/account/mail")
def set_mail(request: Request, user: Member, form: Form) -> Response:
    """Has notices mailed, or not."""
    with web_of(request).database.begin() as session:
        session.get_one(User, user.id).mail = form.get("mail") == "yes"
    return RedirectResponse("/account", 303)


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
            "mail": user.mail,
            "notices": [_notice(one) for one in notices.notices_of(session, user)],
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
        web.site.archives.remove(sha256)
        web.site.blobs.remove(sha256)  # or what was drawn of it
    answer = RedirectResponse("/", 303)
    answer.delete_cookie(web.settings.cookie, path="/", secure=web.settings.is_secure)
    return answer
