"""Several people's records as one reconstruction."""

from dataclasses import replace

import numpy as np
import pytest
from tests.annotate.drawn import ball_before_wall

from depthgauge.annotate.fusing.fusion import fuse
from depthgauge.annotate.quality.exact_error import exact_errors
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.records.annotation import NormalMark, Picture
from depthgauge.annotate.simulate.annotator import simulate
from depthgauge.annotate.simulate.noise import HUMAN
from depthgauge.errors import Misuse
from depthgauge.synth.sets.single_views import make_view

OWN = replace(HUMAN, shared_surface_deg=0.0, shared_tilt_deg=0.0)
"""People whose errors are their own."""


def with_wall(normal):
    drawn = ball_before_wall()
    return replace(drawn, normals={**drawn.normals, "wall": NormalMark((3, 3), normal)})


def test_one_person_alone_is_unchanged():
    drawn = ball_before_wall()
    fused, alone = fuse([drawn]), reconstruct(drawn)
    np.testing.assert_allclose(fused.reconstruction.normals, alone.normals, atol=1e-5)
    np.testing.assert_allclose(fused.reconstruction.depth, alone.depth, rtol=1e-3)
    assert fused.spread_deg.max() < 0.1


def test_opposite_errors_cancel_and_one_stranger_counts_little():
    people = [with_wall((0.1, 0.0, -1.0)), with_wall((-0.1, 0.0, -1.0)), with_wall((0, 0, -1.0))]
    fused = fuse(people)
    np.testing.assert_allclose(fused.reconstruction.normals[3, 3], [0, 0, -1], atol=0.01)
    assert fused.spread_deg[3, 3] == pytest.approx(2 / 3 * np.degrees(np.arctan(0.1)), abs=0.2)
    stranger = fuse([*people, with_wall((1.5, 0.0, -1.0))]).reconstruction.normals[3, 3]
    assert np.degrees(np.arccos(-stranger[2])) < 4  # the plain mean: 14 degrees


def test_planes_stay_flat():
    made = fuse([with_wall((0.2, 0.1, -1.0)), with_wall((0.1, 0.1, -1.0))]).reconstruction
    wall = made.segmentation.smooth == made.segmentation.smooth[3, 3]
    assert np.ptp(made.normals[wall], axis=0).max() < 1e-6


@pytest.mark.long
def test_people_together_are_better_than_the_best_of_them():
    fused, best = [], []
    for kind, seed in (("curved", 400), ("mixed", 401), ("planar", 400)):
        view = make_view(kind, seed, (240, 180), held=True)
        people = [simulate(view, OWN, person) for person in range(1, 9)]
        alone = [exact_errors(view, reconstruct(one)).edist_percent for one in people]
        best.append(min(alone))
        fused.append(exact_errors(view, fuse(people).reconstruction).edist_percent)
    assert np.mean(fused) < np.mean(best)


def test_annotations_of_other_pictures_are_refused():
    drawn = ball_before_wall()
    with pytest.raises(Misuse, match="no annotation"):
        fuse([])
    with pytest.raises(Misuse, match="one picture"):
        fuse([drawn, replace(drawn, picture=Picture("other", 120, 120))])
