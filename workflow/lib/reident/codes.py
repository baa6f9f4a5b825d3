"""What declarations of codes share, whichever section of a study they stand in (METHODS §1)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field


def both_spellings(schema: dict[str, Any]) -> None:
    """Let the schema of a section with :data:`IntegerCoded` know both spellings."""
    schema["properties"]["integer-coded"] = schema["properties"]["integer_coded"]


def listed(value: Any) -> Any:
    """One missing code stands for a list of one.

    Raises
    ------
    ValueError
        For an empty element, which may stand for an empty cell or for the word NULL.
    """
    if isinstance(value, str):
        value = [value]
    if value is None or (isinstance(value, list | tuple) and None in value):
        raise ValueError(
            'a code that is null or not written at all is not certain; write `"NULL"` in quotes for that word, or `""` '
            "for an empty cell."
        )
    return value


Codes = Annotated[tuple[str, ...], BeforeValidator(listed, json_schema_input_type=str | tuple[str, ...])]
"""The codes that mean missing, of one file."""

IntegerCoded = Annotated[
    bool,
    Field(
        validation_alias=AliasChoices("integer_coded", "integer-coded"),
        description="Whether `1`, `01` and `1.0` are the same code; also written `integer-coded`.",
    ),
]
