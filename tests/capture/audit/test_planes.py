import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.capture.audit.find_planes import find_planes
from depthgauge.capture.audit.planes import (
    average_residual,
    fit_plane,
    known_planes,
    measure_plane,
    plane_residuals,
    read_planes,
)
from depthgauge.capture.clean.manual_edits import manually_removed, read_manual_edits
from depthgauge.errors import BadData
from depthgauge.geometry.ray_scene import RayScene
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.types import Camera

Y, X = np.mgrid[:120, :160].astype(np.float64)


def noise(scale, seed=0, shape=(120, 160)):
    return scale * np.random.default_rng(seed).standard_normal(shape)


@given(st.floats(-0.5, 0.5), st.floats(-0.5, 0.5), st.floats(-100, 100))
def test_a_plane_is_found_exactly(a, b, c):
    x, y = X[:9, :9].ravel() + 3000, Y[:9, :9].ravel() + 2000
    assert fit_plane(x, y, a * x + b * y + c) == pytest.approx([a, b, c], abs=1e-5)


def test_without_outliers_it_is_least_squares():
    values = (0.1 * X - 0.2 * Y + 30 + noise(0.05)).ravel()
    design = np.stack([X.ravel(), Y.ravel(), np.ones(X.size)], axis=1)
    plain = np.linalg.lstsq(design, values, rcond=None)[0]
    assert fit_plane(X.ravel(), Y.ravel(), values) == pytest.approx(plain, rel=1e-3, abs=2e-3)


def test_outliers_do_not_tilt_it():
    values = 0.1 * X - 0.2 * Y + 30 + noise(0.05)
    values[:, 107:] += 4.0  # a third of the region is off, all on one side
    found = fit_plane(X.ravel(), Y.ravel(), values.ravel())
    assert found[:2] == pytest.approx([0.1, -0.2], abs=2e-3)


def test_residuals_by_hand():
    values = np.tile(np.float32([[5.1, 4.9]]), (6, 3))
    found = measure_plane(values, np.ones(values.shape, bool), "stripes")
    # Stripes of +-0.1; the best plane leans a little: 36 values, checked against least squares.
    y, x = np.mgrid[:6, :6]
    design = np.stack([x.ravel(), y.ravel(), np.ones(36)], axis=1)
    off = values.ravel() - design @ np.linalg.lstsq(design, values.ravel(), rcond=None)[0]
    assert found.mean_abs_px == pytest.approx(np.abs(off).mean(), rel=0.02)
    assert found.rms_px == pytest.approx(np.sqrt((off**2).mean()), rel=0.02)
    assert found.pixels == 36
    left = plane_residuals(values, found)
    assert np.abs(left).mean() == pytest.approx(found.mean_abs_px, abs=1e-6)
    assert average_residual([found, found]) == found.mean_abs_px
    assert average_residual([]) is None


def test_every_pixel_of_a_region_counts():
    """Residuals are not chosen: noise of sigma has a mean residual of 0.798 sigma."""
    values = (0.05 * X + 20 + noise(0.1)).astype(np.float32)
    (mask,) = find_planes(values).values()
    found = measure_plane(values, mask)
    assert mask.mean() > 0.8
    assert found.mean_abs_px == pytest.approx(0.1 * np.sqrt(2 / np.pi), rel=0.02)
    values[40:60, 40:60] += noise(0.8, 1, (20, 20)).astype(np.float32)
    (mask,) = find_planes(values).values()
    assert mask[45:55, 45:55].all()  # enclosed noise stays in
    assert measure_plane(values, mask).mean_abs_px > 1.05 * found.mean_abs_px


def test_two_walls_and_a_gap():
    values = np.where(X < 80, 20 + 0.05 * X, 40 - 0.08 * (X - 80) + 0.1 * Y)
    values = (values + noise(0.05)).astype(np.float32)
    values[50:70, :60] = np.nan
    masks = find_planes(values)
    assert list(masks) == ["plane 1", "plane 2", "plane 3"][: len(masks)]
    for mask in masks.values():
        assert (X[mask] < 80).all() or (X[mask] >= 80).all()
    assert sum(m.sum() for m in masks.values()) > 0.6 * X.size


def test_a_pane_in_front_of_a_wall_is_another_region():
    """A step of 0.25 px between parallel surfaces, in noise of 0.05 px."""
    values = (30 + 0.02 * X + noise(0.05)).astype(np.float32)
    values[20:100, 50:120] += 0.25
    inside = np.zeros(values.shape, bool)
    inside[20:100, 50:120] = True
    masks = list(find_planes(values).values())
    assert len(masks) == 2
    for mask in masks:
        assert inside[mask].mean() in (0.0, 1.0)
        assert measure_plane(values, mask).mean_abs_px == pytest.approx(0.04, abs=0.002)


def test_a_ball_is_no_plane():
    inner = 1 - ((X - 80) / 75) ** 2 - ((Y - 60) / 75) ** 2
    values = np.where(inner > 0.1, 30 + 10 * np.sqrt(np.maximum(inner, 0.1)), np.nan)
    masks = find_planes(values.astype(np.float32))
    assert not masks
    measured = measure_plane(values.astype(np.float32), np.hypot(X - 80, Y - 60) < 20)
    assert measured.bow_px > 0.1


