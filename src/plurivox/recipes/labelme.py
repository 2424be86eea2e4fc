"""LabelMe with its official split: gold, aggregated and soft labels, two heads, heads on votes."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from plurivox import evaluate
from plurivox.core.errors import InputError
from plurivox.core.method import option, split_list
from plurivox.core.progress import Progress, no_progress
from plurivox.core.tables import Tables
from plurivox.recipes._contract import Reader, Recipe, from_the_shelf
from plurivox.workflows.net_evaluation import all_runs, mean_and_std
from plurivox.workflows.result_cache import ResultCache

if TYPE_CHECKING:
    from plurivox.recipes._papers.labelme_protocol import Setting

METHODS = (
    "gold,majority,dawid-skene,vote-shares,softmax-shares,two-heads-gold,two-heads-silver,"
    "crowd-layer,conal,trace-regularised,geo-crowd-net-f,geo-crowd-net-w,union-net-a,union-net-b,annot-mix,raykar,"
    "raykar-logistic"
)


@dataclass(frozen=True)
class Labelme(Recipe):
    """LabelMe with its official split: what to teach a net when few people voted on each photo.

    1,000 photos with 2.5 votes each teach; 500 choose the epoch by their gold labels (`choose=gold`), or a tenth of the
    training photos does by its votes alone (`choose=votes`); 1,188 test. The test photos have no votes: accuracy, NLL, Brier
    score and ECE are against gold. For soft measures every run is trained once more on four fifths of the training photos and
    held against the votes on the last fifth (one photo is one task, so no twin lies on both sides): cross-entropy against
    vote shares and against softmax shares, since a net taught one of them is judged on its own target there, and the
    correlation of entropies. Ties of majorities are broken anew in every run.

    Rodrigues & Pereira (2018), https://doi.org/10.1609/aaai.v32i1.11506; Uma et al. (2020),
    https://doi.org/10.1609/hcomp.v8i1.7478
    """

    reads: ClassVar[tuple[str, ...]] = ("labelme",)

    data: str = option("labelme", "a data set with features, votes, gold labels and the splits train, valid and test")
    methods: str = option(METHODS, "what is trained; targets, aggregators, and those of the default list")
    runs: int = option(30, "trainings of each, with seeds of their own", low=1)
    choose: Literal["gold", "votes"] = option("gold", "what says which epoch, and which L2, is best")
    net: str = option("labelme-head", "the net on the features")
    epochs: int = option(50, "passes over all training photos", low=1)
    batch: int = option(64, "batch size: photos per step", low=1)
    lr: float = option(1e-3, "learning rate of Adam", low=0)
    l2: str = option("100,300,1000,3000,10000,30000", "penalties that raykar-logistic chooses from")
    folder: str = option("", "a folder that keeps every result: a walk that was stopped goes on there")
    seed: int = option(0, "of the first run", low=0)

    def run(self, *, read: Reader = from_the_shelf, progress: Progress = no_progress) -> Tables:
        """Train everything as often as wished, and measure."""
        setting = self._setting(read)
        kept = ResultCache(self.folder, repr(replace(self, methods="", runs=1, folder="")))
        from plurivox.recipes._papers.labelme_protocol import LOGISTIC, choose_l2, held_out, official

        words, done = split_list(self.methods), 0
        if LOGISTIC in words:
            setting.chosen.update(kept.numbers(f"{LOGISTIC}-l2", partial(choose_l2, setting, self.seed)))
        hard: dict[str, list[dict[str, float]]] = {word: [] for word in words}
        soft: dict[str, list[dict[str, float]]] = {word: [] for word in words}
        for run in range(self.runs):
            for word in words:
                once = word == LOGISTIC  # nothing in it is left to chance
                if not (once and run):
                    make = partial(official, setting, word, self.seed + run)
                    hard[word].append(kept.numbers(f"{word}-official-{run:03d}", make))
                make = partial(held_out, setting, word, run, self.seed)
                soft[word].append(kept.numbers(f"{word}-held-out-{run:03d}", make))
                progress(done, self.runs * len(words))
                done += 1
        return self._tables(setting, hard, soft)

    def _setting(self, read: Reader) -> "Setting":
        from plurivox.recipes._papers.labelme_protocol import Setting
        from plurivox.train.plan import Plan
        from plurivox.workflows.load_training_data import load_training_data

        training_data = load_training_data(read(self.data))
        parts = training_data.parts()
        if set(parts) != {"train", "dev", "test"}:
            raise InputError(f"{training_data.name} must have the splits train, valid and test; it has {sorted(parts)}")
        best = "accuracy" if self.choose == "gold" else "cross-entropy"
        plan = Plan(epochs=self.epochs, batch=self.batch, lr=self.lr, best=best, device="cpu")
        return Setting(
            training_data, parts, self.net, plan, self.choose, tuple(float(one) for one in split_list(self.l2))
        )

    def _tables(self, setting: "Setting", hard: "Runs", soft: "Runs") -> Tables:
        label, share = evaluate.majority_baseline(setting.gold.on(setting.parts["test"]))
        floor = evaluate.vote_floor(setting.votes.on(setting.parts["train"]))
        by = (
            "gold labels of the validation photos"
            if self.choose == "gold"
            else "votes on a tenth of the training photos"
        )
        notes = (
            f"always {label}: accuracy {share:.4f}; epochs chosen by the {by}; no test photo has votes, so all is against "
            "gold; ECE has 15 bins over all test photos",
            f"raykar-logistic, dev by its L2: {_told(setting.chosen)}" if setting.chosen else "",
        )
        soft_note = (
            "against the votes on the last fifth; raykar-logistic differs between runs by its photos alone; shares of so few "
            f"votes lie about {floor:.3f} nats (KL) from what many people would say"
        )
        return Tables(
            f"{setting.training_data.name}, {self.runs} runs",
            (
                mean_and_std("Test photos, against gold", hard, notes),
                mean_and_std("Training photos held out, against votes", soft, (soft_note,)),
                all_runs("Every run on the test photos", hard, self.seed),
                all_runs("Every run on photos held out", soft, self.seed),
            ),
            self.spec,
        )


Runs = dict[str, list[dict[str, float]]]


def _told(chosen: dict[str, float]) -> str:
    return ", ".join(f"{name} {np.round(value, 4):g}" for name, value in chosen.items())
