"""A worker: takes submissions from the queue, checks them in the sandbox, scores them.

`python -m depthgauge.serve.submissions.worker` is a process of its own, the only kind that reads
hidden truth.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy.exc import InterfaceError, OperationalError

from depthgauge.datasets import DATASETS, read_estimate
from depthgauge.engine.scoring.evaluate import evaluate
from depthgauge.engine.scoring.samples import samples_of
from depthgauge.errors import DepthgaugeError, DepthgaugeWarning
from depthgauge.quantities import CONFIDENCE, QUANTITIES
from depthgauge.serve.exhibits.keeper import Keeper
from depthgauge.serve.lockout import hidden_folders
from depthgauge.serve.site import Site
from depthgauge.serve.storage.database import Database
from depthgauge.serve.submissions import queue, rescoring
from depthgauge.serve.submissions.fingerprints import compare_and_keep, fingerprint
from depthgauge.serve.submissions.queue import LEASE_S, Job, Outcome
from depthgauge.serve.submissions.registry import Registered, read_registered
from depthgauge.serve.submissions.release import released
from depthgauge.serve.submissions.revisions import notice_changes
from depthgauge.serve.submissions.sandbox import inside_density

CHECK_S = 900
"""The most time that reading an archive may take."""
_GIB = 1 << 30
LIMITS = {"AS": 8 * _GIB, "CPU": CHECK_S, "FSIZE": 8 * _GIB, "CORE": 0}
_IDLE_S = 1.0
_LOOK_S = 60.0
"""How often a worker looks whether a protocol or a truth has changed."""
_MOST_LOG = 100_000
_LEAST_FREE = 64 << 20
_STARTS = 5


def work(
    site: Site,
    database: Database,
    *,
    step: Callable[[], bool] | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Works until it is told to stop; finishes what it has begun.

    Args:
        site: The site.
        database: Its database.
        step: Does something, or says False if there is nothing; by default `work_once`.
        stop: Ends it.
    """
    stop = stop or threading.Event()
    step = step or (lambda: work_once(site, database))
    keeper = Keeper(site, database)
    notice_changes(site, database, wait=True)
    looked = time.monotonic()
    try:
        while not stop.is_set():
            busy = step()
            keeper.tend(idle=not busy)
            if time.monotonic() - looked > _LOOK_S:
                notice_changes(site, database)
                looked = time.monotonic()
            if not busy:
                stop.wait(_IDLE_S)
    finally:
        keeper.close()


def work_once(site: Site, database: Database) -> bool:
    """Takes and ends one submission, or an entry that is scored again; False if there is none."""
    job = take(site, database)
    if job is None:
        return False
    with _renewing(database, job):
        outcome = try_process(site, job)
    finish(site, database, job, outcome)
    return outcome is not None


def take(site: Site, database: Database) -> Job | None:
    """What is to be done next: entries that are scored again come first."""
    rescoring.switch_finished(site, database)
    return rescoring.take(database) or queue.take(database)


def renew(database: Database, job: Job) -> bool:
    """Keeps a lease; False if it is lost."""
    if job.rescoring is None:
        return queue.renew(database, job)
    return rescoring.renew(database, job)


def finish(site: Site, database: Database, job: Job, outcome: Outcome | None) -> None:
    """Writes how a job ended; None: it did not, and is tried again.

    A database that is away is waited for as long as the lease may hold: else work that is done
    would be lost. Whether it was written before the connection broke does not matter: the lease
    decides.
    """
    end = time.monotonic() + LEASE_S
    while True:
        try:
            return _write_end(site, database, job, outcome)
        except (OperationalError, InterfaceError):
            if time.monotonic() > end:
                raise
            time.sleep(_IDLE_S)


def _write_end(site: Site, database: Database, job: Job, outcome: Outcome | None) -> None:
    part = queue if job.rescoring is None else rescoring
    if outcome is None:
        part.release(database, job)
        return
    part.end(database, job, outcome)
    if job.rescoring is not None:
        rescoring.switch_finished(site, database)


