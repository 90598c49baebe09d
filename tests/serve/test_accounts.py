"""Joining, logging in, tokens, resets: what works, and what everybody tries."""

import pytest
from sqlalchemy import text
from tests.serve.conftest import PASSWORD

from depthgauge.errors import Refused
from depthgauge.serve.accounts import links, people, rates, secrets
from depthgauge.serve.storage import database as clock
from depthgauge.serve.storage.models import AuditEntry, Base, User


@pytest.fixture
def at(monkeypatch):
    """Stops the clock of every module that looks at it, and sets it."""
    moment = clock.now()

    def move(seconds):
        for module in (clock, links, people, rates):
            monkeypatch.setattr(module, "now", lambda: moment + seconds)

    move(0)
    return move


def join(database, secret, email="eve@example.org", password=PASSWORD):
    with database.begin() as session:
        return people.join(session, secret, email, "Eve", password)


def test_the_first_admin_comes_from_the_terminal_only(database, add_user):
    with database.begin() as session:
        old, new = links.first_admin_link(session), links.first_admin_link(session)
    with pytest.raises(Refused, match="used already or is too old"):
        join(database, old)  # a newer link was made
    join(database, new)
    with database.begin() as session:
        (admin,) = session.query(User)
        assert admin.role == "admin"
        assert links.first_admin_link(session) is None
    assert add_user("bob@example.org").role == "author"


def test_two_links_for_the_first_admin_make_one(database):
    """As two processes would that start at once."""
    with database.begin() as session:
        first, second = (links.make_link(session, "admin") for _ in range(2))
    join(database, first, "a@example.org")
    with pytest.raises(Refused):
        join(database, second, "b@example.org")


def test_a_link_works_once_and_for_a_while(database, at):
    with database.begin() as session:
        used, late = (links.make_link(session, "invitation") for _ in range(2))
    join(database, used)
    with pytest.raises(Refused, match="too old"):
        join(database, used, "other@example.org")
    at(links.LIFETIMES_S["invitation"] + 1)
    with pytest.raises(Refused, match="too old"):
        join(database, late, "other@example.org")


def test_a_bad_entry_does_not_use_up_the_link(database):
    with database.begin() as session:
        secret = links.make_link(session, "invitation")
    for email, password in (("x", PASSWORD), ("a@b", "short"), ("a b@c", PASSWORD)):
        with pytest.raises(Refused):
            join(database, secret, email, password)
    assert len(join(database, secret)) == links.RECOVERY_CODES


def test_an_invitation_never_makes_an_admin_or_sets_a_password(database, add_user):
    add_user()
    with database.begin() as session:
        secret = links.make_link(session, "invitation")
        with pytest.raises(Refused):
            people.reset(session, secret, PASSWORD)
        reset = links.reset_link(session, "ann@example.org")
        with pytest.raises(Refused):
            people.join(session, reset, "eve@example.org", "Eve", PASSWORD)


def test_joining_does_not_tell_whether_an_account_exists(database, add_user):
    ann = add_user()
    with database.begin() as session:
        secrets_ = [links.make_link(session, "invitation") for _ in range(2)]
    known = join(database, secrets_[0], "ANN@example.org ")
    fresh = join(database, secrets_[1], "new@example.org")
    assert len(known) == len(fresh)
    assert {len(code) for code in known} == {len(code) for code in fresh}
    with database.begin() as session:
        assert session.get(User, ann.id).password_hash == ann.password_hash
        assert session.query(User).count() == 2
        with pytest.raises(Refused):
            people.reset(session, known[0], "a new password")  # the codes are good for nothing


def test_logging_in_does_not_tell_whether_an_account_exists(database, add_user):
    add_user()
    replies = set()
    for email in ("ann@example.org", "nobody@example.org"):
        with pytest.raises(Refused) as caught:
            people.log_in(database, email, "wrong password", "1.2.3.4")
        replies.add((caught.value.code, str(caught.value)))
    assert len(replies) == 1


def test_a_password_is_hashed_the_same_way_where_there_is_no_account(monkeypatch, database):
    asked = []

    class Hasher:
        def hash(self, password):
            return "stored"

        def verify(self, stored, password):
            asked.append(stored)
            return True

    monkeypatch.setattr(secrets, "HASHER", Hasher())
    with pytest.raises(Refused):
        people.log_in(database, "nobody@example.org", PASSWORD, "1.2.3.4")
    assert len(asked) == 1


def test_sessions_begin_with_a_new_secret_and_end(database, add_user, at):
    ann = add_user()
    first, second = (people.log_in(database, ann.email, PASSWORD, "1.2.3.4") for _ in range(2))
    assert first != second
    with database.begin() as session:
        assert people.user_of_session(session, first).id == ann.id
        assert people.user_of_session(session, "guess") is None
        people.log_out(session, first)
        assert people.user_of_session(session, first) is None
        assert people.user_of_session(session, second).id == ann.id
    at(people.SESSION_S + 1)
    with database.begin() as session:
        assert people.user_of_session(session, second) is None


def test_a_disabled_account_is_out_at_once(database, add_user):
    ann = add_user()
    secret = people.log_in(database, ann.email, PASSWORD, "1.2.3.4")
    with database.begin() as session:
        token = people.make_token(session, ann, "laptop", ["submit"], 30)
        session.get(User, ann.id).disabled_at = 1
    with database.begin() as session:
        assert people.user_of_session(session, secret) is None
        with pytest.raises(Refused, match="not known here"):
            people.user_of_token(session, token, "submit")
    with pytest.raises(Refused, match="do not match"):
        people.log_in(database, ann.email, PASSWORD, "1.2.3.4")


