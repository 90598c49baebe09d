"""OASIS on disk: what is read, what is written, what is refused."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from depthgauge import io
from depthgauge.datasets import DATASETS, truth_hash
from depthgauge.datasets._oasis.index import COLUMNS
from depthgauge.datasets.oasis import read_box, samples, write
from depthgauge.engine.scoring.shared_loaders import is_same
from depthgauge.errors import (
    BadData,
    BadFile,
    CannotWrite,
    DoesNotFit,
    Misuse,
    Unavailable,
    UnknownName,
    WrongShape,
)
from depthgauge.types import Camera, Inputs, Sample, Truth

SIZE = (12, 16)
ITEMS = (
    "boundaries",
    "camera",
    "continuous_labels",
    "depth",
    "normals",
    "plane_relations",
    "planes",
    "relative_depth",
    "relative_normals",
    "roi_mask",
    "sharp_occlusion_mask",
    "smooth_labels",
    "smooth_occlusion_mask",
)
ROOT = "OASIS_trainval"


def truth(seed: int = 0) -> dict:
    """Everything that a sample can have."""
    rng = np.random.default_rng(seed)
    region = np.zeros(SIZE, bool)
    region[2:10, 3:14] = True
    depth = np.where(region, rng.uniform(1, 5, SIZE), np.nan).astype(np.float32)
    depth[4, 5] = np.nan
    normals = rng.normal(size=(*SIZE, 3))
    normals[..., 2] = -np.abs(normals[..., 2])
    normals /= np.linalg.norm(normals, axis=2)[..., None]
    normals[~region] = np.nan
    lines = (rng.random((*SIZE, 2)) < 0.2).astype(np.float32)
    lines[~region] = np.nan
    planes = rng.integers(0, 4, SIZE).astype(np.float32)
    planes[~region] = np.nan
    pixels = np.stack([rng.integers(0, n, 20) for n in (16, 12, 16, 12)], axis=1)
    return {
        "depth": depth,
        "normals": normals.astype(np.float32),
        "boundaries": lines,
        "planes": planes,
        "camera": Camera((123.4, 123.4), (8.0, 6.0), (16, 12)),
        "roi_mask": region,
        "continuous_labels": np.where(region, rng.integers(1, 300, SIZE), 0).astype(np.int32),
        "smooth_labels": np.where(region, rng.integers(1, 9, SIZE), 0).astype(np.int32),
        "sharp_occlusion_mask": lines[..., 0] == 1,
        "smooth_occlusion_mask": lines[..., 1] == 1,
        "relative_depth": np.c_[pixels, rng.choice([-1, 1], 20)].astype(np.int32),
        "relative_normals": np.c_[pixels, rng.integers(0, 3, 20)].astype(np.int32),
        "plane_relations": np.array([[1, 2, 1], [1, 3, 2], [2, 3, 0]], np.int32),
    }


def sample(name: str = "0031", seed: int = 0, **changed) -> Sample:
    """A sample; items that are None are left out."""
    picture = np.random.default_rng(seed).integers(0, 256, (*SIZE, 3), dtype=np.uint8)
    items = {key: value for key, value in {**truth(seed), **changed}.items() if value is not None}
    return Sample(name, Inputs({"left_image": picture}), Truth(items) if items else None)


def only(**items) -> Sample:
    return sample(**{**dict.fromkeys(ITEMS), **items})


def read(root: Path, split: str = "val") -> dict[str, Sample]:
    return {found.id: found for found in samples(root, split)}


def equal(found: Sample, made: Sample) -> None:
    assert found.id == made.id
    np.testing.assert_array_equal(found.inputs.left_image, made.inputs.left_image)
    assert found.truth is not None
    names = {name for name in found.truth if not name.endswith("_path")}
    assert names == set(made.truth or ())
    for name in names:
        one, other = found.truth[name], made.truth[name]
        if isinstance(other, np.ndarray):
            np.testing.assert_array_equal(one, other, err_msg=name)
            assert one.dtype == other.dtype, name
        else:
            assert one == other, name


@pytest.fixture
def folder(tmp_path) -> Path:
    """A dataset of two images."""
    write(tmp_path, [sample(), sample("0032", 1)])
    return tmp_path


@pytest.fixture(scope="module")
def golden_oasis(tmp_path_factory) -> Path:
    """The inputs that the authors' code was run on."""
    out = tmp_path_factory.mktemp("golden") / "oasis"
    script = Path(__file__).resolve().parents[1] / "golden/oasis/make_inputs.py"
    subprocess.run([sys.executable, script, out], check=True)
    return out


