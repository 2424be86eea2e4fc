"""What the flags of answers mean, in sentences for the owners of a study: those of the form and those of the studio."""

from collections.abc import Iterable

from plurivox.elicit import FLAGS
from plurivox.web.study.config import Study

STUDIO_FLAGS = {  # name -> meaning, with {too_fast_seconds} of the study
    "too-fast": "answered in less than {too_fast_seconds:g} seconds",
    "changed-on-repeat": "another label came first when the same task was shown again",
    "late": "late, beyond the quota: the task was full when it came, or its person was excluded and then reinstated",
    "picture-not-seen": "the picture had not loaded when the answer was sent",
    "impossible-time": "more time was claimed than passed on the server, or more hidden time than time",
}


def flag_meanings(study: Study, flag_names: Iterable[str]) -> dict[str, str]:
    """Return flag -> a sentence that says what is odd about an answer with it, for the flags given.

    >>> study = Study(name="pets", labels=["cat", "dog"], too_fast_seconds=2)
    >>> flag_meanings(study, ["too-fast", "no-top"])
    {'too-fast': 'Answered in less than 2 seconds', 'no-top': 'A second label but no top label; used as entered'}
    """
    return {name: _flag_meaning(study, name) for name in flag_names}


def _flag_meaning(study: Study, flag_name: str) -> str:
    """Return the sentence of one flag; the name in plain letters if the flag is unknown, as of another version."""
    if flag_name in STUDIO_FLAGS:
        meaning = STUDIO_FLAGS[flag_name].format(too_fast_seconds=study.too_fast_seconds)
        meaning = meaning.replace(" 1 seconds", " 1 second")
    else:
        meaning = FLAGS[flag_name][1] if flag_name in FLAGS else flag_name.replace("-", " ")
    return meaning[:1].upper() + meaning[1:]
