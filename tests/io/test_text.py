"""Text files."""

import pytest

from depthgauge.errors import BadFile, TooLarge
from depthgauge.io.text import read_text, read_toml


def test_lines_end_in_newlines_and_marks_are_dropped(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n\xc3\xa9")
    assert read_text(path) == "a\nb\nc\né"


def test_what_is_no_text(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"ab\xff")
    with pytest.raises(BadFile, match="expected text in UTF-8, but byte 2 is not"):
        read_text(path)
    path.write_bytes(b"a\0b")
    with pytest.raises(BadFile, match="NUL"):
        read_text(path)
    path.write_bytes(b"abcd")
    with pytest.raises(TooLarge, match="at most 3"):
        read_text(path, 3)
    with pytest.raises(BadFile, match="no such file"):
        read_text(tmp_path / "none")


def test_toml(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('id = "x"\n[options]\nradius = 3\n')
    assert read_toml(path) == {"id": "x", "options": {"radius": 3}}


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"radius = ", "is not TOML"), (b"a = '\xff'", "is not TOML"), (None, "cannot be read")],
)
def test_no_toml(tmp_path, content, expected):
    path = tmp_path / "a.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadFile, match=rf"a\.toml: {expected} \(.+\)\."):
        read_toml(path)
