"""Add a table of drafts (unfinished answers)."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add a table of drafts (unfinished answers)."""
    op.create_table(
        "drafts",
        sa.Column("worker_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("slot_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.Float(precision=53), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["slot_id"], ["slots.id"], name=op.f("fk_drafts_slot_id")),
        sa.ForeignKeyConstraint(["worker_id"], ["workers.id"], name=op.f("fk_drafts_worker_id")),
        sa.PrimaryKeyConstraint("worker_id", name=op.f("pk_drafts")),
    )
