"""The demo: a site that is full, with passwords that nobody else knows."""

import pytest

from depthgauge.serve import demo
from depthgauge.serve.accounts import people
from depthgauge.serve.board import leaderboard
from depthgauge.serve.storage.models import Benchmark


@pytest.mark.long
def test_a_demo_has_two_benchmarks_with_baselines(site, database, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "METHODS", ("constant",))
    monkeypatch.setattr(demo, "_SIZE_PX", (64, 48))
    accounts = demo.make_demo(site, database, tmp_path / "demo")
    assert [one.role for one in accounts] == ["admin", "author", "author"]
    assert len({one.password for one in accounts}) == 3
    assert people.log_in(database, accounts[0].email, accounts[0].password, "1.2.3.4")
    with database.begin() as session:
        boards = {b.id: (b.hidden, leaderboard(session, b)) for b in session.query(Benchmark)}
    assert {name: hidden for name, (hidden, _) in boards.items()} == {
        "stereo-scenes": False,
        "stereo-hidden": True,
    }
    for _, rows in boards.values():
        assert [(row["method"], row["baseline"]) for row in rows] == [("constant", True)]
    assert demo.make_demo(site, database, tmp_path / "demo") == []  # a full site is left alone
