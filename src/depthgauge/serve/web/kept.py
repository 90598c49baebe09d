"""What workers drew, as files: only for those who may see the submission."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from depthgauge.errors import DepthgaugeError, Refused
from depthgauge.io.text import parse_json
from depthgauge.serve.exhibits import queue
from depthgauge.serve.exhibits.pack import INDEX, read_member
from depthgauge.serve.site import Site
from depthgauge.serve.storage.database import reading
from depthgauge.serve.storage.models import User
from depthgauge.serve.web import views
from depthgauge.serve.web.security import visitor, web_of

kept = APIRouter(include_in_schema=False)

_KEY = 16
"""Characters of a pack's hash in addresses: another drawing has other addresses."""
# `private`: a cache that several people share may not keep what some of them may not see.
_HEADERS = {"Cache-Control": "private, max-age=31536000, immutable"}
_TYPES = {
    ".webp": "image/webp",
    ".png": "image/png",
    ".json": "application/json",
    ".dgpc": "application/octet-stream",
    ".npz": "application/octet-stream",
}


@dataclass(frozen=True)
class Exhibit:
    """What was drawn of a submission, or of the samples of a benchmark."""

    base: str
    """Where its files are: `/submissions/ID/kept/KEY/`."""
    index: Mapping[str, Any]
    pack: Path

    def sample(self, name: str) -> Mapping[str, Any] | None:
        """What was drawn of a sample."""
        return next((each for each in self.index["samples"] if each["id"] == name), None)

    def read(self, name: str) -> bytes:
        """The content of a file; empty if there is none."""
        return read_member(self.pack, name) or b""


def exhibit_of_submission(site: Site, session: Session, submission_id: str) -> Exhibit | None:
    """What was drawn of a submission; None if nothing was (yet)."""
    sha256 = queue.pack_of(session, queue.of_submission(submission_id))
    return _open(site, sha256, f"/submissions/{submission_id}")


def exhibit_of_benchmark(site: Site, session: Session, benchmark_id: str) -> Exhibit | None:
    """What was drawn of the samples of a benchmark; None if nothing was (yet)."""
    sha256 = queue.pack_of(session, queue.of_benchmark(benchmark_id))
    return _open(site, sha256, f"/benchmarks/{benchmark_id}")


def _open(site: Site, sha256: str, place: str) -> Exhibit | None:
    if not sha256:
        return None
    pack = site.blobs.path(sha256)
    index = _index(pack)
    return None if index is None else Exhibit(f"{place}/kept/{sha256[:_KEY]}/", index, pack)


@functools.lru_cache(maxsize=64)
def _index(pack: Path) -> Mapping[str, Any] | None:
    """The index of a pack, read once: packs never change."""
    try:
        content = read_member(pack, INDEX)
    except DepthgaugeError:
        return None
    found: Mapping[str, Any] | None = None if content is None else parse_json(content.decode())
    return found


def cell_picture(site: Site, session: Session, submission_id: str, sample: str) -> str:
    """The address of a sample's error picture; empty if there is none."""
    found = exhibit_of_submission(site, session, submission_id)
    drawn = None if found is None else found.sample(sample)
    if found is None or drawn is None:
        return ""
    files = {each["kind"]: each["file"] for each in drawn["pictures"]}
    name = files.get("error") or files.get("lines") or files.get("estimate") or ""
    return f"{found.base}{name}" if name else ""


def card_picture(site: Site, session: Session, benchmark_id: str) -> str:
    """The address of a picture that stands for a benchmark; empty if there is none."""
    found = exhibit_of_benchmark(site, session, benchmark_id)
    if found is None or not found.index["samples"] or not found.index["samples"][0]["inputs"]:
        return ""
    return f"{found.base}{found.index['samples'][0]['inputs'][0]['file']}"


@kept.get("/submissions/{submission_id}/kept/{key}/{name:path}")
def of_submission(
    request: Request,
    submission_id: str,
    key: str,
    name: str,
    user: Annotated[User | None, Depends(visitor)],
) -> Response:
    """A file of a submission that the visitor may see."""
    web = web_of(request)
    with reading(web.database) as session:
        views.find_submission(session, user, submission_id)
        sha256 = queue.pack_of(session, queue.of_submission(submission_id))
    return _answer(web.site, sha256, key, name)


@kept.get("/benchmarks/{benchmark_id}/kept/{key}/{name:path}")
def of_benchmark(request: Request, benchmark_id: str, key: str, name: str) -> Response:
    """A file of the samples of a benchmark."""
    web = web_of(request)
    with reading(web.database) as session:
        views.find_benchmark_row(session, benchmark_id)
        sha256 = queue.pack_of(session, queue.of_benchmark(benchmark_id))
    return _answer(web.site, sha256, key, name)


def _answer(site: Site, sha256: str, key: str, name: str) -> Response:
    kind = _TYPES.get(PurePosixPath(name).suffix)
    content = None
    if sha256 and key == sha256[:_KEY] and kind is not None:
        try:
            content = read_member(site.blobs.path(sha256), name)
        except DepthgaugeError:
            content = None
    if content is None:
        raise Refused("not-found", "There is no such file")
    return Response(content, media_type=kind, headers=_HEADERS)
