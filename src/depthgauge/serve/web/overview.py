"""How a site is doing, in counts: for the admin's page and for Prometheus."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from depthgauge.serve.site import Site
from depthgauge.serve.storage.database import now
from depthgauge.serve.storage.models import (
    OutgoingMail,
    Rescore,
    Rescoring,
    Submission,
    Upload,
    User,
)

STATES = ("queued", "running", "scored", "failed", "withdrawn")


@dataclass(frozen=True, slots=True)
class Overview:
    """Counts of everything; nothing in it names a submission or a person."""

    submissions: dict[tuple[str, str], int]
    """By benchmark and state."""
    oldest_wait_s: int
    """How long the first in the queue has waited."""
    rescores: dict[str, int]
    """Entries that wait to be scored again, by benchmark."""
    users: int
    mails: dict[str, int]
    """By state; `handed-over` ones may have been lost."""
    archives: int
    archive_bytes: int
    uploads: int
    upload_bytes: int
    """Announced by uploads that are not finished."""
    disk_free: int
    disk_total: int

    def in_state(self, state: str) -> int:
        """All submissions in a state."""
        return sum(n for (_, one), n in self.submissions.items() if one == state)


def overview(session: Session, site: Site) -> Overview:
    """Counts what there is."""
    disk = shutil.disk_usage(site.web)
    first = session.scalar(
        select(func.min(Submission.created_at)).where(Submission.state == "queued")
    )
    distinct = select(Submission.archive, func.max(Submission.size).label("size"))
    kept = distinct.group_by(Submission.archive).subquery()
    archives, size = session.execute(select(func.count(), func.sum(kept.c.size))).one()
    uploads, announced = session.execute(select(func.count(Upload.id), func.sum(Upload.size))).one()
    by_state = select(Submission.benchmark_id, Submission.state, func.count())
    counted = session.execute(by_state.group_by(Submission.benchmark_id, Submission.state))
    return Overview(
        submissions={(benchmark, state): n for benchmark, state, n in counted},
        oldest_wait_s=0 if first is None else max(0, now() - int(first)),
        rescores=_counts(session, _rescores()),
        users=int(session.scalar(select(func.count(User.id))) or 0),
        mails=_counts(
            session,
            select(OutgoingMail.state, func.count()).group_by(OutgoingMail.state),
        ),
        archives=int(archives or 0),
        archive_bytes=int(size or 0),
        uploads=int(uploads or 0),
        upload_bytes=int(announced or 0),
        disk_free=disk.free,
        disk_total=disk.total,
    )


def _rescores() -> Any:
    open_ones = select(Rescoring.benchmark_id, func.count()).join(
        Rescore, Rescore.rescoring_id == Rescoring.id
    )
    waiting = Rescore.state.in_(("waiting", "running"))
    return open_ones.where(Rescoring.ended_at.is_(None), waiting).group_by(Rescoring.benchmark_id)


def _counts(session: Session, wanted: Any) -> dict[str, int]:
    return {str(name): int(count) for name, count in session.execute(wanted)}
