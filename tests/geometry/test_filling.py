import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import Misuse, UnknownName
from depthgauge.geometry.filling import FILLINGS, fill

NAN = np.nan
GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "kitti2015"


def holes(seed, shape=(9, 12), share=0.5):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape).astype(np.float32)
    values[rng.random(shape[:2]) < share] = NAN
    return values


def slow_background(values):
    """The kit's steps in plain Python: rows, then columns, on one channel."""
    out = values.copy()
    for row in out:
        full = np.flatnonzero(np.isfinite(row))
        for a, b in pairwise(full):
            row[a + 1 : b] = min(row[a], row[b])
        if full.size:
            row[: full[0]], row[full[-1] + 1 :] = row[full[0]], row[full[-1]]
    for column in out.T:
        full = np.flatnonzero(np.isfinite(column))
        if full.size:
            column[: full[0]], column[full[-1] + 1 :] = column[full[0]], column[full[-1]]
    return out


def slow_scanline(values):
    out = values.astype(np.float64)
    x = np.arange(out.shape[1])
    full_rows = []
    for y, row in enumerate(out):
        full = np.isfinite(row)
        if full.any():
            full_rows.append(y)
            row[:] = np.interp(x, x[full], row[full])
    for y in range(len(out)):
        if y not in full_rows:
            out[y] = out[min(full_rows, key=lambda f, y=y: (abs(f - y), f))]
    return out


@pytest.mark.parametrize("seed", range(6))
def test_background_agrees_with_plain_loops(seed):
    values = holes(seed, share=0.7)
    values[:2], values[5], values[-1] = NAN, NAN, NAN
    np.testing.assert_array_equal(fill(values, "background"), slow_background(values))


@pytest.mark.parametrize("seed", range(6))
def test_scanline_agrees_with_interp(seed):
    values = holes(seed, share=0.7)
    values[0], values[4:6], values[-1] = NAN, NAN, NAN
    np.testing.assert_allclose(fill(values, "scanline"), slow_scanline(values), atol=1e-6)


def test_background_leaves_an_empty_row_between_full_ones():
    values = np.array([[NAN, NAN], [1.0, NAN], [NAN, NAN], [NAN, 2.0], [NAN, NAN]])
    found = fill(values, "background")
    np.testing.assert_array_equal(found[:, 0], [1.0, 1.0, NAN, 2.0, 2.0])
    np.testing.assert_array_equal(fill(values, "scanline")[:, 0], [1.0, 1.0, 1.0, 2.0, 2.0])


def test_flow_takes_the_smaller_of_each_component():
    flow = np.array([[[1.0, 9.0], [NAN, NAN], [5.0, NAN], [4.0, 3.0]]])
    found = fill(flow, "background")
    np.testing.assert_array_equal(found[0, 1], [1.0, 3.0])
    np.testing.assert_array_equal(found[0, 2], [1.0, 3.0])  # half a vector is none


@given(st.integers(0, 999), st.floats(0.0, 0.99), st.sampled_from(FILLINGS), st.booleans())
def test_what_is_there_is_untouched_and_the_input_too(seed, share, how, is_flow):
    values = holes(seed, (5, 6, 2) if is_flow else (5, 6), share)
    before = values.copy()
    found = fill(values, how, 7.0 if how == "constant" else None)
    np.testing.assert_array_equal(values, before)
    there = np.isfinite(values)
    np.testing.assert_array_equal(found[there], values[there])
    assert found.dtype == np.float32
    if how == "constant":
        assert (found[~there] == 7.0).all()
    elif there.any() and how == "scanline":
        assert np.isfinite(found).all()
        assert found.min() >= values[there].min()
        assert found.max() <= values[there].max()


def test_a_map_without_values_stays_missing():
    empty = np.full((3, 4), NAN)
    assert np.isnan(fill(empty, "background")).all()
    assert np.isnan(fill(empty, "scanline")).all()
    assert (fill(empty, "constant", 2.0) == 2.0).all()
    assert np.isnan(fill(np.full((3, 4), np.inf), "background")).all()


def test_errors():
    one = np.ones((2, 2))
    with pytest.raises(UnknownName, match="Did you mean 'background'"):
        fill(one, "backgound")
    with pytest.raises(Misuse, match="needs a finite number, found None"):
        fill(one, "constant")
    with pytest.raises(Misuse, match="needs a finite number, found nan"):
        fill(one, "constant", NAN)
    with pytest.raises(Misuse, match="'scanline' takes no constant"):
        fill(one, "scanline", 0.0)


@pytest.fixture(scope="module")
def kitti(tmp_path_factory):
    out = tmp_path_factory.mktemp("kitti")
    subprocess.run([sys.executable, GOLDEN / "make_inputs.py", out], check=True)
    expected = json.loads((GOLDEN / "expected.json").read_text())
    assert expected["inputs_digest"] in (out / "DIGEST.txt").read_text()
    return out, expected["results"]["gaps"]


def png(path):
    return cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_UNCHANGED)


def read_disparity(path):
    codes = png(path)
    return np.where(codes > 0, codes.astype(np.float32) / 256, np.float32(NAN))


def read_flow(path):
    codes = png(path)[..., ::-1].astype(np.float32)
    return np.where(codes[..., 2:] > 0, (codes[..., :2] - 32768) / 64, np.float32(NAN))


def outlier_share(pairs):
    """Pooled share of |e| > 3 and |e| / |truth| > 0.05, in float32."""
    bad = count = 0
    for error, length in pairs:
        there = np.isfinite(length)
        bad += np.count_nonzero((error > 3) & (error / length > 0.05) & there)
        count += np.count_nonzero(there)
    return bad / count


@pytest.mark.parametrize("region", ["noc", "occ"])
def test_background_filling_gives_the_devkits_d1(kitti, region):
    """KITTI 2015 devkit evaluate_scene_flow.cpp (ccj5351/kitti-devkit 78483bc), tests/golden."""
    root, expected = kitti

    def pairs():
        for k in range(3):
            name = f"{k:06d}_10.png"
            truth = read_disparity(root / f"data/scene_flow/disp_{region}_0" / name)
            filled = fill(read_disparity(root / "results/gaps/disp_0" / name), "background")
            # An empty row inside stays unfilled; the kit then scores its own mark, -1.
            yield np.abs(np.nan_to_num(filled, nan=-1.0) - truth), np.abs(truth)

    assert outlier_share(pairs()) == pytest.approx(expected["D1"][region]["all"], abs=1e-7)


def test_background_filling_gives_the_devkits_fl(kitti):
    root, expected = kitti

    def pairs():
        for k in range(3):
            name = f"{k:06d}_10.png"
            truth = read_flow(root / "data/scene_flow/flow_occ" / name)
            filled = fill(read_flow(root / "results/gaps/flow" / name), "background")
            error = np.nan_to_num(filled, nan=0.0) - truth
            yield np.hypot(*np.moveaxis(error, -1, 0)), np.hypot(*np.moveaxis(truth, -1, 0))

    assert outlier_share(pairs()) == pytest.approx(expected["Fl"]["occ"]["all"], abs=1e-7)
