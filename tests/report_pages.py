"""Pages of reports with invented content: one like that of a real study, one with hostile names, one with empty parts."""

import io

import numpy as np
from PIL import Image

import plurivox as pv
from plurivox.workflows.report.page_content import (
    Column,
    CopyText,
    Fact,
    Facts,
    Page,
    Paragraph,
    Picture,
    Section,
    Step,
    Steps,
    SummaryLine,
    Table,
    TaskCard,
    TaskCards,
    Warning,
    Warnings,
)

SCRIPT = "<script>alert(1)</script>"
BREAKOUT = '"><img src=x onerror=alert(1)>'
HOSTILE = (
    *(SCRIPT, BREAKOUT, "'; alert(1); //", "{{ 7 * 7 }}", "עברית \u202eabc", "漢字の名前", "w" * 400),
    *("a\x00b\ud800c", "", "</style>", "&lt;b&gt; --> ]]>", "javascript:alert(1)"),
)
LABELS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def png(width: int = 32, height: int = 32, seed: int = 0) -> bytes:
    """Return a small PNG file with a colour gradient and some noise."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:height, 0:width]
    tint = rng.integers(40, 200, 3)
    pixels = tint + 60 * np.sin(rows / 7 + seed)[..., None] + 50 * np.cos(columns / 5)[..., None]
    pixels = pixels + rng.normal(0, 8, (height, width, 3))
    buffer = io.BytesIO()
    Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def chart(name: str, prefix: str) -> Picture:
    """Return a chart of the toy data."""
    figure = pv.plot("toy", name)
    return Picture(
        "Votes per worker", figure.to_svg(id_prefix=prefix), figure.caption, f"plurivox plot {name} votes.csv"
    )


def worker_table(n: int = 60) -> Table:
    """Return a table of workers, sorted by accuracy."""
    rng = np.random.default_rng(1)
    accuracy = np.sort(np.append(rng.beta(8, 3, n - 2), [0.996, 0.004]))
    rows = [
        (
            f"worker-{worker:03d}",
            int(rng.integers(5, 2400)),
            float(share),
            None if worker % 9 == 4 else float(rng.normal(0.4, 0.3)),
            "check" if share < 0.4 else None,
        )
        for worker, share in enumerate(accuracy)
    ]
    columns = (
        Column("worker", meaning="The name in the column worker."),
        Column("votes", "number", "How many votes the worker gave."),
        Column("agreement", "percent", "Share of votes equal to the majority of the other workers."),
        Column(
            "spam score", "number", "Standard deviation of the rows of the confusion matrix; 0 for random answers.", 3
        ),
        Column("remark", "flag", "Whether somebody should look at the answers."),
    )
    note = "Workers with fewer than 5 votes are not ranked."
    return Table("Workers", columns, rows, n, note, "plurivox identify spam-score votes.csv", 2)


def task_table(n: int = 200) -> Table:
    """Return a table of the first tasks of many."""
    rng = np.random.default_rng(2)
    rows = [
        (f"task-{task:05d}.png", LABELS[rng.integers(10)], float(rng.gamma(2, 0.4)), float(rng.beta(5, 2)))
        for task in range(n)
    ]
    columns = (
        Column("task"),
        Column("most voted label"),
        Column("entropy (nats)", "number", "Entropy of the soft label: 0 if all agree."),
        Column("probability of the top label", "percent", digits=1),
    )
    return Table("Tasks", columns, rows, 10_000, command="plurivox identify entropy votes.csv -o entropy.csv")


def cards(n: int = 5) -> TaskCards:
    """Return task cards with pictures of several sizes, texts and long names."""
    soft = (("cat", 0.51), ("dog", 0.32), ("deer", 0.09), ("frog", 0.05), ("horse", 0.03))
    made = [
        TaskCard(
            f"cifar10-test-{3141 * (at + 1):05d}.png",
            png(*((32, 32), (320, 180), (120, 400))[at % 3], seed=at),
            votes=(("cat", 6.0), ("dog", 4.0), ("deer", 1.0)),
            soft=soft,
            gold="dog",
            facts=(("entropy", "1.17"), ("votes", "11")),
            remark="The gold label is not the most voted one." if at == 1 else "",
        )
        for at in range(n)
    ]
    text = "The film starts slowly, and the second half drags on without any idea of where it should go. " * 8
    made.append(
        TaskCard("review-17", text=text, votes=(("negative", 3.5), ("positive", 1.5)), facts=(("words", "136"),))
    )
    many = tuple((f"species {at:03d}", 1.0) for at in range(12))
    made.append(TaskCard("a-task-with-" + "very-" * 12 + "long-name", text="A short text.", votes=many))
    return TaskCards(
        "The tasks on which people disagree most", tuple(made), "Soft labels by Dawid-Skene.", "Of 10,000 tasks."
    )


BIBTEX = """@article{dawid1979,
  author  = {Dawid, A. P. and Skene, A. M.},
  title   = {Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm},
  journal = {Journal of the Royal Statistical Society, Series C},
  volume  = {28}, number = {1}, pages = {20--28}, year = {1979},
}"""


def realistic_page() -> Page:
    """Return a page like that of a study with 60 workers and 10,000 tasks."""
    warned = Warnings(
        (
            Warning(
                "serious",
                "3 workers answer independently of the task; they gave 12% of all votes.",
                "Look at their answers, and leave them out if they are random.",
                "plurivox clean votes.csv --drop-workers spammers.txt -o votes-clean.csv",
            ),
            Warning("caution", "412 tasks have a single vote.", "Their soft labels say little about disagreement."),
            Warning("note", "Two labels were never used: ‘ship’ and ‘truck’."),
        )
    )
    steps = Steps(
        (
            Step(
                "Ask two more people on 412 tasks",
                "They have a single vote.",
                "plurivox assign entropy votes.csv -n 412",
            ),
            Step("Write the soft labels", "", "plurivox aggregate dawid-skene votes.csv -o soft.csv"),
            Step("Train on the soft labels", "It is the distribution that people disagree by."),
        )
    )
    facts = Facts(
        "Agreement",
        (
            Fact("Krippendorff's alpha", "0.61", "Chance-corrected agreement: 0 for random answers, 1 if all agree."),
            Fact("unanimous tasks", "43%", "All votes name the same label."),
            Fact("votes per task", "5.1", "Between 1 and 14."),
        ),
    )
    citation = "We aggregated the votes of 60 annotators by the method of Dawid and Skene (1979)."
    sections = (
        Section(
            "data",
            "What are the data?",
            "60 workers gave 51,034 votes on 10,000 tasks with 10 labels, which is 5.1 votes per task.",
            (warned, chart("workload", "c1-"), Paragraph("A vote is one label that one worker gave to one task. " * 4)),
        ),
        Section("agreement", "Do people agree?", "Moderately: alpha is 0.61.", (facts, cards()), "people"),
        Section("workers", "How good are the workers?", "Most agree with the majority; 3 do not.", (worker_table(),)),
        Section(
            "tasks", "What is the right label?", "Dawid-Skene is sure of 87% of the tasks.", (task_table(),), "truth"
        ),
        Section(
            "next",
            "What should be done next?",
            "Collect two more votes on the tasks that have only one.",
            (steps, CopyText("References", BIBTEX), CopyText("A paragraph for a paper", citation, False)),
        ),
    )
    answers = [SummaryLine(one.title, one.answer, one.id) for one in sections]
    sizes = [("10,000", "tasks"), ("60", "workers"), ("51,034", "votes"), ("10", "labels"), ("0.61", "alpha")]
    return Page(
        "Report of votes.csv",
        "CIFAR-10, votes of 60 people, made on 2 May 2025 by plurivox 0.1.0.",
        tuple(Fact(name, value) for value, name in sizes),
        tuple(answers),
        sections,
        "Numbers were computed by plurivox; every picture and table can be made again by the command beside it.",
        {"version": "0.1.0", "seed": "0", "command": "plurivox report votes.csv -o report.html"},
    )


def hostile_page() -> Page:
    """Return a page whose every text is meant to break it."""
    kinds = ["text", "number", "percent", "flag"] * 3
    columns = tuple(Column(name, kind, name) for name, kind in zip(HOSTILE, kinds, strict=True))
    rows = [tuple(HOSTILE[(row + column) % len(HOSTILE)] for column in range(len(columns))) for row in range(12)]
    pairs = tuple((name, 1.0 / len(HOSTILE)) for name in HOSTILE)
    facts = tuple(Fact(name, name, name) for name in HOSTILE)
    svg = chart("workload", "c1-").svg
    blocks = (
        *(Paragraph(name) for name in HOSTILE),
        Facts(BREAKOUT, facts),
        Table(SCRIPT, columns, rows, 40, BREAKOUT, BREAKOUT, 0, True),
        Picture(SCRIPT, svg, BREAKOUT, SCRIPT),
        TaskCards(
            BREAKOUT,
            tuple(
                TaskCard(name, png(8, 8), name * 3, pairs, pairs, name, tuple((name, name) for name in HOSTILE), name)
                for name in HOSTILE
            ),
            SCRIPT,
            BREAKOUT,
        ),
        Warnings(tuple(Warning("serious", name, name, name) for name in HOSTILE)),
        Steps(tuple(Step(name, name, name) for name in HOSTILE)),
        *(CopyText(name, name, code) for name in HOSTILE for code in (True, False)),
    )
    sections = tuple(Section(name, name, name, blocks if at == 0 else ()) for at, name in enumerate(HOSTILE))
    summary = tuple(SummaryLine(name, name, name) for name in HOSTILE)
    return Page(SCRIPT, BREAKOUT, facts, summary, sections, SCRIPT, {name: name for name in HOSTILE})


def empty_page() -> Page:
    """Return a page without content, with every kind of block empty."""
    blocks = (
        Paragraph(""),
        Facts("", ()),
        Table("", (), [], 0),
        Table("", (Column("worker"),), [], 0),
        TaskCards("", ()),
        TaskCards("", (TaskCard(""), TaskCard("a", b"no picture"))),
        Warnings(()),
        Steps(()),
        CopyText("", ""),
    )
    return Page("", "", (), (), (Section("", "", "", ()), Section("", "", "", blocks)))
