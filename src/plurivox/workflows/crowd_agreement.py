"""Agreement of a crowd: coefficients with intervals and their meaning, agreement per label and per pair of workers."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from plurivox import identify
from plurivox.core.array_types import Floats
from plurivox.core.atomic_write import atomic_folder
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, OptionError, PlurivoxWarning, first_few, unknown_name_error
from plurivox.core.name_encoding import label_positions_on_scale_or_none, parse_floats_or_none
from plurivox.core.one_answer_per_worker import one_answer_per_task_and_worker
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.recipe_tables import Table
from plurivox.core.votes import Votes
from plurivox.engine.answer_pair_agreement import has_two_or_more_answers
from plurivox.engine.worker_pair_agreement import WorkerPairs, agreement_of_worker_pairs
from plurivox.evaluate import Interval, agreement_per_label
from plurivox.identify import Evidence
from plurivox.identify._shared.score_intervals import wilson_interval_95
from plurivox.io import read
from plurivox.io.dataset import Dataset
from plurivox.io.dataset_reader import as_dataset, as_votes

Level = Literal["nominal", "ordinal", "interval"]
Repeats = Literal["first", "last", "set", "all"]
WEIGHTS = {"ordinal": "linear", "interval": "quadratic"}  # kappa weights of each level
FILES = ("agreement.csv", "labels.csv", "pairs.csv", "agreement.npz")  # that `write_tables` writes


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(DataType):
    """Agreement of a crowd: a table of coefficients, one of labels, one of pairs of workers, and what they rest on."""

    crowd: Table  # coefficient, method, value, low, high, n (tasks, or pairs of workers), meaning
    labels: Table  # label, votes, tasks, agreement, agreement_low, agreement_high, alpha, alpha_low, alpha_high
    pairs: Table  # first, second, tasks, agreement, kappa, low, high; with an order also weighted_kappa, ...
    level: str  # nominal, ordinal or interval
    n_tasks: int  # tasks with two votes or more
    n_votes: float  # votes on these tasks
    n_workers: int  # workers who gave them
    n_labels: int
    least: int  # smallest number of shared tasks of a pair of workers
    resamples: int
    seed: int
    notes: tuple[str, ...] = ()

    def __getitem__(self, method: str) -> Interval:
        """Return the value of one coefficient with its 95% interval, by the name or spec of its method."""
        methods = self.crowd.cells["method"].tolist()
        if method not in methods:
            raise unknown_name_error("coefficient in this agreement called", method, methods)
        at = methods.index(method)
        return Interval(*(float(self.crowd.cells[name][at]) for name in ("value", "low", "high")))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the table of coefficients as columns: coefficient, method, value, low, high, n, meaning."""
        return self.crowd.columns()

    def summary_values(self) -> dict[str, object]:
        alpha = self.crowd.cells["value"][self.crowd.cells["method"].tolist().index("krippendorff-alpha")]
        return {
            "tasks with two votes or more": self.n_tasks,
            "votes": round(self.n_votes),
            "workers": self.n_workers,
            "alpha": f"{alpha:.3f}",
        }

    def write_tables(self, folder: str | Path, *, replace: bool = False) -> None:
        """Write agreement.csv, labels.csv and pairs.csv (all pairs), and everything as agreement.npz, atomically."""
        check_folder_for_agreement(Path(folder), replace=replace)
        with atomic_folder(folder, replace=replace) as part:
            for name, table in zip(FILES, (self.crowd, self.labels, self.pairs), strict=False):
                (part / name).write_text(table.csv(), encoding="utf-8")
            self.save(part / FILES[-1])


def check_folder_for_agreement(folder: Path, *, replace: bool) -> None:
    """Raise InputError if the folder is not empty; with `replace`, only if it has other files than those of an agreement."""
    files = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
    if files and not replace:
        raise InputError(f"{folder} is not empty; name another folder, or replace it (replace=True, --force)")
    if others := [name for name in files if name not in FILES]:
        raise InputError(f"{folder} is not replaced: {first_few(others)} would be lost; name another folder")


