"""Add the expected information gain of tasks, and an index of the batches that contain a task."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column tasks.gain and two indexes."""
    op.add_column("tasks", sa.Column("gain", sa.Float(precision=53), nullable=True))
    known = sa.text("gain IS NOT NULL")
    op.create_index("ix_tasks_gain", "tasks", ["queue", "gain", "rank"], sqlite_where=known, postgresql_where=known)
    op.create_index("ix_plan_tasks_task_id", "plan_tasks", ["task_id"])
