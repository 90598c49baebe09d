"""Leaderboards of a site: statistics of released values, views, states, files, citations."""

import csv
import io
import json
import math

import pytest
from tests.serve import boards as made
from tests.serve.boards import SCENES

from depthgauge.errors import Refused
from depthgauge.serve import board
from depthgauge.serve.leaderboards import citing, exports
from depthgauge.serve.leaderboards.choice import Choice, make_view
from depthgauge.serve.leaderboards.released import NOT_RELEASED
from depthgauge.serve.leaderboards.states import LeastRecent, end_of_day, find_state
from depthgauge.serve.storage.models import ScoreSheet, Snapshot, Submission
from depthgauge.serve.web.app import make_app
from depthgauge.serve.web.settings import WebSettings

URL = "http://site.example"
GOOD = [1, 2, 3, 4, 5, 6, 7, 8, 9]
NEAR = [1.1, 1.9, 3.1, 3.9, 5.1, 5.9, 7.1, 8.1, 9]
BAD = [value + 20 for value in GOOD]


@pytest.fixture
def three(database):
    """Three entries: two that cannot be told apart, and a clearly worse baseline."""
    with database.begin() as session:
        benchmark = made.add_benchmark(session)
        made.publish(session, benchmark, "good", GOOD)
        made.publish(session, benchmark, "near", NEAR, version="2")
        made.publish(session, benchmark, "=bad", BAD, visibility="baseline")
        return benchmark


def state_of(database, **more):
    with database.begin() as session:
        return find_state(session, "open", **more)


def test_intervals_and_ties_are_those_of_the_analysis(database, three):
    found = state_of(database)
    rows = {row.label: row.cells["mae@all"] for row in found.board.rows}
    assert [row.label for row in found.board.rows] == ["good", "near 2", "=bad"]
    assert rows["good"].value == 5
    assert rows["good"].low < 5 < rows["good"].high
    # The mean of 1..9 has a standard error of 0.91: a 95 % interval is some 4 wide.
    assert 3 < rows["good"].high - rows["good"].low < 5
    assert rows["good"].group == rows["near 2"].group != rows["=bad"].group
    # Density is better if higher.
    assert found.board.rows[0].cells["density@all"].rank == 3


def test_without_values_of_samples_the_table_says_that_intervals_are_not_available(database):
    with database.begin() as session:
        benchmark = made.add_benchmark(session, hidden=True)
        made.publish(session, benchmark, "a", GOOD, samples=False)
        made.publish(session, benchmark, "b", BAD, samples=False)
    found = state_of(database)
    assert found.board.notes == (NOT_RELEASED,)
    cells = [row.cells["mae@all"] for row in found.board.rows]
    assert [cell.rank for cell in cells] == [1, 2]
    assert all(math.isnan(cell.low) and cell.group is None for cell in cells)
    with pytest.raises(Refused):
        make_view(found, Choice(scene="s0"))
    assert make_view(found, Choice(metric="mae")).samples == {}


def test_an_empty_region_of_a_sample_is_left_out_and_a_missing_estimate_is_not(database):
    with database.begin() as session:
        benchmark = made.add_benchmark(session)
        made.publish(session, benchmark, "a", [None, *GOOD[1:]])
        made.publish(session, benchmark, "b", BAD)
    cell = next(row for row in state_of(database).board.rows if row.label == "a").cells["mae@all"]
    assert (cell.used, cell.all) == (8, 8)
    assert cell.low < cell.value < cell.high


def test_columns_by_scene_and_by_metric(database, three):
    found = state_of(database)
    by_scene = make_view(found, Choice(metric="badpix:1"))
    assert by_scene.choice.region == "all"
    assert [c.metric for c in by_scene.board.columns] == ["all samples", *SCENES]
    row = by_scene.board.rows[0]
    assert row.cells["badpix:1@all s4"].value == 5
    assert math.isnan(row.cells["badpix:1@all s4"].low)
    assert not math.isnan(row.cells["badpix:1@all"].low)
    one = make_view(found, Choice(scene="s1"))
    assert [row.label for row in one.board.rows] == ["near 2", "good", "=bad"]
    assert [c.id for c in one.board.columns] == list(made.SCORES)
    visible = make_view(found, Choice(region="visible"))
    assert [c.id for c in visible.board.columns] == ["badpix:1@visible"]
    both = make_view(found, Choice(metric="badpix:1", scene="s0"))
    assert [c.region for c in both.board.columns] == ["all", "visible"]
    ranked = make_view(found, Choice(by="density@all"))
    assert [row.label for row in ranked.board.rows] == ["=bad", "near 2", "good"]


@pytest.mark.parametrize(
    "choice",
    [Choice(metric="x"), Choice(region="x"), Choice(scene="x"), Choice(by="x")],
    ids=["metric", "region", "scene", "by"],
)
def test_what_is_not_there_is_refused(database, three, choice):
    with pytest.raises(Refused):
        make_view(state_of(database), choice)


