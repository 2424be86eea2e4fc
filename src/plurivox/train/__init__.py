"""Train networks on inputs and the labels of a crowd. Needs torch; does not use DataFrames.

The types from a data set to a training step, where they are made, and what they contain:

    Dataset       io.read                                           the files and tables of a data set
    TrainingData  workflows.load_training_data                      inputs, a row per task; votes, gold, soft labels, splits
    Supervision   PreparedTraining.prepare_training, fit            data that a target may use: votes, gold labels, soft labels
    PreparedData  PreparedData.from_inputs_dropping_unusable_tasks  inputs with a target as a tensor on the device; weights
    Examples      Target.make_examples                              the labels as tensors, from which those of a batch are drawn
    Batch         Trainer.make_augmented_batch                      inputs, labels and weights of the examples of one step

The docstring of `plurivox.train.parallel.multi_seed_runs` lists the calls from a series of runs down to a step.
"""

from typing import Any

from plurivox.core.errors import require_package
from plurivox.core.lazy_exports import lazy_getattr

EXPORTS = {
    "CrowdClassifier": "net_as_sklearn_estimator",
    "Known": "targets._contract",
    "Supervision": "targets._contract",
    "Plan": "training_hyperparameters",
    "Trained": "trained_net",
    "attacks": "",
    "augment": "data.image_augmentation:",
    "crowdlab": "em.crowdlab_from_predictions",
    "fit": "fit_net",
    "heads": "",
    "images": "data.decode_images:",
    "losses": "",
    "nets": "",
    "raykar_em": "em.raykar_em",
    "splits": "data.splits:",
    "targets": "",
    "text": "data.text_encoding:",
}
WITHOUT_TORCH = ("crowdlab", "raykar_em", "splits")
__all__ = [*EXPORTS]
_attribute = lazy_getattr(__name__, EXPORTS)


def __getattr__(name: str) -> Any:
    if name in EXPORTS and name not in WITHOUT_TORCH:
        import plurivox.train._require_torch  # noqa: F401  raises MissingExtra if torch is not installed
    if name == "CrowdClassifier":
        require_package("sklearn", name, "pip install scikit-learn")
    return _attribute(name)


def __dir__() -> list[str]:
    return sorted(__all__)
