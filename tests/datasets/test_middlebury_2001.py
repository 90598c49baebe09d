from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from depthgauge import io
from depthgauge.datasets.middlebury_2001 import samples, write
from depthgauge.errors import BadData, BadFile, DoesNotFit, Misuse


def scene(folder: Path, stems: tuple[str, ...], size: tuple[int, int] = (4, 450)) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for stem in stems:
        path = folder / f"{stem}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        codes = np.full(size, 60, np.uint8)
        codes[0, 0] = 0
        io.write_image(path, codes)
    return folder


OLD = ("im2", "im6", "disp2", "disp6")
NEW = ("view1", "view5", "disp1", "disp5")


def only(root: Path, **options):
    (sample,) = samples(root, "all", **options)
    return sample


@pytest.mark.parametrize(
    ("name", "stems", "width", "scale"),
    [
        ("venus", OLD, 434, 8),
        ("Tsukuba", OLD, 384, 16),
        ("cones", OLD, 450, 4),
        ("teddyH", OLD, 900, 2),
        ("conesF", OLD, 1800, 1),
        ("Aloe", NEW, 1282, 1),
        ("Reindeer", NEW, 671, 2),
        ("Art", NEW, 463, 3),
        ("Midd1", NEW, 1396, 1),
        ("Baby1", NEW, 413, 3),
    ],
)
def test_known_scenes(tmp_path, name, stems, width, scale):
    scene(tmp_path / name, stems, (4, width))
    sample = only(tmp_path)
    assert sample.id == name
    assert np.isnan(sample.truth.disparity[0, 0])
    assert sample.truth.disparity[1, 1] == np.float32(60 / scale)
    assert sample.truth.right_disparity.shape == (4, width)
    assert sample.truth.disparity_scale == scale
    assert sample.inputs.disparity_range == (0, -(-255 // scale))
    assert sample.inputs.left_image.shape[:2] == (4, width)


def test_ppm_and_pgm_of_2001(tmp_path):
    (tmp_path / "venus").mkdir()
    for stem in ("im2", "im6"):
        (tmp_path / f"venus/{stem}.ppm").write_bytes(b"P6\n2 1\n255\n" + bytes([9, 8, 7, 6, 5, 4]))
    (tmp_path / "venus/disp2.pgm").write_bytes(b"P5\n2 1\n255\n" + bytes([0, 100]))
    sample = only(tmp_path)
    assert sample.inputs.left_image[0, 0].tolist() == [9, 8, 7]
    assert np.isnan(sample.truth.disparity[0, 0])
    assert sample.truth.disparity[0, 1] == 12.5  # the example on Middlebury's page
    assert "right_disparity" not in sample.truth


def test_views_in_folders_of_light_and_exposure(tmp_path):
    stems = ("Illum1/Exp1/view1", "Illum1/Exp1/view5", "Illum2/Exp0/view1", "Illum2/Exp0/view5")
    scene(tmp_path / "Art", ("disp1", "disp5", *stems), (4, 463))
    io.write_image(tmp_path / "Art/Illum2/Exp0/view1.png", np.full((4, 463), 7, np.uint8))
    assert only(tmp_path).inputs.left_image[1, 1] == 60
    assert only(tmp_path, illumination=2, exposure=0).inputs.left_image[1, 1] == 7
    assert "left_image" not in only(tmp_path, illumination=3).inputs


def test_a_scene_without_truth(tmp_path):
    scene(tmp_path / "Computer", ("view1", "view5"), (4, 665))
    assert only(tmp_path).truth is None


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("mine/scale.txt", "5\n"),
        ("scale.txt", " 5.0"),
        ("mine/depthgauge.toml", "[disparity]\nscale = 5\n"),
        ("depthgauge.toml", "disparity.scale = 5.0"),
    ],
)
def test_the_scale_can_be_written_beside_the_data(tmp_path, file, text):
    scene(tmp_path / "mine", OLD)
    (tmp_path / file).write_text(text)
    assert only(tmp_path).truth.disparity[1, 1] == 12


def test_an_unknown_scene_says_what_to_write_where(tmp_path):
    scene(tmp_path / "mine", OLD)
    with pytest.raises(BadData, match=r"Write the factor .* to .*mine/scale\.txt"):
        samples(tmp_path, "all")


def test_a_known_scene_at_another_size_is_not_guessed(tmp_path):
    scene(tmp_path / "cones", OLD, (4, 500))
    with pytest.raises(BadData, match="it is 500 px wide"):
        samples(tmp_path, "all")


