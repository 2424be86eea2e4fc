"""Contract tests that every score must pass, including scores added later; `tests/evidence.py` has their inputs."""

import pickle
import warnings
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from evidence import LABELS, TASKS, WORKERS, columns, evidence_for, votes_of
from plurivox import identify
from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.core.results import Fit, Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.parallel_task_blocks import set_threads
from plurivox.identify import Evidence, Identifier

every = pytest.mark.parametrize("name", identify.methods)
of_tasks = pytest.mark.parametrize("name", [name for name in identify.methods if identify.methods[name].of == "task"])


def scored(name: str, evidence: Evidence | None = None) -> Scores:
    method = identify.methods.make(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlurivoxWarning)
        return method.score(evidence_for(method) if evidence is None else evidence)


def with_votes(name: str, votes: Votes) -> Scores:
    """Return the scores for other votes and for fits of these votes, with all other evidence unchanged."""
    return scored(name, evidence_for(identify.methods.make(name), votes))


def same(a: Scores, b: Scores, **near: float) -> None:
    assert a.names.tolist() == b.names.tolist()
    for column in ("raw", "badness", "low", "high", "n"):
        left, right = getattr(a, column), getattr(b, column)
        assert (left is None) == (right is None), column
        if left is not None:
            np.testing.assert_allclose(left, right, **near, err_msg=column)


@of_tasks
def test_a_score_of_tasks_declares_whether_it_is_about_the_truth_or_people(name: str) -> None:
    assert identify.methods[name].estimates in ("truth", "people"), f"{name} does not declare `estimates`"


def test_entropy_is_about_people_and_posterior_entropy_about_the_truth() -> None:
    votes = Votes.of(list("aaaaaabb"), list("uvwxyzuv"), [*["yes"] * 4, *["no"] * 2, "yes", "yes"])
    sure = SoftLabels.of([[0.01, 0.99], [0.2, 0.8]], "ab", ["no", "yes"], estimates="truth")
    people = identify.methods.make("entropy").score(Evidence(votes=votes)).raw
    truth = identify.methods.make("posterior-entropy").score(Evidence(fit=Fit(sure, votes.workers, "by hand"))).raw
    assert people[0] > people[1] and truth[0] < truth[1]


@every
def test_name_summary_options_and_evidence(name: str) -> None:
    method = identify.methods[name]
    assert method.name() == name and method.summary() == identify.methods.summary(name) != ""
    assert all(one.help for one in method.options())
    assert method.of in ("task", "worker", "crowd", "vote")
    known = {field.name for field in fields(Evidence)}
    assert method.usable_evidence() <= known and set(method().required_evidence()) <= {*method.needs, *method.may_use}
    assert bool(method.fitted_by) == bool(method.usable_evidence() & {"fit", "fits"})


@every
def test_the_docstring_explains_raw_and_badness(name: str) -> None:
    text = " ".join((identify.methods[name].__doc__ or "").split())
    assert "raw" in text and "badness" in text
    assert identify.methods[name].is_badness_monotone_in_raw != ("not a monotone function of raw" in text)


@every
def test_it_scores_every_name_in_order(name: str) -> None:
    scores, method = scored(name), identify.methods[name]
    wanted = {"task": TASKS, "worker": WORKERS, "crowd": np.array(["crowd"])}[method.of]
    assert scores.of == method.of and scores.names.tolist() == wanted.tolist()
    assert np.isfinite(scores.raw).any() and (np.isnan(scores.raw) == np.isnan(scores.badness)).all()


def with_interval(name: str) -> Scores:
    """Return the scores with an interval, of the bootstrap if the score has one."""
    options = {one.name: 50 for one in identify.methods[name].options() if one.name == "resamples"}
    method = identify.methods.make(name, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlurivoxWarning)
        return method.score(evidence_for(method))


@every
def test_the_interval_is_that_of_raw(name: str) -> None:
    scores = with_interval(name)
    assert (scores.low is None) == (scores.high is None)
    if scores.low is None or scores.high is None:
        return
    known = np.isfinite(scores.raw) & np.isfinite(scores.low)
    low, raw, high = scores.low[known], scores.raw[known], scores.high[known]
    assert len(raw) and (low <= raw + 1e-9).all() and (raw <= high + 1e-9).all()


@every
def test_badness_is_a_monotone_function_of_raw_or_says_why_not(name: str) -> None:
    scores = with_interval(name)
    if not identify.methods[name].is_badness_monotone_in_raw:
        return  # test_the_docstring_explains_raw_and_badness: the docstring gives the reason
    known = np.isfinite(scores.raw)
    by_raw = np.argsort(scores.raw[known], kind="stable")
    steps_raw, steps_badness = (np.diff(column[known][by_raw]) for column in (scores.raw, scores.badness))
    assert (steps_badness >= -1e-12).all() or (steps_badness <= 1e-12).all()
    assert (steps_badness[steps_raw > 1e-9] != 0).all()


@every
def test_the_worst_has_the_highest_badness(name: str) -> None:
    scores = scored(name)
    assert scores.badness[scores.names.tolist().index(scores.worst(1)[0])] == np.nanmax(scores.badness)


@every
def test_scores_can_be_reproduced_from_made_by(name: str) -> None:
    scores, made = scored(name), identify.methods.make(name)
    assert identify.methods.make(scores.made_by) == made and made.spec == scores.made_by
    same(scores, scored(name))


