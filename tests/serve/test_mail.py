"""Mail: links that are mailed, notices, and a server that fails in every way."""

import re
import smtplib
import ssl
import subprocess
import threading

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult
from fastapi.testclient import TestClient
from tests.serve import tiny as made
from tests.serve.conftest import PASSWORD
from tests.serve.test_web import FORM, URL, post

from depthgauge.errors import Misuse, Refused
from depthgauge.serve.accounts import people, rates
from depthgauge.serve.mail import mailer, outbox
from depthgauge.serve.mail.server import mail_server
from depthgauge.serve.storage.models import Notification, OneTimeLink, OutgoingMail, User
from depthgauge.serve.submissions import worker
from depthgauge.serve.web.app import make_app
from depthgauge.serve.web.settings import WebSettings

SETTINGS = WebSettings(URL, mail=True, registration="open")


class Box:
    """Keeps what a mail server got; `answers` are given first, then everything is taken."""

    def __init__(self):
        self.mails, self.answers, self.seen = [], [], []

    async def handle_DATA(self, server, session, envelope):
        self.seen.append((session.ssl is not None, session.authenticated))
        if self.answers:
            return self.answers.pop(0)
        self.mails.append((envelope.rcpt_tos, envelope.content.decode()))
        return "250 OK"


@pytest.fixture
def box():
    return Box()


@pytest.fixture
def server(box):
    controller = Controller(box, hostname="127.0.0.1", port=0)
    controller.port = _free_port()
    controller.start()
    yield mail_server(f"smtp://127.0.0.1:{controller.port}", "site.example")
    controller.stop()


def _free_port():
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture
def visitor(site, database):
    app = make_app(site, database, SETTINGS)
    return lambda: TestClient(app, base_url=URL, follow_redirects=False)


def send_all(database, server):
    while mailer.send_one(database, server, SETTINGS):
        pass


def link(text):
    return re.search(rf"{URL}/(?:join|reset)/([\w-]+)", text)[1]


def test_registration_and_reset_by_mail(database, server, box, visitor):
    client = visitor()
    assert 'href="/register"' in client.get("/login").text
    asked = client.post("/register", data={"email": "Ann@Example.org"}, headers=FORM)
    assert "on its way" in asked.text
    send_all(database, server)
    ((to, text),) = box.mails
    assert to == ["ann@example.org"]
    entries = {"secret": link(text), "name": "Ann", "password": PASSWORD}
    other = {**entries, "email": "eve@example.org"}
    assert client.post("/join", data=other, headers=FORM).status_code == 422
    entries["email"] = "ann@example.org"
    assert "Keep these codes" in client.post("/join", data=entries, headers=FORM).text
    # The same address again: the page says the same, the mail says that there is an account.
    again = client.post("/register", data={"email": "ann@example.org"}, headers=FORM)
    assert again.text == asked.text
    send_all(database, server)
    assert "has one already" in box.mails[1][1]
    client.post("/recover/mail", data={"email": "ann@example.org"}, headers=FORM)
    send_all(database, server)
    fields = {"secret": link(box.mails[2][1]), "password": "a new password"}
    assert client.post("/recover", data=fields, headers=FORM).status_code == 200
    with database.begin() as session:
        user = session.query(User).one()
    assert people.log_in(database, user.email, "a new password", "1.1.1.1")


def test_nobody_learns_who_has_an_account(database, server, box, visitor, add_user):
    ann = add_user()
    client = visitor()
    answers, rows = [], []
    for email in (ann.email, "nobody@example.org"):
        answers.append(client.post("/recover/mail", data={"email": email}, headers=FORM).text)
        with database.begin() as session:
            row = session.query(OutgoingMail).one()
            rows.append((row.kind, row.state, row.attempts, row.notification_id))
        send_all(database, server)
        with database.begin() as session:
            session.query(OutgoingMail).delete()
    assert answers[0] == answers[1]
    assert rows[0] == rows[1]  # so a request takes as long, too
    assert [to for to, _ in box.mails] == [[ann.email]]


@pytest.mark.long
def test_one_account_gets_few_mails_and_one_address_asks_little(database, monkeypatch, add_user):
    for n in range(rates.MAIL_TO_ACCOUNT.count + 2):  # no reply tells that the last were dropped
        people.ask_for_mail(database, "reset", add_user().email if not n else "ann@example.org", "")
    with database.begin() as session:
        assert session.query(OutgoingMail).count() == rates.MAIL_TO_ACCOUNT.count
    for n in range(rates.MAIL_BY_ADDRESS.count):
        people.ask_for_mail(database, "reset", f"{n}@example.org", "one place")
    with pytest.raises(Refused, match="Too many"):
        people.ask_for_mail(database, "reset", "x@example.org", "one place")
    with pytest.raises(Refused, match="no e-mail"):
        people.ask_for_mail(database, "reset", "a@b.c\nBcc: x@y.z", "other")


