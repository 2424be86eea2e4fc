"""`plurivox describe INPUT`: what a crowd looks like, or what people entered."""

from pathlib import Path
from typing import TYPE_CHECKING

from plurivox.cli._click.command import Command
from plurivox.cli._click.file_flags import GOLD, INPUT, READING, READING_FLAGS, Source, crowd_of, gold_of
from plurivox.cli._click.flags import Flag, OneOf
from plurivox.cli._click.screen import Answer, Screen, table
from plurivox.core.errors import InputError, some

if TYPE_CHECKING:
    from plurivox.core.answers import Answers
    from plurivox.core.types import Names
    from plurivox.elicit import Elicited

PART = Flag(
    ["--part"],
    READING,
    type=OneOf("part", ("votes", "counts", "answers")),
    metavar="[votes|counts|answers]",
    help="which to look at where a data set has several  [default: votes or counts, else answers]",
)
NOTHING = ("na", "n/a", "nan", "null", "none", "?", "-")
UNSAID = "top-two"  # how answers are looked at that do not say how they were asked: it knows every kind of mark


def run(screen: Screen, source: Source, gold: Path | None, part: str | None) -> Answer:
    """Read the votes, or what people entered, and the gold where there is some, and show the figures."""
    from plurivox.evaluate import describe as look
    from plurivox.evaluate import describe_answers

    data = source.read()
    known = gold_of(data, gold)
    facts = {"input": source.where, "name": data.name}
    if part == "answers" or (part is None and data.has("answers") and not (data.has("votes") or data.has("counts"))):
        if (answers := data.answers) is None:
            raise InputError(f"{data.name} has no answers, what people entered; it holds {', '.join(data.parts())}")
        entered = describe_answers(answers, known)
        found = odd_of(screen, answers)
        text = table(entered.rows()) + (told(found) if found else "")
        return Answer({**facts, **entered.facts(), "odd": found.odd if found else {}}, text=text)
    crowd = crowd_of(screen, data, part)
    note_alike(screen, crowd.labels)
    about = look(crowd, known)
    return Answer({**facts, **about.facts()}, text=table(about.rows()))


def note_alike(screen: Screen, labels: "Names") -> None:
    """Say where labels look like one and the same, or like no label at all."""
    names = [str(label) for label in labels.tolist()]
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(" ".join(name.split()).casefold(), []).append(name)
    if alike := [name for group in folded.values() if len(group) > 1 for name in group]:
        screen.note(f"labels that differ by case or blanks alone count as different ones: {some(alike, 6)}")
    if none := [name for name in names if name.strip().casefold() in NOTHING]:
        screen.note(f"the label {none[0]!r} looks like a missing one; if it is, say --missing {none[0].strip()}")


def odd_of(screen: Screen, answers: "Answers") -> "Elicited | None":
    """The answers read by their forms, to see what is odd about them; None where a form is unknown."""
    from plurivox import elicit

    if not len(answers.labels):
        return None
    if answers.form is None:
        return elicit.methods.make(UNSAID).read(answers)
    strange = sorted({str(name) for name in answers.form.tolist()} - set(elicit.methods))
    if strange:
        screen.note(f"odd entries are not looked for: there is no form {strange[0]!r}")
        return None
    return elicit.methods.make("as-asked").read(answers)


def told(found: "Elicited") -> str:
    """What is odd, a line each, as `plurivox elicit` will read it."""
    from plurivox.elicit import FLAGS

    rows = [(name, f"{n:,}", FLAGS[name][1]) for name, n in found.odd.items()]
    return f"\n\nodd entries, and how {found.made_by} reads them\n{table(rows)}" if rows else "\nodd entries: none"


describe = Command(
    "describe",
    params=[INPUT, GOLD, *READING_FLAGS, PART],
    works=True,
    callback=run,
    help="Show what a crowd looks like: votes per task, agreement, accuracy where gold is there; or what people entered.",
)
