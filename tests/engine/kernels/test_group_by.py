"""Grouping of rows, and votes packed into one integer."""

import numpy as np

from plurivox.engine.kernels.group_by import group_medians, row_order_and_offsets_by_group
from plurivox.engine.kernels.kappa_and_vote_agreement import pack_worker_label_and_task_end


def test_group_rows_matches_a_stable_sort() -> None:
    group = np.random.default_rng(0).integers(-1, 5, 200)
    order, start = row_order_and_offsets_by_group(group, 6)  # group 5 has no rows
    kept = np.flatnonzero(group >= 0)
    np.testing.assert_array_equal(order, kept[np.argsort(group[kept], kind="stable")])
    np.testing.assert_array_equal(np.diff(start), np.bincount(group[kept], minlength=6))


def test_group_medians_match_numpy() -> None:
    values = np.random.default_rng(0).random(9)
    found = group_medians(np.array([0, 4, 4, 9]), values)
    np.testing.assert_allclose(found, [np.median(values[:4]), np.nan, np.median(values[4:])])


def test_pack_votes_into_one_integer() -> None:
    key = pack_worker_label_and_task_end(
        np.array([0, 0, 3]), np.array([1, 2, 2**31 - 1]), np.array([0, 7, 2**31 - 1], np.uint32)
    )
    assert [(k >> 32, (k >> 1) & (2**31 - 1), k & 1) for k in key.tolist()] == [
        (1, 0, 0),
        (2, 7, 1),
        (2**31 - 1, 2**31 - 1, 1),
    ]
    assert len(pack_worker_label_and_task_end(*np.zeros((3, 0), np.int64))) == 0