def try_process(site: Site, job: Job) -> Outcome | None:
    """Checks and scores one submission; None if this machine cannot now, as with a full disk."""
    try:
        return process(site, job)
    except FileNotFoundError:
        write_log(site, job, traceback.format_exc())
    except OSError:
        with suppress(OSError):  # where there is no room there is none for a log either
            write_log(site, job, traceback.format_exc())
        return None
    except Exception:  # whatever it is: the author gets a message, the admin the log
        write_log(site, job, traceback.format_exc())
    return Outcome("failed", "not-scored")


def process(site: Site, job: Job) -> Outcome:
    """Checks and scores one submission; writes nothing but its log."""
    found = read_registered(site, job.benchmark)
    _require_folders(found)
    with tempfile.TemporaryDirectory(dir=site.workers / "jobs") as name:
        folder = Path(name)
        site.archives.fetch(job.archive, folder / "archive.zip")
        report = run_sandbox(site, job, task_of(site, found, folder))
        if report is None:
            _require_room(site)
            return Outcome("failed", "too-long")
        if report["archive"]:
            listed = [{"sample": "", "problem": text, "do": ""} for text in report["archive"]]
            return Outcome("failed", "archive", listed)
        if report["check"]:
            return Outcome("failed", "check", report["check"])
        if report["sparse"]:
            return Outcome("failed", "sparse", _sparse(report["sparse"], found))
        if job.dry_run:
            return Outcome("scored", "dry-run")
        if (why := distrust(found, folder / "estimates")) is not None:
            write_log(site, job, f"the sandbox said one thing and did another: {why}")
            return Outcome("failed", "not-scored")
        return _score(site, job, found, folder / "estimates")


def _require_folders(found: Registered) -> None:
    """If a disk is not there, submissions wait for it; it is not the author's fault."""
    for folder in (found.data, found.truth):
        if not folder.is_dir():
            raise OSError(errno.ENODEV, "the data of the benchmark is not there", str(folder))


def _require_room(site: Site) -> None:
    """If the sandbox died since the disk is full, it is not the author's fault."""
    if shutil.disk_usage(site.workers).free < _LEAST_FREE:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(site.workers))


def task_of(site: Site, found: Registered, folder: Path) -> dict[str, Any]:
    """What the sandbox is to do, and what it must not see."""
    others = [path for path in (site.workers / "jobs").iterdir() if path != folder]
    own = [site.workers / name for name in ("benchmarks", "logs", "fingerprints")]
    hide = [site.web, *own, *others]
    return {
        "archive": str(folder / "archive.zip"),
        "folder": str(folder),
        "protocol": found.protocol.model_dump(mode="json", exclude_unset=True),
        "data": str(found.data),
        "least_density": 0.0 if found.hidden is None else found.protocol.hidden.least_density,
        "hide": [str(path) for path in (*hide, *hidden_folders(site))],
        "limits": LIMITS,
    }


def run_sandbox(site: Site, job: Job, task: dict[str, Any]) -> dict[str, Any] | None:
    """What the sandbox says; None if it did not come to an end.

    Jobs of others are hidden from it, and one that ends at that moment cannot be: then it is
    started again.
    """
    jobs, others = site.workers / "jobs", task["hide"]
    for _ in range(_STARTS):
        others = [path for path in others if Path(path).parent != jobs or Path(path).exists()]
        report = _run_sandbox_once(site, job, {**task, "hide": others})
        if report is not None or all(Path(path).exists() for path in others):
            return report
        for name in ("received", "estimates"):
            shutil.rmtree(Path(task["folder"]) / name, ignore_errors=True)
    return None


def _run_sandbox_once(site: Site, job: Job, task: dict[str, Any]) -> dict[str, Any] | None:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "depthgauge.serve.submissions.sandbox"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=_plain_environment(task["folder"]),
    )
    try:
        said, errors = process.communicate(json.dumps(task).encode(), timeout=CHECK_S)
    except subprocess.TimeoutExpired:
        said, errors = b"", b"it took too long"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    if process.returncode != 0:
        write_log(site, job, errors.decode(errors="replace"))
        return None
    report: dict[str, Any] = json.loads(said)
    return report


