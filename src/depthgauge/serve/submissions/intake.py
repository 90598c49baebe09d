"""Takes submissions in: uploads in pieces, quotas, and the entry in the queue."""

from __future__ import annotations

import datetime
import fcntl
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from depthgauge.errors import Refused
from depthgauge.serve.accounts import rates
from depthgauge.serve.accounts.people import plain_line
from depthgauge.serve.accounts.secrets import new_id
from depthgauge.serve.site import Site
from depthgauge.serve.storage.blobs import file_sha256, require_space
from depthgauge.serve.storage.database import Database, audit, now
from depthgauge.serve.storage.models import Benchmark, Submission, Team, Upload, User
from depthgauge.serve.submissions.details import checked

UPLOAD_S = 2 * 86_400
"""An upload that is not finished by then is removed."""
_MOST_UPLOADS = 5


@dataclass(frozen=True, slots=True)
class Entry:
    """What the author of a submission writes."""

    method: str
    version: str = ""
    details: Mapping[str, str] = field(default_factory=dict)
    """By the names of `details.DETAILS`."""
    dry_run: bool = False
    accepts_terms: bool = False
    """Whether the terms of the benchmark are accepted; needed where it has some."""


def begin_upload(
    site: Site, database: Database, user: User, benchmark_id: str, size: int, sha256: str
) -> str:
    """Announces an archive; returns the id of the upload.

    An upload of the same archive that was interrupted goes on under its id.

    Raises:
        Refused: The benchmark takes none, the quota is used up, or the archive is too large.
        CannotWrite: There is no room for it.
    """
    rates.require_rate(database, rates.UPLOADS_BY_TEAM, str(user.team_id))
    if not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise Refused("invalid", "The hash of the archive must be a SHA-256 in hexadecimal")
    expire_uploads(site, database)
    with database.begin() as session:
        benchmark = open_benchmark(session, benchmark_id)
        if not 0 < size <= benchmark.most_bytes:
            most = benchmark.most_bytes >> 20
            raise Refused(
                "invalid", f"The archive has {size:,} bytes; at most {most} MiB are taken"
            )
        require_quota(session, user, benchmark)
        open_ones = list(session.scalars(select(Upload).where(Upload.user_id == user.id)))
        for one in open_ones:
            if (one.benchmark_id, one.size, one.sha256) == (benchmark.id, size, sha256):
                return one.id
        if len(open_ones) >= _MOST_UPLOADS:
            raise Refused("quota", f"You have {_MOST_UPLOADS} unfinished uploads; finish one first")
        require_space(site.uploads, size + _still_to_come(site, session))
        upload = Upload(
            id=new_id(),
            user_id=user.id,
            benchmark_id=benchmark.id,
            size=size,
            sha256=sha256,
            expires_at=now() + UPLOAD_S,
        )
        session.add(upload)
    upload_file(site, upload.id).touch(exist_ok=False)
    return upload.id


def _still_to_come(site: Site, session: Session) -> int:
    """Bytes that others have announced and not sent yet; their room is theirs."""
    return sum(max(0, one.size - received(site, one)) for one in session.scalars(select(Upload)))


def find_upload(session: Session, user: User, upload_id: str) -> Upload:
    """An upload of this user.

    Raises:
        Refused: There is none; those of others are none.
    """
    found = session.get(Upload, upload_id)
    if found is None or found.user_id != user.id or found.expires_at < now():
        raise Refused("not-found", "There is no such upload; begin a new one")
    return found


def received(site: Site, upload: Upload) -> int:
    """How many bytes have arrived: where to go on."""
    with suppress(FileNotFoundError):
        return upload_file(site, upload.id).stat().st_size
    return 0


