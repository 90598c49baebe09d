"""Pages and API: what works, who sees what, and what everybody tries."""

import re

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient
from tests.serve import tiny as made
from tests.serve.conftest import PASSWORD

from depthgauge.serve.accounts import links, people
from depthgauge.serve.storage.models import Base, Snapshot, User
from depthgauge.serve.submissions import worker
from depthgauge.serve.web.app import make_app
from depthgauge.serve.web.settings import WebSettings

URL = "http://site.example:8400"
FORM = {"Origin": URL}


@pytest.fixture
def app(site, database):
    return make_app(site, database, WebSettings(URL, ("10.0.0.1",)))


@pytest.fixture
def browser(app):
    """Makes visitors; `browser(user)` is logged in."""

    def make(user=None, **more):
        client = TestClient(app, base_url=URL, follow_redirects=False, **more)
        if user is not None:
            fields = {"email": user.email, "password": PASSWORD}
            answer = client.post("/login", data=fields, headers=FORM)
            assert answer.status_code == 303, answer.text
        return client

    return make


@pytest.fixture
def first_state(database):
    """The address of the first state of the benchmark; a database may leave out numbers."""

    def address():
        with database.begin() as session:
            number = session.scalar(sa.select(sa.func.min(Snapshot.id)))
        return f"/benchmarks/tiny/at/{number}"

    return address


@pytest.fixture
def token(database):
    def make(user, scopes=("submit", "read")):
        with database.begin() as session:
            secret = people.make_token(session, user, "test", scopes, 30)
        return {"Authorization": f"Bearer {secret}"}

    return make


def post(client, path, **fields):
    """Sends a form of ours, with the token of a page of ours."""
    csrf = re.search(r'name="csrf" value="(\w+)"', client.get("/").text)
    fields = {"csrf": csrf[1] if csrf else "", **fields}
    return client.post(path, data=fields, headers=FORM)


def test_everything_a_person_does(site, database, tiny, browser, add_user, first_state):
    """Joins by a link, logs in, submits on the page, sees the score, publishes it."""
    with database.begin() as session:
        secret = links.make_link(session, "invitation")
    client = browser()
    assert "New account" in client.get(f"/join/{secret}").text
    entries = {"secret": secret, "name": "Ann", "email": "ann@example.org", "password": PASSWORD}
    assert "Keep these codes" in client.post("/join", data=entries, headers=FORM).text
    assert client.post("/login", data=entries, headers=FORM).headers["location"] == "/account"
    page = client.get("/benchmarks/tiny")
    csrf = re.search(r'name="csrf" value="(\w+)"', page.text)[1]
    sent = client.post(
        "/benchmarks/tiny/submit",
        data={"csrf": csrf, "method": "Mine", "link": "https://example.org/x"},
        files={"archive": ("a.zip", made.archive(), "application/zip")},
        headers=FORM,
    )
    assert sent.status_code == 303, sent.text
    place = sent.headers["location"]
    assert "queued" in client.get(place).text
    worker.work_once(site, database)
    text = client.get(place).text
    assert "scored" in text
    assert "mae@all" in text
    assert browser().get(place).status_code == 404  # not published yet
    assert post(client, f"{place}/visibility", visibility="public").status_code == 303
    board = browser().get("/benchmarks/tiny").text
    assert "Mine" in board
    assert browser().get(first_state()).status_code == 200
    assert "https://example.org/x" in browser().get(place).text
    post(client, f"{place}/withdraw")
    assert "Mine" not in browser().get("/benchmarks/tiny").text
    assert "Mine" not in browser().get(first_state()).text
    assert "withdrawn entry" in browser().get(first_state()).text
    assert client.get("/account/export").json()["submissions"][0]["method"] == "Mine"


