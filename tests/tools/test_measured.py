"""Pages whose numbers a script measures are fresh."""

import pytest
from tools.evidence import (
    _accuracy_page,
    _gaps_page,
    _layers_page,
    _people_page,
    _rig_page,
    _stereogen_page,
    capture,
    capture_full,
    capture_thin,
    components,
    error_bars,
    hidden_truth,
    light_field,
    networks_difficulty,
    networks_refine,
    networks_spacetime,
    networks_synthetic,
    oasis_like,
    oasis_reconstruction,
    psychometric,
    quiz,
    stratified_axes,
    tags,
    trials_others,
)

import tools
from perf import serve_large, serve_load
from tools import _measured, edge_quality, systematic_cases


@pytest.mark.parametrize("script", [systematic_cases, edge_quality])
def test_measured_pages_are_fresh(script, capsys):
    fresh = script.main(["--check"]) == 0
    assert fresh, capsys.readouterr().out


@pytest.mark.parametrize(
    "figure",
    [
        _accuracy_page,
        _gaps_page,
        light_field,
        capture,
        capture_full,
        capture_thin,
        components,
        error_bars,
        oasis_reconstruction,
        oasis_like,
        _layers_page,
        _people_page,
        _rig_page,
        _stereogen_page,
        hidden_truth,
        networks_difficulty,
        networks_refine,
        networks_spacetime,
        networks_synthetic,
        psychometric,
        quiz,
        serve_large,
        serve_load,
        stratified_axes,
        tags,
        trials_others,
    ],
)
def test_pages_say_what_was_recorded(figure, capsys):
    fresh = figure.write_page(check=True)
    assert fresh, capsys.readouterr().out


def test_bars_inside_of_cells_do_not_divide_them():
    made = _measured.table(["", "mean |error|"], [[r"the \|r\| of all", "1"]])
    assert made.splitlines()[0] == r"|  | mean \|error\| |"
    assert made.splitlines()[2] == r"| the \|r\| of all | 1 |"


def test_larger_sessions_have_a_table_of_their_own(capsys):
    assert error_bars.write_large_page(check=True), capsys.readouterr().out


def test_a_stale_page_is_named_and_mended(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_measured, "FOLDER", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- measured: one -->\nold\n<!-- /measured -->\nb\n")
    assert not _measured.update("page.md", {"one": "new"}, "script", check=True)
    assert "docs/page.md: is stale; run `python -m tools.script`" in capsys.readouterr().out
    assert "old" in page.read_text()
    assert _measured.update("page.md", {"one": "new"}, "script", check=False)
    assert page.read_text().startswith("a\n<!-- measured: one -->\n")
    assert "\n\nnew\n\n<!-- /measured -->\nb\n" in page.read_text()
    assert _measured.update("page.md", {"one": "new"}, "script", check=True)


def test_edge_quality_measures_shape_and_not_place():
    """What the page concludes from its tables."""
    found = edge_quality.measure()
    for kind, scores in found.items():
        mean = scores[..., 0].mean(axis=1)
        if kind in edge_quality.PLACE:
            assert mean.max() < 0.5, kind
        else:
            assert (mean[1:] > 1.3 * mean[:-1]).all(), kind
            assert mean[-1] > 5, kind


def test_pictures_are_small():
    images = tools._measured.FOLDER / "images"
    for entity in systematic_cases.ROWS:
        assert 0 < (images / f"systematic-{entity}.png").stat().st_size < 300_000
