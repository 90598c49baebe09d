"""Reports of runs, attached to public entries: `depthgauge report` made them, the site shows them.

A report is one HTML file. It is sent with a policy of its own: in a sandbox without the site's
origin, and with no other script than the one of our reports.
"""

from __future__ import annotations

import functools
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from depthgauge.errors import BadData, BadFile, CannotWrite, Refused
from depthgauge.report.page.templates import asset, content_hash
from depthgauge.serve.site import Site
from depthgauge.serve.storage.blobs import file_sha256, require_space
from depthgauge.serve.storage.database import Database, audit, now
from depthgauge.serve.storage.models import AttachedReport, Submission

MOST_BYTES = 64 << 20
_FILE = "report.html"
_BEGIN = b"<!doctype html>"


def attach_report(site: Site, database: Database, submission_id: str, report: Path) -> str:
    """Attaches the report of a run to an entry; an older one is replaced.

    Args:
        site: The site.
        database: Its database.
        submission_id: An entry of a benchmark whose truth is public.
        report: The HTML file of a report, or the folder that has it as `report.html`.

    Returns:
        The hash of the file.

    Raises:
        BadFile: There is no report.
        BadData: There is no such entry.
        Refused: The truth of its benchmark is hidden: a report shows it.
        CannotWrite: There is no room for it.
    """
    path = report / _FILE if report.is_dir() else report
    _require_report(path)
    with database.begin() as session:
        found = session.get(Submission, submission_id)
        if found is None or found.state != "scored":
            raise BadData(f"{submission_id[:80]}: there is no scored submission of this id.")
        if found.benchmark.hidden:
            raise Refused("forbidden", "The truth is hidden, and a report shows errors against it")
    digest = _keep(site, path)
    with database.begin() as session:
        old = session.get(AttachedReport, submission_id)
        former = None if old is None else old.sha256
        session.merge(AttachedReport(submission_id=submission_id, sha256=digest, attached_at=now()))
        audit(session, "report attached", submission_id)
        session.flush()
        unneeded = set() if former in (None, digest) else _unneeded(session, {str(former)})
    for sha256 in unneeded:
        site.blobs.remove(sha256)
    return digest


def _require_report(path: Path) -> None:
    try:
        size = path.stat().st_size
        with open(path, "rb") as file:
            begin = file.read(len(_BEGIN))
    except OSError as error:
        raise BadFile(
            f"{path}: cannot be read ({error.strerror}); run depthgauge report."
        ) from None
    if begin.lower() != _BEGIN or size > MOST_BYTES:
        raise BadFile(f"{path}: is no report of at most {MOST_BYTES >> 20} MiB.")


def _keep(site: Site, path: Path) -> str:
    require_space(site.uploads, path.stat().st_size)
    try:
        with tempfile.TemporaryDirectory(dir=site.uploads) as folder:
            copy = Path(folder) / _FILE
            shutil.copyfile(path, copy)
            digest = file_sha256(copy)
            site.blobs.move_in(copy, digest)
    except OSError as error:
        raise CannotWrite(f"{site.blobs.folder}: cannot be written ({error.strerror}).") from error
    return digest


def report_of(session: Session, submission_id: str) -> str | None:
    """The hash of an entry's report; None if it has none."""
    found = session.get(AttachedReport, submission_id)
    return None if found is None else found.sha256


def reports_of(session: Session, submissions: Iterable[str]) -> frozenset[str]:
    """Those entries that have a report."""
    wanted = AttachedReport.submission_id.in_(list(submissions))
    return frozenset(session.scalars(select(AttachedReport.submission_id).where(wanted)))


def forget_reports(session: Session, submissions: Iterable[str]) -> set[str]:
    """Takes reports away; returns hashes of files that nobody needs any more."""
    wanted = AttachedReport.submission_id.in_(list(submissions))
    hashes = set(session.scalars(select(AttachedReport.sha256).where(wanted)))
    session.execute(delete(AttachedReport).where(wanted))
    return _unneeded(session, hashes)


def _unneeded(session: Session, hashes: set[str]) -> set[str]:
    needed = select(AttachedReport.sha256).where(AttachedReport.sha256.in_(hashes))
    return hashes - set(session.scalars(needed))


@functools.cache
def report_policy() -> str:
    """What a browser may do with a report."""
    script = content_hash(str(asset("report.js")))
    return (
        "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src '{script}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
