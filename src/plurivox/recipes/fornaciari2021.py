"""Tagging tweets and judging stems: one head against two."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from plurivox import evaluate
from plurivox.core.errors import OptionError, unknown_name
from plurivox.core.method import option, split_list
from plurivox.core.progress import Progress, no_progress
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.tables import Table, Tables
from plurivox.recipes._contract import Reader, Recipe, from_the_shelf
from plurivox.workflows.net_evaluation import all_runs, mean_and_std
from plurivox.workflows.result_cache import ResultCache

if TYPE_CHECKING:
    from plurivox.recipes._papers.fornaciari2021_conditions import Condition
    from plurivox.recipes._papers.text_tasks import Texts
    from plurivox.train.nets import Net

DATA = {"pos": "pos_twitter", "stemming": "stemming"}
NETS = {"pos": "tagger", "stemming": "stem-cnn"}


@dataclass(frozen=True)
class Fornaciari2021(Recipe):
    """Tagging tweets and judging stems with one head, or with a second one that learns what the crowd said.

    Fornaciari et al. (2021), https://doi.org/10.18653/v1/2021.naacl-main.204. The hard head learns gold labels, or silver
    ones (the majority's; tasks with a tie are left out of training); the soft head softmax shares of the votes, by KL, inverse
    KL or cross-entropy in bits. KL and cross-entropy differ by a constant: with one seed they give one and the same net.
    The epoch is the best by macro F1 on dev tasks, judged by the same kind of label as is
    taught; tests are always against gold. `folds=0` takes the splits of the data (pos: 200 other tweets, and 500 with two
    annotators for soft measures); with folds whole tweets, or all pairs of a word, stay together, unlike in the paper, which
    dealt out single tokens. No word vectors are given: all is learnt from scratch unless the net has a file of them. Tokens
    tagged by rule count as 177 equal votes, as in the source. Stemming's gold is the answers of one person.

    `pack` writes the encoded inputs to one .npz and ends; `packed` begins with such a file, and needs no tables.
    """

    reads: ClassVar[tuple[str, ...]] = ("pos_twitter", "stemming")

    task: Literal["pos", "stemming"] = option("pos", "parts of speech of tweets, or whether a stem is right")
    data: str = option("", "the data set; none: pos_twitter or stemming")
    runs: int = option(3, "trainings of each condition, with seeds of their own", low=1)
    folds: int = option(0, "cross-validation on the tasks with votes; 0: the splits of the data", low=0)
    mains: str = option("gold,silver", "what the hard head learns")
    losses: str = option("kl,inverse-kl,ce", "losses of the soft head")
    net: str = option("", "the net; none: tagger or stem-cnn in the size of the paper")
    epochs: int = option(10, "how often every task is visited", low=1)
    batch: int = option(1024, "tasks a step", low=1)
    lr: float = option(1e-3, "learning rate of Adam", low=0)
    context: int = option(0, "words of a tweet that are read around a word; 0: all", low=0)
    letters: int = option(15, "letters of a word that are read (stemming: 0 reads all)", low=0)
    repeats: int = option(1000, "resamples of the significance test", low=1)
    fraction: float = option(1.0, "share of the tasks in a resample; the paper drew 0.33", low=0.01, high=1)
    device: str = option("auto", "cpu, cuda; auto: CUDA where there is one")
    engine: Literal["auto", "eager", "graphs", "compile"] = option("auto", "how a step runs, as in plurivox train")
    folder: str = option("", "a folder that keeps what every net believes: a walk that was stopped goes on there")
    pack: str = option("", "write the encoded inputs to this .npz and end")
    packed: str = option("", "read the encoded inputs from this .npz")
    seed: int = option(0, "of the first run", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for one in split_list(self.mains):
            if one not in ("gold", "silver"):
                raise unknown_name("main task", one, ("gold", "silver"))
        for one in split_list(self.losses):
            if one not in ("kl", "inverse-kl", "ce"):
                raise unknown_name("loss of the soft head", one, ("kl", "inverse-kl", "ce"))
        if self.folds == 1:
            raise OptionError("one fold is no cross-validation; take folds=5, or folds=0 for the splits of the data")

    def run(self, *, read: Reader = from_the_shelf, progress: Progress = no_progress) -> Tables:
        """Train every condition as often as wished, and compare."""
        from plurivox.recipes._papers.fornaciari2021_conditions import conditions, train_and_predict_all
        from plurivox.recipes._papers.text_tasks import write_texts
        from plurivox.train.plan import Plan

        texts = self._texts(read)
        if self.pack:
            write_texts(texts, self.pack)
            return Tables(f"Packed {texts.name}", (self._sizes(texts),), self.spec)
        net, done = self._net(), 0
        plan = replace(
            Plan(epochs=self.epochs, batch=self.batch, lr=self.lr, device=self.device, engine=self.engine),
            best="macro-f1",
            goal="highest",
            ties="last",
        )
        kept = ResultCache(self.folder, self._settings(texts))
        asked = conditions(split_list(self.mains), split_list(self.losses))
        predictions: dict[Condition, list[SoftLabels]] = {one: [] for one in asked}
        for run in range(self.runs):
            for condition in asked:
                seeded = replace(plan, seed=self.seed + run)
                name = f"{condition.main}-{condition.loss or 'one-head'}-{run:03d}"
                make = partial(train_and_predict_all, texts, self.folds, condition, net, seeded, self.seed)
                predictions[condition].append(kept.data_type(name, SoftLabels, make))
                progress(done, self.runs * len(asked))
                done += 1
        return self._tables(texts, predictions)

    def _texts(self, read: Reader) -> "Texts":
        from plurivox.recipes._papers.text_tasks import pairs_of, read_texts, tokens_of

        if self.packed:
            return read_texts(self.packed)
        data = read(self.data or DATA[self.task])
        return tokens_of(data, self.context, self.letters) if self.task == "pos" else pairs_of(data, self.letters)

    def _net(self) -> "Net":
        from plurivox.train import nets

        options = {"letters": self.letters} if self.task == "pos" else {}
        return nets.methods.make(self.net or NETS[self.task], **options)

    def _settings(self, texts: "Texts") -> str:
        """What must be the same for results to go together; packed inputs are those of the data."""
        freed = {"runs": 1, "mains": "gold", "losses": "kl", "folder": "", "packed": "", "data": ""}
        made = replace(self, repeats=1, fraction=1.0, device="auto", engine="auto", **freed)  # type: ignore[arg-type]
        return f"{made!r} on {len(texts.tasks)} tasks of {texts.name}"

    def _sizes(self, texts: "Texts") -> Table:
        """The parts of the data, and what always saying one label scores there."""
        rows = []
        for split in dict.fromkeys(texts.split.tolist()):
            tasks = texts.part(split)
            gold, votes = texts.gold(tasks), texts.votes(tasks)
            label, share = evaluate.majority_baseline(gold) if gold is not None else ("", None)
            rows.append((split, len(tasks), 0 if votes is None else votes.n_tasks, label, share))
        names = ("split", "tasks", "with votes", "most frequent", "its share")
        return Table(
            "Tasks, and always the most frequent label",
            dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)),
        )

    def _tables(self, texts: "Texts", predictions: "dict[Condition, list[SoftLabels]]") -> Tables:
        from plurivox.recipes._papers.fornaciari2021_conditions import cells, gains, results

        found, where = results(texts, predictions), f"{self.folds} folds" if self.folds else "the splits of the data"
        note = (
            f"{where}; epochs chosen by macro F1 on dev against the same kind of label as is taught; accuracy, macro F1, NLL "
            "against gold; CE and entropy r against vote shares"
        )
        right = cells(texts, predictions)
        return Tables(
            f"{texts.name}: one head and two, {self.runs} runs",
            (
                mean_and_std("Measures", found, (note,), of="taught"),
                self._sizes(texts),
                gains(texts, predictions, self.repeats, self.fraction),
                *(() if right is None else (right,)),
                all_runs("Every run", found, self.seed, of="taught"),
            ),
            self.spec,
        )
