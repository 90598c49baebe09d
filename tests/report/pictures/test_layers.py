"""Pictures of layers: a slider through them, lines by error, points of sparse truths."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from tests.report.layered import GLASS, HEIGHT, WIDTH, run_rooms, true_flow

from depthgauge.analysis.boards.make_board import make_board
from depthgauge.analysis.layer_points import layer_points
from depthgauge.analysis.maps.layer_maps import LayerMaps, layer_maps
from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.engine.running.maps import RunMaps
from depthgauge.report.pictures.colours import MISSING_COLOURS, rgb_of
from depthgauge.report.pictures.drawing import drawing_of
from depthgauge.report.pictures.error_maps import write_error_maps
from depthgauge.report.pictures.lines import COLOURS, WIDE, chosen_points, flow_lines, line_bar
from depthgauge.report.pictures.points import nearest_points, with_larger_points
from depthgauge.report.pictures.sample import sample_pictures

NAN = np.nan


def decoded(picture):
    return cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_COLOR)[..., ::-1]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return run_rooms(tmp_path_factory.mktemp("rooms"))


@pytest.fixture(scope="module")
def maps(run):
    return RunMaps(run)


@pytest.fixture(scope="module")
def drawn(run, maps):
    return sample_pictures(maps, make_board(run), "room0", maps.all_prepared("room0"))


# --- layers as maps -------------------------------------------------------------------------------


def test_layers_with_a_truth_and_their_materials(maps):
    first, second = layer_maps(maps.missing("room0"), maps.all_prepared("room0"))
    half = HEIGHT * WIDTH // 2
    assert (first.number, first.pixels, second.number, second.pixels) == (1, 2 * half, 2, half)
    assert first.materials == {"diffuse": half, "transparent": half, "reflective": 0}
    assert second.materials == {"diffuse": 0, "transparent": 0, "reflective": half}
    assert list(first.estimates) == ["both", "wall"]
    assert list(second.estimates) == ["both"]
    np.testing.assert_array_equal(np.unique(first.errors["wall"]), [0, 3])
    assert np.isnan(second.errors["wall"]).all()
    below = second.errors["both"][HEIGHT // 2 :]
    np.testing.assert_array_equal(below[:, GLASS], 4)
    assert np.isnan(below[:, ~GLASS]).all()


def test_points_of_a_run(run):
    points = layer_points(run)
    half = HEIGHT * WIDTH  # of two rooms
    assert points.materials == ("diffuse", "transparent", "reflective")
    assert points.layers == (1, 2, 3, 4)
    assert points.count() == 3 * half
    assert (points.count(1), points.count(2), points.count(3)) == (2 * half, half, 0)
    assert points.count(material="reflective") == points.count(2, "reflective") == half


# --- the pictures of a sample ---------------------------------------------------------------------


def test_a_stop_for_each_layer_and_the_last(drawn):
    assert [layer.name for layer in drawn.layers] == ["1", "2", "last"]
    first, second, _ = drawn.layers
    assert "384 transparent" in first.about
    notes = [{m.label: m.note for m in layer.methods} for layer in (first, second)]
    assert notes[0] == {"both": "mean error 0.000 px", "wall": "mean error 1.500 px"}
    assert notes[1] == {"both": "mean error 2.000 px", "wall": "100 % not estimated"}
    by_label = {m.label: m for m in second.methods}
    assert by_label["wall"].estimate is None
    assert by_label["wall"].error.bar.missing
    assert by_label["both"].lines is not None
    # The parts are the layers, so there are no rows of them.
    assert not any("ayered" in row.title for row in drawn.rows)
    assert drawn.truth.caption == "true flow, last layer"


def test_layers_share_their_scales(drawn):
    methods = [method for layer in drawn.layers for method in layer.methods]
    for pictures in (
        [layer.truth for layer in drawn.layers] + [m.estimate for m in methods],
        [m.error for m in methods],
        [m.lines for m in methods],
    ):
        ends = {(p.bar.low, p.bar.high, p.bar.colours) for p in pictures if p is not None}
        assert len(ends) == 1


def test_images_with_two_names_are_shown_once(drawn):
    # The first image is the left one.
    assert len(drawn.inputs) == 4


def test_every_layer_has_an_error_map_on_disk(run, maps, tmp_path):
    prepared = maps.all_prepared("room0")["both"]
    assert write_error_maps(tmp_path, run.protocol, prepared, "room0") == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["layer_1.png", "layer_2.png"]


@pytest.mark.parametrize("quantity", ["disparity", "depth", "scene_flow"])
def test_other_quantities_with_layers(quantity):
    channels = () if quantity != "scene_flow" else (3,)
    truth = np.ones((2, 6, 8, *channels), np.float32)
    truth[1] = 2
    layers = tuple(
        LayerMaps(k + 1, truth[k], {"a": truth[k]}, {"a": np.zeros((6, 8), np.float32)}, {})
        for k in range(2)
    )
    sample = SampleMaps("s", f"layered_{quantity}", truth[1], layers=layers)
    drawing = drawing_of(f"layered_{quantity}")
    assert drawing.spec.quantity == f"layered_{quantity}"
    drawn = drawing.draw(sample)
    assert [layer.name for layer in drawn.layers] == ["1", "2", "last"]
    # Other values have other colours, since both layers have one scale.
    first, second = (decoded(layer.truth)[0, 0].astype(int) for layer in drawn.layers[:2])
    assert np.abs(first - second).sum() > 20
    assert drawing.draw(replace(sample, layers=())).layers == ()


# --- lines ----------------------------------------------------------------------------------------


def lines(estimate, truth, high=5.0):
    return flow_lines(estimate, truth, None, line_bar(high, "px"), "lines")


def test_lines_are_green_where_right_and_red_where_wrong():
    truth = np.full((20, 40, 2), NAN, np.float32)
    truth[5, 5] = truth[15, 5] = 4, 0
    estimate = np.zeros((20, 40, 2), np.float32)
    estimate[5, 5], estimate[15, 5] = (4, 0), (16, 0)
    picture = lines(estimate, truth)
    pixels = decoded(picture).astype(int)
    scale = WIDE / 40
    right, wrong = (pixels[int((row + 0.5) * scale), int(5.5 * scale)] for row in (5, 15))
    assert right[1] > right[0] + 40
    assert wrong[0] > wrong[1] + 40
    # The line of the wrong one is four times as long.
    lengths = [int((pixels[int((row + 0.5) * scale)].max(axis=1) > 60).sum()) for row in (5, 15)]
    assert lengths[1] == pytest.approx(16 * scale, abs=10)
    assert lengths[0] == pytest.approx(4 * scale, abs=10)
    assert not picture.bar.missing


def test_a_point_without_an_estimate_is_a_dot():
    truth = np.full((20, 40, 2), NAN, np.float32)
    truth[10, 20] = 8, 0
    picture = lines(None, truth)
    assert picture.bar.missing
    pixels = decoded(picture).astype(int)
    scale = WIDE / 40
    dot = pixels[int(10.5 * scale), int(20.5 * scale)]
    assert np.abs(dot - rgb_of(MISSING_COLOURS[COLOURS])).max() < 60
    assert (pixels.max(axis=2) > 60).sum() < 60


def test_lines_of_a_dense_map_are_spread_evenly():
    known = np.ones((90, 120), bool)
    known[:, 60:] = False
    rows, columns = chosen_points(known, WIDE / 120)
    assert known[rows, columns].all()
    assert 200 < len(rows) <= 450
    assert len({(r * 4 // 15, c * 4 // 15) for r, c in zip(rows, columns, strict=True)}) == len(
        rows
    )
    few = np.zeros((90, 120), bool)
    few[3, :7] = True
    assert len(chosen_points(few, 4.0)[0]) == 7


def test_a_huge_vector_does_no_harm():
    truth = np.zeros((20, 40, 2), np.float32)
    assert lines(np.full((20, 40, 2), 3e38, np.float32), truth).size_px == (WIDE, 240)


# --- sparse truths --------------------------------------------------------------------------------


def test_points_grow_to_discs_and_nearest_wins():
    known = np.zeros((50, 400), bool)
    known[10, 10] = known[10, 13] = True
    index = nearest_points(known)
    assert index[10, 11] == 10 * 400 + 10
    assert index[10, 12] == 10 * 400 + 13
    # A disc of radius 2 has 13 pixels; two of them 3 px apart share two.
    assert (index >= 0).sum() == 2 * 13 - 2
    assert index[30, 30] == -1


def test_a_sparse_truth_is_drawn_larger_and_a_dense_one_is_not():
    truth = true_flow()[0]
    dense = SampleMaps("s", "flow", truth, errors={"a": truth[..., 0]})
    assert with_larger_points(dense) is dense
    sparse = np.full((60, 80, 2), NAN, np.float32)
    sparse[30, 40] = 1, 2
    sample = SampleMaps(
        "s", "flow", sparse, errors={"a": np.where(np.isfinite(sparse[..., 0]), 7, NAN)}
    )
    grown = with_larger_points(sample)
    assert np.isfinite(grown.truth[..., 0]).sum() == 5
    assert np.nansum(grown.errors["a"]) == 35
    drawn = drawing_of("flow").draw(sample)
    assert drawn.methods[0].error.bar.above is False
