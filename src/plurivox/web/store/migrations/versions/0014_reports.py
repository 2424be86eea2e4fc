"""Add the reports that owners ask for, and the jobs that make them."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Add the tables report_jobs and report_pages."""
    op.create_table(
        "report_jobs",
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.Column("asked", sa.Float(precision=53), nullable=False),
        sa.Column("maker", sa.Text(), nullable=True),
        sa.Column("begun", sa.Float(precision=53), nullable=True),
        sa.Column("until", sa.Float(precision=53), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("question", name=op.f("pk_report_jobs")),
    )
    op.create_table(
        "report_pages",
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("made", sa.Float(precision=53), nullable=False),
        sa.Column("read_at", sa.Float(precision=53), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("people", sa.Integer(), nullable=False),
        sa.Column("excluded", sa.Integer(), nullable=False),
        sa.Column("last_answer", sa.BigInteger(), nullable=False),
        sa.Column("recounted", sa.Integer(), nullable=False),
        sa.Column("page", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("question", name=op.f("pk_report_pages")),
    )