def test_without_mail_there_are_no_such_pages(site, database):
    client = TestClient(make_app(site, database, WebSettings(URL)), base_url=URL)
    assert client.get("/register").status_code == 404
    for path in ("/register", "/recover/mail"):
        assert client.post(path, data={"email": "a@b.c"}, headers=FORM).status_code == 404
    assert "mail me" not in client.get("/recover").text.lower()
    with pytest.raises(Misuse, match="needs mail"):
        WebSettings(URL, registration="open")


def test_authors_are_told_on_the_page_and_by_mail(
    site, database, tiny, add_user, send, server, box, visitor
):
    ann = add_user()
    bob = add_user("bob@example.org", team_id=ann.team_id)
    client = visitor()
    client.post("/login", data={"email": bob.email, "password": PASSWORD}, headers=FORM)
    assert post(client, "/account/mail", mail="no").status_code == 303
    send(ann, method="Good")
    send(ann, made.archive({}, [("x", b"")]), method="Bad")
    for _ in range(2):
        worker.work_once(site, database)
    send_all(database, server)
    assert [to for to, _ in box.mails] == [[ann.email]] * 2  # bob wants no mail
    texts = " ".join(text.replace("=\n", "") for _, text in box.mails)
    assert "Good, your submission to tiny, was scored" in texts
    assert "Bad, your submission to tiny, could not be scored" in texts
    assert "0.5" not in texts.replace(URL, "")  # no scores in mails
    page = client.get("/account").text
    assert page.count("<strong>new</strong>") == 2
    assert post(client, "/account/notices").status_code == 303
    assert "<strong>new</strong>" not in client.get("/account").text
    assert len(client.get("/account/export").json()["notices"]) == 2
    with database.begin() as session:
        assert session.query(Notification).filter_by(user_id=ann.id, read_at=None).count() == 2


def test_a_server_that_fails_loses_and_doubles_nothing(database, server, box, monkeypatch):
    moment = [outbox.now()]
    monkeypatch.setattr(outbox, "now", lambda: moment[0])
    with database.begin() as session:
        outbox.put(session, "registration", "ann@example.org")
    box.answers = ["451 later", "554 no"]
    for _ in range(2):
        send_all(database, server)
        assert box.mails == []
        assert not mailer.send_one(database, server, SETTINGS)  # not before a pause
        moment[0] += 60
    send_all(database, server)
    ((_, text),) = box.mails
    with database.begin() as session:
        assert session.query(OutgoingMail).one().state == "sent"
        assert session.query(OneTimeLink).filter_by(kind="registration").count() == 1
        assert link(text)  # former links stopped working, this one does
        people.join(session, link(text), "ann@example.org", "Ann", PASSWORD)
    moment[0] += 10**5
    send_all(database, server)
    assert len(box.mails) == 1


def test_a_mailer_that_dies(database, server, box, monkeypatch):
    """Before the text is handed over, the mail is sent later; after it, never again."""
    moment = [outbox.now()]
    monkeypatch.setattr(outbox, "now", lambda: moment[0])
    for email in ("early@example.org", "late@example.org"):
        with database.begin() as session:
            outbox.put(session, "registration", email)
    early, late = outbox.take(database), outbox.take(database)
    assert outbox.take(database) is None  # others have them
    assert outbox.hand_over(database, late)
    moment[0] += outbox.LEASE_S + 1
    send_all(database, server)
    assert [to for to, _ in box.mails] == [[early.email]]
    assert not outbox.hand_over(database, early)  # it was only slow: too late
    with database.begin() as session:
        states = {row.email: row.state for row in session.query(OutgoingMail)}
    assert states == {early.email: "sent", late.email: "handed-over"}


def test_a_server_that_goes_away_in_the_middle(database, server, monkeypatch):
    with database.begin() as session:
        outbox.put(session, "registration", "ann@example.org")

    def vanish(*_args, **_more):
        raise smtplib.SMTPServerDisconnected("gone")

    monkeypatch.setattr(smtplib.SMTP, "send_message", vanish)
    assert mailer.send_one(database, server, SETTINGS)
    with database.begin() as session:  # nobody knows whether it arrived
        assert session.query(OutgoingMail).one().state == "handed-over"


@pytest.mark.long
def test_old_mails_are_given_up(database, server, box, monkeypatch):
    moment = outbox.now()
    with database.begin() as session:
        outbox.put(session, "reset", "ann@example.org")
    monkeypatch.setattr(outbox, "now", lambda: moment + outbox.GIVE_UP_S["reset"] + 1)
    assert not mailer.send_one(database, server, SETTINGS)
    with database.begin() as session:
        assert session.query(OutgoingMail).one().state == "given-up"
    monkeypatch.setattr(outbox, "now", lambda: moment + outbox.KEPT_S + 1)
    mailer.send_one(database, server, SETTINGS)
    with database.begin() as session:
        assert session.query(OutgoingMail).count() == 0


