"""Add tables for the arms of a study with several forms."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0006"


def upgrade() -> None:
    """Add tables for the arms of a study with several forms."""
    op.add_column("workers", sa.Column("arm", sa.Text(), nullable=False, server_default=""))
    op.create_table(
        "arms",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("left", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_arms")),
    )
    op.create_table(
        "arm_tasks",
        sa.Column("task_id", sa.BigInteger(), nullable=False),
        sa.Column("arm", sa.Text(), nullable=False),
        sa.Column("quota", sa.Integer(), nullable=False),
        sa.Column("given", sa.Integer(), nullable=False),
        sa.Column("queue", sa.Text(), nullable=True),
        sa.Column("home", sa.Text(), nullable=False),
        sa.Column("rank", sa.Float(precision=53), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_arm_tasks_task_id")),
        sa.PrimaryKeyConstraint("task_id", "arm", name=op.f("pk_arm_tasks")),
    )
    op.create_index("ix_arm_tasks_queue", "arm_tasks", ["arm", "queue", "given", "rank"])
