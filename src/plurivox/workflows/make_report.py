"""Make a report: one HTML page on votes, from what the data are to what to do next."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError, require_package, unknown_name_error
from plurivox.core.method import split_at_commas_outside_brackets
from plurivox.core.progress_callbacks import Progress, no_progress

if TYPE_CHECKING:
    from plurivox.workflows.report.page_content import Page

INSTALL = "pip install 'plurivox[plot]'"
METHOD_SECONDS = 20.0  # a method that takes longer is left out, except the defaults
QUESTIONS: dict[str, Literal["truth", "people"]] = {"truth": "truth", "people": "people"}


@dataclass(frozen=True)
class Report:
    """A report as one HTML page; `page` has its contents, `html` the whole file. A notebook shows its summary."""

    page: "Page"
    html: str
    question: Literal["truth", "people"]

    def write(self, path: str | Path) -> None:
        """Write the page to an .html file; it needs no other file and no network."""
        if Path(path).suffix.lower() not in (".html", ".htm"):
            raise InputError(f"a report is written as .html, not as {path}; write_pdf prints it as .pdf")
        with atomic_file(path) as part:
            Path(part).write_text(self.html, encoding="utf-8")

    def write_pdf(self, path: str | Path) -> None:
        """Print the page to a .pdf file by the Chromium of this computer; raise InputError if there is none."""
        from tempfile import TemporaryDirectory

        from plurivox.workflows.report.pdf import write_pdf

        with TemporaryDirectory() as folder:
            page = Path(folder) / "report.html"
            self.write(page)
            write_pdf(page, Path(path))

    def summary(self) -> list[tuple[str, str]]:
        """Return the questions that the page answers, and the answers."""
        return [(line.question, line.answer) for line in self.page.summary]

    def __repr__(self) -> str:
        return f"<Report: {self.page.title}, {len(self.page.sections)} sections, {len(self.html) / 1e6:.1f} MB>"

    def _repr_markdown_(self) -> str:
        """Return the summary as Markdown, for notebooks."""
        return "\n".join([f"**{self.page.title}**", "", *(f"- **{q}** {a}" for q, a in self.summary())])


def report(
    votes: Any,
    *,
    for_: str | None = None,
    gold: Any = None,
    methods: str | Sequence[Any] | None = None,
    scores: str | Sequence[Any] | None = None,
    runs: str | Path | Sequence[str | Path] = (),
    images: Any = None,
    texts: Any = None,
    part: str | None = None,
    method_seconds: float = METHOD_SECONDS,
    seed: int = 0,
    name_in_commands: str = "",
    command: str = "",
    remark: str = "",
    progress: Progress = no_progress,
) -> Report:
    """Return a report on votes as an HTML page: problems, next steps, agreement, workers, tasks, methods and soft labels.

    `votes` is a data set, a DataFrame, a path, or votes. `for_` is the question of the page: `truth`, which label is right, or
    `people`, what people say; by default truth, or people if the votes are counts without worker names. `gold` are true
    labels, `methods` the aggregators to show beside those chosen, `scores` scores of tasks and workers to show beside the usual
    ones (lists, or comma-separated). `runs` are folders of `plurivox train`; `images` and `texts` a table or folder, or a
    mapping from tasks, by default those of the data set. A method that takes longer than `method_seconds` is left out, and
    the page says so. `name_in_commands` is how commands on the page name the data, `remark` a text below the title.

    >>> page = report("toy", methods="vote-shares,dawid-skene")
    >>> page.page.title, [one.id for one in page.page.sections][:3]
    ('Report on toy', ['problems', 'next-steps', 'data'])
    """
    for package, what in (("matplotlib", "the charts of a report"), ("jinja2", "the page of a report")):
        require_package(package, what, INSTALL)
    from plurivox.engine.second_compiler import announce_kernels
    from plurivox.workflows.kernels_of_workflows import kernels_of_report
    from plurivox.workflows.report.html_page import page_html
    from plurivox.workflows.report.pictures import Pictures
    from plurivox.workflows.report.report_inputs import read_report_inputs
    from plurivox.workflows.report.report_page import report_page
    from plurivox.workflows.report.report_results import compute_report_results
    from plurivox.workflows.report.sections._section_input import SectionInput

    if for_ is not None and for_ not in QUESTIONS:
        raise unknown_name_error("question", for_, QUESTIONS)
    name = name_in_commands or (shlex.quote(str(votes)) if isinstance(votes, str | Path) else "")
    inputs = read_report_inputs(
        votes, gold=gold, images=images, texts=texts, runs=_as_list(runs), part=part, name_in_commands=name
    )
    quantity = inputs.usual_question if for_ is None else QUESTIONS[for_]
    inputs.check_question(quantity)
    with announce_kernels(lambda: kernels_of_report(inputs.votes)):
        results = compute_report_results(
            inputs,
            quantity=quantity,
            methods=_split(methods),
            scores=_split(scores),
            method_seconds=method_seconds,
            seed=seed,
            progress=progress,
        )
    given = SectionInput(
        inputs,
        results,
        Pictures.of(inputs, results),
        seed=seed,
        version=version("plurivox"),
        command=command or f"pv.report({inputs.name!r}, for_={quantity!r})",
        remark=remark,
    )
    page = report_page(given)
    return Report(page, page_html(page), quantity)


def _split(given: str | Sequence[Any] | None) -> list[Any] | None:
    """Return methods or scores as a list; a text is split at its commas."""
    if isinstance(given, str):
        return split_at_commas_outside_brackets(given)
    return None if given is None else list(given)


def _as_list(runs: str | Path | Sequence[str | Path]) -> list[str | Path]:
    """Return the folders of trainings as a list."""
    return [runs] if isinstance(runs, str | Path) else list(runs)
