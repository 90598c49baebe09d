"""What a tile writes down for a term, beside the same term as a map."""

import numpy as np
import pytest

from depthgauge.metrics.fused.tiles import Pixels, Tile
from depthgauge.metrics.kernels.terms import term_map
from depthgauge.metrics.terms import ErrorKind, Kind, Term

LOW, HIGH = np.float32(1e-3), np.float32(np.inf)


def test_every_term_has_the_same_bits_in_a_tile_and_in_a_map():
    rng = np.random.default_rng(3)
    truth = rng.uniform(0.5, 80, 999).astype(np.float32)
    estimate = truth * rng.lognormal(0, 0.4, 999).astype(np.float32)
    estimate[::50] = truth[::50]
    codes, lookup = np.zeros(999, np.uint8), np.zeros(1, np.int32)
    pixels = Pixels(estimate, truth, codes, lookup, -1, LOW, HIGH, 1, ErrorKind.DIFFERENCE)
    terms = [Term(kind.name.lower(), (1.25, 0.05)) for kind in Kind]
    rows = Tile(pixels, 0, 999).rows(terms)
    for term, row in zip(terms, rows, strict=True):
        expected = np.zeros(999)
        term_map(
            estimate,
            truth,
            int(term.kind),
            *term.params,
            LOW,
            1,
            int(ErrorKind.DIFFERENCE),
            expected,
        )
        assert row.tobytes() == expected.tobytes(), term.name


@pytest.mark.parametrize("name", ["log", "log_square"])
def test_logarithms_of_missing_estimates_are_zero(name):
    truth = np.array([1.0, 2.0, 4.0], np.float32)
    estimate = np.array([2.0, np.nan, 4.0], np.float32)
    codes, lookup = np.zeros(3, np.uint8), np.zeros(1, np.int32)
    pixels = Pixels(estimate, truth, codes, lookup, -1, LOW, HIGH, 1, ErrorKind.DIFFERENCE)
    (row,) = Tile(pixels, 0, 3).rows([Term(name)])
    assert row.tolist() == pytest.approx([np.log(2) if name == "log" else np.log(2) ** 2, 0, 0])