@every
def test_row_order_does_not_matter(name: str) -> None:
    rows = columns()
    mixed = np.random.default_rng(1).permutation(len(rows["task"]))
    same(scored(name), with_votes(name, votes_of({k: c[mixed] for k, c in rows.items()})), atol=1e-6)


@every
def test_results_are_bit_identical_for_any_number_of_threads(name: str) -> None:
    evidence = evidence_for(identify.methods.make(name))
    try:
        a, b = (set_threads(n) or scored(name, evidence) for n in (1, 2))  # type: ignore[func-returns-value]
    finally:
        set_threads(None)
    same(a, b, rtol=0, atol=0)


@every
def test_errors_about_missing_evidence_say_how_to_provide_it(name: str) -> None:
    method = identify.methods.make(name)
    whole = evidence_for(method)
    for need in method.required_evidence():
        bare = {one: () if one == "fits" else {} if one == "worker_dynamics" else None for one in need.split("|")}
        wanted = f"{name} needs {need.replace('_', ' ').replace('|', ' or ')}: "
        with pytest.raises(InputError, match=f"^{wanted}(?:give|record|aggregate) [a-z]"):
            method.score(replace(whole, **bare))  # type: ignore[arg-type]


@every
def test_a_fit_without_the_needed_field_is_rejected(name: str) -> None:
    method = identify.methods.make(name)
    if "fit" not in method.required_evidence() or not method.fit_fields:
        return
    evidence = evidence_for(method)
    assert evidence.fit is not None
    bare = replace(evidence.fit, **dict.fromkeys(method.fit_fields), made_by="by hand")
    with pytest.raises(
        InputError, match=f"{name} needs the {method.fit_fields[0]} of a fit, and by hand estimates none; use"
    ):
        method.score(replace(evidence, fit=bare))


@of_tasks
def test_a_task_without_votes_is_nan(name: str) -> None:
    rows = columns(n_tasks=29)
    if identify.methods[name]().required_evidence() == ("dynamics", "gold"):
        return  # this score does not use votes
    scores = with_votes(name, votes_of(rows, tasks=TASKS))
    assert scores.names.tolist() == TASKS.tolist()
    assert np.isnan(scores.raw[-1]) and np.isnan(scores.badness[-1])
    assert scores.n is None or scores.n[-1] == 0


def soft_answers() -> Votes:
    """Return every vote as a soft answer with weight .7 on its label and .3 on the next label."""
    rows = columns()
    n, at = len(rows["task"]), np.searchsorted(LABELS, rows["label"])
    twice = {name: np.repeat(column, 2) for name, column in rows.items()}
    twice["label"] = LABELS[np.column_stack([at, (at + 1) % len(LABELS)]).ravel()]
    return votes_of(twice, weight=np.tile([0.7, 0.3], n), answer=np.repeat(np.arange(n), 2))


@every
def test_soft_answers_are_weighted_or_rejected(name: str) -> None:
    method = identify.methods.make(name)
    if "votes" not in "|".join(method.required_evidence()):
        return
    if "soft" not in method.takes:
        with pytest.raises(InputError, match=f"{name} takes plain votes only"):
            method.score(replace(evidence_for(method), votes=soft_answers()))
        return
    assert np.isfinite(with_votes(name, soft_answers()).raw).any()
    n = len(columns()["task"])
    plain, corner = scored(name), with_votes(name, votes_of(columns(), weight=np.ones(n), answer=np.arange(n)))
    np.testing.assert_allclose(plain.raw, corner.raw, atol=1e-6)


@every
def test_counts_without_workers_are_accepted_or_rejected(name: str) -> None:
    method = identify.methods.make(name)
    if "votes" not in "|".join(method.required_evidence()):
        return
    votes = votes_of(columns())
    counts = Votes.from_counts(votes.counts(), TASKS, LABELS, ordered=True)
    evidence = replace(evidence_for(method), votes=counts)
    if "counts" in method.takes:
        np.testing.assert_allclose(scored(name, evidence).raw, scored(name).raw, atol=1e-12)
    elif evidence.answers is None:
        with pytest.raises(InputError, match=f"{name} needs worker names"):
            method.score(evidence)


@every
def test_scores_can_be_saved_pickled_and_converted_to_a_frame(name: str, tmp_path: Path) -> None:
    scores = scored(name)
    scores.save(tmp_path / "scores.npz")
    for back in (Scores.load(tmp_path / "scores.npz"), pickle.loads(pickle.dumps(scores))):
        same(scores, back, rtol=0, atol=0)
        assert back.made_by == scores.made_by
    table = list(scores.to_polars().columns)
    assert table[:2] == [scores.of, "raw"] and table[-1] == "badness"


@every
def test_the_method_can_be_pickled(name: str) -> None:
    method: Identifier = identify.methods.make(name)
    assert pickle.loads(pickle.dumps(method)) == method


@every
def test_soft_labels_that_estimate_the_other_quantity_are_noted(name: str) -> None:
    method = identify.methods.make(name)
    other = {"truth": "people", "people": "truth"}.get(method.estimates)
    evidence = evidence_for(method)
    if other is None or not ("fit" in method.required_evidence() or "soft" in method.usable_evidence()):
        return
    soft = SoftLabels.of(np.full((len(TASKS), len(LABELS)), 1 / len(LABELS)), TASKS, LABELS, estimates=other)
    fit = None if evidence.fit is None else replace(evidence.fit, soft=soft)
    with pytest.warns(PlurivoxWarning, match=f"{name} is about .*estimate {other}"):
        method.score(replace(evidence, fit=fit, soft=soft))
