"""The way a study assigns its tasks: the one that study.toml names, or the one that fits what it says."""

import json

from plurivox.assign import Assigner, methods
from plurivox.core.method import split_word
from plurivox.web.study import Study


def assigner_of(study: Study, has_batches: bool) -> Assigner:
    """A method of the room `assign` with the study's batch, repeats and strata, where its word does not say otherwise.

    >>> assigner_of(Study(name="pets", labels=["cat", "dog"], batch=5, repeats=1), has_batches=False)
    Quota(twice=1, seed=0, batch=5)
    """
    fitting = "batches" if has_batches else "strata" if study.strata else "quota"
    name, said = split_word(study.assign or fitting)
    method = methods[name]
    told: dict[str, object] = {"twice": study.repeats, "batch": study.batch, "per-worker": study.batch}
    if study.strata:
        told["counts"] = json.dumps(study.strata)
    own = {one.flag for one in method.options()}
    return method.with_words({**{flag: value for flag, value in told.items() if flag in own}, **said})
