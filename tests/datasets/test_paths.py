from __future__ import annotations

import pytest

from depthgauge.datasets._paths import inside
from depthgauge.errors import BadData


@pytest.mark.parametrize(
    "bad", ["../x", "a/../../x", "/etc/passwd", "", "a//b", "a/./b", "C:/x", "a\\..\\b", "a\nb"]
)
def test_paths_that_leave_are_refused(tmp_path, bad):
    with pytest.raises(BadData, match="refused"):
        inside(tmp_path, bad)


def test_a_link_that_leaves_is_refused(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/out").symlink_to(tmp_path)
    with pytest.raises(BadData, match="a link on it leads outside"):
        inside(tmp_path / "data", "out/secret")


def test_a_plain_path_is_fine(tmp_path):
    assert inside(tmp_path, "Bathroom/im0..1.png") == tmp_path / "Bathroom/im0..1.png"