def test_everything_a_program_does(site, database, tiny, browser, add_user, token):
    client, head, content = browser(), token(add_user()), made.archive()
    told = {"size": len(content), "sha256": made.sha256(content)}
    begun = client.post("/api/benchmarks/tiny/uploads", json=told, headers=head)
    assert begun.status_code == 201
    place = f"/api/uploads/{begun.json()['id']}"
    assert client.put(f"{place}?offset=0", content=content[:99], headers=head).status_code == 200
    again = client.post("/api/benchmarks/tiny/uploads", json=told, headers=head).json()
    assert (again["id"], again["received"]) == (begun.json()["id"], 99)
    wrong = client.put(f"{place}?offset=5", content=b"x", headers=head)
    assert wrong.json() == {
        "ok": False,
        "error": "99 bytes have arrived; go on from there.",
        "code": "conflict",
    }
    client.put(f"{place}?offset=99", content=content[99:], headers=head)
    sent = client.post(f"{place}/submit", json={"method": "Mine"}, headers=head)
    assert sent.status_code == 202
    worker.work_once(site, database)
    found = client.get(f"/api/submissions/{sent.json()['id']}", headers=head).json()
    assert found["state"] == "scored"
    assert {s["score"]: s["value"] for s in found["scores"]}["mae@all"] == 0.5
    shown = {"visibility": "public"}
    place = f"/api/submissions/{found['id']}"
    assert client.post(f"{place}/visibility", json=shown, headers=head).status_code == 200
    (row,) = client.get("/api/benchmarks/tiny").json()["rows"]
    assert (row["rank"], row["method"]) == (1, "Mine")
    assert len(client.get("/api/submissions", headers=head).json()) == 1
    assert client.post(f"{place}/withdraw", headers=head).json()["state"] == "withdrawn"


def test_the_api_ignores_cookies_and_tokens_have_scopes(browser, add_user, token, tiny):
    ann = add_user()
    assert browser(ann).get("/api/submissions").status_code == 401
    client = browser()
    assert client.get("/api/submissions", headers=token(ann, ["submit"])).status_code == 403
    told = {"size": 1, "sha256": "0" * 64}
    reads = token(ann, ["read"])
    answer = client.post("/api/benchmarks/tiny/uploads", json=told, headers=reads)
    assert answer.status_code == 403
    for head in ("", "Basic abc", "Bearer", "Bearer dg_guess"):
        assert client.get("/api/submissions", headers={"Authorization": head}).status_code == 401
    # A token in the address would end up in logs: it does not count.
    assert client.get(f"/api/submissions?token={reads}").status_code == 401