def distrust(found: Registered, estimates: Path) -> str | None:
    """Why what the sandbox left is not scored; None if it is what it should be.

    Whoever takes over the sandbox can leave links to the truth, files for other decoders, or maps
    of one pixel. So there must be nothing but plain arrays with the names that we give them, and
    they are counted again.
    """
    protocol = found.protocol
    frames = {
        frame.id: frame
        for sample in samples_of(protocol, found.data)
        for frame in sample.fresh().frames()
    }
    parts = [p.name for p in (*QUANTITIES[protocol.quantity].parts, CONFIDENCE)]
    names = {f"{one}/{part}.npy" for one in frames for part in parts}
    names |= {f"{one}/estimate.json" for one in frames}
    for path in estimates.rglob("*"):
        name = path.relative_to(estimates).as_posix()
        if path.is_symlink() or not (path.is_dir() or (path.is_file() and name in names)):
            return f"{name} is no array of ours"
    if found.hidden is None:
        return None
    for frame in frames.values():
        path = estimates / frame.id / f"{parts[0]}.npy"
        estimate = read_estimate(path, DATASETS[protocol.dataset], protocol.quantity)
        if inside_density(protocol, frame, estimate) < protocol.hidden.least_density:
            return f"{frame.id} is sparse"
    return None


def _plain_environment(folder: str) -> dict[str, str]:
    """No secrets of the worker, and a folder of its own for temporary files."""
    kept = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "DEPTHGAUGE_CACHE", "DEPTHGAUGE_THREADS")
    found = {name: os.environ[name] for name in kept if name in os.environ}
    return {**found, "TMPDIR": folder, "HOME": folder}


def _sparse(densities: dict[str, float], found: Registered) -> list[dict[str, str]]:
    least = found.protocol.hidden.least_density
    return [
        {
            "sample": sample,
            "problem": f"values inside the allowed range at {100 * density:.1f} % of the pixels.",
            "do": f"Estimate at least {100 * least:g} %.",
        }
        for sample, density in densities.items()
    ]


def _score(site: Site, job: Job, found: Registered, estimates: Path) -> Outcome:
    try:
        with warnings.catch_warnings():
            # Notes compare estimates with the truth; nobody may see them here.
            warnings.simplefilter("ignore", DepthgaugeWarning)
            result = evaluate(found.protocol, found.truth, estimates, check=False)
    except DepthgaugeError as error:
        write_log(site, job, str(error))
        return Outcome("failed", "not-scored")
    if result.failed:
        write_log(site, job, json.dumps(dict(result.failed), indent=1))
        return Outcome("failed", "not-scored")
    similar = _similar(site, job, found, estimates)
    return Outcome("scored", scores=list(released(found, result)), similar=similar)


def _similar(
    site: Site, job: Job, found: Registered, estimates: Path
) -> list[tuple[str, float, float]]:
    """Submissions that are nearly the same; what cannot be compared costs no score."""
    if job.rescoring is not None:
        return []  # it was compared when it came
    try:
        mark = fingerprint(found, estimates)
        return list(compare_and_keep(site, found, job.submission, mark))
    except (OSError, ValueError, IndexError) as error:
        write_log(site, job, f"it could not be compared with others: {error}")
        return []


def write_log(site: Site, job: Job, text: str) -> None:
    """Adds to what an admin can read with `serve log`."""
    path = site.workers / "logs" / f"{job.submission}.txt"
    with open(path, "a", encoding="utf-8") as file:
        file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {text[:_MOST_LOG]}\n")


@contextmanager
def _renewing(database: Database, job: Job) -> Iterator[None]:
    """Keeps the lease while the block runs."""
    done = threading.Event()

    def keep() -> None:
        while not done.wait(LEASE_S / 4):
            with suppress(Exception):  # a database that is away may come back in time
                if not renew(database, job):
                    return

    thread = threading.Thread(target=keep, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def main() -> None:
    """The process; ends at SIGTERM after what it has begun."""
    from depthgauge._confine import end_with_parent
    from depthgauge.serve.process_settings import own_settings

    site = own_settings().site
    end_with_parent()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        work(site, site.open(), stop=stop)
    except (OperationalError, InterfaceError) as error:
        sys.exit(f"error: the database is away ({type(error.orig).__name__}); started again soon.")


if __name__ == "__main__":
    main()
