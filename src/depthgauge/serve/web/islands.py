"""The front end's scripts: which one a page loads, and the files themselves (docs/web.md)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

from fastapi import APIRouter
from fastapi.responses import Response

from depthgauge.errors import Refused
from depthgauge.io.text import parse_json

islands = APIRouter(include_in_schema=False)

_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}


@dataclass(frozen=True, slots=True)
class Entry:
    """The one script of a page."""

    address: str
    integrity: str
    """Its hash, as a browser checks it."""


@functools.cache
def entry() -> Entry:
    """The script that loads what a page needs."""
    manifest = parse_json(_folder().joinpath("manifest.json").read_text("utf-8"))
    name = manifest["entry"]
    return Entry(f"/static/islands/{name}", manifest["files"][name]["integrity"])


@islands.get("/static/islands/{name}")
def island(name: str) -> Response:
    """One file of the bundle; names change with the content, so browsers may keep it.

    Raises:
        Refused: The bundle has no such file.
    """
    content = _files().get(name)
    if content is None:
        raise Refused("not-found", "There is no such file")
    kind = "text/javascript" if name.endswith(".js") else "text/plain"
    return Response(content, media_type=kind, headers=_FOREVER)


@functools.cache
def _files() -> dict[str, bytes]:
    """Every script and the licences; read once, so that no request reaches the disk."""
    names = (each for each in _folder().iterdir() if each.name != "manifest.json")
    return {each.name: each.read_bytes() for each in names}


def _folder() -> Traversable:
    return resources.files("depthgauge.serve").joinpath("static", "islands")
