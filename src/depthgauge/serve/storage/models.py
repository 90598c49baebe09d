"""The tables of a site.

Secrets (passwords, session and API tokens, links) are never stored, only their hashes. Times are
whole seconds since 1970, UTC: both databases keep and compare them exactly.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    UniqueConstraint,
    true,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

ROLES = ("author", "organiser", "admin")
VISIBILITIES = ("private", "public", "baseline")
_KEY = String(64)


class Base(DeclarativeBase):
    """All tables; constraints have names, so that migrations can refer to them."""

    # SQLite counts up only INTEGER, which has 64 bits there.
    type_annotation_map = {int: BigInteger().with_variant(Integer, "sqlite")}  # noqa: RUF012
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_N_label)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class Team(Base):
    """People who submit together; quotas are counted by team."""

    __tablename__ = "teams"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    created_at: Mapped[int]


class User(Base):
    """A person with an account; everybody is in one team."""

    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(254), unique=True)
    name: Mapped[str] = mapped_column(String(100))
    password_hash: Mapped[str] = mapped_column(String(200))
    role: Mapped[str] = mapped_column(String(20), default="author")
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"))
    created_at: Mapped[int]
    disabled_at: Mapped[int | None]
    mail: Mapped[bool] = mapped_column(default=True, server_default=true())
    """Whether notifications are sent by mail, too, where the site sends mail."""
    team: Mapped[Team] = relationship()


class LoginSession(Base):
    """A browser that is logged in."""

    __tablename__ = "login_sessions"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    token_hash: Mapped[str] = mapped_column(_KEY, unique=True)
    created_at: Mapped[int]
    expires_at: Mapped[int]
    user: Mapped[User] = relationship()


class ApiToken(Base):
    """A token for programs, with the scopes that it is good for."""

    __tablename__ = "api_tokens"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(100))
    token_hash: Mapped[str] = mapped_column(_KEY, unique=True)
    scopes: Mapped[str] = mapped_column(String(200))
    """Separated by spaces."""
    created_at: Mapped[int]
    expires_at: Mapped[int]
    user: Mapped[User] = relationship()


class OneTimeLink(Base):
    """A secret that works once: the first admin, an invitation, a reset, a recovery code."""

    __tablename__ = "one_time_links"
    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))
    token_hash: Mapped[str] = mapped_column(_KEY, unique=True)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    """Whose account it is for; none where it makes one."""
    team_id: Mapped[int | None] = mapped_column(ForeignKey("teams.id"))
    """The team that a new account joins; none: one of its own."""
    email: Mapped[str | None] = mapped_column(String(254))
    """The only address that it is good for: where it was sent."""
    created_at: Mapped[int]
    expires_at: Mapped[int]
    used_at: Mapped[int | None]


class RateCounter(Base):
    """How often something happened in a window of time; shared by all processes."""

    __tablename__ = "rate_counters"
    key: Mapped[str] = mapped_column(_KEY, primary_key=True)
    window: Mapped[int] = mapped_column(primary_key=True)
    """Its number: seconds since 1970 over its length."""
    count: Mapped[int] = mapped_column(default=0)
    expires_at: Mapped[int] = mapped_column(index=True)


class Benchmark(Base):
    """A benchmark that takes submissions. Where its truth is, only workers know."""

    __tablename__ = "benchmarks"
    id: Mapped[str] = mapped_column(String(100), primary_key=True)
    title: Mapped[str] = mapped_column(String(200))
    about: Mapped[str] = mapped_column(Text)
    protocol_hash: Mapped[str] = mapped_column(_KEY)
    hidden: Mapped[bool]
    """Whether its truth is hidden."""
    quantity: Mapped[str] = mapped_column(String(40))
    samples: Mapped[list[str]] = mapped_column(JSON)
    columns: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """The scores that are shown, the first one ranks: `id`, `unit`, `better`."""
    monthly_quota: Mapped[int]
    most_bytes: Mapped[int]
    """The largest archive."""
    added_at: Mapped[int]
    terms: Mapped[str] = mapped_column(Text, default="", server_default="")
    """What authors must accept before they submit; empty: nothing."""
    protocol: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    """The benchmark's file, as plain data."""
    scenes: Mapped[dict[str, str]] = mapped_column(JSON, default=dict)
    """The scene of each sample that belongs to one."""
    facts: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    """What the data page says: licence, files, size and range of each sample's inputs."""
    phases: Mapped[list[Phase]] = relationship(order_by="Phase.opens_at")