# --- there and back -------------------------------------------------------------------------------


@pytest.mark.parametrize("split", ["train", "val", "test"])
def test_what_is_written_is_read(tmp_path, split):
    made = [sample("b", 1), sample("a", 2)]
    write(tmp_path, made, split=split)
    found = read(tmp_path, split)
    assert list(found) == ["a", "b"]
    for one in made:
        equal(found[one.id], one)
    assert list(read(tmp_path, "all")) == ["a", "b"]
    assert (tmp_path / f"OASIS_{split}.csv").is_file()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(left=st.sets(st.sampled_from(ITEMS)), seed=st.integers(0, 99))
def test_any_items_come_back(tmp_path, left, seed):
    made = sample("x", seed, **dict.fromkeys(left))
    shutil.rmtree(tmp_path)
    write(tmp_path, [made])
    found = read(tmp_path)["x"]
    given_items = set(made.truth or ())
    expected = dict(made.truth or {})
    if "relative_depth" in given_items and "depth" in left:
        expected["depth"] = np.full(SIZE, np.nan, np.float32)
    if "relative_normals" in given_items and "normals" in left:
        expected["normals"] = np.full((*SIZE, 3), np.nan, np.float32)
    if "roi_mask" in left and {"boundaries", "planes"} & given_items:
        expected["roi_mask"] = truth()["roi_mask"]
    if "planes" in left:
        expected.pop("plane_relations", None)
    if given_items == {"camera"} or not expected:
        assert found.truth is None
        return
    equal(found, Sample("x", made.inputs, Truth(expected)))


