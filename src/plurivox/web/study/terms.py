"""The terms of a study, parts of its study.toml: how it ends, what it pays, whom it leaves out."""

from decimal import Decimal
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from plurivox.core.errors import PlurivoxError

PlatformName = Literal["prolific", "mturk"]
MTURK = ("https://workersandbox.mturk.com", "https://www.mturk.com")  # where an assignment may be sent to
MTURK_FRAMES = (*MTURK, "https://worker.mturk.com")  # whose pages hold ours in a frame


def _web_address(value: str) -> str:
    parts = urlsplit(value)
    if value and (parts.scheme != "https" or not parts.netloc):
        raise ValueError("must be an https:// address")
    return value


WebAddress = Annotated[str, Field(max_length=2000), AfterValidator(_web_address)]
Code = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f]*$")]


def _some_money(value: Decimal) -> Decimal:
    if not value.is_finite():
        raise ValueError("must be an amount such as 8.00")
    return value


Money = Annotated[Decimal, Field(ge=0, le=1_000_000, decimal_places=4), AfterValidator(_some_money)]


class Part(BaseModel):
    """A part of study.toml: what it does not know, it refuses."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Completion(Part):
    """Where people go at the end. A code of its own may go to those who failed, and to those for whom no task was left."""

    code: Code = ""
    redirect: WebAddress = ""
    failed: Code = ""  # the check not understood, or excluded by a rule
    full: Code = ""  # came when all tasks had their answers


class Pay(Part):
    """What people are paid: base, time and a bonus for answering as others do.

    The paper (Collins et al., 2022): per_hour = 8, bonus_per_hour = 1, that is up to 9 for who always matches others.
    """

    currency: Annotated[str, Field(max_length=20, pattern=r"^[^\x00-\x1f]*$")] = ""
    base: Money = Decimal(0)
    per_hour: Money = Decimal(0)
    bonus_per_hour: Money = Decimal(0)  # times the share of answers that match others
    bonus_per_match: Money = Decimal(0)
    time: Literal["active", "total"] = "active"
    most_minutes: float = Field(default=0, ge=0, le=100_000)  # time beyond this is not paid; 0: all is
    least_answers: int = Field(default=0, ge=0, le=100_000)  # who gave fewer is paid nothing
    excluded: Literal["without-bonus", "nothing"] = "without-bonus"

    @property
    def says_something(self) -> bool:
        """Whether anything is paid at all."""
        return any((self.base, self.per_hour, self.bonus_per_hour, self.bonus_per_match))


class Exclude(Part):
    """Who is left out while the study runs: rules of `plurivox clean`, by their names and options."""

    rules: list[Annotated[str, Field(max_length=200)]] = Field(default=[], max_length=20)
    least_answers: int = Field(default=5, ge=1, le=100_000)  # nobody is judged by fewer
    quiz_tries: int = Field(default=0, ge=0, le=100)  # who fails the check so often is out; 0: nobody is

    @model_validator(mode="after")
    def _rules_are_there(self) -> Self:
        if self.rules:
            from plurivox.clean import methods  # brings numpy, which a study without rules does not need

            for rule in self.rules:
                try:
                    methods.make(rule)
                except PlurivoxError as cause:
                    raise ValueError(str(cause)) from None
        return self
