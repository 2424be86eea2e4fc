"""Train: inputs and labels of a crowd in, a network and its predictions out. Needs torch; knows no tables.

What a data set becomes on its way to a step of training, who makes it, and what it adds:

    Dataset      io.read                      the files and tables of a data set
    Material     workflows.material_of        inputs, a row per task, with votes, gold and soft labels and split by name
    Known        PreparedTraining.of, fit     what a target may use: votes, gold labels, soft labels of an aggregator
    TrainingSet  TrainingSet.of               inputs as a tensor on the device, without tasks that have no target; weights
    Examples     Target.examples              the labels as tensors; it draws those of an epoch
    Batch        Trainer.batch                inputs, labels and weights of the examples of one step

`plurivox.train.parallel.runs` says who calls whom, from a series of runs down to a step.
"""

from typing import Any

from plurivox.core.errors import require_package
from plurivox.core.lazy_import import lazy_getattr

EXPORTS = {
    "CrowdClassifier": "estimator",
    "Supervision": "targets._contract",
    "Plan": "plan",
    "Trained": "result",
    "attacks": "",
    "augment": "data.augment:",
    "crowdlab": "em.crowdlab",
    "fit": "fit_net",
    "heads": "",
    "images": "data.images:",
    "losses": "",
    "nets": "",
    "raykar_em": "em.raykar_em",
    "splits": "data.splits:",
    "targets": "",
    "text": "data.text:",
}
LIGHT = ("crowdlab", "raykar_em", "splits")  # they need numpy alone
__all__ = [*EXPORTS]
_attribute = lazy_getattr(__name__, EXPORTS)


def __getattr__(name: str) -> Any:
    if name in EXPORTS and name not in LIGHT:
        import plurivox.train._torch  # noqa: F401  a word on how to get torch, before anything asks for it
    if name == "CrowdClassifier":
        require_package("sklearn", name, "pip install scikit-learn")
    return _attribute(name)


def __dir__() -> list[str]:
    return sorted(__all__)
