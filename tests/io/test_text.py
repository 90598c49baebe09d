"""Text files."""

import pytest

from depthgauge.errors import BadFile, TooLarge
from depthgauge.io.text import DEEPEST, parse_json, read_json, read_text, read_toml


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
    [
        (b"radius = ", r"is not TOML \(Invalid value.+\)\."),
        (b"a = '\xff'", "expected text in UTF-8, but byte 5 is not"),
        (None, "there is no such file"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, r"is not TOML \(its values are more than 64 levels"),
        (b"a = " + b"[" * 65 + b"]" * 65, "more than 64 levels"),
        (b"a = 1" + b"0" * 5000, r"is not TOML \(it holds an integer beyond 64 bits"),
        (b"a = 1" + b"0" * 400, "an integer beyond 64 bits"),
        (b"a = {b = [0x" + b"f" * 17 + b"]}", "an integer beyond 64 bits"),
        (b"a" + b".a" * 100_000 + b" = 1", "a key has more than 16 parts"),
        (b"[" + b"a . " * 100_000 + b"a]", "a key has more than 16 parts"),
        (b"x = {" + b"a." * 100_000 + b"a = 1}", "a key has more than 16 parts"),
        (b"#" * (2**20 + 1), "has 1048577 bytes, at most 1048576 are expected"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_no_toml(tmp_path, content, expected):
    path = tmp_path / "a.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadFile, match=rf"a\.toml: .*{expected}"):
        read_toml(path)


def test_toml_that_only_looks_hostile(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(f'a.b.c.d = 1\nx = "{"a." * 100}"\ny = {2**63 - 1}\nz = 1e400\n')
    assert read_toml(path)["a"] == {"b": {"c": {"d": 1}}}


def test_json(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(f'{{"a": [1, 2.5, null, {-(2**63)}, {2**63 - 1}, 1e300], "b": "\u00e9"}}')
    assert read_json(path) == {"a": [1, 2.5, None, -(2**63), 2**63 - 1, 1e300], "b": "é"}


def test_json_may_be_as_deep_as_is_said():
    value = parse_json("[" * DEEPEST + "]" * DEEPEST)
    for _ in range(DEEPEST - 1):
        (value,) = value
    assert value == []


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"{", r"is not JSON \(Expecting property name"),
        (b"[" * 100_000, r"is not JSON \(its values are more than 64 levels deep; write it flat\)"),
        (b"[" * 65 + b"]" * 65, "more than 64 levels"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "more than 64 levels"),
        (b"[1" + b"0" * 400 + b"]", r"is not JSON \(it holds an integer beyond 64 bits"),
        (b"[-1" + b"0" * 5000 + b"]", "an integer beyond 64 bits"),
        (str(2**63).encode(), "an integer beyond 64 bits"),
        (b"[1e400]", "a number beyond 1e308"),
        (b"[1" + b"0" * 400 + b".5]", "a number beyond 1e308"),
        (b" " * (2**24 + 1), "has 16777217 bytes, at most 16777216"),
        (b'"\xff"', "expected text in UTF-8"),
        (None, "there is no such file"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_no_json(tmp_path, content, expected):
    path = tmp_path / "a.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadFile, match=rf"a\.json: .*{expected}"):
        read_json(path)


def test_strict_json_has_no_constants():
    assert str(parse_json("[NaN]")) == "[nan]"
    with pytest.raises(ValueError, match="NaN is not allowed"):
        parse_json("[NaN]", finite=True)
