"""Recipe labelme: train networks on LabelMe with gold, aggregated and soft labels and crowd heads, on the official split."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from plurivox import evaluate
from plurivox.core.errors import InputError, unknown_name_error
from plurivox.core.method import option, split_at_commas_outside_brackets
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.recipe_tables import Tables
from plurivox.core.soft_labels import SoftLabels
from plurivox.recipes._contract import DatasetReader, Recipe, read_dataset
from plurivox.workflows.net_evaluation import every_run_table, gold_use_note, mean_and_std_table
from plurivox.workflows.result_cache import ResultCache, settings_text

if TYPE_CHECKING:
    from plurivox.recipes._papers.labelme_training_and_measures import ExperimentSetting

METHODS = (
    "gold,majority,dawid-skene,ebcc,average,log-pool,log-pool[background=0],log-pool-hard,vote-shares,calibrated-shares,softmax-shares,de-aggregated,"
    "two-heads-gold,two-heads-silver,crowd-layer,conal,trace-regularised,geo-crowd-net-f,geo-crowd-net-w,union-net-a,union-net-b,annot-mix,raykar,"
    "raykar-logistic"
)

DEFAULT_REFERENCE = "dawid-skene"


@dataclass(frozen=True)
class Labelme(Recipe):
    """Training labels for few votes per photo, compared on LabelMe with its official split.

    The training set has 1,000 photos with 2.5 votes each on average, the test set 1,188. The epoch is chosen by the votes on
    a tenth of the training photos (`choose=votes`), or, as other papers do, by the gold labels of 500 validation photos
    (`choose=gold`): then every method has used 500 gold labels. The difference of each method to the `reference` has an
    interval for other photos and other runs, and its p-value is adjusted for the number of methods (Holm). The test
    photos have no votes: accuracy, NLL, Brier score and ECE are against gold labels. For soft measures every run is trained
    once more on four fifths of the training photos and compared with the votes on the last fifth (a photo is one task, so no
    duplicate is in both): cross-entropy against vote shares and against softmax shares, because a network trained on one of
    them is evaluated on its own target there, total variation, and the correlation of entropies. Five runs, one per fifth,
    together predict all training photos, so that differences to the `reference` have intervals there, too. Ties of majorities
    are broken with another seed in every run. `log-pool-hard` trains on the most probable label of log-pool.

    Other data sets with features, votes and gold labels of the tasks of a test split can be given, such as sentence_polarity
    packed by examples/sentence_features.py; a split valid is needed only for `choose=gold`.

    Rodrigues & Pereira (2018), https://doi.org/10.1609/aaai.v32i1.11506; Uma et al. (2020),
    https://doi.org/10.1609/hcomp.v8i1.7478
    """

    reads: ClassVar[tuple[str, ...]] = ("labelme",)

    data: str = option(
        "labelme",
        "a data set with features, images or texts, votes, gold labels and the splits train, test and, for choose=gold, valid "
        "(random, if it has no splits); or its .npz",
    )
    methods: str = option(
        METHODS,
        "ways to train, comma-separated: training targets, aggregation methods, heads, or names of the default list, with "
        "options in brackets",
    )
    runs: int = option(30, "number of runs of each method, with the seeds seed, seed + 1, ...", low=1)
    choose: Literal["gold", "votes"] = option(
        "votes", "labels of the dev photos by which the best epoch and the L2 penalty are chosen"
    )
    reference: str = option(DEFAULT_REFERENCE, "method that every other method is compared with on the test photos")
    net: str = option("labelme-head", "network that is trained, such as cifar-resnet on images")
    image_size: int = option(0, "resize images to this many pixels in width and height; 0: unchanged", low=0)
    device: str = option("cpu", "cpu or cuda; auto: CUDA if available")
    epochs: int = option(50, "number of training epochs", low=1)
    batch: int = option(64, "batch size: photos per step", low=1)
    lr: float = option(1e-3, "learning rate of Adam", low=0)
    l2: str = option("100,300,1000,3000,10000,30000", "L2 penalties that raykar-logistic chooses from")
    folder: str = option("", "folder to save every result in; an interrupted recipe continues from it")
    seed: int = option(0, "seed of the first run", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        methods = split_at_commas_outside_brackets(self.methods)
        if self.reference and self.reference != DEFAULT_REFERENCE and self.reference not in methods:
            raise unknown_name_error("method of this recipe", self.reference, methods)

    def run(self, *, read: DatasetReader = read_dataset, progress: Progress = no_progress) -> Tables:
        """Train every method in every run, and return tables of the measures on test photos and on held-out training photos."""
        setting = self._read_experiment_setting(read)
        cache = ResultCache(self.folder, self._settings_text_of_cached_results())
        from plurivox.recipes._papers.labelme_training_and_measures import (
            LOGISTIC,
            best_l2_and_dev_score_of_every_l2,
            train_and_predict_held_out_fold,
            train_and_predict_test_photos,
        )

        methods, done = split_at_commas_outside_brackets(self.methods), 0
        if LOGISTIC in methods:
            setting.chosen_l2.update(
                cache.load_or_compute_numbers(
                    f"{LOGISTIC}-l2", partial(best_l2_and_dev_score_of_every_l2, setting, self.seed)
                )
            )
        predictions: dict[str, list[SoftLabels]] = {method: [] for method in methods}
        held_out: dict[str, list[SoftLabels]] = {method: [] for method in methods}
        for run in range(self.runs):
            for method in methods:
                if method != LOGISTIC or run == 0:  # the logistic regression is deterministic: one run is enough
                    predict = partial(train_and_predict_test_photos, setting, method, self.seed + run)
                    predictions[method].append(
                        cache.load_or_compute_data(f"{method}-official-{run:03d}", SoftLabels, predict)
                    )
                predict = partial(train_and_predict_held_out_fold, setting, method, run, self.seed)
                held_out[method].append(cache.load_or_compute_data(f"{method}-fold-{run:03d}", SoftLabels, predict))
                progress(done, self.runs * len(methods))
                done += 1
        return self._tables_of_test_and_left_out_photos(setting, predictions, held_out)

    def _settings_text_of_cached_results(self) -> str:
        """Return the settings as text; results cached in one folder must all have the same."""
        made = replace(self, methods="", runs=1, folder="", reference="")
        return settings_text(made, ("image_size", "device"))

    def _read_experiment_setting(self, read: DatasetReader) -> "ExperimentSetting":
        """Return the LabelMe data, splits, network and plan that all runs share; raise InputError if a split is missing."""
        from plurivox.recipes._papers.labelme_training_and_measures import ExperimentSetting
        from plurivox.train import nets
        from plurivox.train.training_hyperparameters import Plan
        from plurivox.workflows.load_training_data import load_training_data, splits_from_file_or_data_else_random
        from plurivox.workflows.training_inputs import InputChoice, Pictures

        packed = self.data.lower().endswith(".npz")  # inputs and labels in one file, which needs no polars
        training_data = load_training_data(
            self.data if packed else read(self.data),
            Pictures(size=self.image_size or None),
            choice=InputChoice(reads=nets.methods.make(self.net).reads),
        )
        splits = training_data.tasks_by_standard_split()
        splits = splits or splits_from_file_or_data_else_random(training_data, seed=self.seed)
        needed = {"train", "test"} | ({"dev"} if self.choose == "gold" else set())
        if not needed <= set(splits):
            names = "train, valid and test" if self.choose == "gold" else "train and test"
            raise InputError(f"{training_data.name} must have the splits {names}; it has {sorted(splits)}")
        best = "accuracy" if self.choose == "gold" else "cross-entropy"
        plan = Plan(epochs=self.epochs, batch=self.batch, lr=self.lr, best=best, device=self.device)
        return ExperimentSetting(
            training_data.with_inputs_encoded(splits["train"]),
            splits,
            self.net,
            plan,
            self.choose,
            tuple(float(l2) for l2 in split_at_commas_outside_brackets(self.l2)),
        )

    def _tables_of_test_and_left_out_photos(
        self, setting: "ExperimentSetting", test_predictions: "Predictions", held_out_predictions: "Predictions"
    ) -> Tables:
        """Return the tables of the recipe from the predictions of test tasks and of held-out training tasks."""
        from plurivox.recipes._papers.labelme_training_and_measures import (
            differences_on_held_out_tasks_table,
            differences_on_test_tasks_table,
            measure_on_held_out_votes,
            measure_on_test,
        )

        test_measures = {
            method: [measure_on_test(setting, one) for one in runs] for method, runs in test_predictions.items()
        }
        held_out_measures = {
            method: [measure_on_held_out_votes(setting, one) for one in runs]
            for method, runs in held_out_predictions.items()
        }
        label, share = evaluate.majority_baseline(setting.gold_of_all_photos.on(setting.parts["test"]))
        floor = evaluate.vote_floor(setting.votes_on_training_photos.on(setting.parts["train"]))
        by = (
            "gold labels of the validation tasks" if self.choose == "gold" else "votes on a tenth of the training tasks"
        )
        notes = (
            f"always {label}: accuracy {share:.4f}; epochs chosen by the {by}; all is against gold labels; "
            "ECE has 15 bins over all test tasks",
            f"raykar-logistic, dev score by L2: {_format_l2_scores(setting.chosen_l2)}" if setting.chosen_l2 else "",
            (gold_note := self._gold_use_note(len(setting.parts.get("dev", ())))),
        )
        soft_note = (
            "against the votes on the last fifth; runs of raykar-logistic differ only in their tasks; shares of so few "
            f"votes differ by about {floor:.3f} nats (KL) from the shares of many votes"
        )
        return Tables(
            f"{setting.training_data.name}, {self.runs} runs",
            (
                mean_and_std_table("Test tasks, against gold", test_measures, notes),
                *differences_on_test_tasks_table(setting, test_predictions, self.reference),
                mean_and_std_table(
                    "Training tasks held out, against votes and gold", held_out_measures, (soft_note, gold_note)
                ),
                *differences_on_held_out_tasks_table(setting, held_out_predictions, self.reference),
                every_run_table("Every run on the test tasks", test_measures, self.seed),
                every_run_table("Every run on tasks held out", held_out_measures, self.seed),
            ),
            self.spec,
        )

    def _gold_use_note(self, n_validation_tasks: int) -> str:
        """Return the note which methods are trained on gold labels, and whether gold labels choose epoch and L2 penalty."""
        from plurivox.recipes._papers.labelme_training_and_measures import methods_trained_on_gold

        trained = methods_trained_on_gold(split_at_commas_outside_brackets(self.methods))
        uses = [f"as training labels by {', '.join(trained)}"] if trained else []
        if self.choose == "gold":
            uses.append(
                f"by all methods to choose the epoch or the L2 penalty ({n_validation_tasks:,} validation tasks)"
            )
        return gold_use_note(uses)


Predictions = dict[str, list[SoftLabels]]  # method -> predictions of its runs


def _format_l2_scores(chosen_l2_and_dev_scores: dict[str, float]) -> str:
    """Return the chosen L2 penalty and the dev score of each penalty as text."""
    return ", ".join(f"{name} {np.round(value, 4):g}" for name, value in chosen_l2_and_dev_scores.items())
