"""Aggregators against crowd-kit and peerannot: time a pass, peak memory, start to finish. Every figure in a fresh process.

A pass is timed as the difference of two fits with more and fewer passes, so that reading and laying out the votes is
left out on both sides.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import peers
from benchmarks.crowds import saved
from benchmarks.measure import Measured, alternate, fresh

Row = tuple[str, str, str]
OURS = "from plurivox.core.votes import Votes\nfrom plurivox.aggregate import {name}\nvotes = Votes.load({file!r})\n"
FRAME = (
    "import numpy as np, pandas as pd\n"
    "box = np.load({file!r})\n"
    "frame = pd.DataFrame({{name: box[name] for name in ('task', 'worker', 'label')}})\n"
)
PER_PASS = (
    "def timed(n):\n    begin = time.perf_counter()\n    fit(n)\n    return time.perf_counter() - begin\n"
    "{warm}\nanswer = max(timed({many}) - timed({few}), 1e-9) / ({many} - {few})"
)


def ours(file: Path, name: str, options: str, few: int = 2, many: int = 12) -> Callable[[], Measured]:
    """Seconds a pass of one of our methods."""
    setup = OURS.format(name=name, file=str(file))
    setup += f"fit = lambda n: {name}(max_iter=n, tol=0, {options}).fit(votes)"
    return lambda: fresh(PER_PASS.format(warm=f"fit({few})", few=few, many=many), setup, answer="answer")


def crowd_kit(file: Path, name: str, options: str = "", few: int = 1, many: int = 3) -> Callable[[], Measured]:
    """Seconds a pass of crowd-kit's."""
    setup = FRAME.format(file=str(file)) + f"from crowdkit.aggregation import {name}\n"
    setup += f"fit = lambda n: {name}(n_iter=n{options}).fit(frame)"
    code = PER_PASS.format(warm="", few=few, many=many)  # nothing to compile there
    return lambda: fresh(code, setup, answer="answer", python=peers.ready())


def peerannot(file: Path) -> Callable[[], Measured]:
    """Seconds a pass of peerannot's Dawid-Skene."""
    setup = FRAME.format(file=str(file)) + (
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parent.parent)!r})\n"
        "from benchmarks.peer_peerannot import dawid_skene\n"
        "answers = {t: dict(zip(g.worker.tolist(), g.label.tolist())) for t, g in frame.groupby('task')}\n"
        "model = dawid_skene()\n"
        "def fit(n):\n    model(answers, int(frame.worker.max()) + 1, 10).run(epsilon=0, maxiter=n)"
    )
    code = PER_PASS.format(warm="", few=1, many=2)
    return lambda: fresh(code, setup, answer="answer", python=peers.ready())


def ratio(found: dict[str, Measured], claim: str, limit: str, peer: str = "crowd-kit") -> Row:
    theirs, mine = found[peer].seconds, found["plurivox"].seconds
    return claim, f"{theirs / mine:.0f}x {peer} ({1000 * mine:.2f} ms / {1000 * theirs:.1f} ms)", limit


def passes(folder: Path) -> Iterator[Row]:
    """One pass of Dawid-Skene, MACE and IBCC."""
    million, cifar = saved(folder, "million"), saved(folder, "cifar10h-like")
    plain = "smooth=0.01, accelerate=False"
    mid = alternate(
        {"plurivox": ours(cifar, "DawidSkene", plain), "crowd-kit": crowd_kit(cifar, "DawidSkene", ", tol=0")}
    )
    yield ratio(mid, "Dawid-Skene, a pass, 10k x 2.5k x 50", "50x, goal 100x")
    big = alternate(
        {"plurivox": ours(million, "DawidSkene", plain), "crowd-kit": crowd_kit(million, "DawidSkene", ", tol=0")}
    )
    yield ratio(big, "Dawid-Skene, a pass, 1M x 10k x 5", "40x, goal 100x")
    mace = crowd_kit(million, "MACE", ", n_restarts=1")
    rest = alternate(
        {"mace": ours(million, "Mace", "starts=1", 1, 4), "ibcc": ours(million, "Ibcc", ""), "crowd-kit": mace}, 3
    )
    yield ratio({**rest, "plurivox": rest["mace"]}, "MACE, a pass, 1M x 10k x 5", "20x, goal 50x")
    yield ratio({**rest, "plurivox": rest["ibcc"]}, "IBCC, a pass, 1M x 10k x 5, against MACE's", "20x, goal 50x")
    mid |= alternate({"peerannot": peerannot(cifar)}, repeats=1)
    yield ratio(mid, "Dawid-Skene, a pass, 10k x 2.5k x 50", "3000x, goal 6000x", "peerannot")


def counting(folder: Path) -> list[Row]:
    """Majority vote from `Votes` and from a frame."""
    million = saved(folder, "million")
    frame = FRAME.format(file=str(million))
    mine = "from plurivox.aggregate import MajorityVote\nfrom plurivox.io.vote_frames import votes as read\n"
    found = alternate(
        {
            "votes": lambda: fresh("MajorityVote().fit(votes)", OURS.format(name="MajorityVote", file=str(million))),
            "frame": lambda: fresh("MajorityVote().fit(read(frame))", frame + mine),
            "crowd-kit": lambda: fresh(
                "MajorityVote().fit_predict(frame)",
                frame + "from crowdkit.aggregation import MajorityVote",
                python=peers.ready(),
            ),
        }
    )
    return [
        ratio({**found, "plurivox": found["votes"]}, "majority vote, 1M x 10k x 5, from Votes", "30x"),
        ratio({**found, "plurivox": found["frame"]}, "majority vote, 1M x 10k x 5, from a DataFrame", "3x"),
    ]


def memory_and_start(folder: Path) -> list[Row]:
    """Peak memory of a big fit; a small fit from a cold process with a warm compile cache."""
    million, small = saved(folder, "million"), saved(folder, "small")
    theirs = "from crowdkit.aggregation import DawidSkene\nDawidSkene(n_iter=2, tol=0).fit(frame)"
    mine = "DawidSkene(max_iter=2, tol=0).fit(votes)"
    peak = alternate(
        {
            "plurivox": lambda: fresh(OURS.format(name="DawidSkene", file=str(million)) + mine),
            "crowd-kit": lambda: fresh(FRAME.format(file=str(million)) + theirs, python=peers.ready()),
        },
        repeats=1,
    )
    cold = alternate(
        {
            "plurivox": lambda: fresh(OURS.format(name="DawidSkene", file=str(small)) + "DawidSkene().fit(votes)"),
            "crowd-kit": lambda: fresh(
                FRAME.format(file=str(small)) + "from crowdkit.aggregation import DawidSkene\nDawidSkene().fit(frame)",
                python=peers.ready(),
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
    """(claim, measured, limit) rows, each as soon as it is known."""
    with tempfile.TemporaryDirectory() as name:
        for measure in (memory_and_start, counting, passes):
            yield from measure(Path(name))