def agreement(
    data: Any,
    *,
    level: Level | None = None,
    repeats: Repeats | None = None,
    part: str | None = None,
    least: int = 5,
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress = no_progress,
    **how: Any,
) -> Agreement:
    """Return the agreement of a crowd: coefficients, agreement per label and per pair of workers, with 95% intervals.

    `level`: labels are nominal (equal or not), ordinal (ordered) or interval (numbers); default: ordinal if they are declared
    to be ordered, else nominal. With an order, coefficients that count near misses as part agreement are shown too.

    Two answers of one worker to one task are not answers of two people. `repeats`: first (or last) uses one of them, by time,
    answer number or row of a table; set: a worker's labels for a task are one set of labels (multi-label); all: count them as
    if different workers gave them. Default: the first, where times or answer numbers say which it is; else a worker's
    different labels for a task share one vote, and a note says so.

    A pair of workers is listed if it shares `least` tasks. Intervals are over tasks: bootstrap with `resamples`; of mean
    kappas of pairs the delta method; of the kappa of a pair Wilson's interval of the agreement, with chance as known. `data`
    are Votes, a Dataset, the path or the name of one, or a DataFrame of votes; `how` are options of `read` for a path. `part`
    selects votes or counts if a data set has both.

    >>> votes = Votes.of(task=list("aabbccdd"), worker=["ann", "bo"] * 4, label=list("xxxyyyyy"))
    >>> made = agreement(votes, least=2)
    >>> made["krippendorff-alpha"].mean, made["cohen-kappa"].mean
    (0.5333333333333333, 0.5)
    >>> made.pairs.cells["agreement"].tolist()
    [0.75]
    """
    for name, value, allowed in (("level", level, Level), ("repeats", repeats, Repeats)):
        if value is not None and value not in get_args(allowed):
            raise OptionError(f"{name} must be one of {', '.join(get_args(allowed))}; got {value!r}")
    crowd = as_votes(_read_dataset_for_agreement(data, repeats, how), part)
    votes, notes = _votes_of_different_people_with_notes(crowd, repeats)
    votes, found_level, level_notes = _votes_on_scale_of_level(votes, level)
    several = has_two_or_more_answers(votes.support)
    if not several.any():
        raise InputError(_no_task_with_two_votes_text(crowd))
    used = votes.where(several[votes.task])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PlurivoxWarning)
        pairs, pair_notes = _agreement_of_pairs(votes, found_level, least)
        sets = repeats == "set" or _answers_are_label_sets(crowd)
        rows = list(_coefficient_rows(votes, found_level, sets, pairs, resamples, seed, progress))
    undefined = tuple(dict.fromkeys(str(one.message) for one in caught))
    return Agreement(
        crowd=Table.of_rows("Agreement", rows),
        labels=_label_table(votes, resamples, seed),
        pairs=_pair_table(votes, pairs),
        level=found_level,
        n_tasks=int(several.sum()),
        n_votes=used.n_answers,
        n_workers=len(np.unique(used.worker[used.worker >= 0])),
        n_labels=votes.n_labels,
        least=least,
        resamples=resamples,
        seed=seed,
        notes=(*notes, *level_notes, *pair_notes, *undefined),
    )


# ---- input


