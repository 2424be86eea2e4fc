"""Votes per worker: how the work is spread over the workers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from plurivox.charts._contract import Chart, ChartData
from plurivox.charts._shared.counts_histogram import draw_histogram_of_counts, range_in_words
from plurivox.core.count_text import count_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Workload(Chart):
    """Votes per worker: a histogram, with the number of workers, their median and the share of the busiest.

    Answers that name no worker (counts) are left out. The axis is logarithmic if the
    busiest worker gave more than twenty times as many votes as the median one.
    """

    needs_named_workers: ClassVar[bool] = True
    figures: ClassVar[str] = "Lefort et al. (peerannot), Figures 9 to 12, left"

    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw the histogram and return its caption."""
        assert data.votes is not None
        per_worker = data.votes.n_answers_per_worker
        draw_histogram_of_counts(ax, per_worker, "votes per worker", "workers")
        if not len(per_worker):
            return "There are no votes of named workers."
        total = per_worker.sum()
        n_busiest = max(1, len(per_worker) // 10)
        share = np.sort(per_worker)[::-1][:n_busiest].sum() / max(total, 1)
        busiest = "worker" if n_busiest == 1 else f"tenth ({n_busiest:,} workers)"
        return (
            f"{count_text(len(per_worker), 'worker')} gave {count_text(total, 'vote')}: "
            f"{range_in_words(per_worker, 'worker')}. The busiest {busiest} gave {share:.0%} of them."
        )