def test_every_state_can_be_had_again_with_its_scenes(database, three, client):
    with database.begin() as session:
        first, middle, last = session.query(Snapshot).order_by(Snapshot.id)
        for day, one in enumerate((first, middle, last), start=1):
            one.taken_at = end_of_day(f"2020-01-0{day}") - 1
        assert session.query(ScoreSheet).count() == 3  # stored once each
        numbers = first.id, last.id
    assert [e.label for e in state_of(database, number=numbers[0]).entries] == ["good"]
    old = state_of(database, on="2020-01-01")
    assert old.number == numbers[0]
    assert old.entries[0].values["s3"]["mae@all"] == 4
    assert state_of(database, on="2020-01-03").number == numbers[1]
    with database.begin() as session:
        session.get_one(Submission, "id-good-").state = "withdrawn"
        board.take_snapshot(session, "open")
    assert [e.label for e in state_of(database).entries] == ["near 2", "=bad"]
    old = state_of(database, number=numbers[0])
    assert [(e.label, e.submission, e.team) for e in old.entries] == [("withdrawn entry", "", "")]
    assert old.entries[0].values["s3"]["mae@all"] == 4
    assert client.get("/benchmarks/open?on=2019-12-31").status_code == 404
    assert client.get("/benchmarks/open?on=soon").status_code == 422
    text = client.get("/benchmarks/open?on=2020-01-01").text
    assert f"state {numbers[0]}" in text
    assert "good" not in text
    assert client.get(f"/benchmarks/open/at/{10**30}").status_code == 404


def test_a_state_keeps_its_samples(database, three):
    """All entries may be scored again one day, on other samples."""
    before = state_of(database).board
    with database.begin() as session:
        session.get_one(type(three), "open").samples = ["other"]
    after = state_of(database)
    assert repr(after.board) == repr(before)  # NaN is not equal to itself
    assert after.samples == SCENES


def test_tiers_are_ranked_apart(database):
    with database.begin() as session:
        benchmark = made.add_benchmark(session, toml=made.TIERS)
        made.publish(session, benchmark, "a", GOOD, details={"tier": "G0"})
        made.publish(session, benchmark, "b", BAD, details={"tier": "G1"})
        made.publish(session, benchmark, "c", NEAR, details={"tier": "G1"})
    found = make_view(state_of(database), Choice()).board
    assert found.tiers == ("G0", "G1")
    assert [(r.label, r.tier, r.cells["mae@all"].rank) for r in found.rows] == [
        ("a", "G0", 1),
        ("c", "G1", 1),
        ("b", "G1", 2),
    ]
    by_scene = make_view(state_of(database), Choice(metric="mae")).board
    assert [r.cells["mae@all s0"].rank for r in by_scene.rows] == [1, 1, 2]


def test_names_that_are_the_same_are_told_apart(database):
    with database.begin() as session:
        benchmark = made.add_benchmark(session)
        made.publish(session, benchmark, "net", GOOD)
        other, _ = made.publish(session, benchmark, "other", BAD)
        made.publish(session, benchmark, "net", NEAR, version="2")
        other.method = "net"
        session.flush()
        board.take_snapshot(session, "open")
    labels = [entry.label for entry in state_of(database).entries]
    assert sorted(labels) == ["net", "net (2)", "net 2"]


