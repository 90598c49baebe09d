"""What attackers send: to every route, and in every kind of file."""

import csv
import io
import os
import pickle
import resource
import struct
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient
from tests.serve import tiny as made
from tests.serve.conftest import PASSWORD
from tests.serve.crawler import PLACE, routes

from depthgauge.serve import board
from depthgauge.serve.storage.models import Submission
from depthgauge.serve.submissions import worker
from depthgauge.serve.web.app import make_app
from depthgauge.serve.web.settings import WebSettings

URL = "http://site.example:8400"
FORM = {"Origin": URL}
MARK = Path(tempfile.gettempdir()) / f"depthgauge-{os.getpid()}-was-executed"
VALUES = (
    "..%2f..%2f..%2fetc%2fpasswd",
    "../../../../etc/passwd",
    "%00",
    "'%20OR%201=1--",
    "%F0%9F%92%A9",
    "9" * 30,
    "-1",
    "x" * 3000,
    "{{1234567*7}}",
    "%3Cscript%3Ealert(1)%3C/script%3E",
)


@pytest.fixture
def app(site, database, tiny):
    return make_app(site, database, WebSettings(URL))


@pytest.fixture
def member(app, add_user):
    client = TestClient(app, base_url=URL, follow_redirects=False, raise_server_exceptions=False)
    fields = {"email": add_user().email, "password": PASSWORD}
    assert client.post("/login", data=fields, headers=FORM).status_code == 303
    return client


def test_no_route_breaks_or_opens_by_a_strange_value(app, member):
    for methods, path, queries in routes(app):
        if "GET" not in methods:
            continue
        for value in VALUES:
            places = PLACE.findall(path)
            address = path
            for name in places:
                address = address.replace("{" + name + ":path}", value)
                address = address.replace("{" + name + "}", value)
            if queries:
                address += "?" + "&".join(f"{name}={value}" for name in queries)
            elif not places:
                continue
            answer = member.get(address)
            assert answer.status_code < 500, address
            assert "root:" not in answer.text
            assert "<script>alert" not in answer.text
            assert str(1234567 * 7) not in answer.text  # a template is no place for values


def test_every_form_needs_the_token_of_the_session_and_comes_from_here(app, member, database):
    tried = 0
    for methods, path, _ in routes(app):
        if "POST" not in methods or path.startswith("/api/"):
            continue
        address = PLACE.sub("tiny", path)
        for body, head in (
            ({"csrf": "0" * 64}, FORM),
            ({}, FORM),
            ({"csrf": "0" * 64}, {"Origin": "https://evil.example"}),
        ):
            answer = member.post(address, data=body, headers=head)
            assert answer.status_code in (401, 403, 404, 422), (path, answer.status_code)
        tried += 1
    assert tried > 15
    assert member.get("/account").status_code == 200  # still there, still logged in


def test_bodies_of_other_kinds_are_refused(app, member):
    for methods, path, _ in routes(app):
        for method in methods - {"GET"}:
            for kind in (
                "application/xml",
                "text/plain",
                "multipart/form-data",
                "application/json",
            ):
                head = {**FORM, "Content-Type": kind}
                answer = member.request(
                    method, PLACE.sub("tiny", path), content=b"<x/>", headers=head
                )
                assert 400 <= answer.status_code < 500, (method, path, kind, answer.status_code)


# --- files ----------------------------------------------------------------------------------------


class _Evil:
    def __reduce__(self):
        return (open, (str(MARK), "w"))


def _png(width, height):
    """A small file that says it is large; its pixels unpack to zeros."""

    def chunk(name, body):
        crc = zlib.crc32(name + body)
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", crc)

    head = struct.pack(">IIBBBBB", width, height, 16, 0, 0, 0, 0)
    data = zlib.compress(bytes(1 << 16))
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def _npy(header):
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


FILES = {
    "large.png": _png(100_000, 100_000),
    "flat.png": _png(2**31 - 1, 1),
    "cut.png": _png(64, 48)[:60],
    "large.pfm": b"Pf\n2000000000 2000000000\n-1\n" + bytes(100),
    "negative.pfm": b"Pf\n-64 -48\n-1\n" + bytes(12288),
    "words.pfm": b"Pf\nnan inf\n-1\n",
    "large.npy": _npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000), }"),
    "objects.npy": _npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }")
    + pickle.dumps(_Evil()),
    "code.npy": _npy("{'descr': __import__('os').abort(), 'shape': (1,), }"),
    "cut.npy": made.npy(np.zeros(made.SIZE, np.float32))[:200],
    "huge.npz": made.archive({}, [("disparity.npy", _npy("{'descr': '<f8', 'shape': (9**9,), }"))]),
    "cut.exr": b"\x76\x2f\x31\x01" + bytes(40),
    "long.exr": b"\x76\x2f\x31\x01\x02\x00\x00\x00" + b"channels\0chlist\0" + b"\xff" * 4000,
    "cut.tiff": b"II*\0\x08\0\0\0\xff\xff" + b"\xff" * 500,
    "large.flo": b"PIEH" + struct.pack("<ii", 2**30, 2**30) + bytes(100),
}


FEW = ("large.png", "large.pfm", "objects.npy", "cut.exr")


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[] if one in FEW else [pytest.mark.long]) for one in FILES]
)
def test_hostile_files_are_refused_with_a_message(site, database, tiny, add_user, send, read, name):
    """Without being executed, and without gigabytes of memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    suffix = name.partition(".")[2]
    maps = {"fence": made.estimates()["fence"]}
    sent = send(add_user(), made.archive(maps, [(f"boxes/disparity.{suffix}", FILES[name])]))
    worker.work_once(site, database)
    found, scores = read(sent)
    assert (found.state, scores) == ("failed", {})
    assert found.message in ("check", "archive", "too-long"), found.message
    assert str(site.root) not in str(found.problems)
    assert not MARK.exists()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 500_000, "kilobytes"


@pytest.mark.long
def test_a_decoder_that_never_ends_is_ended(
    site, database, tiny, add_user, send, read, monkeypatch, real_sandbox
):
    monkeypatch.setattr(worker, "CHECK_S", 0.3)
    sent = send(add_user())
    worker.work_once(site, database)
    found, _ = read(sent)
    assert (found.state, found.message) == ("failed", "too-long")


def test_names_do_nothing_in_tables_that_people_open_elsewhere(
    site, database, tiny, app, member, add_user, send
):
    """Spreadsheets compute cells that begin with a sign; LaTeX reads files that are named."""
    names = ("=HYPERLINK(1)", "+1+cmd|' /C calc'!A0", "@SUM(1)", r"\input{/etc/passwd}%$&_#^~")
    for number, name in enumerate(names):
        user = add_user(f"u{number}@example.org")
        sent = send(user, made.archive(made.estimates(0.1 * number)), method=name)
        worker.work_once(site, database)
        with database.begin() as session:
            board.publish(session, session.get_one(Submission, sent.id), user, "public")
    table = member.get("/benchmarks/tiny/leaderboard.csv")
    assert table.status_code == 200
    for row in csv.reader(io.StringIO(table.text)):
        assert not [cell for cell in row if cell[:1] in ("=", "+", "@", "\t", "\r")], row
    text = member.get("/benchmarks/tiny/leaderboard.tex").text
    assert "HYPERLINK" in text
    assert r"\input{" not in text
    assert r"\textbackslash{}input\{/etc/passwd\}\%\$\&\_\#" in text
    assert r"\input{" not in member.get("/benchmarks/tiny/leaderboard.bib").text
