"""`plurivox describe INPUT`: what a crowd looks like."""

from plurivox.cli._command import Command
from plurivox.cli._files import INPUT, PART, READING_FLAGS, Source, crowd_of
from plurivox.cli._show import Answer, Screen, table


def run(screen: Screen, source: Source, part: str | None) -> Answer:
    """Read the votes, and the gold where there is some, and show the figures."""
    from plurivox.evaluate import describe as look

    data = source.read()
    about = look(crowd_of(screen, data, part), data.gold)
    return Answer({"input": source.where, "name": data.name, **about.facts()}, text=table(about.rows()))


describe = Command(
    "describe",
    params=[INPUT, *READING_FLAGS, PART],
    works=True,
    callback=run,
    help="Show what a crowd looks like: votes per task, agreement, and accuracy where gold is there.",
)
