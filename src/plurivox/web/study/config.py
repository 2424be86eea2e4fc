"""Configuration of a study: the data model of study.toml, and functions that read and check it."""

import hashlib
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from plurivox.assign import methods as assigners
from plurivox.core import inputs_asked_by_form
from plurivox.core.errors import InputError, PlurivoxError, unknown_name_error
from plurivox.core.method import split_at_commas_outside_brackets
from plurivox.core.soft_labels import Estimand
from plurivox.elicit import Form as ElicitForm
from plurivox.elicit import methods as elicit_forms
from plurivox.web.store.collect.workers import Stage
from plurivox.web.store.schema import TaskKind
from plurivox.web.study import question_forms
from plurivox.web.study.completion_pay_exclusion_config import (
    ADMITTED_IDS_SETTING,
    MTURK_FRAMES,
    Completion,
    Exclude,
    Pay,
    PlatformName,
    PlatformStudyId,
    Section,
)
from plurivox.web.study.config_error_messages import config_error_message
from plurivox.web.study.default_instructions import OLD_DEFAULT, default_instructions
from plurivox.web.study.question_forms import (
    Form,
    Person,
    default_phrases_for_image_tasks,
    drop_phrases_equal_to_task_kind_defaults,
    phrases_that_differ_for_task_kind,
)

STUDY = "study.toml"
FIRST_LEASES_WITH_DRAFTS = 3  # how many times the lease before the first answer, if drafts extend it
Label = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
LongText = Annotated[str, Field(max_length=20_000, pattern=r"^[^\x00]*$")]
Origin = Annotated[str, Field(max_length=200, pattern=r"^https://[A-Za-z0-9*.-]+(:[0-9]{1,5})?$")]


class Question(Section):
    """A question of the comprehension check; `right` is the index of the correct choice, from 0."""

    question: LongText
    choices: list[LongText] = Field(min_length=2, max_length=10)
    right: int = Field(ge=0)
    why: LongText = ""

    @model_validator(mode="after")
    def _check_correct_choice_exists(self) -> Self:
        """Raise ValueError if `right` is not the index of a choice."""
        if self.right >= len(self.choices):
            raise ValueError(f"right = {self.right}, but choices are numbered from 0 to {len(self.choices) - 1}")
        return self


OLD_TEXTS = {  # defaults that earlier versions wrote into every study.toml
    "closed": "This study does not accept answers at the moment. All answers you have given are saved.",
    "failed": "The study ends here for you. Thank you for your time.",
}
NO_CODE = "without an answer there is no completion code"


class Texts(Section):
    """Texts of the worker's pages, in which a blank line separates paragraphs. A page with an empty text is skipped."""

    consent: LongText = "Taking part is voluntary. You may stop at any time. Your answers are stored under a pseudonym."
    instructions: LongText | None = None  # None: the default text for form, wording and kind
    debrief: LongText = "Your answers have been saved."
    closed: LongText = ""  # empty: the text of the page for a paused or a closed study
    waiting: LongText = (
        "All remaining tasks are assigned to other people. This page checks regularly whether one becomes available."
    )
    full: LongText = (
        "This study has all the answers it needs, so there is no task left for you. Thank you for your interest.\n\n"
        f"If you come from a platform, please return your submission there: {NO_CODE}."
    )
    failed: LongText = "Thank you for your time."

    @field_validator("closed", "failed")
    @classmethod
    def _replace_old_default(cls, text: str, about: ValidationInfo) -> str:
        """Return the default if the text is that of an earlier version, else the owner's text."""
        name = about.field_name or ""
        return str(cls.model_fields[name].default) if text.strip() == OLD_TEXTS[name] else text

    @field_validator("instructions")
    @classmethod
    def _none_if_default_of_version_0_1_0(cls, text: str | None) -> str | None:
        """Return None for the text that version 0.1.0 wrote into every study.toml, else the owner's text."""
        return None if text is not None and text.strip() == OLD_DEFAULT else text


class Arm(Section):
    """An arm of a study that compares question forms: each worker is assigned to one arm at random and answers in its form."""

    name: str = Field(default="", max_length=80, pattern=r"^[A-Za-z0-9_.-]*$")  # empty: the name of its form
    form: Form
    wording: Person | Literal[""] = ""  # empty: the study's
    chips: int = Field(default=0, ge=0, le=100)  # 0: the study's
    share: int = Field(default=1, ge=1, le=100)  # of the workers, relative to the other arms


