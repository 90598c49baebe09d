"""Estimates as OASIS takes them: read, written, refused."""

from __future__ import annotations

import os

import numpy as np
import pytest

from depthgauge import io
from depthgauge.datasets import DATASETS, find_estimate, read_estimate
from depthgauge.datasets.oasis import write_estimate
from depthgauge.errors import BadData, BadFile, DoesNotFit, Misuse, TooLarge, UnknownName
from depthgauge.io.npz import write_arrays
from depthgauge.types import Estimate

OASIS = DATASETS["oasis"]
SHAPE = (5, 7)
rng = np.random.default_rng(3)
DEPTH = rng.uniform(1, 5, SHAPE).astype(np.float32)
NORMALS = rng.normal(size=(*SHAPE, 3)).astype(np.float32)
LINES = rng.random((*SHAPE, 2)).astype(np.float32)
PLANES = np.zeros((*SHAPE, 3), np.float32)
PLANES[:2, :, 0] = 0.75
PLANES[1:, :3, 1] = 0.1
PLANES[4, 6, 2] = 1 / 3


def found(root, quantity):
    path = find_estimate(root, OASIS, "0031", quantity)
    assert path is not None
    return read_estimate(path, OASIS, quantity)


@pytest.mark.parametrize(
    ("quantity", "values", "file"),
    [
        ("depth", DEPTH, "depth/0031.npy"),
        ("normals", NORMALS, "normals/0031.npy"),
        ("boundaries", LINES, "occfold/0031.npz"),
        ("planes", PLANES, "planar/0031.txt"),
    ],
)
def test_what_is_written_is_read(tmp_path, quantity, values, file):
    write_estimate(tmp_path, "0031", Estimate(values, quantity, parts={"focal_px": 250.5}))
    assert (tmp_path / file).is_file()
    back = found(tmp_path, quantity)
    np.testing.assert_array_equal(back.values, values)
    assert back.quantity == quantity
    assert back.extras["path"] == str(tmp_path / file)
    if quantity == "depth":
        assert back.parts["focal_px"] == 250.5


def test_the_files_are_the_publics(tmp_path):
    write_estimate(tmp_path, "0031", Estimate(DEPTH, "depth", parts={"focal_px": 250}))
    found = np.load(tmp_path / "depth/0031.npy", allow_pickle=True).item()
    assert found["pred_focal"] == 250
    np.testing.assert_array_equal(found["pred_depth"], DEPTH)
    write_estimate(tmp_path, "0031", Estimate(NORMALS, "normals"))
    np.testing.assert_array_equal(np.load(tmp_path / "normals/0031.npy"), NORMALS * [1, 1, -1])
    write_estimate(tmp_path, "0031", Estimate(PLANES, "planes"))
    lines = (tmp_path / "planar/0031.txt").read_text().splitlines()
    assert lines[0] == "0031_00.png 1 0.75"
    np.testing.assert_array_equal(io.read_mask(tmp_path / "planar/0031_01.png"), PLANES[..., 1] > 0)


def test_missing_values_are_written_as_the_public_code_has_them(tmp_path):
    normals = NORMALS.copy()
    normals[1, 2] = np.nan
    write_estimate(tmp_path, "0031", Estimate(normals, "normals"))
    assert np.load(tmp_path / "normals/0031.npy")[1, 2].tolist() == [0, 0, 0]
    lines = LINES.copy()
    lines[1, 2] = np.nan
    write_estimate(tmp_path, "0031", Estimate(lines, "boundaries"))
    assert found(tmp_path, "boundaries").values[1, 2].tolist() == [0, 0]
    write_estimate(tmp_path, "0031", Estimate(np.zeros((*SHAPE, 1), np.float32), "planes"))
    assert found(tmp_path, "planes").values.tolist() == [[[0]]]


def test_our_own_files_have_our_axes(tmp_path):
    (tmp_path / "0031").mkdir()
    np.save(tmp_path / "0031/normals.npy", NORMALS)
    np.testing.assert_array_equal(found(tmp_path, "normals").values, NORMALS)
    # A folder of plain files that is itself called `normals` is a submission.
    (tmp_path / "normals").mkdir()
    np.save(tmp_path / "normals/0032.npy", NORMALS)
    path = find_estimate(tmp_path / "normals", OASIS, "0032", "normals")
    np.testing.assert_array_equal(
        read_estimate(path, OASIS, "normals").values, NORMALS * [1, 1, -1]
    )


