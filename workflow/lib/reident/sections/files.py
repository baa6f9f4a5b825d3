"""The files that a study reads, as its study file describes them."""

from __future__ import annotations

import codecs
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, model_validator

from reident.sections.base import Section

Name = Annotated[str, Field(min_length=1)]


def one_or_many(value: Any) -> Any:
    """A single name stands for a list of it."""
    return [value] if isinstance(value, str) else value


def _no_escape(value: Any) -> Any:
    """YAML knows escapes in double quotes only: two characters would stand for themselves."""
    if value in ("\\t", "tab"):
        raise ValueError('write `"\\t"`, in double quotes, for a tab.')
    return value


_NO_TEXT_OF_FILES = {"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "mbcs", "oem"}
"""Encodings of Python that names and programs have, or that are another one on each computer."""

_ManyNames = Annotated[tuple[Name, ...], Field(min_length=1)]
Names = Annotated[_ManyNames, BeforeValidator(one_or_many, json_schema_input_type=Name | _ManyNames)]

Format = Literal["csv", "fixed-width", "parquet", "sas7bdat", "xport", "stata", "spss"]
Positions = Annotated[str, Field(pattern=r"^[1-9]\d{0,5}(-[1-9]\d{0,5})?$")]

ENDINGS: dict[str, Format] = {
    ".parquet": "parquet",
    ".sas7bdat": "sas7bdat",
    ".xpt": "xport",
    ".xport": "xport",
    ".dta": "stata",
    ".sav": "spss",
    ".zsav": "spss",
}
"""What the ending of a file's name says; everything else is CSV."""

SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".numbers")
PACKED = ("csv", "fixed-width")
"""Formats of text, whose files may be packed by gzip."""

_TAKEN_BY: dict[str, tuple[str, ...]] = {
    "delimiter": ("csv",),
    "quote": ("csv",),
    "layout": ("fixed-width",),
    "decimal": PACKED,
    "encoding": tuple(name for name in get_args(Format) if name != "parquet"),
}


