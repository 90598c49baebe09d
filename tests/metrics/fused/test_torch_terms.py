"""Terms as operations of PyTorch: the same values as the kernel's, where the tensors are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.metrics.fused.torch_terms import (
    _ERRORS,
    _SIZES,
    TERMS,
    Limits,
    compare_tensors,
    sum_tensors,
)
from depthgauge.metrics.moments import measure_moments, single_region
from depthgauge.metrics.terms import ErrorKind, Kind, Term

COUNTS = {Kind.OVER, Kind.OVER_BOTH, Kind.BEYOND}
PARAMS = {Kind.OVER: (1.0,), Kind.OVER_BOTH: (0.5, 0.05), Kind.BEYOND: (1.25,)}
CHANNELS = {ErrorKind.DIFFERENCE: 1, ErrorKind.LENGTH: 2, ErrorKind.ANGLE: 3, ErrorKind.CHANNELS: 3}


def test_no_kind_is_missing():
    assert set(TERMS) == set(Kind)
    assert set(_ERRORS) == set(ErrorKind)
    assert set(_SIZES) == set(ErrorKind) - {ErrorKind.DIFFERENCE}


def maps(kind, seed, size=(7, 31), n=3):
    rng = np.random.default_rng(seed)
    shape = (n, *size) if CHANNELS[kind] == 1 else (n, *size, CHANNELS[kind])
    truth = rng.uniform(0.5, 40, shape).astype(np.float32)
    if kind != ErrorKind.DIFFERENCE:
        truth -= np.float32(20)
    # Quarters: many errors lie exactly on a threshold.
    estimate = truth + (np.round(rng.normal(0, 4, shape)) / 4).astype(np.float32)
    if kind == ErrorKind.DIFFERENCE:
        estimate = np.abs(estimate) + np.float32(0.1)
    holes = rng.random((2, *shape))
    truth[holes[0] < 0.05] = np.nan
    estimate[holes[1] < 0.05] = np.nan
    estimate[holes[1] > 0.98] = np.inf
    return estimate, truth, rng.random((n, *size)) < 0.5


@pytest.mark.nets
@given(seed=st.integers(0, 10**6))
@pytest.mark.parametrize("kind", list(ErrorKind))
def test_sums_are_those_of_the_kernel(kind, seed):
    torch = pytest.importorskip("torch", reason="tensors are PyTorch's")
    estimate, truth, mask = maps(kind, seed)
    kinds = list(Kind) if kind == ErrorKind.DIFFERENCE else [Kind.ABS, Kind.OVER, Kind.OVER_BOTH]
    terms = [Term(k.name.lower(), PARAMS.get(k, ())) for k in kinds]
    pixels = compare_tensors(torch.tensor(estimate), torch.tensor(truth), kind, Limits())
    sums = sum_tensors(pixels, [None, torch.tensor(mask)], terms).numpy()
    for n in range(len(truth)):
        for region, inside in ((0, None), (1, mask[n])):
            plane = single_region(inside, truth[n])
            found = measure_moments(
                estimate[n], truth[n], plane, tuple(terms), error=kind.name.lower()
            )
            state = found.state("region", tuple(terms))
            row = sums[n, region]
            assert (row[0], row[1]) == (state.count, state.missing)
            for each, value, expected in zip(terms, row[2:], state.sums, strict=True):
                if each.kind in COUNTS:
                    assert value == expected, each
                else:
                    assert value == pytest.approx(expected, rel=1e-9, abs=1e-12), each


@pytest.mark.nets
def test_thresholds_are_compared_in_float32():
    torch = pytest.importorskip("torch", reason="tensors are PyTorch's")
    truth = torch.zeros((1, 1, 2))
    estimate = torch.tensor([[[0.1, 0.10000001]]])
    pixels = compare_tensors(estimate, truth, ErrorKind.DIFFERENCE, Limits())
    found = sum_tensors(pixels, [None], [Term("over", (0.1,))])
    assert found.tolist() == [[[2.0, 0.0, float(np.float32(0.10000001) > np.float32(0.1))]]]
