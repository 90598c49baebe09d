"""Reports that are attached to entries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008_reports"
down_revision = "0007_similarities"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Makes the table."""
    op.create_table(
        "reports",
        sa.Column("submission_id", sa.String(64), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column(
            "attached_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_reports_submission_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_reports")),
    )


def downgrade() -> None:
    """Removes it."""
    op.drop_table("reports")
