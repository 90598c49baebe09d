"""Making and writing stratified scenes: seeds, limits, files, errors."""

import pickle

import numpy as np
import pytest

from depthgauge.datasets import DATASETS
from depthgauge.datasets._hci4d.scenes import SCENES as BENCHMARK
from depthgauge.errors import CannotWrite, Misuse, UnknownName
from depthgauge.synth.sets.stratified import (
    SCENES,
    Axis,
    axes_of,
    make_pair,
    make_scene,
    write_pairs,
    write_scenes,
)

SMALL = {"size_px": 64, "views": 3, "scale": 2}


@pytest.mark.parametrize("name", SCENES)
def test_a_seed_always_gives_the_same_and_another_keeps_the_truth(name):
    one, again, other = (make_scene(name, seed=seed, **SMALL) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.inputs.views, again.inputs.views)
    assert (one.inputs.views != other.inputs.views).mean() > 0.5
    for item in one.truth:
        np.testing.assert_array_equal(one.truth[item], other.truth[item])


def test_scenes_with_the_same_shape_look_different():
    one, other = (
        make_scene(name, **SMALL).inputs.centre_image.astype(float).mean(axis=2)
        for name in ("glass", "gloss")
    )
    assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 0.5


def test_nothing_is_made_before_it_is_asked_for():
    sample = make_scene("dots", size_px=4096, scale=16)
    assert set(sample.inputs.at_hand()) == {"disparity_range", "rig", "parameters"}
    assert not sample.truth.at_hand()


def test_a_sample_can_be_sent_to_another_process():
    sample = make_scene("stripes", **SMALL)
    views = sample.inputs.views
    copy = pickle.loads(pickle.dumps(sample))
    assert "views" not in copy.inputs.at_hand()
    np.testing.assert_array_equal(copy.inputs.views, views)
    np.testing.assert_array_equal(copy.truth.high_contrast_mask, sample.truth.high_contrast_mask)


# --- what is refused ----------------------------------------------------------------------------


def test_an_unknown_scene_is_named():
    with pytest.raises(UnknownName, match="Did you mean 'dots'"):
        make_scene("dotz")
    with pytest.raises(UnknownName, match="backgammon, camouflage, decal"):
        make_pair("nothing like it")


@pytest.mark.parametrize(
    ("name", "axes", "why"),
    [
        (
            "dots",
            {"gap": "0:1:2"},
            "'gap' is not an axis of scene 'dots': its axes are noise, diam",
        ),
        ("dots", {"nois": "0:1:2"}, "Did you mean 'noise'"),
        ("pyramids", {"noise": "0:1:2"}, "'pyramids': it has none"),
        ("dots", {"noise": "0:2:15"}, "noise of 'dots'.* must be from 0 to 1; found 0:2:15"),
        ("dots", {"noise": "0:0.2:31"}, "1 to 30 cells"),
        ("dots", {"diameter": "24:1.5:10"}, "grows from the first"),
        ("dots", {"diameter": "50:90:10"}, "do not fit"),
        ("backgammon", {"gap": "1.5:0:3"}, "must be from 0 to 1"),
        ("stripes", {"background_texture": "1:0:2"}, "3 to 31 bands"),
        ("stripes", {"stripe_texture": "2:0:5"}, "must be from 0 to 1"),
        ("slant", {"gradient": "0:0.5:10"}, "must be from 0 to 0.245"),
        ("glass", {"clarity": "-1:1:10"}, "must be from 0 to 1"),
        ("gloss", {"mirror": "0:2:10"}, "must be from 0 to 1"),
        ("repetition", {"period": "3:0.1:10"}, "must be from 0.3 to 100"),
        ("repetition", {"unique": "1:0:10"}, "must be from 0.001 to 1"),
        ("repetition", {"period": "3:1:4"}, "one period, or one for each unique share; found the"),
        ("decalibration", {"offset": "0:50:10"}, "must be from 0 to 20"),
        ("exposure", {"stops": "0:9:10"}, "must be from 0 to 8"),
    ],
)
def test_wrong_axes_are_refused_in_one_sentence(name, axes, why):
    for make in (make_scene, make_pair):
        with pytest.raises(Misuse, match=why) as caught:
            make(name, **axes)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"size_px": 32}, "a size from 64 to 4096; found 32"),
        ({"views": 4}, "odd number of views; found 4"),
        ({"views": 19}, "views along a side from 1 to 17"),
        ({"scale": 0}, "a scale from 1 to 16"),
        ({"seed": -1}, "a seed is 0 or more"),
        ({"sensor_noise": -1}, "noise is 0 to 255 grey levels; found -1"),
    ],
)
def test_numbers_out_of_limits_are_refused(options, why):
    with pytest.raises(Misuse, match=why):
        make_scene("dots", **options)


