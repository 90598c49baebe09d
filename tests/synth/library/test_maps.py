"""Maps and subjects: enough of them, all build, and every subject can do every action."""

import numpy as np
import pytest

pytest.importorskip("embreex", reason="rays need Embree: depthgauge[render]")

from depthgauge.report.rig.generator import RigOptions
from depthgauge.synth.library.maps import MAPS, maps_of
from depthgauge.synth.library.subjects import ACTIONS, SUBJECTS, Path, performed, places_of
from depthgauge.synth.sets.rig._world import world

PATH = Path(
    np.array([0.0, 2.0]), np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]), np.array([0.0, 90.0])
)


def test_two_maps_are_reserved_and_six_are_not():
    assert maps_of(reserved=True) == ["Canyon", "Temple"]
    assert len(maps_of(reserved=False)) == 6


@pytest.mark.parametrize("name", ["Apartment", "Canyon"])
def test_a_map_has_ground_everywhere_where_subjects_start(name):
    here = world(name, 0)
    x0, x1, z0, z1 = here.place.spawn_m
    points = np.array([(x, 0.0, z) for x in np.linspace(x0, x1, 5) for z in np.linspace(z0, z1, 5)])
    assert np.isfinite(here.ground(points)).all()
    assert here.place.elements
    assert here.place.light_words


def test_the_command_line_knows_all_names():
    fields = RigOptions.model_fields
    known = {
        "maps": MAPS,
        "subjects": SUBJECTS,
        "actions": ACTIONS,
    }
    for field, names in known.items():
        assert all(name in repr(fields[field].annotation) for name in names), field


@pytest.mark.parametrize("kind", ["bird", "cart", "dog", "robot", "walker"])
def test_a_subject_stays_together_in_every_action(kind):
    subject = SUBJECTS[kind]
    for action in ACTIONS.values():
        things, motions = performed(subject, action, 4, PATH)
        for time_s in (0.0, 0.37):
            corners = [t.mesh.transformed(motions[t.name](time_s)).vertices for t in things]
            points = np.concatenate(corners)
            middle = places_of(subject, action, PATH, time_s).mean(axis=0)
            assert np.linalg.norm(points - middle, axis=1).max() < 1.6
            poses = [motions[t.name](time_s)[:3, :3] for t in things]
            for turn in poses:
                np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)


def test_limbs_move_against_each_other():
    _, motions = performed(SUBJECTS["walker"], ACTIONS["walk"], 0, PATH)
    left, right = (motions[f"walker: {side} leg"](0.28)[:3, :3] for side in ("left", "right"))
    assert np.abs(left - right).max() > 0.3
