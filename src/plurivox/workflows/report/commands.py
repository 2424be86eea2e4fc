"""Commands that a report shows, as text for a shell."""

import shlex
from collections.abc import Sequence

from plurivox import aggregate


def shell_name(name: str) -> str:
    """Return the name of a file or data set as it is typed in a shell; a text with options behind the name stays as it is.

    >>> shell_name("my votes.csv"), shell_name("INPUT")
    ("'my votes.csv'", 'INPUT')
    """
    return shlex.quote(name)


def aggregate_command(spec: str, name_in_commands: str, out: str) -> str:
    """Return the command that aggregates votes by the method of this spec, with its options as flags.

    >>> aggregate_command("dawid-skene[pool=4.0]", "votes.csv", "truth.csv")
    'plurivox aggregate dawid-skene votes.csv --pool 4.0 -o truth.csv'
    """
    method = aggregate.methods.make(spec)
    flags = [
        f"--{one.name_with_dashes} {shlex.quote(str(getattr(method, one.name)))}"
        for one in method.options()
        if getattr(method, one.name) != one.default
    ]
    return " ".join(["plurivox aggregate", method.name(), name_in_commands, *flags, "-o", out])


def first_answers_only(name_in_commands: str) -> str:
    """Return how commands name the data if only the first answer of each worker to each task is to be read.

    >>> first_answers_only("votes.csv"), first_answers_only("votes.csv --repeats keep")
    ('votes.csv --repeats first', 'votes.csv --repeats keep')
    """
    return name_in_commands if "--repeats" in name_in_commands else f"{name_in_commands} --repeats first"


def report_cards_command(workers: Sequence[str], name_in_commands: str) -> str:
    """Return the command that shows the scores, the confusion matrix and the most unlikely votes of these workers.

    >>> report_cards_command(["ann", "bo"], "votes.csv")
    'plurivox recipe report-cards --data votes.csv --workers ann,bo -o cards'

    Return "" if the data need flags to be read, which recipes do not have.
    """
    if len(shlex.split(name_in_commands)) > 1:
        return ""
    chosen = f" --workers {shlex.quote(','.join(workers))}" if workers else ""
    return f"plurivox recipe report-cards --data {name_in_commands}{chosen} -o cards"


def drop_workers_command(workers: Sequence[str], name_in_commands: str, out: str = "kept") -> str:
    """Return the command that removes the votes of these workers and writes the others to a folder.

    >>> drop_workers_command(["ann", "b o"], "votes.csv")
    "plurivox clean listed-workers votes.csv --workers 'ann,b o' -o kept"
    """
    return f"plurivox clean listed-workers {name_in_commands} --workers {shlex.quote(','.join(workers))} -o {out}"
