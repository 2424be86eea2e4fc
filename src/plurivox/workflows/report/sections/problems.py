"""Section on problems: what may make the results wrong, the most serious first, each with what to do about it."""

from collections.abc import Callable, Iterator

import numpy as np

from plurivox.core.count_text import count_text
from plurivox.evaluate.find_evaluation_faults import find_labels_in_names
from plurivox.workflows.crowd_problems import FEW_VOTES, VOTES_PER_MATRIX_ROW, suspected_copies
from plurivox.workflows.report.commands import drop_workers_command, first_answers_only
from plurivox.workflows.report.leaks import tasks_with_same_content
from plurivox.workflows.report.page_content import Section, Severity, Warning, Warnings
from plurivox.workflows.report.sections._section_input import SectionInput, names_text, parts_text, percent_text
from plurivox.workflows.report.worker_trust import DROPPED

SEVERITIES: tuple[Severity, ...] = ("serious", "caution", "note")
MANY_BAD_VOTES = 0.1  # share of the votes by workers near random or against the others that is serious
MANY_LEAKS = 0.01  # share of the tested tasks from which a leak is serious

Check = Callable[[SectionInput], Iterator[Warning]]


def problems_section(given: SectionInput) -> Section:
    """Return the section on problems."""
    found = report_warnings(given)
    n = {severity: sum(one.severity == severity for one in found) for severity in SEVERITIES}
    counted = (
        count_text(n["serious"], "serious problem"),
        count_text(n["caution"], "thing to be careful about", "things to be careful about"),
        count_text(n["note"], "note"),
    )
    parts = [text for text, severity in zip(counted, SEVERITIES, strict=True) if n[severity]]
    answer = f"{' and '.join(parts) if len(parts) < 3 else f'{parts[0]}, {parts[1]} and {parts[2]}'}."
    if not found:
        answer = "None of the checks found a problem."
    return Section("problems", "What may be wrong?", answer, (Warnings(tuple(found)),))


def report_warnings(given: SectionInput) -> list[Warning]:
    """Return all warnings, the most serious first."""
    found = [warning for check in CHECKS for warning in check(given)]
    return sorted(found, key=lambda one: SEVERITIES.index(one.severity))


def _bad_workers(given: SectionInput) -> Iterator[Warning]:
    """Yield a warning on workers who are near random or against the others."""
    trust = given.results.trust
    if trust is None or not (n := trust.count(*DROPPED)):
        return
    share = float(trust.votes[trust.has_verdict(*DROPPED)].sum() / max(trust.votes.sum(), 1))
    yield Warning(
        "serious" if share >= MANY_BAD_VOTES else "caution",
        f"{count_text(n, 'worker')} {'votes' if n == 1 else 'vote'} as if at random, or against the others; they gave "
        f"{percent_text(share)} of all votes: {names_text(trust.names(*DROPPED))}.",
        "Read some of their votes, and leave these workers out if they are careless. Somebody who understands the tasks "
        "better than the others would stand here too.",
        drop_workers_command(trust.names(*DROPPED), given.name),
    )


def _copied_votes(given: SectionInput) -> Iterator[Warning]:
    """Yield a warning on pairs of workers who share too many mistakes."""
    votes = given.results.sampled or given.inputs.votes
    if not given.inputs.has_named_workers:
        return
    top = given.results.fit.soft.on(votes.tasks).most_probable_label_codes()
    if copies := suspected_copies(votes, top):
        first, second, n, expected = copies[0]
        yield Warning(
            "caution",
            f"{count_text(len(copies), 'pair')} of workers share more mistakes than chance explains, such as {first} and "
            f"{second}: {n} against {expected:.1f} expected.",
            "One may copy from the other, or both are one person. Copies count as independent votes and make labels too sure.",
            f"plurivox plot agreement {given.name} -o agreement.svg",
        )


def _few_votes_per_task(given: SectionInput) -> Iterator[Warning]:
    """Yield a warning on tasks with a single vote, or too few votes to see disagreement."""
    support = given.inputs.votes.support
    support = support[support > 0]
    single = float((support <= 1).mean()) if len(support) else 0.0
    command = f"plurivox assign next-best {given.name} --n 100 -o ask.csv" if given.inputs.has_named_workers else ""
    if single > 0.1:
        yield Warning(
            "serious" if single > 0.5 else "caution",
            f"{percent_text(single)} of the tasks have one vote: nothing on them shows a mistake.",
            "Ask a second person about them; until then, their labels are as good as the worker who gave them.",
            command,
        )
    elif len(support) and np.median(support) < 3:
        yield Warning(
            "caution",
            f"Half of the tasks have {np.median(support):g} votes or fewer: a soft label says little about how people "
            "disagree there.",
            "Ask a third person where the first two disagree.",
            command,
        )


def _repeated_answers(given: SectionInput) -> Iterator[Warning]:
    """Yield a warning on answers that repeat an earlier one of the same worker."""
    if n := given.results.about.n_repeats:
        yield Warning(
            "caution",
            f"{count_text(n, 'answer')} repeat an earlier one of the same worker to the same task. They are not "
            "independent, and count as votes of several people in the aggregation.",
            "Read only the first answer of each worker to each task, unless the repeats are meant to count.",
            f"plurivox report {first_answers_only(given.name)} -o report.html",
        )


