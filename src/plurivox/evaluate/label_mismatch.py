"""Find labels of a prediction and a truth that do not meet: other names, other case, other numbers for the same labels."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from plurivox.core.array_types import Bools, Ints, Names
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_text, positions
from plurivox.core.soft_labels import SoftLabels

MAX_LABELS = 500  # with more labels no renaming is searched for: its time is cubic in their number
MIN_GAIN = 0.1  # a renaming is noted if it makes at least this share more of the tasks correct
MIN_KAPPA = 0.5  # ... and if the agreement with it, corrected for chance, is at least this
MIN_TASKS, MIN_TASKS_PER_LABEL = 20, 5  # ... and if there are at least so many tasks
MAX_LISTED = 6  # labels listed per side in a message
MAX_RENAMED = 20  # labels listed in a proposed renaming


def raise_if_no_common_label(prediction: SoftLabels, truth: SoftLabels, here: Ints, there: Ints) -> None:
    """Raise InputError if prediction and truth have no label in common; `here` and `there` are the rows of shared tasks.

    A single task may have two labels that simply differ.
    """
    if len(here) > 1 and not (positions(prediction.labels, truth.labels) >= 0).any():
        pairs = _LabelPairs.of_tasks(prediction, truth, here, there)
        raise InputError(f"{pairs.no_common_label_text('the truth')}; use the same names on both sides")


def labels_meet(prediction: SoftLabels, truth: SoftLabels, here: Ints, there: Ints) -> bool:
    """Return whether prediction and truth share enough labels to be compared, as `check_labels_meet` requires."""
    pairs = _LabelPairs.of_tasks(prediction, truth, here, there)
    return not (pairs.have_no_common_label or pairs.hardly_meet)


def check_labels_meet(
    prediction: SoftLabels, truth: SoftLabels, here: Ints, there: Ints, truth_name: str = "the truth"
) -> tuple[str, ...]:
    """Return notes on labels of prediction and truth that do not meet; raise InputError if none or only few do.

    `here` and `there` are the rows of the shared tasks. Few meet if the prediction of most tasks is a label that the truth
    never has, and the true label of most tasks one that is never predicted. A note is given if true labels are missing in the
    prediction, and if renaming labels one to one would make many more predictions correct: then both sides may number the
    same labels differently.

    >>> rows = np.arange(20)
    >>> numbers = SoftLabels.gold(rows, rows % 2, labels=[0, 1])
    >>> swapped = SoftLabels.gold(rows, 1 - rows % 2, labels=[0, 1])
    >>> print(check_labels_meet(numbers, swapped, rows, rows)[0].split(": ")[1].split(";")[0])
    0% of the top labels agree, 100% if '0' is '1', '1' is '0'
    """
    pairs = _LabelPairs.of_tasks(prediction, truth, here, there)
    if pairs.have_no_common_label or pairs.hardly_meet:
        raise InputError(f"{pairs.no_common_label_text(truth_name)}; {pairs.advice_on_names()}")
    note = pairs.renaming_note(truth_name) or pairs.missing_labels_note(truth_name)
    return (note,) if note else ()


def notes_on_gold_labels_of_votes(votes: SoftLabels, gold: SoftLabels, prefix: str = "") -> tuple[str, ...]:
    """Return notes on gold labels that do not meet those of the votes (their shares); raise InputError if none or few do.

    Both have the same tasks, in the same order. The rules are those of `check_labels_meet`.
    """
    rows = np.arange(len(gold))
    pairs = replace(_LabelPairs.of_tasks(votes, gold, rows, rows), prediction_name="the votes", can_rename=False)
    truth_name = "the gold labels"
    if pairs.have_no_common_label or pairs.hardly_meet:
        raise InputError(f"{prefix}{pairs.no_common_label_text(truth_name)}; {pairs.advice_on_names()}")
    note = pairs.renaming_note(truth_name) or pairs.missing_labels_note(truth_name)
    return (prefix + note,) if note else ()


def rename_option_text(names: Mapping[str, str]) -> str:
    """Return how to rename labels of the prediction, in Python and on the command line.

    >>> rename_option_text({"0": "cat", "1": "wild dog"})
    "rename={'0': 'cat', '1': 'wild dog'} (--rename '0=cat,1=wild dog')"
    """
    if not names:
        return "rename={'old': 'new', ...} (--rename old=new,...)"
    listed = dict(list(names.items())[:MAX_RENAMED])
    pairs = [f"{old}={new}" for old, new in listed.items()]
    words = ",".join(f'"{pair}"' if pair != pair.strip() or "," in pair else pair for pair in pairs)
    dots = ", ..." if len(names) > len(listed) else ""
    in_python = ", ".join(f"{old!r}: {new!r}" for old, new in listed.items())
    return f"rename={{{in_python}{dots}}} (--rename {shlex.quote(words)}{dots})"


@dataclass(frozen=True)
class _LabelPairs:
    """The most probable labels of the shared tasks: the predicted and the true ones, and which of them are the same."""

    predicted: Names  # (n_predicted,) the labels predicted for a shared task
    true: Names  # (n_true,) the true labels of a shared task
    predicted_code: Ints  # (n_tasks,) into `predicted`
    true_code: Ints  # (n_tasks,) into `true`
    same_true: Ints  # (n_predicted,) the code of the true label with the same name; -1 if there is none
    is_ever_true: Bools  # (n_predicted,) whether the truth has the label for any task, shared or not
    is_in_prediction: Bools  # (n_true,) whether the label is in the list of labels of the prediction
    n_common: int  # number of labels in the lists of both
    prediction_name: str = "the prediction"
    can_rename: bool = True  # whether the caller takes new names of labels (--rename)

    @classmethod
    def of_tasks(cls, prediction: SoftLabels, truth: SoftLabels, here: Ints, there: Ints) -> "_LabelPairs":
        """Return the pairs of most probable labels in these rows of the prediction and of the truth."""
        all_true = truth.most_probable_label_codes()
        predicted, predicted_code = np.unique(prediction.most_probable_label_codes()[here], return_inverse=True)
        true, true_code = np.unique(all_true[there], return_inverse=True)
        names = prediction.labels[predicted], truth.labels[true]
        return cls(
            as_text(names[0]),
            as_text(names[1]),
            predicted_code,
            true_code,
            same_true=positions(names[1], names[0]),
            is_ever_true=positions(truth.labels[np.unique(all_true)], names[0]) >= 0,
            is_in_prediction=positions(prediction.labels, names[1]) >= 0,
            n_common=int((positions(prediction.labels, truth.labels) >= 0).sum()),
        )

    @property
    def n_tasks(self) -> int:
        """The number of shared tasks."""
        return len(self.true_code)

    @property
    def have_no_common_label(self) -> bool:
        """Whether no label of the prediction is a label of the truth; a single task may simply be wrong."""
        return self.n_tasks > 1 and not self.n_common

    @property
    def hardly_meet(self) -> bool:
        """Whether most tasks have a predicted label that is never true, and most a true label that is never predicted."""
        is_predicted = np.zeros(len(self.true), bool)
        is_predicted[self.same_true[self.same_true >= 0]] = True
        shares = (~self.is_ever_true)[self.predicted_code].mean(), (~is_predicted)[self.true_code].mean()
        return min(len(self.predicted), len(self.true)) > 1 and bool(min(shares) > 1 / 2)

    @property
    def n_agreeing(self) -> int:
        """The number of shared tasks whose predicted label is the true one."""
        return int((self.same_true[self.predicted_code] == self.true_code).sum())

    @cached_property
    def renaming(self) -> dict[int, int]:
        """{predicted label: true label}, as codes: the labels that change their name to agree most; {} if it is uncertain.

        Two labels belong together, one to one, if they meet in half of the tasks of either; the others keep their names. It is
        uncertain if there are few tasks, or if the agreement corrected for chance (kappa) stays low.
        """
        shape = len(self.predicted), len(self.true)
        if not 0 < max(shape) <= MAX_LABELS or self.n_tasks < MIN_TASKS_PER_LABEL * max(shape):
            return {}
        from scipy.optimize import linear_sum_assignment  # imported here because it is slow

        count = np.bincount(self.predicted_code * shape[1] + self.true_code, minlength=shape[0] * shape[1])
        share = count.reshape(shape) / self.n_tasks
        row, column = linear_sum_assignment(-share)
        of_predicted, of_true = share.sum(1)[row], share.sum(0)[column]
        strong = (share[row, column] > 0) & (2 * share[row, column] >= np.maximum(of_predicted, of_true))
        agreed, chance = share[row, column][strong].sum(), (of_predicted * of_true)[strong].sum()
        if chance >= 1 or agreed - chance < MIN_KAPPA * (1 - chance):
            return {}
        pairs = zip(row[strong].tolist(), column[strong].tolist(), strict=True)
        return {old: new for old, new in pairs if self.same_true[old] != new}

    @property
    def new_names(self) -> dict[str, str]:
        """{predicted label: true label} of the labels that change their name to agree most."""
        return {str(self.predicted[old]): str(self.true[new]) for old, new in self.renaming.items()}

    @property
    def same_but_for_spelling(self) -> dict[str, str]:
        """{predicted label: true label} of labels that differ only by case, blanks, or how a number is written."""
        known = {_spelling_key(name): name for name in self.true.tolist()}
        others = self.predicted[self.same_true < 0].tolist()
        return {name: known[_spelling_key(name)] for name in others if _spelling_key(name) in known}

    def no_common_label_text(self, truth_name: str) -> str:
        """Return the first part of the error message for labels that do not meet: the labels of both sides."""
        left, right = first_few(self.predicted, MAX_LISTED), first_few(self.true, MAX_LISTED)
        found = "no label" if self.have_no_common_label else "hardly any label"
        name = self.prediction_name
        return f"{name} and {truth_name} have {found} in common: {left} in {name}, {right} in {truth_name}"

    def advice_on_names(self) -> str:
        """Return the second part of the error message for labels that do not meet: how to rename them."""
        if names := self.same_but_for_spelling:
            return f"some differ only by case, blanks or number format: {self.how_to_rename(names)}"
        if not self.can_rename:
            return self.how_to_rename({})
        if names := self.new_names:
            return f"most tasks would agree with {rename_option_text(names)}"
        return f"rename the labels of the prediction: {rename_option_text({})}"

    def how_to_rename(self, names: Mapping[str, str]) -> str:
        """Return the option that renames labels, or what to do without it."""
        return rename_option_text(names) if self.can_rename else "use the same names in both"

    def renaming_note(self, truth_name: str) -> str:
        """Return a note if another assignment of labels would make many more predictions correct; "" if not."""
        if self.n_tasks < MIN_TASKS or self.n_agreeing > (1 - MIN_GAIN) * self.n_tasks:
            return ""
        new_code = self.same_true.copy()
        for old, new in self.renaming.items():
            new_code[old] = new
        agree = self.n_agreeing / self.n_tasks
        then = float((new_code[self.predicted_code] == self.true_code).mean())
        if then - agree < MIN_GAIN:
            return ""
        names = self.new_names
        some = ", ".join(f"{old!r} is {new!r}" for old, new in list(names.items())[:MAX_LISTED])
        more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
        return (
            f"{self.prediction_name} and {truth_name} may name or number their labels differently: {agree:.0%} of the top "
            f"labels agree, {then:.0%} if {some}{more}; if so, {self.how_to_rename(names)}"
        )

    def missing_labels_note(self, truth_name: str) -> str:
        """Return a note on tasks whose true label the prediction does not have; "" if there are none."""
        n = int((~self.is_in_prediction)[self.true_code].sum())
        if not n:
            return ""
        verb = "do" if self.prediction_name.endswith("votes") else "does"
        text = (
            f"{n:,} of {self.n_tasks:,} tasks have a label of {truth_name} that {self.prediction_name} {verb} not have "
            f"({first_few(self.true[~self.is_in_prediction], MAX_LISTED)}): they count as wrong"
        )
        if self.is_ever_true.all():
            return text
        extra = first_few(self.predicted[~self.is_ever_true], MAX_LISTED)
        have = "have" if verb == "do" else "has"
        return f"{text}; only {self.prediction_name} {have} {extra}: if these are the same labels, {self.advice_on_names()}"


def _spelling_key(label: str) -> str:
    """Return a label in lower case without blanks around it, and a number in one notation.

    >>> [_spelling_key(label) for label in (" Cat", "1.0", "01", "1e0", "no")]
    ['cat', '1', '1', '1', 'no']
    """
    word = " ".join(label.casefold().split())
    try:
        return f"{float(word):g}"
    except ValueError:
        return word
