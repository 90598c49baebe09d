"""What goes first when a page would be too large."""

from dataclasses import replace

import pytest
from tests.report.conftest import full_page, pictures_of

from depthgauge.report.page.html import render_report
from depthgauge.report.page.size_limit import fitted


@pytest.fixture(scope="module")
def groups():
    return tuple(pictures_of(["a", "b"], f"s{k}", (60, 80)) for k in range(6))


def sized(page, limit, seen):
    """The text of a page, and the page that it is of; `seen` has all that were rendered."""

    def render(small):
        seen.append(small)
        return render_report(small)

    text = fitted(page, render, limit)
    return text, seen[-1]


def test_pictures_of_metrics_go_before_all_others(board, groups):
    page = full_page(board, pictures=groups)
    whole = len(render_report(page).encode())
    bare = len(render_report(replace(page, pictures=())).encode())
    states = []
    for share in (1.0, 0.8, 0.6, 0.4, 0.2, 0.1, 0.0):
        limit = bare + int(share * (whole - bare)) + 1000
        text, small = sized(page, limit, [])
        assert len(text.encode()) <= limit
        shown = sum(bool(group.rows) for group in small.pictures)
        states.append((len(small.pictures), shown))
        assert ("see are left out" in text) == (shown < 6 == len(small.pictures))
        assert small.samples == page.samples
    assert states == sorted(states, reverse=True)
    assert {(6, 6), (6, 4), (6, 0), (0, 0)} <= set(states)


def test_pages_that_cannot_fit_are_not_rendered_in_vain(board, groups):
    seen = []
    page = full_page(board, pictures=groups)
    bare = len(render_report(replace(page, pictures=())).encode())
    sized(page, bare + 2000, seen)
    assert len(seen) <= 4
