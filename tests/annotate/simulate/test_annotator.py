"""The simulated annotator: what it draws, how it errs, and how well its records reconstruct."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from depthgauge.annotate.quality.exact_error import exact_errors
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.reconstruct.segmentation import segment
from depthgauge.annotate.records.files import read_records, write_records
from depthgauge.annotate.simulate.annotator import HUMAN, NONE, AnnotatorNoise, simulate
from depthgauge.annotate.simulate.exact_view import view_of_sample
from depthgauge.errors import BadData, Misuse, WrongShape
from depthgauge.geometry.angles import angles_between
from depthgauge.geometry.polygons import polygon_mask
from depthgauge.synth.sets.single_views import ExactView, make_view
from depthgauge.types import Camera, Inputs, Sample, Truth

SIZE = (192, 144)
BUDGET_PERCENT = {"planar": 1.0, "curved": 2.0, "mixed": 2.0}
SEEDS = {"planar": 3, "curved": 2, "mixed": 2}


@pytest.fixture(scope="module")
def views():
    return {kind: make_view(kind, seed, SIZE) for kind, seed in SEEDS.items()}


def ball(size=96, radius=28, focal=300.0):
    """A ball before a wall, both exact; the wall is at 6, the ball's middle at 4."""
    middle = (size - 1) / 2
    y, x = (np.mgrid[:size, :size] - middle) / focal
    rays = np.stack([x, y, np.ones_like(x)], axis=-1)
    real = radius / focal * 4
    square = (rays**2).sum(axis=2)
    half = 16 - square * (16 - real**2)
    on = half > 0
    depth = np.where(on, (4 - np.sqrt(np.maximum(half, 0))) / square, 6.0)
    normals = np.where(on[..., None], rays * depth[..., None] - [0, 0, 4], [0, 0, -1.0])
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    camera = Camera((focal, focal), (middle, middle), (size, size))
    truth = {"depth": depth, "normals": normals, "camera": camera}
    truth["smooth_labels"] = np.where(on, 5, 9)
    image = np.full((size, size, 3), 90, np.uint8)
    return Sample("ball", Inputs({"left_image": image}), Truth(truth))


@pytest.mark.parametrize("kind", BUDGET_PERCENT)
def test_without_noise_the_exact_depth_comes_back(views, kind):
    made = reconstruct(simulate(views[kind]))
    errors = exact_errors(views[kind], made)
    assert errors.edist_percent < BUDGET_PERCENT[kind]
    assert np.isfinite(made.depth).all()


@pytest.mark.parametrize("kind", BUDGET_PERCENT)
def test_lines_make_the_surfaces_that_are_there(views, kind):
    """Of every surface of some size, nearly all pixels are in one surface of the drawing."""
    view = views[kind]
    found = segment(simulate(view)).smooth
    for number in np.unique(view.smooth_labels):
        here = view.smooth_labels == number
        if here.sum() >= 300:
            share = np.bincount(found[here]).max() / here.sum()
            assert share > 0.8


def test_a_ball_has_one_smooth_occlusion_around_it():
    annotation = simulate(view_of_sample(ball()))
    (stroke,) = annotation.strokes.values()
    assert (stroke.kind, stroke.smooth) == ("occlusion", True)
    assert stroke.points_px[0] == stroke.points_px[-1]
    x, y = np.array(stroke.points_px).T
    # The outline of a ball of 28 px at this distance, half a pixel inside.
    assert np.allclose(np.hypot(x - 47.5, y - 47.5), 27.6, atol=0.9)
    area = np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])
    assert stroke.closer == ("right" if area > 0 else "left")
    shapes = {mark.shape for mark in annotation.surfaces.values()}
    assert shapes == {"planar", "curved"}
    assert exact_errors(view_of_sample(ball()), reconstruct(annotation)).edist_percent < 2.0


def test_normals_are_exact_without_noise(views):
    view = views["mixed"]
    for mark in simulate(view).normals.values():
        x, y = (int(part) for part in mark.at_px)
        assert np.allclose(mark.normal, view.normals[y, x], atol=2e-6)


