"""Votes: who counts, what a majority is, and files that somebody damaged."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.annotate.records.votes import Vote, accepted, append_vote, read_votes, tally
from depthgauge.errors import BadFile, DepthgaugeError, Misuse


def said(text, annotation="a"):
    """`g` and `b` of different people."""
    return [Vote(annotation, f"p{n}", letter == "g") for n, letter in enumerate(text)]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", None),
        ("g", "pending"),
        ("gg", "accepted"),
        ("gb", "pending"),
        ("ggb", "accepted"),
        ("gbb", "rejected"),
        ("ggbb", "pending"),
        ("ggbbb", "rejected"),
        ("bb", "rejected"),
    ],
)
def test_two_must_agree_and_be_more(text, status):
    found = tally(said(text))
    assert (found["a"].status if found else None) == status


def test_the_last_vote_of_a_person_counts():
    votes = [Vote("a", "anna", True), Vote("a", "ben", True), Vote("a", "anna", False)]
    assert tally(votes)["a"].status == "pending"
    assert tally([*votes, Vote("a", "anna", True)])["a"].good == 2
    assert tally(votes * 3)["a"] == tally(votes)["a"]


def test_needed_can_be_another_number():
    assert accepted(said("g"), needed=1) == {"a"}
    assert accepted(said("ggb"), needed=3) == frozenset()
    with pytest.raises(Misuse, match="at least 1"):
        tally([], needed=0)


names = st.text(min_size=1, max_size=20).filter(
    lambda t: all(not 0xD800 <= ord(c) < 0xE000 for c in t)
)


@given(st.lists(st.builds(Vote, names, names, st.booleans(), st.just("2026-05-04T10:00:00Z"))))
def test_what_is_appended_is_read(tmp_path_factory, votes):
    path = tmp_path_factory.mktemp("votes") / "votes.jsonl"
    path.touch()
    for vote in votes[:4]:
        append_vote(path, vote)
    assert read_votes(path) == (votes[:4], [])


def test_a_vote_that_cannot_be_read_is_not_written(tmp_path):
    for vote in (Vote("", "a", True), Vote("a", "x" * 9999, True), Vote("a", "b", True, "noon")):
        with pytest.raises(Misuse, match="this vote"):
            append_vote(tmp_path / "v.jsonl", vote)
    assert not (tmp_path / "v.jsonl").exists()


GOOD = {"schema": 1, "annotation": "a", "who": "b", "good": True}


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("[]", "object"),
        ("{", "JSON"),
        (json.dumps({**GOOD, "schema": 2}), "schema"),
        (json.dumps({**GOOD, "schema": True}), "schema"),
        (json.dumps({**GOOD, "good": 1}), "good"),
        (json.dumps({**GOOD, "who": ""}), "who"),
        (json.dumps({**GOOD, "at": "yesterday"}), "at"),
        (json.dumps({**GOOD, "more": 1}), "more"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "good"}), "good"),
        ('{"schema": NaN}', "JSON"),
        ("[" * 100_000, "JSON"),
        ('{"a":' * 5000, "JSON"),
        ('{"good": true, "good": true}', "twice"),
        ("\ufeff{}", "JSON"),
    ],
)
def test_bad_lines_are_named(tmp_path, line, what):
    path = tmp_path / "votes.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n{line}\n{json.dumps(GOOD)}\n")
    with pytest.raises(BadFile, match="line 2") as error:
        read_votes(path)
    assert what in str(error.value)
    assert "\n" not in str(error.value)


def test_a_byte_order_mark_is_passed_over(tmp_path):
    path = tmp_path / "votes.jsonl"
    path.write_text(json.dumps(GOOD), encoding="utf-8-sig")  # and no end of the line
    assert len(read_votes(path)[0]) == 1
    append_vote(path, Vote("beach/anna", "carl", True))
    assert [vote.who for vote in read_votes(path)[0]] == [GOOD["who"], "carl"]


def test_a_line_that_was_not_finished_is_left_out_with_a_note(tmp_path):
    path = tmp_path / "votes.jsonl"
    path.write_text(json.dumps(GOOD) + "\n" + json.dumps(GOOD)[:20])
    votes, notes = read_votes(path)
    assert len(votes) == 1
    assert "line 2" in notes[0]
    path.write_text(json.dumps(GOOD) + "\n" + json.dumps({**GOOD, "schema": 9}))
    with pytest.raises(BadFile, match="schema"):  # whole, and wrong
        read_votes(path)


@given(st.binary(max_size=300))
def test_no_file_crashes_the_reader(tmp_path_factory, body):
    path = tmp_path_factory.mktemp("fuzz") / "votes.jsonl"
    path.write_bytes(body)
    with suppress(DepthgaugeError):
        read_votes(path)
