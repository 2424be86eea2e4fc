"""Aggregation methods against crowd-kit and peerannot: time per pass, peak memory, total time, each in a fresh process.

A pass is timed as the difference between two fits with more and fewer passes, so that preparing the votes is excluded.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.crowds import save_votes
from benchmarks.measurement import Measurement, run_alternating, run_code
from benchmarks.peer_environment import peer_python

Row = tuple[str, str, str]
OUR_SETUP = (
    "from plurivox.core.votes import Votes\nfrom plurivox.aggregate import {name}\nvotes = Votes.load({file!r})\n"
)
FRAME_SETUP = (
    "import numpy as np, pandas as pd\n"
    "box = np.load({file!r})\n"
    "frame = pd.DataFrame({{name: box[name] for name in ('task', 'worker', 'label')}})\n"
)
PASS_CODE = (
    "def timed(n):\n    begin = time.perf_counter()\n    fit(n)\n    return time.perf_counter() - begin\n"
    "{warm}\nresult = max(timed({many}) - timed({few}), 1e-9) / ({many} - {few})"
)


def time_our_pass(file: Path, name: str, options: str, few: int = 2, many: int = 12) -> Callable[[], Measurement]:
    """Return a case that measures the seconds per pass of one of our methods."""
    setup = OUR_SETUP.format(name=name, file=str(file))
    setup += f"fit = lambda n: {name}(max_iter=n, tol=0, {options}).fit(votes)"
    return lambda: run_code(PASS_CODE.format(warm=f"fit({few})", few=few, many=many), setup, result="result")


def time_crowd_kit_pass(
    file: Path, name: str, options: str = "", few: int = 1, many: int = 3
) -> Callable[[], Measurement]:
    """Return a case that measures the seconds per pass of a method of crowd-kit."""
    setup = FRAME_SETUP.format(file=str(file)) + f"from crowdkit.aggregation import {name}\n"
    setup += f"fit = lambda n: {name}(n_iter=n{options}).fit(frame)"
    code = PASS_CODE.format(warm="", few=few, many=many)  # nothing to compile
    return lambda: run_code(code, setup, result="result", python=peer_python())


def time_peerannot_pass(file: Path) -> Callable[[], Measurement]:
    """Return a case that measures the seconds per pass of peerannot's Dawid-Skene."""
    setup = FRAME_SETUP.format(file=str(file)) + (
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parent.parent)!r})\n"
        "from benchmarks.peerannot_import import import_dawid_skene\n"
        "answers = {t: dict(zip(g.worker.tolist(), g.label.tolist())) for t, g in frame.groupby('task')}\n"
        "model = import_dawid_skene()\n"
        "def fit(n):\n    model(answers, int(frame.worker.max()) + 1, 10).run(epsilon=0, maxiter=n)"
    )
    code = PASS_CODE.format(warm="", few=1, many=2)
    return lambda: run_code(code, setup, result="result", python=peer_python())


def ratio_row(found: dict[str, Measurement], claim: str, limit: str, peer: str = "crowd-kit") -> Row:
    """Return the row of a claim: how many times faster we are than the other library."""
    theirs, mine = found[peer].seconds, found["plurivox"].seconds
    return claim, f"{theirs / mine:.0f}x {peer} ({1000 * mine:.2f} ms / {1000 * theirs:.1f} ms)", limit


def measure_passes(folder: Path) -> Iterator[Row]:
    """Yield rows of the time per pass of Dawid-Skene, MACE and IBCC."""
    million, cifar = save_votes(folder, "million"), save_votes(folder, "cifar10h-like")
    plain = "smooth=0.01, accelerate=False"
    mid = run_alternating(
        {
            "plurivox": time_our_pass(cifar, "DawidSkene", plain),
            "crowd-kit": time_crowd_kit_pass(cifar, "DawidSkene", ", tol=0"),
        }
    )
    yield ratio_row(mid, "Dawid-Skene, one pass, 10k x 2.5k x 50", "50x, goal 100x")
    big = run_alternating(
        {
            "plurivox": time_our_pass(million, "DawidSkene", plain),
            "crowd-kit": time_crowd_kit_pass(million, "DawidSkene", ", tol=0"),
        }
    )
    yield ratio_row(big, "Dawid-Skene, one pass, 1M x 10k x 5", "40x, goal 100x")
    mace = time_crowd_kit_pass(million, "MACE", ", n_restarts=1")
    rest = run_alternating(
        {
            "mace": time_our_pass(million, "Mace", "starts=1", 1, 4),
            "ibcc": time_our_pass(million, "Ibcc", ""),
            "crowd-kit": mace,
        },
        3,
    )
    yield ratio_row({**rest, "plurivox": rest["mace"]}, "MACE, one pass, 1M x 10k x 5", "20x, goal 50x")
    yield ratio_row({**rest, "plurivox": rest["ibcc"]}, "IBCC, one pass, 1M x 10k x 5, against MACE's", "20x, goal 50x")
    mid |= run_alternating({"peerannot": time_peerannot_pass(cifar)}, repeats=1)
    yield ratio_row(mid, "Dawid-Skene, one pass, 10k x 2.5k x 50", "3000x, goal 6000x", "peerannot")


