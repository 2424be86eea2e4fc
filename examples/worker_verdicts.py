"""Check the verdicts of the report on workers against gold labels: how accurate are the workers whom it would drop?

Run it with the data sets in the folder $PLURIVOX_DATA: `python -m examples.worker_verdicts`. Gold labels are used for the
check only.
"""

import os
import warnings
from pathlib import Path

import numpy as np

import plurivox as pv
from plurivox.core.name_encoding import positions
from plurivox.identify import Evidence
from plurivox.workflows.report.worker_trust import DROPPED, worker_trust

FEW_GOLD = 5  # tasks with a gold label that a worker has to share to be counted


def verdicts_of(data: pv.Dataset) -> dict[str, object]:
    """Return the number of workers whom the report would drop, and their accuracy against gold labels."""
    votes, gold = data.votes, data.gold
    assert votes is not None and gold is not None
    trust = worker_trust(votes, pv.fit(votes, "log-pool"))
    score = pv.identify.methods.make("gold-accuracy").score(Evidence(votes=votes, gold=gold))
    place = positions(score.names, votes.workers)
    assert score.n is not None
    known = (place >= 0) & (np.where(place >= 0, score.n[place], 0) >= FEW_GOLD)
    accuracy = np.where(known, score.raw[place], np.nan)
    dropped = trust.has_verdict(*DROPPED)
    counted = accuracy[dropped & known]
    return {
        "workers": votes.n_workers,
        "median": float(np.nanmedian(accuracy)),
        "dropped": int(dropped.sum()),
        "mean": float(counted.mean()) if len(counted) else np.nan,
        "highest": float(counted.max()) if len(counted) else np.nan,
        "above": int((counted >= np.nanmedian(accuracy)).sum()),
    }


def main() -> None:
    """Print a row per data set with named votes and gold labels, and the sums over data sets."""
    rows = []
    warnings.simplefilter("ignore", pv.PlurivoxWarning)
    print(
        "| data set | workers | median accuracy | dropped | their mean accuracy | the highest |\n|---|---|---|---|---|---|"
    )
    for folder in sorted(
        path for path in Path(os.environ["PLURIVOX_DATA"]).iterdir() if (path / "votes.parquet").exists()
    ):
        data = pv.read(folder)
        if data.votes is None or data.gold is None or not len(data.gold.shared(data.votes.tasks)):
            continue
        row = verdicts_of(data)
        rows.append(row)
        numbers = [f"{row[name]:.2f}" if np.isfinite(row[name]) else "-" for name in ("mean", "highest")]  # type: ignore[call-overload,arg-type]
        print(f"| {data.name} | {row['workers']:,} | {row['median']:.2f} | {row['dropped']} | {' | '.join(numbers)} |")
    workers, dropped, above = (sum(int(str(row[name])) for row in rows) for name in ("workers", "dropped", "above"))
    print(
        f"{len(rows)} data sets, {workers:,} workers, {dropped} dropped, of these at or above the median worker: {above}"
    )


if __name__ == "__main__":
    main()