def test_forms_of_other_sites_are_refused(browser, add_user, database):
    client = browser(add_user())
    for headers in ({}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
        answer = client.post("/account/invite", data={"a": "b"}, headers=headers)
        assert answer.status_code == 403
    assert client.post("/account/invite", data={"csrf": "0" * 64}, headers=FORM).status_code == 403
    assert post(client, "/account/invite").status_code == 200
    body = '{"a": 1}'
    json_form = {**FORM, "Content-Type": "text/plain"}
    assert client.post("/account/invite", content=body, headers=json_form).status_code == 422
    # Logging somebody in as somebody else is a forged form, too.
    fields = {"email": "ann@example.org", "password": PASSWORD}
    evil = {"Origin": "https://evil.example"}
    assert browser().post("/login", data=fields, headers=evil).status_code == 403


def test_a_session_gets_a_new_secret_when_it_begins(browser, add_user):
    ann = add_user()
    client = browser()
    client.cookies.set("depthgauge", "chosen by somebody else")
    page = client.get("/login")
    csrf = re.search(r'name="csrf" value="(\w+)"', page.text)
    fields = {"email": ann.email, "password": PASSWORD, "csrf": csrf[1] if csrf else ""}
    from depthgauge.serve.accounts.secrets import secret_hash

    fields["csrf"] = secret_hash("csrf:chosen by somebody else")
    answer = client.post("/login", data=fields, headers=FORM)
    cookie = answer.headers["set-cookie"]
    assert "chosen" not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie


def test_with_tls_cookies_are_bound_to_the_host(site, database, add_user):
    url = "https://site.example"
    client = TestClient(make_app(site, database, WebSettings(url)), base_url=url)
    fields = {"email": add_user().email, "password": PASSWORD}
    answer = client.post("/login", data=fields, headers={"Origin": url}, follow_redirects=False)
    assert re.match(r"__Host-depthgauge=\S+; .*Path=/.*Secure", answer.headers["set-cookie"])
    assert "Strict-Transport-Security" in answer.headers


def test_other_hosts_are_refused(app):
    client = TestClient(app, base_url="http://evil.example")
    answer = client.get("/")
    assert answer.status_code == 421
    assert "evil" not in answer.text


def test_forwarded_addresses_count_from_trusted_proxies_only(browser, add_user, monkeypatch):
    from depthgauge.serve.accounts import rates

    monkeypatch.setattr(rates, "LOGIN_BY_ADDRESS", rates.Limit("login-address", 2, 10**6))
    wrong = {"email": "x@example.org", "password": "wrong password"}

    def attempts(client):
        found = []
        for n in range(4):
            head = {**FORM, "X-Forwarded-For": f"6.6.6.6, 7.7.7.{n}"}
            fields = {**wrong, "email": f"{n}@example.org"}
            found.append(client.post("/login", data=fields, headers=head).status_code)
        return found

    assert attempts(browser(client=("9.9.9.9", 1))) == [401, 401, 429, 429]
    assert attempts(browser(client=("10.0.0.1", 1))) == [401] * 4


def test_every_answer_has_the_headers(browser, tiny):
    client = browser()
    for path in (
        "/",
        "/benchmarks/tiny",
        "/nothing",
        "/api/benchmarks",
        "/login",
        "/static/site.0.css",
    ):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
        page = client.get(path).text
        scripts = re.findall("<script.*?>.*?<", page)
        assert all("src=" in each and each.endswith("><") for each in scripts)  # none inline
        assert " style=" not in page


def test_a_fault_is_one_sentence_without_details(site, database, monkeypatch, caplog):
    from depthgauge.serve.web import views

    def fail(*_args, **_more):
        raise RuntimeError("secret detail")

    app = make_app(site, database, WebSettings(URL))
    monkeypatch.setattr(views, "find_benchmark_row", fail)
    client = TestClient(app, base_url=URL, raise_server_exceptions=False)
    for path in ("/benchmarks/x", "/api/benchmarks/x"):
        answer = client.get(path)
        assert answer.status_code == 500
        assert "secret detail" not in answer.text
        assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_what_people_write_is_text(database, tiny, browser, add_user, send, site, first_state):
    evil = '<script>alert(1)</script>"onmouseover="x'
    ann = add_user()
    with database.begin() as session:
        session.get_one(User, ann.id).name = evil
        session.get_one(User, ann.id).team.name = evil
    sent = send(ann, method=evil, details={"description": evil, "link": "https://x.org/'a"[:13]})
    worker.work_once(site, database)
    client = browser(ann)
    post(client, f"/submissions/{sent.id}/visibility", visibility="public")
    for path in (
        "/account",
        f"/submissions/{sent.id}",
        "/benchmarks/tiny",
        first_state(),
    ):
        text = client.get(path).text
        assert "&lt;script&gt;" in text
        assert "<script>" not in text
        assert '"onmouseover' not in text


def test_too_long_forms_and_pieces_are_refused(browser, add_user, token, tiny, monkeypatch):
    from depthgauge.serve.web import api as module

    client = browser()
    answer = client.post("/login", data={"email": "x" * 70_000, "password": "x"}, headers=FORM)
    assert answer.status_code == 422
    monkeypatch.setattr(module, "PIECE_BYTES", 10)
    head = token(add_user())
    told = {"size": 100, "sha256": "0" * 64}
    upload = client.post("/api/benchmarks/tiny/uploads", json=told, headers=head).json()["id"]
    answer = client.put(f"/api/uploads/{upload}?offset=0", content=b"x" * 11, headers=head)
    assert answer.status_code == 422


def test_links_are_not_tried_endlessly(browser, monkeypatch):
    from depthgauge.serve.accounts import rates

    monkeypatch.setattr(rates, "LINKS_BY_ADDRESS", rates.Limit("links-address", 3, 10**6))
    client = browser()
    entries = {"secret": "guess", "password": PASSWORD}
    codes = [client.post("/recover", data=entries, headers=FORM).status_code for _ in range(5)]
    assert codes == [422, 422, 422, 429, 429]


def test_an_admin_invites_resets_and_disables(browser, add_user, database):
    ada, bob = add_user("ada@example.org", admin=True), add_user("bob@example.org")
    client = browser(ada)
    text = post(client, "/admin/invite").text
    secret = re.search(rf"{URL}/join/([\w-]+)", text)[1]
    entries = {"secret": secret, "name": "Eve", "email": "eve@example.org", "password": PASSWORD}
    assert browser().post("/join", data=entries, headers=FORM).status_code == 200
    text = post(client, "/admin/reset", user=bob.id).text
    secret = re.search(rf"{URL}/reset/([\w-]+)", text)[1]
    entries = {"secret": secret, "password": "a new password"}
    assert browser().post("/recover", data=entries, headers=FORM).status_code == 200
    assert post(client, "/admin/disable", user=ada.id).status_code == 409
    post(client, "/admin/disable", user=bob.id)
    fields = {"email": bob.email, "password": "a new password"}
    assert browser().post("/login", data=fields, headers=FORM).status_code == 401
    eve = browser()
    eve.post("/login", data={"email": "eve@example.org", "password": PASSWORD}, headers=FORM)
    assert eve.get("/admin").status_code == 404
    assert post(eve, "/admin/invite").status_code == 404


def test_the_schema_describes_the_api_only(browser):
    paths = browser().get("/api/openapi.json").json()["paths"]
    assert all(path.startswith("/api/") for path in paths)
    assert len(paths) == 13


def test_whoever_deletes_an_account_leaves_no_name(
    site, database, tiny, browser, add_user, send, first_state
):
    ada = add_user("ada@example.org", admin=True)
    ann = add_user("ann@example.org")
    shared = made.archive(made.estimates(0.2))
    sent = send(ann, method="AnnsMethod", details={"setup": "AnnsSetup"})
    send(ann, shared, method="AnnsMethod")
    send(add_user("bob@example.org"), shared, method="BobsMethod")
    for _ in range(3):
        worker.work_once(site, database)
    client = browser(ann)
    post(client, f"/submissions/{sent.id}/visibility", visibility="public")
    assert post(client, "/account/delete", password="wrong password").status_code == 403
    assert post(client, "/account/delete", password=PASSWORD).status_code == 303
    assert client.get("/account").headers["location"] == "/login"
    fields = {"email": ann.email, "password": PASSWORD}
    assert browser().post("/login", data=fields, headers=FORM).status_code == 401
    board = browser().get(first_state()).text
    assert "withdrawn entry" in board
    with database.begin() as session:
        rows = [
            str(row)
            for table in Base.metadata.tables
            for row in session.execute(sa.text(f"SELECT * FROM {table}"))
        ]
    whole = "\n".join(rows)
    assert "BobsMethod" in whole
    for name in ("ann@example.org", "AnnsMethod", "AnnsSetup", "'Ann'"):
        assert name not in whole
    assert list(site.blobs) == [made.sha256(shared)]  # Bob needs it
    answer = post(browser(ada), "/account/delete", password=PASSWORD)
    assert answer.status_code == 409  # somebody must administer the site


def test_what_a_team_submitted_stays_with_the_team(database, tiny, browser, add_user, send, read):
    ann = add_user()
    add_user("bob@example.org", team_id=ann.team_id)
    sent = send(ann, method="Ours")
    assert post(browser(ann), "/account/delete", password=PASSWORD).status_code == 303
    found, _ = read(sent)
    assert (found.method, found.state, found.user_id) == ("Ours", "queued", None)
