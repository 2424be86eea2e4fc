"""Commands that lead from an exported study to its votes, and to the report on them."""

import shlex
from pathlib import Path

from plurivox.web.study.config import Study

EXPORTED, CLEANED, VOTES = "data", "cleaned", "votes"  # folders, as in docs/first_study.md


def commands_from_export_to_votes(study: Study, exported: str | Path = EXPORTED) -> list[str]:
    """Return the commands that turn an exported study into the votes of its soft labels, in the folder `votes`.

    >>> commands_from_export_to_votes(Study(name="pets", labels=["cat", "dog"], repeats=2))
    ['plurivox clean data --rules repeats-once -o cleaned', 'plurivox elicit form-column cleaned -o votes']
    """
    source, commands = shlex.quote(str(exported)), []
    if study.repeats:  # a person's second answer to a task is not the answer of another person
        commands.append(f"plurivox clean {source} --rules repeats-once -o {CLEANED}")
        source = CLEANED
    forms = f" --forms {shlex.quote(study.elicit)}" if study.elicit else ""
    return [*commands, f"plurivox elicit form-column {source}{forms} -o {VOTES}"]


def commands_from_study_to_report(study: Study, folder: Path, question: str) -> list[str]:
    """Return the commands that make the report on a question from a study in a folder, of which only the name is used."""
    return [
        f"plurivox studio export {shlex.quote(folder.resolve().name)} -o {EXPORTED}",
        *commands_from_export_to_votes(study),
        f"plurivox report {VOTES} --for {question} -o report.html",
    ]
