"""Configuration of a study: study.toml, parsed and checked."""

import hashlib
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from plurivox.assign import methods as assigners
from plurivox.core import questions
from plurivox.core.errors import InputError, PlurivoxError, unknown_name
from plurivox.web.store.collect.workers import Stage
from plurivox.web.store.schema import TaskKind
from plurivox.web.study import forms
from plurivox.web.study.forms import Form, Person, own_words, phrase_for, wording
from plurivox.web.study.study_errors import told
from plurivox.web.study.terms import MTURK_FRAMES, Completion, Exclude, Part, Pay, PlatformName

STUDY = "study.toml"
Label = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Words = Annotated[str, Field(max_length=20_000, pattern=r"^[^\x00]*$")]
Origin = Annotated[str, Field(max_length=200, pattern=r"^https://[A-Za-z0-9*.-]+(:[0-9]{1,5})?$")]


class Question(Part):
    """One question of the comprehension check; `right` is the place of the right choice, from 0."""

    question: Words
    choices: list[Words] = Field(min_length=2, max_length=10)
    right: int = Field(ge=0)
    why: Words = ""

    @model_validator(mode="after")
    def _right_is_there(self) -> Self:
        if self.right >= len(self.choices):
            raise ValueError(f"right = {self.right}, but choices are counted from 0 to {len(self.choices) - 1}")
        return self


class Texts(Part):
    """What people read; a blank line parts paragraphs, and nothing else is markup. An empty text leaves its page out."""

    consent: Words = "You take part of your own will and may stop at any time. Your answers are kept under a pseudonym."
    instructions: Words = (
        "You will see tasks one after the other. Say what you think each one is, and how sure you are.\n\n"
        "There is no need to hurry, and no need to be certain: your doubt is what we want to know."
    )
    debrief: Words = "Thank you. Your answers have been saved."
    closed: Words = "This study takes no answers at the moment. What you have answered is saved."
    waiting: Words = "All tasks are with other people at the moment. This page looks by itself for any that come back."
    full: Words = (
        "This study has all the answers it needs, so nothing is left for you to answer. Thank you for coming.\n\n"
        "If a platform sent you, please give your place back there: without an answer there is no completion code."
    )
    failed: Words = "This is where the study ends for you. What you have answered is saved. Thank you for your time."


class Arm(Part):
    """One of several ways to ask: every person gets one of them at random, and keeps it."""

    name: str = Field(default="", max_length=80, pattern=r"^[A-Za-z0-9_.-]*$")  # empty: its form
    form: Form
    wording: Person | Literal[""] = ""  # empty: the study's
    chips: int = Field(default=0, ge=0, le=100)  # 0: the study's
    share: int = Field(default=1, ge=1, le=100)  # of the people, beside the shares of the others


