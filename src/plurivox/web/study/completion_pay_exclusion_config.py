"""Sections of study.toml: completion, pay and exclusion rules."""

from decimal import Decimal
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from plurivox.core.errors import PlurivoxError

PlatformName = Literal["prolific", "mturk"]
# the setting of study.toml with the ids of the studies of each platform whose people are admitted
ADMITTED_IDS_SETTING: dict[PlatformName, str] = {"prolific": "prolific_studies", "mturk": "mturk_hits"}
PLATFORM_TITLE: dict[PlatformName, str] = {"prolific": "Prolific", "mturk": "MTurk"}
PLATFORM_UNIT: dict[PlatformName, str] = {"prolific": "study", "mturk": "HIT"}  # what people are recruited for there
PlatformStudyId = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_.:@-]+$")]
MTURK = ("https://workersandbox.mturk.com", "https://www.mturk.com")  # where assignments are submitted
MTURK_FRAMES = (*MTURK, "https://worker.mturk.com")  # sites that show the pages in a frame


def _check_empty_or_https_address(address: str) -> str:
    """Return `address`; raise ValueError if it is neither empty nor an https:// address."""
    parts = urlsplit(address)
    if address and (parts.scheme != "https" or not parts.netloc):
        raise ValueError("must be an https:// address")
    return address


WebAddress = Annotated[str, Field(max_length=2000), AfterValidator(_check_empty_or_https_address)]
Code = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f]*$")]


def _check_finite_money_amount(amount: Decimal) -> Decimal:
    """Return an amount of money; raise ValueError if it is NaN or infinite."""
    if not amount.is_finite():
        raise ValueError("must be an amount such as 8.00")
    return amount


Money = Annotated[Decimal, Field(ge=0, le=1_000_000, decimal_places=4), AfterValidator(_check_finite_money_amount)]


class Section(BaseModel):
    """Base class of the sections of study.toml; unknown names are an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Completion(Section):
    """Completion code and redirect address; optionally other codes for people who failed or found no task left."""

    code: Code = ""
    redirect: WebAddress = ""
    failed: Code = ""  # for people who failed the check or were excluded by a rule
    full: Code = ""  # for people who found no task left


class Pay(Section):
    """Pay rules: base pay, pay per hour, and bonuses for answers that match those of others.

    Collins et al. (2022): per_hour = 8, bonus_per_hour = 1, that is up to 9 per hour if all answers match.
    """

    currency: Annotated[str, Field(max_length=20, pattern=r"^[^\x00-\x1f]*$")] = ""
    base: Money = Decimal(0)
    per_hour: Money = Decimal(0)
    bonus_per_hour: Money = Decimal(0)  # multiplied by the share of answers that match others
    bonus_per_match: Money = Decimal(0)
    time: Literal["active", "total"] = "active"
    most_minutes: float = Field(default=120, ge=0, le=100_000)  # time beyond this is not paid; 0: no limit
    most_page_minutes: float = Field(default=10, ge=0, le=100_000)  # the same for each page besides the tasks
    least_answers: int = Field(default=0, ge=0, le=100_000)  # workers with fewer answers are not paid
    excluded: Literal["without-bonus", "nothing"] = "without-bonus"

    @property
    def pays_anything(self) -> bool:
        """Whether the study pays: base pay, pay per hour or a bonus is set."""
        return any((self.base, self.per_hour, self.bonus_per_hour, self.bonus_per_match))

    @property
    def pays_time_without_limit(self) -> bool:
        """Whether time is paid, however long a person takes."""
        return bool(self.per_hour or self.bonus_per_hour) and not self.most_minutes


class Exclude(Section):
    """Exclusion of workers while the study runs: specs of rules of `plurivox clean`, and the tries of the check."""

    rules: list[Annotated[str, Field(max_length=200)]] = Field(default=[], max_length=20)
    least_answers: int = Field(default=5, ge=1, le=100_000)  # workers with fewer answers are not excluded
    quiz_tries: int = Field(default=0, ge=0, le=100)  # failed tries of the check until exclusion; 0: no limit

    @model_validator(mode="after")
    def _check_exclusion_rule_specs(self) -> Self:
        """Raise ValueError if a rule is not the spec of a rule of `plurivox clean`."""
        if self.rules:
            from plurivox.clean import methods  # imports numpy, which a study without rules does not need

            for rule in self.rules:
                try:
                    methods.make(rule)
                except PlurivoxError as cause:
                    raise ValueError(str(cause)) from None
        return self
