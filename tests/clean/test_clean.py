"""Several rules applied in order, and their audit."""

import numpy as np
import pytest

from clean.faulty_answers import GOLD, faulty, lines
from plurivox.clean import PercentOutOfRange, clean
from plurivox.core.cleaning_audit import Audit
from plurivox.core.errors import InputError, UnknownName


def test_each_rule_is_applied_to_what_the_previous_rules_left() -> None:
    both = clean(faulty(), ["percent-out-of-range[at-most=2]", "collins2022"], GOLD).audit
    assert both.worker[both.mask_removal_records("worker")].tolist() == ["beyond", "torn"]
    assert both.rule.tolist() == ["percent-out-of-range[at-most=2]", "collins2022", "collins2022"]
    other = clean(faulty(), ["collins2022", "percent-out-of-range[at-most=2]"], GOLD).audit
    assert set(other.rule.tolist()) == {"collins2022"}


def test_the_summary_has_one_row_per_rule_even_without_findings() -> None:
    audit = clean(faulty(), ["stored-twice", "repeats-once", "repeats-once[keep=last]", "collins2022"], GOLD).audit
    table = audit.removed_and_flagged_counts_by_rule()
    assert table["answers out"].tolist() == [14, 23, 0, 24] and table["people out"].tolist() == [0, 0, 0, 2]
    assert table["flagged"].tolist() == [0, 0, 0, 1] and audit.answers.sum() == 61


def test_cleaned_answers_have_a_note_per_rule() -> None:
    left = clean(faulty(), ["stored-twice", "contradiction"]).answers
    assert left.notes == ("stored-twice: 14 of 169 rows removed", "contradiction: 1 of 155 rows removed")


def test_a_rule_is_an_object_or_a_known_name() -> None:
    assert lines(clean(faulty(), [PercentOutOfRange()]).answers) == lines(
        clean(faulty(), ["percent-out-of-range"]).answers
    )
    with pytest.raises(UnknownName, match="did you mean 'too-fast'"):
        clean(faulty(), ["to-fast"])
    with pytest.raises(InputError, match="name at least one rule; there are attention-checks"):
        clean(faulty(), [])


def test_an_audit_refuses_unknown_kinds_and_rules() -> None:
    with pytest.raises(InputError, match="what of an audit is one of 'answer', 'worker', 'task', not 'vote'"):
        Audit.of(["r"], [("r", "vote", "removed", "", "", 0, 1, np.nan, "why")])  # type: ignore[list-item]
    with pytest.raises(InputError, match="rule of an audit is one of 'r', not 's'"):
        Audit.of(["r"], [("s", "answer", "removed", "", "", 0, 1, np.nan, "why")])


def test_an_empty_audit_is_a_table_without_rows() -> None:
    empty = Audit.of(["r"])
    assert (
        len(empty) == 0
        and empty.to_polars().height == 0
        and empty.removed_and_flagged_counts_by_rule()["answers out"].tolist() == [0]
    )