def _read_dataset_for_agreement(data: Any, repeats: str | None, how: dict[str, Any]) -> Dataset:
    """Return the data set; a table is read with the rule for repeats, whose note on repeats is replaced by our own."""
    rule = {"repeats": repeats} if repeats in ("first", "last") else {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*second or later answer to the same task", PlurivoxWarning)
        if isinstance(data, str | Path):
            found = read(data, **{**how, **rule})
        elif how:
            raise OptionError(
                f"{first_few(sorted(how))} applies only when a file is read: give it to pv.read or pv.votes"
            )
        else:
            found = as_dataset(data)
        if not (found.has("votes") or found.has("counts")) and found.has("answers"):
            raise InputError(
                f"{found.name} has answers as entered, not votes: convert them first (pv.elicit_votes, or plurivox elicit)"
            )
        for name in ("votes", "counts"):  # read now, since reading warns
            if found.has(name):
                getattr(found, name)
        return found


def _votes_of_different_people_with_notes(votes: Votes, repeats: str | None) -> tuple[Votes, list[str]]:
    """Return the votes with one answer of each worker to each task (all of them if repeats = all), and notes on that."""
    if not votes.n_repeats or repeats == "all":
        note = f"{votes.n_repeats:,} repeated answers of a worker to a task are counted as if other workers gave them"
        return votes, [note] if votes.n_repeats else []
    if repeats == "last":
        raise InputError(
            "which answer is the last is known only when a table is read: give the table itself, or in Python read it with "
            "pv.votes(..., repeats='last')"
        )
    made = one_answer_per_task_and_worker(votes, as_sets=repeats == "set")
    notes = []
    if repeats == "first" and made.n_shared:
        raise InputError(
            f"{made.n_shared:,} times a worker gave several labels to a task and it is not known which came first: read the "
            "table itself with repeats='first' (--repeats first), which uses its row order, or use repeats='set' "
            "(--repeats set) or 'all' (--repeats all)"
        )
    if made.n_left_out:
        notes.append(
            f"{made.n_left_out:,} answers are not their worker's first to the task and are left out; repeats='all' (--repeats "
            "all) counts them as if other workers gave them"
        )
    if made.n_shared and repeats is None:
        times = "1 time" if made.n_shared == 1 else f"{made.n_shared:,} times"
        notes.append(
            f"{times} a worker gave several labels to a task, and no time or answer number says which came first: they share "
            "one vote. If they are repeats in the order of the rows: repeats='first' (--repeats first); if they are sets of "
            "labels (multi-label): repeats='set' (--repeats set); to count each as a vote: repeats='all' (--repeats all)"
        )
    if repeats == "set":
        notes.append(
            f"{made.n_shared:,} answers are sets of several labels; except for the alphas of sets, labels share one vote"
        )
    return made.votes, notes


def _votes_on_scale_of_level(votes: Votes, level: str | None) -> tuple[Votes, str, list[str]]:
    """Return the votes with label positions for the level, the level, and notes; raise InputError if labels have no order.

    Positions are ranks for ordinal labels, and those of the scale, or the numbers that are the labels, for interval labels.
    """
    if level is None:
        level = "nominal" if votes.scale is None else "ordinal"
    if level == "nominal":
        return votes, level, []
    notes, scale = [], votes.scale
    if scale is None and parse_floats_or_none(votes.labels) is not None:
        scale = label_positions_on_scale_or_none(votes.labels, True)
        notes.append("the labels are numbers and are used as positions on a scale")
    if scale is None:
        raise InputError(
            f"the level {level} needs labels that are numbers or ordered: give all labels in their order, such as "
            "labels=['low', 'mid', 'high'], ordered=True (--labels low,mid,high --ordered)"
        )
    if level == "ordinal":
        scale = np.unique(scale, return_inverse=True)[1].astype(np.float64)
    return replace(votes, scale=scale), level, notes


def _no_task_with_two_votes_text(votes: Votes) -> str:
    """Return the text of the error for votes without a task that two workers answered."""
    alone = "; answers of one worker to a task count once (repeats='all', --repeats all, counts each)"
    return f"agreement needs a task with votes of two workers; no task has two{alone if votes.n_repeats else ''}"


# ---- coefficients of the crowd


def _coefficient_rows(
    votes: Votes,
    level: str,
    sets: bool,
    pairs: dict[str, WorkerPairs],
    resamples: int,
    seed: int,
    progress: Progress,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table of coefficients: first those that take labels as equal or not, then those with an order."""
    q = votes.n_labels
    specs = [
        (
            "observed-agreement",
            "observed agreement",
            "share of pairs of votes on a task that agree; chance not removed",
        ),
        ("krippendorff-alpha", "Krippendorff's alpha", "1: all agree, 0: as by chance; the usual one to report"),
        ("fleiss-kappa", "Fleiss' kappa", "as alpha, but every task counts the same"),
        ("cohen-kappa", "Cohen's kappa", "mean of pairs of workers; chance by each worker's own labels"),
        ("scott-pi", "Scott's pi", "mean of pairs of workers; chance by both workers' labels"),
        ("gwet-ac1", "Gwet's AC1", "for skewed labels: stays high where alpha and kappa fall"),
        ("bennett-s", "Bennett's S", f"chance is 1 / {q} labels, whatever labels workers prefer"),
    ]
    if sets:
        specs.append(
            ("krippendorff-alpha[level=masi]", "alpha of sets, MASI", "sets of labels: part agreement if they overlap")
        )
        specs.append(
            ("krippendorff-alpha[level=jaccard]", "alpha of sets, Jaccard", "as MASI, but milder on overlapping sets")
        )
    if level != "nominal":
        w = WEIGHTS[level]
        near = f"near misses count in part ({w} weights)"
        specs += [
            (f"krippendorff-alpha[level={level}]", f"alpha, {level}", "as alpha; the farther apart, the worse"),
            (f"fleiss-kappa[weights={w}]", f"Fleiss' kappa, {w}", near),
            (f"cohen-kappa[weights={w}]", f"Cohen's kappa, {w}", near),
            (f"scott-pi[weights={w}]", f"Scott's pi, {w}", near),
            (f"gwet-ac1[weights={w}]", f"Gwet's AC2, {w}", near),
            (f"bennett-s[weights={w}]", f"Bennett's S, {w}", near),
        ]
    if level == "interval":
        specs += _icc_specs(votes)
    for spec, title, meaning in specs:
        if spec.split("[")[0] in ("cohen-kappa", "scott-pi"):
            if spec in pairs:
                yield _row_of_mean_over_pairs(spec, title, meaning, pairs[spec], _distance_range(votes, spec))
        else:
            made = identify.methods.make(spec, resamples=resamples, seed=seed, repeated="all").score(
                Evidence(votes=votes), progress=progress
            )
            low, high = (np.nan if one is None else float(one[0]) for one in (made.low, made.high))
            n = 0.0 if made.n is None else float(made.n[0])
            values = {"value": float(made.raw[0]), "low": low, "high": high, "n": n}
            yield {"coefficient": title, "method": spec, **values, "meaning": meaning}


def _distance_range(votes: Votes, spec: str) -> float:
    """Return the largest distance of two labels by the weights in the spec of a kappa."""
    apart = 1.0 if votes.scale is None else float(np.ptp(votes.scale)) or 1.0
    return apart**2 if "quadratic" in spec else apart if "linear" in spec else 1.0


def _icc_specs(votes: Votes) -> list[tuple[str, str, str]]:
    """Return (spec, title, meaning) of the intraclass correlations: two-way ones only if all workers answered all tasks."""
    specs = [("icc", "ICC(1)", "share of the labels' variance that is between tasks; any workers")]
    named = bool(len(votes)) and bool((votes.worker >= 0).all())
    cells = len(np.unique(votes.task.astype(np.int64) * max(votes.n_workers, 1) + votes.worker))
    if named and cells == len(np.unique(votes.task)) * len(np.unique(votes.worker)) and len(np.unique(votes.task)) > 1:
        specs.append(("icc[model=agreement]", "ICC(A,1)", "the same workers on all tasks; a lenient worker disagrees"))
        specs.append(("icc[model=consistency]", "ICC(C,1)", "the same workers on all tasks; a lenient worker does not"))
    return specs


def _row_of_mean_over_pairs(
    spec: str, title: str, meaning: str, pairs: WorkerPairs, distance_range: float
) -> dict[str, Any]:
    """Return the row of a coefficient that is the mean over pairs of workers, with its interval over tasks (delta method).

    `distance_range` is the largest distance of two labels.
    """
    known = pairs.kappa[~np.isnan(pairs.kappa)]
    value = float(known.mean()) if len(known) else np.nan
    free = max(pairs.n_tasks - 1, 1)
    half = float(stdtrit(free, 0.975)) * pairs.mean_standard_error * ((free + 1) / free) ** 0.5
    if len(known) == 1:  # the row of the pair has the same kappa, and the better interval
        at = int(np.flatnonzero(~np.isnan(pairs.kappa))[0])
        low, high = (float(one[at]) for one in _interval_of_pair_kappas(pairs, distance_range))
    elif half > 0:
        low, high = max(value - half, -1.0), min(value + half, 1.0)
    else:
        low, high = np.nan, np.nan
    values = {"value": value, "low": low, "high": high, "n": float(len(known))}
    return {"coefficient": title, "method": spec, **values, "meaning": meaning}


def _interval_of_pair_kappas(pairs: WorkerPairs, distance_range: float) -> tuple[Floats, Floats]:
    """Return (low, high) 95% intervals of the kappa of each pair: Wilson's interval of the agreement, chance being known.

    As the interval of Cohen (1960) but with Wilson's (1927) for the agreement, which holds for few tasks and also if all
    agree; for weighted kappas, whose agreement is not only 0 or 1, it is wide rather than narrow. nan for undefined kappas.
    """
    n = pairs.n_shared
    low, high = wilson_interval_95(n * (1 - pairs.distance / distance_range), n)
    chance = np.where(np.isnan(pairs.kappa), np.nan, pairs.chance_distance / distance_range)
    return np.maximum(1 - (1 - low) / chance, -1), np.minimum(1 - (1 - high) / chance, 1)


def _answers_are_label_sets(votes: Votes) -> bool:
    """Return whether the votes came as answers with numbers that name one label, or several in equal shares."""
    if votes.answer is None or votes.n_repeats:
        return False
    _, answer, size = np.unique(votes.answer, return_inverse=True, return_counts=True)
    equal = np.abs(votes.weights - 1 / size[answer]) < 1e-6
    return bool((size > 1).any()) and bool(equal[votes.worker >= 0].all())


# ---- labels and pairs


def _label_table(votes: Votes, resamples: int, seed: int) -> Table:
    """Return the table of labels: votes, tasks, specific agreement and alpha against all other labels, with intervals."""
    found = agreement_per_label(votes, resamples=resamples, seed=seed)
    return Table(
        "Agreement per label",
        {
            "label": votes.labels,
            "votes": found.n_votes,
            "tasks": found.n_tasks.astype(np.int64),
            "agreement": found.specific,
            "agreement_low": found.specific_interval[0],
            "agreement_high": found.specific_interval[1],
            "alpha": found.alpha,
            "alpha_low": found.alpha_interval[0],
            "alpha_high": found.alpha_interval[1],
        },
    )


def _agreement_of_pairs(votes: Votes, level: str, least: int) -> tuple[dict[str, WorkerPairs], list[str]]:
    """Return spec -> agreement of all pairs of workers, for Cohen's kappa and Scott's pi, and notes if there are none."""
    if bool((votes.worker < 0).any()):
        missing = "no" if bool((votes.worker < 0).all()) else "only some"
        return {}, [
            f"{missing} votes have worker names, so there are no pairs of workers, Cohen's kappa and Scott's pi"
        ]
    if votes.answer is None and votes.weight is not None and bool((votes.weight != 1).any()):
        return {}, ["votes have weights other than 1, so there are no pairs of workers, Cohen's kappa and Scott's pi"]
    position = np.zeros(votes.n_labels) if votes.scale is None else votes.scale
    found = {}
    for name, pooled in (("cohen-kappa", False), ("scott-pi", True)):
        found[name] = agreement_of_worker_pairs(votes, position, "none", least, pooled=pooled)
        if level != "nominal":
            w = WEIGHTS[level]
            found[f"{name}[weights={w}]"] = agreement_of_worker_pairs(votes, position, w, least, pooled=pooled)
    if not len(found["cohen-kappa"].kappa):
        missing = "so there are no pairs of workers, Cohen's kappa and Scott's pi"
        return {}, [f"no two workers share {least} tasks, {missing}; lower least=... (--least N)"]
    return found, []


def _pair_table(votes: Votes, pairs: dict[str, WorkerPairs]) -> Table:
    """Return the table of pairs of workers; those whose interval of kappa ends lowest first, undefined ones last."""
    names = ("first", "second", "tasks", "agreement", "kappa", "low", "high")
    if not pairs:
        return Table("Agreement of pairs of workers", {name: [] for name in names})
    plain = pairs["cohen-kappa"]
    low, high = _interval_of_pair_kappas(plain, 1.0)
    columns = dict(
        zip(
            names,
            (
                votes.workers[plain.first],
                votes.workers[plain.second],
                np.rint(plain.n_shared).astype(np.int64),
                1 - plain.distance,
                plain.kappa,
                low,
                high,
            ),
            strict=True,
        )
    )
    for spec, weighted in pairs.items():
        if spec.startswith("cohen-kappa["):
            low_weighted, high_weighted = _interval_of_pair_kappas(weighted, _distance_range(votes, spec))
            columns |= {"weighted_kappa": weighted.kappa, "weighted_low": low_weighted, "weighted_high": high_weighted}
    order = np.lexsort((-plain.n_shared, np.nan_to_num(plain.kappa, nan=np.inf), np.nan_to_num(high, nan=np.inf)))
    return Table("Agreement of pairs of workers", {name: column[order] for name, column in columns.items()})