class Study(Section):
    """The configuration of a study, as in study.toml; tasks and answers are in the database.

    >>> study = Study(name="pets", labels=["cat", "dog"], form="one-label")
    >>> study.distinct_tasks_per_sitting, study.task_page_phrases()["top"]
    (25, 'Which label would most of them choose?')
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$")
    title: str = Field(default="", max_length=300, pattern=r"^[^\x00-\x1f]*$")
    labels: list[Label] = Field(min_length=2, max_length=1000)
    form: Form = "top-two"
    wording: Person = "third"
    kind: TaskKind | Literal[""] = ""  # kind of the tasks; empty: the kind of the first task
    chips: int = Field(default=20, ge=2, le=100)  # number of chips in the form chips
    per_task: int = Field(default=6, ge=1, le=1000)
    batch: int = Field(default=25, ge=1, le=1000)
    repeats: int = Field(default=0, ge=0, le=100)
    sittings: int = Field(default=1, ge=1, le=1000)  # how many batches one person may answer
    practice: int = Field(default=3, ge=0, le=50)  # number of practice tasks
    strata: dict[str, Annotated[int, Field(ge=1, le=1000)]] = {}  # tasks of each stratum in a batch
    assign: str = Field(default="", max_length=300)  # spec of the assigner; empty: batches, tasks-per-stratum or quota
    token_days: float = Field(default=30, gt=0, le=3650)  # days without use after which a worker's token expires
    lease_minutes: float = Field(default=60, gt=0, le=60 * 24 * 30)
    first_answer_minutes: float = Field(default=5, gt=0, le=60 * 24 * 30)  # the lease before the first answer
    unanswered_share: float = Field(default=0.5, gt=0, le=1)  # of the open slots, leased to people without an answer
    image_pixels: int = Field(default=160, ge=16, le=4096)  # smaller images are enlarged to this
    elicit: str = Field(default="", max_length=500)  # forms with options, for soft labels; empty: their defaults
    aggregator: str = Field(default="", max_length=200)  # for truth, for people, or "one, other"; empty: the defaults
    frame_ancestors: list[Origin] = []  # sites that may show the pages in a frame
    too_fast_seconds: float = Field(default=1.0, ge=0)  # answers in fewer seconds are too fast
    texts: Texts = Texts()
    quiz: list[Question] = Field(default=[], max_length=20)
    forms: list[Form] = Field(default=[], max_length=20)  # short form of [[arm]]: one arm per form, with equal shares
    arm: list[Arm] = Field(default=[], max_length=20)
    platforms: list[PlatformName] = []  # platforms whose links are accepted; empty: by invitation only
    prolific_studies: list[PlatformStudyId] = Field(default=[], max_length=1000)  # studies whose people are admitted
    mturk_hits: list[PlatformStudyId] = Field(default=[], max_length=1000)  # HITs whose workers are admitted
    submit_early: bool = False  # whether a sound can be answered before it was played to the end
    completion: Completion = Completion()
    pay: Pay = Pay()
    exclude: Exclude = Exclude()
    phrase: dict[str, LongText] = {}  # custom wording of the task page

    @model_validator(mode="after")
    def _check_labels_repeats_chips_phrases(self) -> Self:
        """Raise ValueError on duplicate labels, too many repeats, a wrong number of chips or unknown phrases."""
        if len(set(self.labels)) < len(self.labels):
            raise ValueError("labels must be unique")
        if self.repeats > self.distinct_tasks_per_sitting:
            raise ValueError(
                f"repeats = {self.repeats} is more than the {self.distinct_tasks_per_sitting} tasks of a batch"
            )
        _check_chips_divide_100_percent(self.chips)
        if unknown := sorted(set(self.phrase) - set(default_phrases_for_image_tasks(self.form, "first"))):
            raise ValueError(f"unknown phrase {', '.join(unknown)}; remove it")
        return self

    @model_validator(mode="after")
    def _check_assigner_spec_and_strata(self) -> Self:
        """Raise ValueError if `assign` is not the spec of an assigner, or it needs strata and the study has none."""
        try:
            made = assigners.make(self.assign) if self.assign else None
        except PlurivoxError as cause:
            raise ValueError(f"assign: {cause}") from None
        if made is not None and made.name() == "tasks-per-stratum" and not self.strata and "counts" not in self.assign:
            raise ValueError("assign: tasks-per-stratum needs [strata], such as hard = 22")
        return self

    @model_validator(mode="before")
    @classmethod
    def _switch_on_platforms_of_admitted_ids(cls, values: Any) -> Any:
        """Return the settings with the platforms whose ids they have, if they do not say which platforms are on."""
        if not isinstance(values, dict) or "platforms" in values:
            return values
        implied = [platform for platform, setting in ADMITTED_IDS_SETTING.items() if values.get(setting)]
        return values | {"platforms": implied} if implied else values

    @model_validator(mode="after")
    def _check_platforms_of_admitted_ids_are_on(self) -> Self:
        """Raise ValueError if study.toml has ids of a platform that is not in `platforms`."""
        for platform, setting in ADMITTED_IDS_SETTING.items():
            if getattr(self, setting) and platform not in self.platforms:
                raise ValueError(
                    f'{setting} is set, but "{platform}" is not in platforms; add it there, or remove the ids'
                )
        return self

    @model_validator(mode="after")
    def _check_specs_of_elicit(self) -> Self:
        """Raise ValueError if `elicit` is not a list of forms with valid options."""
        try:
            elicit_forms.make("form-column", forms=self.elicit)
        except PlurivoxError as cause:
            raise ValueError(f"elicit: {cause}") from None
        return self

    @model_validator(mode="after")
    def _check_arms_unique_and_not_single(self) -> Self:
        """Raise ValueError on a single arm, arms with the same name, or both `forms` and `arm`."""
        if self.forms and self.arm:
            raise ValueError("use either forms or [[arm]], not both")
        names = [one.name for one in self.arms]
        if len(names) == 1 or len(set(names)) < len(names):
            raise ValueError("a study has either no arms or two or more, each with a unique name")
        for one in self.arms:
            _check_chips_divide_100_percent(one.chips or self.chips)
        return self

    @property
    def arms(self) -> list[Arm]:
        """The arms of the study, from `arm` or `forms`; empty if all workers get the same form."""
        given = self.arm or [Arm(form=form) for form in self.forms]
        return [one if one.name else one.model_copy(update={"name": one.form}) for one in given]

    @property
    def weight_by_arm_name(self) -> dict[str, int]:
        """{arm name: weight}, whole numbers: an arm gets workers in proportion to its weight."""
        return {one.name: one.share for one in self.arms}

    def config_of_arm(self, arm_name: str) -> "Study":
        """Return a copy of the study's configuration with form, wording and chips of one arm; self if there is no such arm."""
        for one in self.arms:
            if one.name == arm_name:
                own = {"form": one.form, "wording": one.wording or self.wording, "chips": one.chips or self.chips}
                return self.model_copy(update=own)
        return self

    @property
    def labels_percents_and_ticks_asked_for(self) -> inputs_asked_by_form.Question:
        """What the form of the study asks for: number of labels, percents, ticks."""
        return question_forms.labels_percents_and_ticks_of_form(
            question_forms.elicit_form_name_of_study_form(self.form)
        )

    def elicit_form(self, form_name: str) -> ElicitForm:
        """Return the form of `elicit` that reads answers given in a form, with its options in the setting `elicit`.

        >>> Study(name="pets", labels=["cat", "dog"], elicit="top-two[gamma=0]").elicit_form("top-two").spec
        'top-two[gamma=0.0]'
        """
        with_options = map(elicit_forms.make, split_at_commas_outside_brackets(self.elicit))
        return next((form for form in with_options if form.name() == form_name), elicit_forms.make(form_name))

    @property
    def distinct_tasks_per_sitting(self) -> int:
        """The number of different tasks in a sitting, without repeats."""
        return sum(self.strata.values()) or self.batch

    @property
    def lease_seconds(self) -> float:
        """Seconds for which a task is reserved for a worker."""
        return self.lease_minutes * 60

    @property
    def first_answer_seconds(self) -> float:
        """Seconds for which the tasks of a sitting are reserved before its first answer; never longer than `lease_seconds`."""
        return min(self.first_answer_minutes * 60, self.lease_seconds)

    def lease_seconds_after_answers(self, n_answers: int) -> float:
        """Return the seconds for which the remaining tasks of a sitting are reserved after so many answers in it.

        Each answer adds `first_answer_minutes`, up to `lease_minutes`: one quick answer does not hold a whole batch for long.

        >>> study = Study(name="pets", labels=["cat", "dog"])
        >>> [study.lease_seconds_after_answers(n) / 60 for n in (0, 1, 2, 11, 20)]
        [5.0, 10.0, 15.0, 60.0, 60.0]
        """
        return min(self.first_answer_seconds * (n_answers + 1), self.lease_seconds)

    @property
    def longest_first_answer_seconds(self) -> float:
        """Seconds after the begin of a sitting up to which drafts extend its lease before the first answer."""
        return min(FIRST_LEASES_WITH_DRAFTS * self.first_answer_seconds, self.lease_seconds)

    def admitted_platform_study_ids(self, platform: str) -> list[str]:
        """Return the ids in study.toml of the studies at a platform (at MTurk: the HITs) whose people are admitted."""
        return list(self.prolific_studies if platform == "prolific" else self.mturk_hits)

    @property
    def config_digest(self) -> str:
        """A hash of the study's configuration, 16 hexadecimal digits; it changes whenever a value of study.toml does."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    def task_page_phrases(self) -> dict[str, str]:
        """Return {name: text} of all phrases on the task page: defaults for form, wording and task kind, or the owner's."""
        defaults = default_phrases_for_image_tasks(self.form, self.wording) | phrases_that_differ_for_task_kind(
            self.form, self.wording, self.kind
        )
        return defaults | drop_phrases_equal_to_task_kind_defaults(self.phrase)

    @property
    def instructions(self) -> str:
        """The text of the instructions page: the owner's, or the default for form, wording and task kind."""
        if self.texts.instructions is not None:
            return self.texts.instructions
        return default_instructions(
            self.form,
            self.labels_percents_and_ticks_asked_for,
            self.wording,
            self.kind,
            n_labels=len(self.labels),
            chips=self.chips if self.form == question_forms.CHIPS else 0,
            submit_early=self.submit_early,
        )

    def origins_allowed_to_frame_pages(self) -> list[str]:
        """Return the web origins that may show the pages of the study in a frame, MTurk's included if it is a platform."""
        return [*self.frame_ancestors, *(MTURK_FRAMES if "mturk" in self.platforms else ())]

    def list_stages(self) -> list[Stage]:
        """Return the stages of a worker in order (consent, quiz, tasks, ...); those without content are left out."""
        contents: dict[Stage, object] = {
            "consent": self.texts.consent,
            "instructions": self.instructions,
            "quiz": self.quiz,
            "practice": self.practice,
            "tasks": True,
            "debrief": self.texts.debrief,
            "done": True,
        }
        return [stage for stage, content in contents.items() if content]


