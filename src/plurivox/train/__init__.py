"""Train: inputs and what is known of them -> a network, and what it believes. Needs torch; knows no tables."""

from typing import Any

from plurivox.core.errors import need
from plurivox.core.lazy import importer

HOMES = {
    "CrowdClassifier": "estimator",
    "Known": "targets._contract",
    "Plan": "plan",
    "Trained": "trained",
    "attacks": "",
    "augment": "",
    "crowdlab": "consensus",
    "fit": "fitting",
    "heads": "",
    "images": "",
    "losses": "",
    "nets": "",
    "raykar_em": "classifying",
    "splits": "",
    "targets": "",
    "text": "",
}
LIGHT = ("crowdlab", "raykar_em", "splits")  # they need numpy alone
__all__ = [*HOMES]
_attribute = importer(__name__, HOMES)


def __getattr__(name: str) -> Any:
    if name in HOMES and name not in LIGHT:
        import plurivox.train._needs  # noqa: F401  a word on how to get torch, before anything asks for it
    if name == "CrowdClassifier":
        need("sklearn", name, "pip install scikit-learn")
    return _attribute(name)


def __dir__() -> list[str]:
    return sorted(__all__)
