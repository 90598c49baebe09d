"""Tables and pictures."""

import math

import numpy as np
import pytest

from depthgauge._tables import show_number
from depthgauge.engine.scoring.pool import Summary
from depthgauge.engine.scoring.result import score_rows, show_summary
from depthgauge.errors import BadFile
from depthgauge.io import read_image
from depthgauge.report.pictures.colours import MISSING_COLOURS, NO_TRUTH_COLOUR
from depthgauge.report.pictures.error_maps import write_error_map
from depthgauge.types import Score


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.000"),
        (100.0, "100.000"),
        (3.14159, "3.142"),
        (-0.05, "-0.05000"),
        (123456.7, "123456.700"),
        (1.5e-12, "1.500e-12"),
        (math.nan, "-"),
        (math.inf, "inf"),
    ],
)
def test_numbers_line_up(value, shown):
    assert show_number(value) == shown


def test_a_row_says_what_the_number_was_made_from():
    rows = score_rows({"mae@all": Score(1.25, 900, 100, unit="px"), "mae@x": Score(math.nan, 0, 0)})
    assert rows[0] == ["mae@all", "1.250", "px", "900", "100", "90.0 %"]
    assert rows[1] == ["mae@x", "empty", "", "0", "0", "-"]


def test_a_summary_says_when_it_is_incomplete():
    assert show_summary(Summary(2.0, 3, 3)) == "2.000"
    assert show_summary(Summary(math.nan, 11, 12)) == "incomplete 11/12"
    assert show_summary(Summary(math.nan, 0, 3, empty=3)) == "empty"
    assert show_summary(Summary(math.nan, 1, 3, empty=1)) == "incomplete 1/3"


def colours(path):
    picture = read_image(path)
    return {tuple(int(c) for c in colour) for colour in picture.reshape(-1, picture.shape[-1])}


def rgb(text):
    return tuple(int(text[i : i + 2], 16) for i in (1, 3, 5))


def test_missing_estimates_and_missing_truth_have_colours_of_their_own(tmp_path):
    values = np.linspace(0, 5, 600, dtype=np.float32).reshape(20, 30)
    values[:5, :5] = np.nan
    known = np.ones(values.shape, bool)
    known[10:, 20:] = False
    write_error_map(tmp_path / "new" / "a.png", values, known, title="mae", unit="px")
    found = colours(tmp_path / "new" / "a.png")
    assert {rgb(MISSING_COLOURS["magma"]), rgb(NO_TRUTH_COLOUR)} <= found
    assert len(found) > 100


def test_thin_errors_of_large_maps_are_not_lost(tmp_path):
    values = np.zeros((400, 4000), np.float32)
    values[:, ::100] = 5
    known = np.ones(values.shape, bool)
    write_error_map(tmp_path / "a.png", values, known, title="", unit="px")
    picture = read_image(tmp_path / "a.png").astype(int)
    row = picture[picture.shape[0] // 2]
    bright = (row.sum(axis=-1) > 600) & (np.arange(len(row)) < 0.85 * len(row))
    starts = np.flatnonzero(np.diff(bright.astype(int)) == 1)
    assert len(starts) >= 38


@pytest.mark.parametrize("values", [np.full((4, 6), np.nan), np.zeros((4, 6)), -np.ones((4, 6))])
def test_maps_without_spread_can_be_drawn(tmp_path, values):
    known = np.ones(values.shape, bool)
    write_error_map(tmp_path / "a.png", values.astype(np.float32), known, title="x", unit="")
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadFile, match="cannot be written"):
        write_error_map(
            tmp_path / "file" / "a.png",
            np.zeros((2, 2), np.float32),
            np.ones((2, 2), bool),
            title="",
            unit="",
        )
