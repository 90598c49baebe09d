"""Long lists of numbered names."""

from hypothesis import given
from hypothesis import strategies as st

from depthgauge.report.words.collapse_ranges import shortened


def test_only_neighbours_in_order_are_put_together():
    names = ["x_1", "x_2", "x_3", "y_4", "x_5", "x_6", "x_8", "", "7", "8", "9"]
    assert shortened(names) == ["x_1 to 3", "y_4", "x_5", "x_6", "x_8", "", "7", "8", "9"]
    assert shortened(f"frame_{n:04}" for n in range(9, 12)) == ["frame_0009 to 0011"]


@given(st.lists(st.integers(0, 30), max_size=20))
def test_nothing_is_lost(numbers):
    found = []
    for text in shortened(f"s_{n}" for n in numbers):
        first, _, last = text.removeprefix("s_").partition(" to ")
        found += range(int(first), int(last or first) + 1)
    assert found == numbers