@pytest.mark.parametrize("text", ["zero", "-1", "0", "nan", "inf"])
def test_a_scale_that_is_none(tmp_path, text):
    scene(tmp_path / "mine", OLD)
    (tmp_path / "mine/scale.txt").write_text(text)
    with pytest.raises(BadData, match="must be a positive number"):
        samples(tmp_path, "all")


def test_a_toml_that_is_none(tmp_path):
    scene(tmp_path / "mine", OLD)
    (tmp_path / "mine/depthgauge.toml").write_text("= 5")
    with pytest.raises(BadFile, match="is not TOML"):
        samples(tmp_path, "all")


def test_all_incomplete_scenes_are_named(tmp_path):
    scene(tmp_path / "venus", ("im2", "disp2"))
    scene(tmp_path / "bull", ("im2", "im6", "disp6"))
    scene(tmp_path / "cones", (*OLD, *NEW))
    (scene(tmp_path / "teddy", OLD) / "im2.ppm").write_bytes(b"P6\n1 1\n255\nabc")
    with pytest.raises(BadData) as caught:
        samples(tmp_path, "all")
    text = str(caught.value)
    assert "venus: lacks im6 but has im2" in text
    assert "bull: lacks disp2 but has disp6" in text
    assert "cones: has files of two layouts" in text
    assert "teddy: has both im2.png and im2.ppm" in text


def test_a_colour_image_is_no_truth(tmp_path):
    folder = scene(tmp_path / "venus", OLD)
    picture = np.zeros((4, 450, 3), np.uint8)
    picture[..., 1] = 5
    io.write_image(folder / "disp2.png", picture)
    with pytest.raises(BadFile, match=r"disp2\.png"):
        _ = only(tmp_path).truth.disparity


@pytest.mark.parametrize("views", [False, True])
def test_what_is_written_can_be_read(tmp_path, stereo, views):
    made = stereo("mine")
    write(tmp_path, [made], scale=16, views=views)
    again = only(tmp_path)
    assert np.array_equal(again.inputs.left_image, made.inputs.left_image)
    for name in ("disparity", "right_disparity"):
        assert np.array_equal(np.isnan(again.truth[name]), np.isnan(made.truth[name]))
        error = np.nan_to_num(again.truth[name] - made.truth[name])
        assert np.abs(error).max() <= 0.5 / 16 + 1e-6


def test_what_does_not_fit_is_refused(tmp_path, stereo):
    with pytest.raises(DoesNotFit, match=r"do not fit into 1\.\.255"):
        write(tmp_path, [stereo("mine")], scale=100)
    with pytest.raises(Misuse, match="has a '/'"):
        write(tmp_path, [stereo("../mine")], scale=1)


# Figures of SOURCE.md beside the data.


def test_real_scenes_of_2001_and_2003(shared):
    root = shared("data/middlebury-classic")
    found = {s.id: s for s in samples(root, "all")}
    eight = ["barn2", "bull", "cones", "poster", "sawtooth", "teddy", "tsukuba", "venus"]
    assert sorted(found) == eight
    greatest = {name: float(np.nanmax(s.truth.disparity)) for name, s in found.items()}
    assert greatest["tsukuba"] == 14
    assert greatest["cones"] == 55
    assert greatest["teddy"] == 52.75
    assert greatest["venus"] == 19.75
    assert greatest["bull"] == 153 / 8
    assert np.isnan(found["tsukuba"].truth.disparity[:18]).all()  # its border has no truth
    assert "right_disparity" not in found["tsukuba"].truth
    assert found["cones"].truth.disparity.shape == found["cones"].inputs.left_image.shape[:2]


def test_real_scenes_of_2005_and_2006(shared):
    found = {s.id: s for s in samples(shared("data/middlebury-2005-2006"), "all")}
    assert sorted(found) == ["Cloth3", "Reindeer", "Wood2"]
    for name, greatest in (("Cloth3", 83.0), ("Reindeer", 100.5), ("Wood2", 108.5)):
        truth = found[name].truth
        assert truth.disparity_scale == 2
        assert np.nanmax(truth.disparity) == greatest
        assert 0.005 < np.isnan(truth.disparity).mean() < 0.02


def test_left_and_right_truth_of_a_real_scene_agree(shared):
    """A wrong scale would send the left pixels to the wrong places of the right map."""
    found = {s.id: s for s in samples(shared("data/middlebury-2005-2006"), "all")}
    left, right = found["Wood2"].truth.disparity, found["Wood2"].truth.right_disparity
    y, x = np.nonzero(np.isfinite(left))
    there = np.rint(x - left[y, x]).astype(int)
    y, x, there = y[there >= 0], x[there >= 0], there[there >= 0]
    gap = np.abs(left[y, x] - right[y, there])
    assert (gap <= 1).mean() > 0.85
