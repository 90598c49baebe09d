"""Parts of rig scenes: gaps of every family, ray tests of cameras, checks of rendered frames."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("embreex", reason="rays need Embree: depthgauge[render]")

from depthgauge.errors import UnknownName
from depthgauge.synth.library.maps import Place
from depthgauge.synth.library.subjects import ACTIONS, SUBJECTS, Path
from depthgauge.synth.render._quick_rays import QuickRays
from depthgauge.synth.render.lighting import Lighting
from depthgauge.synth.render.shaded import View
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.camera import pose_looking
from depthgauge.synth.scene.material import plain
from depthgauge.synth.scene.model import Thing
from depthgauge.synth.sets.rig import Limits, Proposal, Rejected, connect, draw_gaps, pairs_of
from depthgauge.synth.sets.rig import _after as after
from depthgauge.synth.sets.rig._checks import judge, steps_of
from depthgauge.synth.sets.rig._world import World

LIMITS = Limits()


# --- gaps -----------------------------------------------------------------------------------------


def gaps(family, count):
    rng = np.random.default_rng(8)
    return np.array([draw_gaps(family, rng) for _ in range(count)])


def test_ipd_gaps_are_a_truncated_gaussian():
    found = gaps("IPD_Gaussian", 3000)
    assert found.min() >= 4.5
    assert found.max() <= 8.5
    assert found.mean() == pytest.approx(6.38, abs=0.02)
    assert found.std() == pytest.approx(0.5, abs=0.02)


def test_uniform_gaps_are_even_from_1_to_150():
    found = gaps("Uniform", 3000)
    counts, _ = np.histogram(found, 10, (1, 150))
    assert found.min() >= 1
    assert found.max() <= 150
    assert counts.min() > 0.9 * counts.mean()


def test_pairwise_gaps_spread_all_baselines_over_10_to_200():
    found = np.array([pairs_of(tuple(row)) for row in gaps("Pairwise_Uniform", 800)])
    assert found.min() >= 10 - 1e-5
    assert found.max() <= 200
    assert found.mean() == pytest.approx(97.8, abs=4)
    assert found.std() == pytest.approx(56.8, abs=3)
    assert np.median(found) == pytest.approx(93.4, abs=4)
    counts, _ = np.histogram(found, 19, (10, 200))
    assert counts.min() > 0.5 * counts.mean()


def test_gaps_have_six_decimals_and_unknown_families_are_named():
    assert np.array_equal(gaps("Uniform", 20), np.round(gaps("Uniform", 20), 6))
    with pytest.raises(UnknownName, match="Did you mean 'Uniform'"):
        draw_gaps("Unifrom", np.random.default_rng(0))


# --- cameras --------------------------------------------------------------------------------------


def place(*boxes):
    """A plain of 40 m with boxes (width, height, depth, x, z) around a figure at the origin."""
    flat = meshes.rectangle((-20, 0, -20), (0, 0, 40), (40, 0, 0), 2.0)
    grey = plain("#808080")
    things = [Thing("ground", flat, grey)]
    things += [Thing("box", meshes.box(w, h, d).moved(x, 0, z), grey) for w, h, d, x, z in boxes]
    mesh = meshes.join([thing.mesh for thing in things])
    dark = Lighting((), (1.0, 1.0, 1.0), (1.0, 1.0, 1.0))
    built = Place(tuple(things), dark, (-1, 1, -1, 1), ("a plain",), "light", "grey")
    return World(built, QuickRays(mesh.vertices[mesh.triangles]))


def proposal(world, gaps_cm=(20.0,) * 5, focal_mm=24.0, frames=5):
    times = np.arange(frames) / 15
    path = Path(times, np.zeros((frames, 3)), np.zeros(frames))
    return Proposal(
        *("Plain", 0, world, SUBJECTS["walker"], ACTIONS["wave"], 0, path, focal_mm, 8.0),
        *(gaps_cm, times),
    )


def rig_at(made, far_m=4.0, frames=1, up_m=1.2):
    """A rig whose middle looks at the figure from -z."""
    pose = pose_looking((0.0, -up_m, -far_m), (0.0, -0.9, 0.0))
    pose[:3, 3] -= sum(made.gaps_cm) / 200 * pose[:3, 0]
    return np.stack([pose] * frames)


def fault(world, **changes):
    far, up = changes.pop("far_m", 4.0), changes.pop("up_m", 1.2)
    made = proposal(world, **changes)
    return judge(made, rig_at(made, far, up_m=up), np.arange(1), LIMITS).first_fault()[1]


def test_an_open_place_passes():
    assert fault(place()) == ""


@pytest.mark.parametrize(
    ("box", "reason"),
    [
        ((0.2, 3.0, 0.2, 0.5, -4.0), "collision"),  # at camera 05 only
        ((0.02, 3.0, 0.5, -0.2, -4.0), "collision"),  # a thin wall between two cameras
        ((1.2, 3.0, 0.1, 0.0, -1.5), "visibility"),  # before the figure
    ],
)
def test_what_stands_in_the_way_is_found_for_all_cameras(box, reason):
    assert fault(place(box)) == reason


def test_a_row_that_is_too_wide_or_too_far_away_is_not_framed():
    assert fault(place(), gaps_cm=(100.0,) * 5) == "framing"
    assert fault(place(), far_m=18.0) == "framing"
    assert fault(place(), focal_mm=85.0) == "framing"


def test_cameras_stay_above_the_ground():
    assert fault(place(), up_m=0.2) == "collision"


def test_a_trajectory_goes_around_an_obstacle_or_is_rejected():
    made = proposal(place((0.6, 2.5, 0.6, 2.0, -2.0)), frames=30)
    way = connect(made, np.random.default_rng(3), LIMITS)
    assert way.base.shape == (30, 4, 4)
    moved, turned = steps_of(way.base)
    assert 0 < moved.max() <= LIMITS.step_m
    assert turned.max() <= LIMITS.step_deg
    assert judge(made, way.base, np.arange(30), LIMITS).first_fault() == (30, "")
    walls = [(6.0, 4.0, 0.1, 0.0, z) for z in (-1.2, 1.2)]
    walls += [(0.1, 4.0, 6.0, x, 0.0) for x in (-1.2, 1.2)]
    with pytest.raises(Rejected):
        connect(proposal(place(*walls)), np.random.default_rng(3), LIMITS)


# --- after rendering ------------------------------------------------------------------------------


def view(**changes):
    rng = np.random.default_rng(0)
    image = rng.integers(0, 255, (32, 32, 3), dtype=np.uint8)
    moving = np.zeros((32, 32), bool)
    moving[10:20, 10:20] = True
    good = View(image, np.full((32, 32), 4.0, np.float32), moving)
    return replace(good, **changes)


def near_left():
    depth = np.full((32, 32), 4.0, np.float32)
    depth[:20, :6] = 0.5
    return depth


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"depth": np.full((32, 32), np.nan, np.float32)}, "invalid depth"),
        ({"image": np.full((32, 32, 3), 5, np.uint8)}, "poor visibility"),
        ({"image": np.full((32, 32, 3), 120, np.uint8)}, "poor visibility"),
        ({"moving": np.zeros((32, 32), bool)}, "poor visibility"),
        ({"depth": near_left()}, "edge occlusion"),
    ],
)
def test_rendered_frames_are_checked(changes, reason, monkeypatch, tmp_path):
    monkeypatch.setattr(after, "_complete", lambda folder, frames: True)
    watch = after.Watch(LIMITS, 4.0)
    assert len(list(watch.over(iter([[view(**changes)] * 6] * 2)))) == 2
    if not reason:
        watch.conclude(tmp_path, 2)
        return
    with pytest.raises(Rejected, match=reason):
        watch.conclude(tmp_path, 2)


def test_missing_frames_are_noticed(tmp_path):
    watch = after.Watch(LIMITS, 4.0)
    list(watch.over(iter([[view()] * 6])))
    with pytest.raises(Rejected, match="missing frames"):
        watch.conclude(tmp_path, 2)
    with pytest.raises(Rejected, match="missing frames"):
        watch.conclude(tmp_path, 1)  # there are no videos
