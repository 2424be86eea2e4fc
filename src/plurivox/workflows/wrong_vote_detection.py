"""How well a score of tasks finds wrong votes: Spearman's correlation and AUC, with intervals over tasks and runs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from plurivox import aggregate
from plurivox.core.array_types import Bools, Floats
from plurivox.core.count_text import count_text
from plurivox.core.name_encoding import positions
from plurivox.core.recipe_tables import Table
from plurivox.core.results import Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.evaluate import Interval
from plurivox.workflows.ranking_by_several_scores import task_error_rates

MEASURES = ("Spearman", "AUC, wrong majority")
NOTES = (
    "Spearman's correlation of the badness with the share of wrong votes of a task, and the AUC: the probability "
    "that a task whose most voted label is wrong has a higher badness than one whose most voted label is right",
)


@dataclass(frozen=True, eq=False)
class WrongVoteDetection:
    """The badness of tasks by one score in each of its runs, beside what it should find: wrong votes and wrong majorities."""

    badness: Floats  # (n_runs, n_tasks)
    error_rate: Floats  # (n_tasks,) share of the task's votes that are wrong
    majority_wrong: Bools  # (n_tasks,)

    @classmethod
    def of_scores(cls, scores_of_each_run: Sequence[Scores], votes: Votes, gold: SoftLabels) -> "WrongVoteDetection":
        """Return the detection of a score on the tasks that have votes, a gold label and a finite badness in every run."""
        wrong = task_error_rates(votes, gold)
        badness = np.array([_badness_of_tasks(one, wrong) for one in scores_of_each_run])
        known = np.isfinite(badness).all(0) & np.isfinite(wrong.badness)
        tasks = wrong.names[known]
        shares = aggregate.methods.make("vote-shares").fit(votes).soft.on(tasks).on_labels(gold.labels)
        miss = shares.most_probable_label_codes() != gold.on(tasks).most_probable_label_codes()
        return cls(badness[:, known], wrong.badness[known], miss)

    def measures_of_run(self, run: int) -> dict[str, float]:
        """Return {"Spearman": ..., "AUC, wrong majority": ...} of one run over all tasks."""
        found = _spearman_and_auc(self.badness[run], self.error_rate, self.majority_wrong)
        return dict(zip(MEASURES, found, strict=True))

    def mean_measures_of_resamples(self, repeats: int, seed: int) -> Floats:
        """(repeats, 2) mean Spearman and AUC of drawn runs on drawn tasks; detections of the same tasks draw the same tasks."""
        rng, n_tasks = np.random.default_rng(seed), len(self.error_rate)
        run_rng = np.random.default_rng(seed + 1)  # so that the tasks drawn do not depend on the number of runs
        found = np.empty((repeats, len(MEASURES)))
        for i in range(repeats):
            drawn = rng.integers(0, n_tasks, n_tasks)
            wrong, miss = self.error_rate[drawn], self.majority_wrong[drawn]
            runs, times = np.unique(run_rng.integers(0, len(self.badness), len(self.badness)), return_counts=True)
            each = [_spearman_and_auc(self.badness[run, drawn], wrong, miss) for run in runs]
            found[i] = np.average(each, axis=0, weights=times)
        return found


def detection_interval_table(
    detection: WrongVoteDetection,
    name: str,
    baseline: WrongVoteDetection,
    baseline_name: str,
    *,
    repeats: int,
    seed: int,
) -> Table:
    """Return a table with rows for a score, a baseline score and their difference: Spearman and AUC with 95% intervals."""
    means = [
        np.mean([list(one.measures_of_run(run).values()) for run in range(len(one.badness))], 0)
        for one in (detection, baseline)
    ]
    drawn = [one.mean_measures_of_resamples(repeats, seed) for one in (detection, baseline)]
    rows = {name: (means[0], drawn[0]), baseline_name: (means[1], drawn[1])}
    rows[f"{name} minus {baseline_name}"] = means[0] - means[1], drawn[0] - drawn[1]
    cells: dict[str, object] = {"score": list(rows)}
    for i, measure in enumerate(MEASURES):
        cells[measure] = [_interval_text(float(mean[i]), resampled[:, i]) for mean, resampled in rows.values()]
    note = (
        f"95% intervals by a bootstrap over {count_text(len(detection.error_rate), 'task')} and, for {name}, "
        f"{count_text(len(detection.badness), 'run')}; "
        f"{int(detection.majority_wrong.sum()):,} of the tasks have a wrong majority"
    )
    return Table("How well it finds wrong votes, for other tasks and runs", cells, (note,))


def _badness_of_tasks(scores: Scores, wrong: Scores) -> Floats:
    """Return (n,) the badness of the tasks of `wrong`, in their order; NaN for tasks without a score."""
    place = positions(scores.names, wrong.names)
    return np.where(place >= 0, scores.badness[place], np.nan)


def _spearman_and_auc(badness: Floats, error_rate: Floats, majority_wrong: Bools) -> tuple[float, float]:
    """Return Spearman's correlation of a badness with the error rate, and its AUC for wrong majorities; NaN if undefined.

    >>> _spearman_and_auc(np.array([1.0, 2, 3]), np.array([0.0, 0.5, 1]), np.array([False, False, True]))
    (1.0, 1.0)
    """
    ranks, wrongs = rankdata(badness), rankdata(error_rate)
    n_bad, n_good = int(majority_wrong.sum()), int((~majority_wrong).sum())
    auc = (ranks[majority_wrong].sum() - n_bad * (n_bad + 1) / 2) / (n_bad * n_good) if n_bad and n_good else np.nan
    varies = np.ptp(ranks) > 0 and np.ptp(wrongs) > 0
    return float(np.corrcoef(ranks, wrongs)[0, 1].round(15)) if varies else float("nan"), float(auc)


def _interval_text(mean: float, resampled: Floats) -> str:
    """Return a mean with its 95% percentile interval as text; resamples in which it is undefined are left out."""
    low, high = np.nanquantile(resampled, [0.025, 0.975]) if np.isfinite(resampled).any() else (np.nan, np.nan)
    return str(Interval(mean, float(low), float(high)))
