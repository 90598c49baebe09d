"""Downloads from a local server: resumed, checked, refused, offline; archives that attack."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import tarfile
import zipfile

import pytest

from depthgauge.datasets import DATASETS
from depthgauge.engine.downloading import fetch as fetching
from depthgauge.engine.downloading import unpack as unpacking
from depthgauge.engine.downloading.fetch import fetch
from depthgauge.engine.downloading.get import get_data
from depthgauge.engine.downloading.manifest import RemoteFile, find_manifest, names
from depthgauge.engine.downloading.unpack import unpack
from depthgauge.errors import BadFile, CannotWrite, Misuse, Unavailable, UnknownName

BODY = bytes(range(256)) * 4000


def sha(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def remote(site, name="a.bin", **more) -> RemoteFile:
    return RemoteFile(urls=(f"{site.url}/{name}",), **more)


def no_wait(_seconds: float) -> None:
    pass


def get(site, folder, file=None, **more):
    return fetch(file or remote(site), folder, wait=no_wait, **more)


# One file.


def test_a_file_comes_whole_with_its_hash(site, tmp_path):
    site.files["a.bin"] = BODY
    seen = []
    found = get(site, tmp_path, progress=lambda done, whole: seen.append((done, whole)))
    assert (tmp_path / "a.bin").read_bytes() == BODY
    assert (found.sha256, found.size, found.checked) == (sha(BODY), len(BODY), False)
    assert seen[-1] == (len(BODY), len(BODY))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.bin"]
    again = get(site, tmp_path)  # it is there: nothing is asked for
    assert again.sha256 == found.sha256
    assert len(site.asked) == 1


def test_a_broken_connection_goes_on_where_it_was(site, tmp_path):
    site.files["a.bin"] = BODY
    site.break_after["a.bin"] = 300_000
    get(site, tmp_path)
    assert (tmp_path / "a.bin").read_bytes() == BODY
    ranges = [asked for _, asked in site.asked]
    assert ranges == ["", "bytes=300000-", "bytes=600000-", "bytes=900000-"]


def test_a_second_call_continues_the_first(site, tmp_path):
    site.files["a.bin"] = BODY
    site.break_after["a.bin"] = 0
    with pytest.raises(Unavailable, match="the same command continues"):
        get(site, tmp_path)
    assert len(site.asked) == 5  # attempts that bring nothing
    del site.break_after["a.bin"]
    (tmp_path / "a.bin.part").write_bytes(BODY[:1000])
    site.asked.clear()
    get(site, tmp_path)
    assert site.asked == [("a.bin", "bytes=1000-")]
    assert (tmp_path / "a.bin").read_bytes() == BODY


def test_a_file_that_changed_meanwhile_begins_again(site, tmp_path):
    site.files["a.bin"] = BODY
    site.break_after["a.bin"] = 1000
    _one_connection(site, tmp_path)
    other = BODY[::-1]
    site.files["a.bin"], site.tags["a.bin"] = other, '"two"'
    del site.break_after["a.bin"]
    get(site, tmp_path)
    assert (tmp_path / "a.bin").read_bytes() == other


def _one_connection(site, folder):
    """Reads until the connection breaks, as a killed process would have."""
    part = folder / "a.bin.part"
    assert not fetching._read_on(f"{site.url}/a.bin", remote(site), part, None)
    assert part.stat().st_size == 1000


def test_a_server_without_ranges_sends_all_again(site, tmp_path):
    site.files["a.bin"] = BODY
    site.break_after["a.bin"] = 1000
    _one_connection(site, tmp_path)
    site.break_after.clear()
    site.without_ranges = True
    get(site, tmp_path)
    assert (tmp_path / "a.bin").read_bytes() == BODY


def test_a_server_that_sends_another_part_is_not_believed(site, tmp_path):
    site.files["a.bin"] = BODY
    site.break_after["a.bin"] = 1000
    _one_connection(site, tmp_path)
    site.break_after.clear()
    site.wrong_start = True
    with pytest.raises(Unavailable, match="another part than was asked for"):
        get(site, tmp_path)


def test_a_part_that_is_too_long_is_thrown_away(site, tmp_path):
    site.files["a.bin"] = BODY[:500]
    (tmp_path / "a.bin.part").write_bytes(BODY)
    (tmp_path / "a.bin.part.json").write_text(
        json.dumps({"url": f"{site.url}/a.bin", "tag": '"one"'})
    )
    get(site, tmp_path)
    assert (tmp_path / "a.bin").read_bytes() == BODY[:500]


@pytest.mark.parametrize("codes", [[503], [429, 500], [408]])
def test_busy_servers_are_asked_again(site, tmp_path, codes):
    site.files["a.bin"] = BODY
    site.errors["a.bin"] = list(codes)
    waits = []
    fetch(remote(site), tmp_path, wait=waits.append)
    assert (tmp_path / "a.bin").read_bytes() == BODY
    assert waits == [2.0, 4.0][: len(codes)]


def test_what_is_not_there_is_not_asked_for_again(site, tmp_path):
    with pytest.raises(Unavailable, match=r"404 .*put it into .* as a.bin"):
        get(site, tmp_path)
    assert len(site.asked) == 1


def test_the_second_place_is_tried(site, tmp_path):
    site.files["b.bin"] = BODY
    file = RemoteFile(urls=(f"{site.url}/a.bin", f"{site.url}/b.bin"))
    found = get(site, tmp_path, file)
    assert found.path.name == "a.bin"
    assert found.url.endswith("/b.bin")


def test_wrong_sizes_and_hashes_are_refused(site, tmp_path):
    site.files["a.bin"] = BODY
    with pytest.raises(Unavailable, match="it is another file"):
        get(site, tmp_path, remote(site, size=5))
    with pytest.raises(BadFile, match=r"SHA-256 is .* was expected; it was deleted"):
        get(site, tmp_path, remote(site, sha256="0" * 64))
    assert not list(tmp_path.glob("a.bin"))
    with pytest.raises(BadFile, match="SHA-256"):
        get(site, tmp_path, expected="1" * 64)
    found = get(site, tmp_path, remote(site, sha256=sha(BODY), size=len(BODY)))
    assert found.checked
    (tmp_path / "a.bin").write_bytes(b"short")
    with pytest.raises(BadFile, match="has 5 bytes"):
        get(site, tmp_path, remote(site, size=len(BODY)))


def test_redirects_stay_on_the_web(site, tmp_path):
    site.files["b.bin"] = BODY
    site.moved["a.bin"] = f"{site.url}/b.bin"
    get(site, tmp_path)
    assert (tmp_path / "a.bin").read_bytes() == BODY
    site.moved["c.bin"] = "file:///etc/passwd"
    with pytest.raises(Unavailable):
        get(site, tmp_path, remote(site, "c.bin"))
    assert not (tmp_path / "c.bin").exists()


def test_a_full_disk_is_said_before(site, tmp_path, monkeypatch):
    site.files["a.bin"] = BODY
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(fetching.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(CannotWrite, match=r"GB are needed and 0.00 GB are free"):
        get(site, tmp_path)


def test_offline_is_one_sentence(tmp_path, monkeypatch):
    import socket

    def offline(*_args, **_more):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", offline)
    file = RemoteFile(urls=("http://data.example.org/x.zip",))
    with pytest.raises(Unavailable) as error:
        fetch(file, tmp_path, wait=pytest.fail)
    said = str(error.value)
    assert "data.example.org cannot be reached" in said
    assert f"put it into {tmp_path} as x.zip" in said
    assert "\n" not in said


# Archives.


def zipped(files: dict[str, bytes], **attributes) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = attributes.get("mode", 0) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, body)
    return memory.getvalue()


def tarred(files: dict[str, bytes], kind=tarfile.REGTYPE, mode="w:gz") -> bytes:
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode=mode) as archive:
        for name, body in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.type = (len(body) if kind == tarfile.REGTYPE else 0), kind
            info.linkname = "/etc/passwd"
            archive.addfile(info, io.BytesIO(body))
    return memory.getvalue()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("zip", zipped({"s/a.txt": b"a", "s/t/b.txt": b"bb", "__MACOSX/x": b"-"})),
        ("tar", tarred({"s/a.txt": b"a", "s/t/b.txt": b"bb"})),
        ("tar", tarred({"s/a.txt": b"a", "s/t/b.txt": b"bb"}, mode="w:xz")),
    ],
    ids=["zip", "tgz", "txz"],
)
def test_archives_are_merged_into_a_folder(tmp_path, kind, body):
    (tmp_path / "in.zip").write_bytes(body)
    out = tmp_path / "out"
    (out / "s").mkdir(parents=True)
    (out / "s" / "kept.txt").write_text("kept")
    assert unpack(tmp_path / "in.zip", kind, out) == 2
    found = sorted(p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file())
    assert found == ["s/a.txt", "s/kept.txt", "s/t/b.txt"]
    assert (out / "s/t/b.txt").read_bytes() == b"bb"


HOSTILE = {
    "above": ("zip", zipped({"../evil": b"x"}), "leads out of its folder"),
    "deep above": ("zip", zipped({"a/../../evil": b"x"}), "leads out of its folder"),
    "absolute": ("zip", zipped({"/etc/evil": b"x"}), "leads out of its folder"),
    "drive": ("zip", zipped({"C:/evil": b"x"}), "means something else"),
    "backslash": ("tar", tarred({"a\\..\\evil": b"x"}), "means something else"),
    "link": ("zip", zipped({"a": b"/etc/passwd"}, mode=stat.S_IFLNK | 0o777), "a link or a device"),
    "tar above": ("tar", tarred({"../evil": b"x"}), "leads out of its folder"),
    "tar absolute": ("tar", tarred({"/tmp/evil": b"x"}), "leads out of its folder"),
    "symlink": ("tar", tarred({"a": b""}, tarfile.SYMTYPE), "a link or a device"),
    "hard link": ("tar", tarred({"a": b""}, tarfile.LNKTYPE), "a link or a device"),
    "device": ("tar", tarred({"a": b""}, tarfile.CHRTYPE), "a link or a device"),
    "pipe": ("tar", tarred({"a": b""}, tarfile.FIFOTYPE), "a link or a device"),
    "empty": ("zip", zipped({}), "there is no file in it"),
    "no archive": ("zip", b"hello", "is damaged"),
    "cut": ("zip", zipped({"a": BODY})[:200], "is damaged"),
    "cut tar": ("tar", tarred({"a": BODY})[:500], "is damaged"),
    "page": ("tar", b"<html>please log in</html>", "is damaged"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_leave_nothing(tmp_path, name):
    kind, body, said = HOSTILE[name]
    folder = tmp_path / "inner" / "folder"
    folder.mkdir(parents=True)
    (folder / "in").write_bytes(body)
    with pytest.raises(BadFile, match=said):
        unpack(folder / "in", kind, folder / "out")
    left = [p for p in tmp_path.rglob("*") if p.is_file() and p.name != "in"]
    assert left == []


def test_bombs_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "SMALL", 1000)
    (tmp_path / "bomb.zip").write_bytes(zipped({"a": bytes(50_000_000)}))
    with pytest.raises(BadFile, match=r"claims to unpack to 0\.1 GB"):
        unpack(tmp_path / "bomb.zip", "zip", tmp_path / "out")
    body = bytearray(zipped({"a": bytes(1_000_000)}))
    at = body.index(b"PK\x01\x02")
    body[at + 24 : at + 28] = (10).to_bytes(4, "little")  # it says 10 bytes
    (tmp_path / "liar.zip").write_bytes(bytes(body))
    with pytest.raises(BadFile, match="damaged"):
        unpack(tmp_path / "liar.zip", "zip", tmp_path / "out")
    assert not [p for p in (tmp_path / "out").rglob("*") if p.is_file()]


def test_two_files_of_one_name_and_too_little_space(tmp_path, monkeypatch):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr("a", b"1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a", b"2")
    (tmp_path / "in.zip").write_bytes(memory.getvalue())
    with pytest.raises(BadFile, match="is there twice"):
        unpack(tmp_path / "in.zip", "zip", tmp_path / "out")
    (tmp_path / "in.zip").write_bytes(zipped({"a": b"1"}))
    usage = type("Usage", (), {"free": 1})
    monkeypatch.setattr(unpacking.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(CannotWrite, match="needed to unpack"):
        unpack(tmp_path / "in.zip", "zip", tmp_path / "out")


# Whole datasets.


@pytest.fixture
def manifest(site, tmp_path):
    site.files["data.zip"] = zipped({"set/a.txt": b"a"})
    site.files["truth.tgz"] = tarred({"set/b.txt": b"b"})
    site.files["notes.mat"] = b"notes"
    path = tmp_path / "tiny.toml"
    path.write_text(
        f"""
