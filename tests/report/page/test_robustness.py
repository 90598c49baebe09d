"""Robustness as a page and as a table."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.report.conftest import run_of_errors
from tests.report.page.test_html import Reader

from depthgauge.analysis.robustness import robustness
from depthgauge.report.page.model import start_page
from depthgauge.report.page.robustness import (
    render_robustness,
    robustness_headline,
    robustness_table,
    robustness_text,
    shown_scores,
    write_robustness_page,
)

RNG = np.random.default_rng(3)


def runs_of(levels, **keys):
    """`soft` is better at first and breaks at once, `hard` hardly changes."""

    def errors(level):
        soft = np.abs(RNG.normal(0, 0.4 + 0.4 * level, 400))
        return {
            "soft <i>": {"s": soft, "t": soft},
            "hard": {"s": [0.9, 1.1, 1.2, 0.2 + 0.1 * level], "t": [0.9, 1.5, 2, 0.1]},
        }

    return [
        run_of_errors(errors(n), f"run{n}", **({"perturb": f"noise:{n}"} if n else {}), **keys)
        for n in levels
    ]


@pytest.fixture(scope="module")
def found():
    return robustness(runs_of([0, 5, 10]))


def test_the_text_has_every_level_and_the_largest_loss(found):
    text = robustness_text(found)
    lines = text.splitlines()
    assert lines[0] == "badpix:1@all by noise in grey levels"
    assert re.findall(r"\d+ \[%\]", lines[1]) == ["0 [%]", "5 [%]", "10 [%]"]
    assert lines[1].split()[-4:] == ["largest", "loss", "[%]", "\u2193"]
    assert lines[3].startswith("soft <i>")
    assert "* best" in text
    assert found.protocol.hash[:12] in text


def test_another_score_can_be_shown(found):
    table = robustness_table(found, "mae@all")
    assert table.columns[1].unit == "px"
    assert [row.cells[0].text for row in table.rows] == ["soft <i>", "hard"]
    best = [row.cells[0].text for row in table.rows if row.cells[3].mark == "best"]
    assert best == ["hard"]


def test_the_headline_says_who_leads_at_both_ends(found):
    text = robustness_headline(found)
    assert re.fullmatch(
        r"At noise 0, soft <i> is best, with a badpix:1@all of \S+ %; at noise 10 it is hard, "
        r"with \S+ %\.",
        text,
    )
    alone = replace(found, lines={k: {"hard": v["hard"]} for k, v in found.lines.items()})
    assert robustness_headline(alone).startswith("hard is best at noise 0 and at noise 10: ")
    nothing = {"badpix:1@all": {"hard": (math.nan,) * 3}}
    assert "No method has a complete" in robustness_headline(replace(found, lines=nothing))


def test_the_page_is_whole_and_escaped(found, tmp_path):
    write_robustness_page(tmp_path / "a.html", found)
    text = (tmp_path / "a.html").read_bytes().decode()
    assert text == render_robustness(found)
    reader = Reader(text)
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert [s["id"] for s in reader.all("section")] == [
        "robustness", "leaderboard", "how", "provenance",
    ]  # fmt: skip
    assert not reader.all("i")
    assert text.count('class="chart axis"') == len(
        shown_scores(start_page(found.protocol, found.board))
    )
    assert all(digest in text for digest in found.hashes)
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    assert "Losses at every level" in text


def test_scores_of_every_metric_come_before_other_regions():
    scores = [
        {"metric": "badpix", "threshold": [1, 2], "region": ["all", "near"]},
        {"metric": "mae", "region": ["all", "near"]},
        {"metric": "density"},
    ]
    made = robustness(runs_of([0, 5], scores=scores, given_regions=["near"]))
    assert shown_scores(start_page(made.protocol, made.board)) == [
        "badpix:1@all", "mae@all", "badpix:1@near", "density@all",
    ]  # fmt: skip


def test_notes_are_on_the_page():
    made = robustness(runs_of([5, 10]))
    assert "losses are relative to the mildest level, noise 5" in render_robustness(made)
    assert "relative to the mildest" in robustness_text(made)
