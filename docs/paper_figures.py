"""Figures of four papers that a chart draws, each with the commands that draw it on the data of the paper."""

from typing import NamedTuple

ABOUT = """The commands were run on the data sets of the papers, and the pictures looked at. `labelme`, `cifar10h` and
`cifar10s` are folders with these data, `IMAGES` a table of the CIFAR-10 test images with the columns `idx` and `image`. The
simulated crowds of Lefort et al. are drawn with other random numbers than theirs. Fornaciari et al. (2021) have no figure of
data."""


class PaperFigure(NamedTuple):
    """A figure of a paper, the commands that draw it, and how the picture differs from the paper's."""

    figure: str
    shows: str
    commands: tuple[str, ...]
    differs: str = ""


PAPERS: dict[str, tuple[PaperFigure, ...]] = {
    "Uma et al. (2020), A Case for Soft Loss Functions": (
        PaperFigure(
            "1",
            "an image that people label differently, its votes, gold label and majority",
            ("plot task-votes cifar10h --images IMAGES --methods majority-vote",),
            "The image with the highest entropy of votes is drawn; `--task-name` names another.",
        ),
    ),
    "Collins, Bhatt and Weller (2022), Eliciting and Learning with Soft Labels from Every Annotator": (
        PaperFigure(
            "1, 3, 4, 8",
            "images whose labels in CIFAR-10S and CIFAR-10H differ most",
            (
                "plot label-shift cifar10s/soft_labels.parquet --against cifar10h --images IMAGES "
                "--distance sorted-wasserstein --k 3",
            ),
            "With the released labels the gold labels of the three images are those of Figure 8 (dog, frog, bird), and the "
            "mean distance is 0.027 (published: 0.028). Figures 1, 3 and 4 show other images.",
        ),
        PaperFigure(
            "2",
            "labels made from the same answers: one or two labels, the rest spread over possible or all labels",
            (
                "elicit top-two cifar10s -o t2-clamp",
                "elicit top-two cifar10s --spread uniform -o t2-uniform",
                "plot label-shift t2-clamp --against t2-uniform --methods vote-shares --images IMAGES",
            ),
            "The labels are means over all answers to an image, not those of one person. `--use top` makes the varieties T1.",
        ),
        PaperFigure(
            "5",
            "probability of the top label against the number of possible labels",
            ("plot certainty cifar10s --against cifar10h",),
            "Answers are counted as entered; the paper draws one point per image, from the means of T2 Clamp labels.",
        ),
        PaperFigure(
            "6",
            "quality against the number of answers per image",
            (
                "elicit top-two cifar10s -o t2-clamp",
                "plot curve t2-clamp cifar10h --methods vote-shares --measure accuracy",
            ),
            "The curves are of the labels themselves. The paper's are of 15 networks trained on each number of answers: train "
            "these, and give their measures to `pv.plot` as a list of `pv.charts.MeasureCurve`.",
        ),
        PaperFigure(
            "9",
            "images whose labels in CIFAR-10S are softer than in CIFAR-10H",
            (
                "plot label-shift cifar10s/soft_labels.parquet --against cifar10h --images IMAGES "
                "--distance entropy-gain --k 3",
            ),
            "The images with the largest gain of entropy are drawn; the paper shows three others.",
        ),
        PaperFigure(
            "10",
            "quality against the seconds of work per image",
            ("plot curve t2-clamp cifar10h --methods vote-shares --measure accuracy --cost seconds",),
            "As Figure 6. An answer of CIFAR-10S takes 32 s, the median recorded, one of CIFAR-10H 1.8 s, as in the paper.",
        ),
    ),
    "Lefort, Charlier, Joly and Salmon (2024), peerannot": (
        PaperFigure(
            "3",
            "CIFAR-10H images, a row per label",
            ("plot hardest cifar10h --images IMAGES --per-label --k 5",),
            "The images with the highest entropy of votes, with their votes.",
        ),
        PaperFigure(
            "4",
            "LabelMe images, a row per label",
            ("plot hardest labelme --per-label --k 5",),
            "As Figure 3.",
        ),
        PaperFigure(
            "5",
            "images beside their votes",
            ("plot task-votes cifar10h --images IMAGES --methods vote-shares --k 3",),
        ),
        PaperFigure(
            "6",
            "Hinton diagrams of a spammer, an expert and common workers",
            (
                "simulate hammer-spammer --n-workers 10 --n-tasks 100 --n-labels 5 --feedback 5 -o spammers",
                "simulate independent-confusion --n-workers 10 --n-tasks 100 --n-labels 5 --feedback 5 -o common",
                "plot confusion spammers --style hinton",
                "plot confusion common --style hinton",
            ),
            "The matrices are those that dawid-skene estimates from the votes; the paper draws those that the votes were drawn "
            "from.",
        ),
        PaperFigure(
            "9",
            "votes per worker and per task",
            (
                "simulate independent-confusion --n-workers 30 --n-tasks 200 --n-labels 5 --feedback 10 -o independent",
                "plot workload independent",
                "plot votes-per-task independent",
            ),
        ),
        PaperFigure(
            "10",
            "the same with different numbers of votes per task",
            (
                "simulate independent-confusion --n-workers 30 --n-tasks 200 --n-labels 5 --imbalance-votes -o imbalanced",
                "plot workload imbalanced",
                "plot votes-per-task imbalanced",
            ),
        ),
        PaperFigure(
            "11",
            "the same with correlated mistakes",
            (
                "simulate student-teacher --n-workers 30 --n-tasks 200 --n-labels 5 --ratio 0.8 --feedback 10 -o students",
                "plot workload students",
                "plot votes-per-task students",
            ),
        ),
        PaperFigure(
            "12",
            "the same with tasks of different difficulty",
            (
                "simulate discrete-difficulty --n-workers 100 --n-tasks 200 --n-labels 5 --ratio 0.35 --ratio-diff 1 "
                "--feedback 10 -o difficulty",
                "plot workload difficulty",
                "plot votes-per-task difficulty",
            ),
        ),
        PaperFigure(
            "13",
            "scores of the workers of CIFAR-10H, in pairs",
            ("plot worker-scores cifar10h --scores trace,spam-score,glad-ability",),
            "The votes of named workers cover 500 of the 10,000 images: about ten per worker, where the paper has 200.",
        ),
        PaperFigure(
            "14",
            "scores of the workers of LabelMe, in pairs, with what CrowdLayer and CoNAL learnt",
            (
                "train labelme --net labelme-head --head crowd-layer -o crowd-layer",
                "train labelme --net labelme-head --head 'conal[scale=1e-4]' -o conal",
                "plot worker-scores labelme crowd-layer conal --scores trace,spam-score,glad-ability",
            ),
            "The traces are those of one training each; the paper shows those of its best.",
        ),
    ),
}


def paper_figures() -> list[str]:
    """Return a section for each paper: a table of its figures, the commands, and how the pictures differ."""
    lines = [ABOUT]
    for paper, figures in PAPERS.items():
        lines += ["", f"### {paper}", "", "| figure | shows | commands | the picture here |", "|---|---|---|---|"]
        for one in figures:
            commands = "<br>".join(f"`{full_command(command)}`" for command in one.commands)
            lines.append(f"| {one.figure} | {one.shows} | {commands} | {one.differs or 'As in the paper.'} |")
    return lines


def full_command(command: str) -> str:
    """Return a command with the name of the program, and with a file to write if it draws a chart."""
    return f"plurivox {command}" + (" -o figure.svg" if command.startswith("plot ") else "")