def test_the_hash_is_the_same_wherever_it_lies(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("copy")
    write(other, samples(folder, "val"))
    ours, theirs = read(folder), read(other)
    assert [truth_hash(s) for s in ours.values()] == [truth_hash(s) for s in theirs.values()]


def test_samples_can_be_sent_and_compared(folder):
    one, other = read(folder)["0031"], read(folder)["0031"]
    sent = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(sent.truth["depth"], one.truth["depth"])
    assert is_same(one.truth, other.truth)
    assert is_same(one.inputs, other.inputs)
    assert not is_same(one.truth, read(folder)["0032"].truth)


def test_the_files_are_the_publics(folder):
    """Read without our reader, as the public code does it."""
    line = (folder / "OASIS_val.csv").read_text().splitlines()[1].split(",")
    assert len(line) == 14
    row = dict(zip(COLUMNS, line, strict=True))
    assert row["Image"] == f"{ROOT}/image/0031.png"
    assert float(row["FocalLength"]) == 123.4
    made = truth()
    box = pickle.loads((folder / row["Depth"]).read_bytes())
    assert (box["min_y"], box["max_y"], box["min_x"], box["max_x"]) == (2, 9, 3, 13)
    np.testing.assert_array_equal(box["depth"], made["depth"][2:10, 3:14])
    box = pickle.loads((folder / row["Normal"]).read_bytes())
    assert (box["normal"][..., 2] >= 0).all()  # towards the viewer
    np.testing.assert_array_equal(box["normal"][..., :2], made["normals"][2:10, 3:14, :2])
    mask = io.read_image(folder / row["Mask"])
    assert mask.shape == (*SIZE, 3)
    assert set(np.unique(mask)) == {0, 255}
    first = (folder / row["RelativeDepth"]).read_text().splitlines()[0]
    y_a, x_a, y_b, x_b, rel, _, _ = first[:-1].split(",")
    assert [int(v) for v in (x_a, y_a, x_b, y_b)] == made["relative_depth"][0, :4].tolist()
    assert {">": 1, "<": -1}[rel] == made["relative_depth"][0, 4]
    image, *pixels, relation = (
        (folder / "relative_normal.csv").read_text().split("\n")[0].split(",")
    )
    assert image == row["Image"]
    assert [int(v) for v in pixels] == made["relative_normals"][0, :4].tolist()
    assert relation == ("neither", "parallel", "perpendicular")[made["relative_normals"][0, 4]]


def test_pairs_of_other_splits_stay(tmp_path):
    write(tmp_path, [sample("a")], split="train")
    write(tmp_path, [sample("b", 1)], split="val")
    write(tmp_path, [sample("b", 2)], split="val", overwrite=True)
    np.testing.assert_array_equal(
        read(tmp_path, "train")["a"].truth["relative_normals"], truth()["relative_normals"]
    )
    np.testing.assert_array_equal(
        read(tmp_path)["b"].truth["relative_normals"], truth(2)["relative_normals"]
    )


def test_overwriting_removes_what_is_gone(folder):
    with pytest.raises(CannotWrite, match="use --overwrite"):
        write(folder, [sample()])
    (folder / "notes.txt").write_text("mine")
    left = dict.fromkeys(("depth", "relative_normals", "relative_depth", "plane_relations"))
    write(folder, [sample("0031", 5, **left)], overwrite=True)
    found = read(folder)
    assert list(found) == ["0031"]
    assert not list(folder.rglob("0032.*"))
    assert not (folder / ROOT / "depth/0031.pkl").exists()
    assert not {"relative_depth", "plane_relations"} & set(found["0031"].truth)
    assert not (folder / "relative_normal.csv").exists()
    assert (folder / "notes.txt").exists()


# --- what is read ---------------------------------------------------------------------------------


def change(folder: Path, **cells: str) -> None:
    """Changes cells of the first image's line."""
    lines = [line.split(",") for line in (folder / "OASIS_val.csv").read_text().splitlines()]
    for name, value in cells.items():
        lines[1][COLUMNS.index(name)] = value
    (folder / "OASIS_val.csv").write_text("\n".join(",".join(line) for line in lines) + "\n")


def test_values_above_240_and_1_are_lines(folder):
    codes = np.zeros(SIZE, np.uint8)
    codes[3, 3:8] = 255, 241, 240, 1, 128
    io.write_image(folder / ROOT / "fold/0031.png", codes)
    found = read(folder)["0031"].truth["boundaries"]
    assert found[3, 3:8, 1].tolist() == [1, 1, 0, 1, 0]
    assert np.isnan(found[0, 0]).all()


def test_depth_that_is_not_above_0_is_none(folder):
    box = {"min_y": 1, "max_y": 1, "min_x": 2, "max_x": 6}
    values = np.array([[1, 0, -1, np.nan, np.inf]], np.float64)
    (folder / ROOT / "depth/0031.pkl").write_bytes(pickle.dumps({**box, "depth": values}))
    found = read(folder)["0031"].truth["depth"]
    assert np.isfinite(found).sum() == 1
    assert found[1, 2] == 1
    raw = read_box(folder / ROOT / "depth/0031.pkl", "depth", SIZE, -1.0)
    assert raw[1, 2:7].tolist()[:3] == [1, 0, -1]
    assert raw[0, 0] == -1


def test_normals_are_made_unit_and_ours(folder):
    box = {"min_y": 1, "max_y": 1, "min_x": 2, "max_x": 5}
    values = np.array([[[0, 0, 2], [3, 0, 4], [0, 0, 0], [np.nan, 0, 1]]], np.float32)
    (folder / ROOT / "normal/0031.pkl").write_bytes(pickle.dumps({**box, "normal": values}))
    found = read(folder)["0031"].truth["normals"][1, 2:6]
    np.testing.assert_allclose(found[:2], [[0, 0, -1], [0.6, 0, -0.8]], atol=1e-7)
    assert np.isnan(found[2:]).all()


def test_pairs_are_found_where_the_public_code_looks(folder):
    change(folder, RelativeDepth="")
    usual = folder / ROOT / "DIW_style_rel_depth/0031.csv"
    usual.write_text("3.0,4.7,99,99,>,0,0,\n\n0,1,2,3,<,0,0\n")
    found = read(folder)["0031"].truth["relative_depth"]
    assert found.tolist() == [[4, 3, 15, 11, 1], [1, 0, 3, 2, -1]]
    usual.rename(folder / "elsewhere.csv")
    assert "relative_depth" not in read(folder)["0031"].truth
    change(folder, RelativeDepth="elsewhere.csv")
    assert read(folder)["0031"].truth["relative_depth"].tolist() == found.tolist()


def test_a_grey_picture_has_three_channels(folder):
    io.write_image(folder / ROOT / "image/0031.png", np.full(SIZE, 7, np.uint8))
    image = read(folder)["0031"].inputs.left_image
    assert image.shape == (*SIZE, 3)
    assert image.dtype == np.uint8


def test_occlusion_of_sharp_and_smooth(folder):
    change(folder, Occlusion="")
    made = truth()
    both = made["sharp_occlusion_mask"] | made["smooth_occlusion_mask"]
    found = read(folder)["0031"].truth["boundaries"]
    inside = made["roi_mask"]
    np.testing.assert_array_equal(found[inside][:, 0] == 1, both[inside])
    change(folder, Fold="")
    assert "boundaries" not in read(folder)["0031"].truth


@pytest.mark.parametrize(
    "prefix", ["./", "/home/someone/data/OASIS/", "OASIS/", "//", "../../old/OASIS/"]
)
def test_indices_that_were_made_for_other_folders(folder, prefix):
    expected = truth_hash(read(folder)["0031"])
    index = folder / "OASIS_val.csv"
    index.write_text(index.read_text().replace(f"{ROOT}/", f"{prefix}{ROOT}/"))
    assert truth_hash(read(folder)["0031"]) == expected
    # As the archive has it: the index beside the images.
    index.rename(folder / ROOT / "OASIS_val.csv")
    assert truth_hash(read(folder)["0031"]) == expected
    found = read(folder / ROOT)["0031"]
    np.testing.assert_array_equal(found.truth["depth"], truth()["depth"])


def test_a_test_split_has_no_truth(tmp_path):
    write(tmp_path, [only()], split="test")
    found = read(tmp_path, "test")["0031"]
    assert found.truth is None
    assert found.inputs.left_image.shape == (*SIZE, 3)


def test_the_public_golden_inputs(golden_oasis):
    found = read(golden_oasis)
    assert list(found) == ["0031", "0032", "0033", "0034"]
    assert "normals_path" not in found["0032"].truth
    assert np.isnan(found["0032"].truth["normals"]).all()
    assert "depth_path" not in found["0034"].truth
    assert np.isnan(found["0034"].truth["depth"]).all()
    counts = sum(
        np.bincount(s.truth["relative_normals"][:, 4], minlength=3) for s in found.values()
    )
    assert counts.tolist() == [1392, 501, 327]
    assert found["0031"].truth["camera"] == Camera((391.75,) * 2, (180.0, 135.0), (360, 270))
    assert (
        found["0031"].truth["normals"][..., 2][found["0031"].truth["depth"] > 0] < 0
    ).mean() > 0.9


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "item"),
    [
        ("depth/0031.pkl", "depth"),
        ("normal/0031.pkl", "normals"),
        ("fold/0031.png", "boundaries"),
        ("segmentation/planar_instance/0031.png", "planes"),
        ("DIW_style_rel_depth/0031.csv", "relative_depth"),
        ("plane_relations/0031.csv", "plane_relations"),
    ],
)
def test_a_damaged_file_costs_its_sample_only(folder, file, item):
    (folder / ROOT / file).write_bytes(b"\x80\x02damaged")
    found = read(folder)
    with pytest.raises(BadFile, match="0031"):
        found["0031"].truth[item]
    assert found["0032"].truth[item] is not None
    (folder / ROOT / file).unlink()
    if item not in ("relative_depth", "plane_relations"):
        with pytest.raises(BadFile, match="no such file, though the index lists it; unpack"):
            read(folder)["0031"].truth[item]


