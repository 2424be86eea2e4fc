"""Add indexes for erasing a worker without reading all answers."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Create the indexes ix_slots_repeat_of and ix_answers_slot_id."""
    known = sa.text("repeat_of IS NOT NULL")
    op.create_index("ix_slots_repeat_of", "slots", ["repeat_of"], sqlite_where=known, postgresql_where=known)
    op.create_index("ix_answers_slot_id", "answers", ["slot_id"])