def test_planes_have_one_normal_and_curved_surfaces_more_the_denser(views):
    counts = {}
    for spacing in (0.05, 0.1, 0.2):
        annotation = simulate(views["curved"], AnnotatorNoise(spacing_widths=spacing))
        found = segment(annotation)
        on = [found.smooth_at(mark.at_px) for mark in annotation.normals.values()]
        for number, shape in found.shapes.items():
            assert on.count(number) == 1 or shape == "curved"
        counts[spacing] = len(on)
    assert counts[0.05] > counts[0.1] > counts[0.2]


def test_relations_hold_between_exact_normals(views):
    view = views["planar"]
    annotation = simulate(view)
    kinds = {"parallel": 0, "orthogonal": 0, "neither": 0}
    for relation in annotation.relations.values():
        ends = (annotation.surfaces[name].at_px for name in (relation.first, relation.second))
        a, b = (view.normals[int(y), int(x)].astype(float) for x, y in ends)
        angle = math.degrees(math.acos(min(1.0, abs(a @ b))))
        wanted = "parallel" if angle < 0.5 else "orthogonal" if angle > 89.5 else "neither"
        assert relation.kind == wanted
        kinds[relation.kind] += 1
    assert kinds["parallel"]
    assert kinds["orthogonal"]


def test_tilts_are_as_large_as_told(views):
    """Mean angles over many people; a curved surface is not held back by the preview."""
    view = view_of_sample(ball())
    found = {"normal_deg": [], "common_tilt_deg": []}
    for name, angles in found.items():
        for seed in range(40):
            noise = AnnotatorNoise(**{name: 6.0}, spacing_widths=0.1)
            for mark in simulate(view, noise, seed).normals.values():
                x, y = (int(part) for part in mark.at_px)
                exact = view.normals[y, x]
                if exact[2] < -0.8:  # facing the viewer: nothing is cut off
                    angles.append(angles_between(np.array(mark.normal), exact))
    assert np.mean(found["normal_deg"]) == pytest.approx(6.0, rel=0.15)
    # A turn moves normals along its axis less.
    assert 4.0 < np.mean(found["common_tilt_deg"]) < 6.5


def test_what_a_picture_suggests_is_the_same_for_everybody(views):
    noise = AnnotatorNoise(shared_tilt_deg=10.0)
    first, second = (simulate(views["curved"], noise, seed) for seed in (1, 2))
    assert first.normals == second.normals
    assert first.must_contain_px == second.must_contain_px
    assert first.normals != simulate(views["curved"]).normals


def test_no_normal_faces_away(views):
    view = views["mixed"]
    wild = AnnotatorNoise(normal_deg=60.0, common_tilt_deg=40.0)
    (focal, _), (cx, cy) = view.camera.focal_px, view.camera.centre_px
    for mark in simulate(view, wild, 5).normals.values():
        (x, y), normal = mark.at_px, np.array(mark.normal)
        ray = np.array([(x - cx) / focal, (y - cy) / focal, 1.0])
        assert normal @ ray < 0
        assert np.linalg.norm(normal) == pytest.approx(1, abs=1e-5)


def test_side_errors_turn_occlusions_round(views):
    right = simulate(views["curved"], NONE)
    wrong = simulate(views["curved"], AnnotatorNoise(side_errors=1.0))
    pairs = list(zip(right.strokes.values(), wrong.strokes.values(), strict=True))
    assert {stroke.closer for stroke, _ in pairs} > {None}
    for a, b in pairs:
        assert a.points_px == b.points_px
        assert (a.closer is None and b.closer is None) or a.closer != b.closer


def test_forgotten_strokes_are_short_ones(views):
    view = views["planar"]
    full, less = simulate(view), simulate(view, AnnotatorNoise(missed=1.0))
    kept = {stroke.points_px for stroke in less.strokes.values()}

    def length(points):
        return np.hypot(*np.diff(np.array(points), axis=0).T).sum()

    for stroke in full.strokes.values():
        assert (stroke.points_px in kept) == (length(stroke.points_px) >= 0.1 * SIZE[0])


def test_gaps_are_closed_again(views):
    view = views["planar"]
    exact, gaps = simulate(view), simulate(view, AnnotatorNoise(gap_px=2.0))
    assert gaps.strokes != exact.strokes
    found = segment(gaps)
    assert any("closed" in note for note in found.notes)
    large = [n for n, c in enumerate(np.bincount(segment(exact).smooth.ravel())) if n and c > 200]
    assert np.count_nonzero(np.bincount(found.smooth.ravel())[1:] > 200) >= 0.8 * len(large)