def test_the_page_needs_no_script_and_is_not_sent_twice(three, client):
    answer = client.get("/benchmarks/open")
    assert answer.headers["content-encoding"] == "gzip"
    text = answer.text
    assert 'data-score="badpix:1@visible"' in text
    assert "Open &amp; &lt;public&gt;" in text
    assert "<code>code</code>" in text
    assert text.count("data-baseline") == 1
    assert "<option selected>mae</option>" in client.get("/benchmarks/open?metric=mae").text
    again = client.get("/benchmarks/open", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    plain = client.get("/benchmarks/open", headers={"Accept-Encoding": "identity"})
    assert plain.text == text
    assert client.get("/benchmarks/open?metric=nope").status_code == 404


def test_a_change_is_seen_at_once(three, client, database):
    before = client.get("/benchmarks/open").text
    with database.begin() as session:
        benchmark = session.get_one(type(three), "open")
        made.publish(session, benchmark, "newcomer", GOOD)
    after = client.get("/benchmarks/open").text
    assert "newcomer" not in before
    assert "newcomer" in after


def test_files_of_a_table_are_safe_and_complete(three, client):
    answer = client.get("/benchmarks/open/leaderboard.csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["method"] for row in rows] == ["good", "near 2", "'=bad"]
    assert float(rows[0]["mae@all"]) == 5
    assert float(rows[0]["mae@all low"]) < 5
    assert rows[2]["baseline"] == "baseline"
    assert "attachment" in answer.headers["content-disposition"]
    tex = client.get("/benchmarks/open/leaderboard.tex?metric=badpix:1").text
    assert r"Open \& \textless{}public\textgreater{}" in tex
    assert r"\begin{tabular}" in tex
    bib = client.get("/benchmarks/open/leaderboard.bib").text
    assert bib.startswith("@misc{open-")
    assert r"\url{http://site.example/benchmarks/open/at/3}" in bib
    doi = client.get("/benchmarks/open/leaderboard.datacite.json").json()
    assert doi["types"]["resourceTypeGeneral"] == "Dataset"
    body = client.get("/benchmarks/open/leaderboard.json?scene=s0").json()
    assert body["rows"][0]["scores"]["mae@all"] == {
        "value": 1,
        "low": None,
        "high": None,
        "rank": 1,
        "tie_group": None,
    }
    assert client.get("/benchmarks/open/leaderboard.exe").status_code == 404
    assert client.get("/benchmarks/nope/leaderboard.csv").status_code == 404


def test_profiles_are_links_with_weights(database, three):
    view = make_view(state_of(database), Choice())
    profiles = exports.profile_links(view)
    for each in profiles:
        assert each["covered"] >= 0.5
        for _, text in each["weights"]:
            name, _, weight = text.rpartition("*")
            assert name in made.SCORES
            assert 1 <= int(weight) <= 5


def test_a_citation_names_state_and_hashes(database, three):
    found = state_of(database)
    said = citing.sentence(found, URL)
    assert f"{URL}/benchmarks/open/at/{found.number}" in said
    assert found.sha256[:12] in said
    assert json.dumps(citing.datacite(found, URL))


def test_a_value_is_made_once_by_threads_at_once():
    from concurrent.futures import ThreadPoolExecutor
    from threading import Barrier

    cache, calls, gate = LeastRecent(2), [], Barrier(4)

    def ask(key):
        gate.wait()
        return cache.get(key, lambda: calls.append(key) or key)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, ["a"] * 4)) == ["a"] * 4
    assert calls == ["a"]
    with pytest.raises(ZeroDivisionError):
        cache.get("bad", lambda: 1 // 0)
    assert cache.get("bad", lambda: 7) == 7
    cache.get("c", lambda: 1)
    assert cache.get("a", lambda: "again") == "again"  # the oldest was dropped


def test_leaderboards_are_ready_before_the_first_reader(site, database, three):
    from depthgauge.serve.web.boards import warm_up

    app = make_app(site, database, WebSettings(URL))
    with database.begin() as session:
        session.add(type(three)(**{**_fields(three), "id": "unknown", "protocol": {}}))
    warm_up(app)
    with database.begin() as session:
        found = find_state(session, "open", cache=app.state.caches.states)
        again = find_state(session, "open", cache=app.state.caches.states)
    assert found is again
    assert "board" in vars(found)


def _fields(row):
    return {column.name: getattr(row, column.name) for column in row.__table__.columns}


def test_a_board_is_computed_before_the_change_that_needs_it(database, monkeypatch):
    """The reader after a publication finds it; what was tried and taken back leaves nothing."""
    from depthgauge.serve.leaderboards import states

    with database.begin() as session:
        benchmark = made.add_benchmark(session)
        for number, method in enumerate(("A", "B", "C")):
            made.publish(session, benchmark, method, [number + 0.1 * k for k in range(9)])
    cache = states.StateCache(4)
    computed, known = [], states.released_board

    def compute(*args, **more):
        computed.append([entry.label for entry in args[3]])
        return known(*args, **more)

    monkeypatch.setattr(states, "released_board", compute)
    seen = []

    def change(session):
        found = session.get_one(Submission, "id-B-")
        seen.append(found.visibility)
        found.visibility = "private"
        session.flush()
        board.take_snapshot(session, "open")
        return found.visibility

    assert states.change_board(database, cache, "open", change) == "private"
    assert seen == ["public", "public"]
    assert computed == [["A", "C"]]
    with database.begin() as session:
        found = states.find_state(session, "open", cache=cache)
        assert [entry.label for entry in found.entries] == ["A", "C"]
        assert [row.label for row in found.board.rows] == ["A", "C"]
        assert session.query(Snapshot).count() == 4
        former = states.find_state(session, "open", number=3, cache=cache)
        assert [entry.label for entry in former.entries] == ["A", "withdrawn entry", "C"]
    assert len(computed) == 2


def test_citations_name_the_organisation_that_runs_the_site(database):
    with database.begin() as session:
        benchmark = made.add_benchmark(session)
        made.publish(session, benchmark, "A", GOOD)
        state = find_state(session, "open")
    told = citing.datacite(state, "https://depth.example.org", "Office & Sons")
    assert told["creators"] == [{"name": "Office & Sons", "nameType": "Organizational"}]
    assert told["publisher"] == "Office & Sons"
    assert told["descriptions"][0]["description"].startswith("Office & Sons: leaderboard of Open")
    text = citing.bibtex(state, "https://depth.example.org", "Office & Sons")
    assert r"author = {{Office \& Sons}}," in text
    assert citing.datacite(state, "https://depth.example.org")["publisher"] == "depth.example.org"
    assert "author" not in citing.bibtex(state, "https://depth.example.org")
