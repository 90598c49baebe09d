"""Rooms that a camera can walk through: complete, closed, with free tops, the same every time."""

import functools

import numpy as np
import pytest

from depthgauge.errors import UnknownName
from depthgauge.geometry.ray_scene import RayScene
from depthgauge.synth.library import finishes
from depthgauge.synth.library.environments import ENVIRONMENTS
from depthgauge.synth.library.interiors import INTERIORS, LAYOUTS, interior
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import KINDS, kind_of

PLACES = [
    pytest.param(p, id=f"{p[0]}-{p[1]}", marks=[pytest.mark.long] if p[1] > 1 else [])
    for p in LAYOUTS
]


@pytest.fixture(scope="module")
def rooms():
    return {place: interior(*place) for place in LAYOUTS}


@functools.cache
def rays_of(place):
    mesh = meshes.join([thing.mesh for thing in interior(*place).things])
    return RayScene(mesh.vertices, mesh.triangles)


def test_there_are_thirty_layouts_of_five_kinds():
    assert len(INTERIORS) == 5
    assert len(LAYOUTS) == 30
    assert sum(kind == "kitchen" for kind, _ in LAYOUTS) == 10


def test_all_layouts_differ(rooms):
    sums = [sum(t.mesh.vertices.sum() for t in room.things) for room in rooms.values()]
    assert len({round(float(s), 6) for s in sums}) == len(sums)


@pytest.mark.parametrize("place", PLACES)
def test_tops_are_carried_and_free(rooms, place):
    pytest.importorskip("embreex")
    room = rooms[place]
    rays = rays_of(place)
    assert len(room.tops) >= 2
    for top in room.tops:
        (x, y, z), (half_x, half_z) = top.centre_m, top.half_m
        along = np.linspace(-1, 1, 7)
        u, v = (g.ravel() for g in np.meshgrid(along, along))
        above = np.stack([x + half_x * u, np.full(u.shape, y - 0.06), z + half_z * v], axis=-1)
        hits = rays.cast(above, np.tile([0.0, 1.0, 0.0], (len(above), 1)))
        assert hits.distance == pytest.approx(0.06, abs=2e-3)
        free = rays.cast(above + np.array([0, 0.05, 0]), np.tile([0.0, -1.0, 0.0], (len(above), 1)))
        assert np.nanmin(free.distance) > 0.1


@pytest.mark.parametrize("place", PLACES)
def test_a_room_is_closed_and_its_furniture_is_inside(rooms, place):
    pytest.importorskip("embreex")
    room = rooms[place]
    wide, high, deep = room.size_m
    rng = np.random.default_rng(1)
    ways = rng.normal(size=(4000, 3))
    hits = rays_of(place).cast([0.05, -1.9, 0.3 * deep], ways)
    # A few rays leave through a window and miss the hedge.
    assert np.isnan(hits.distance).mean() < 0.08
    outside = ("garden", "window", "frame of window")
    for thing in room.things:
        if not thing.name.startswith(outside):
            low, up = thing.mesh.vertices.min(axis=0), thing.mesh.vertices.max(axis=0)
            assert (low > [-wide / 2 - 0.01, -high - 0.01, -0.01]).all(), thing.name
            assert (up < [wide / 2 + 0.01, 0.01, deep + 0.01]).all(), thing.name


def test_every_kind_of_room_has_glass_and_metal(rooms):
    for kind in INTERIORS:
        found = {kind_of(t.material) for t in rooms[kind, 0].things}
        assert found == set(KINDS)


@pytest.mark.parametrize("kind", INTERIORS)
def test_a_layout_gives_the_same_bits(rooms, kind):
    again = interior(kind, 1)
    for a, b in zip(rooms[kind, 1].things, again.things, strict=True):
        assert a.mesh.vertices.tobytes() == b.mesh.vertices.tobytes()
        assert a.material == b.material


def test_an_unknown_room_is_refused():
    with pytest.raises(UnknownName, match=r"attic.*kitchen"):
        interior("attic", 0)


# --- light and materials ------------------------------------------------------------------------


def test_there_are_ten_environments_that_differ():
    pictures = {name: e.picture(16).tobytes() for name, e in ENVIRONMENTS.items()}
    assert len(pictures) == len(set(pictures.values())) == 10


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_environment_is_light_with_its_sun_above(name):
    picture = ENVIRONMENTS[name].picture(64)
    assert picture.shape == (64, 128, 3)
    assert np.isfinite(picture).all()
    assert (picture >= 0).all()
    brightest = np.argmax(picture.sum(axis=-1)) // 128
    assert brightest <= 34
    turned = ENVIRONMENTS[name].picture(64, turn_deg=90)
    if max(ENVIRONMENTS[name].sun) > 0:
        assert not np.array_equal(turned, picture)


def test_random_glass_has_indices_colours_and_roughness_within_bounds():
    rng = np.random.default_rng(3)
    several = [finishes.glass(rng) for _ in range(200)]
    assert all(1.45 <= m.index <= 1.70 and m.transparent for m in several)
    assert {m.look for m in several} == {"glass", "tinted", "frosted"}
    assert any(m.roughness > 0.2 for m in several)
    assert any(0 < m.roughness < 0.2 for m in several)
    clear = [finishes.glass(rng, clear=True) for _ in range(50)]
    assert all(m.roughness == 0 for m in clear)


def test_random_metal_is_not_transparent():
    rng = np.random.default_rng(4)
    several = [finishes.metal(rng) for _ in range(100)]
    assert {kind_of(m) for m in several} == {"reflective"}
    assert len({m.colour for m in several}) > 50
