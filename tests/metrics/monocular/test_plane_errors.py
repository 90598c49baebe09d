"""Planes: hand numbers on exact planes, an independent fit, and what cannot matter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import depthgauge as dg
from depthgauge.errors import BadScoreId
from depthgauge.types import Camera

SIZE = (24, 32)
CAMERA = Camera((40.0, 44.0), (15.5, 11.5), SIZE[::-1])
NAMES = ["plane_flatness", "plane_angle"]


def slopes():
    y, x = np.mgrid[0 : SIZE[0], 0 : SIZE[1]].astype(float)
    return (x - 15.5) / 40.0, (y - 11.5) / 44.0


def plane_depth(normal, distance):
    """Depth of the plane n . P = -distance, seen from the origin."""
    sx, sy = slopes()
    return -distance / (normal[0] * sx + normal[1] * sy + normal[2])


def tilted(degrees):
    angle = np.radians(degrees)
    return np.array([np.sin(angle), 0.0, -np.cos(angle)])


def judge(estimate, truth, labels, normals, missing="bad", **options):
    items = {"camera": CAMERA, "plane_labels": labels, "plane_normals": np.asarray(normals)}
    options = {"quantity": "depth", "items": items, "missing": missing, "check": False, **options}
    found = dg.score(estimate, truth, NAMES, **options)
    return [found[f"{name}@all"].value for name in NAMES], found


ALL = np.ones(SIZE, np.int32)
HALVES = np.where(np.arange(SIZE[1]) < 16, 1, 2) * ALL


@pytest.mark.parametrize("degrees", [0, 5, 20])
def test_a_turned_plane_is_flat_and_turned_by_so_much(degrees):
    truth = plane_depth(tilted(0), 3.0)
    estimate = plane_depth(tilted(degrees), 7.0)
    (flat, angle), _ = judge(estimate, truth, ALL, [tilted(0)])
    assert flat == pytest.approx(0, abs=1e-5)
    assert angle == pytest.approx(degrees, abs=2e-3)


def test_a_wave_is_as_bent_as_it_is_high():
    """Depth 2 m plus or minus 1 cm in a fine chessboard: the deviation is 1 cm."""
    truth = np.full(SIZE, 2.0)
    y, x = np.indices(SIZE)
    estimate = truth + np.where((x + y) % 2, 0.01, -0.01)
    (flat, _), _ = judge(estimate, truth, ALL, [tilted(0)])
    # The points move along their rays, so a little less across the plane.
    assert flat == pytest.approx(0.01, rel=0.01)


def test_the_mean_is_over_planes_and_small_ones_are_left_out():
    truth = np.where(HALVES == 1, plane_depth(tilted(0), 3.0), plane_depth(tilted(0), 4.0))
    turned = np.where(HALVES == 1, truth, plane_depth(tilted(10), 4.0))
    (_, angle), found = judge(turned, truth, HALVES, [tilted(0), tilted(0)])
    assert angle == pytest.approx(5, abs=2e-3)
    assert found["plane_angle@all"].count == 2
    few = np.zeros(SIZE, np.int32)
    few[:5, :5] = 1  # 25 of 768 px are below 5 %
    assert np.isnan(judge(turned, truth, few, [tilted(0)])[0]).all()


def test_a_plane_without_half_of_its_estimates_costs_ninety_degrees():
    truth = plane_depth(tilted(0), 3.0)
    estimate = truth.copy()
    estimate[:, :16] = np.nan
    (flat, angle), found = judge(estimate, truth, HALVES, [tilted(0), tilted(0)])
    assert angle == pytest.approx(45, abs=1e-3)
    assert flat == pytest.approx(0, abs=1e-6)
    assert (found["plane_angle@all"].count, found["plane_angle@all"].missing) == (1, 1)
    (_, skipped), _ = judge(estimate, truth, HALVES, [tilted(0), tilted(0)], missing="skip")
    assert skipped == pytest.approx(0, abs=1e-3)
    nothing = np.full(SIZE, np.nan)
    (flat, angle), _ = judge(nothing, truth, HALVES, [tilted(0), tilted(0)])
    assert np.isnan(flat)
    assert angle == 90


@given(st.integers(0, 2**32 - 1))
def test_agrees_with_a_singular_value_decomposition(seed):
    """An independent fit, plane by plane; the estimate's scale and the normal's sign are free."""
    rng = np.random.default_rng(seed)
    normals = rng.normal(0, 0.2, (2, 3)) - [0, 0, 1]
    truth = np.where(HALVES == 1, plane_depth(normals[0], 3), plane_depth(normals[1], 4))
    estimate = truth * rng.uniform(0.9, 1.1, SIZE) * rng.uniform(0.2, 5)
    sx, sy = slopes()
    expected = []
    for number, normal in enumerate(normals, 1):
        inside = number == HALVES
        z = estimate[inside] * np.median(truth[inside]) / np.median(estimate[inside])
        points = np.column_stack([sx[inside] * z, sy[inside] * z, z])
        centred = points - points.mean(axis=0)
        _, _, axes = np.linalg.svd(centred, full_matrices=False)
        cosine = abs(axes[2] @ normal) / np.linalg.norm(normal)
        expected.append([np.std(centred @ axes[2]), np.degrees(np.arccos(min(cosine, 1)))])
    found, _ = judge(estimate, truth, HALVES, normals)
    assert found == pytest.approx(np.mean(expected, axis=0), rel=1e-4)
    turned, _ = judge(3 * estimate, truth, HALVES, -normals)
    assert turned == pytest.approx(found, rel=1e-4)


def test_what_makes_no_sense_is_refused():
    items = {"camera": CAMERA, "plane_labels": ALL, "plane_normals": np.array([tilted(0)])}
    truth = np.ones(SIZE)
    with pytest.raises(BadScoreId, match="share is 2 but must be from 0 to 1"):
        dg.score(truth, truth, "plane_angle:2", quantity="depth", items=items)


def test_a_picture_without_planes_has_no_score_and_stops_nothing():
    truth = plane_depth(tilted(0), 2.0)
    found, scores = judge(truth, truth, np.zeros(SIZE, np.int32), np.zeros((0, 3)))
    assert np.isnan(found).all()
    assert [(score.count, score.missing) for score in scores.values()] == [(0, 0), (0, 0)]