def test_a_hostile_pickle_is_not_run(folder):
    class Hostile:
        def __reduce__(self):
            return os.system, (f"touch '{folder}/was here'",)

    (folder / ROOT / "depth/0031.pkl").write_bytes(pickle.dumps({"depth": Hostile()}))
    with pytest.raises(BadFile, match="system; only numbers"):
        read(folder)["0031"].truth["depth"]
    assert not (folder / "was here").exists()


@pytest.mark.parametrize(
    ("box", "why"),
    [
        ({"max_x": 16}, "does not fit"),
        ({"min_y": -1}, "does not fit"),
        ({"min_y": 3}, "does not fit"),
        ({"max_y": 2.5}, "must be integers"),
        ({"max_y": "9"}, "must be integers"),
        ({"max_y": True}, "must be integers"),
        ({"max_y": float("nan")}, "must be integers"),
        ({"depth": [1, 2]}, "'depth' is list"),
        ({"depth": np.ones((8, 11, 1))}, "does not fit"),
    ],
)
def test_boxes_that_do_not_fit(folder, box, why):
    whole = {"min_y": 2, "max_y": 9, "min_x": 3, "max_x": 13, "depth": np.ones((8, 11))}
    path = folder / ROOT / "depth/0031.pkl"
    path.write_bytes(pickle.dumps({**whole, **box}))
    with pytest.raises(BadFile, match=why):
        read(folder)["0031"].truth["depth"]
    path.write_bytes(pickle.dumps({"min_y": 2}))
    with pytest.raises(BadFile, match="expected a dict with min_y, max_y"):
        read(folder)["0031"].truth["depth"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1,2,3,4,=,0,0,", "must be > or <"),
        ("1,2,3,x,>,0,0,", "four coordinates"),
        ("1,2,-3,4,>,0,0,", "four coordinates"),
        ("1,2,nan,4,>,0,0,", "four coordinates"),
        ("1,2", "four coordinates"),
    ],
)
def test_pairs_that_are_not_right(folder, line, why):
    path = folder / ROOT / "DIW_style_rel_depth/0031.csv"
    path.write_text(f"1,2,3,4,>,0,0,\n{line}\n")
    with pytest.raises(BadFile, match=f"line 2: .*{why}"):
        read(folder)["0031"].truth["relative_depth"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1,2,3,4,alike", "must be neither, parallel, perpendicular"),
        ("1,2,3,4", "must be neither"),
        ("1,2,3,12,parallel", "not in the image"),
        ("16,2,3,4,parallel", "not in the image"),
        ("1.5,2,3,4,parallel", "not integers"),
        ("1,2,x,4,parallel", "four coordinates"),
    ],
)
def test_relations_that_are_not_right(folder, line, why):
    with (folder / "relative_normal.csv").open("a") as file:
        file.write(f"{ROOT}/image/0031.png,{line}\n")
    found = read(folder)
    with pytest.raises(BadFile, match=why):
        found["0031"].truth["relative_normals"]
    assert len(found["0032"].truth["relative_normals"]) == 20


