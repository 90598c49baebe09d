"""Sends a folder of estimates to a site; needs nothing but the standard library."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from depthgauge._progress import Progress
from depthgauge.errors import BadData, CannotWrite, Misuse, Refused

_SUFFIXES = (".npy", ".pfm", ".png", ".flo", ".exr", ".tif", ".tiff")
_BESIDE = "estimate.json"
_BLOCK = 1 << 20
_TRIES = 6
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def submit(
    url: str,
    benchmark: str,
    folder: Path,
    *,
    token: str,
    method: str,
    version: str = "",
    details: Mapping[str, str] | None = None,
    accept_terms: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Packs a folder of estimates, uploads it and puts it into the queue of a site.

    An upload that was interrupted goes on where it stopped, also with another call.

    Args:
        url: The address of the site.
        benchmark: The id of the benchmark there.
        folder: The estimates: `<sample>/<quantity>.npy`, or another layout of the benchmark.
        token: A token of your account with the scope `submit`.
        method: The name of the method.
        version: Of the method.
        details: What the form on the site asks: `title`, `description`, `setup`, `language`,
            `environment`, `runtime`, `link`, `code`, `publication`, `authors`, `venue`, `paper`,
            `bibtex`.
        accept_terms: Accepts the terms of the benchmark, which its page shows.
        dry_run: Only have it checked.
        progress: Called as bytes are sent.

    Returns:
        The submission as the site shows it, with its `id` and `state`.

    Raises:
        Refused: The site does not take it; the text says why.
        BadData: There is nothing to send, or the site does not answer.
    """
    site = SiteClient(url, token)
    with tempfile.TemporaryDirectory() as name:
        archive = Path(name) / "estimates.zip"
        pack(folder, archive)
        with open(archive, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = archive.stat().st_size
        announced = {"size": size, "sha256": digest}
        upload = site.ask("POST", f"benchmarks/{_quoted(benchmark)}/uploads", announced)
        _send(site, archive, upload, progress)
    entry = {"method": method, "version": version, "details": dict(details or {})}
    sent = site.ask(
        "POST",
        f"uploads/{upload['id']}/submit",
        {**entry, "dry_run": dry_run, "accept_terms": accept_terms},
    )
    return dict(sent)


def pack(folder: Path, archive: Path) -> None:
    """Packs the maps of a folder; the same files always give the same bytes.

    Raises:
        BadData: There is no map in it.
        CannotWrite: There is no room for the archive.
    """
    files = sorted(p for p in folder.rglob("*") if p.is_file() and _is_sent(p))
    if not any(p.suffix.lower() in _SUFFIXES for p in files):
        raise BadData(f"{folder}: no map in it; expected one of {', '.join(_SUFFIXES)}.")
    try:
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
            for path in files:
                entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _LONG_AGO)
                entry.compress_type = zipfile.ZIP_DEFLATED
                with open(path, "rb") as source, made.open(entry, "w", force_zip64=True) as packed:
                    while block := source.read(_BLOCK):
                        packed.write(block)
    except OSError as error:
        raise CannotWrite(f"{archive}: cannot be written ({error.strerror}).") from error


def _is_sent(path: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.parts[-2:])
    return not hidden and (path.suffix.lower() in _SUFFIXES or path.name == _BESIDE)


def _send(
    site: SiteClient, archive: Path, upload: dict[str, Any], progress: Progress | None
) -> None:
    size, place = archive.stat().st_size, f"uploads/{upload['id']}"
    done, failures = int(upload["received"]), 0
    with open(archive, "rb") as file:
        while done < size:
            file.seek(done)
            piece = file.read(int(upload["piece_bytes"]))
            try:
                done = int(site.ask("PUT", f"{place}?offset={done}", piece)["received"])
                failures = 0
            except BadData:  # the network; the site knows how far we are
                failures += 1
                if failures == _TRIES:
                    raise
                time.sleep(min(0.5 * 2**failures, 20))
                done = int(site.ask("GET", place)["received"])
            if progress is not None:
                progress("sending", done, size)


class SiteClient:
    """Asks a site's API."""

    def __init__(self, url: str, token: str = "") -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise Misuse(f"'{url}' is no address of a site; write https://depth.example.org")
        if token and parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1"):
            raise Misuse(f"{url}: a token is sent over https only; use the https address")
        self._base = f"{parts.scheme}://{parts.netloc}/api"
        self._token = token
        # A token goes to the site that it is for, and nowhere else.
        self._opener = urllib.request.build_opener(_NoRedirects)

    def ask(self, verb: str, path: str, body: Any = None) -> Any:
        """The answer to a request.

        Raises:
            Refused: The site says no, and why.
            BadData: It does not answer, or not as a site does.
        """
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        is_plain = body is None or isinstance(body, bytes)
        data: bytes | None = body if is_plain else json.dumps(body).encode()
        headers["Content-Type"] = "application/octet-stream" if is_plain else "application/json"
        request = urllib.request.Request(  # http and https only, see above
            f"{self._base}/{path}", data, headers, method=verb
        )
        try:
            with self._opener.open(request, timeout=60) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise _refusal(self._base, error) from None
        except (OSError, ValueError) as error:
            raise BadData(f"{self._base}: does not answer as a site ({error}).") from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any, **_more: Any) -> None:
        return None


def _refusal(base: str, error: urllib.error.HTTPError) -> Refused | BadData:
    try:
        body = json.loads(error.read())
        return Refused(str(body["code"]), str(body["error"]))
    except (ValueError, KeyError, TypeError, OSError):
        return BadData(f"{base}: answers with {error.code}; is it the address of a site?")


def _quoted(name: str) -> str:
    return urllib.parse.quote(name, safe="")
