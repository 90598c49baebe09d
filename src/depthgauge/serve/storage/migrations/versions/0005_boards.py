"""What leaderboards and data pages show: protocols, released values by their hash, thumbnails."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005_boards"
down_revision = "0004_terms"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Makes the tables."""
    for name in ("protocol", "scenes", "facts"):
        column = sa.Column(name, sa.JSON(), nullable=False, server_default="{}")
        op.add_column("benchmarks", column)
    op.create_table(
        "score_sheets",
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_score_sheets")),
    )
    op.create_table(
        "thumbnails",
        sa.Column("benchmark_id", sa.String(100), nullable=False),
        sa.Column("sample", sa.String(200), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["benchmark_id"],
            ["benchmarks.id"],
            name=op.f("fk_thumbnails_benchmark_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("benchmark_id", "sample", name=op.f("pk_thumbnails")),
    )
    op.create_index(op.f("ix_thumbnails_sha256"), "thumbnails", ["sha256"])


def downgrade() -> None:
    """Removes them."""
    op.drop_table("thumbnails")
    op.drop_table("score_sheets")
    for name in ("facts", "scenes", "protocol"):
        op.drop_column("benchmarks", name)
