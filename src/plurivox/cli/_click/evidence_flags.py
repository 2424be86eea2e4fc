"""What scores look at, on the command line: one flag a kind of evidence, and how it is read."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._click.file_flags import Source, crowd_of, takes_counts
from plurivox.cli._click.flags import Flag
from plurivox.core.errors import InputError
from plurivox.core.method import split_list

if TYPE_CHECKING:
    from plurivox.aggregate import Aggregator
    from plurivox.cli._click.screen import Screen
    from plurivox.core.results import Dynamics, Fit
    from plurivox.identify import Identifier
    from plurivox.io import Dataset
    from plurivox.workflows.score_crowd import Gathering

SECTION = "Evidence"
EVIDENCE = ("soft", "fit", "fits", "gold", "guess", "dynamics", "worker_dynamics")
FILE = click.Path(path_type=Path)


def flags(looked_at: Collection[str]) -> Sequence[Flag]:
    """Every flag, those of evidence that is not looked at hidden."""
    fit = "fit" in looked_at or "fits" in looked_at
    trained = "dynamics" in looked_at or "worker_dynamics" in looked_at
    return [
        _flag("--soft", "soft" in looked_at, "FILE", "soft labels to look at instead of the votes"),
        _flag("--gold", "gold" in looked_at, "FILE", "known labels  [default: those of the data set]"),
        _flag("--guess", "guess" in looked_at, "FILE", "a classifier's probabilities, of tasks it was not trained on"),
        _flag("--dynamics", trained, "PATH", "logits recorded in training, .npz; a folder of one file a worker"),
        _flag("--fit", fit, "FILE.npz", "what plurivox aggregate --save kept; may be given again", multiple=True),
        Flag(
            ["--by"],
            SECTION,
            hidden=not fit,
            metavar="METHODS",
            help="the aggregation that makes the fit  [default: the one that the score names]",
        ),
    ]


def _flag(name: str, shown: bool, metavar: str, help: str, **more: Any) -> Flag:
    return Flag([name], SECTION, hidden=not shown, type=FILE, metavar=metavar, help=help, **more)


class Given:
    """INPUT and the evidence flags, read when a score asks for them."""

    def __init__(
        self,
        screen: "Screen",
        source: Source,
        *,
        part: str | None,
        soft: Path | None,
        gold: Path | None,
        guess: Path | None,
        dynamics: Path | None,
        fit: Sequence[Path],
        by: str | None,
    ) -> None:
        self.screen, self.source, self.part = screen, source, part
        self.soft, self.gold, self.guess, self.dynamics, self.fit = soft, gold, guess, dynamics, fit
        self.by = split_list(by) if by else []

    def gather(self, scores: "Sequence[Identifier]", *, alone: bool = False) -> "Gathering":
        """Everything that was given, read; votes only where a score looks at them or at a fit that is yet to be made."""
        from plurivox import aggregate, io
        from plurivox.workflows.score_crowd import Gathering, evidence

        self._note_unseen(scores)
        given = evidence(
            fit=[_fit(path) for path in self.fit],
            dynamics=_dynamics(self.dynamics) if self.dynamics else None,
            **{name: io.read_soft(path) for name in ("soft", "gold", "guess") if (path := getattr(self, name))},
        )
        data = self.source.read()
        makers = [aggregate.methods.make(word) for word in self.by]
        return Gathering(_chosen(self.screen, data, self.part, scores, makers), given, makers, alone=alone)

    def _note_unseen(self, scores: "Sequence[Identifier]") -> None:
        looked_at = {one for score in scores for one in score.looks_at()}
        for flag, kinds in FLAGS.items():
            if getattr(self, flag) and not looked_at & set(kinds):
                self.screen.note(f"no score here looks at --{flag}; it has no effect")


FLAGS = {
    "soft": ("soft",),
    "gold": ("gold",),
    "guess": ("guess",),
    "dynamics": ("dynamics", "worker_dynamics"),
    "fit": ("fit", "fits"),
    "by": ("fit", "fits"),
}


def _chosen(
    screen: "Screen",
    data: "Dataset",
    part: str | None,
    scores: "Sequence[Identifier]",
    makers: "Sequence[Aggregator]",
) -> "Dataset":
    """The data set with the one crowd that all scores look at, told once."""
    from plurivox.io import Dataset

    if not (data.has("votes") or data.has("counts")):
        return data
    crowd = data.crowd(part)
    if takes_counts(data, crowd) and (name := _who_needs_names(scores, makers)):
        votes = data.votes
        assert votes is not None
        raise InputError(
            f"{name} must know who voted; the counts of {data.name} ({crowd.n_tasks:,} tasks) hold no names. "
            f"Its votes ({votes.n_tasks:,} tasks) do: --part votes"
        )
    crowd = crowd_of(screen, data, part)
    rest: dict[str, Any] = {name: partial(getattr, data, name) for name in ("gold", "answers") if data.has(name)}
    return Dataset(data.name, votes=crowd, about=data.about, path=data.path, **rest)


def _who_needs_names(scores: "Sequence[Identifier]", makers: "Sequence[Aggregator]") -> str:
    """The first score, or maker of a fit, that cannot work on counts without names; "" where all can."""
    from plurivox import aggregate

    for score in scores:
        if "votes" in score.looks_at() and "counts" not in score.takes:
            return score.name()
        if score.looks_at() & {"fit", "fits"}:
            for maker in makers or [aggregate.methods.make(word) for word in score.fitted_by]:
                if "counts" not in maker.can_take():
                    return maker.name()
    return ""


def _fit(path: Path) -> "Fit":
    from plurivox.core.results import Fit

    return Fit.load(path)


def _dynamics(path: Path) -> "Dynamics | Mapping[str, Dynamics]":
    """One classifier's, of a file; one a worker, of a folder whose files are named after them."""
    from plurivox.core.results import Dynamics

    if not path.is_dir():
        return Dynamics.load(path)
    found = {file.stem: Dynamics.load(file) for file in sorted(path.glob("*.npz"))}
    if not found:
        raise InputError(
            f"{path} holds no .npz file; it needs one of recorded dynamics a worker, named after the worker"
        )
    return found
