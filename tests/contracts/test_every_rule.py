"""Contract tests that every cleaning rule in the registry must pass."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from clean.faulty_answers import GOLD, faulty, lines, shuffled
from plurivox import clean
from plurivox.core.answers import Answers
from plurivox.core.cleaning_audit import Audit
from plurivox.core.errors import InputError
from plurivox.core.votes import Votes
from plurivox.workflows.prune_by_score import votes_for_first_labels

every = pytest.mark.parametrize("name", clean.methods)
on_votes = pytest.mark.parametrize("name", [one for one in clean.methods if "votes" in clean.methods[one].takes])
not_on_votes = pytest.mark.parametrize("name", [one for one in clean.methods if not clean.methods[one].takes])
idempotent = pytest.mark.parametrize("name", [one for one in clean.methods if clean.methods[one].idempotent])
# votes contain no errors, so the accuracy of every worker is checked
ALL = {"errors-and-low-accuracy": "errors-and-low-accuracy[fewest=0]"}
WITH_FAULTS = {"listed-workers": "listed-workers[workers=still]"}  # rules that find nothing without options


def votes() -> Votes:
    """Return the first labels of the same answers as votes, with times in the order of the rows."""
    plain = votes_for_first_labels(faulty())
    return Votes.of(**plain.columns() | {"when": 1e9 + np.arange(len(plain))}, labels=plain.labels)


def left_by(given: Any, audit: Audit) -> Any:
    """Return the rows that remain if exactly the removals listed in the audit are applied."""
    keep = np.ones(len(given), bool)
    keep[audit.row[audit.mask_removal_records("answer")]] = False
    out = np.isin(given.workers.tolist(), audit.worker[audit.mask_removal_records("worker")].tolist())
    return given.where(keep & ~np.append(out, False)[given.worker])


@every
def test_the_result_is_the_input_without_the_removals_of_the_audit(name: str) -> None:
    given = faulty()
    before = lines(given)
    done = clean.clean(given, [name], GOLD)
    assert lines(done.answers) == lines(left_by(given, done.audit))
    assert len(given) - len(done.answers) == done.audit.answers.sum()
    assert done.audit.rules == (name,)
    assert lines(given) == before


@every
def test_faults_are_found_and_every_finding_has_a_reason(name: str) -> None:
    audit = clean.clean(faulty(), [WITH_FAULTS.get(name, name)], GOLD).audit
    assert len(audit) > 0
    assert all(len(reason.split()) > 2 for reason in audit.reason.tolist())


@every
def test_only_removed_workers_disappear_from_the_worker_names(name: str) -> None:
    given = faulty()
    done = clean.clean(given, [name], GOLD)
    gone = set(done.audit.worker[done.audit.mask_removal_records("worker")].tolist())
    assert set(done.answers.workers.tolist()) == set(given.workers.tolist()) - gone
    assert done.answers.tasks.tolist() == given.tasks.tolist()


@idempotent
def test_an_idempotent_rule_removes_nothing_the_second_time(name: str) -> None:
    once = clean.clean(faulty(), [name], GOLD).answers
    twice = clean.clean(once, [name], GOLD)
    assert lines(twice.answers) == lines(once) and twice.audit.answers.sum() == 0


@every
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    one, other = (clean.clean(given, [name], GOLD).answers for given in (faulty(), shuffled(faulty())))
    assert Counter(lines(one)) == Counter(lines(other))


@every
def test_empty_answers_are_accepted(name: str) -> None:
    given = faulty()
    nothing: Answers = given.where(np.zeros(len(given), bool))
    done = clean.clean(nothing, [name], GOLD)
    assert len(done.answers) == 0 and len(done.audit) == 0


@on_votes
def test_votes_are_cleaned_like_answers(name: str) -> None:
    given = votes()
    done = clean.clean(given, [ALL.get(name, name)], GOLD)
    assert lines(done.answers) == lines(left_by(given, done.audit))
    assert len(given) - len(done.answers) == done.audit.answers.sum()


@not_on_votes
def test_rules_that_need_answers_reject_votes_with_a_clear_error(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} needs .* give the answers table"):
        clean.clean(votes(), [name], GOLD)


@every
def test_errors_about_missing_inputs_say_how_to_provide_them(name: str) -> None:
    bare = Answers.of(["a", "b"], ["ann", "bo"], [[("named", "x", "70")], [("named", "y", "")]])
    needs = set(clean.methods[name].needs) & {"gold", "seconds", "times", "repeats"}
    if not needs:
        assert clean.clean(bare, [name]).audit.rules == (name,)
        return
    with pytest.raises(InputError, match=rf"{name} needs .*(give|ask)"):
        clean.clean(bare, [name])
