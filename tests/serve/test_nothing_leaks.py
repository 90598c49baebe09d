"""Hidden truth, private entries and other people's data are nowhere, whoever looks wherever."""

import secrets
import time
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

import argon2
import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image
from tests.serve import tiny as made
from tests.serve.conftest import PASSWORD
from tests.serve.crawler import Known, addresses, crawl, routes
from tests.serve.leaks import Hidden

from depthgauge.serve import board
from depthgauge.serve.accounts import links, people
from depthgauge.serve.accounts import secrets as hashes
from depthgauge.serve.exhibits import drawer, queue
from depthgauge.serve.site import Site, make_folders
from depthgauge.serve.storage.database import engine_of
from depthgauge.serve.storage.models import Submission, User
from depthgauge.serve.submissions import intake, sandbox, worker
from depthgauge.serve.submissions.registry import add_benchmark
from depthgauge.serve.web import kept
from depthgauge.serve.web.app import make_app
from depthgauge.serve.web.settings import WebSettings

URL = "http://site.example:8400"
FORM = {"Origin": URL}
ROLES = ("anonymous", "author", "other", "admin")
ALIKE = ("anonymous", "author")
"""Those who must not be able to tell two sites apart; the others see nothing more of the truth."""
MAILS = {"author": "ann@ann.example", "other": "eve@eve.example", "admin": "ada@ada.example"}


