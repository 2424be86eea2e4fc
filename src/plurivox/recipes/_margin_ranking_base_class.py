"""Base class of the recipes aum, waum and waum-per-worker, which rank tasks by the margins of recorded logits."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.recipe_tables import Tables
from plurivox.recipes._contract import DatasetReader, Recipe, read_dataset


@dataclass(frozen=True)
class MarginRecipe(Recipe):
    """Base class: train networks, record their logits, rank tasks by a margin score; a subclass adds the score's options."""

    reads: ClassVar[tuple[str, ...]] = ("labelme",)
    score: ClassVar[str]  # name of the identifier
    title: ClassVar[str]  # name of the score in the title of the tables

    data: str = option("labelme", "data set with features, images or texts and votes, or a folder of images per label")
    net: str = option("labelme-head", "network that is trained, such as cifar-resnet on images")
    image_size: int = option(0, "resize images to this many pixels in width and height; 0: unchanged", low=0)
    device: str = option("cpu", "cpu or cuda; auto: CUDA if available")
    epochs: int = option(30, "number of training epochs; the logits of every epoch are recorded", low=1)
    batch: int = option(64, "batch size: examples per step", low=1)
    lr: float = option(1e-3, "learning rate of Adam", low=0)
    runs: int = option(3, "number of runs, with the seeds seed, seed + 1, ...", low=1)
    n: int = option(10, "number of worst tasks to show", low=1)
    seed: int = option(0, "seed of the first run", low=0)

    def run(self, *, read: DatasetReader = read_dataset, progress: Progress = no_progress) -> Tables:
        """Train networks in several runs, record their logits, and return tables of the tasks with the worst margin scores."""
        from plurivox import identify
        from plurivox.train.training_hyperparameters import Plan
        from plurivox.workflows.score_by_training_dynamics import (
            DynamicsSetup,
            task_scores_of_each_training_run,
            worst_tasks_and_wrong_vote_detection_tables,
        )

        plan = Plan(epochs=self.epochs, batch=self.batch, lr=self.lr, seed=self.seed, device=self.device)
        setup = DynamicsSetup.from_dataset(
            read(self.data), self.net, plan, image_size=self.image_size or None, score_all_without_splits=True
        )
        shared = {option.name for option in MarginRecipe.options()}
        own = {option.name: getattr(self, option.name) for option in self.options() if option.name not in shared}
        found = task_scores_of_each_training_run(setup, identify.methods.make(self.score, **own), self.runs, progress)
        return Tables(
            f"{self.title} of {setup.training_data.name}",
            worst_tasks_and_wrong_vote_detection_tables(setup, found, self.n),
            self.spec,
        )
