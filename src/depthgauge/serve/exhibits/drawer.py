"""The process that draws: `python -m depthgauge.serve.exhibits.drawer DIR`.

It writes packs into the blobs and prints their hashes. Of hidden truth it reads nothing: it opens
only what participants have, and refuses estimates of a benchmark that the registry of the workers
calls hidden.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

from depthgauge.engine.running.run import score_folder
from depthgauge.errors import BadData, DepthgaugeWarning
from depthgauge.serve.exhibits.pack import write_pack
from depthgauge.serve.exhibits.queue import Drawing
from depthgauge.serve.exhibits.scenes import draw_scenes
from depthgauge.serve.exhibits.submission import draw_submission
from depthgauge.serve.site import Site
from depthgauge.serve.storage.blobs import file_sha256, require_space
from depthgauge.serve.submissions.queue import Job
from depthgauge.serve.submissions.registry import Registered, read_registered
from depthgauge.serve.submissions.worker import distrust, run_sandbox, task_of

_GIB = 1 << 30
LIMITS = {"AS": 12 * _GIB, "FSIZE": 8 * _GIB, "CORE": 0}
FAILED = "-"


def draw(site: Site, drawing: Drawing) -> str:
    """Draws a submission, or the samples of a benchmark; returns the hash of the pack.

    Raises:
        BadData: The benchmark's truth is hidden, or the estimates cannot be used.
    """
    found = read_registered(site, drawing.benchmark)
    with tempfile.TemporaryDirectory(dir=site.workers / "jobs") as name:
        folder = Path(name)
        if drawing.archive:
            _draw_estimates(site, found, drawing, folder)
        else:
            public = found.hidden is None
            draw_scenes(found.protocol, found.data, folder / "exhibit", with_truth=public)
        return _keep(site, folder / "exhibit")


def _draw_estimates(site: Site, found: Registered, drawing: Drawing, folder: Path) -> None:
    if found.hidden is not None:
        raise BadData(f"{drawing.benchmark}: its truth is hidden, so nothing is drawn of it.")
    site.archives.fetch(drawing.archive, folder / "archive.zip")
    job = Job(drawing.subject.replace(":", "-"), drawing.benchmark, drawing.archive, False, "")
    report = run_sandbox(site, job, task_of(site, found, folder))
    if report is None or report["archive"] or report["check"]:
        raise BadData(f"{drawing.subject}: its estimates cannot be read any more.")
    if (why := distrust(found, folder / "estimates")) is not None:
        raise BadData(f"{drawing.subject}: {why}.")
    # The name of the folder is what captions call the method.
    (folder / "estimates").rename(folder / "estimate")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DepthgaugeWarning)
        run = score_folder(
            found.protocol,
            found.data,
            folder / "estimate",
            folder / "run",
            workers=0,
            keep_estimates=False,
        )
        draw_submission(run, found.data, folder / "exhibit")


def _keep(site: Site, exhibit: Path) -> str:
    """Moves what was drawn into the blobs."""
    size = sum(path.stat().st_size for path in exhibit.rglob("*") if path.is_file())
    require_space(site.web, size)
    with tempfile.TemporaryDirectory(dir=site.web / "tmp") as name:
        pack = Path(name) / "pack.zip"
        write_pack(exhibit, pack)
        sha256 = file_sha256(pack)
        site.blobs.move_in(pack, sha256)
    return sha256


def main() -> None:
    """Draws what each line of stdin asks for, and says how it ended, until there are no more.

    A line is a drawing as JSON; the answer is the hash of the pack, or `-` if it failed.
    """
    from depthgauge._confine import end_with_parent

    end_with_parent()
    os.nice(10)
    for name, value in LIMITS.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    site = Site(Path(sys.argv[1]), "", os.environ["DEPTHGAUGE_ARCHIVES"])
    for line in sys.stdin:
        try:
            answer = draw(site, Drawing(**json.loads(line)))
        except Exception:  # whatever it is: the next drawing goes on, the admin finds the log
            traceback.print_exc()
            answer = FAILED
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
