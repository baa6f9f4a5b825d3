"""The files that a study reads, as its study file describes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from reident.section import Section

Name = Annotated[str, Field(min_length=1)]


def _one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_ManyNames = Annotated[tuple[Name, ...], Field(min_length=1)]
Names = Annotated[_ManyNames, BeforeValidator(_one_or_many, json_schema_input_type=Name | _ManyNames)]


class SourceFile(Section):
    """A file of records."""

    path: Name = Field(description="The file, relative to the study file.")
    format: Literal["csv", "parquet"] | None = Field(
        None,
        description="`csv` or `parquet`; empty: by the ending (.parquet, otherwise csv; .gz is unpacked).",
    )
    delimiter: str = Field(
        ",", min_length=1, max_length=1, description="CSV: the character between two fields."
    )
    encoding: str = Field("utf-8", description="CSV: the encoding of the text; a byte order mark is skipped.")

    @model_validator(mode="after")
    def _can_delimit(self) -> SourceFile:
        if self.delimiter in '"\r\n':
            raise ValueError("`delimiter` is a quote or a line end; name the character between two fields.")
        return self

    @model_validator(mode="after")
    def _known_encoding(self) -> SourceFile:
        try:
            "".encode(self.encoding)
        except (LookupError, UnicodeError):
            raise ValueError(
                "`encoding` is not one that Python knows; use for example utf-8 or cp1252."
            ) from None
        return self
