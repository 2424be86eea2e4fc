"""Add gold labels of tasks, the submit address of MTurk, exclusions and pay."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add gold labels of tasks, the submit address of MTurk, exclusions and pay."""
    op.add_column("tasks", sa.Column("gold", sa.Text(), nullable=True))
    op.add_column("raw_ids", sa.Column("submit_to", sa.Text(), nullable=True))
    op.create_table(
        "exclusions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("worker_id", sa.BigInteger(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(precision=53), nullable=False),
        sa.Column("lifted", sa.Float(precision=53), nullable=True),
        sa.ForeignKeyConstraint(["worker_id"], ["workers.id"], name=op.f("fk_exclusions_worker_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_exclusions")),
    )
    op.create_index("ix_exclusions_worker_id", "exclusions", ["worker_id"])
    op.create_table(
        "pay",
        sa.Column("worker_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["worker_id"], ["workers.id"], name=op.f("fk_pay_worker_id")),
        sa.PrimaryKeyConstraint("worker_id", name=op.f("pk_pay")),
    )
