"""Generate docs/charts.md: every chart with a picture, its command, its help and its options; and the figures of the papers."""

import inspect
from xml.etree import ElementTree

from docs.gallery import INPUTS, OUT, picture_command
from docs.method_options import option_lines
from docs.paper_figures import paper_figures
from plurivox import charts
from plurivox.charts import Chart

ABOUT = """A chart is a picture of votes, soft labels, scores, workers or trainings, with a caption in words. Charts need the
extra `plot`: `pip install 'plurivox[plot]'`.

    plurivox plot CHART INPUT... -o FILE.svg        # or .png, .pdf; --theme dark for a dark page

INPUT is what to draw: a data set, votes, soft labels, fits saved by `plurivox aggregate --save`, scores written by
`plurivox identify`, folders of `plurivox train`; several are drawn together. What a chart needs beyond that is computed from
the votes: `--methods` are fitted, `--scores` computed. `--gold`, `--against` (a second table of labels), `--images` and
`--texts` add what the data set does not have. The caption is printed; `--json` prints it with the command.

An `.svg` file names workers, tasks and numbers when the pointer is over a mark, and has the caption for screen readers. Colours
are those of Okabe and Ito, safe for colour-blind readers, with another marker per series. The same input gives the same file.

In Python, a chart is a matplotlib figure. Votes, fits, soft labels, scores and trained nets have a method `plot` that draws
their usual chart:

```python
figure = pv.plot(votes, "workload")  # figure.caption: the caption in words
pv.plot("labelme", "worker-scores", scores="trace,spam-score")
pv.plot({"mine": mine, "yours": yours}, "posterior", ax=ax)  # in the place of axes of your own
votes.plot(), fit.plot(), scores.plot("worker-scores"), trained.plot()
```"""
GALLERY = """Drawn again by `python -m docs.gallery`; `python -m docs.gallery --inputs FOLDER` only writes the data. `toy`
comes with plurivox, and `make demo` writes `demo-output`: digit images of scikit-learn with simulated votes. The other data are
simulated by:"""
COLUMNS = 3  # pictures side by side in the gallery
NAMES = {  # field of `ChartData`: what it is called in the text
    "curves": "votes and gold labels, or enough votes to hold some out",
    "measures": "votes and gold labels, or a comparison",
    "dynamics": "recorded logits",
    "histories": "folders of trainings",
    "confusions": "confusion matrices",
    "soft": "soft labels",
    "gold": "gold labels",
    "contents": "images or texts",
}


def charts_page(generated: str) -> str:
    """Return the page of charts; `generated` is its first line."""
    methods = charts.methods
    lines = [generated, "# charts", "", ABOUT, "", "| chart | what it shows | as in |", "|---|---|---|"]
    lines += [f"| [`{name}`](#{name}) | {methods.summary(name)} | {methods[name].figures or '-'} |" for name in methods]
    lines += ["", "[Figures of the papers](#figures-of-the-papers), with the commands that draw them.", ""]
    lines += ["## Gallery", "", GALLERY, "", *(f"    {line}" for line in INPUTS), "", *gallery_lines(list(methods))]
    for name in methods:
        lines += ["", f"## {name}", "", *chart_lines(methods[name])]
    lines += ["", "## Figures of the papers", "", *paper_figures()]
    return "\n".join(lines) + "\n"


def gallery_lines(names: list[str]) -> list[str]:
    """Return a table of small pictures, each linked to the section of its chart."""
    cells = [
        f'<a href="#{name}"><img src="charts/{name}.svg" width="270" alt="{name}"></a><br>{name}' for name in names
    ]
    cells += [""] * (-len(cells) % COLUMNS)
    rows = [cells[i : i + COLUMNS] for i in range(0, len(cells), COLUMNS)]
    head = ["|" + " |" * COLUMNS, "|" + "---|" * COLUMNS]
    return head + [f"| {' | '.join(row)} |" for row in rows]


def chart_lines(chart: type[Chart]) -> list[str]:
    """Return the section of a chart: picture, caption, command, help, what it needs and computes, options."""
    name = chart.name()
    caption = picture_caption(name).replace("<", "&lt;").replace("|", "\\|")
    lines = [f"![{chart.summary()}](charts/{name}.svg)", "", f"*{caption}*", "", f"    {picture_command(name)}", ""]
    lines += [inspect.cleandoc(chart.__doc__ or "").split(">>>")[0].rstrip(), "", needs_line(chart), ""]
    return lines + option_lines(chart)


def needs_line(chart: type[Chart]) -> str:
    """Return sentences on what a chart needs, what it draws if it is there, and what it computes if nothing is named."""
    computed = {"soft", "confusions", "fits"} if chart.fitted_by else set()
    computed |= {"scores"} if chart.scored_by else set()
    needed = []
    for need in chart.needs:
        fields = need.split("|")
        needed.append(" or ".join([*(["votes"] if computed & set(fields) else []), *map(name_of_field, fields)]))
    text = f"Needs {' and '.join(needed)}."
    if extra := [name_of_field(one) for one in chart.may_use if one != "fits" and not needed[0].startswith(one)]:
        text += f" Draws {', '.join(extra)} if given."
    if chart.fitted_by:
        text += f" Fitted unless `--methods` says otherwise: {', '.join(f'`{one}`' for one in chart.fitted_by)}."
    if chart.scored_by:
        text += f" Computed unless `--scores` says otherwise: {', '.join(f'`{one}`' for one in chart.scored_by)}."
    return text


def name_of_field(field: str) -> str:
    return NAMES.get(field, field)


def picture_caption(name: str) -> str:
    """Return the caption that the picture of a chart holds."""
    root = ElementTree.parse(OUT / f"{name}.svg").getroot()
    return root.findtext("{http://www.w3.org/2000/svg}desc") or ""