def append(site: Site, upload: Upload, offset: int, piece: bytes) -> int:
    """Adds a piece; returns how many bytes have arrived.

    Raises:
        Refused: It does not begin where the last one ended, or it is too long.
    """
    with open(upload_file(site, upload.id), "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # two pieces at once would be mixed
        here = os.fstat(file.fileno()).st_size
        if offset != here:
            raise Refused("conflict", f"{here} bytes have arrived; go on from there")
        if here + len(piece) > upload.size:
            raise Refused(
                "invalid", f"That is more than the {upload.size} bytes that were announced"
            )
        file.write(piece)
        file.flush()
        return here + len(piece)


def submit(site: Site, database: Database, user: User, upload_id: str, entry: Entry) -> Submission:
    """Turns a complete upload into a submission in the queue.

    Raises:
        Refused: It is not complete, the quota is used up, or an entry is not possible.
    """
    with database.begin() as session:
        upload = find_upload(session, user, upload_id)
    if received(site, upload) != upload.size:
        raise Refused("conflict", f"{received(site, upload)} of {upload.size} bytes have arrived")
    made = _submission(user, upload, entry)
    # Before the transaction: reading a large archive takes long, and writers wait for each other.
    if not _has_hash(upload_file(site, upload_id), upload.sha256):
        raise Refused("invalid", "The archive does not have the SHA-256 that was announced")
    site.archives.stage(upload_file(site, upload_id), upload.sha256)
    with database.begin() as session:
        # Submissions of one team go one by one, so that the quota holds.
        session.get_one(Team, user.team_id, with_for_update=True)
        upload = find_upload(session, user, upload_id)
        benchmark = open_benchmark(session, upload.benchmark_id)
        if benchmark.terms and not entry.accepts_terms:
            raise Refused("terms", f"Accept the terms first: {benchmark.terms}")
        made.terms = benchmark.terms
        if not made.dry_run:
            require_quota(session, user, benchmark)
            _require_new(session, made)
            made.version = made.version or _next_version(session, made)
        site.archives.move_in(upload_file(site, upload.id), upload.sha256)
        session.execute(delete(Upload).where(Upload.id == upload_id))
        session.add(made)
        audit(session, "submitted", made.id, user.id)
    return made


def require_quota(session: Session, user: User, benchmark: Benchmark) -> None:
    """Counts the team's submissions of this calendar month, private and withdrawn ones too.

    Those that failed before the truth was read told nothing about it and are not counted.

    Raises:
        Refused: There were enough.
    """
    first = datetime.datetime.fromtimestamp(now(), datetime.UTC)
    first = first.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    count = select(func.count()).where(
        Submission.team_id == user.team_id,
        Submission.benchmark_id == benchmark.id,
        Submission.created_at >= int(first.timestamp()),
        Submission.dry_run.is_(False),
        or_(Submission.state != "failed", Submission.message.in_(("not-scored", "not-rescored"))),
    )
    if int(session.scalar(count) or 0) >= benchmark.monthly_quota:
        raise Refused(
            "quota",
            f"Your team has made its {benchmark.monthly_quota} submissions of this month to "
            f"{benchmark.id}; the next month begins on the first, UTC",
        )


def open_benchmark(session: Session, benchmark_id: str) -> Benchmark:
    """A benchmark that takes submissions now.

    Raises:
        Refused: There is none, or its phase is over.
    """
    found = session.get(Benchmark, benchmark_id)
    if found is None:
        raise Refused("not-found", "There is no such benchmark here; see the list of benchmarks")
    moment = now()
    is_open = [p.opens_at <= moment and (p.closes_at or moment + 1) > moment for p in found.phases]
    if is_open and not any(is_open):
        raise Refused("closed", f"{found.id} takes no submissions now; see its phases")
    return found


def expire_uploads(site: Site, database: Database) -> None:
    """Removes what was begun and never finished.

    Also files that no upload belongs to any more: a process that was killed just after it had taken
    an archive leaves one.
    """
    with database.begin() as session:
        old = set(session.scalars(select(Upload.id).where(Upload.expires_at < now())))
        session.execute(delete(Upload).where(Upload.id.in_(old)))
        known = set(session.scalars(select(Upload.id)))
    for file in site.uploads.iterdir():
        with suppress(FileNotFoundError):
            lost = file.name not in known and file.stat().st_mtime < now() - UPLOAD_S
            if lost or file.name in old:
                file.unlink()


def upload_file(site: Site, upload_id: str) -> Path:
    """Where an upload arrives; the id is one of ours, never a name from outside."""
    return site.uploads / upload_id


def _has_hash(path: Path, sha256: str) -> bool:
    with suppress(FileNotFoundError):  # another request has just submitted it
        return file_sha256(path) == sha256
    return False


def _submission(user: User, upload: Upload, entry: Entry) -> Submission:
    moment = now()
    return Submission(
        id=new_id(),
        benchmark_id=upload.benchmark_id,
        team_id=user.team_id,
        user_id=user.id,
        method=plain_line(entry.method, "name of the method"),
        version=plain_line(entry.version, "version", 40) if entry.version.strip() else "",
        details=checked(entry.details),
        archive=upload.sha256,
        size=upload.size,
        visibility="private",
        dry_run=entry.dry_run,
        state="queued",
        message="",
        problems=[],
        created_at=moment,
        changed_at=moment,
        attempts=0,
    )


def _next_version(session: Session, made: Submission) -> str:
    """A number for a method that the team has submitted before; the first has none."""
    same = select(func.count()).where(
        Submission.team_id == made.team_id,
        Submission.benchmark_id == made.benchmark_id,
        Submission.method == made.method,
        Submission.dry_run.is_(False),
        Submission.state != "failed",
    )
    before = int(session.scalar(same) or 0)
    return f"{before + 1}" if before else ""


def _require_new(session: Session, made: Submission) -> None:
    same = session.scalar(
        select(Submission.id).where(
            Submission.team_id == made.team_id,
            Submission.benchmark_id == made.benchmark_id,
            Submission.archive == made.archive,
            Submission.dry_run.is_(False),
            Submission.state.in_(("queued", "running", "scored")),
        )
    )
    if same is not None:
        raise Refused("conflict", f"Your team has submitted this archive already, as {same}")
