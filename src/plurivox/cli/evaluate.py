"""`plurivox evaluate GUESS TRUTH [--against VOTES]`: how good a guess is, with intervals."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._click.command import Command
from plurivox.cli._click.file_flags import IN_AND_OUT, PART, OutFile, Source, SourceName, crowd_of
from plurivox.cli._click.flags import GENERAL, Flag, OneOf, Operand
from plurivox.cli._click.screen import Answer, Screen, table
from plurivox.core.errors import InputError
from plurivox.core.method import split_list

if TYPE_CHECKING:
    from plurivox.core.soft_labels import SoftLabels
    from plurivox.core.votes import Votes
    from plurivox.evaluate import Judgement

ENDINGS = (".csv", ".md", ".json", ".tex", ".npz")


def run(
    screen: Screen,
    guess: str,
    truth: str,
    against: str | None,
    out: Path | None,
    part: str | None,
    measures: str | None,
    ties: str,
    repeats: int,
    seed: int,
) -> Answer:
    """Read the sides, judge, show; the whole judgement goes to OUT."""
    from plurivox.evaluate import judge

    if out is not None and out.suffix not in ENDINGS:
        raise InputError(f"{out} has an ending nobody knows; a judgement is written as {', '.join(ENDINGS)}")
    _keep_apart(out, guess, truth, against)
    mine, known = _side(screen, guess, part), _side(screen, truth, part)
    other = None if against is None else _side(screen, against, part)
    made = judge(
        mine.belief(),
        known.truth(),
        against=None if other is None or other.votes is not None else other.soft,
        votes=None if other is None else other.votes,
        measures=split_list(measures) if measures is not None else None,
        repeats=repeats,
        seed=seed,
        ties="share" if ties == "share" else "first",
    )
    for note in made.notes:
        screen.note(note)
    if out is not None:
        write(made, out)
    facts = {"command": screen.command, "guess": guess, "truth": truth, "against": against, "out": out}
    majority = {"label": made.majority_label, "accuracy": made.majority_share}
    how = {"repeats": repeats, "level": made.level, "seed": seed}
    return Answer(
        {**facts, "rows": made.columns(), "majority": majority, **how},
        text=f"{table([made.heads(), *made.cells()])}\n{made.majority}",
        line=f"-> {out}" if out else "",
    )


@dataclass(frozen=True)
class _Side:
    """What a file or data set can say about tasks."""

    name: str
    gold: "SoftLabels | None" = None
    soft: "SoftLabels | None" = None
    votes: "Votes | None" = None

    def truth(self) -> "SoftLabels":
        """Its gold, its soft labels, or the shares of its votes."""
        known = self.gold if self.gold is not None else self.soft
        return known if known is not None else self._shares()

    def belief(self) -> "SoftLabels":
        """Its soft labels, or the shares of its votes; gold is no guess."""
        return self.soft if self.soft is not None else self._shares()

    def _shares(self) -> "SoftLabels":
        from plurivox.evaluate import shares_of

        if self.votes is None:
            raise InputError(f"{self.name} holds neither soft labels nor votes")
        return shares_of(self.votes)


def _side(screen: Screen, where: str, part: str | None) -> _Side:
    if where.endswith(".npz") and Path(where).is_file():
        return _of_arrays(where)
    from plurivox import io

    if Path(where).is_file() and not _holds_votes(where):
        soft = io.read_soft(where)
        for note in soft.notes:
            screen.note(f"{where}: {note}")
        return _Side(where, soft=soft)
    data = Source(where, {}).read()
    speaks = data.has("votes") or data.has("counts")
    chosen = part if data.has("votes") and data.has("counts") else None
    votes = crowd_of(screen, data, chosen) if speaks else None
    return _Side(data.name, data.gold, data.soft_labels, votes)


def _of_arrays(where: str) -> _Side:
    """What an .npz says: a noun, or packed inputs with what is known of them. Neither needs tables."""
    import zipfile

    from plurivox.core.base import HEADER, Noun
    from plurivox.core.results import Fit
    from plurivox.core.soft_labels import SoftLabels
    from plurivox.core.votes import Votes

    names = [HEADER]
    if zipfile.is_zipfile(where):
        with zipfile.ZipFile(where) as file:
            names = file.namelist()
    if HEADER not in names:
        from plurivox.train.data.training_data import read_material

        packed = read_material(where)
        return _Side(where, packed.gold, packed.soft, packed.votes)
    noun = Noun.load(where)
    if isinstance(noun, Votes):
        return _Side(where, votes=noun)
    soft = noun.soft if isinstance(noun, Fit) else noun
    if not isinstance(soft, SoftLabels):
        raise InputError(f"{where} holds {type(noun).__name__}, neither soft labels nor votes")
    return _Side(where, soft=soft)


def _holds_votes(where: str) -> bool:
    """Whether a file is a crowd and not soft labels or gold: it names workers, or is called counts."""
    from plurivox import io
    from plurivox.io.tabular.table_files import ending_of

    if not ending_of(where):
        return False  # the reader of soft labels says which endings it knows
    columns = io.read_table(where).columns
    foreign = "task" not in columns and ".json" in ending_of(where)  # another program's export
    return foreign or "worker" in columns or Path(where).name.startswith("counts.")


def _keep_apart(out: Path | None, *read: str | None) -> None:
    """Refuse to write over what is read."""
    for where in read:
        if out is not None and where is not None and out.is_file() and Path(where).resolve() == out.resolve():
            raise InputError(f"{out} is named twice; what is read and what is written need a file each")


def write(made: "Judgement", out: Path) -> None:
    """The rows as CSV, Markdown, JSON or LaTeX, or the judgement itself."""
    from plurivox.core.atomic_write import whole_file

    if out.suffix == ".npz":
        made.save(out)
        return
    text = {".csv": made.csv, ".md": made.markdown, ".json": made.json, ".tex": made.latex}[out.suffix]()
    with whole_file(out) as part:
        part.write_text(text, encoding="utf-8")


evaluate = Command(
    "evaluate",
    params=[
        Operand(
            "guess",
            IN_AND_OUT,
            "soft labels to judge: a file that aggregate or predict wrote, or a data set",
            type=SourceName(),
            metavar="GUESS",
        ),
        Operand(
            "truth",
            IN_AND_OUT,
            "true labels: a table task,label, soft labels, or a data set (its gold, else its vote shares)",
            type=SourceName(),
            metavar="TRUTH",
        ),
        Flag(
            ["--against"],
            IN_AND_OUT,
            type=SourceName(),
            metavar="VOTES",
            help="what soft measures look at: votes, a data set with votes, or soft labels  [default: TRUTH]",
        ),
        Flag(
            ["-o", "--out"],
            IN_AND_OUT,
            type=OutFile(),
            metavar="FILE",
            help="every row: .csv, .md, .json, .tex or .npz",
        ),
        PART,
        Flag(
            ["--measures"],
            "Measures",
            metavar="LIST",
            help="names with commas between, or hard, soft, calibration, all  [default: the usual ones]",
        ),
        Flag(
            ["--ties"],
            "Measures",
            type=OneOf("way with ties", ("first", "share")),
            default="first",
            metavar="[first|share]",
            help="what a tie at the top says: its first label, or a share of each  [default: first]",
        ),
        Flag(
            ["--repeats"],
            "Measures",
            type=click.IntRange(min=0),
            default=1000,
            metavar="N",
            help="resamples of tasks for the intervals; 0: no intervals  [default: 1000]",
        ),
        Flag(
            ["--seed"],
            GENERAL,
            type=click.IntRange(min=0),
            default=0,
            metavar="N",
            help="of the resamples  [default: 0]",
        ),
    ],
    works=True,
    callback=run,
    help="Judge soft labels by hard, soft and calibration measures, with intervals and the majority baseline.",
)
