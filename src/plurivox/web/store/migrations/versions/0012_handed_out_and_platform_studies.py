"""Add when each slot was handed out, how many repeats a worker's score is of, and the admitted studies of platforms."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Add when each slot was handed out, how many repeats a score is of, and the admitted studies of platforms; mark studies
    made before as not pinned."""
    op.add_column("slots", sa.Column("handed_out", sa.Float(precision=53), nullable=True))
    op.add_column("standings", sa.Column("repeats", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "platform_studies",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("study", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(precision=53), nullable=False),
        sa.PrimaryKeyConstraint("platform", "study", name=op.f("pk_platform_studies")),
    )
    # before, a platform in study.toml admitted everyone who used its link; such a study goes on, with a warning
    op.execute(
        "INSERT INTO facts (name, value) SELECT 'platforms_without_ids', 'true' WHERE EXISTS (SELECT 1 FROM tasks)"
    )
