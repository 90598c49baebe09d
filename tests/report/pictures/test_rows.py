"""Pictures of what metrics see, of the best quarter, and of edges over estimates."""

import cv2
import numpy as np
import pytest
from tests.report.conftest import NAN

from depthgauge.analysis.maps.metric_maps import MetricMaps, metric_maps
from depthgauge.benchmarks import make_protocol
from depthgauge.engine.scoring.prepare import prepare, prepare_truth
from depthgauge.io import read_image
from depthgauge.report.pictures.colours import ASIDE_COLOUR, MISSING_COLOURS, colour_table, rgb_of
from depthgauge.report.pictures.encode import Outline, value_bar
from depthgauge.report.pictures.error_maps import write_error_maps
from depthgauge.report.pictures.rows import best_quarter_row, metric_rows, outlined_row

SHAPE = (20, 30)
TRUTH = np.full(SHAPE, 2.0, np.float32)
TRUTH[:, 15:] = 8.0
KNOWN = np.ones(SHAPE, bool)


def decoded(picture):
    return cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_COLOR)[..., ::-1]


def protocol(*scores, **keys):
    body = {
        "id": "rows",
        "version": 1,
        "dataset": "none",
        "quantity": "disparity",
        "pool": "image",
        "scores": list(scores),
    }
    return make_protocol({**body, **keys}, "test")


def prepared(made, **estimates):
    ready = prepare_truth(made, TRUTH, {})
    return {label: prepare(made, values, ready) for label, values in estimates.items()}


def test_the_best_quarter_is_the_methods_own():
    errors = np.arange(600, dtype=np.float32).reshape(SHAPE)
    row = best_quarter_row({"a": errors, "b": errors / 10}, KNOWN, "px")
    assert row.pictures["a"].caption == "a, Q25 149.750 px"
    assert row.pictures["b"].caption == "b, Q25 14.975 px"
    for label in ("a", "b"):
        grey = (decoded(row.pictures[label]) == rgb_of(ASIDE_COLOUR)).all(axis=-1)
        assert grey.ravel().tolist() == [False] * 150 + [True] * 450
    bars = {(p.bar.low, p.bar.high, p.bar.colours) for p in row.pictures.values()}
    assert len(bars) == 1
    assert bars.pop()[2] == "YlOrRd"


def test_missing_pixels_are_not_in_the_best_quarter():
    errors = np.arange(600, dtype=np.float32).reshape(SHAPE)
    errors[0, :5] = NAN
    picture = best_quarter_row({"a": errors}, KNOWN, "px").pictures["a"]
    assert tuple(decoded(picture)[0, 2]) == rgb_of(MISSING_COLOURS["YlOrRd"])
    assert picture.bar.missing
    nothing = best_quarter_row({"a": np.full(SHAPE, NAN, np.float32)}, KNOWN, "px")
    assert "Q25 - px" in nothing.pictures["a"].caption


def test_estimates_carry_the_outline():
    edge = np.zeros(SHAPE, bool)
    edge[:, 14:16] = True
    row = outlined_row({"a": TRUTH + 1}, Outline(edge, TRUTH), value_bar(TRUTH, "px"))
    picture = decoded(row.pictures["a"])
    assert (picture[:, 15] == 255).all()
    assert (picture[:, 14] == 16).all()
    assert row.pictures["a"].caption == "a"


