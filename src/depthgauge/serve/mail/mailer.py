"""The mailer: takes mails from the database, makes their text, and hands them to a server.

`python -m depthgauge.serve.mail.mailer` is a process of its own. It needs the database only, and
locks itself out of everything else as the web process does. Links with secrets are made here, when
a mail is sent: only their hashes are ever stored.
"""

from __future__ import annotations

import logging
import signal
import smtplib
import threading
from email.message import EmailMessage

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from depthgauge._confine import end_with_parent
from depthgauge.serve.accounts.links import Kind, make_link
from depthgauge.serve.accounts.notices import TEXTS
from depthgauge.serve.lockout import lock_out
from depthgauge.serve.mail import outbox
from depthgauge.serve.mail.outbox import Letter
from depthgauge.serve.mail.server import MailServer, mail_server
from depthgauge.serve.process_settings import own_settings
from depthgauge.serve.storage.database import Database, audit
from depthgauge.serve.storage.models import Notification, OneTimeLink, OutgoingMail, User
from depthgauge.serve.web.settings import WebSettings

_IDLE_S = 2.0
_LOG = logging.getLogger("depthgauge.serve.mail")
_RESET = """Somebody, probably you, has asked for a new password at {origin}.
This link sets one. It works once, within an hour:

{link}

If it was not you, do nothing: your password stays as it is.
"""
_REGISTRATION = """Somebody, probably you, wants to make an account at {origin}.
This link makes one. It works once, within a day:

{link}

If it was not you, do nothing.
"""
_HAS_ACCOUNT = """Somebody, probably you, wants to make an account at {origin} with this address,
which has one already. Log in there; if the password is lost, ask for a new one:

{link}
"""
_NOTICE = """{method}, your submission to {benchmark}, {text}.

{link}

To get no such mails, say so on your account page: {origin}/account
"""


def work(
    database: Database, server: MailServer, settings: WebSettings, stop: threading.Event
) -> None:
    """Sends until it is told to stop."""
    while not stop.is_set():
        try:
            busy = send_one(database, server, settings)
        except Exception:  # a database that is away comes back
            _LOG.exception("the mailer could not go on")
            busy = False
        if not busy:
            stop.wait(_IDLE_S)


def send_one(database: Database, server: MailServer, settings: WebSettings) -> bool:
    """Takes one mail and sends it; False if none is due."""
    letter = outbox.take(database)
    if letter is None:
        return False
    with database.begin() as session:
        message = _message(session, letter, settings)
    if message is None:
        outbox.drop(database, letter)
        return True
    message["From"], message["To"] = server.sender, letter.email
    # The same for every attempt: whoever gets it twice in spite of everything, sees it once.
    message["Message-ID"] = f"<{letter.id}.{letter.kind}@{settings.host.partition(':')[0]}>"

    def begin() -> None:
        if not outbox.hand_over(database, letter):
            raise _Lost

    try:
        server.send(message, begin)
    except _Lost:
        return True
    except smtplib.SMTPServerDisconnected:
        _LOG.warning("the mail server went away in the middle of mail %s", letter.id)
        _retry_unless_unsure(database, letter)
    except OSError as error:
        _LOG.warning("mail %s was not taken (%s)", letter.id, type(error).__name__)
        outbox.retry(database, letter)
    else:
        outbox.sent(database, letter)
    return True


class _Lost(Exception):
    """Another mailer has the mail."""


def _retry_unless_unsure(database: Database, letter: Letter) -> None:
    """Puts a mail back if its text was not handed over; else nobody knows, and it stays."""
    with database.begin() as session:
        row = session.get(OutgoingMail, letter.id)
        unsure = row is not None and row.state == "handed-over"
    if not unsure:
        outbox.retry(database, letter)


def _message(session: Session, letter: Letter, settings: WebSettings) -> EmailMessage | None:
    """The mail; None if there is nothing to say, since there is no such account or notice."""
    user = session.scalar(select(User).where(User.email == letter.email))
    known = user is not None and user.disabled_at is None
    message = EmailMessage()
    if letter.kind == "notification":
        return _notice(session, letter, settings, message) if known else None
    if letter.kind == "reset":
        if user is None or not known:
            return None
        secret = _new_link(session, "reset", user_id=user.id)
        message["Subject"] = "New password"
        message.set_content(
            _RESET.format(origin=settings.origin, link=settings.link(f"reset/{secret}"))
        )
        audit(session, "reset link mailed", letter.email)
        return message
    message["Subject"] = "New account"
    if user is not None:
        link = settings.link("recover")
        message.set_content(_HAS_ACCOUNT.format(origin=settings.origin, link=link))
        return message
    secret = _new_link(session, "registration", email=letter.email)
    message.set_content(
        _REGISTRATION.format(origin=settings.origin, link=settings.link(f"join/{secret}"))
    )
    return message


def _new_link(
    session: Session, kind: Kind, *, user_id: int | None = None, email: str | None = None
) -> str:
    """A new link; those of former attempts and requests stop working."""
    whose = OneTimeLink.email == email if user_id is None else OneTimeLink.user_id == user_id
    session.execute(delete(OneTimeLink).where(OneTimeLink.kind == kind, whose))
    return make_link(session, kind, user_id=user_id, email=email)


def _notice(
    session: Session, letter: Letter, settings: WebSettings, message: EmailMessage
) -> EmailMessage | None:
    found = session.get(Notification, letter.notification_id or 0)
    if found is None or found.read_at is not None:
        return None  # read on the page already
    one = found.submission
    message["Subject"] = f"{one.method}: {found.kind}"
    message.set_content(
        _NOTICE.format(
            method=one.method,
            benchmark=one.benchmark_id,
            text=TEXTS[found.kind],
            link=settings.link(f"submissions/{one.id}"),
            origin=settings.origin,
        )
    )
    return message


def main() -> None:
    """The process; ends at SIGTERM after the mail that it sends."""
    known = own_settings()
    end_with_parent()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s: %(message)s")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    lock_out(known.site)
    server = mail_server(known.smtp, known.settings.host)
    work(known.site.open(), server, known.settings, stop)


if __name__ == "__main__":
    main()
