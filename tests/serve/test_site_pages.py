"""Home, data, tools, changes, the feed, the API that everybody reads, and `dg.leaderboard`."""

import json
import math
import xml.etree.ElementTree as ET

import pytest
from tests.serve import boards as made
from tests.serve.test_leaderboards import BAD, GOOD, NEAR

import depthgauge as dg
from depthgauge.errors import BadData, Misuse, Refused, UnknownName
from depthgauge.serve import published
from depthgauge.serve.client import SiteClient
from depthgauge.serve.storage.models import Benchmark, Submission, Thumbnail

URL = "http://site.example"


@pytest.fixture
def two(database):
    with database.begin() as session:
        benchmark = made.add_benchmark(session)
        made.publish(session, benchmark, "<first>", GOOD)
        made.publish(session, benchmark, "second", BAD, version="2")
        made.publish(session, benchmark, "secret", NEAR, visibility="private")
        return benchmark


@pytest.fixture
def online(client, monkeypatch):
    """What `urllib` would get is asked of the application: no network."""

    def ask(self, verb, path, body=None):
        answer = client.request(verb, f"{self._base.removeprefix(URL)}/{path}")
        if answer.status_code >= 400:
            raise Refused(answer.json()["code"], answer.json()["error"])
        return answer.json()

    monkeypatch.setattr(SiteClient, "ask", ask)


def test_home_says_what_is_here_and_is_small(two, client):
    answer = client.get("/")
    text = answer.text
    for said in ("Open &amp; &lt;public&gt;", "2 entries", "&lt;first&gt;", "three steps"):
        assert said in text
    assert "secret" not in text
    style = client.get(text.partition('rel="stylesheet" href="')[2].partition('"')[0])
    assert "immutable" in style.headers["cache-control"]
    assert len(answer.content) + len(style.content) < 100_000
    assert client.get("/static/site.0.css").headers["cache-control"] == "no-store"


def test_a_site_without_anything_has_its_pages(client):
    for path in ("/", "/tools", "/changelog", "/feed.atom", "/api/benchmarks", "/api/entries"):
        assert client.get(path).status_code == 200


def test_the_feed_has_published_entries_and_nobody_elses(two, client, database):
    names = {"a": "http://www.w3.org/2005/Atom"}
    feed = ET.fromstring(client.get("/feed.atom").content)
    titles = sorted(found.text for found in feed.findall("a:entry/a:title", names))
    assert titles == ["<first> on Open & <public>", "second 2 on Open & <public>"]
    assert feed.find("a:updated", names).text.endswith("Z")
    assert feed.find("a:entry/a:author/a:name", names).text == "Team"
    with database.begin() as session:
        session.get_one(Submission, "id-second-2").visibility = "private"
        made.audit(session, "submission made private", "id-second-2")
    assert b"second" not in client.get("/feed.atom").content
    assert "second" not in client.get("/changelog").text


def test_the_data_page_shows_inputs_only(tiny, client, database):
    answer = client.get("/benchmarks/tiny/data")
    assert "CC0-1.0" in answer.text
    assert "64 x 48 px, range 0 to 32" in answer.text
    body = client.get("/api/benchmarks/tiny/data").json()
    (first, _) = body["samples"]
    assert first["inputs"] == ["disparity_range", "left_image", "rig", "right_image"]
    picture = client.get(first["picture"])
    assert picture.content[8:12] == b"WEBP"
    assert "immutable" in picture.headers["cache-control"]
    assert client.get("/thumbnails/0.webp").status_code == 404
    assert client.get("/benchmarks/tiny/croissant.json").status_code == 404
    with database.begin() as session:
        row = session.get_one(Benchmark, "tiny")
        row.facts = {**row.facts, "croissant": {"@type": "sc:Dataset"}}
        assert session.query(Thumbnail).count() == 2
        made.audit(session, "benchmark added", "tiny")
    assert client.get("/benchmarks/tiny/croissant.json").json() == {"@type": "sc:Dataset"}
    assert "Croissant" in client.get("/benchmarks/tiny/data").text


def test_a_download_must_be_an_address(site, database, tiny_data):
    from depthgauge.serve.submissions.registry import add_benchmark

    toml, data, hidden = (tiny_data / name for name in ("tiny.toml", "public", "hidden"))
    more = {"hidden": hidden, "download": "javascript:alert(1)"}
    with pytest.raises(Misuse, match="no address"):
        add_benchmark(site, database, str(toml), data, **more)


def test_answers_are_as_the_schema_says(two, client):
    """Every reading route of the API validates against its own model."""
    from pydantic import TypeAdapter

    from depthgauge.serve.web.reading_api import reading_api

    for route in reading_api.routes:
        path = route.path.replace("{benchmark_id}", "open")
        body = client.get(path).json()
        shown = TypeAdapter(route.response_model).validate_python(body)
        back = TypeAdapter(route.response_model).dump_python(shown, mode="json")
        assert back == body, path


def test_a_leaderboard_for_programs(two, online):
    board = dg.leaderboard(f"{URL}/benchmarks/open")
    assert isinstance(board, dg.Leaderboard)
    assert [row.label for row in board.rows] == ["<first>", "second 2"]
    assert board.values() == {"<first>": 5.0, "second 2": 25.0}
    cell = board.rows[0].scores["mae@all"]
    assert cell.low < 5 < cell.high
    assert board.scores[0] == published.PublishedScore("mae@all", "px", "lower", "")
    assert "<first>" in str(board)
    assert "ranked by mae@all" in str(board)
    assert "&lt;first&gt;" in board._repr_html_()
    assert board.to_rows()[1]["mae@all"] == 25
    assert json.dumps(board.to_rows())
    with pytest.raises(UnknownName, match="mae@al"):
        board.values("mae@al")
    old = dg.leaderboard(f"{URL}/benchmarks/open/at/1")
    assert [row.label for row in old.rows] == ["<first>"]
    by_scene = dg.leaderboard(f"{URL}/benchmarks/open?metric=mae&utm=1")
    assert by_scene.scores[1].sample == "s0"
    assert by_scene.values("mae@all s3")["second 2"] == 24
    assert math.isnan(by_scene.rows[0].scores["mae@all s3"].low)


def test_what_is_no_leaderboard_is_said(two, online, monkeypatch):
    for address in (
        "depth.example.org",
        f"{URL}/",
        "ftp://x/benchmarks/a",
        f"{URL}/benchmarks/a/b",
    ):
        with pytest.raises(Misuse, match="no address of a leaderboard"):
            dg.leaderboard(address)
    with pytest.raises(Refused, match="no such benchmark"):
        dg.leaderboard(f"{URL}/benchmarks/nope")
    monkeypatch.setattr(SiteClient, "ask", lambda *_: {"benchmark": "x"})
    with pytest.raises(BadData, match="not known here"):
        dg.leaderboard(f"{URL}/benchmarks/open")
