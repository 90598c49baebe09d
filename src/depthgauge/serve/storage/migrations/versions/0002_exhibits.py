"""What workers drew for pages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002_exhibits"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Applies the change."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "exhibits",
        sa.Column("subject", sa.String(length=120), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("attempts", number, nullable=False),
        sa.Column("lease_until", number, nullable=False),
        sa.PrimaryKeyConstraint("subject", name=op.f("pk_exhibits")),
    )


def downgrade() -> None:
    """Takes it back."""
    op.drop_table("exhibits")
