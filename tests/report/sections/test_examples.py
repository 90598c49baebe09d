"""Best, median and worst sample: which they are, and how they are shown."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.report.conftest import full_page, pictures_of
from tests.report.page.test_html import Reader, bare

from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.analysis.sample_choice import Examples, choose_examples, choose_samples
from depthgauge.report.page.html import render_report
from depthgauge.report.page.size_limit import fitted
from depthgauge.report.pictures.examples import example_pictures

MAIN = "badpix:2@all"


def values(table):
    return {
        label: {name: {MAIN: value} for name, value in found.items()}
        for label, found in table.items()
    }


def test_examples_are_of_the_best_method(board):
    found = choose_examples(
        board, values({"a": dict(zip("pqrst", [5.0, 1, 9, 3, 4], strict=True))})
    )
    assert found == Examples("a", {"q": ("best",), "t": ("median",), "r": ("worst",)})
    two = choose_examples(board, values({"a": {"p": 2.0, "q": 1.0}}))
    assert two == Examples("a", {"q": ("best", "median"), "p": ("worst",)})
    one = choose_examples(board, values({"a": {"p": 2.0}}))
    assert one == Examples("a", {"p": ("best", "median", "worst")})


def test_a_failed_sample_is_the_worst(board):
    found = choose_examples(board, values({"a": {"p": 2.0, "q": math.nan, "r": 7.0}}))
    assert found.samples["q"] == ("worst",)
    assert choose_examples(board, values({"a": {"p": math.nan}})) is None
    assert choose_examples(board, {}) is None
    assert choose_examples(replace(board, rows=()), {}) is None


def test_examples_are_always_among_the_samples_with_pictures(board):
    """However many methods there are, whose worst samples would fill the page."""
    rows = tuple(replace(board.rows[0], label=f"m{n}") for n in range(20))
    table = {f"m{n}": {f"s{k:02}": float((k + 7 * n) % 40) for k in range(40)} for n in range(20)}
    crowd = replace(board, rows=rows)
    chosen = choose_samples(crowd, values(table), 12)
    assert len(chosen) == 12
    assert set(choose_examples(crowd, values(table)).samples) <= set(chosen)


def sample_of(name, error, **parts):
    truth = np.full((30, 40), 5.0, np.float32)
    truth[:2] = np.nan
    errors = np.full(truth.shape, error, np.float32)
    return SampleMaps(
        name,
        "disparity",
        truth,
        images={"left_image": np.zeros((30, 40, 3), np.uint8), "right_image": truth[..., None]},
        estimates={"a": truth + errors},
        errors={"a": errors},
        why=("best",),
        **parts,
    )


def test_all_examples_have_one_scale_of_errors():
    drawn = example_pictures([sample_of("p", 0.5), sample_of("q", 8.0)])
    bars = [group.methods[0].error.bar for group in drawn]
    assert [(bar.low, bar.high) for bar in bars] == [(0, 8), (0, 8)]
    assert [len(group.inputs) for group in drawn] == [1, 1]
    assert [group.rows for group in drawn] == [(), ()]
    assert example_pictures([]) == []


def test_examples_are_drawn_larger_than_other_pictures():
    truth = np.tile(np.arange(1500, dtype=np.float32), (500, 1))
    big = replace(sample_of("p", 0.5), truth=truth, estimates={}, errors={}, images={})
    (usual,) = example_pictures([big])
    (large,) = example_pictures([replace(big, most_wide=1280)])
    assert usual.truth.size_px[0] <= 480
    assert large.truth.size_px[0] > 900


@pytest.fixture
def examples():
    return tuple(replace(pictures_of(["a"], name), why=(name,)) for name in ("best", "worst"))


def test_they_stand_directly_below_the_leaderboard(board, examples):
    reader = Reader(render_report(full_page(board, examples=examples)))
    ids = [section["id"] for section in reader.all("section")]
    assert ids[:2] == ["leaderboard", "examples"]
    assert "examples" not in [s["id"] for s in Reader(render_report(bare(board))).all("section")]


def test_pictures_link_to_themselves(board, examples):
    reader = Reader(render_report(full_page(board, examples=examples)))
    ids = {attributes["id"] for _, attributes in reader.tags if "id" in attributes}
    images = reader.all("img")
    links = [a for a in reader.all("a") if a.get("class") == "open"]
    closed = [a for a in reader.all("a") if a.get("class") == "close"]
    assert len(links) == len(closed) == len(images)
    assert len({a["href"] for a in links}) == len(links)
    assert {a["href"].removeprefix("#") for a in links + closed} <= ids


def test_a_failed_example_says_why(board, examples):
    lost = replace(
        examples[1],
        methods=(
            replace(examples[1].methods[0], estimate=None, error=None, note="failed: no file"),
        ),
    )
    text = " ".join(Reader(render_report(full_page(board, examples=(examples[0], lost)))).texts)
    assert "failed: no file" in text


def test_they_shrink_with_the_page_and_go_last(board, examples):
    page = full_page(board, examples=examples)
    whole = len(render_report(page).encode())
    seen = []

    def render(small):
        seen.append(small)
        return render_report(small)

    fitted(page, render, whole - 20_000)
    small = seen[-1]
    assert small.examples[0].truth.size_px < examples[0].truth.size_px
    fitted(page, render, 1000)
    assert seen[-1].examples == seen[-1].pictures == ()