def errors():
    """Large errors, as many below as above, so that their mirror image has the same scores."""
    rng = np.random.default_rng(7)
    half = rng.uniform(0.2, 3, (made.SIZE[0] // 2, made.SIZE[1]))
    half *= np.where(np.indices(half.shape).sum(axis=0) // 8 % 2, 1, -1)
    return np.concatenate([half, -half[::-1, ::-1]]).astype(np.float32)


def plain(error=0.0):
    """Estimates that say nothing about the truth but a ramp."""
    y, x = np.mgrid[: made.SIZE[0], : made.SIZE[1]]
    values = (8 + 0.1 * x + 0.05 * y + error).astype(np.float32)
    return dict.fromkeys(made.NAMES, values)


@dataclass
class World:
    """A site with one hidden and one public benchmark, three people, and entries of all kinds."""

    site: Site
    database: object
    app: object
    users: dict
    heads: dict
    known: Known
    entries: dict
    hidden: Hidden

    def client(self, role):
        client = TestClient(self.app, base_url=URL, follow_redirects=False)
        if role != "anonymous":
            fields = {"email": MAILS[role], "password": PASSWORD}
            assert client.post("/login", data=fields, headers=FORM).status_code == 303
        return client


def make_world(folder, empty_site, sign=1, *, small=False):
    """A site whose hidden truth is above or below the plain estimate; if small, only hidden."""
    truths = {name: plain()[name] + sign * errors() for name in made.NAMES}
    folder.mkdir()
    made.write_data(folder / "secret", maps=truths)
    made.write_data(folder / "shown", seed=3)
    site = Site(folder / "site")
    make_folders(site)
    (site.web / "site.db").write_bytes(empty_site.read_bytes())
    database = site.open()
    _add_benchmarks(site, database, folder)
    users, heads = _add_people(database)
    entries, upload = _add_entries(site, database, users, small)
    files = [path.read_bytes() for path in (folder / "secret/hidden").rglob("truth/*.npy")]
    assert len(files) == len(made.NAMES)
    known = Known(["tiny", "open"], list(entries.values()), list(made.NAMES), [upload])
    known.method, known.files = known.submission_id, list(_files(site, database, entries))
    hidden = Hidden(list(truths.values()), [errors(), np.abs(errors())], files)
    app = make_app(site, database, WebSettings(URL))
    return World(site, database, app, users, heads, known, entries, hidden)


def _add_benchmarks(site, database, folder):
    toml, truth = folder / "secret/tiny.toml", folder / "secret/hidden"
    more = {"hidden": truth, "monthly_quota": 9}
    add_benchmark(site, database, str(toml), folder / "secret/public", **more)
    text = (folder / "shown/tiny.toml").read_text().replace('"tiny"', '"open"')
    (folder / "shown/open.toml").write_text(text)
    add_benchmark(site, database, str(folder / "shown/open.toml"), folder / "shown/hidden")


def _add_people(database):
    users, heads = {}, {}
    with database.begin() as session:
        for role, mail in sorted(MAILS.items()):  # the admin first
            link = links.first_admin_link(session) or links.make_link(session, "invitation")
            name = f"{mail.partition('@')[0].title()} Person"
            people.join(session, link, mail, name, PASSWORD)
            users[role] = session.query(User).filter_by(email=mail).one()
            secret = people.make_token(session, users[role], f"{role}-token", people.SCOPES, 1)
            heads[role] = {"Authorization": f"Bearer {secret}"}
    return users, heads


def _add_entries(site, database, users, small):
    found = {}

    def send(name, role, benchmark, content):
        upload = _upload(site, database, users[role], benchmark, content)
        entry = intake.Entry(f"{name}-method", details={"setup": f"{name}-note"})
        found[name] = intake.submit(site, database, users[role], upload, entry).id
        worker.work_once(site, database)

    send("shown", "author", "tiny", made.archive(plain(0.25)))
    send("private", "author", "tiny", made.archive(plain(0.5)))
    send("failed", "author", "tiny", made.archive({}, [("odd-name.txt", b"")]))
    send("others", "other", "tiny", made.archive(plain(0.75)))
    if not small:
        send("sparse", "author", "tiny", made.archive({n: v * 0 - 1 for n, v in plain().items()}))
        send("drawn", "author", "open", made.archive(plain(0.125)))
        send("also", "author", "open", made.archive(plain(0.875)))
        send("undrawn", "other", "open", made.archive(plain(0.375)))
    upload = _upload(site, database, users["author"], "tiny", made.archive(plain(2)))
    with database.begin() as session:
        for name in [one for one in ("shown", "drawn", "also") if one in found]:
            entry = session.get_one(Submission, found[name])
            board.publish(session, entry, users["author"], "public")
    while not small and (taken := queue.take(database)) is not None:
        queue.finish(database, taken, drawer.draw(site, taken))
    return found, upload


def _files(site, database, entries):
    """The addresses of all that was drawn, and comparisons."""
    with database.begin() as session:
        found = [kept.exhibit_of_submission(site, session, one) for one in entries.values()]
        found += [kept.exhibit_of_benchmark(site, session, one) for one in ("tiny", "open")]
    for one in filter(None, found):
        with zipfile.ZipFile(one.pack) as pack:
            yield from (f"{one.base}{name}" for name in pack.namelist())
    for benchmark, first, second in (
        ("open", "drawn", "also"),
        ("open", "drawn", "undrawn"),
        ("tiny", "shown", "private"),
        ("tiny", "shown", "others"),
    ):
        if not {first, second} <= set(entries):
            continue
        query = f"method={entries[first]}&method={entries[second]}&sample=boxes"
        yield f"/benchmarks/{benchmark}/compare?{query}"


def _upload(site, database, user, benchmark, content):
    sha = made.sha256(content)
    upload = intake.begin_upload(site, database, user, benchmark, len(content), sha)
    with database.begin() as session:
        intake.append(site, intake.find_upload(session, user, upload), 0, content)
    return upload


@contextmanager
def as_always():
    """The same time and the same secrets in every site; cheap passwords; no processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: 1.9e9)
        patch.setattr(secrets, "token_bytes", Random(5).randbytes)
        patch.setattr(hashes, "HASHER", argon2.PasswordHasher(1, 8, 1))
        for module in (worker, drawer):
            patch.setattr(module, "run_sandbox", lambda site, job, task: sandbox.check(task))
        yield


@pytest.fixture(scope="module")
def worlds(tmp_path_factory, empty_site):
    """Two sites that differ in their hidden truth, and all that each role reads there."""
    folder = tmp_path_factory.mktemp("worlds")
    found = []
    for sign, roles in ((1, ROLES), (-1, ALIKE)):
        with as_always():
            world = make_world(folder / str(sign), empty_site, sign)
            found.append((world, {role: crawl_as(world, role) for role in roles}))
    yield found
    for world, _ in found:
        engine_of(world.database).dispose()


def crawl_as(world, role, *, follow=True):
    """All that a role can read, on pages and with a token."""
    found, left = crawl(world.app, world.client(role), world.known, follow=follow)
    more = {}
    if role != "anonymous":
        head = world.heads[role]
        more, _ = crawl(
            world.app, world.client("anonymous"), world.known, head, "/api/", follow=follow
        )
    return {**found, **{f"token {address}": answer for address, answer in more.items()}}, left


@pytest.mark.long
def test_no_address_shows_hidden_truth_or_what_belongs_to_others(worlds):
    world, crawled = worlds[0]
    seen = {role: answers for role, (answers, _) in crawled.items()}
    never = set.intersection(*(left for _, left in crawled.values()))
    assert not never, f"no page links to {never}, and tests/serve/crawler.py cannot fill them"
    _check_truth(world, seen)
    _check_people(world, seen)
    _check_unreleased(world, seen)


def test_no_route_shows_hidden_truth_or_what_belongs_to_others(tmp_path, empty_site):
    with as_always():
        world = make_world(tmp_path / "small", empty_site, small=True)
        seen = {role: crawl_as(world, role, follow=False)[0] for role in ROLES[:3]}
    engine_of(world.database).dispose()
    _check_truth(world, seen)
    _check_people(world, seen)
    _check_unreleased(world, seen)


def _check_truth(world, seen):
    checked = set()
    for role, answers in seen.items():
        for address, answer in answers.items():
            assert answer.status_code < 500, address
            if answer.content not in checked:
                found = world.hidden.found_in(answer.content)
                assert not found, f"{role} sees {found[:3]} at {address}"
                checked.add(answer.content)


def _secrets_of(world, role):
    """What only this role, and the admin, may see."""
    names = {"author": ["private", "failed", "sparse"], "other": ["others", "undrawn"]}[role]
    found = [MAILS[role], f"{role}-token"]
    for name in set(names) & set(world.entries):
        found += [world.entries[name], f"{name}-method", f"{name}-note"]
    return [*found, *(["odd-name"] if role == "author" else ["Eve Person"])]


def _check_people(world, seen):
    for owner in ("author", "other"):
        for text in _secrets_of(world, owner):
            for role in ROLES[:3]:
                at = [
                    address
                    for address, answer in seen[role].items()
                    # What was asked for may be repeated, but nothing else is told.
                    if text in answer.text and text not in address
                ]
                assert bool(at) == (role == owner), f"{role} sees {text} at {at[:3]}"
    admin = "".join(answer.text for answer in seen.get("admin", {}).values())
    assert not admin or all(mail in admin for mail in MAILS.values())
    everything = "".join(answer.text for one in seen.values() for answer in one.values())
    assert str(world.site.root.parent) not in everything


def _check_unreleased(world, seen):
    """Of hidden truth, only two scores of all samples together are known."""
    about = [
        answer.text
        for answers in seen.values()
        for address, answer in answers.items()
        if world.entries["shown"] in address or "benchmarks/tiny" in address
    ]
    text = "".join(about)
    assert "badpix:1@all" in text
    for score in ("badpix:2@all", "density@all"):
        assert score not in text
    for secret in ('"count"', '"missing"', '"total"', '"state":['):
        assert secret not in text


@pytest.mark.long
def test_what_strangers_send_changes_nothing_of_others_and_tells_nothing(worlds):
    world = worlds[0][0]
    with world.database.begin() as session:
        before = _rows_of(session, world)
    for role in ("anonymous", "other"):
        client = world.client(role)
        for methods, path, _ in routes(world.app):
            for method in methods - {"GET"}:
                for address in addresses(path, world.known) or []:
                    _try(world, role, client, method, address)
    with world.database.begin() as session:
        assert _rows_of(session, world) == before


def _try(world, role, client, method, address):
    csrf = client.get("/").text.partition('name="csrf" value="')[2].partition('"')[0]
    body = {"visibility": "public", "method": "x", "secret": "guess", "user": "1", "token": "1"}
    body |= {"password": "wrong password", "email": MAILS["author"], "name": "x", "csrf": csrf}
    asked = dict(json=body, headers=world.heads.get(role, {})) if "/api/" in address else {}
    answer = client.request(method, address, **(asked or {"data": body, "headers": FORM}))
    assert answer.status_code < 500, address
    assert not world.hidden.found_in(answer.content)
    told = [one for one in _secrets_of(world, "author") if one in answer.text]
    assert not [one for one in told if one not in address and one != MAILS["author"]], address


def _rows_of(session, world):
    """The author's account and entries."""
    ann = session.get_one(User, world.users["author"].id)
    entries = session.query(Submission).filter_by(team_id=ann.team_id).order_by(Submission.id)
    shown = [(one.id, one.state, one.visibility, one.method) for one in entries]
    return shown, (ann.email, ann.name, ann.role, ann.password_hash, ann.disabled_at)


@pytest.mark.long
def test_two_sites_with_other_truths_and_equal_scores_answer_alike(worlds):
    """What a site says depends on the truth only through what is released."""
    (first, seen), (second, also_seen) = worlds
    assert first.entries == second.entries
    for role in ALIKE:
        answers, others = seen[role][0], also_seen[role][0]
        assert answers.keys() == others.keys()
        for address, answer in answers.items():
            same = others[address]
            assert answer.status_code == same.status_code, address
            assert answer.content == same.content, f"{role}: {address}"
            assert answer.headers.raw == same.headers.raw, f"{role}: {address}"


def test_what_finds_leaks_finds_them(tmp_path):
    """Else the tests above prove nothing."""
    truth = plain()["boxes"] + errors()
    hidden = Hidden([truth], [errors(), np.abs(errors())], [made.npy(truth)])
    file = made.io.BytesIO()
    shade = np.abs(errors())
    Image.fromarray((255 * shade / shade.max()).astype(np.uint8)).save(file, "webp", quality=60)
    for content in (
        made.npy(truth),
        made.archive({"boxes": truth}),
        truth.astype(">f4").tobytes(),
        np.round(truth * 256).astype("<u2").tobytes(),
        f"the value is {truth[5, 7]:.4f} px".encode(),
        made.sha256(made.npy(truth)).encode(),
        file.getvalue(),
    ):
        assert hidden.found_in(content)
    assert not hidden.found_in(made.archive(plain()))
    assert not hidden.found_in(b"")