def test_nothing_is_found_in_noise_or_nothing():
    assert not find_planes(noise(5.0).astype(np.float32))
    assert not find_planes(np.full((50, 60), np.nan, np.float32))
    assert not find_planes(np.ones((4, 4), np.float32))
    assert measure_plane(np.full((50, 60), np.nan, np.float32), np.ones((50, 60), bool)) is None


def test_known_regions_are_those_of_the_mesh(world):
    exact = world.exact["LR"]
    scene = RayScene(world.truth.vertices, world.truth.triangles)
    masks = known_planes(scene, exact)
    assert len(masks) == 3
    found = [np.unique(exact.objects[mask]) for mask in masks.values()]
    assert sorted(int(numbers[0]) for numbers in found) == [0, 1, 2]
    assert all(len(numbers) == 1 for numbers in found)
    # A rim of two pixels is left out, whole regions are not.
    for mask, (number,) in zip(masks.values(), found, strict=True):
        own = exact.objects == number
        assert mask.sum() > 0.7 * own.sum()
        assert not (mask[:, 1:] & ~own[:, :-1]).any()
    assert len(known_planes(scene, exact, most=1)) == 1
    assert len(known_planes(scene, exact, least_share=0.9)) == 0


def test_found_regions_lie_on_single_objects(world):
    exact = world.exact["LR"]
    masks = find_planes(exact.disparity, apart_px=0.03)
    assert len(masks) == 3
    found = [np.unique(exact.objects[mask]) for mask in masks.values()]
    assert sorted(int(numbers[0]) for numbers in found) == [0, 1, 2]
    assert all(len(numbers) == 1 for numbers in found)


SQUARE = [[10, 5], [19, 5], [19, 14], [10, 14]]


def planes_file(tmp_path, *regions, **more):
    path = tmp_path / "planes.json"
    path.write_text(json.dumps({"schema": 1, "regions": regions} | more))
    return path


def test_polygons_from_a_file(tmp_path):
    path = planes_file(tmp_path, {"name": "wall", "points_px": SQUARE, "note": "white"})
    masks = read_planes(path, (30, 40))
    expected = np.zeros((30, 40), bool)
    expected[5:14, 10:19] = True
    assert list(masks) == ["wall"]
    assert np.array_equal(masks["wall"], expected)


@given(st.lists(st.tuples(st.floats(-5, 45), st.floats(-5, 35)), min_size=3, max_size=7))
def test_a_polygon_is_the_same_here_and_in_a_file_of_removals(tmp_path_factory, points):
    folder = tmp_path_factory.mktemp("polygons")
    camera = Camera((100.0, 100.0), (20.0, 15.0), (40, 30))
    view = RectifiedView(camera, np.eye(3), camera)
    removals = folder / "hand.json"
    entry = {"view": "left", "points_px": points}
    removals.write_text(json.dumps({"schema": 1, "polygons": [entry]}))
    values = np.ones((30, 40), np.float32)
    pair = RectifiedPair(view, view, 0.1)
    removed = manually_removed(read_manual_edits(removals), pair, values, "left")
    path = planes_file(folder, {"name": "wall", "points_px": points})
    if removed.any():
        assert np.array_equal(read_planes(path, (30, 40))["wall"], removed)
    else:
        with pytest.raises(BadData, match="no pixel of the 40x30"):
            read_planes(path, (30, 40))


WALL = {"name": "wall", "points_px": SQUARE}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("{not json", "not a readable JSON file of planar regions"),
        ([], "expected an object with schema 1, found 'list'"),
        ({"regions": [WALL]}, "expected an object with schema 1, found None"),
        ({"schema": 2, "regions": [WALL]}, "expected an object with schema 1, found 2"),
        ({"schema": 1, "polygons": [WALL]}, "'polygons' is unknown; known are regions"),
        ({"schema": 1}, "has no regions"),
        ({"schema": 1, "regions": WALL}, "regions must be a list, found dict"),
        ({"schema": 1, "regions": [7]}, r"regions\[0\]: expected an object, found 7"),
        ({"schema": 1, "regions": [{"points_px": SQUARE}]}, r"\[0\]: 'name' is missing"),
        ({"schema": 1, "regions": [{**WALL, "name": 7}]}, r"\[0\]: name is a text, found 7"),
        (
            {"schema": 1, "regions": [{"name": "wall", "polygon": SQUARE}]},
            r"regions\[0\]: 'points_px' is missing",
        ),
        ({"schema": 1, "regions": [{**WALL, "points_px": [[1, 2]]}]}, "at least 3 points, found 1"),
        ({"schema": 1, "regions": [{**WALL, "points_px": "abc"}]}, "points_px must be a list"),
        (
            {"schema": 1, "regions": [{**WALL, "points_px": [[90, 90], [95, 90], [95, 95]]}]},
            "region 'wall' has no pixel of the 40x30",
        ),
        ({"schema": 1, "regions": [WALL, WALL]}, "two regions are named 'wall'"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, data, words):
    path = tmp_path / "planes.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    with pytest.raises(BadData, match=words) as caught:
        read_planes(path, (30, 40))
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))