id = "tiny"
title = "A tiny set"
dataset = "folder"
folder = "set"
licence = "CC0-1.0"
terms = "Do what you like."
homepage = "{site.url}"
cite = "nobody"
[[files]]
urls = ["{site.url}/data.zip"]
unpack = "zip"
[[files]]
urls = ["{site.url}/truth.tgz"]
sha256 = "{sha(site.files["truth.tgz"])}"
unpack = "tar"
[[files]]
urls = ["{site.url}/notes.mat"]
into = "set/notes"
"""
    )
    return str(path)


def test_a_dataset_is_got_once(site, manifest, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(Misuse, match=r"Do what you like\. Accept these terms"):
        get_data(manifest, out)
    assert not out.exists()
    got = get_data(manifest, out, accept=True, wait=no_wait)
    assert got.data == out / "set"
    found = sorted(p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file())
    assert found == ["download.json", "set/a.txt", "set/b.txt", "set/notes/notes.mat"]
    assert set(got.unchecked) == {"data.zip", "notes.mat"}
    record = json.loads((out / "download.json").read_text())
    assert record["files"]["data.zip"]["sha256"] == sha(site.files["data.zip"])
    assert record["files"]["data.zip"]["sha256_from"] == "first download"
    assert record["files"]["truth.tgz"]["sha256_from"] == "manifest"
    site.asked.clear()
    again = get_data(manifest, out)  # the terms were accepted
    assert (again.fetched, len(again.known), site.asked) == ((), 3, [])


def test_a_later_download_is_compared_with_the_first(site, manifest, tmp_path):
    out = tmp_path / "out"
    get_data(manifest, out, accept=True, wait=no_wait)
    record = json.loads((out / "download.json").read_text())
    record["files"]["data.zip"]["done"] = False
    (out / "download.json").write_text(json.dumps(record))
    site.files["data.zip"] = zipped({"set/a.txt": b"something else"})
    with pytest.raises(BadFile, match="SHA-256"):
        get_data(manifest, out, wait=no_wait)
    assert (out / "set" / "a.txt").read_bytes() == b"a"


def test_a_stopped_call_goes_on(site, manifest, tmp_path):
    out = tmp_path / "out"
    truth = site.files.pop("truth.tgz")
    with pytest.raises(Unavailable, match="404"):
        get_data(manifest, out, accept=True, wait=no_wait)
    site.files["truth.tgz"] = truth
    site.asked.clear()
    got = get_data(manifest, out, wait=no_wait, keep_archives=True)
    assert [path for path, _ in site.asked] == ["truth.tgz", "notes.mat"]
    assert got.known == ("data.zip",)
    assert (out / "downloads" / "truth.tgz").is_file()


def test_another_dataset_needs_another_folder(manifest, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "download.json").write_text('{"id": "huge", "files": {}}')
    with pytest.raises(Misuse, match="has the dataset 'huge'"):
        get_data(manifest, out, accept=True)
    (out / "download.json").write_text("[]")
    with pytest.raises(BadFile, match="not a record of a download"):
        get_data(manifest, out, accept=True)


# Manifests.


@pytest.mark.parametrize("name", names())
def test_manifests_of_the_package_are_whole(name):
    found = find_manifest(name)
    assert found.id == name
    assert found.terms.endswith(".")
    assert not found.dataset or found.dataset in DATASETS
    assert all(url.startswith("http") for file in found.files for url in file.urls)


def test_bad_manifests_are_explained(tmp_path):
    with pytest.raises(UnknownName, match="Did you mean 'sintel'"):
        find_manifest("sintl")
    path = tmp_path / "x.toml"
    path.write_text('id = "x"\nfiles = [{urls = ["ftp://a/b"], into = "../c", size = "big"}]\n')
    with pytest.raises(BadFile) as error:
        find_manifest(str(path))
    said = str(error.value)
    for word in ("title", "licence", "http://", "stay inside", "size"):
        assert word in said