def test_plain_arrays_of_any_size(tmp_path):
    (tmp_path / "depth").mkdir()
    np.save(tmp_path / "depth/0031.npy", np.float64([[1, np.inf]]))
    back = found(tmp_path, "depth")
    np.testing.assert_array_equal(back.values, np.float32([[1, np.nan]]))
    assert "focal_px" not in back.parts


def save(path, **values):
    path.parent.mkdir(exist_ok=True)
    np.save(path, np.array(values, dtype=object))


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"pred_depth": DEPTH}, "expected a dict with pred_depth, pred_focal, found pred_depth"),
        ({"pred_depth": DEPTH, "pred_focal": 0}, "must be a positive number of px, found 0"),
        ({"pred_depth": DEPTH, "pred_focal": -2.5}, "found -2.5"),
        ({"pred_depth": DEPTH, "pred_focal": np.nan}, "found nan"),
        ({"pred_depth": DEPTH, "pred_focal": "500"}, "found a str"),
        ({"pred_depth": DEPTH, "pred_focal": np.ones(2)}, "found a ndarray"),
        ({"pred_depth": NORMALS, "pred_focal": 1}, r"must be \(H, W\), found \(5, 7, 3\)"),
        ({"pred_depth": [1], "pred_focal": 1}, "must be an array, found a list"),
        ({"pred_depth": DEPTH > 0, "pred_focal": 1}, "must be an array"),
    ],
)
def test_dicts_that_are_not_right(tmp_path, values, why):
    save(tmp_path / "depth/0031.npy", **values)
    with pytest.raises(BadFile, match=why):
        found(tmp_path, "depth")


def test_dicts_of_networks(tmp_path):
    save(tmp_path / "depth/0031.npy", pred_depth=DEPTH[None, None], pred_focal=np.float32([[9.5]]))
    back = found(tmp_path, "depth")
    np.testing.assert_array_equal(back.values, DEPTH)
    assert back.parts["focal_px"] == 9.5


def test_a_hostile_estimate_is_not_run(tmp_path):
    class Hostile:
        def __reduce__(self):
            return os.system, (f"touch '{tmp_path}/was here'",)

    save(tmp_path / "depth/0031.npy", pred_depth=Hostile(), pred_focal=1)
    with pytest.raises(BadFile, match="system; only numbers"):
        found(tmp_path, "depth")
    assert not (tmp_path / "was here").exists()


def test_boundaries_that_are_not_right(tmp_path):
    path = tmp_path / "occfold/0031.npz"
    path.parent.mkdir()
    write_arrays(path, {"boundary": DEPTH, "occlusion": DEPTH})
    with pytest.raises(BadFile, match="'boundary' must be from 0 to 1, found"):
        found(tmp_path, "boundaries")
    write_arrays(path, {"boundary": LINES[..., 0], "occlusion": LINES[:2, :, 0]})
    with pytest.raises(BadFile, match="of the same size, found 'occlusion'"):
        found(tmp_path, "boundaries")
    write_arrays(path, {"boundary": LINES[..., 0]})
    with pytest.raises(BadFile, match="expected an array named 'occlusion'"):
        found(tmp_path, "boundaries")
    # Any other .npz is an ordinary map.
    write_arrays(path, {"map": LINES})
    np.testing.assert_array_equal(found(tmp_path, "boundaries").values, LINES)


def planar(root, text, **masks):
    folder = root / "planar"
    folder.mkdir(exist_ok=True)
    (folder / "0031.txt").write_text(text)
    for name, mask in masks.items():
        io.write_image(folder / f"{name}.png", mask)


