"""Recipe fornaciari2021: tag parts of speech in tweets or check stems, by networks with one head and with two heads."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from plurivox import evaluate
from plurivox.core.errors import OptionError, unknown_name_error
from plurivox.core.method import option, split_at_commas_outside_brackets
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.recipe_tables import Table, Tables
from plurivox.core.soft_labels import SoftLabels
from plurivox.recipes._contract import DatasetReader, Recipe, read_dataset
from plurivox.workflows.net_evaluation import every_run_table, gold_use_note, mean_and_std_table
from plurivox.workflows.result_cache import ResultCache

if TYPE_CHECKING:
    from plurivox.recipes._papers.fornaciari2021_texts import Texts
    from plurivox.recipes._papers.fornaciari2021_training_and_measures import Condition
    from plurivox.train.nets import Net

DATA = {"pos": "pos_twitter", "stemming": "stemming"}
NETS = {"pos": "tagger", "stemming": "stem-cnn"}


@dataclass(frozen=True)
class Fornaciari2021(Recipe):
    """Tag tweets or check stems with a network of one head, or with a second head trained on the votes.

    Fornaciari et al. (2021), https://doi.org/10.18653/v1/2021.naacl-main.204. The hard head is trained on gold labels, or on
    silver labels (the majority; tasks with a tie are not trained on); the soft head on softmax shares of the votes, with KL,
    inverse KL or cross-entropy in bits. KL and cross-entropy differ by a constant: with the same seed they give the same
    network up to rounding. The epoch is chosen by macro F1 on the dev tasks, against the same kind of label as in training;
    test measures are always against gold labels. `folds=0` uses the splits of the data (pos: 200 other tweets, and 500 with two
    annotators for soft measures); with folds, all tokens of a tweet, or all pairs of a word, are in the same fold, unlike in
    the paper, which split single tokens. There are no pretrained word vectors unless the network reads a file of them.
    Tokens tagged by rule count as 177 equal votes, as in the source. The gold labels of stemming are the answers of one
    person.

    `pack` writes the encoded inputs to one .npz and stops; `packed` reads such a file, and needs no polars.
    """

    reads: ClassVar[tuple[str, ...]] = ("pos_twitter", "stemming")

    task: Literal["pos", "stemming"] = option("pos", "parts of speech of tweets, or whether a stem is correct")
    data: str = option("", "data set of texts with votes; empty: pos_twitter or stemming")
    runs: int = option(3, "number of runs of each condition, with the seeds seed, seed + 1, ...", low=1)
    folds: int = option(0, "number of folds of the tasks with votes; 0: the splits of the data", low=0)
    mains: str = option("gold,silver", "list of labels that train the hard head: gold, silver (majority vote)")
    losses: str = option("kl,inverse-kl,ce", "list of losses that train the soft head")
    net: str = option("", "network to train; empty: tagger or stem-cnn in the size of the paper")
    epochs: int = option(10, "number of training epochs", low=1)
    batch: int = option(1024, "batch size: tasks per step", low=1)
    lr: float = option(1e-3, "learning rate of Adam", low=0)
    context: int = option(0, "number of words around a word that the network reads; 0: the whole tweet", low=0)
    letters: int = option(15, "number of letters of a word that the network reads (stemming: 0 reads all)", low=0)
    repeats: int = option(1000, "number of resamples of the significance test", low=1)
    fraction: float = option(
        1.0, "share of the tasks in a resample of the paper's test; the paper drew 0.33", low=0.01, high=1
    )
    device: str = option("auto", "cpu or cuda; auto: CUDA if available")
    engine: Literal["auto", "eager", "graphs", "compile"] = option(
        "auto", "how a training step is executed, as in plurivox train"
    )
    folder: str = option("", "folder to save every prediction in; an interrupted recipe continues from it")
    pack: str = option("", "write the encoded inputs to this .npz and stop")
    packed: str = option("", "read the encoded inputs from this .npz")
    seed: int = option(0, "seed of the first run", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for main in split_at_commas_outside_brackets(self.mains):
            if main not in ("gold", "silver"):
                raise unknown_name_error("main task", main, ("gold", "silver"))
        for loss in split_at_commas_outside_brackets(self.losses):
            if loss not in ("kl", "inverse-kl", "ce"):
                raise unknown_name_error("loss of the soft head", loss, ("kl", "inverse-kl", "ce"))
        if self.folds == 1:
            raise OptionError(
                "cross-validation needs at least 2 folds; use folds=5, or folds=0 for the splits of the data"
            )

    def run(self, *, read: DatasetReader = read_dataset, progress: Progress = no_progress) -> Tables:
        """Train every condition in every run and return tables of measures, gains of two heads over one, and split sizes."""
        from plurivox.recipes._papers.fornaciari2021_texts import write_texts
        from plurivox.recipes._papers.fornaciari2021_training_and_measures import (
            list_conditions,
            train_and_predict_on_all_folds,
        )
        from plurivox.train.training_hyperparameters import Plan

        texts = self._read_encoded_texts(read)
        if self.pack:
            write_texts(texts, self.pack)
            return Tables(f"Packed {texts.name}", (self._split_sizes_table(texts),), self.spec)
        net, done = self._make_net_of_option_or_paper(), 0
        plan = replace(
            Plan(epochs=self.epochs, batch=self.batch, lr=self.lr, device=self.device, engine=self.engine),
            best="macro-f1",
            goal="highest",
            ties="last",
        )
        cache = ResultCache(self.folder, self._settings_text_shared_by_cached_results(texts))
        all_conditions = list_conditions(
            split_at_commas_outside_brackets(self.mains), split_at_commas_outside_brackets(self.losses)
        )
        predictions: dict[Condition, list[SoftLabels]] = {condition: [] for condition in all_conditions}
        for run in range(self.runs):
            for condition in all_conditions:
                seeded = replace(plan, seed=self.seed + run)
                name = f"{condition.main}-{condition.loss or 'one-head'}-{run:03d}"
                make = partial(train_and_predict_on_all_folds, texts, self.folds, condition, net, seeded, self.seed)
                predictions[condition].append(cache.load_or_compute_data(name, SoftLabels, make))
                progress(done, self.runs * len(all_conditions))
                done += 1
        return self._make_result_tables(texts, predictions)

    def _read_encoded_texts(self, read: DatasetReader) -> "Texts":
        """Return the encoded tweets or (word, stem) pairs, from the packed file if one is given, else from the data set."""
        from plurivox.recipes._papers.fornaciari2021_texts import (
            encode_word_stem_pairs,
            encode_words_of_tweets,
            read_texts,
        )

        if self.packed:
            return read_texts(self.packed)
        data = read(self.data or DATA[self.task])
        if self.task == "pos":
            return encode_words_of_tweets(data, self.context, self.letters)
        return encode_word_stem_pairs(data, self.letters)

    def _make_net_of_option_or_paper(self) -> "Net":
        """Return the network of the option `net`, by default the one of the paper for this task (pos or stemming)."""
        from plurivox.train import nets

        options = {"letters": self.letters} if self.task == "pos" else {}
        return nets.methods.make(self.net or NETS[self.task], **options)

    def _settings_text_shared_by_cached_results(self, texts: "Texts") -> str:
        """Return the settings as text; results cached in one folder must all have the same."""
        ignored = {"runs": 1, "mains": "gold", "losses": "kl", "folder": "", "packed": "", "data": ""}
        made = replace(self, repeats=1, fraction=1.0, device="auto", engine="auto", **ignored)  # type: ignore[arg-type]
        return f"{made!r} on {len(texts.tasks)} tasks of {texts.name}"

    def _split_sizes_table(self, texts: "Texts") -> Table:
        """Return a table with one row per split: number of tasks, tasks with votes, and accuracy of the most frequent label."""
        rows = []
        for split in dict.fromkeys(texts.split.tolist()):
            tasks = texts.task_names_of_split(split)
            gold, votes = texts.gold_of_tasks(tasks), texts.votes_of_tasks(tasks)
            label, share = evaluate.majority_baseline(gold) if gold is not None else ("", None)
            rows.append((split, len(tasks), 0 if votes is None else votes.n_tasks, label, share))
        names = ("split", "tasks", "with votes", "most frequent", "its share")
        return Table(
            "Tasks, and always the most frequent label",
            dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)),
        )

    def _make_result_tables(self, texts: "Texts", predictions: "dict[Condition, list[SoftLabels]]") -> Tables:
        """Return the tables of the recipe: measures, split sizes, gains of two heads, correctness counts, every run."""
        from plurivox.recipes._papers.fornaciari2021_training_and_measures import (
            measures_of_runs_by_condition_name,
            one_and_two_heads_correctness_table,
            two_heads_gain_table,
        )

        found = measures_of_runs_by_condition_name(texts, predictions)
        split = f"{self.folds} folds" if self.folds else "the splits of the data"
        note = (
            f"{split}; epochs chosen by macro F1 on dev against the kind of label trained on; accuracy, macro F1, NLL "
            "against gold; CE and entropy r against vote shares"
        )
        on_gold = "gold" in split_at_commas_outside_brackets(self.mains)
        gold_note = gold_use_note(
            ["as training labels and to choose the epoch in the conditions whose name begins with gold"]
            if on_gold
            else []
        )
        correctness_table = one_and_two_heads_correctness_table(texts, predictions)
        return Tables(
            f"{texts.name}: one head and two, {self.runs} runs",
            (
                mean_and_std_table("Measures", found, (note, gold_note), first_column_name="condition"),
                self._split_sizes_table(texts),
                two_heads_gain_table(texts, predictions, self.repeats, self.fraction),
                *(() if correctness_table is None else (correctness_table,)),
                every_run_table("Every run", found, self.seed, first_column_name="condition"),
            ),
            self.spec,
        )
