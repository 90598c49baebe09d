"""Large pictures: solved small, with the lines and planes of the full size."""

import numpy as np
import pytest
from tests.annotate.drawn import ball_before_wall

from depthgauge.annotate.reconstruct.reconstruction import memory_bytes, reconstruct
from depthgauge.annotate.reconstruct.stopping import Stop
from depthgauge.annotate.records.annotation import Annotation, Focal, Picture, Stroke
from depthgauge.errors import Cancelled


def test_an_enlarged_reconstruction_is_that_of_the_full_size():
    drawn = ball_before_wall(size=360, focal=450.0, radius=105)
    whole, large = reconstruct(drawn), reconstruct(drawn, work_pixels=150 * 150)
    assert large.depth.shape == whole.depth.shape
    assert large.camera == whole.camera
    np.testing.assert_array_equal(large.segmentation.smooth, whole.segmentation.smooth)
    wall = whole.segmentation.smooth == whole.segmentation.smooth[3, 3]
    for part, most in ((wall, 1e-5), (~wall, 0.01)):
        ratio = large.depth[part] / whole.depth[part]
        assert np.abs(ratio / np.median(ratio) - 1).mean() < most
    assert (large.normals * whole.normals).sum(axis=2).min() > 0.9
    assert np.isfinite(large.depth).all()
    assert "solved at 150x150" in large.notes[0]
    assert large.scales.keys() == whole.scales.keys()


def test_planes_keep_their_closed_form():
    drawn = ball_before_wall(size=300, focal=350.0, radius=80)
    tilted = {**drawn.normals}
    tilted["wall"] = type(tilted["wall"])((3, 3), (0.4, 0.2, -1.0))
    drawn = Annotation(
        drawn.picture, drawn.focal, strokes=drawn.strokes, surfaces=drawn.surfaces, normals=tilted
    )
    large = reconstruct(drawn, work_pixels=100 * 100)
    y, x = np.mgrid[:300, :300] - 149.5
    towards = -(0.4 * x + 0.2 * y - 350.0) / 350.0
    wall = large.segmentation.smooth == large.segmentation.smooth[3, 3]
    product = (large.depth * towards)[wall]
    np.testing.assert_allclose(product / product.mean(), 1, rtol=1e-4)


def test_memory_grows_with_the_picture_and_is_stated_below_four_gigabytes():
    sizes = [(640, 480), (1600, 1200), (4000, 3000), (6400, 4700)]
    needs = [memory_bytes(*size) for size in sizes]
    assert needs == sorted(needs)
    assert needs[-1] < 4e9


def scribbles(count, seed=3):
    rng = np.random.default_rng(seed)
    points = rng.uniform(0, 1, (count, 12, 2)) * [160, 120]
    return Annotation(
        Picture("scribbles", 160, 120),
        Focal(180.0),
        strokes={
            f"s{i}": Stroke("occlusion", tuple(map(tuple, line.tolist())), "left")
            for i, line in enumerate(points)
        },
    )


def test_a_time_limit_gives_the_best_so_far_and_says_so():
    drawn = scribbles(6)
    found = reconstruct(drawn, stop=Stop(seconds=1e-6))
    assert np.isfinite(found.depth).all()
    assert (found.depth > 0).all()
    assert any("The time limit of 1e-06 s was reached" in note for note in found.notes)
    assert not any("time limit" in note for note in reconstruct(drawn, stop=Stop(900)).notes)


def test_a_cancelled_reconstruction_ends():
    stop = Stop()
    stop.cancel()
    with pytest.raises(Cancelled):
        reconstruct(scribbles(6), stop=stop)
