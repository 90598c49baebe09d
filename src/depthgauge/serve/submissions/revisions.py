"""Notices that a benchmark's scores mean something else than when they were made.

That is so if the protocol has another hash, as after a metric was revised in a new version, or if
the truth is another one. Then all entries are scored again. What the truth was is known here, on
the workers' side, and nowhere else.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from depthgauge._canonical import hash_json
from depthgauge.benchmarks import make_protocol
from depthgauge.datasets import truth_hash
from depthgauge.engine.scoring.samples import samples_of
from depthgauge.errors import DepthgaugeError
from depthgauge.serve.site import Site
from depthgauge.serve.storage.database import Database
from depthgauge.serve.submissions import rescoring
from depthgauge.serve.submissions.registry import (
    Registered,
    known_benchmarks,
    read_body,
    registered,
    write_body,
)


def notice_changes(site: Site, database: Database, *, wait: bool = False) -> list[str]:
    """Has the entries of all benchmarks that have changed scored again; returns their ids.

    Args:
        site: The site.
        database: Its database.
        wait: Waits for another worker that looks at the same time; else leaves it to that one.
    """
    with _alone(site, wait) as mine:
        if not mine:
            return []
        return [name for name in known_benchmarks(database) if _notice(site, database, name)]


def _notice(site: Site, database: Database, benchmark_id: str) -> bool:
    try:
        body = read_body(site, benchmark_id)
        reason = _reason(site, benchmark_id, body)
    except (DepthgaugeError, OSError):
        return False  # data that is away or half copied is no other data; scoring says so
    if reason:
        begin(site, database, benchmark_id, reason)
    return bool(reason)


def _reason(site: Site, benchmark_id: str, body: dict[str, Any]) -> str:
    """Why the entries are to be scored again; empty: they are not."""
    if body.get("pending"):
        return str(body["pending"])
    protocol = make_protocol(body["protocol"], benchmark_id)
    if protocol.hash != body["protocol_hash"]:
        return "protocol"
    found = registered(body, benchmark_id)
    files = files_hash(found.truth)
    if files == body.get("truth_files"):
        return ""
    truth = whole_truth_hash(found)
    before = body.get("truth_hash")
    if before is not None and truth != before:
        return "truth"
    write_body(site, benchmark_id, {**body, "truth_files": files, "truth_hash": truth})
    return ""


def begin(site: Site, database: Database, benchmark_id: str, reason: str) -> int:
    """Takes the protocol and the truth as they are now, and has all entries scored again.

    If it is interrupted, the mark in the workers' file has it begun again.

    Returns:
        How many entries there are.
    """
    body = read_body(site, benchmark_id)
    protocol = make_protocol(body["protocol"], benchmark_id)
    body |= {"protocol_hash": protocol.hash, "pending": reason}
    write_body(site, benchmark_id, body)
    found = registered(body, benchmark_id)
    body |= {"truth_files": files_hash(found.truth), "truth_hash": whole_truth_hash(found)}
    count = rescoring.begin(database, benchmark_id, reason)
    write_body(site, benchmark_id, {**body, "pending": ""})
    return count


def files_hash(folder: Path) -> str:
    """Names, sizes and times of all files: a quick look at whether anything may have changed."""
    listed = []
    for place, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = Path(place) / name
            about = path.stat()
            listed.append([str(path.relative_to(folder)), about.st_size, about.st_mtime_ns])
    return hash_json(listed)


def whole_truth_hash(found: Registered) -> str:
    """The hash of all truth of a benchmark, whatever files it is in."""
    samples = samples_of(found.protocol, found.truth)
    return hash_json({one.id: truth_hash(one.fresh()) for one in samples})


@contextmanager
def _alone(site: Site, wait: bool) -> Iterator[bool]:
    """One worker at a time: yields whether it is this one."""
    with open(site.workers / "revisions.lock", "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True
