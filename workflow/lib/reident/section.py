"""The base of every section of a study file: immutable, and closed to unknown keys."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """One mapping of the study file.

    Fields are documented by ``Field(description=...)``: the generated JSON Schema and
    ``config/README.md`` are made from those words.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False)
