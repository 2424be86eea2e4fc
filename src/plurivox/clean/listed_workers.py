"""Rule that removes the workers on a list."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Findings, Rule
from plurivox.clean._shared.cleaning_rule_input import AnswerRows
from plurivox.core.errors import OptionError, unknown_name_error
from plurivox.core.method import option, split_at_commas_outside_brackets
from plurivox.core.name_encoding import as_names, positions


@dataclass(frozen=True)
class ListedWorkers(Rule):
    """Remove all answers of the workers named in the option `workers`.

    For workers whom another step found unreliable, such as those that `plurivox report` or `plurivox identify` lists. A name
    that no worker has is an error. A name with a comma can be removed only by itself.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(["a", "a", "b"], ["ann", "bo", "ann"], ["x", "y", "x"])
    >>> clean(votes, [ListedWorkers(workers="bo")]).answers.workers.tolist()
    ['ann']
    """

    idempotent: ClassVar[bool] = False  # the workers are gone the second time, so that their names are unknown

    workers: str = option("", "names of the workers to remove, comma-separated")

    def _find_rule_violations(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        named = np.zeros(answer_rows.n_workers, bool)
        if self.workers:
            named[self._codes_of_workers(answer_rows)] = True
        return (Findings.from_mask("worker", named, np.ones(len(named)), lambda _: "on the list of workers to remove"),)

    def _codes_of_workers(self, answer_rows: AnswerRows) -> list[int]:
        """Return the codes of the workers named; the text may be one name with commas. Raise an error for unknown names."""
        if not answer_rows.n_workers:
            raise OptionError(f"{self.name()}: the votes name no workers")
        names = [self.workers]
        if int(positions(answer_rows.workers, as_names(names))[0]) < 0:
            names = split_at_commas_outside_brackets(self.workers)
        place = positions(answer_rows.workers, as_names(names, "workers"))
        for name, code in zip(names, place.tolist(), strict=True):
            if code < 0:
                raise unknown_name_error("worker", name, map(str, answer_rows.workers.tolist()))
        return [int(code) for code in place]
