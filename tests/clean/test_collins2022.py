"""The rules collins2022 and collins2022-released on workers with given numbers of errors and wrong answers."""

import pytest

from clean.faulty_answers import GOLD, LABELS, Row, answers_of, faulty, sitting
from plurivox.clean import clean
from plurivox.core.errors import InputError

PAPER, RELEASED = "collins2022", "collins2022-released"


def worker_rows(beyond: int = 0, torn: int = 0, empty: int = 0, zero: int = 0, wrong: int = 0) -> list[Row]:
    """Return answers of a worker: the first have so many errors of each kind, the last `wrong` have a wrong label."""
    texts = ["150"] * beyond + ["80"] * torn + [""] * empty + ["0"] * zero
    rows = sitting("ann", percent=lambda at: texts[at] if at < len(texts) else None)
    for at in range(beyond, beyond + torn):
        kind, label, typed = rows[at]["marks"][0]
        rows[at]["marks"] = [(kind, label, typed), ("never", label, "")]
    for at in range(14 - wrong, 14):
        label = next(one for one in LABELS if one != rows[at]["marks"][0][1])
        rows[at]["marks"] = [("named", label, "80")]
    return rows


@pytest.mark.parametrize(
    ("errors", "paper", "released"),
    [
        ({}, "", ""),
        ({"wrong": 10}, "", ""),  # low accuracy alone removes no worker
        ({"torn": 1}, "flagged", "flagged"),
        ({"torn": 1, "wrong": 4}, "removed", "removed"),  # accuracy 10 of 14 is below 75%
        ({"torn": 1, "wrong": 3}, "flagged", "flagged"),
        ({"torn": 2}, "flagged", "removed"),  # the paper has no rule for two errors
        ({"torn": 2, "wrong": 10}, "flagged", "removed"),
        ({"torn": 1, "empty": 1}, "flagged", "flagged"),  # the released code counts each kind of error separately
        ({"torn": 1, "empty": 1, "wrong": 4}, "flagged", "removed"),
        ({"torn": 3}, "removed", "removed"),
        ({"torn": 1, "empty": 1, "beyond": 1}, "removed", "removed"),
        ({"beyond": 1}, "flagged", "removed"),
        ({"zero": 2}, "", "removed"),  # the released code treats a percent of 0 as missing
        ({"zero": 1, "wrong": 5}, "", "removed"),
    ],
)
def test_errors_and_accuracy_at_which_workers_are_removed_or_flagged(
    errors: dict[str, int], paper: str, released: str
) -> None:
    answers = answers_of(worker_rows(**errors))
    for rule, verdict in ((PAPER, paper), (RELEASED, released)):
        audit = clean(answers, [rule], GOLD).audit
        assert audit.did.tolist() == [verdict] * bool(verdict), rule
        assert audit.what.tolist() == ["worker"] * bool(verdict)


def test_the_reason_for_two_errors_says_that_the_paper_does_not_mention_them() -> None:
    audit = clean(answers_of(worker_rows(torn=1, empty=1)), [PAPER], GOLD).audit
    assert audit.reason[0] == (
        "2 errors (0 out of range, 1 contradiction, 1 percent missing), not more than 2: the paper does not mention "
        "these; kept"
    )


def test_kinds_of_errors_are_counted_separately_on_request() -> None:
    answers = answers_of(worker_rows(torn=2, empty=2))
    assert clean(answers, [PAPER], GOLD).audit.did.tolist() == ["removed"]
    assert clean(answers, [f"{PAPER}[count=apart]"], GOLD).audit.did.tolist() == ["flagged"]


def test_removed_and_flagged_workers_among_those_with_every_fault() -> None:
    out = {rule: clean(faulty(), [rule], GOLD).audit for rule in (PAPER, RELEASED)}
    gone = {rule: audit.worker[audit.mask_removal_records("worker")].tolist() for rule, audit in out.items()}
    assert gone == {PAPER: ["beyond", "torn"], RELEASED: ["beyond", "empty", "torn"]}
    assert out[PAPER].worker[out[PAPER].did == "flagged"].tolist() == ["empty"]


def test_collins2022_needs_known_labels() -> None:
    with pytest.raises(InputError, match=r"collins2022 needs known labels: give them: gold=... \(--gold FILE\)"):
        clean(faulty(), [PAPER])
