"""Agreement: rows by hand, means and their errors, and a study from end to end."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from depthgauge.annotate.quality.agreement import (
    MEASURES,
    AgreementTable,
    PairRow,
    agreement,
    compare,
    mean_angle_deg,
    wkdr_percent,
)
from depthgauge.annotate.quality.studies import Study
from depthgauge.annotate.quality.witnesses import Witness, measured, of_size
from depthgauge.errors import BadData
from depthgauge.types import Camera

from .test_turned_shape import CAMERA, planes

NAN = math.nan


def row(sample, value, comparison="human-human"):
    return PairRow(sample, comparison, "a", "b", 9, value, NAN, NAN, NAN, NAN, NAN, value, NAN)


def person(who="p", factor=1.0, **changes):
    depth, normals, labels = planes()
    items = {"depth": depth * np.where(labels == 1, factor, 1), "normals": normals}
    items = {**items, "camera": CAMERA, "surfaces": labels, "planar": labels == 1, **changes}
    items["depth"] = items["depth"].astype(np.float32)
    return Witness(who, "human", **items)


def sensor():
    depth, normals, _ = planes()
    return measured("sensor", "sensor", depth, CAMERA, normals=normals)


def test_angles_by_hand():
    a = np.array([[[0, 0, -1], [0, 0, -1], [np.nan] * 3]], np.float32)
    b = np.array([[[0, 1, -1], [0, 0, -2], [0, 0, -1]]], np.float32)
    assert mean_angle_deg(a, b) == pytest.approx(22.5)
    assert math.isnan(mean_angle_deg(a[:, 2:], b[:, 2:]))
    b[0, 1] = 0  # no direction, so no angle
    assert mean_angle_deg(a, b) == pytest.approx(45)


def test_orders_by_hand():
    right = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    assert wkdr_percent(2 * right, right) == 0
    assert wkdr_percent(-right, right) == 100
    assert wkdr_percent(np.ones_like(right), right) == 100  # a tie is wrong
    half = right.copy()
    half[:, 2:] = np.nan
    assert wkdr_percent(half, right) == 0  # only pairs that both have
    assert math.isnan(wkdr_percent(np.full((3, 4), np.nan, np.float32), right))


def test_a_scale_for_each_surface_is_forgiven_and_one_for_all_is_not():
    found = compare("x", person(factor=2.0), sensor())
    assert found.edist_surfaces < 1e-4
    assert found.edist_global > 0.1
    assert found.angle_deg == pytest.approx(0, abs=0.05)
    assert found.comparison == "human-sensor"
    assert math.isnan(found.edist_rotated)


def test_planar_and_curved_regions_add_up():
    noisy = planes()[0] * np.random.default_rng(1).uniform(0.9, 1.1, (48, 64))
    found = compare("x", person(depth=noisy), sensor())
    planar = (planes()[2] == 1).mean()
    whole = planar * found.edist_planar + (1 - planar) * found.edist_curved
    assert whole == pytest.approx(found.edist_surfaces)


def test_distances_of_people_are_in_the_sensors_metres():
    noise = np.random.default_rng(1).uniform(0.9, 1.1, (48, 64))
    first, second = person(), person(depth=planes()[0] * noise)
    far = person(depth=50 * planes()[0] * noise)
    metres = compare("x", first, second, sensor=sensor()).edist_surfaces
    # Somebody whose whole depth is 50 times as large says the same.
    assert compare("x", first, far, sensor=sensor()).edist_surfaces == pytest.approx(
        metres, rel=1e-3
    )
    alone = compare("x", first, far).edist_surfaces
    assert alone == pytest.approx(metres / planes()[0].mean(), rel=0.2)


def test_all_ordered_pairs_are_compared():
    people = [person("a"), person("b"), person("c")]
    method = measured("m", "method", planes()[0], CAMERA)
    table = agreement({"x": [*people, sensor(), method]}, rotate=False)
    pairs = [(r.moving, r.fixed) for r in table.rows]
    assert len(pairs) == 6 + 3 + 1
    assert len(set(pairs)) == 10
    assert table.comparisons() == ("human-human", "human-sensor", "method-sensor")
    assert table.unit == "m"
    assert table.depth_mean_m == pytest.approx(planes()[0].mean(), rel=1e-6)
    assert agreement({"x": people}, rotate=False).unit == "mean depth"


def test_means_over_pairs_with_errors_from_photograph_to_photograph():
    rows = [row("x", 1.0), row("x", 3.0), row("y", 5.0), row("y", 7.0), row("z", NAN)]
    found = AgreementTable(tuple(rows), "m").mean("human-human", "edist_surfaces")
    # Images have means 2 and 6: the mean is 4, their standard deviation sqrt(8), error 2.
    assert (found.value, found.standard_error) == pytest.approx((4, 2))
    assert (found.pairs, found.images) == (4, 2)
    unequal = AgreementTable((row("x", 1.0), row("x", 1.0), row("y", 4.0)), "m")
    assert unequal.mean("human-human", "angle_deg").value == pytest.approx(2)
    none = unequal.mean("method-sensor", "angle_deg")
    assert math.isnan(none.value)
    assert none.pairs == 0


def test_one_photograph_has_no_error():
    found = AgreementTable((row("x", 1.0), row("x", 3.0)), "m").mean("human-human", "angle_deg")
    assert found.value == 2
    assert math.isnan(found.standard_error)


def test_json_is_strict():
    body = AgreementTable((row("x", 1.0),), "m").to_json()
    assert json.loads(json.dumps(body, allow_nan=False)) == body
    assert body["pairs"][0]["edist_global"] is None
    assert set(body["means"]["human-human"]) == set(MEASURES)


def test_nobody_to_compare():
    with pytest.raises(BadData, match="two to compare"):
        agreement({"x": [person()]})
    with pytest.raises(BadData, match="2 sensors"):
        agreement({"x": [sensor(), sensor()]})
    with pytest.raises(BadData, match="different units"):
        agreement({"x": [person(), sensor()], "y": [person("a"), person("b")]}, rotate=False)


def test_maps_are_brought_to_the_persons_size():
    large = measured(
        "s", "sensor", np.full((96, 128), 2.0), Camera((120.0,) * 2, (63.5, 47.5), (128, 96))
    )
    small = of_size(large, (64, 48))
    assert small.depth.shape == (48, 64)
    assert small.normals.shape == (48, 64, 3)
    assert small.camera.focal_px == (60.0, 60.0)
    assert of_size(small, (64, 48)) is small
    with pytest.raises(BadData, match="same photograph"):
        of_size(large, (64, 64))


def test_a_study_from_end_to_end(study):
    notes = []
    found = Study(study, notes=notes.append)
    assert len(found) == 2
    seen = []
    table = agreement(found, progress=lambda *step: seen.append(step))
    assert [step[1:] for step in seen] == [*[(0, 2)] * 4, (1, 2), *[(1, 2)] * 4, (2, 2)]
    assert notes == []
    assert len(table.rows) == 2 * (2 + 2)
    for one in table.rows:
        assert one.pixels > 3000
        assert 0 <= one.edist_rotated <= one.edist_surfaces * (1 + 1e-4)
        assert 0 < one.angle_deg < 60
        assert 0 <= one.wkdr_percent < 60
        assert one.rotation_deg <= 30.001
    again = agreement(Study(study, notes=notes.append), rotate=False)
    for first, second in zip(table.rows, again.rows, strict=True):
        turned = {"edist_rotated": first.edist_rotated, "rotation_deg": first.rotation_deg}
        assert replace(second, **turned) == first
