"""The rooms of the library."""

import numpy as np
import pytest

from depthgauge.errors import UnknownName
from depthgauge.synth.library.rooms import ROOMS, room_by_name


@pytest.mark.parametrize("name", ROOMS)
def test_rooms_have_all_classes_and_vary_with_the_seed(name):
    one, other = ROOMS[name](0), ROOMS[name](1)
    assert {t.material.category for t in one.things} == {0, 1, 2, 3}
    assert {t.material.surface for t in one.things} == {0, 1, 2}
    assert 20_000 < sum(len(t.mesh.triangles) for t in one.things) < 300_000
    places = [[t.mesh.vertices.mean(axis=0) for t in s.things] for s in (one, other)]
    assert not np.allclose(*places)
    for thing in one.things:
        assert np.isfinite(thing.mesh.vertices).all()
        assert np.isfinite(thing.mesh.normals).all()


def test_an_unknown_room_is_refused():
    with pytest.raises(UnknownName, match=r"attic.*bathroom, desk, kitchen"):
        room_by_name("attic", 0)


# Triangles, and the sums of all coordinates, of seed 4: other rooms are a new revision of the sets.
MEASURED = {
    "bathroom": (183450, -8078.510049460, -13169.925715524, 104953.776765544),
    "desk": (150980, -3487.404502366, -12419.049627585, 83467.275275509),
    "kitchen": (203612, 12233.144420760, -14604.110175261, 126359.740164814),
}


@pytest.mark.parametrize("name", ROOMS)
def test_rooms_are_what_they_were(name):
    room = ROOMS[name](4)
    count, *sums = MEASURED[name]
    assert sum(len(t.mesh.triangles) for t in room.things) == count
    total = sum(t.mesh.vertices.sum(axis=0) for t in room.things)
    np.testing.assert_allclose(total, sums, rtol=1e-9)


def test_one_room_can_be_furnished_and_moved_by_name():
    room = ROOMS["desk"](1)
    assert room.object_names[0] == "wall"
    assert len(set(room.object_names)) == len(room.object_names) < len(room.things)
    still = {t.name: t for t in room.things_at(3.0)}
    assert all(still[t.name] is t for t in room.things if t.name == "poster")