@pytest.mark.long
def test_tls_and_passwords(database, box, tmp_path, monkeypatch):
    """STARTTLS is required, certificates are checked, and a password goes over TLS only."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost"
    command += f" -addext subjectAltName=DNS:localhost -keyout {key} -out {certificate}"
    subprocess.run(command.split(), check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def check(_server, _session, _envelope, _mechanism, given):
        return AuthResult(success=(given.login, given.password) == (b"me", b"p@ss"))

    class Secure(Controller):
        def factory(self):
            return SMTP(
                self.handler,
                tls_context=context,
                require_starttls=True,
                authenticator=check,
                auth_required=True,
            )

    controller = Secure(box, hostname="127.0.0.1", port=_free_port())
    controller.start()
    try:
        url = f"smtp://me:p%40ss@localhost:{controller.port}?starttls=yes"
        with database.begin() as session:
            outbox.put(session, "registration", "ann@example.org")
        strange = mail_server(url, "site.example")
        mailer.send_one(database, strange, SETTINGS)
        assert box.mails == []  # nobody vouches for its certificate
        with database.begin() as session:
            session.query(OutgoingMail).one().next_at = 0
        trusting = ssl.create_default_context(cafile=certificate)
        monkeypatch.setattr(ssl, "create_default_context", lambda: trusting)
        mailer.send_one(database, strange, SETTINGS)
        assert len(box.mails) == 1
        assert box.seen == [(True, True)]
    finally:
        controller.stop()


@pytest.mark.parametrize(
    "url", ["", "http://x", "smtp://", "smtp://x:y", "smtp://h?other=1", "smtp://h:99999"]
)
def test_what_is_no_mail_server(url):
    with pytest.raises(Misuse, match="--smtp") as caught:
        mail_server(url.replace("x:y", "me:secret@h:y"), "site.example")
    assert "secret" not in str(caught.value)


def test_urls_of_mail_servers():
    far = mail_server("smtp://mail.example.org", "depth.example.org:443")
    assert (far.port, far.tls, far.sender) == (587, "starttls", "depthgauge@depth.example.org")
    assert mail_server("smtps://u:p%3A@mail.example.org", "x").tls == "always"
    assert mail_server("smtps://u:p%3A@mail.example.org", "x").password == "p:"
    assert mail_server("smtp://localhost:25?from=a@b.c", "x").sender == "a@b.c"


def test_the_mailer_goes_on_when_the_database_is_away(monkeypatch, caplog):
    stop, calls = threading.Event(), []

    def fail(*_args):
        calls.append(1)
        if len(calls) == 3:
            stop.set()
        raise RuntimeError("away")

    monkeypatch.setattr(mailer, "send_one", fail)
    monkeypatch.setattr(mailer, "_IDLE_S", 0.0)
    mailer.work(None, None, SETTINGS, stop)
    assert len(calls) == 3


@pytest.mark.long
def test_the_process_of_the_mailer(site, database, add_user, box):
    """The supervisor starts it, it survives kill -9, and every mail arrives once."""
    import os
    import signal
    import time
    from pathlib import Path

    from depthgauge.serve import running

    controller = Controller(box, hostname="127.0.0.1", port=_free_port())
    controller.start()
    port, stop, ready = _free_port(), threading.Event(), threading.Event()
    settings = WebSettings(f"http://127.0.0.1:{port}", mail=True)
    options = {"smtp": f"smtp://127.0.0.1:{controller.port}", "workers": 0}
    place = {"host": "127.0.0.1", "port": port, "stop": stop, "on_ready": ready.set}
    thread = threading.Thread(
        target=running.run_site, args=(site, settings), kwargs={**place, **options}
    )
    thread.start()

    def mailers():
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            words = path.read_bytes().split(b"\0")
            if b"depthgauge.serve.mail.mailer" in words:
                about = (path.parent / "status").read_text()
                if int(about.split("PPid:")[1].split()[0]) == os.getpid():
                    yield int(path.parent.name)

    try:
        assert ready.wait(60)
        for n in range(20):
            with database.begin() as session:
                outbox.put(session, "reset", add_user(f"u{n}@example.org").email)
            if n in (5, 12):
                time.sleep(2)
                for pid in list(mailers()):
                    os.kill(pid, signal.SIGKILL)
                with database.begin() as session:  # else it would wait for the lease
                    session.query(OutgoingMail).filter_by(state="waiting").update({"next_at": 0})
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with database.begin() as session:
                if session.query(OutgoingMail).filter_by(state="waiting").count() == 0:
                    break
            time.sleep(0.5)
    finally:
        stop.set()
        thread.join()
        controller.stop()
    receivers = [to for (to,), _ in box.mails]
    assert len(receivers) == len(set(receivers))  # none twice
    with database.begin() as session:
        unsure = session.query(OutgoingMail).filter_by(state="handed-over").count()
        sent = session.query(OutgoingMail).filter_by(state="sent").count()
    assert sent + unsure == 20
    assert len(receivers) >= sent