class Study(Part):
    """Everything about a study but its tasks.

    >>> study = Study(name="pets", labels=["cat", "dog"], form="one-label")
    >>> study.tasks_per_sitting, study.phrases()["top"]
    (25, 'Which label would most of them choose?')
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$")
    title: str = Field(default="", max_length=300, pattern=r"^[^\x00-\x1f]*$")
    labels: list[Label] = Field(min_length=2, max_length=1000)
    form: Form = "top-two"
    wording: Person = "third"
    kind: TaskKind | Literal[""] = ""  # what tasks are; empty: as the first one is
    chips: int = Field(default=20, ge=2, le=100)  # of the form chips: how many there are to place
    per_task: int = Field(default=6, ge=1, le=1000)
    batch: int = Field(default=25, ge=1, le=1000)
    repeats: int = Field(default=0, ge=0, le=100)
    sittings: int = Field(default=1, ge=1, le=1000)  # how many batches one person may answer
    practice: int = Field(default=3, ge=0, le=50)  # practice tasks, of those the items mark so
    strata: dict[str, Annotated[int, Field(ge=1, le=1000)]] = {}  # tasks of each stratum in a batch
    assign: str = Field(default="", max_length=300)  # how tasks are chosen; empty: by batches, strata or quota
    token_days: float = Field(default=30, gt=0, le=3650)  # a person away for longer comes back by the personal link
    lease_minutes: float = Field(default=60, gt=0, le=60 * 24 * 30)
    image_pixels: int = Field(default=160, ge=16, le=4096)  # smaller images are enlarged to this
    aggregator: str = Field(default="", max_length=200)  # of the owner's pages; empty: the mean of the soft answers
    frame_ancestors: list[Origin] = []  # platforms that may show the pages in a frame
    too_fast_seconds: float = Field(default=1.0, ge=0)  # answers faster than this are flagged
    texts: Texts = Texts()
    quiz: list[Question] = Field(default=[], max_length=20)
    forms: list[Form] = Field(default=[], max_length=20)  # arms in short: each of these forms, with equal shares
    arm: list[Arm] = Field(default=[], max_length=20)
    platforms: list[PlatformName] = ["prolific"]  # whose links let people in
    submit_early: bool = False  # audio may be answered before it was heard to the end
    completion: Completion = Completion()
    pay: Pay = Pay()
    exclude: Exclude = Exclude()
    phrase: dict[str, Words] = {}  # own words for phrases of the task page

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if len(set(self.labels)) < len(self.labels):
            raise ValueError("labels must differ from each other")
        if self.repeats > self.tasks_per_sitting:
            raise ValueError(f"{self.repeats} repeats cannot come from a batch of {self.tasks_per_sitting} tasks")
        _check_chips(self.chips)
        if strange := sorted(set(self.phrase) - set(wording(self.form, "first"))):
            raise ValueError(f"there are no phrases {strange}")
        return self

    @model_validator(mode="after")
    def _assigns(self) -> Self:
        try:
            made = assigners.make(self.assign) if self.assign else None
        except PlurivoxError as cause:
            raise ValueError(f"assign: {cause}") from None
        if made is not None and made.name() == "strata" and not self.strata and "counts" not in self.assign:
            raise ValueError("assign: strata needs [strata], such as hard = 22")
        return self

    @model_validator(mode="after")
    def _arms_differ(self) -> Self:
        if self.forms and self.arm:
            raise ValueError("say either forms or [[arm]]")
        names = [one.name for one in self.arms]
        if len(names) == 1 or len(set(names)) < len(names):
            raise ValueError("arms are two or more, and each needs a name of its own")
        for one in self.arms:
            _check_chips(one.chips or self.chips)
        return self

    @property
    def arms(self) -> list[Arm]:
        """The ways in which people are asked, where there are several; empty: all are asked alike."""
        given = self.arm or [Arm(form=form) for form in self.forms]
        return [one if one.name else one.model_copy(update={"name": one.form}) for one in given]

    @property
    def shares(self) -> dict[str, int]:
        """The arms by name, each with its share of the people."""
        return {one.name: one.share for one in self.arms}

    def in_arm(self, name: str) -> "Study":
        """The study as the people of an arm see it; as it is where there is no such arm."""
        for one in self.arms:
            if one.name == name:
                own = {"form": one.form, "wording": one.wording or self.wording, "chips": one.chips or self.chips}
                return self.model_copy(update=own)
        return self

    @property
    def asks(self) -> questions.Question:
        """What the form asks for."""
        return forms.question(forms.read_by(self.form))

    @property
    def tasks_per_sitting(self) -> int:
        """How many different tasks a sitting has; repeats come on top."""
        return sum(self.strata.values()) or self.batch

    @property
    def lease_seconds(self) -> float:
        """How long a sitting's slots are kept for a person who does not answer."""
        return self.lease_minutes * 60

    @property
    def digest(self) -> str:
        """A few letters that differ whenever anything in study.toml does."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    def phrases(self) -> dict[str, str]:
        """Every phrase of the task page, by form, wording and kind of tasks as they are now; the study's own words first."""
        said = wording(self.form, self.wording) | phrase_for(self.form, self.wording, self.kind)
        return said | own_words(self.phrase)

    def frames(self) -> list[str]:
        """Whose pages may show ours in a frame."""
        return [*self.frame_ancestors, *(MTURK_FRAMES if "mturk" in self.platforms else ())]

    def stages(self) -> list[Stage]:
        """The pages a person walks through, in order; those without content are left out."""
        there: dict[Stage, object] = {
            "consent": self.texts.consent,
            "instructions": self.texts.instructions,
            "quiz": self.quiz,
            "practice": self.practice,
            "tasks": True,
            "debrief": self.texts.debrief,
            "done": True,
        }
        return [stage for stage, content in there.items() if content]


def _check_chips(chips: int) -> None:
    if 100 % chips:
        raise ValueError(f"{chips} chips cannot share 100 percent in whole parts; take 10, 20, 25 or 50")


def read_study(folder: Path) -> Study:
    """The study in a folder."""
    file = folder / STUDY
    if not file.is_file():
        raise InputError(f"{folder} holds no {STUDY}; make a study first: plurivox studio new {folder} --items ...")
    try:
        return study_of(tomllib.loads(file.read_text(encoding="utf-8")), str(file))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as cause:
        raise InputError(f"{file} cannot be read: {cause}") from cause


def study_of(values: dict[str, Any], where: str = STUDY) -> Study:
    """A study of values; what is wrong is said with its place."""
    try:
        return Study.model_validate(values)
    except ValidationError as cause:
        mistakes = cause.errors(include_url=False)[:3]
        raise InputError(f"{where}: {'; '.join(told(dict(one), _names()) for one in mistakes)}") from None


def _names() -> list[str]:
    """Every name that may stand in study.toml."""
    return [name for part in Part.__subclasses__() for name in part.model_fields]


def check_aggregator(study: Study) -> None:
    """Refuse a name that is no aggregator's."""
    from plurivox.aggregate import methods  # loads no aggregator: names are those of files

    name = study.aggregator.partition("[")[0]
    if name and name not in methods:
        raise unknown_name(f"aggregator of {STUDY} called", name, methods)
