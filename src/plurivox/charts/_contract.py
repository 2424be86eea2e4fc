"""Base class and registry of charts, and `ChartData`, what they draw."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from plurivox.core.answers import Answers
from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError
from plurivox.core.method import Method
from plurivox.core.registry import Methods
from plurivox.core.results import Confusion, Dynamics, Fit, Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.task_contents import TaskContents
from plurivox.core.votes import Votes

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure

__all__ = ["Chart", "ChartData", "History", "MeasureCurve", "MethodMeasures", "methods"]

History = Mapping[str, tuple[float, ...]]  # columns of a training's history by name: epoch, loss, dev measures

DATA_HINTS = {  # field of `ChartData` -> how to provide it if it is missing
    "votes": "give votes, or a data set that has them",
    "answers": "give answers as people entered them, such as the export of a study",
    "gold": "give true labels: gold= (--gold FILE), or a data set that has them",
    "soft": "give soft labels, or votes and the methods to aggregate them by: methods= (--methods LIST)",
    "fits": "give votes and the methods to fit: methods= (--methods LIST), or a fit saved by plurivox aggregate --save",
    "confusions": "give votes and a method that estimates confusion matrices, such as dawid-skene: methods= (--methods LIST)",
    "scores": "give scores, or votes and the names of scores: scores= (--scores LIST)",
    "dynamics": "give logits recorded while a net was trained: plurivox train --record visit writes RUN/dynamics.npz",
    "histories": "give a trained net or the folder of a training: plurivox train ... -o RUN",
    "curves": "give votes and gold labels, so that the measure can be computed",
    "measures": "give a comparison of methods: pv.compare, or a data set with gold labels",
    "contents": "give the images or texts of the tasks: images= (--images FILE), or a data set that has them",
}


@dataclass(frozen=True)
class MeasureCurve:
    """A measure of one method as a function of what was spent: answers per task, seconds or votes."""

    name: str  # of the method or question
    x: Floats  # (n,) increasing
    mean: Floats  # (n,)
    low: Floats | None = None  # (n,) 95% interval of the mean
    high: Floats | None = None
    x_title: str = "answers per task"
    measure: str = "accuracy"
    about: str = ""  # a sentence or two on what it was computed from, for the caption
    same_tasks: bool = True  # as the curves beside it: what one saves against another can be told


@dataclass(frozen=True)
class MethodMeasures:
    """Measures of several methods on one or more data sets, and their intervals."""

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    values: Mapping[str, Floats]  # measure -> (n_datasets, n_methods) NaN: no result
    low: Mapping[str, Floats] = field(
        default_factory=dict
    )  # measure -> (n_methods,) 95% interval of the mean over data sets
    high: Mapping[str, Floats] = field(default_factory=dict)
    higher_is_better: frozenset[str] = frozenset({"accuracy"})
    interval_text: str = "95% interval"  # what the intervals are, for the caption
    reference: str = ""  # the method that the others are compared with; empty: none
    remark: str = ""  # for the caption, such as what a mark behind the name of a method means


@dataclass(frozen=True)
class ChartData:
    """What charts draw; a chart names the fields that it needs, others may be empty."""

    name: str = ""  # of the data set, for captions
    votes: Votes | None = None
    answers: Answers | None = None
    gold: SoftLabels | None = None
    soft: Mapping[str, SoftLabels] = field(
        default_factory=dict
    )  # soft labels by method or file, those of `fits` included
    fits: Mapping[str, Fit] = field(default_factory=dict)  # fits by the spec of their method
    confusions: Mapping[str, Confusion] = field(
        default_factory=dict
    )  # confusion matrices by method, those of `fits` included
    scores: tuple[Scores, ...] = ()
    dynamics: Dynamics | None = None
    histories: Mapping[str, tuple[History, ...]] = field(default_factory=dict)  # runs of each training by its name
    curves: tuple[MeasureCurve, ...] = ()
    measures: MethodMeasures | None = None
    contents: TaskContents | None = None

    def has(self, field_or_alternatives: str) -> bool:
        """Return whether a field is not empty; for "a|b", whether a or b is not."""
        values = (getattr(self, name) for name in field_or_alternatives.split("|"))
        return any(value is not None and not (isinstance(value, tuple | Mapping) and not value) for value in values)


@dataclass(frozen=True)
class Chart(Method, ABC):
    """Base class of charts: a file is a chart, its fields are its options, its docstring its help.

    `needs` names the required fields of `ChartData`, `a|b` if one of two is enough, and `may_use` those drawn if they are
    there. `fitted_by` are the aggregators, and `scored_by` the scores, that are computed from the votes if the caller names
    none. `figures` names the figures of papers that it is like.
    `draw` draws on axes and returns the caption: a sentence or two on what is shown, with its main numbers. The options become
    flags of `plurivox plot`, so their names must differ from its flags.
    """

    needs: ClassVar[tuple[str, ...]] = ("votes",)
    may_use: ClassVar[tuple[str, ...]] = ()
    fitted_by: ClassVar[tuple[str, ...]] = ()
    scored_by: ClassVar[tuple[str, ...]] = ()
    needs_named_workers: ClassVar[bool] = False  # draws votes of named workers only, not counts
    takes_several_datasets: ClassVar[bool] = False
    figures: ClassVar[str] = ""

    @abstractmethod
    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw on `ax` and return the caption; the caller has checked that `data` has what the chart needs."""

    def size(self, data: ChartData) -> tuple[float, float]:
        """Return the width and height of a figure for these data, in inches."""
        del data
        return 6.4, 3.8

    def check(self, data: ChartData) -> None:
        """Raise InputError if `data` lacks a field that this chart needs."""
        for name in self.needs:
            if not data.has(name):
                wanted = " or ".join(one.replace("_", " ") for one in name.split("|"))
                how = "; or ".join(DATA_HINTS[one] for one in name.split("|"))
                raise InputError(f"the chart {self.name()} needs {wanted}: {how}")

    @classmethod
    def usable_data(cls) -> frozenset[str]:
        """Return the names of all fields of `ChartData` that this chart can draw, required or not."""
        return frozenset("|".join((*cls.needs, *cls.may_use)).split("|"))


methods: Methods[Chart] = Methods(__package__, Chart)