def test_metrics_are_shown_once_with_their_scores():
    made = protocol(
        {"metric": "mae"},
        {"metric": "foreground_fattening", "region": ["all", "discontinuities"]},
        {"metric": "bumpiness"},
        {"metric": "smoothing"},
    )
    fat = TRUTH.copy()
    fat[:, 12:] = 8.0
    found = prepared(made, right=TRUTH, fat=fat)
    maps = list(metric_maps(made, found, {"fat": {"foreground_fattening@all": 30.0}}))
    assert [each.title for each in maps] == ["foreground_fattening", "bumpiness", "smoothing"]
    assert maps[0].scores == {"fat": 30.0}
    assert maps[0].unit == "%"
    inside = np.flatnonzero(maps[0].judged[10]).tolist()
    assert inside == list(range(5, 15))  # the background within 10 px of the edge
    assert np.flatnonzero(maps[0].maps["fat"][10] == 100).tolist() == [12, 13, 14]
    rows = {row.title: row for row in metric_rows(maps, KNOWN)}
    picture = decoded(rows["foreground_fattening"].pictures["fat"])[10]
    table = colour_table("magma")[0]
    assert tuple(picture[13]) == tuple(table[-1])
    assert tuple(picture[7]) == tuple(table[0])
    assert tuple(picture[20]) == rgb_of(ASIDE_COLOUR)
    assert rows["foreground_fattening"].pictures["fat"].bar.high == 100
    captions = {n: p.caption for n, p in rows["foreground_fattening"].pictures.items()}
    assert captions == {"right": "right", "fat": "fat, 30.000 %"}


def test_a_missing_estimate_is_missing_only_where_it_would_be_judged():
    made = protocol({"metric": "foreground_fattening"})
    holey = TRUTH.copy()
    holey[:, ::2] = NAN
    (row,) = metric_rows(metric_maps(made, prepared(made, a=holey, b=TRUTH[:, ::-1])), KNOWN)
    picture = decoded(row.pictures["a"])[10]
    assert tuple(picture[6]) == rgb_of(MISSING_COLOURS["magma"])
    assert tuple(picture[20]) == rgb_of(ASIDE_COLOUR)


def test_what_looks_the_same_is_shown_once():
    values = np.arange(600, dtype=np.float32).reshape(SHAPE)
    maps = [
        MetricMaps(name, f"About {name}.", "px", KNOWN, {"a": found, "b": found})
        for name, found in (("mean", values), ("median", values), ("other", values[::-1]))
    ]
    rows = metric_rows(iter(maps), KNOWN)
    assert [row.title for row in rows] == ["mean, median", "other"]
    assert rows[0].about == "About mean."


def test_a_metric_that_sees_nothing_has_no_pictures():
    zeros = {"a": np.zeros(SHAPE, np.float32)}
    (row,) = metric_rows([MetricMaps("m", "About.", "px", KNOWN, zeros)], KNOWN)
    assert row.pictures == {}
    assert row.about == "About. Here it is 0 at every pixel."


def test_a_sample_without_what_a_metric_needs_has_no_picture_of_it():
    made = protocol({"metric": "angular_error"}, {"metric": "weak_bumpiness"})
    assert [m.title for m in metric_maps(made, prepared(made, a=TRUTH))] == ["weak_bumpiness"]


def test_error_maps_in_files_are_given_what_they_need(tmp_path):
    made = protocol(
        {"metric": "foreground_fattening"}, {"metric": "mae"}, {"metric": "angular_error"}
    )
    fat = TRUTH.copy()
    fat[:, 12:] = 8.0
    lacking = write_error_maps(tmp_path, made, prepared(made, fat=fat)["fat"], "s")
    assert lacking == ["angular_error"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["foreground_fattening.png", "mae.png"]
    picture = read_image(tmp_path / "foreground_fattening.png")
    assert (picture[..., :3] == rgb_of(ASIDE_COLOUR)).all(axis=-1).sum() > 1000


def test_finer_resolutions_are_named():
    made = protocol({"metric": "bumpiness", "resolution": "high"}, estimate_resize="block")
    (row,) = metric_rows(metric_maps(made, prepared(made, a=TRUTH)), KNOWN)
    assert "Scored at resolution 'high'; drawn at the images' size" in row.about


@pytest.mark.parametrize("unit", ["px", ""])
def test_other_units_go_as_far_as_errors_do(unit):
    values = {"a": np.full(SHAPE, 0.3, np.float32)}
    (row,) = metric_rows([MetricMaps("m", "", unit, KNOWN, values)], KNOWN)
    assert row.pictures["a"].bar.high == pytest.approx(0.3)