class Phase(Base):
    """When a benchmark takes submissions; one without phases always does."""

    __tablename__ = "phases"
    __table_args__ = (UniqueConstraint("benchmark_id", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmarks.id"), index=True)
    name: Mapped[str] = mapped_column(String(100))
    opens_at: Mapped[int]
    closes_at: Mapped[int | None]


class Upload(Base):
    """An archive that arrives in pieces."""

    __tablename__ = "uploads"
    id: Mapped[str] = mapped_column(_KEY, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmarks.id"))
    size: Mapped[int]
    sha256: Mapped[str] = mapped_column(_KEY)
    """Of the whole, as its sender says; checked at the end."""
    expires_at: Mapped[int] = mapped_column(index=True)


class Submission(Base):
    """Estimates of one method for one benchmark, and what became of them."""

    __tablename__ = "submissions"
    __table_args__ = (
        Index("ix_submissions_queue", "state", "created_at"),
        Index("ix_submissions_quota", "team_id", "benchmark_id", "created_at"),
    )
    id: Mapped[str] = mapped_column(_KEY, primary_key=True)
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmarks.id"), index=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    method: Mapped[str] = mapped_column(String(100))
    version: Mapped[str] = mapped_column(String(40), default="")
    details: Mapped[dict[str, str]] = mapped_column(JSON)
    """What the author says about it, by the names of `submissions.details`."""
    terms: Mapped[str] = mapped_column(Text, default="", server_default="")
    """What was accepted with it."""
    archive: Mapped[str] = mapped_column(_KEY)
    """SHA-256 of the archive, its name among the blobs."""
    size: Mapped[int]
    visibility: Mapped[str] = mapped_column(String(20), default="private")
    dry_run: Mapped[bool] = mapped_column(default=False)
    """Checked, not scored, not counted."""
    state: Mapped[str] = mapped_column(String(20), default="queued")
    message: Mapped[str] = mapped_column(String(40), default="")
    """A code of `submissions.messages`."""
    problems: Mapped[list[dict[str, str]]] = mapped_column(JSON, default=list)
    """What the check found in the author's own files."""
    created_at: Mapped[int]
    changed_at: Mapped[int]
    attempts: Mapped[int] = mapped_column(default=0)
    lease: Mapped[str | None] = mapped_column(_KEY)
    """Who works on it; only that worker may say how it ended."""
    lease_until: Mapped[int | None]
    team: Mapped[Team] = relationship()
    benchmark: Mapped[Benchmark] = relationship()
    scores: Mapped[list[ReleasedScore]] = relationship(cascade="all, delete-orphan")


class ReleasedScore(Base):
    """A number that the benchmark releases; for hidden truth, rounded before it came here."""

    __tablename__ = "scores"
    submission_id: Mapped[str] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    sample: Mapped[str] = mapped_column(String(200), primary_key=True)
    """Empty: of all samples."""
    score: Mapped[str] = mapped_column(String(200), primary_key=True)
    value: Mapped[float | None]


class Similarity(Base):
    """Two submissions of different teams that are nearly the same; for admins only."""

    __tablename__ = "similarities"
    first_id: Mapped[str] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    second_id: Mapped[str] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    agreement: Mapped[float]
    """Of their details: 1, the same errors; 0, independent ones."""
    distance: Mapped[float]
    """Of their values, as a share of their range."""
    at: Mapped[int]


class Rescoring(Base):
    """A benchmark that is scored again; its table changes when the last entry is done."""

    __tablename__ = "rescorings"
    id: Mapped[int] = mapped_column(primary_key=True)
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmarks.id"), index=True)
    reason: Mapped[str] = mapped_column(String(20))
    """`protocol`, `truth` or `asked`."""
    begun_at: Mapped[int]
    ended_at: Mapped[int | None]
    former_hash: Mapped[str] = mapped_column(_KEY, default="")
    """Of the protocol before it, which old states of the leaderboard have."""
    former_protocol: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)


class Rescore(Base):
    """An entry that is scored again, with its new scores until the table changes."""

    __tablename__ = "rescores"
    rescoring_id: Mapped[int] = mapped_column(
        ForeignKey("rescorings.id", ondelete="CASCADE"), primary_key=True
    )
    submission_id: Mapped[str] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    state: Mapped[str] = mapped_column(String(20), default="waiting")
    """`waiting`, `running`, `done` or `failed`."""
    attempts: Mapped[int] = mapped_column(default=0)
    lease: Mapped[str | None] = mapped_column(_KEY)
    lease_until: Mapped[int | None]
    scores: Mapped[list[list[Any]]] = mapped_column(JSON, default=list)
    """Sample, score id, value."""


class Notification(Base):
    """What a person is told on the account page; its text is made from the closed list."""

    __tablename__ = "notifications"
    __table_args__ = (Index("ix_notifications_of", "user_id", "at"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    submission_id: Mapped[str] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(20))
    """A code of `accounts.notices`."""
    at: Mapped[int]
    read_at: Mapped[int | None]
    submission: Mapped[Submission] = relationship()


class OutgoingMail(Base):
    """A mail that is to be sent. It has no text: links with secrets are made when it is sent."""

    __tablename__ = "outgoing_mail"
    __table_args__ = (Index("ix_outgoing_mail_next", "state", "next_at"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))
    """`notification`, `reset` or `registration`."""
    email: Mapped[str] = mapped_column(String(254), index=True)
    notification_id: Mapped[int | None] = mapped_column(
        ForeignKey("notifications.id", ondelete="CASCADE"), unique=True
    )
    state: Mapped[str] = mapped_column(String(20), default="waiting")
    """`waiting`, `handed-over` (the server has it, or its answer was lost), `sent`, `given-up`."""
    created_at: Mapped[int]
    next_at: Mapped[int]
    """When it is tried; while somebody sends it, when somebody else may."""
    attempts: Mapped[int] = mapped_column(default=0)
    lease: Mapped[str | None] = mapped_column(_KEY)


class ScoreSheet(Base):
    """All released values of an entry, under their hash: what a state of a leaderboard refers to.

    The same values are stored once, however many states have them.
    """

    __tablename__ = "score_sheets"
    sha256: Mapped[str] = mapped_column(_KEY, primary_key=True)
    body: Mapped[dict[str, dict[str, float | None]]] = mapped_column(JSON)
    """Sample (empty: all of them) -> score id -> value."""


class Thumbnail(Base):
    """A small picture of a sample's inputs, which are public."""

    __tablename__ = "thumbnails"
    benchmark_id: Mapped[str] = mapped_column(
        ForeignKey("benchmarks.id", ondelete="CASCADE"), primary_key=True
    )
    sample: Mapped[str] = mapped_column(String(200), primary_key=True)
    sha256: Mapped[str] = mapped_column(_KEY, index=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)
    """WebP."""


class Snapshot(Base):
    """A leaderboard as it stood; kept for ever."""

    __tablename__ = "snapshots"
    id: Mapped[int] = mapped_column(primary_key=True)
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmarks.id"), index=True)
    taken_at: Mapped[int]
    sha256: Mapped[str] = mapped_column(_KEY)
    body: Mapped[dict[str, Any]] = mapped_column(JSON)


class AuditEntry(Base):
    """Who did what; written with the change itself, never changed."""

    __tablename__ = "audit_log"
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[int] = mapped_column(index=True)
    user_id: Mapped[int | None]
    """None: the command line or a worker."""
    action: Mapped[str] = mapped_column(String(60))
    subject: Mapped[str] = mapped_column(String(200), default="")


class Exhibit(Base):
    """What workers drew of a submission or of the samples of a benchmark, for its pages."""

    __tablename__ = "exhibits"
    subject: Mapped[str] = mapped_column(String(120), primary_key=True)
    """`submission:ID` or `benchmark:ID`."""
    sha256: Mapped[str | None] = mapped_column(_KEY)
    """The pack among the blobs; none: not drawn yet, or it failed."""
    attempts: Mapped[int] = mapped_column(default=0)
    lease_until: Mapped[int] = mapped_column(default=0)
    """Nobody else begins before."""


class AttachedReport(Base):
    """The report of a run that is shown with an entry."""

    __tablename__ = "reports"
    submission_id: Mapped[str] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    sha256: Mapped[str] = mapped_column(_KEY)
    """The file among the blobs."""
    attached_at: Mapped[int]
