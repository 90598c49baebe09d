"""Light along rays: reflections that start on a surface, tags cell by cell."""

import numpy as np
import pytest

from depthgauge.sessions.tags import tag_bitmap
from depthgauge.synth.render.embree import trace
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.camera import pinhole
from depthgauge.synth.scene.material import plain
from depthgauge.synth.scene.model import Thing
from depthgauge.synth.sets.tag_session._light import Lit, photograph
from depthgauge.synth.sets.tag_session._table import PAPER, Face, Table, tag_corners

pytest.importorskip("embreex", reason="rays need Embree: depthgauge[render]")


@pytest.fixture(scope="module")
def wall():
    """A slanted wall with one large tag."""
    card = plain("#808080")
    along, across = np.array([2.0, 0.0, 0.3]), np.array([0.0, -2.0, 0.1])
    corner = np.array([-1.0, 1.0, 1.0])
    right, down = along / np.linalg.norm(along), -across / np.linalg.norm(across)
    middle = corner + (along + across) / 2
    face = Face("wall", tuple(middle), (0.5, 0.5), card, tuple(right), tuple(down), most=1)
    table = Table(np.random.default_rng(2), 0.34)
    table.fix([Thing("wall", meshes.rectangle(corner, along, across), card)], [face])
    scene, stickers = table.scene("wall")
    frame = trace(scene)
    return frame, stickers, Lit(frame, stickers, 256)


def test_rays_that_start_on_a_surface_do_not_see_it(wall):
    frame, _, lit = wall
    rng = np.random.default_rng(1)
    shares = rng.uniform(0.05, 0.2, (4000, 2))
    corner, along, across = np.array([-1.0, 1.0, 1.0]), (2.0, 0.0, 0.3), (0.0, -2.0, 0.1)
    starts = corner + shares[:, :1] * along + shares[:, 1:] * across
    ways = rng.normal(size=(4000, 3))
    met = frame.rays.cast(starts, ways)
    stuck = (met.triangle >= 0) & ~(met.distance > 0)
    assert stuck.any()
    light = lit.along(starts, ways, bounce=False)
    elsewhere = lit.along(np.array([[0.0, 0.0, -9.0]]), np.array([[0.0, 0.0, -1.0]]), bounce=False)
    np.testing.assert_array_equal(light[stuck], np.broadcast_to(elsewhere, (stuck.sum(), 3)))


def test_a_tag_is_its_bitmap(wall):
    """The light of each cell's middle, put in order by the printed corners."""
    frame, (sticker,), lit = wall
    corners = tag_corners(frame.scene.things[sticker.thing].mesh)
    upper_right, upper_left, lower_left, _ = corners
    at = (np.arange(10) - 0.5) / 8
    x, y = np.meshgrid(at, at)
    right, down = upper_right - upper_left, lower_left - upper_left
    points = upper_left + x[..., None] * right + y[..., None] * down
    eye = np.array([0.0, 0.0, 0.0])
    ways = (points - eye).reshape(-1, 3)
    light = lit.along(np.tile(eye, (100, 1)), ways)[:, 0].reshape(10, 10)
    white = light > 0.5 * light.max()
    np.testing.assert_array_equal(white, tag_bitmap(sticker.identity) > 0)
    assert light.min() / light.max() == pytest.approx(0.04 / PAPER.colour[0], rel=0.2)


def test_edges_are_the_mean_of_many_samples(wall):
    """A fine picture, averaged, is the coarse one."""
    _, _, lit = wall
    coarse = photograph(lit, pinhole((48, 36), 48.0), 8).mean(axis=2)
    one = photograph(lit, pinhole((48, 36), 48.0), 1).mean(axis=2)
    fine = photograph(lit, pinhole((48 * 8, 36 * 8), 48.0 * 8), 1).mean(axis=2)
    mean = fine.reshape(36, 8, 48, 8).mean(axis=(1, 3))
    # A pixel's response is a tent, somewhat wider than the square that is averaged here.
    assert np.abs(coarse - mean).mean() < 0.5 * np.abs(one - mean).mean()
