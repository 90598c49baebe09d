"""Archives of strangers: what is unpacked, and what is refused before a byte is."""

import io
import struct
import zipfile

import pytest
from tests.serve import tiny

from depthgauge.benchmarks import find_benchmark
from depthgauge.engine.scoring.samples import samples_of
from depthgauge.serve.submissions.archive import unpack
from depthgauge.serve.submissions.sandbox import allowed_files

ALLOWED = {"a/disparity.npy": 1000, "b.pfm": 1000}


@pytest.fixture
def problems(tmp_path):
    """Unpacks the bytes of an archive; a bad one must leave nothing behind."""

    def unpack_it(content, allowed=ALLOWED):
        (tmp_path / "archive.zip").write_bytes(content)
        out = tmp_path / "out"
        out.mkdir()
        found = unpack(tmp_path / "archive.zip", out, allowed)
        names = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
        outside = {n for n in names if not n.startswith("out/")} - {"archive.zip"}
        assert not outside
        return found, {n.removeprefix("out/") for n in names if n.startswith("out/")}

    return unpack_it


def packed(*entries, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, content in entries:
            made.writestr(name, content)
    return file.getvalue()


def test_what_is_expected_is_unpacked(problems):
    mac = [("__MACOSX/a/._disparity.npy", b"x"), ("a/.DS_Store", b"x"), ("a/", b"")]
    content = packed(("a/disparity.npy", b"12"), ("b.pfm", b"345"), *mac)
    assert problems(content) == ([], {"a/disparity.npy", "b.pfm"})


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/etc/passwd",
        "a/../../evil",
        "a\\disparity.npy",
        "C:/x",
        "a/disparity.npy/..",
    ],
)
def test_other_names_are_refused(problems, name):
    found, files = problems(packed((name, b"x"), ("b.pfm", b"x")))
    assert found
    assert not files


def test_a_file_without_a_name_is_refused(problems, monkeypatch):
    content = bytearray(packed(("b.pfm", b"x")))
    for signature, offset in ((b"PK\x03\x04", 26), (b"PK\x01\x02", 28)):
        content[content.index(signature) + offset] = 0
    assert problems(bytes(content))[0]


def test_archives_in_archives_are_other_names_too(problems):
    inner = packed(("a/disparity.npy", b"12"))
    found, files = problems(packed(("a.zip", inner)))
    assert "not expected here" in found[0]
    assert not files


def test_a_bomb_is_refused_by_its_header(problems):
    found, files = problems(packed(("b.pfm", bytes(10_000_000))))
    assert "has 10,000,000 bytes, at most 1,000 are expected" in found[0]
    assert not files


def test_a_bomb_whose_header_lies_is_given_up(problems):
    content = bytearray(packed(("b.pfm", bytes(5_000_000))))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = content.index(signature) + offset
        content[place : place + 4] = struct.pack("<I", 900)
    found, files = problems(bytes(content))
    assert found
    assert all(len(name) < 20 for name in files)


def link(name, target):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = 0o120777 << 16
    return entry, target


def test_links_and_devices_are_refused(problems):
    device = zipfile.ZipInfo("b.pfm")
    device.external_attr = 0o020666 << 16
    found, files = problems(packed(link("a/disparity.npy", "/etc/passwd"), (device, b"")))
    assert len(found) == 2
    assert all("no plain file" in problem for problem in found)
    assert not files


def test_duplicates_are_refused(problems, recwarn):
    found, _ = problems(packed(("b.pfm", b"1"), ("b.pfm", b"2")))
    assert found == ["b.pfm: is in the archive 2 times"]


def test_overlapping_entries_are_refused(problems):
    content = bytearray(packed(("a/disparity.npy", b"1" * 50), ("b.pfm", b"1" * 50)))
    second = content.index(b"PK\x01\x02", content.index(b"PK\x01\x02") + 4)
    content[second + 42 : second + 46] = struct.pack("<I", 5)  # inside of the first
    found, files = problems(bytes(content))
    assert any("overlaps" in problem for problem in found)
    assert not files


def test_encrypted_entries_are_refused(problems):
    content = bytearray(packed(("b.pfm", b"1")))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    found, _ = problems(bytes(content))
    assert found == ["b.pfm: is encrypted"]


def test_unusual_compression_is_refused(problems):
    found, _ = problems(packed(("b.pfm", b"1" * 100), method=zipfile.ZIP_LZMA))
    assert "unusual" in found[0]


@pytest.mark.parametrize("content", [b"", b"no zip file", packed()[:10], packed()])
def test_what_is_no_archive(problems, content):
    found, files = problems(content)
    assert len(found) == 1
    assert not files


def test_damaged_content_is_found(problems):
    content = bytearray(packed(("b.pfm", bytes(range(200))), method=zipfile.ZIP_STORED))
    content[50] ^= 255
    found, _ = problems(bytes(content))
    assert "cannot be read" in found[0]


def test_all_problems_come_at_once_but_not_endlessly(problems):
    many = [(f"x{n}", b"") for n in range(100)]
    found, _ = problems(packed(*many))
    assert len(found) == 21
    assert found[-1] == "and 80 more problems"


def test_names_and_sizes_come_from_the_benchmark(tiny_data):
    protocol = find_benchmark(tiny_data / "tiny.toml")
    allowed = allowed_files(protocol, samples_of(protocol, tiny_data / "public"))
    assert {"boxes/disparity.npy", "fence/disparity.npy", "boxes.pfm"} <= set(allowed)
    pixels = tiny.SIZE[0] * tiny.SIZE[1]
    assert allowed["boxes/disparity.npy"] == (1 << 20) + 64 * pixels
    assert not any(".." in name or name.startswith("/") for name in allowed)
    assert not any("dataset.json" in name for name in allowed)
