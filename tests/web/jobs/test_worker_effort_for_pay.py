"""Summary of paid work: which answers match the majority of the others."""

from collections import Counter

import numpy as np

from plurivox.web.jobs.worker_effort_for_pay import matches_others_majority_and_has_others


def matched_plainly(rows: list[tuple[int, int, int]], aside: set[int]) -> list[tuple[bool, bool]]:
    """Reference for `matches_others_majority_and_has_others`: count (worker, task, label) rows one by one."""
    told = []
    for worker, task, label in rows:
        others = Counter(it for who, at, it in rows if (at, who != worker, who in aside) == (task, True, False))
        del others[-1]
        most = max(others.values(), default=0)
        told.append((label >= 0 and most > 0 and others[label] == most, most > 0))
    return told


def test_a_match_excludes_the_own_vote_and_counts_ties() -> None:
    rng = np.random.default_rng(1)
    for n_labels in (1, 2, 4):
        rows = [
            (who, at, int(rng.integers(-1, n_labels))) for who in range(7) for at in range(30) if rng.random() < 0.5
        ]
        out = {2, 5}
        who, task, label = np.array(rows).T
        found = matches_others_majority_and_has_others(task, label, np.isin(who, list(out)))
        assert list(zip(*(one.tolist() for one in found), strict=True)) == matched_plainly(rows, out)
    nobody = np.zeros(0, np.int64)
    assert [len(one) for one in matches_others_majority_and_has_others(nobody, nobody, nobody.astype(bool))] == [0, 0]