@pytest.mark.parametrize("region", ["margin", "polygon"])
def test_regions_contain_the_chosen_points(views, region):
    for seed in range(4):
        annotation = simulate(views["mixed"], replace(NONE, region=region), seed)
        mask = polygon_mask((SIZE[1], SIZE[0]), annotation.region_px)
        assert mask.mean() > 0.1
        assert not mask.all()
        if region == "polygon":
            assert all(mask[round(y), round(x)] for x, y in annotation.must_contain_px)
        made = reconstruct(annotation)
        assert np.array_equal(np.isfinite(made.depth), made.segmentation.region)
    assert exact_errors(views["mixed"], made).edist_percent < BUDGET_PERCENT["mixed"]


def test_small_and_thin_surfaces_are_left_out():
    sample = ball()
    labels = sample.truth["smooth_labels"].copy()
    labels[10:14, 10:14] = 20  # 16 px
    labels[80:82, 5:90] = 21  # 2 px thick
    truth = {**{name: sample.truth[name] for name in sample.truth}, "smooth_labels": labels}
    view = view_of_sample(replace(sample, truth=Truth(truth)))
    assert len(view.planar) == 4
    assert len(simulate(view).strokes) == 1
    kept = simulate(view, AnnotatorNoise(smallest_px=1, thinnest_px=0.0))
    assert len(kept.strokes) > 1


def test_seeds_decide(views, tmp_path):
    view = views["curved"]
    again = simulate(view, HUMAN, 7)
    assert simulate(view, HUMAN, 7) == again
    assert simulate(view, HUMAN, 8) != again
    write_records(tmp_path / "r.jsonl", again)
    assert read_records(tmp_path / "r.jsonl") == again
    with pytest.raises(Misuse, match="seed"):
        simulate(view, HUMAN, -1)


def test_a_surface_alone_needs_no_line():
    sample = ball()
    truth = {**{name: sample.truth[name] for name in sample.truth}}
    truth["smooth_labels"] = np.ones((96, 96), int)
    view = view_of_sample(replace(sample, truth=Truth(truth)))
    annotation = simulate(view)
    assert not annotation.strokes
    assert len(annotation.surfaces) == 1


def test_views_of_samples_need_all_maps():
    sample = ball()
    with pytest.raises(BadData, match="normals"):
        view_of_sample(replace(sample, truth=Truth({"depth": sample.truth["depth"]})))
    with pytest.raises(BadData, match="depth"):
        view_of_sample(replace(sample, truth=None))
    truth = {**{n: sample.truth[n] for n in sample.truth}, "smooth_labels": np.ones((5, 5), int)}
    with pytest.raises(WrongShape, match="the same size"):
        view_of_sample(replace(sample, truth=Truth(truth)))


def test_steps_from_maps_are_like_exact_ones(views):
    """A view that is read back from its maps has the same occlusions."""
    view: ExactView = views["planar"]
    truth = {"depth": view.depth, "normals": view.normals, "camera": view.camera}
    truth["smooth_labels"] = view.smooth_labels
    again = view_of_sample(Sample("x", Inputs({"left_image": view.image}), Truth(truth)))
    border = view.smooth_labels[:, 1:] != view.smooth_labels[:, :-1]
    same = (again.gap_right != 0) == (view.gap_right != 0)
    assert same[border].mean() > 0.95
    assert again.planar == view.planar


def test_errors_are_zero_for_the_exact_maps_at_any_scale(views):
    view = views["mixed"]
    made = reconstruct(simulate(view))
    surfaces = made.segmentation.continuous
    scaled = (view.depth * (1 + 0.3 * surfaces)).astype(np.float32)
    errors = exact_errors(view, replace(made, depth=scaled, normals=view.normals))
    assert errors.edist_percent < 1e-4
    assert errors.mean_angle_deg < 1e-3
    with pytest.raises(WrongShape, match="full size"):
        exact_errors(view, replace(made, depth=scaled[:-1]))
