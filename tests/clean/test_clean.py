"""Rules one after the other, and the audit of them all."""

import numpy as np
import pytest

from clean.faulty_answers import GOLD, faulty, lines
from plurivox.clean import OutOfRange, clean
from plurivox.core.audit import Audit
from plurivox.core.errors import InputError, UnknownName


def test_rules_are_applied_in_order_each_on_what_is_left() -> None:
    both = clean(faulty(), ["out-of-range[at-most=2]", "collins2022"], GOLD).audit
    assert both.worker[both.gone("worker")].tolist() == ["beyond", "torn"]
    assert both.rule.tolist() == ["out-of-range[at-most=2]", "collins2022", "collins2022"]
    other = clean(faulty(), ["collins2022", "out-of-range[at-most=2]"], GOLD).audit
    assert set(other.rule.tolist()) == {"collins2022"}


def test_the_summary_has_a_row_a_rule_also_where_it_found_nothing() -> None:
    audit = clean(faulty(), ["stored-twice", "repeats-once", "repeats-once[keep=last]", "collins2022"], GOLD).audit
    table = audit.summary()
    assert table["answers out"].tolist() == [14, 23, 0, 24] and table["people out"].tolist() == [0, 0, 0, 2]
    assert table["flagged"].tolist() == [0, 0, 0, 1] and audit.answers.sum() == 61


def test_what_is_left_says_what_was_done() -> None:
    left = clean(faulty(), ["stored-twice", "contradiction"]).answers
    assert left.notes == ("stored-twice: 14 of 169 rows removed", "contradiction: 1 of 155 rows removed")


def test_a_rule_may_be_made_or_named_and_must_exist() -> None:
    assert lines(clean(faulty(), [OutOfRange()]).answers) == lines(clean(faulty(), ["out-of-range"]).answers)
    with pytest.raises(UnknownName, match="did you mean 'too-fast'"):
        clean(faulty(), ["to-fast"])
    with pytest.raises(InputError, match="name at least one rule; there are attention-checks"):
        clean(faulty(), [])


def test_an_audit_refuses_what_it_cannot_mean() -> None:
    with pytest.raises(InputError, match="what of an audit is one of 'answer', 'worker', 'task', not 'vote'"):
        Audit.of(["r"], [("r", "vote", "removed", "", "", 0, 1, np.nan, "why")])  # type: ignore[list-item]
    with pytest.raises(InputError, match="rule of an audit is one of 'r', not 's'"):
        Audit.of(["r"], [("s", "answer", "removed", "", "", 0, 1, np.nan, "why")])


def test_an_audit_of_nothing_is_a_table_without_rows() -> None:
    empty = Audit.of(["r"])
    assert len(empty) == 0 and empty.to_polars().height == 0 and empty.summary()["answers out"].tolist() == [0]
