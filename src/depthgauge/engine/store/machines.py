"""The machines that took part in a run, one small file each, written where the work is done."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from depthgauge import __version__
from depthgauge._confine import hiding_way
from depthgauge.engine.store.sanitize import cut
from depthgauge.io import write_text
from depthgauge.io.text import parse_json

_FOLDER = "machines"
_PACKAGES = ("numpy", "numba", "scipy", "opencv-python-headless", "pyarrow")


def versions() -> dict[str, str]:
    """This machine and what is installed on it."""
    found = {"depthgauge": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return {**found, "platform": platform.platform(), "host": cut(platform.node())}


def record_machine(folder: Path) -> None:
    """Takes down that this machine works on a run, and how it can hide folders from methods."""
    body = {**versions(), "hidden_by": hiding_way()}
    name = re.sub(r"[^\w.-]", "_", body["host"]) or "unknown"
    place = folder / _FOLDER / f"{name}.json"
    if _read(place) != body:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_text(place, json.dumps(body, indent=1) + "\n")


def read_machines(folder: Path) -> list[Mapping[str, Any]]:
    """All machines that took part, in the order of their names."""
    found = (_read(place) for place in sorted((folder / _FOLDER).glob("*.json")))
    return [body for body in found if body is not None]


def _read(place: Path) -> Mapping[str, Any] | None:
    with suppress(OSError, ValueError, RecursionError):
        body = parse_json(place.read_text(encoding="utf-8"))
        return body if isinstance(body, dict) else None
    return None
