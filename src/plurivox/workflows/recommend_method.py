"""Recommend an aggregation method for given votes: simulate crowds like theirs, hide votes, and use what gold there is."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from plurivox import aggregate, evaluate
from plurivox.aggregate import Aggregator
from plurivox.core.array_types import TEXT, Bools, Floats, Ints, Names
from plurivox.core.errors import InputError, OptionError, first_few, unknown_name_error, warn_user
from plurivox.core.method import split_at_commas_outside_brackets
from plurivox.core.name_encoding import positions
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.second_compiler import announce_kernels
from plurivox.evaluate import Description
from plurivox.io.dataset_reader import as_dataset, as_votes
from plurivox.io.soft_label_inputs import as_soft_labels
from plurivox.workflows.crowd_problems import crowd_problems
from plurivox.workflows.gold_of_voted_tasks import gold_of_tasks_with_votes_and_notes
from plurivox.workflows.hidden_vote_evidence import HiddenVoteLosses, as_plain_votes, hidden_vote_losses
from plurivox.workflows.kernels_of_workflows import kernels_of_methods
from plurivox.workflows.recommendation import BACKED_BY_GOLD, Recommendation
from plurivox.workflows.recommendation_scores import (
    Question,
    question_called,
    scores_on_gold,
    scores_on_simulated_crowd,
    scores_per_task,
)
from plurivox.workflows.simulate_crowds_like import (
    MISREAD_SHARES,
    DrawnTasks,
    FittedCrowd,
    World,
    draw_one_more_vote_per_task,
    misread,
    simulate_votes,
    truth_worlds,
)
from plurivox.workflows.simulate_shares_like import shares_worlds

For = Literal["truth", "people", "training"]
MAX_SIMULATED_VOTES = 30_000  # with more, crowds are simulated on random tasks
MAX_CELLS = 3_000_000  # tasks or votes times labels of a simulated crowd
FEW_VOTES = 12_000  # up to these, four crowds per world, else two
GOLD_WORTH = 100.0  # gold tasks that are worth as much as the simulation
LEAST_CERTAIN = 20  # tasks that are listed


def recommend(
    votes: Any,
    for_: For | str = "truth",
    *,
    gold: Any = None,
    methods: str | Sequence[str] | None = None,
    part: str | None = None,
    misread_shares: Sequence[float] | None = None,
    crowds_per_world: int | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Recommendation:
    """Recommend an aggregation method for these votes, with the quality to expect, what else could help, and how sure that is.

    `for_` is the question: `truth` (the probability that a label is right), `people` (what share of the people would say each
    label) or `training` (labels to train on). Crowds with known truth are simulated from models fitted to the votes, for the
    same workers on the same tasks, and every candidate is scored on them. One hidden vote per task is predicted; for `people`
    that decides, for the others it is only shown. Gold labels (default: those of the data set) on 20 tasks or
    more are weighed in. The default method is kept unless another one is clearly better.

    `methods` are the candidates, beside the default. `misread_shares` are shares of tasks that the whole crowd may misread
    without a trace in the votes; default: those found on 16 public data sets with gold labels. `crowds_per_world` is the number
    of crowds simulated from each of the four models; default: 4, or 2 with more than 12,000 votes.

    >>> from plurivox.workflows.simulate_and_write_crowd import simulate_crowd
    >>> crowd = simulate_crowd("independent-confusion", n_tasks=80, n_workers=10, n_labels=3, feedback=4, seed=1)
    >>> made = recommend(crowd.votes, methods="vote-shares,wawa", crowds_per_world=1)
    >>> made.question, len(made.world)
    ('truth', 4)
    """
    if for_ not in get_args(For):
        raise unknown_name_error("question", str(for_), get_args(For))
    data = as_dataset(votes)
    known = data.gold if gold is None else as_soft_labels(gold, data)
    given = _with_votes_only(as_votes(data, part))
    if known is not None:
        if gold is not None:
            for note in gold_of_tasks_with_votes_and_notes(given, known, counts_others=True)[1]:
                warn_user(note)
        known = known.shared(given.tasks)
        known = known if len(known) else None
    question = question_called(str(for_))
    made = _candidates(question, methods, given)
    most = (5 if question.name == "people" else 1) * MAX_SIMULATED_VOTES
    design = votes_on_some_tasks(as_plain_votes(given), seed, most)
    crowd = None if bool((design.worker < 0).any()) else FittedCrowd.of(design)
    worlds = _worlds_of_question(question, design, crowd, seed)
    if crowds_per_world is not None and crowds_per_world < 1:
        raise OptionError(f"crowds_per_world must be 1 or more; got {crowds_per_world}")
    rounds = (4 if len(design) <= FEW_VOTES else 2) if crowds_per_world is None else crowds_per_world
    given_shares = list(MISREAD_SHARES.values() if misread_shares is None else misread_shares)
    if not given_shares or not all(0 <= one <= 1 for one in given_shares):
        raise OptionError(f"misread_shares are shares of tasks, 0 to 1; got {given_shares}")
    known_shares = [0.0] if question.name == "people" else given_shares
    shares = _misread_share_of_each_crowd(known_shares, rounds, len(worlds), seed)
    with announce_kernels(lambda: kernels_of_methods(made, [design])):
        simulated = _scores_on_simulated_crowds(question, made, worlds, design, shares, seed, progress)
    hidden = hidden_vote_losses(design, made, seed=seed)
    measured = _scores_on_gold_tasks(made, given, known, seed)
    weight = weights_of_crowds(simulated[:, 0, 0], measured) if question.name != "people" else _equal(len(simulated))
    at = choose_candidate(question, simulated, weight, hidden, measured)
    gain, at_least_certain = _gain_of_one_more_vote(question, made[at], worlds, design, shares, seed)
    fit = made[at].fit(given)
    order = np.argsort(fit.soft.confidence, kind="stable")[:LEAST_CERTAIN]
    about = evaluate.describe(given, known)
    return Recommendation(
        question=question.name,
        recommended=made[at].spec,
        default=made[0].spec,
        method=np.array([one.spec for one in made], TEXT),
        measures=question.measures,
        decided_by=question.decided_by,
        noise=question.noise,
        world=np.array([worlds[i % len(worlds)].name for i in range(len(shares))], TEXT),
        misread=shares,
        weight=weight,
        simulated=simulated,
        gain=gain,
        gain_at_least_certain=at_least_certain,
        least_certain=fit.soft.tasks[order],
        least_confidence=fit.soft.confidence[order],
        hidden=None if hidden is None else np.stack([hidden.mean, *hidden.differences_to(0)], 1),
        n_hidden=0 if hidden is None else hidden.loss.shape[1],
        measured=None if measured is None else measured.mean(1),
        measured_error=None if measured is None else _standard_error(measured),
        n_gold=0 if measured is None else measured.shape[1],
        crowd=_crowd_in_words(about, crowd),
        problems=tuple(crowd_problems(design, about, _consensus(design, crowd))),
        worlds={one.name: one.about for one in worlds},
        notes=tuple(_notes_on_design(given, design)),
    )


def _with_votes_only(votes: Votes) -> Votes:
    """Return the votes on tasks that have some; raise InputError if there are fewer than two, or one label."""
    if len(votes.tasks_with_votes) < 2 or votes.n_labels < 2:
        raise InputError("recommend needs votes on two tasks or more, and two labels or more")
    return votes if len(votes.tasks_with_votes) == votes.n_tasks else votes.on(votes.tasks_with_votes)


def _candidates(question: Question, methods: str | Sequence[str] | None, votes: Votes) -> list[Aggregator]:
    """Return the candidate methods, the default first; raise InputError if votes without names are asked for the truth."""
    unnamed = bool((votes.worker < 0).any())
    if question.name != "people" and unnamed:
        raise InputError(
            f"recommend for {question.name} needs worker names, and these votes contain counts without names; ask what people "
            "say: for_='people' (--for people), or aggregate them by majority-vote"
        )
    listed = (
        split_at_commas_outside_brackets(methods) if isinstance(methods, str) else list(methods or question.methods)
    )
    made = {one.spec: one for one in (aggregate.methods.make(spec) for spec in (question.default, *listed))}
    need = ({"soft"} if votes.answer is not None else set()) | ({"counts"} if unnamed else set())
    fitting = [one for one in made.values() if need <= one.accepted_inputs()]
    if not fitting:
        raise OptionError(
            f"none of the methods {first_few(list(made), 6)} takes these votes ({', '.join(sorted(need))})"
        )
    return fitting


def votes_on_some_tasks(votes: Votes, seed: int, most: int = MAX_SIMULATED_VOTES, keep: Names | None = None) -> Votes:
    """Return plain votes on random tasks, at most `most` votes, fewer with many labels; the tasks `keep` first."""
    limit = min(most, MAX_CELLS // votes.n_labels)
    if len(votes) <= limit:
        return votes
    order = np.random.default_rng(seed).permutation(votes.n_tasks)
    if keep is not None:
        order = order[np.argsort(positions(keep, votes.tasks[order]) < 0, kind="stable")]
    n = np.cumsum(votes.support[order])
    chosen = np.sort(order[: max(int((n <= limit).sum()), 2)])
    return _without_absent_workers(votes.on(votes.tasks[chosen]))


def _without_absent_workers(votes: Votes) -> Votes:
    """Return the votes without the names of workers who gave none of them."""
    if not votes.n_workers:
        return votes
    present = np.flatnonzero(votes.n_answers_per_worker > 0)
    code = np.full(votes.n_workers, -1)
    code[present] = np.arange(len(present))
    return replace(
        votes, worker=np.where(votes.worker < 0, -1, code[votes.worker]), workers=votes.workers[present], notes=()
    )


# ---- simulation


def _worlds_of_question(question: Question, design: Votes, crowd: FittedCrowd | None, seed: int) -> list[World]:
    """Return the worlds of a question; for people also that of confusion matrices, if workers have names."""
    if question.name != "people" and crowd is not None:
        return truth_worlds(crowd, seed)
    return shares_worlds(design) + ([] if crowd is None else truth_worlds(crowd, seed)[-1:])


def _misread_share_of_each_crowd(known: Sequence[float], rounds: int, n_worlds: int, seed: int) -> Floats:
    """Return (rounds * n_worlds,) shares of misread tasks: quantiles of the known ones, spread over the worlds.

    Crowd i is drawn from world i modulo the number of worlds.
    """
    n, rng = rounds * n_worlds, np.random.default_rng([seed, 1])
    values = np.quantile(known, (np.arange(n) + 0.5) / n).reshape(rounds, n_worlds)
    return np.concatenate([rng.permutation(row) for row in values])


def _draw_tasks(world: World, share: float, design: Votes, rng: np.random.Generator) -> DrawnTasks:
    return misread(world.draw(rng), share, design.n_labels, rng) if share else world.draw(rng)


def _scores_on_simulated_crowds(
    question: Question,
    methods: Sequence[Aggregator],
    worlds: Sequence[World],
    design: Votes,
    misread_shares: Floats,
    seed: int,
    progress: Progress,
) -> Floats:
    """Return (n_crowds, n_methods, n_measures) the scores of all methods on simulated crowds."""
    found = []
    for i, share in enumerate(misread_shares.tolist()):
        rng = np.random.default_rng([seed, 2, i])
        drawn = _draw_tasks(worlds[i % len(worlds)], share, design, rng)
        votes = simulate_votes(drawn, design, rng)
        fits = []
        for j, method in enumerate(methods):
            fits.append(_fit_or_none(method, votes))
            progress(i * len(methods) + j, len(misread_shares) * len(methods))
        found.append(scores_on_simulated_crowd(question, fits, drawn, [seed, 3, i]))
    return np.stack(found)


def _fit_or_none(method: Aggregator, votes: Votes) -> Fit | None:
    try:
        return method.fit(votes)
    except InputError:  # such as too little memory
        return None


def _gain_of_one_more_vote(
    question: Question, method: Aggregator, worlds: Sequence[World], design: Votes, misread_shares: Floats, seed: int
) -> tuple[Floats, float]:
    """Return ((n_worlds, 3) change of the scores by one more vote per task, share of the gain on the least certain fifth).

    The same tasks and votes are drawn twice, with and without the further votes. The gain is that of the first score for
    truth, of the Manhattan distance for people; its share is NaN unless it is clearly above 0.
    """
    changes, of_fifth, of_all = [], 0.0, 0.0
    at, sign = (1, -1.0) if question.name == "people" else (0, 1.0)
    for i, world in enumerate(worlds):
        fits, extra = [], None
        for _ in range(2):
            rng = np.random.default_rng([seed, 2, i])
            drawn = _draw_tasks(world, float(misread_shares[i]), design, rng)
            fits.append(method.fit(simulate_votes(drawn, design, rng, extra)))
            extra = draw_one_more_vote_per_task(design, np.random.default_rng([seed, 4, i]))
        before, after = (scores_per_task(question, fit, drawn) for fit in fits)
        changes.append((after - before).mean(0))
        least = np.argsort(fits[0].soft.confidence, kind="stable")[: max(design.n_tasks // 5, 1)]
        of_fifth += sign * float((after - before)[least, at].sum())
        of_all += sign * float((after - before)[:, at].sum())
    clear = of_all > 0.002 * len(worlds) * design.n_tasks
    return np.array(changes), float(np.clip(of_fifth / of_all, 0, 1)) if clear else float("nan")


# ---- gold, and the choice


def _scores_on_gold_tasks(
    methods: Sequence[Aggregator], votes: Votes, gold: SoftLabels | None, seed: int
) -> Floats | None:
    """Return (n_methods, n_gold, 3) accuracy, NLL and Brier score of each method on each gold task; None without gold."""
    if gold is None or len(gold) < 2:
        return None
    part = votes if votes.weight is not None else votes_on_some_tasks(votes, seed, keep=gold.tasks)
    known = gold.shared(part.tasks)
    fits = [_fit_or_none(method, part) for method in methods]
    return np.stack(
        [np.full((len(known), 3), np.nan) if fit is None else scores_on_gold(fit, part, known) for fit in fits]
    )


def weights_of_crowds(accuracy: Floats, measured: Floats | None) -> Floats:
    """Return (n_crowds,) weights of simulated crowds: the likelihood of the default's accuracy on gold, given the crowd's.

    `accuracy` (n_crowds,) is that of the default, `measured` (n_methods, n_gold, 3) its scores on gold in the first row. Equal
    without 20 gold tasks. More than 100 gold tasks count as 100, since no simulated crowd is exactly like the real one.
    """
    if measured is None or measured.shape[1] < BACKED_BY_GOLD:
        return _equal(len(accuracy))
    n = min(measured.shape[1], GOLD_WORTH)
    right = float(measured[0, :, 0].mean())
    p = np.clip(accuracy, 0.5 / n, 1 - 0.5 / n)
    log = n * (right * np.log(p) + (1 - right) * np.log(1 - p))
    weight = np.exp(log - log.max())
    return np.asarray(weight / weight.sum())


def _equal(n: int) -> Floats:
    return np.full(n, 1 / n)


def choose_candidate(
    question: Question, simulated: Floats, weight: Floats, hidden: HiddenVoteLosses | None, measured: Floats | None
) -> int:
    """Return the place of the recommended candidate: the default, which is the first, unless another one is clearly better.

    Truth and training: the lowest mean loss over simulated crowds and, with 20 gold tasks or more, on gold tasks (the
    simulation counts as 100 of them), if it is below that of the default by the margin, the NLL is not above it, and the
    candidate is better in two thirds of the crowds or on gold with 95% confidence. People: the lowest log loss of hidden votes,
    if it is below that of the default by the margin and with 95% confidence, and the candidate is not worse by more than the
    margin when simulated.
    """
    loss = simulated[:, :, question.decided_at]
    difference: Floats = weight @ (loss - loss[:, :1])
    if question.name == "people":
        if hidden is None:
            return 0
        on_votes, error = hidden.differences_to(0)
        sure = (on_votes + 1.96 * error < 0) & (difference <= question.margin)
        return _least_below_margin(on_votes, sure, question.margin)
    sure = weight @ (loss < loss[:, :1]) >= 2 / 3
    nll = simulated[:, :, question.measures.index("nll")]
    nll_difference: Floats = weight @ (nll - nll[:, :1])
    if question.name == "truth" and measured is not None and measured.shape[1] >= BACKED_BY_GOLD:
        n, on_gold = measured.shape[1], measured[:, :, 1:] - measured[:1, :, 1:]  # NLL and Brier score
        mean, error = on_gold.mean(1), _standard_error(on_gold)
        nll_difference = (GOLD_WORTH * nll_difference + n * mean[:, 0]) / (GOLD_WORTH + n)
        difference = (GOLD_WORTH * difference + n * mean[:, 1]) / (GOLD_WORTH + n)
        sure |= mean[:, 1] + 1.96 * error[:, 1] < 0
    return _least_below_margin(difference, sure & (nll_difference <= 0), question.margin)


def _least_below_margin(difference: Floats, allowed: Bools, margin: float) -> int:
    """Return the place of the least difference to the default among allowed candidates; 0 unless it is below -margin."""
    found = np.where(allowed & np.isfinite(difference), difference, 0.0)
    best = int(found.argmin())
    return best if found[best] < -margin else 0


def _standard_error(values: Floats) -> Floats:
    """Return (n_methods, n) the standard errors of means over the second axis of (n_methods, n_tasks, n)."""
    return np.asarray(values.std(1, ddof=1) / values.shape[1] ** 0.5)


# ---- words


def _consensus(design: Votes, crowd: FittedCrowd | None) -> Ints:
    """(n_tasks,) the fitted label of each task; the one with the most votes if workers have no names."""
    return design.counts().argmax(1) if crowd is None else crowd.matrices.soft.most_probable_label_codes()


def _crowd_in_words(about: Description, crowd: FittedCrowd | None) -> dict[str, str]:
    """Return a short description of the crowd as name -> value."""
    found = {
        "tasks": f"{about.n_tasks:,}",
        "labels": f"{about.n_labels:,}",
        "votes": f"{about.n_votes:,.0f}",
        "votes per task": f"{about.votes_per_task[0]:.3g}",
    }
    if about.n_workers:
        found["workers"] = f"{about.n_workers:,}"
    if about.observed_agreement is not None:
        found["agreement"] = f"{about.observed_agreement:.2f}"
    found["unanimous tasks"] = f"{about.share_unanimous:.0%}"
    if crowd is not None and crowd.matrices.ability is not None:
        low, middle, high = np.quantile(crowd.matrices.ability, (0.1, 0.5, 0.9))
        found["estimated accuracy of workers"] = f"{middle:.2f} (80% of them {low:.2f} to {high:.2f})"
    return found


def _notes_on_design(votes: Votes, design: Votes) -> list[str]:
    """Return notes on how the simulated votes differ from the given ones."""
    notes = []
    if design.n_tasks < votes.n_tasks:
        notes.append(
            f"crowds were simulated on {design.n_tasks:,} of {votes.n_tasks:,} tasks; workers have fewer votes there, so the "
            "quality to expect is a little too low"
        )
    if votes.answer is not None:
        notes.append("soft answers are simulated as plain votes, of the label with the largest weight")
    return notes
