"""EM of subtype models: runs that share a pass, dropped kinds, clamped tasks."""

import numpy as np
import pytest
from scipy.special import logsumexp

from plurivox.engine import ebcc_subtype_em
from plurivox.engine.confusion_em import KeyedVotes
from plurivox.engine.ebcc_subtype_em import SubtypeEM, SubtypeParams

N_TASKS, N_WORKERS, N_LABELS, N_SUBTYPES = 30, 4, 3, 2


def some_em(weighted: bool, n_clamped: int = 0) -> SubtypeEM:
    rng = np.random.default_rng(3)
    size = rng.integers(1, 5, N_TASKS)
    start = np.concatenate([[0], np.cumsum(size)])
    worker = np.concatenate([np.sort(rng.permutation(N_WORKERS)[:n]) for n in size])
    weight = rng.random(start[-1]) if weighted else None
    votes = KeyedVotes.from_columns_adding_keys(start, worker, rng.integers(0, N_LABELS, start[-1]), weight, N_LABELS)
    clamped = np.arange(N_TASKS) < n_clamped
    return SubtypeEM(votes, clamped, rng.dirichlet(np.ones(N_LABELS), n_clamped), N_WORKERS, N_SUBTYPES)


def some_params(seed: int, kinds: list[int]) -> SubtypeParams:
    rng = np.random.default_rng(seed)
    table = np.log(rng.dirichlet(np.ones(5), (N_WORKERS * N_LABELS, len(kinds)))[:, :, 0])
    return SubtypeParams(np.array(kinds), np.log(rng.dirichlet(np.ones(len(kinds)))), table)


def plain_pass(em: SubtypeEM, params: SubtypeParams) -> tuple[np.ndarray, np.ndarray, float]:
    """Return (n_kind, counts, log-likelihood) computed in plain numpy, clamped tasks first."""
    start, key, weight = em.votes[:3]
    w = np.ones(len(key)) if weight is None else weight
    n_kind, counts, value = np.zeros(len(params.kinds)), np.zeros_like(params.log_confusion), 0.0
    label = params.kinds // N_SUBTYPES
    for t in range(N_TASKS):
        rows = slice(start[t], start[t + 1])
        score = params.log_prior + (w[rows, None] * params.log_confusion[key[rows]]).sum(0)
        if t < len(em.known):
            within = np.array([logsumexp(score[label == one]) for one in range(N_LABELS)])
            posterior = np.exp(score - within[label]) * em.known[t, label]
            value += em.known[t] @ within
        else:
            posterior = np.exp(score - logsumexp(score))
            value += logsumexp(score)
        n_kind += posterior
        np.add.at(counts, key[rows], w[rows, None] * posterior)
    return n_kind, counts, value


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_clamped", [0, 7])
def test_runs_that_share_a_pass_match_plain_numpy(weighted: bool, n_clamped: int) -> None:
    em = some_em(weighted, n_clamped)
    runs = [some_params(1, [0, 2, 4]), some_params(2, list(range(6))), some_params(3, [1, 2, 3, 5])]
    for (counts, value), params in zip(em.expected_counts_and_log_likelihoods(runs), runs, strict=True):
        n_kind, table, objective = plain_pass(em, params)
        np.testing.assert_allclose(counts.n_kind, n_kind, atol=1e-12)
        np.testing.assert_allclose(counts.counts, table, atol=1e-12)
        assert value == pytest.approx(objective, rel=1e-12)


def test_separate_and_shared_passes_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    em, runs = some_em(True), [some_params(seed, list(range(6))) for seed in range(4)]
    shared = em.expected_counts_and_log_likelihoods(runs)
    monkeypatch.setattr(ebcc_subtype_em, "MAX_SHARED_CELLS", 1)
    for (one, value), (other, objective) in zip(shared, em.expected_counts_and_log_likelihoods(runs), strict=True):
        np.testing.assert_array_equal(one.counts, other.counts)
        assert value == objective


def test_kinds_are_dropped_only_if_no_votes_can_make_them_probable() -> None:
    em, params = some_em(False), some_params(1, list(range(6)))
    gap = params.log_confusion[:, 1] - params.log_confusion[:, 0]
    reach = em.max_votes_per_task * gap.max()  # the most that votes can favour kind 1 over kind 0 of the same label
    for below, kept in ((41 + reach, False), (39 + reach, True)):
        log_prior = params.log_prior.copy()
        log_prior[1] = log_prior[0] - below
        (counts, value), *_ = em.expected_counts_and_log_likelihoods([params._replace(log_prior=log_prior)])
        assert (1 in counts.kinds) == kept
        n_kind, _, objective = plain_pass(em, params._replace(log_prior=log_prior))
        np.testing.assert_allclose(counts.n_kind, n_kind[counts.kinds], rtol=1e-12)
        assert value == pytest.approx(objective, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_agreement_uses_the_posterior_of_the_other_votes(weighted: bool) -> None:
    em, params = some_em(weighted, 5), some_params(4, [0, 1, 2, 4, 5])
    prob, agree = em.posterior_and_agreeing_weight_per_worker(params)
    start, key, weight, worker, said = em.votes
    w = np.ones(len(key)) if weight is None else weight
    expected, label = np.zeros(N_WORKERS), params.kinds // N_SUBTYPES
    for t in range(N_TASKS):
        rows = np.arange(start[t], start[t + 1])
        for v in rows:
            others = rows[worker[rows] != worker[v]]
            score = params.log_prior + (w[others, None] * params.log_confusion[key[others]]).sum(0)
            share = np.exp(score - logsumexp(score))[label == said[v]].sum() if t >= 5 else em.known[t, said[v]]
            expected[worker[v]] += w[v] * share
    np.testing.assert_allclose(agree, expected, rtol=1e-12)
    np.testing.assert_allclose(prob.sum(1), 1)


def test_the_simd_width_does_not_change_a_bit(monkeypatch) -> None:
    """Few votes use the widest rows, so that one compilation serves any number of runs."""
    em, runs = some_em(weighted=True), [some_params(1, [0, 2, 4]), some_params(2, list(range(6)))]
    widest = em.expected_counts_and_log_likelihoods(runs)
    monkeypatch.setattr(ebcc_subtype_em, "MIN_BLOCK_VOTES", 0)
    for (few, value), (many, same) in zip(widest, em.expected_counts_and_log_likelihoods(runs), strict=True):
        assert value == same
        np.testing.assert_array_equal(few.n_kind, many.n_kind)
        np.testing.assert_array_equal(few.counts, many.counts)