def test_orthogonal_is_perpendicular_and_a_header_is_skipped(folder):
    (folder / "relative_normal.csv").write_text(
        "image,xA,yA,xB,yB,rel\nsome/where/0031.png, 1,2,3,4, orthogonal\n"
    )
    found = read(folder)
    assert found["0031"].truth["relative_normals"].tolist() == [[1, 2, 3, 4, 2]]
    assert "relative_normals" not in found["0032"].truth


@pytest.mark.parametrize("focal", ["0", "-3", "nan", "inf", "wide"])
def test_focal_lengths_that_are_none(folder, focal):
    change(folder, FocalLength=focal)
    with pytest.raises(BadFile, match="line 2: the focal length must be a positive number"):
        read(folder)["0031"].truth["camera"]


@pytest.mark.parametrize("item", ["Mask", "ContinuousInstance", "SharpOcc"])
def test_masks_of_another_size(folder, item):
    io.write_image(folder / "odd.png", np.zeros((3, 4), np.uint8))
    change(folder, **{item: "odd.png"})
    names = {"Mask": "roi_mask", "ContinuousInstance": "continuous_labels"}
    with pytest.raises(WrongShape, match=r"is 4x3 but 0031\.png is 16x12"):
        read(folder)["0031"].truth[names.get(item, "sharp_occlusion_mask")]


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ({"Depth": "../secret.pkl"}, r"line 2: .*refused: a part of it is '\.\.'"),
        ({"Depth": "/etc/passwd"}, "refused: it is not a plain relative path"),
        ({"Mask": "C:\\mask.png"}, "refused"),
        ({"Image": ""}, "has no image"),
        ({"Image": "a,b"}, "expected 14 columns, found 15"),
        ({"Image": f"{ROOT}/image/0032.png"}, "image '0032' is already in "),
    ],
)
def test_indices_that_are_not_right(folder, cells, why):
    change(folder, **cells)
    with pytest.raises(BadData, match=why):
        read(folder)


