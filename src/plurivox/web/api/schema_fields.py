"""Types of fields that several schemas of the API share, and the base of every body that comes in. Ids are opaque."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Plain = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]*$")]  # text without control characters
Id = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
PlatformId = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_.:@-]+$")]
Signed = Annotated[str, Field(min_length=1, max_length=400, pattern=r"^[A-Za-z0-9_.=-]+$")]
LabelName = Annotated[Plain, Field(min_length=1, max_length=200)]
Ms = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]  # milliseconds


class Model(BaseModel):
    """What comes in is refused where it says more than is known."""

    model_config = ConfigDict(extra="forbid")