def _check_chips_divide_100_percent(n_chips: int) -> None:
    """Raise ValueError if 100 percent cannot be divided into `n_chips` chips of whole percents."""
    if 100 % n_chips:
        raise ValueError(
            f"100 percent cannot be divided into {n_chips} chips of whole percents; use 2, 4, 5, 10, 20, 25, 50 or 100"
        )


def read_study(folder: Path) -> Study:
    """Read study.toml of a folder and return the Study; raise InputError if the file is missing or has mistakes."""
    file = folder / STUDY
    if not file.is_file():
        raise InputError(f"{folder} has no {STUDY}; create a study first: plurivox studio new {folder} --items ...")
    try:
        return parse_study(tomllib.loads(file.read_text(encoding="utf-8")), str(file))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as cause:
        raise InputError(f"{file} cannot be read: {cause}") from cause


def parse_study(study_toml_values: dict[str, Any], file_name_for_message: str = STUDY) -> Study:
    """Convert parsed values of study.toml to a Study; raise InputError that lists the first three mistakes."""
    try:
        return Study.model_validate(study_toml_values)
    except ValidationError as cause:
        mistakes = cause.errors(include_url=False)[:3]
        valid_names = _all_setting_names_of_study_toml()
        messages = [config_error_message(dict(one), valid_names) for one in mistakes]
        raise InputError(f"{file_name_for_message}: {'; '.join(messages)}") from None