# --- files --------------------------------------------------------------------------------------


def test_light_fields_are_read_back_as_they_were_made(tmp_path):
    steps = []
    names = ("stripes", "glass")
    write_scenes(tmp_path, names=names, progress=lambda *step: steps.append(step), **SMALL)
    assert steps == [("stripes", 0, 2), ("glass", 1, 2)]
    assert (tmp_path / "stratified/stripes/mask_high_contrast_highres.png").is_file()
    assert (tmp_path / "other/glass/mask_glass_bins_lowres.png").is_file()
    read = {sample.id: sample for sample in DATASETS["hci4d"].samples(tmp_path)}
    assert set(read) == set(names)
    for name in names:
        made = make_scene(name, **SMALL)
        assert {item for item in read[name].truth if not item.endswith("_path")} == set(made.truth)
        for item in made.truth:
            if item != "axes":
                np.testing.assert_array_equal(read[name].truth[item], made.truth[item], item)
        axes = {labels: tuple(levels) for labels, levels in read[name].truth["axes"].items()}
        assert axes == made.truth["axes"]
        inputs = read[name].inputs
        np.testing.assert_array_equal(inputs.views, made.inputs.views)
        assert inputs.disparity_range == made.inputs.disparity_range
        assert inputs.rig.baseline_m == pytest.approx(made.inputs.rig.baseline_m)
        assert inputs.parameters.depth_map_scale == 2.0
        assert inputs.parameters.category == ("stratified" if name == "stripes" else "other")


def test_the_first_four_are_the_benchmark_s():
    assert sorted(SCENES[:4]) == sorted(BENCHMARK["stratified"])


def test_scenes_that_are_there_are_not_replaced_unasked(tmp_path):
    write_scenes(tmp_path, names=["slant"], **SMALL)
    with pytest.raises(CannotWrite, match="slant"):
        write_scenes(tmp_path, names=["slant"], **SMALL)
    write_scenes(tmp_path, names=["slant"], seed=1, overwrite=True, **SMALL)
    (sample,) = DATASETS["hci4d"].samples(tmp_path)
    wanted = make_scene("slant", seed=1, **SMALL).inputs.views
    np.testing.assert_array_equal(sample.inputs.views, wanted)


def test_axes_go_to_the_scenes_that_have_them(tmp_path):
    axes = {"noise": Axis(0, 0.1, 6), "gradient": "0:0.02:4"}
    write_scenes(tmp_path, names=["dots", "slant"], axes=axes, **SMALL)
    dots, slant = DATASETS["hci4d"].samples(tmp_path)
    assert dots.truth.boxes_labels.max() == 6
    assert slant.truth.slant_bins_labels.max() == 4
    with pytest.raises(
        Misuse, match="'gap' is not an axis of dots, slant: it is an axis of 'backgammon'"
    ):
        write_scenes(tmp_path / "b", names=["dots", "slant"], axes={"gap": "0:1:2"}, **SMALL)
    with pytest.raises(Misuse, match="no scene has it"):
        write_pairs(tmp_path / "c", names=["dots"], axes={"fog": "0:1:2"}, size_px=64)
    assert not (tmp_path / "b").exists()


def test_pairs_are_a_dataset_folder(tmp_path):
    write_pairs(tmp_path / "pairs", names=["dots", "gloss"], size_px=64, axes={"mirror": "0:1:4"})
    dataset = DATASETS["depthgauge"]
    dots, gloss = dataset.samples(tmp_path / "pairs")
    made = make_pair("gloss", size_px=64, mirror="0:1:4")
    for item in made.truth:
        if item != "axes":
            np.testing.assert_array_equal(gloss.truth[item], made.truth[item], err_msg=item)
    assert gloss.truth["axes"] == {"gloss_bins": (0.125, 0.375, 0.625, 0.875)}
    np.testing.assert_array_equal(gloss.inputs.right_image, made.inputs.right_image)
    assert gloss.inputs.rig == made.inputs.rig
    assert gloss.inputs.disparity_range == made.inputs.disparity_range
    assert dots.truth.boxes_labels.max() == 15


def test_axes_have_names():
    assert axes_of("stripes") == ("stripe_texture", "background_texture")
    assert axes_of("pyramids") == ()


def test_the_number_of_threads_changes_nothing(on_threads):
    alone, *more = on_threads(lambda: make_scene("dots", **SMALL))
    for many in more:
        np.testing.assert_array_equal(alone.inputs.views, many.inputs.views)
        for item in alone.truth:
            np.testing.assert_array_equal(alone.truth[item], many.truth[item])
