"""Surface normals as pictures: colours, what is missing, when they are shown."""

from dataclasses import replace
from functools import partial

import cv2
import numpy as np
import pytest
from tests.report.conftest import NAN

from depthgauge.analysis.maps.sample_maps import SampleMaps, scored_rig
from depthgauge.benchmarks import make_protocol
from depthgauge.engine.scoring.prepare import prepare_truth
from depthgauge.geometry.rigs import normals_from_map
from depthgauge.report.pictures import rows
from depthgauge.report.pictures.colour_bar import colour_bar
from depthgauge.report.pictures.colours import (
    ASIDE_COLOUR,
    MISSING_COLOURS,
    NO_TRUTH_COLOUR,
    normal_ball,
    paint_normals,
    rgb_of,
)
from depthgauge.report.pictures.quantities import disparity
from depthgauge.types import Camera, Rig

SHAPE = (96, 128)
CAMERA = Camera((160.0, 160.0), (63.5, 47.5), SHAPE[::-1])
RIG = Rig({"centre": CAMERA}, baseline_m=0.1, principal_offset_px=8.0)
FACING = (128, 128, 255)


def normals_row(truth, estimates, quantity, rig):
    return rows.normals_row(truth, estimates, partial(normals_from_map, quantity=quantity, rig=rig))


def decoded(picture):
    return cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_COLOR)[..., ::-1]


def plane(a=0.0, b=0.0):
    """Depth of the plane z = 2 + a x + b y."""
    v, u = np.mgrid[: SHAPE[0], : SHAPE[1]]
    x, y = (u - 63.5) / 160, (v - 47.5) / 160
    return (2 / (1 - a * x - b * y)).astype(np.float32)


def near(colour, other, tolerance=6):
    return np.abs(np.asarray(colour, int) - np.asarray(other, int)).max() <= tolerance


def test_directions_have_the_usual_colours():
    directions = [[0, 0, -1], [1, 0, 0], [-1, 0, 0], [0, -1, 0], [0, 1, 0], [NAN, NAN, NAN]]
    known = np.ones((1, 7), bool)
    known[0, 6] = False
    picture = paint_normals(np.array([[*directions, [0, 0, -1]]], np.float32), known)[0]
    assert picture.tolist() == [
        [128, 128, 255],  # to the viewer
        [255, 128, 128],  # right
        [0, 128, 128],
        [128, 255, 128],  # up
        [128, 0, 128],
        list(rgb_of(MISSING_COLOURS["ball"])),
        list(rgb_of(NO_TRUTH_COLOUR)),
    ]


def test_no_normal_that_is_seen_looks_like_a_missing_one():
    ball = normal_ball(101)
    seen = ball[ball[..., 3] > 0][:, :3].astype(int)
    for text in (MISSING_COLOURS["ball"], NO_TRUTH_COLOUR, ASIDE_COLOUR):
        assert np.abs(seen - rgb_of(text)).sum(axis=1).min() > 60
    assert near(ball[50, 50, :3], FACING, 1)
    assert ball[0, 0, 3] == 0


@pytest.mark.parametrize(
    ("slopes", "channel", "brighter"),
    [((0.5, 0), 0, True), ((-0.5, 0), 0, False), ((0, 0.5), 1, False), ((0, -0.5), 1, True)],
)
def test_tilted_planes_lean_to_their_colour(slopes, channel, brighter):
    """A wall that goes away to the right faces right; a floor, nearest at the bottom, faces up."""
    row = normals_row(plane(), {"a": plane(*slopes)}, "depth", RIG)
    assert list(row.pictures) == ["the truth", "a"]
    truth, estimate = (decoded(each)[48, 64] for each in row.pictures.values())
    assert near(truth, FACING)
    expected = np.array(FACING, float)
    expected[channel] += (1 if brighter else -1) * 127.5 * 0.5 / np.sqrt(1.25)
    expected[2] = 127.5 * (1 + 1 / np.sqrt(1.25))
    assert near(estimate, np.rint(expected))


def test_disparity_is_seen_through_the_same_rig():
    """A flat wall has one disparity, whatever the offset of the principal points."""
    flat = np.full(SHAPE, -3.0, np.float32)
    row = normals_row(flat, {}, "disparity", RIG)
    assert near(decoded(row.pictures["the truth"])[48, 64], FACING)
    behind = normals_row(flat - 6, {}, "disparity", RIG).pictures["the truth"]
    assert near(decoded(behind)[48, 64], rgb_of(ASIDE_COLOUR))
    assert behind.bar.aside == "no normal"


def test_missing_estimates_are_missing_and_their_neighbours_only_have_no_normal():
    holey, truth = plane(), plane()
    holey[32:64, 32:64] = NAN
    truth[:, 96:] = NAN
    pictures = normals_row(truth, {"a": holey}, "depth", RIG).pictures
    estimate, true = pictures["a"], pictures["the truth"]
    assert near(decoded(estimate)[48, 48], rgb_of(MISSING_COLOURS["ball"]), 12)
    assert near(decoded(estimate)[48, 112], FACING)  # where there is no truth, it is still shown
    assert (estimate.bar.missing, estimate.bar.no_truth) == (True, False)
    assert near(decoded(true)[48, 112], rgb_of(NO_TRUTH_COLOUR), 12)
    assert (true.bar.missing, true.bar.no_truth) == (False, True)
    border = normals_row(plane(), {"a": plane()}, "depth", RIG).pictures["a"].bar
    assert (border.missing, border.aside) == (False, "no normal")


def test_noise_does_not_make_the_page_heavy():
    rng = np.random.default_rng(0)
    shape = (300, 400)
    rig = Rig({"left": Camera((400.0, 400.0), (200.0, 150.0), shape[::-1])})
    noisy = rng.normal(2, 0.02, shape).astype(np.float32)
    picture = normals_row(noisy, {}, "depth", rig).pictures["the truth"]
    assert picture.size_px == (360, 270)
    assert len(picture.data) < 0.25 * 3 * 360 * 270


def protocol(*metrics, quantity="disparity"):
    body = {"id": "normals", "version": 1, "dataset": "none", "quantity": quantity, "pool": "image"}
    return make_protocol({**body, "scores": [{"metric": name} for name in metrics]}, "test")


def test_normals_are_shown_where_they_are_scored_and_there_is_a_rig():
    flat = np.full(SHAPE, 3.0, np.float32)
    angular, plain = protocol("mae", "median_angular_error"), protocol("mae")
    ready = prepare_truth(angular, flat, {"rig": RIG})
    assert scored_rig(angular, ready) is ready.items["rig"]
    assert scored_rig(plain, ready) is None
    assert scored_rig(angular, replace(ready, items={})) is None
    normals_of = partial(normals_from_map, quantity="disparity", rig=RIG)
    maps = SampleMaps("s", "disparity", flat, estimates={"a": flat}, normals_of=normals_of)
    assert [row.title for row in disparity.draw(maps).rows] == ["Surface normals"]
    assert disparity.draw(replace(maps, normals_of=None)).rows == ()


def test_the_key_is_a_ball():
    bar = normals_row(plane(), {}, "depth", RIG).pictures["the truth"].bar
    text = str(colour_bar(bar, "key"))
    assert "a ball in these colours" in text
    assert "direction of motion" not in text
    assert "no normal" in text
