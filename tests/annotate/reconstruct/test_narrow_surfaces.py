"""Where two lines meet at an acute angle, the surface between them is narrower than a pixel."""

import numpy as np
import pytest
from tests.annotate.drawn import annotation

from depthgauge.annotate.reconstruct._depth_pairs import order_pairs
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.reconstruct.segmentation import segment
from depthgauge.annotate.records.annotation import NormalMark, Stroke, SurfaceMark

TIP = (30.0, 20.0)
BACK, BLOCK, WEDGE = (5, 5), (80, 20), (45, 70)


def wedge(short=4.0):
    """A wedge that opens downwards from a tip: before the wall on its left and a block on its
    right. The block stands before the wall too; a short stroke begins the wedge's right side."""
    slant = (TIP[0] + 0.35 * short, TIP[1] + short)
    return annotation(
        100,
        80,
        120.0,
        strokes={
            "block": Stroke("occlusion", (TIP, (30, -1)), "right"),
            "left": Stroke("occlusion", (TIP, (31, 80)), "left"),
            "tip": Stroke("occlusion", (TIP, slant), "right"),
            "right": Stroke("occlusion", (slant, (52, 80)), "right"),
        },
        surfaces={
            "wall": SurfaceMark(BACK, "planar"),
            "block": SurfaceMark(BLOCK, "planar"),
            "wedge": SurfaceMark(WEDGE, "planar"),
        },
        normals={
            "wall": NormalMark(BACK, (0.0, 0.0, -1.0)),
            "block": NormalMark(BLOCK, (0.0, 0.0, -1.0)),
            "wedge": NormalMark(WEDGE, (0.0, 0.0, -1.0)),
        },
    )


@pytest.mark.parametrize("short", [3.0, 4.0, 6.0, 20.0])
def test_the_tip_belongs_to_the_wedge(short):
    found = segment(wedge(short))
    inside = found.continuous[WEDGE[1], WEDGE[0]]
    of_tip = found.stroke == 2
    # Pixels that two strokes share may be anybody's; those of the stroke are the wedge's.
    assert of_tip.sum() >= 2
    assert set(found.continuous[of_tip].tolist()) == {inside}
    assert found.continuous[BLOCK[1], BLOCK[0]] != found.continuous[BACK[1], BACK[0]]


@pytest.mark.parametrize("short", [3.0, 4.0, 6.0, 20.0])
def test_no_order_is_violated(short):
    made = reconstruct(wedge(short))
    assert made.violated == ()
    wall, block, front = (made.depth[y, x] for x, y in (BACK, BLOCK, WEDGE))
    assert front < block < wall


def test_a_strip_of_a_pixel_is_not_skipped():
    """A strip between two parallel lines: its line belongs to it, not to what is beyond."""
    strip = annotation(
        60,
        40,
        80.0,
        strokes={
            "near": Stroke("occlusion", ((30, -1), (30, 40)), "right"),
            "far": Stroke("occlusion", ((33, -1), (31, 40)), "right"),
        },
    )
    found = segment(strip)
    column = [found.continuous[35, x] for x in (10, 50)]
    assert found.continuous[5, 31] not in column
    assert found.continuous[35, 31] == found.continuous[5, 31]


def test_an_order_is_not_read_across_another_line():
    """Beyond the second line lies a surface of which the first stroke says nothing."""
    front = Stroke("occlusion", ((31, -1), (31, 80)), "right")
    behind = Stroke("occlusion", ((100, 41), (32, 41), (32, 80)), "left")
    found = segment(annotation(100, 80, 120.0, strokes={"front": front, "behind": behind}))
    pairs = order_pairs(found, np.ones(found.kind.shape, np.float32))
    far = set(pairs.far[pairs.stroke == 0].tolist())
    assert far == {found.continuous[20, 40]}


def test_a_gap_is_not_closed_backwards():
    """A short stroke that meets a line at one end does not reach back to it from the other."""
    drawn = annotation(
        100,
        80,
        120.0,
        strokes={
            "long": Stroke("occlusion", ((-1, 40), (40, 40)), "right"),
            "short": Stroke("occlusion", ((44, 40), (40, 40)), "right"),
        },
    )
    found = segment(drawn)
    own = found.stroke == 1
    assert own.any()
    assert (found.toward[own][:, 1] < 0).all()  # going left, right is above