def _undetermined_models(given: SectionInput) -> Iterator[Warning]:
    """Yield warnings on models that the votes do not determine."""
    votes = given.inputs.votes
    load = votes.n_answers_per_worker[votes.n_answers_per_worker > 0] if given.inputs.has_named_workers else np.zeros(0)
    if len(load) and (median := float(np.median(load))) / votes.n_labels < VOTES_PER_MATRIX_ROW:
        yield Warning(
            "caution",
            f"The median worker gave {median:,.0f} votes for a confusion matrix of {votes.n_labels} rows: matrices of "
            "single workers are hardly determined, and unpooled Dawid-Skene may be worse than vote shares.",
            "Use a method with pooled matrices, such as the default, and read the matrices of workers with many votes only.",
        )
    few = load[load < FEW_VOTES]
    if len(load) and len(few) / len(load) > 0.25:
        yield Warning(
            "note",
            f"{percent_text(len(few) / len(load))} of the workers gave fewer than {FEW_VOTES} votes "
            f"({percent_text(few.sum() / load.sum())} of all votes): little is known about them.",
        )
    if len(load) and load.max() / load.sum() > max(0.3, 1.5 / len(load)):
        yield Warning(
            "caution",
            f"One worker gave {percent_text(load.max() / load.sum())} of all votes: their mistakes become everyone's.",
            "Ask others about some of the same tasks.",
        )
    if given.results.about.share_unanimous > 0.9:
        yield Warning(
            "caution",
            f"On {percent_text(given.results.about.share_unanimous)} of the tasks all votes are for one label: no method "
            "can tell which of them are wrong, nor who is good.",
            "Only gold labels, or votes of other people, can tell.",
        )
    for spec, fit in given.results.fits.items():
        if fit.converged is False:
            yield Warning("note", f"{spec} had not converged when it reached its largest number of passes.")


def _labels(given: SectionInput) -> Iterator[Warning]:
    """Yield warnings on labels without votes, with few votes, or with nearly all."""
    votes = given.inputs.votes
    count = np.bincount(votes.label, votes.weights, minlength=votes.n_labels)
    total = max(count.sum(), 1)
    if votes.n_labels > 1 and count.max() / total > 0.85:
        yield Warning(
            "caution",
            f"{percent_text(count.max() / total)} of the votes are for {votes.labels[int(count.argmax())]}: accuracy says "
            "little; look at the rare labels.",
        )
    if len(rare := np.flatnonzero((count > 0) & (count < 20))):
        names = names_text(votes.labels[rare], 5)
        yield Warning(
            "note",
            f"{count_text(len(rare), 'label')} got fewer than 20 votes, so that little is known about them: {names}.",
        )
    if len(unused := np.flatnonzero(count == 0)):
        yield Warning("note", f"{count_text(len(unused), 'label')} got no vote: {names_text(votes.labels[unused], 5)}.")


def _gold_labels(given: SectionInput) -> Iterator[Warning]:
    """Yield warnings on gold labels that nobody voted for, and on task names that give the label away."""
    about, gold = given.results.about, given.inputs.gold
    if gold is None:
        return
    if about.share_gold_unvoted and about.share_gold_unvoted > 0.05:
        yield Warning(
            "caution",
            f"On {percent_text(about.share_gold_unvoted)} of the tasks with a gold label nobody voted for it: no method "
            "that weighs votes can get these right, or the gold labels are wrong there.",
            "They are listed in the section on hard tasks: is the gold label right, and was the question clear?",
        )
    for finding in find_labels_in_names(gold):
        yield Warning("note", f"{_sentence(finding.words)}")


def _leaks(given: SectionInput) -> Iterator[Warning]:
    """Yield warnings on tasks that are in several parts of the data, or else on the same content under several names."""
    for one in given.leaks:
        n_tested = max(
            (len(tasks) for name, tasks in given.inputs.dataset.splits.items() if name != "train"), default=0
        )
        yield Warning(
            "serious" if one.n > MANY_LEAKS * max(n_tested, 1) else "caution",
            f"Leak between the parts that the data name ({parts_text(given)}): {_sentence(one.words)}",
            "",
            f"plurivox audit {given.name}",
        )
    contents = given.inputs.contents
    for kind, found in (("text", contents.texts), ("image", contents.images)):
        doubled = [] if given.leaks else tasks_with_same_content(found)
        if doubled:
            examples = names_text([f"{task} (as {other})" for task, other in doubled], 3)
            yield Warning(
                "note",
                f"{count_text(len(doubled), 'task')} {'has' if len(doubled) == 1 else 'have'} the same {kind} as another: "
                f"{examples}.",
                "If one of them is trained on and the other tested on, the test is too easy.",
            )


def _left_out(given: SectionInput) -> Iterator[Warning]:
    """Yield notes on what the report leaves out, and on warnings of the computations."""
    for one in given.results.left_out:
        yield Warning("note", f"{one.spec} is left out: {one.reason.rstrip('.')}.")
    for note in given.results.notes:
        yield Warning("note", _sentence(note))


def _sentence(text: str) -> str:
    """Return a text as a sentence, with a capital letter and a full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."


CHECKS: tuple[Check, ...] = (
    _bad_workers,
    _leaks,
    _few_votes_per_task,
    _repeated_answers,
    _copied_votes,
    _undetermined_models,
    _gold_labels,
    _labels,
    _left_out,
)