def test_tokens_have_scopes_and_an_end(database, add_user, at):
    ann = add_user()
    with database.begin() as session:
        token = people.make_token(session, ann, "laptop", ["read"], 30)
        assert people.user_of_token(session, token, "read").id == ann.id
        with pytest.raises(Refused, match="scope 'submit'") as caught:
            people.user_of_token(session, token, "submit")
        assert caught.value.code == "forbidden"
        for scopes, days in ((["read", "admin"], 1), ([], 1), (["read"], 0), (["read"], 9999)):
            with pytest.raises(Refused):
                people.make_token(session, ann, "bad", scopes, days)
    at(31 * 86_400)
    with database.begin() as session, pytest.raises(Refused, match="too old"):
        people.user_of_token(session, token, "read")


@pytest.mark.parametrize("way", ["link", "recovery code"])
def test_a_reset_ends_everything_that_was_open(database, add_user, way):
    with database.begin() as session:
        secret = links.make_link(session, "invitation")
    codes = join(database, secret, "ann@example.org")
    cookie = people.log_in(database, "ann@example.org", PASSWORD, "1.2.3.4")
    with database.begin() as session:
        ann = session.query(User).one()
        token = people.make_token(session, ann, "laptop", ["submit"], 30)
        key = links.reset_link(session, "Ann@example.org") if way == "link" else codes[3]
        people.reset(session, key, "another password")
        assert people.user_of_session(session, cookie) is None
        with pytest.raises(Refused):
            people.user_of_token(session, token, "submit")
        with pytest.raises(Refused):
            people.reset(session, key, "a third password")
    with pytest.raises(Refused):
        people.log_in(database, "ann@example.org", PASSWORD, "1.2.3.4")
    assert people.log_in(database, "ann@example.org", "another password", "1.2.3.4")


def test_a_reset_link_lives_an_hour(database, add_user, at):
    add_user()
    with database.begin() as session:
        key = links.reset_link(session, "ann@example.org")
        with pytest.raises(Refused, match="no account"):
            links.reset_link(session, "nobody@example.org")
    at(3601)
    with database.begin() as session, pytest.raises(Refused):
        people.reset(session, key, "another password")


def test_guessing_is_slowed_down_by_account_and_by_address(database, add_user, at, monkeypatch):
    monkeypatch.setattr(rates, "LOGIN_BY_ACCOUNT", rates.Limit("login-account", 4, 900))
    monkeypatch.setattr(rates, "LOGIN_BY_ADDRESS", rates.Limit("login-address", 6, 900))
    add_user()
    at(0)
    for n in range(rates.LOGIN_BY_ACCOUNT.count):
        with pytest.raises(Refused, match="do not match"):
            people.log_in(database, "ann@example.org", "wrong password", f"10.0.0.{n}")
    with pytest.raises(Refused, match="Too many") as caught:
        people.log_in(database, "ann@example.org", PASSWORD, "10.0.1.1")  # even if it is right
    assert caught.value.code == "rate"
    for n in range(rates.LOGIN_BY_ADDRESS.count):
        with pytest.raises(Refused, match="do not match"):
            people.log_in(database, f"user{n}@example.org", "wrong password", "6.6.6.6")
    with pytest.raises(Refused, match="Too many"):
        people.log_in(database, "zoe@example.org", "wrong password", "6.6.6.6")
    at(2 * rates.LOGIN_BY_ACCOUNT.seconds)
    assert people.log_in(database, "ann@example.org", PASSWORD, "10.0.0.1")


def test_counters_are_counted_once_by_several_threads(database):
    from concurrent.futures import ThreadPoolExecutor

    limit = rates.Limit("test", 20, 10**6)

    def attempt(_):
        try:
            rates.require_rate(database, limit, "me")
        except Refused:
            return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(attempt, range(28))) == 20


def test_no_secret_is_stored(database, add_user):
    with database.begin() as session:
        secret = links.make_link(session, "invitation")
    codes = join(database, secret, "ann@example.org")
    cookie = people.log_in(database, "ann@example.org", PASSWORD, "1.2.3.4")
    with database.begin() as session:
        token = people.make_token(session, session.query(User).one(), "x", ["read"], 1)
    with database.begin() as session:
        rows = [
            str(row)
            for table in Base.metadata.tables
            for row in session.execute(text(f"SELECT * FROM {table}"))
        ]
    whole = "\n".join(rows)
    assert "ann@example.org" in whole
    for known in (secret, cookie, token, PASSWORD, *codes):
        assert known not in whole


def test_what_happened_is_written_down(database, add_user):
    ann = add_user()
    people.log_in(database, ann.email, PASSWORD, "1.2.3.4")
    with database.begin() as session:
        actions = [entry.action for entry in session.query(AuditEntry)]
    assert actions == ["account made (author)", "logged in"]


def test_names_are_plain_lines():
    assert people.plain_line(" a\n\tb\x00  c ", "name") == "a b c"
    for bad in ("", "\n", "x" * 101):
        with pytest.raises(Refused, match="1 to 100"):
            people.plain_line(bad, "name")
