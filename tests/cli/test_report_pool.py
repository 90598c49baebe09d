"""`depthgauge report --pool` and `--pivot difficulty`: tables of a run, pooled in another way."""

import numpy as np


def values(run, finished, *more):
    """By method: the main score of a table in full precision."""
    lines = run("report", finished, "--csv", *more).out.splitlines()
    head, rows = lines[0].split(","), [line.split(",") for line in lines[1:]]
    score = next(k for k, name in enumerate(head) if name.startswith("badpix"))
    return {row[head.index("method")]: float(row[score]) for row in rows}


def test_a_table_of_medians(run, finished):
    board = run("report", finished, "--samples", "--json").json()
    main = board["main"]
    found = values(run, finished, "--pool", "median")
    for label, samples in board["samples"].items():
        assert np.isclose(found[label], np.median([scores[main] for scores in samples.values()]))
    assert found != values(run, finished)


def test_its_hash_is_that_of_another_protocol(run, finished):
    plain, median = (
        run("report", finished, "--json", *pool).json()["protocol_hash"]
        for pool in ((), ("--pool", "median"))
    )
    assert plain != median
    assert run("report", finished, "--json", "--pool", "image").json()["protocol_hash"] == plain


def test_the_page_says_that_it_shows_medians(run, finished):
    assert run("report", finished, "--pool", "median").code == 0
    assert "The median over samples" in (finished / "report.html").read_text(encoding="utf-8")


def test_a_run_without_axes_has_no_difficulty(run, finished):
    ran = run("report", finished, "--text", "--pivot", "difficulty")
    assert ran.code == 2
    assert "this run has no difficulty: it needs four numbered regions or more" in ran.err
