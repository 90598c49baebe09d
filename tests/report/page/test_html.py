"""The report: whole, escaped, without any address, the same every time, and not too large."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from tests.report.conftest import full_page, pictures_of

from depthgauge.errors import DepthgaugeError
from depthgauge.report.page.html import render_report, write_report
from depthgauge.report.page.model import Page, Provenance
from depthgauge.report.sections.samples import MANY_SAMPLES

VOID = {"meta", "link", "img", "br", "hr", "input", "wbr"}


class Reader(HTMLParser):
    """Walks a page, checks that tags nest, and keeps what there is."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data):
        if "style" not in self.open and "script" not in self.open:
            self.texts.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def bare(board, **parts):
    return Page(board, "Title", "bench", 1, "ab" * 32, **parts)


def test_tags_nest_and_ids_are_unique(page):
    reader = Reader(render_report(page))
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [a["href"].removeprefix("#") for a in reader.all("a")]
    assert set(targets) <= set(ids)
    assert reader.all("html") == [{"lang": "en"}]
    assert any(meta.get("name") == "viewport" for meta in reader.all("meta"))


def test_headings_come_in_order(page):
    levels = [int(tag[1]) for tag, _ in Reader(render_report(page)).tags if re.match(r"h\d$", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_pictures_and_tables_can_be_read_aloud(page):
    text = render_report(page)
    reader = Reader(text)
    assert len(reader.all("img")) == 5 + 3 * 3 + 3 * 3
    for image in reader.all("img"):
        assert image["alt"]
        assert int(image["width"])
        assert int(image["height"])
        assert image["src"].startswith("data:image/")
    assert text.count("<table") == text.count("<caption>")
    assert all(head.get("scope") for head in reader.all("th"))
    roles = [svg for svg in reader.all("svg") if svg.get("aria-hidden") != "true"]
    assert all(svg["role"] == "img" and svg["aria-labelledby"] for svg in roles)


def test_nothing_leads_outside(page):
    text = render_report(page)
    without = text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", re.sub('base64,[^"]*', "", without))
    for _, attributes in Reader(text).tags:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href", "srcset", "action", "data"):
            assert attributes.get(name, "#").startswith(("#", "data:"))


def test_the_policy_allows_our_script_only(page):
    import base64
    import hashlib

    text = render_report(page)
    policy = next(meta["content"] for meta in Reader(text).all("meta") if "http-equiv" in meta)
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "img-src data:;" in policy


def test_hostile_names_are_text(hostile_page):
    text = render_report(hostile_page)
    reader = Reader(text)
    assert len(reader.all("script")) == 1
    assert not reader.all("b")
    assert not reader.all("i")
    assert any("<script>alert(1)</script>" in shown for shown in reader.texts)
    assert any("<i>s2</i>" in shown for shown in reader.texts)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.encode()


def test_a_lone_surrogate_can_be_written(board, tmp_path):
    rows = (replace(board.rows[0], label="bad\udcff", failed={"\ud800": "\udfff"}), *board.rows[1:])
    write_report(tmp_path / "r.html", bare(replace(board, rows=rows)))
    assert "bad\ufffd" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_the_same_page_gives_the_same_bytes(board, tmp_path):
    for name in "ab":
        write_report(tmp_path / name, full_page(board))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_parts_that_lack_are_left_out_and_named(board):
    text = render_report(bare(board))
    reader = Reader(text)
    titles = [section["id"] for section in reader.all("section")]
    assert titles == ["leaderboard", "certainty", "strengths", "failures", "provenance"]
    assert "this page does not show: scores of single samples, pictures, threshold curves" in text


def test_an_empty_board_is_still_a_page(board):
    text = render_report(bare(replace(board, rows=())))
    Reader(text)
    assert "No method was scored." in text


def test_a_board_of_oracles_only(board):
    Reader(render_report(bare(replace(board, rows=board.rows[3:]))))


def test_all_that_was_promised_is_there(page):
    text = " ".join(Reader(render_report(page)).texts)
    for part in (
        "a has the lowest badpix:2@all: 12.300 % [11.800, 13.100], but cannot be told apart",
        "incomplete 3/4",
        "no <b>file</b> & no hope",
        "depthgauge run <x>",
        "ab" * 32,
        "best of a",
        "2026-01-02",
        "A note.",
        "Each axis starts in the centre",
        "by the same rule as the intervals, so that it agrees with the brackets",
        "At least as good as c in every score, and better in one: a.",
        r"\begin{tabular}{lrrrrr}",
        "Oracles, not ranked",
    ):
        assert part in text, part


def test_infinite_scores_seeds_and_mean_ranks_are_shown(board):
    first, *others = board.rows
    cells = {name: replace(cell, mean_rank=1.5) for name, cell in first.cells.items()}
    cells["mae@all"] = replace(cells["mae@all"], value=float("inf"))
    rows = (replace(first, cells=cells, seeds=3), *others)
    text = render_report(full_page(replace(board, rows=rows)))
    Reader(text)
    assert 'data-value="Infinity"' in text
    assert "3 seeds" in text
    assert "mean rank" in text


def test_dominated_methods_are_listed_up_to_a_few(board):
    from depthgauge.report.sections.strengths import pareto_sentences

    rows = [replace(board.rows[0], label=f"m{i}", dominated_by=("a",)) for i in range(6)]
    said = pareto_sentences(replace(board, rows=(board.rows[0], *rows)))
    assert said[0] == "No single method is at least as good in every score as: a."
    assert len(said) == 6
    assert said[-1] == "Some method is also at least as good in every score as: m4, m5."


def test_many_samples_are_folded(board):
    def samples(count):
        return {"a": {f"s{i}": {"badpix:2@all": float(i)} for i in range(count)}}

    few = render_report(bare(board, samples=samples(MANY_SAMPLES)))
    many = render_report(bare(board, samples=samples(MANY_SAMPLES + 1)))
    assert many.count("<details") == few.count("<details") + 1


def test_scores_that_do_not_fit_are_counted(board, monkeypatch):
    monkeypatch.setattr("depthgauge.report.sections.samples.MOST_CELLS", 1)
    values = {"a": {"s": {c.id: 1.0 for c in board.columns}}}
    assert "3 more scores do not fit here" in render_report(bare(board, samples=values))


def test_a_page_that_is_too_large_shrinks_its_pictures(board, tmp_path):
    page = full_page(board, pictures=(pictures_of(["a", "b", "c"], shape=(200, 300)),))
    whole = len(render_report(page).encode())
    limit = len(render_report(replace(page, pictures=())).encode()) + 150_000
    assert whole > limit
    write_report(tmp_path / "r.html", page, limit=limit)
    text = (tmp_path / "r.html").read_text()
    assert len(text.encode()) <= limit
    assert re.search(r"Pictures have \d+ % of their width", text)
    assert "<img" in text
    assert Reader(text).all("img")[0]["width"] != "300"


def test_pictures_go_before_numbers_do(board, tmp_path):
    page = full_page(board)
    write_report(tmp_path / "r.html", page, limit=1000)
    text = (tmp_path / "r.html").read_text()
    assert "<img" not in text
    assert "are of 0 of 1 samples" in text
    assert "12.300" in text


def test_a_folder_that_is_not_there_is_one_sentence(page, tmp_path):
    with pytest.raises(DepthgaugeError, match="cannot be written"):
        write_report(tmp_path / "no" / "r.html", page)


def test_a_long_list_of_what_was_left_out_is_short_and_folded(board):
    few = Provenance(left_out=tuple(f"s@gap_{n}" for n in range(1, 16)))
    text = render_report(full_page(board, provenance=few))
    assert "<details open>\n<summary>Left out</summary>" in text
    assert "<li>s@gap_1 to 15</li>" in text
    many = Provenance(left_out=tuple(f"scene {c}" for c in "abcdefghijklmnop"))
    text = render_report(full_page(board, provenance=many))
    assert "<details>\n<summary>Left out</summary>" in text


def test_the_protocol_has_one_hash(board):
    made = Provenance(hashes={"protocol": "ab" * 32, "truth of s1": "cd"})
    texts = Reader(render_report(full_page(board, provenance=made))).texts
    assert texts.count("ab" * 32) == 1
