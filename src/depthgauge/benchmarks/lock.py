"""The lock: a benchmark that changes gets a new version, so that old numbers keep their meaning.

`python -m depthgauge.benchmarks.lock` writes the hashes of new versions into LOCK and refuses to
change the hash of a version that is already there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from depthgauge.benchmarks import BENCHMARKS, Protocol
from depthgauge.errors import BadProtocol, Problem
from depthgauge.io import write_text

PATH = Path(__file__).parent / "LOCK"


def read_lock(path: Path = PATH) -> dict[str, dict[str, str]]:
    """Benchmark id -> version -> protocol hash."""
    found: dict[str, dict[str, str]] = json.loads(path.read_text()) if path.exists() else {}
    return found


def compare(locked: dict[str, dict[str, str]]) -> list[Problem]:
    """The differences between the lock and the current benchmarks."""
    problems = []
    for name, protocol in _own():
        known = locked.get(name, {}).get(str(protocol.version))
        if known is None:
            hint = "run: python -m depthgauge.benchmarks.lock"
            problems.append(Problem(name, f"version {protocol.version} is not locked", hint))
        elif known != protocol.hash:
            hint = "raise its version and list what moves under Scores in the CHANGELOG"
            problems.append(Problem(name, f"changed within version {protocol.version}", hint))
    return problems


def _own() -> Iterator[tuple[str, Protocol]]:
    """The benchmarks of this package; other packages lock their own."""
    for name in BENCHMARKS:
        if BENCHMARKS.path(name).parent == PATH.parent.resolve():
            yield name, BENCHMARKS[name]


def update(path: Path = PATH) -> None:
    """Locks new versions; a version that has changed is an error."""
    locked = read_lock(path)
    changed = [p for p in compare(locked) if p.what.startswith("changed")]
    if changed:
        raise BadProtocol(str(path), changed)
    for name, protocol in _own():
        locked.setdefault(name, {})[str(protocol.version)] = protocol.hash
    write_text(path, json.dumps(locked, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    update()
