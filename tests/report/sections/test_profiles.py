"""Rankings by application on the page."""

from dataclasses import replace

import pytest
from tests.report.conftest import full_page
from tests.report.page.test_html import Reader

from depthgauge.analysis.profiles import Profile, choose_profiles, rank_by_profile
from depthgauge.errors import Unavailable
from depthgauge.report.page.html import render_report
from depthgauge.report.sections.profiles import profiles_html


def profile(*weights, name="mine"):
    listed = [
        {"aspect": aspect, "scores": [pattern], "weight": weight, "why": "It <b>matters</b>."}
        for aspect, pattern, weight in weights
    ]
    return Profile(id=name, title="My <work>", weights=listed)


def test_profiles_of_which_little_is_known_are_not_shown_unasked(board):
    shown = choose_profiles(board)
    assert all(each.covered >= 0.5 for each in shown)
    rare = profile(("errors", "badpix*", 1), ("thin things", "thin*", 9))
    (asked,) = choose_profiles(board, [rare])
    assert asked.covered == pytest.approx(0.1)
    with pytest.raises(Unavailable):
        choose_profiles(board, [profile(("nothing", "nothing*", 1))])


def test_one_method_needs_no_ranking(board):
    assert choose_profiles(replace(board, rows=board.rows[:1]), [profile(("e", "mae*", 1))]) == ()


def test_ranks_reasons_and_what_is_unknown_are_shown(board):
    mine = profile(("right <distances>", "mae*", 3), ("thin things", "thin*", 1))
    ranking = rank_by_profile(board, mine)
    text = str(profiles_html([ranking]))
    reader = Reader(text)
    shown = " ".join(reader.texts)
    assert "mine (75.0 %)" in shown
    assert "My <work>: b" in shown
    assert all(row.why in shown for row in ranking.rows)
    assert all(note in shown for note in ranking.notes)
    assert "thin things" in shown
    assert "none here" in shown
    assert not reader.all("b")
    assert all(head.get("scope") for head in reader.all("th"))
    # c has no complete mae, so it has no cost.
    assert [row.label for row in ranking.rows][-1] == "c"
    assert "-" in [t.strip() for t in reader.texts]


def test_the_section_is_on_the_page_where_there_is_one(board):
    assert 'id="profiles"' in render_report(full_page(board))
    assert 'id="profiles"' not in render_report(full_page(board, profiles=()))
