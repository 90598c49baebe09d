"""An annotation at another size."""

from __future__ import annotations

import pytest
from tests.annotate.drawn import ball_before_wall

from depthgauge.annotate.reconstruct.reconstruction import scaled
from depthgauge.errors import Misuse


def test_half_by_hand():
    """The corner (-0.5, -0.5) stays: a pixel centre (3, 3) goes to (1.25, 1.25)."""
    whole = ball_before_wall(
        region_px=((3, 3), (100, 3), (100, 100)), must_contain_px=((59.5, 59.5),)
    )
    half = scaled(whole, 0.5)
    assert (half.picture.width_px, half.picture.height_px) == (60, 60)
    assert half.focal.focal_px == 75
    assert half.normals["wall"].at_px == (1.25, 1.25)
    assert half.surfaces["wall"].at_px == (1.25, 1.25)
    assert half.region_px[0] == (1.25, 1.25)
    assert half.must_contain_px == ((29.5, 29.5),)
    first = whole.strokes["ball"].points_px[0]
    wanted = ((first[0] + 0.5) / 2 - 0.5, (first[1] + 0.5) / 2 - 0.5)
    assert half.strokes["ball"].points_px[0] == pytest.approx(wanted)
    assert half.normals["wall"].normal == whole.normals["wall"].normal
    assert scaled(whole, 1.0) == whole


@pytest.mark.parametrize("factor", [0.0, -1.0, 1.5, float("nan")])
def test_bad_factors(factor):
    with pytest.raises(Misuse, match="the factor is"):
        scaled(ball_before_wall(), factor)