def measure_majority_vote(folder: Path) -> list[Row]:
    """Return rows of the time of majority vote, from `Votes` and from a DataFrame."""
    million = save_votes(folder, "million")
    frame = FRAME_SETUP.format(file=str(million))
    mine = "from plurivox.aggregate import MajorityVote\nfrom plurivox.io.votes_from_tables import votes as read\n"
    found = run_alternating(
        {
            "votes": lambda: run_code(
                "MajorityVote().fit(votes)", OUR_SETUP.format(name="MajorityVote", file=str(million))
            ),
            "frame": lambda: run_code("MajorityVote().fit(read(frame))", frame + mine),
            "crowd-kit": lambda: run_code(
                "MajorityVote().fit_predict(frame)",
                frame + "from crowdkit.aggregation import MajorityVote",
                python=peer_python(),
            ),
        }
    )
    return [
        ratio_row({**found, "plurivox": found["votes"]}, "majority vote, 1M x 10k x 5, from Votes", "30x"),
        ratio_row({**found, "plurivox": found["frame"]}, "majority vote, 1M x 10k x 5, from a DataFrame", "3x"),
    ]


def measure_defaults(folder: Path) -> list[Row]:
    """Return rows of the time of the defaults for truth and for people, as parts of that of `average`."""
    million = save_votes(folder, "million")
    found = run_alternating(
        {
            name: (lambda name=name: run_code(f"{name}().fit(votes)", OUR_SETUP.format(name=name, file=str(million))))
            for name in ("LogPool", "CalibratedShares", "Average")
        },
        repeats=1,
    )
    whole = found["Average"].seconds
    return [
        (
            f"{title}, 1M x 10k x 5, whole fit",
            f"{found[name].seconds / whole:.3f}x `average` ({found[name].seconds:.2f} s / {whole:.1f} s)",
            "20 s",
        )
        for title, name in (("`log-pool`", "LogPool"), ("`calibrated-shares`", "CalibratedShares"))
    ]


def measure_memory_and_start(folder: Path) -> list[Row]:
    """Return rows of the peak memory of a large fit, and of the time of import and a small fit with cached kernels."""
    million, small = save_votes(folder, "million"), save_votes(folder, "small")
    theirs = "from crowdkit.aggregation import DawidSkene\nDawidSkene(n_iter=2, tol=0).fit(frame)"
    mine = "DawidSkene(max_iter=2, tol=0).fit(votes)"
    peak = run_alternating(
        {
            "plurivox": lambda: run_code(OUR_SETUP.format(name="DawidSkene", file=str(million)) + mine),
            "crowd-kit": lambda: run_code(FRAME_SETUP.format(file=str(million)) + theirs, python=peer_python()),
        },
        repeats=1,
    )
    cold = run_alternating(
        {
            "plurivox": lambda: run_code(
                OUR_SETUP.format(name="DawidSkene", file=str(small)) + "DawidSkene().fit(votes)"
            ),
            "crowd-kit": lambda: run_code(
                FRAME_SETUP.format(file=str(small))
                + "from crowdkit.aggregation import DawidSkene\nDawidSkene().fit(frame)",
                python=peer_python(),
            ),
        }
    )
    a, b = peak["plurivox"].peak_mb, peak["crowd-kit"].peak_mb
    c, d = cold["plurivox"].seconds, cold["crowd-kit"].seconds
    return [
        (
            "peak memory of Dawid-Skene, 1M x 10k x 5",
            f"{a / b:.2f}x crowd-kit ({a:.0f} MB / {b:.0f} MB)",
            "1/3, goal 1/5",
        ),
        (
            "200 x 30 x 10, import and fit, fresh process",
            f"{c / d:.2f}x crowd-kit ({c:.2f} s / {d:.2f} s)",
            "1x, goal 1/3",
        ),
    ]


def run() -> Iterator[Row]:
    """Run the benchmark and yield table rows (claim, measured value, limit)."""
    with tempfile.TemporaryDirectory() as name:
        for measure in (measure_memory_and_start, measure_majority_vote, measure_passes, measure_defaults):
            yield from measure(Path(name))