def test_a_link_that_leads_outside(folder, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (folder / "away").symlink_to(outside)
    change(folder, Depth="away/0031.pkl")
    with pytest.raises(BadData, match=r"line 2: .*a link on it leads outside"):
        read(folder)


def test_an_index_of_something_else(folder):
    (folder / "OASIS_val.csv").write_text("a,b,c\n1,2,3\n")
    with pytest.raises(BadData, match=r"expected the 14 columns Image,FocalLength.*found a,b,c"):
        read(folder)
    (folder / "OASIS_val.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadData, match="the index cannot be read"):
        read(folder)
    (folder / "OASIS_val.csv").write_text(",".join(COLUMNS) + "\n")
    with pytest.raises(BadData, match="no sample of split 'val'"):
        read(folder)
    with pytest.raises(BadData, match=r"there is no OASIS_train\.csv"):
        read(folder, "train")
    with pytest.raises(UnknownName, match="no oasis split 'valid'"):
        read(folder, "valid")


@pytest.mark.parametrize(
    ("made", "error", "why"),
    [
        (lambda: sample("a/b"), Misuse, "does not fit"),
        (lambda: sample("image1"), Misuse, "replaces in paths"),
        (lambda: sample("a,b"), Misuse, "does not fit"),
        (lambda: only(depth=np.zeros(SIZE, np.float32)), DoesNotFit, "not above 0"),
        (lambda: only(depth=np.ones((3, 4), np.float32)), WrongShape, "depth is"),
        (lambda: only(normals=np.ones(SIZE, np.float32)), WrongShape, "normals is"),
        (lambda: sample(planes=np.zeros(SIZE, np.float32)), DoesNotFit, "one region for both"),
        (lambda: only(smooth_labels=np.full(SIZE, -1, np.int32)), DoesNotFit, "from 0 to 65535"),
        (lambda: only(planes=np.full(SIZE, 0.5, np.float32)), DoesNotFit, "must be integers"),
        (
            lambda: only(relative_depth=np.int32([[0, 0, 16, 0, 1]])),
            DoesNotFit,
            "pixels of the picture",
        ),
        (
            lambda: only(relative_depth=np.int32([[0, 0, 1, 0, 0]])),
            DoesNotFit,
            r"relation of \(-1, 1\)",
        ),
        (
            lambda: only(depth=truth()["depth"], camera=Camera((1, 2), (8, 6), (16, 12))),
            DoesNotFit,
            "one focal length",
        ),
        (
            lambda: only(depth=truth()["depth"], camera=Camera((1, 1), (3, 6), (16, 12))),
            DoesNotFit,
            "in the middle",
        ),
        (lambda: Sample("x", Inputs({}), None), Unavailable, "has no left_image"),
    ],
)
def test_samples_that_cannot_be_written(tmp_path, made, error, why):
    with pytest.raises(error, match=why):
        write(tmp_path, [made()])
    assert not (tmp_path / "OASIS_val.csv").exists()


def test_two_samples_of_one_name(tmp_path):
    with pytest.raises(BadData, match="two samples are called '0031'"):
        write(tmp_path, [sample(), sample()])
    with pytest.raises(UnknownName, match="no oasis split 'all'"):
        write(tmp_path, [sample()], split="all")


def test_the_registry_has_it():
    dataset = DATASETS["oasis"]
    assert dataset.writer is not None
    assert dataset.estimate_reader is not None
    assert set(dataset.spec.quantities) == set(dataset.spec.quantity_layouts)
