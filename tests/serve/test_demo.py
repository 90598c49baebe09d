"""The demo: a site that is full, with passwords that nobody else knows."""

import pytest

from depthgauge.serve import demo
from depthgauge.serve.accounts import people
from depthgauge.serve.board import leaderboard
from depthgauge.serve.storage.models import Benchmark, Submission


@pytest.mark.long
def test_a_demo_has_two_benchmarks_with_baselines(site, database, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "METHODS", ("constant",))
    monkeypatch.setattr(demo, "_SIZE_PX", (64, 48))
    accounts = demo.make_demo(site, database, tmp_path / "demo")
    assert [one.role for one in accounts] == ["admin", "author", "author"]
    assert len({one.password for one in accounts}) == 3
    assert people.log_in(database, accounts[0].email, accounts[0].password, "1.2.3.4")
    with database.begin() as session:
        boards = {b.id: (b.hidden, leaderboard(session, b.id)) for b in session.query(Benchmark)}
    assert {name: hidden for name, (hidden, _) in boards.items()} == {
        "stereo-scenes": False,
        "stereo-hidden": True,
    }
    for _, rows in boards.values():
        assert [(row["method"], row["baseline"]) for row in rows] == [("constant", True)]
    assert demo.make_demo(site, database, tmp_path / "demo") == []  # a full site is left alone


@pytest.mark.long
def test_light_fields_and_right_views_are_added_once(
    site, database, add_user, tmp_path, monkeypatch
):
    from tests.serve.exhibiting import draw_all

    from depthgauge.serve import demo_viewers

    monkeypatch.setattr(demo_viewers, "LIGHT_FIELD_METHODS", ("lf-pair",))
    monkeypatch.setattr(demo_viewers, "VIEW_METHODS", ("shift",))
    monkeypatch.setattr(demo_viewers, "_FIELD_PX", 64)
    monkeypatch.setattr(demo_viewers, "_VIEW_PX", (64, 48))
    add_user(admin=True)
    (tmp_path / "demo").mkdir()
    for _ in range(2):
        demo_viewers.add_viewers(site, database, tmp_path / "demo")
    with database.begin() as session:
        shown = {
            (one.benchmark_id, one.method, one.visibility) for one in session.query(Submission)
        }
    assert shown == {("stratified", "lf-pair", "baseline"), ("right-views", "shift", "baseline")}
    indices, _ = draw_all(site, database)
    field = indices["benchmark:stratified"]["samples"][0]
    assert (field["views"]["rows"], field["views"]["columns"]) == (5, 5)
    assert all(index["left_out"] == [] for index in indices.values())
    curves = [len(index.get("degradations", ())) for index in indices.values()]
    assert max(curves) >= 3  # the light fields have axes of difficulty
