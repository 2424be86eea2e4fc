"""What a report is made from: votes, gold labels, contents of tasks and trainings, read from what a caller gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from plurivox.core.answers import Answers
from plurivox.core.errors import InputError, warn_user
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.task_contents import TaskContents
from plurivox.core.votes import Votes
from plurivox.io import Dataset
from plurivox.io.dataset_reader import as_dataset
from plurivox.io.soft_label_inputs import as_soft_labels
from plurivox.io.task_contents_reader import read_task_contents
from plurivox.workflows.convert_answers_to_votes import elicit_votes
from plurivox.workflows.gold_of_voted_tasks import gold_of_tasks_with_votes_and_notes
from plurivox.workflows.report.trained_runs import TrainedRuns, read_trained_runs

PLACEHOLDER = "INPUT"  # in commands, if the data are not a file


@dataclass(frozen=True)
class ReportInputs:
    """The data of a report; `name_in_commands` is how commands name them."""

    name: str
    name_in_commands: str
    dataset: Dataset  # with the votes or counts below
    votes: Votes  # of named workers, or counts
    gold: SoftLabels | None
    answers: Answers | None
    contents: TaskContents
    runs: tuple[TrainedRuns, ...] = ()

    @property
    def has_named_workers(self) -> bool:
        """Whether every vote names its worker."""
        return bool(self.votes.n_workers) and not bool((self.votes.worker < 0).any())

    @property
    def usual_question(self) -> Literal["truth", "people"]:
        """What a report is about if nobody says it: what is true, or of counts without worker names what people say."""
        return "people" if bool((self.votes.worker < 0).any()) else "truth"

    def check_question(self, question: Literal["truth", "people"]) -> None:
        """Raise InputError if the votes cannot answer a question: without worker names nobody can be weighed."""
        if question == "truth" and self.usual_question == "people":
            raise InputError(
                f"which label is right cannot be estimated from counts without worker names, as in {self.name}: make the "
                "page about what people say: for_='people' (--for people)"
            )


def read_report_inputs(
    given: Any,
    *,
    gold: Any = None,
    images: Any = None,
    texts: Any = None,
    runs: Sequence[str | Path] = (),
    part: str | None = None,
    name_in_commands: str = "",
) -> ReportInputs:
    """Read votes (or answers, which become votes), gold labels, contents and trainings."""
    data = as_dataset(given)
    if not (data.has("votes") or data.has("counts")):
        if data.answers is None:
            raise InputError(
                f"a report needs votes; {data.name} contains {', '.join(data.parts()) or 'no table of votes'}"
            )
        data = data.without(votes=elicit_votes(data).votes)
    votes = data.crowd(part)
    if not len(votes):
        raise InputError(f"a report needs votes, and {data.name} has none")
    known = data.gold if gold is None else as_soft_labels(gold, votes)
    if gold is not None and known is not None:
        for note in gold_of_tasks_with_votes_and_notes(votes, known, counts_others=True)[1]:
            warn_user(note)
    known = None if known is None else known.shared(votes.tasks)
    return ReportInputs(
        name=data.name,
        name_in_commands=name_in_commands or PLACEHOLDER,
        dataset=data,
        votes=votes,
        gold=known if known is not None and len(known) else None,
        answers=data.answers,
        contents=read_task_contents(data, images, texts),
        runs=tuple(read_trained_runs(Path(run)) for run in runs),
    )
