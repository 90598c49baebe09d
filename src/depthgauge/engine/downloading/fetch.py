"""One file over HTTP: continued where it stopped, compared with its size and SHA-256."""

from __future__ import annotations

import hashlib
import http.client
import json
import shutil
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from depthgauge._version import __version__
from depthgauge.engine.downloading.manifest import RemoteFile
from depthgauge.errors import BadFile, CannotWrite, Unavailable

Progress = Callable[[int, int | None], None]
"""Called with the bytes that are there, and with all of them where that is known."""
_BLOCK = 1 << 18
_TIMEOUT_S = 30.0
_TRIES = 5
"""Attempts in a row that bring nothing new."""
_RESERVE = 64 << 20
"""Bytes that stay free on the disk."""
_OK, _PART, _BEYOND = 200, 206, 416


@dataclass(frozen=True)
class Fetched:
    """A file that is there and is what it should be."""

    path: Path
    size: int
    sha256: str
    checked: bool
    """Whether its hash was known before."""
    url: str


class _Broken(Exception):
    """The connection ended; the rest may come with the next one."""


class _NoDowngrade(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but never from https to http or to a file."""

    def redirect_request(
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str
    ) -> Any:
        scheme = urlsplit(newurl).scheme
        if scheme not in ("http", "https") or (req.type == "https" and scheme != "https"):
            raise urllib.error.URLError(f"it leads to {newurl}, which is not safe")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_NoDowngrade)


def fetch(
    file: RemoteFile,
    folder: Path,
    *,
    expected: str | None = None,
    progress: Progress | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> Fetched:
    """Downloads a file, or the rest of it.

    Args:
        file: Where it is, and what is known about it.
        folder: Where it goes; an unfinished one has `.part` after its name.
        expected: Its SHA-256 from an earlier download, where the manifest has none.
        progress: Called while it is read.
        wait: Waits that many seconds between attempts.

    Raises:
        Unavailable: No place can be reached, or all answer with an error; says what to do.
        BadFile: What came is not the file: another size or hash. It is deleted.
        CannotWrite: The disk has too little space.
    """
    path = folder / file.file_name
    wanted = file.sha256 or expected
    if path.is_file():
        return _checked(file, path, wanted, "", progress)
    problems = []
    for url in file.urls:
        try:
            _read_all(url, file, path, progress, wait)
            return _checked(file, path, wanted, url, progress)
        except Unavailable as error:
            problems.append(str(error))
    raise Unavailable(
        f"{' '.join(problems)} What has come is kept, and the same command continues; or download "
        f"{file.urls[0]} in another way and put it into {folder} as {file.file_name}."
    )


def _read_all(
    url: str,
    file: RemoteFile,
    path: Path,
    progress: Progress | None,
    wait: Callable[[float], None],
) -> None:
    """Reads until all of it is there; gives up after some attempts without a new byte."""
    part = path.with_name(f"{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    idle, why = 0, ""
    while idle < _TRIES:
        before = part.stat().st_size if part.is_file() else 0
        try:
            if _read_on(url, file, part, progress):
                part.replace(path)
                _marks_file(part).unlink(missing_ok=True)
                return
        except _Broken as error:
            why = str(error)
        after = part.stat().st_size if part.is_file() else 0
        idle = 0 if after > before else idle + 1
        if idle < _TRIES:
            wait(min(2.0**idle, 30.0))
    raise Unavailable(f"{url}: {why}.")


def _read_on(url: str, file: RemoteFile, part: Path, progress: Progress | None) -> bool:
    """One connection; True if the file is complete."""
    there = part.stat().st_size if part.is_file() else 0
    marks = _marks(part)
    if there and marks.get("url") != url:
        there = 0  # begun elsewhere: its bytes may be those of another version
    try:
        with _open(url, there, marks) as answer:
            status = int(answer.status)
            whole = _whole_size(answer, status, there)
            if status == _PART and _start(answer) != there:
                raise _Broken("the server sent another part than was asked for")
            if status == _OK:
                there = 0
            _require_size(url, file, whole)
            _require_space(part, None if whole is None else whole - there)
            tag = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
            _marks_file(part).write_text(json.dumps({"url": url, "tag": tag}), encoding="utf-8")
            with open(part, "ab" if there else "wb") as out:
                there = _copy(answer, out, there, whole, progress)
    except urllib.error.HTTPError as error:
        return _after_error(url, error, part, there)
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        if isinstance(error, OSError) and error.errno == 28:
            raise CannotWrite(
                f"{part}: the disk is full; make room and repeat the command."
            ) from None
        if isinstance(getattr(error, "reason", None), socket.gaierror):
            raise Unavailable(f"{url}: {_reason(url, error)}.") from None
        raise _Broken(_reason(url, error)) from None
    return whole is None or there == whole


def _open(url: str, there: int, marks: Mapping[str, str]) -> Any:
    headers = {"User-Agent": f"depthgauge/{__version__}", "Accept-Encoding": "identity"}
    if there:
        headers["Range"] = f"bytes={there}-"
        if tag := marks.get("tag"):
            headers["If-Range"] = tag
    request = urllib.request.Request(url, headers=headers)  # http and https only: the manifest
    return _OPENER.open(request, timeout=_TIMEOUT_S)


def _copy(
    answer: Any, out: BinaryIO, there: int, whole: int | None, progress: Progress | None
) -> int:
    while True:
        block = answer.read(_BLOCK)
        if not block:
            return there
        there += len(block)
        if whole is not None and there > whole:
            raise _Broken("the server sent more than it announced")
        out.write(block)
        if progress is not None:
            progress(there, whole)


def _after_error(url: str, error: urllib.error.HTTPError, part: Path, there: int) -> bool:
    if error.code == _BEYOND and there:
        part.unlink(missing_ok=True)  # longer than the file is now: begin again
        raise _Broken("the file has changed on the server") from None
    if error.code >= 500 or error.code in (408, 429):
        raise _Broken(f"the server answers {error.code} {error.reason}") from None
    raise Unavailable(f"{url}: the server answers {error.code} {error.reason}.") from None


def _whole_size(answer: Any, status: int, there: int) -> int | None:
    if status == _PART:
        total = str(answer.headers.get("Content-Range", "")).rpartition("/")[2]
        return int(total) if total.isdecimal() else None
    length = answer.headers.get("Content-Length", "")
    return int(length) if str(length).isdecimal() else None


def _start(answer: Any) -> int:
    said = str(answer.headers.get("Content-Range", "")).partition(" ")[2].partition("-")[0]
    return int(said) if said.isdecimal() else -1


def _require_size(url: str, file: RemoteFile, whole: int | None) -> None:
    if file.size is not None and whole is not None and whole != file.size:
        raise Unavailable(
            f"{url}: has {whole:,} bytes now, and {file.size:,} were expected; it is another file."
        )


def _require_space(part: Path, needed: int | None) -> None:
    free = shutil.disk_usage(part.parent).free
    if needed is not None and needed + _RESERVE > free:
        raise CannotWrite(
            f"{part.parent}: {needed / 1e9:.2f} GB are needed and {free / 1e9:.2f} GB are free; "
            "make room, or choose another folder with --out."
        )


def _reason(url: str, error: Exception) -> str:
    host = urlsplit(url).hostname
    inner = error.reason if isinstance(error, urllib.error.URLError) else error
    said = " ".join(str(inner).split()) or type(inner).__name__
    return f"{host} cannot be reached, or the connection broke ({said}); check the network"


def _checked(
    file: RemoteFile, path: Path, wanted: str | None, url: str, progress: Progress | None
) -> Fetched:
    """The file, if it is the expected one; otherwise it is deleted."""
    size = path.stat().st_size
    if file.size is not None and size != file.size:
        path.unlink()
        raise BadFile(
            f"{path}: has {size:,} bytes, and {file.size:,} were expected; it was deleted."
        )
    found = file_sha256(path)
    if wanted is not None and found != wanted:
        path.unlink()
        raise BadFile(
            f"{path}: its SHA-256 is {found[:12]}..., and {wanted[:12]}... was expected; it was "
            "deleted. Repeat the command; if this happens again, the file has changed."
        )
    if progress is not None:
        progress(size, size)
    return Fetched(path, size, found, wanted is not None, url)


def file_sha256(path: Path) -> str:
    """The hash of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _marks_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _marks(part: Path) -> dict[str, str]:
    """What is known about an unfinished file."""
    with suppress(OSError, ValueError):
        found = json.loads(_marks_file(part).read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return {str(name): str(value) for name, value in found.items()}
    return {}
