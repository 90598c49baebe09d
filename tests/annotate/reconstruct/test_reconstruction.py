"""From annotation to depth on shapes that are known exactly, and on bad input."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.annotate.drawn import annotation, ball_before_wall, ring

from depthgauge.annotate.reconstruct.meshes import mesh_of
from depthgauge.annotate.reconstruct.reconstruction import (
    ReconstructionCache,
    camera_of,
    reconstruct,
)
from depthgauge.annotate.records.annotation import (
    Annotation,
    Focal,
    NormalMark,
    Picture,
    Relation,
    Stroke,
    SurfaceMark,
)
from depthgauge.errors import Misuse
from depthgauge.geometry import rays

SIZE, FOCAL = 160, 200.0


def directions():
    return rays(camera_of(annotation(SIZE, SIZE, FOCAL))).astype(np.float64)


def relative_error(depth, truth):
    """After the best common scale, as a part of the depth."""
    known = np.isfinite(depth) & np.isfinite(truth)
    ratio = depth[known] / truth[known]
    return np.abs(ratio / np.median(ratio) - 1)


# --- a corner of a cube -------------------------------------------------------------------------


def corner(kind="planar"):
    """The corner of a box that points at the viewer: three planes and three folds."""
    normals = np.array([(0.0, -0.8, -0.6), (-0.7, 0.4, -0.6), (0.7, 0.4, -0.6)])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    tip = np.array([0.02, -0.01, 2.0])
    reach = (normals @ tip)[:, None, None] / np.einsum("kc,yxc->kyx", normals, directions())
    depth, which = reach.max(axis=0), reach.argmax(axis=0)
    middle = (SIZE - 1) / 2
    at = (FOCAL * tip[0] / tip[2] + middle, FOCAL * tip[1] / tip[2] + middle)
    strokes, surfaces, marks = {}, {}, {}
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        edge = np.cross(normals[i], normals[j])
        edge *= -np.sign(edge @ normals[k])
        end = tip + 30 * edge / np.linalg.norm(edge)
        far = (FOCAL * end[0] / end[2] + middle, FOCAL * end[1] / end[2] + middle)
        strokes[f"edge{k}"] = Stroke("fold", (at, far))
        ys, xs = np.nonzero(which == k)
        place = (float(np.median(xs)), float(np.median(ys)))
        surfaces[f"face{k}"] = SurfaceMark(place, kind)
        marks[f"face{k}"] = NormalMark(place, tuple(normals[k]))
    return annotation(SIZE, SIZE, FOCAL, strokes=strokes, surfaces=surfaces, normals=marks), depth


def test_a_cube_corner_is_found_to_a_third_of_a_percent():
    """Only the place of the folds, known to half a pixel, is not exact."""
    drawn, truth = corner()
    found = reconstruct(drawn)
    assert found.segmentation.smooth.max() == 3
    assert found.segmentation.continuous.max() == 1
    error = relative_error(found.depth, truth)
    assert error.mean() < 0.003
    assert error.max() < 0.012
    assert found.notes == ()
    assert found.violated == ()
    assert found.residual <= 1e-4
    # Called curved, grazing parts are turned up, the others stay.
    curved = reconstruct(corner("curved")[0])
    np.testing.assert_allclose(curved.normals, found.normals, atol=1e-4)
    assert relative_error(curved.depth, truth).mean() < 0.01


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_seed_moves_folds_by_a_pixel_only(seed):
    drawn, truth = corner()
    assert relative_error(reconstruct(drawn, seed=seed).depth, truth).mean() < 0.003


# --- stairs -------------------------------------------------------------------------------------


def stairs():
    """Treads and risers in turn, seen from above by 25 degrees; folds along rows."""
    tilt = math.radians(25)
    tread, riser = (0.0, -math.cos(tilt), -math.sin(tilt)), (0.0, math.sin(tilt), -math.cos(tilt))
    folds = [28.0, 60.0, 85.0, 118.0]
    y = (np.arange(SIZE) - (SIZE - 1) / 2) / FOCAL
    depth, constant, upper = np.zeros(SIZE), -2.0, SIZE
    strokes, surfaces, normals = {}, {}, {}
    for k, fold in enumerate([*reversed(folds), -1.0]):
        normal = riser if k % 2 else tread
        rows = slice(max(0, math.ceil(fold)), upper)
        depth[rows] = constant / (normal[1] * y[rows] + normal[2])
        edge = (fold - (SIZE - 1) / 2) / FOCAL
        at_edge = constant / (normal[1] * edge + normal[2])
        other = tread if k % 2 else riser
        constant, upper = at_edge * (other[1] * edge + other[2]), math.ceil(fold)
        place = (80.0, (rows.start + rows.stop) / 2)
        surfaces[f"step{k}"] = SurfaceMark(place, "planar")
        normals[f"step{k}"] = NormalMark(place, normal)
        if fold > 0:
            strokes[f"fold{k}"] = Stroke("fold", ((-1.0, fold), (float(SIZE), fold)))
    truth = np.repeat(depth[:, None], SIZE, axis=1)
    return annotation(SIZE, SIZE, FOCAL, strokes=strokes, surfaces=surfaces, normals=normals), truth


def test_stairs_are_found_to_the_tolerance_of_the_solver():
    drawn, truth = stairs()
    found = reconstruct(drawn)
    assert found.segmentation.smooth.max() == 5
    error = relative_error(found.depth, truth)
    assert error.max() < 2e-4
    assert found.notes == ()


# --- a ball before a wall -----------------------------------------------------------------------


def test_a_ball_is_round_and_before_its_wall():
    found = reconstruct(ball_before_wall())
    radius = 35 / math.sqrt(150**2 + 35**2)  # of a ball at distance 1 with this outline
    camera = found.camera
    r = rays(camera).astype(np.float64)
    inside = r[..., 2] ** 2 - (r * r).sum(-1) * (1 - radius**2)
    truth = (1 - np.sqrt(np.maximum(inside, 0))) / (r * r).sum(-1)
    y, x = np.mgrid[0:120, 0:120] - 59.5
    on = np.hypot(x, y) < 34
    error = np.abs(found.depth[on] / truth[on] / np.median(found.depth[on] / truth[on]) - 1)
    assert error.mean() < 0.08 * radius
    line = found.segmentation.kind == 3
    assert found.depth[line].max() < found.depth[0].min()
    assert set(found.scales) == {1, 2}
    assert min(found.scales.values()) == pytest.approx(1)
    assert found.violated == ()


# --- previews and what is kept ------------------------------------------------------------------


def test_a_preview_is_the_same_shape_smaller():
    drawn, truth = corner()
    small = reconstruct(drawn, max_side_px=80)
    assert small.depth.shape == (80, 80)
    assert small.camera.focal_px == (100.0, 100.0)
    between = (truth[::2, ::2] + truth[1::2, 1::2]) / 2
    assert relative_error(small.depth, between).mean() < 0.007
    assert reconstruct(drawn, max_side_px=500).depth.shape == (160, 160)
    with pytest.raises(Misuse, match="max_side_px is 0"):
        reconstruct(drawn, max_side_px=0)


def test_what_is_kept_changes_nothing_but_the_time(monkeypatch):
    from depthgauge.annotate.reconstruct import reconstruction as module

    calls = []
    real = module.segment
    monkeypatch.setattr(module, "segment", lambda *a, **k: calls.append(1) or real(*a, **k))
    cache, first = ReconstructionCache(), ball_before_wall()
    reconstruct(first, cache=cache)
    assert (cache.normals.solved, cache.depth.solved) == (2, 2)
    turned = replace(
        first,
        normals={
            **first.normals,
            "front": NormalMark((59.5, 59.5), (0.2, 0.1, -1)),
        },
    )
    more = replace(turned, normals={**turned.normals, "side": NormalMark((50, 60), (-0.3, 0, -1))})
    again = reconstruct(turned, cache=cache)
    reconstruct(more, cache=cache)
    assert len(calls) == 1
    # The ball alone was solved again, twice; the wall was not.
    assert (cache.normals.solved, cache.depth.solved) == (4, 4)
    moved = replace(more, strokes={"ball": Stroke("occlusion", ring(62, 60, 30), "right", True)})
    for drawn in (first, turned, more, moved):
        kept, fresh = reconstruct(drawn, cache=cache), reconstruct(drawn)
        np.testing.assert_array_equal(kept.depth, fresh.depth)
        np.testing.assert_array_equal(kept.normals, fresh.normals)
    np.testing.assert_array_equal(again.depth, reconstruct(turned).depth)
    assert (cache.normals.solved, cache.depth.solved) == (5, 6)  # a wall's normals need no system


def test_the_same_annotation_gives_the_same_bytes():
    one, two = reconstruct(ball_before_wall()), reconstruct(ball_before_wall())
    assert one.depth.tobytes() == two.depth.tobytes()
    assert one.normals.tobytes() == two.normals.tobytes()


# --- bad input ----------------------------------------------------------------------------------


def test_an_empty_annotation_is_a_plane_that_faces_the_viewer():
    found = reconstruct(annotation(30, 20, 40.0))
    np.testing.assert_allclose(found.depth, 1, rtol=1e-5)
    assert "has no normal" in found.notes[0]


def test_everything_wrong_at_once_loses_nothing_and_says_so():
    drawn = ball_before_wall(
        strokes={
            **ball_before_wall().strokes,
            "point": Stroke("fold", ((5, 5), (5, 5))),
            "outside": Stroke("occlusion", ((500, 5), (600, 5)), "left"),
            "sideless": Stroke("occlusion", ((80, -2), (90, 20))),
        },
        normals={
            **ball_before_wall().normals,
            "away": NormalMark((60, 70), (0, 0.2, 1)),
            "none": NormalMark((60, 50), (0, 0, 0)),
            "far": NormalMark((-50, 50), (0, 0, -1)),
        },
        relations={"r": Relation("wall", "front", "parallel")},
    )
    drawn = replace(drawn, focal=Focal(math.nan))
    found = reconstruct(drawn)
    assert np.isfinite(found.depth).all()
    assert (found.depth > 0).all()
    text = " ".join(found.notes)
    for name in ("'point'", "'outside'", "'sideless'", "'away'", "'none'", "'far'", "'r'"):
        assert name in text
    assert "The focal length is nan px" in text


def test_a_plane_that_could_not_be_seen_is_named():
    drawn = annotation(
        40,
        30,
        20.0,
        surfaces={"wall": SurfaceMark((20, 15), "planar")},
        normals={"wall": NormalMark((39, 15), (-1.0, 0.0, 0.3))},
    )
    found = reconstruct(drawn)
    assert np.isfinite(found.depth).all()
    assert any("would not be visible" in note for note in found.notes)


def test_cyclic_orders_give_a_depth_and_name_the_strokes():
    middle = (SIZE - 1) / 2
    drawn = Annotation(
        Picture("p", SIZE, SIZE),
        Focal(FOCAL),
        strokes={
            "upper": Stroke("occlusion", ((middle, -1), (middle, middle)), "left"),
            "lower": Stroke("occlusion", ((middle, middle), (middle, SIZE)), "right"),
        },
        surfaces={"a": SurfaceMark((10, 80), "planar"), "b": SurfaceMark((150, 80), "planar")},
        normals={
            "a": NormalMark((10, 80), (0, 0, -1)),
            "b": NormalMark((150, 80), (0, 0, -1)),
        },
    )
    found = reconstruct(drawn)
    assert found.violated
    assert np.isfinite(found.depth).all()
    note = next(n for n in found.notes if "contradict each other" in n)
    assert "'upper'" in note
    assert "'lower'" in note


def test_a_grazing_floor_is_not_bent():
    """On planes the least component towards the viewer is not that of curved surfaces."""
    normal = (0.0, -1.0, -0.02)
    drawn = annotation(
        80,
        60,
        80.0,
        region_px=((-0.5, 40), (79.5, 40), (79.5, 59.5), (-0.5, 59.5)),
        surfaces={"floor": SurfaceMark((40, 50), "planar")},
        normals={"floor": NormalMark((40, 50), normal)},
    )
    found = reconstruct(drawn)
    r = rays(found.camera).astype(np.float64)
    truth = -1 / (r @ np.array(normal))
    inside = found.segmentation.region
    assert relative_error(found.depth[inside], truth[inside]).max() < 1e-3
    assert np.isnan(found.depth[~inside]).all()


def grazing(shape):
    """A surface whose normal has, in the middle of the image, the cosine 0.15 to the viewer."""
    return annotation(
        41,
        31,
        400.0,
        surfaces={"wall": SurfaceMark((20, 15), shape)},
        normals={"wall": NormalMark((20, 15), (math.sqrt(1 - 0.15**2), 0.0, -0.15))},
    )


def slope(found):
    """Of log depth, a pixel to the right, in the middle."""
    return float(np.log(found.depth[15, 21] / found.depth[15, 19]) / 2)


@pytest.mark.parametrize(
    ("shape", "least_facing", "cosine"),
    [
        ("curved", None, 0.3),
        ("planar", None, 0.15),
        ("planar", 0.3, 0.3),
        ("curved", 0.2, 0.2),
        ("curved", 0.1, 0.15),
    ],
)
def test_normals_face_the_viewer_at_least_so_much(shape, least_facing, cosine):
    """d ln z / dx = n_x / (f c) along the row where the normal has the cosine c to the ray."""
    found = reconstruct(grazing(shape), least_facing=least_facing, tolerance=1e-8)
    assert slope(found) == pytest.approx(math.sqrt(1 - cosine**2) / cosine / 400, rel=0.01)
    assert found.normals[15, 20, 2] == pytest.approx(-0.15, abs=1e-6)


@pytest.mark.parametrize("wrong", [0.0, 1.0, -0.3, math.nan])
def test_an_impossible_least_facing_is_refused(wrong):
    with pytest.raises(Misuse, match="least_facing is"):
        reconstruct(grazing("planar"), least_facing=wrong)


# --- anything at all ----------------------------------------------------------------------------

coordinates = st.one_of(st.integers(-6, 34), st.floats(-8, 36))
points = st.tuples(coordinates, coordinates)
numbers = st.one_of(st.floats(-1, 1), st.sampled_from([0.0, math.nan, math.inf, 1e-300, 1e300]))
vectors = st.one_of(
    st.tuples(numbers, numbers, numbers),
    st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, -0.05)),
)
strokes = st.builds(
    Stroke,
    st.sampled_from(["occlusion", "fold"]),
    st.lists(points, min_size=1, max_size=5).map(tuple),
    st.sampled_from([None, "left", "right"]),
    st.booleans(),
)
names = st.sampled_from("abc")


@given(
    st.builds(
        Annotation,
        st.builds(Picture, st.just("p"), st.integers(1, 30), st.integers(1, 26)),
        st.builds(Focal, st.sampled_from([20.0, 3.0, 500.0, 0.0, -1.0, math.nan])),
        st.just(()),
        st.one_of(st.just(()), st.lists(points, max_size=5).map(tuple)),
        st.dictionaries(names, strokes),
        st.dictionaries(
            names, st.builds(SurfaceMark, points, st.sampled_from(["planar", "curved"]))
        ),
        st.dictionaries(names, st.builds(NormalMark, points, vectors)),
        st.dictionaries(
            names,
            st.builds(
                Relation, names, names, st.sampled_from(["parallel", "orthogonal", "neither"])
            ),
        ),
    ),
    st.integers(0, 3),
)
def test_whatever_is_drawn_the_region_has_depth_and_unit_normals(drawn, seed):
    found = reconstruct(drawn, seed=seed)
    inside = found.segmentation.region & (found.segmentation.smooth > 0)
    assert inside.any()
    assert np.isfinite(found.depth[inside]).all()
    assert (found.depth[inside] > 0).all()
    np.testing.assert_allclose(np.linalg.norm(found.normals[inside], axis=-1), 1, atol=1e-5)
    assert np.isnan(found.depth[~inside]).all()
    assert np.isnan(found.normals[~inside]).all()
    assert set(found.violated) <= set(drawn.strokes)
    assert all(scale >= 1 - 1e-9 for scale in found.scales.values())
    assert found.residual <= 1e-4
    mesh = mesh_of(found)
    surface = found.segmentation.continuous[inside][mesh.faces]
    assert (surface == surface[:, :1]).all()