class SourceFile(Section):
    """A file of records."""

    path: Name = Field(description="The file, relative to the study file.")
    format: Format | None = Field(
        None,
        description="Empty: by the ending of the file's name (.parquet, .sas7bdat, .xpt, .dta, .sav, .zsav), or "
        "`fixed-width` where there is a `layout`, otherwise `csv`. CSV and fixed width may be packed by gzip, "
        "whatever their name. `xport` is SAS transport (version 5 or 8), `stata` .dta, `spss` .sav and .zsav. "
        "Spreadsheets are refused. Source: METHODS §1, on how stored values become text.",
    )
    delimiter: Annotated[str, BeforeValidator(_no_escape)] = Field(
        ",", min_length=1, max_length=1, description="CSV: the character between two fields."
    )
    quote: str = Field(
        '"',
        max_length=1,
        description='CSV: the character around fields that hold delimiters; `""` for none. Doubled, it stands for '
        "itself.",
    )
    encoding: str | None = Field(
        None,
        description="The encoding of text. Empty: UTF-8, or what a SAS, Stata or SPSS file itself says. A byte "
        "order mark is skipped.",
    )
    decimal: Literal[".", ","] = Field(
        ".", description="CSV and fixed width: what stands before the decimals of numbers."
    )
    layout: dict[Name, Positions] = Field(
        default_factory=dict,
        description="Fixed width: the first and last position of each column that the study reads, counted in "
        "characters from 1, for example `{pufid: 1-8, sex: 9, age: 10-12}`; blanks around a value are padding.",
    )

    @property
    def kind(self) -> Format:
        """The format, declared or by the ending of the name."""
        if self.format is not None:
            return self.format
        if self.layout:
            return "fixed-width"
        ending = "." + self.path.lower().rsplit(".", 1)[-1]
        return ENDINGS.get(ending, "csv")

    @property
    def first_row(self) -> int:
        """The number of the first record: the header of a CSV file is row 1."""
        return 2 if self.kind == "csv" else 1

    @property
    def codec(self) -> str:
        """The encoding of a text file, by Python's name; UTF-8 with or without a byte order mark."""
        name = codecs.lookup(self.encoding or "utf-8").name
        return "utf-8-sig" if name == "utf-8" else name

    @model_validator(mode="after")
    def _no_spreadsheet(self) -> SourceFile:
        if self.format is None and self.path.lower().endswith(SPREADSHEETS):
            raise ValueError(
                "a spreadsheet keeps numbers, dates and codes in forms from which their text is not certain (0012 "
                "becomes 12); save the sheet as CSV and name that file."
            )
        return self

    @model_validator(mode="after")
    def _no_other_format(self) -> SourceFile:
        name = self.path.lower()
        if self.format is None and name.endswith(".por"):
            raise ValueError("an SPSS portable file is not read; save it as .sav and name that file.")
        if self.format is None and name.endswith(tuple(f"{ending}.gz" for ending in ENDINGS)):
            raise ValueError(
                "only CSV and fixed width may be packed by gzip; unpack the file and name that one."
            )
        return self

    @model_validator(mode="after")
    def _can_delimit(self) -> SourceFile:
        if self.delimiter in "\r\n" or self.delimiter == self.quote:
            raise ValueError("`delimiter` is a quote or a line end; name the character between two fields.")
        if self.quote in ("\r", "\n", " "):
            raise ValueError('`quote` is a blank or a line end; name a character, or `""` for none.')
        return self

    @model_validator(mode="after")
    def _known_encoding(self) -> SourceFile:
        name = self.encoding or "utf-8"
        try:
            "".encode(name)
            known = codecs.lookup(name).name.replace("_", "-") not in _NO_TEXT_OF_FILES
        except (LookupError, ValueError):
            known = False
        if not known:
            raise ValueError("`encoding` is not one of text files; use for example utf-8 or cp1252.")
        return self

    @model_validator(mode="after")
    def _layout_for_fixed_width(self) -> SourceFile:
        if self.kind == "fixed-width" and not self.layout:
            raise ValueError("a file of fixed width needs a `layout`: the positions of its columns.")
        for name, positions in self.layout.items():
            first, _, last = positions.partition("-")
            if last and int(last) < int(first):
                raise ValueError(f"`layout` of `{name}`: the last position is before the first; swap them.")
        return self

    @model_validator(mode="after")
    def _options_of_the_format(self) -> SourceFile:
        for name, kinds in _TAKEN_BY.items():
            field = type(self).model_fields[name]
            if self.kind not in kinds and getattr(self, name) != field.get_default(call_default_factory=True):
                raise ValueError(
                    f"`{name}` says nothing about a file of the format {self.kind}; remove it, or correct `format`."
                )
        return self


class RecordFile(SourceFile):
    """The public use file or the external intruder file."""

    id: Names = Field(description="The column, or columns, of the key; compared as text.")


class LinkFile(SourceFile):
    """The internal use file with the true links."""

    puf_id: Names = Field(
        description="The column, or columns, with the key of the public use file, in the order of its `id`."
    )
    eif_id: Names = Field(description="The same for the key of the external intruder file.")
    unknown_links_at_most: int = Field(
        0,
        ge=0,
        description="How many links may name a record that is in neither file; the count is reported.",
    )


class Files(Section):
    """The three files of a study."""

    puf: RecordFile = Field(description="The public use file (PUF).")
    eif: RecordFile = Field(description="The external intruder file (EIF).")
    iuf: LinkFile = Field(description="The internal use file (IUF): the true links.")

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The key columns of ``puf`` and ``eif`` as the tables of the study name them.

        A name that both files use is told apart by the prefix ``puf_`` or ``eif_``.
        """
        columns = {"puf": self.puf.id, "eif": self.eif.id}
        shared = set(self.puf.id) & set(self.eif.id)
        return {
            side: tuple(f"{side}_{name}" if name in shared else name for name in names)
            for side, names in columns.items()
        }

    @model_validator(mode="after")
    def _key_widths(self) -> Files:
        for side, key in (("puf", self.iuf.puf_id), ("eif", self.iuf.eif_id)):
            width = len(getattr(self, side).id)
            if len(key) != width:
                raise ValueError(
                    f"`iuf.{side}_id` has {len(key)} columns and `{side}.id` has {width}; make them equal."
                )
        return self


SIMULATED = Files(
    puf=RecordFile(path="puf.csv", id=("pufid",)),
    eif=RecordFile(path="eif.csv", id=("broker", "serial")),
    iuf=LinkFile(path="iuf.csv", puf_id=("pufid",), eif_id=("broker", "serial")),
)
"""The files that the simulation of a household survey writes."""
