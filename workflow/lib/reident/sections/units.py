"""The section `units` of a study file: the rows of a household, or of a person, are compared as one (METHODS §4.7)."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from reident.sections.base import Section, refuse_repeats
from reident.sections.files import Names


class Units(Section):
    """The columns that identify a unit: rows with equal values, compared as text, are its members."""

    puf: Names
    """The column or columns of the public use file."""
    eif: Names
    """The column or columns of the external intruder file."""
    kind: Literal["household", "person"] | None = Field(None, exclude_if=operator.not_)
    """What a unit is, for the brief of the report. If absent: the brief speaks of units."""
    members: Literal["all", "some"] = Field("all", exclude_if=lambda members: members == "all")
    """Whether the intruder knows every member of a unit. Source: METHODS §4.7."""

    @model_validator(mode="after")
    def _no_repeats(self) -> Units:
        refuse_repeats(self.puf, "units.puf")
        refuse_repeats(self.eif, "units.eif")
        return self

    @property
    def whole(self) -> bool:
        """Whether the intruder knows every member."""
        return self.members == "all"


def with_keys(content: Any) -> Any:
    """Return the content of a study file in which a file of units without a key has the columns of its units as one."""
    units, files = (content.get(name) if isinstance(content, Mapping) else None for name in ("units", "files"))
    if not isinstance(units, Mapping) or not isinstance(files, Mapping):
        return content
    keyed = {
        side: {"id": units[side], **files[side]}
        for side in ("puf", "eif")
        if side in units and isinstance(files.get(side), Mapping)
    }
    return {**content, "files": {**files, **keyed}}
