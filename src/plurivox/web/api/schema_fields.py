"""Field types shared by the schemas of the API, and the base class of request bodies. Ids are opaque strings."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

PlainText = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]*$")]  # without control characters
Id = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
PlatformId = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_.:@-]+$")]
SignedText = Annotated[str, Field(min_length=1, max_length=400, pattern=r"^[A-Za-z0-9_.=-]+$")]
LabelName = Annotated[PlainText, Field(min_length=1, max_length=200)]
Ms = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]  # milliseconds


class RequestModel(BaseModel):
    """Base class of request bodies; unknown fields are an error."""

    model_config = ConfigDict(extra="forbid")
