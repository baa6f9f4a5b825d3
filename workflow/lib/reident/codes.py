"""What declarations of codes share, whichever section of a study they stand in (METHODS §1)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field


def both_spellings(schema: dict[str, Any]) -> None:
    """Let the schema of a section with :data:`IntegerCoded` know both spellings."""
    schema["properties"]["integer-coded"] = schema["properties"]["integer_coded"]


def listed(value: Any) -> Any:
    """One missing code stands for a list of one; an empty cell of the list is the empty text."""
    if isinstance(value, str):
        value = [value]
    return ["" if code is None else code for code in value] if isinstance(value, list | tuple) else value


Codes = Annotated[
    tuple[str, ...], BeforeValidator(listed, json_schema_input_type=str | tuple[str | None, ...])
]
"""The codes that mean missing, of one file."""

IntegerCoded = Annotated[
    bool,
    Field(
        validation_alias=AliasChoices("integer_coded", "integer-coded"),
        description="Whether `1`, `01` and `1.0` are the same code; also written `integer-coded`.",
    ),
]
