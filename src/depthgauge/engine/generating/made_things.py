"""What generators of many pairs or scenes share: the record of a set, and jobs on any executor."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from depthgauge import io
from depthgauge._progress import Progress
from depthgauge.engine.running.executors import EXECUTORS
from depthgauge.engine.running.jobs import Job, Jobs
from depthgauge.engine.running.run import Where, default_workers
from depthgauge.errors import BadData, CannotWrite
from depthgauge.io.text import read_json


def begin_set(
    out: Path,
    record: Path,
    body: Mapping[str, Any],
    what: str,
    *,
    remove: Callable[[], None] | None = None,
    others: str = "",
) -> None:
    """Writes the record of a set, or compares it with the one that is there.

    Args:
        out: The folder.
        record: The file in it that has the options of the set.
        body: These options.
        what: What the set has, for messages: "pairs".
        remove: Removes an older set; None: one with other options is refused.
        others: Names (a glob pattern) of records of other sets that may share the folder.

    Raises:
        CannotWrite: The folder has a set of other options, or something else.
    """
    if out.exists() and not out.is_dir():
        raise CannotWrite(f"{out}: is a file; give a folder.")
    plain = json.loads(json.dumps(body))
    if remove is not None and record.is_file():
        remove()
    if record.is_file():
        _require_same(out, read_json(record), plain, what)
        return
    shared = bool(others) and any(out.glob(others))
    if out.is_dir() and any(out.iterdir()) and not shared:
        raise CannotWrite(f"{out}: has other files in it; give an empty or a new folder.")
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        io.write_text(record, json.dumps(plain, indent=1) + "\n")
    except OSError as error:
        raise CannotWrite(f"{out}: {error.strerror or error}; give another folder.") from error


def _require_same(out: Path, found: Any, body: Mapping[str, Any], what: str) -> None:
    if found == body:
        return
    known = found if isinstance(found, dict) else {}
    keys = ", ".join(key for key in body if known.get(key) != body[key])
    raise CannotWrite(
        f"{out}: has {what} made with other options ({keys}); give --overwrite to replace them, or "
        "another folder."
    )


def make_things(
    jobs: Jobs,
    numbers: Sequence[int],
    title: Callable[[int], str],
    *,
    root: Path,
    workers: int,
    cluster: str | None,
    progress: Progress | None,
) -> list[str]:
    """Makes those things that are not there; returns why some could not be made.

    Args:
        jobs: What makes a thing; the id of a job is its number.
        numbers: Which things.
        title: What a thing is called.
        root: The folder that workers write to.
        workers: Worker processes; 0: one for each core.
        cluster: The address of a dask scheduler, in place of worker processes.
        progress: Called as things are done.

    Raises:
        BadData: Workers write to another folder.
    """
    left = [job for number in numbers if not jobs.is_done(job := Job(str(number)))]
    done, broken = len(numbers) - len(left), []
    if progress is not None:
        progress("starting", done, len(numbers))
    if not left:
        return []
    name, given = Where(min(workers or default_workers(), len(left)), cluster).choice()
    executor = EXECUTORS[name]
    checked = executor.spec.options.checked(given, f"executor '{name}'")
    with closing(executor.run(jobs, left, checked)) as events:  # type: ignore[type-var]  # generators
        for event in events:
            done += 1
            thing = title(int(event.task))
            if event.broken:
                broken.append(f"{thing}: {event.broken.rstrip('.')}")
            elif not jobs.is_done(Job(event.task)):
                raise BadData(
                    f"{root}: a worker wrote {thing} elsewhere; the folder must be on storage that "
                    "all machines share, under the same path."
                )
            if progress is not None:
                progress(thing, done, len(numbers))
    return broken


def require_whole(broken: Sequence[str], count: int, what: str) -> None:
    """Raises BadData with the first reason where something could not be made."""
    if not broken:
        return
    more = f" ({len(broken)} of {count} {what})" if len(broken) > 1 else ""
    raise BadData(f"{broken[0]}{more}; finished {what} are kept; run the same command again.")