def _all_setting_names_of_study_toml() -> list[str]:
    """Return the names of all settings that study.toml may contain, for suggestions on misspelt names."""
    return [name for part in Section.__subclasses__() for name in part.model_fields]


def check_aggregator_exists(study: Study) -> None:
    """Raise UnknownName if an aggregator of the study does not exist, InputError if two are for truth or two for people."""
    from plurivox.aggregate import methods  # does not import any aggregator

    specs = split_at_commas_outside_brackets(study.aggregator)
    for name in (spec.partition("[")[0] for spec in specs):
        if name not in methods:
            raise unknown_name_error(f"aggregator of {STUDY} called", name, methods)
    quantities = [quantity_of_aggregator(spec) for spec in specs] if len(specs) > 1 else []
    if len(set(quantities)) < len(quantities):
        raise InputError(
            f"aggregator = {study.aggregator!r} of {STUDY} names two methods for {quantities[-1]}; "
            "name one for truth, one for people, or one of each"
        )


def aggregator_of_study(study: Study, quantity: Estimand) -> str:
    """Return the spec of the aggregator that study.toml names for truth or for people; "" if it names none."""
    specs = split_at_commas_outside_brackets(study.aggregator)
    return next((spec for spec in specs if quantity_of_aggregator(spec) == quantity), "")


def quantity_of_aggregator(spec: str) -> Estimand:
    """Return what an aggregator estimates, truth or people; truth if it does not say, or its options are wrong."""
    from plurivox.aggregate import methods

    try:
        quantity = methods.make(spec).estimated_quantity()
    except PlurivoxError:  # the snapshot tells the owner
        return "truth"
    return "people" if quantity == "people" else "truth"