def test_plane_parameters_are_kept(tmp_path):
    mask = PLANES[..., 0] > 0
    planar(tmp_path, "a.png 1 0.5 0 0 1 -2.5\n\nb.png 2 1e-30\n", a=mask, b=~mask)
    back = found(tmp_path, "planes")
    assert back.values.shape == (*SHAPE, 2)
    assert (back.values[..., 0] == np.where(mask, 0.5, 0)).all()
    assert ((back.values[..., 1] > 0) == ~mask).all()
    assert back.values[..., 1].max() == np.float32(1e-30)
    assert back.extras["planes"] == [
        {"file": "a.png", "label": 1, "confidence": 0.5, "parameters": [0, 0, 1, -2.5]},
        {"file": "b.png", "label": 2, "confidence": 1e-30, "parameters": None},
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a.png 1\n", "line 1: expected 'PNG label confidence'.*found 2 words"),
        ("a.png 1 0.5 0 0 1\n", "found 6 words"),
        ("a.png one 0.5\n", "expected an integer label"),
        ("a.png 1 nan\n", "expected an integer label"),
        ("a.png 1 -0.5\n", "must be above 0 .* and at most 1e[+]06, found -0.5"),
        ("a.png 1 0\n", "must be above 0 .*, found 0; leave out"),
        ("a.png 1 1e-300\n", "at least 1.2e-38.*, found 1e-300"),
        ("a.png 1 1e39\n", "at most 1e[+]06, found 1e39"),
        ("a.png 1 1000001\n", "at most 1e[+]06"),
        ("a.png 1 0.5 0 0 inf 1\n", "finite numbers"),
        ("../a.png 1 0.5\n", r"refused: a part of it is '\.\.'"),
        ("/a.png 1 0.5\n", "refused"),
        ("none.png 1 0.5\n", "no such file"),
        ("a.png 1 0.5\nodd.png 1 0.5\n", "odd.png is 2x2, the first is 7x5"),
        ("away.png 1 0.5\n", "a link on it leads outside"),
        ("a.png 1 0.5\n" * 1001, "at most 1000"),
    ],
)
def test_planes_that_are_not_right(tmp_path, text, why):
    planar(tmp_path, text, a=PLANES[..., 0] > 0, odd=np.ones((2, 2), bool))
    io.write_image(tmp_path / "outside.png", np.ones(SHAPE, bool))
    (tmp_path / "planar/away.png").symlink_to(tmp_path / "outside.png")
    with pytest.raises(BadFile, match=why):
        found(tmp_path, "planes")


@pytest.mark.parametrize(
    ("estimate", "why"),
    [
        (Estimate(DEPTH, "depth"), r"needs the part focal_px, a positive number; found None"),
        (Estimate(DEPTH, "depth", parts={"focal_px": -1}), "found -1"),
        (Estimate(NORMALS, "depth", parts={"focal_px": 1}), r"are \(H, W\) here"),
        (Estimate(DEPTH, "normals"), r"are \(H, W, 3\) here"),
        (Estimate(NORMALS, "boundaries"), r"are \(H, W, 2\) here"),
        (Estimate(LINES + 1, "boundaries"), "from 0 to 1"),
        (Estimate(DEPTH, "planes"), r"are \(H, W, N\) here"),
    ],
)
def test_estimates_that_cannot_be_written(tmp_path, estimate, why):
    with pytest.raises(DoesNotFit, match=why):
        write_estimate(tmp_path, "0031", estimate)


def test_confidences_at_the_ends_come_back(tmp_path):
    planes = np.zeros((*SHAPE, 3), np.float32)
    planes[0, 0], planes[1, 1], planes[2, 2] = (1e6, 0, 0), (0, 1e-45, 0), (0, 0, 1e-38)
    write_estimate(tmp_path, "0031", Estimate(planes, "planes"))
    back = found(tmp_path, "planes").values
    assert ((back > 0) == (planes > 0)).all()
    assert back.max() == 1e6
    with pytest.raises(DoesNotFit, match=r"at most 1e[+]06, found 1\.1e[+]06; scale them"):
        write_estimate(tmp_path, "0031", Estimate(planes * 1.1, "planes"))


@pytest.mark.parametrize("quantity", ["boundaries", "normals"])
def test_estimates_that_claim_more_than_a_picture(tmp_path, monkeypatch, quantity):
    from depthgauge.datasets._oasis import estimates

    values = np.zeros((8, 9, 2 if quantity == "boundaries" else 3), np.float32)
    values[..., -1] = 1
    write_estimate(tmp_path, "0031", Estimate(values, quantity))
    assert found(tmp_path, quantity).values.shape == values.shape
    assert estimates.MOST_PIXELS == 8192**2
    monkeypatch.setattr(estimates, "MOST_PIXELS", 71)
    with pytest.raises(TooLarge, match="9 x 8 pixels"):
        found(tmp_path, quantity)


def test_names_that_cannot_be_written(tmp_path):
    with pytest.raises(UnknownName, match="no quantity of OASIS 'flow'"):
        write_estimate(tmp_path, "0031", Estimate(DEPTH, "flow"))
    with pytest.raises(Misuse, match="has a '/'"):
        write_estimate(tmp_path, "a/b", Estimate(NORMALS, "normals"))
    with pytest.raises(BadData, match="refused"):
        write_estimate(tmp_path, "..", Estimate(NORMALS, "normals"))
