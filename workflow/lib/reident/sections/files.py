"""The sections that describe the files of a study (METHODS §1)."""

from __future__ import annotations

import codecs
import operator
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from reident.sections.base import Pattern, Section, one_or_many

Name = Annotated[str, Field(min_length=1)]


def _no_escape(value: Any) -> Any:
    """Refuse an escape outside double quotes, which YAML leaves as two characters."""
    if value in ("\\t", "tab"):
        raise ValueError('must be a single character. Write `"\\t"`, in double quotes, for a tab.')
    return value


_NOT_FOR_FILES = {"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "mbcs", "oem"}
"""Encodings of Python that are for names or programs, or that differ between computers."""

_ManyNames = Annotated[tuple[Name, ...], Field(min_length=1)]
Names = Annotated[_ManyNames, BeforeValidator(one_or_many(str), json_schema_input_type=Name | _ManyNames)]

Format = Literal["csv", "fixed-width", "parquet", "sas7bdat", "xport", "stata", "spss"]
Positions = Annotated[
    str,
    Pattern(
        r"[1-9]\d{0,5}(-[1-9]\d{0,5})?",
        "must be a position, or the first and the last position, counted from 1. Write for example `9` or `10-12`.",
    ),
]

ENDINGS: dict[str, Format] = {
    ".parquet": "parquet",
    ".sas7bdat": "sas7bdat",
    ".xpt": "xport",
    ".xport": "xport",
    ".dta": "stata",
    ".sav": "spss",
    ".zsav": "spss",
}
"""The format of a file by the ending of its name; any other name is that of a CSV file."""

ORIGINAL = "original"
"""The side of the file before protection, or before it is masked."""

SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".numbers")
PACKED = ("csv", "fixed-width")
"""Text formats, whose files may be compressed with gzip."""

_FORMATS_WITH: dict[str, tuple[str, ...]] = {
    "delimiter": ("csv",),
    "quote": ("csv",),
    "layout": ("fixed-width",),
    "decimal": PACKED,
    "thousands": PACKED,
    "encoding": tuple(name for name in get_args(Format) if name != "parquet"),
}


class SourceFile(Section):
    """A file of records."""

    path: Name
    """The path of the file, relative to the study file."""
    format: Format | None = None
    """The format of the file. If absent: `fixed-width` if there is a `layout`, otherwise that of the ending
    (.parquet, .sas7bdat, .xpt, .dta, .sav, .zsav), otherwise `csv`. CSV and fixed-width files may be compressed
    with gzip. `xport` is SAS transport (version 5 or 8).
    Source: METHODS §1, on how stored values become text.
    """
    delimiter: Annotated[str, BeforeValidator(_no_escape)] = Field(",", min_length=1, max_length=1)
    """CSV: the character between two fields."""
    quote: str = Field('"', max_length=1)
    """CSV: the character around fields that contain the delimiter; `""` if there is none. Inside a field it is
    doubled."""
    encoding: str | None = None
    """The encoding of text. If absent: UTF-8, or the encoding that a SAS, Stata or SPSS file declares. A byte order
    mark is skipped."""
    decimal: Literal[".", ","] = "."
    """CSV and fixed width: the decimal separator."""
    thousands: Literal["", ",", ".", " ", "'"] = Field("", exclude_if=operator.not_)
    """CSV and fixed width: the separator between thousands in numbers, such as `,` in 25,661; a blank stands for one of
    any width, `'` for ’ too. Numbers without it are read as well. If absent: none. Source: METHODS §1."""
    layout: dict[Name, Positions] = Field(default_factory=dict)
    """Fixed width: the first and last position of each column that the study reads, in characters from 1. Blanks
    around a value are padding."""
    pad: dict[Name, Annotated[int, Field(ge=1, le=100)]] = Field(default_factory=dict, exclude_if=operator.not_)
    """The width of columns, of keys or codes, whose values are padded with zeros on the left: with `{pufid: 8}`,
    `1` and `0001` become `00000001`. Longer values, or other than digits, stay as they are; codes in the study file
    are written as padded. Source: METHODS §1."""

    @property
    def kind(self) -> Format:
        """The format, as declared or by the ending of the name."""
        if self.format is not None:
            return self.format
        if self.layout:
            return "fixed-width"
        ending = "." + self.path.lower().rsplit(".", 1)[-1]
        return ENDINGS.get(ending, "csv")

    @property
    def separators(self) -> tuple[str, str]:
        """The separators of decimals and of thousands."""
        return self.decimal, self.thousands

    @property
    def file_name(self) -> str:
        """The name of the file without its folder, for messages."""
        return self.path.rsplit("/", 1)[-1]

    @property
    def first_row(self) -> int:
        """The row number of the first record; the header of a CSV file is row 1."""
        return 2 if self.kind == "csv" else 1

    @property
    def codec(self) -> str:
        """Python's name for the encoding of a text file; UTF-8 may or may not have a byte order mark."""
        name = codecs.lookup(self.encoding or "utf-8").name
        return "utf-8-sig" if name == "utf-8" else name

    @model_validator(mode="after")
    def _no_other_format(self) -> SourceFile:
        if self.format is not None:
            return self
        name = self.path.lower()
        if name.endswith(SPREADSHEETS):
            raise ValueError(
                "`.path` must not be a spreadsheet, which may change codes and dates (0012 becomes 12). Save the sheet "
                "as CSV, and name that file."
            )
        if name.endswith(".por"):
            raise ValueError("`.path` must not be an SPSS portable file. Save it as .sav, and name that file.")
        if name.endswith(tuple(f"{ending}.gz" for ending in ENDINGS)):
            raise ValueError(
                "`.path` must not be a gzip file unless the format is CSV or fixed width. Decompress it, and name the "
                "decompressed file."
            )
        return self

    @model_validator(mode="after")
    def _can_delimit(self) -> SourceFile:
        if self.delimiter in "\r\n" or self.delimiter == self.quote:
            raise ValueError(
                "`.delimiter` must not be a line end or the same as `quote`. Write the character between two fields."
            )
        if self.quote in ("\r", "\n", " "):
            raise ValueError('`.quote` must not be a blank or a line end. Write another character, or `""` for none.')
        return self

    @model_validator(mode="after")
    def _separators_differ(self) -> SourceFile:
        if self.thousands == self.decimal:
            raise ValueError("`.thousands` must not be the decimal separator. Correct one of the two.")
        return self

    @model_validator(mode="after")
    def _known_encoding(self) -> SourceFile:
        name = self.encoding or "utf-8"
        try:
            "".encode(name)
            for_files = codecs.lookup(name).name.replace("_", "-") not in _NOT_FOR_FILES
        except (LookupError, ValueError):
            for_files = False
        if not for_files:
            raise ValueError("`.encoding` is not an encoding of text files. Write for example utf-8 or cp1252.")
        return self

    @model_validator(mode="after")
    def _layout_for_fixed_width(self) -> SourceFile:
        if self.kind == "fixed-width" and not self.layout:
            raise ValueError("`.layout` is missing. Add the positions of the columns, for example `{age: 10-12}`.")
        for name, positions in self.layout.items():
            first, _, last = positions.partition("-")
            if last and int(last) < int(first):
                raise ValueError(f"`.layout.{name}` must not end before it begins. Swap the two positions.")
        return self

    @model_validator(mode="after")
    def _options_of_the_format(self) -> SourceFile:
        for name, kinds in _FORMATS_WITH.items():
            field = type(self).model_fields[name]
            if self.kind not in kinds and getattr(self, name) != field.get_default(call_default_factory=True):
                raise ValueError(f"`.{name}` does not apply to `{self.kind}` files. Remove it, or correct `format`.")
        return self


def _lets_lack(name: str) -> ConfigDict:
    """Let editors accept a file without a key that another section gives it: `units`, `confirm`."""
    return ConfigDict(json_schema_extra=lambda schema: schema["required"].remove(name))


class RecordFile(SourceFile):
    """The public use file or the external intruder file."""

    model_config = _lets_lack("id")

    id: Names
    """The column or columns of the key, which is compared as text."""


class ExternalFile(RecordFile):
    """The external intruder file."""

    person: Name | None = Field(None, exclude_if=operator.not_)
    """The column that names the person of each record in a way that all files of `together` share. Source: METHODS
    §6.6.
    """
    named: bool = Field(True, exclude_if=bool)
    """Whether the file has direct identifiers; `false` for a file such as last year's public use file."""


class LinkFile(SourceFile):
    """The internal use file with the true links."""

    model_config = _lets_lack("puf_id")

    puf_id: Names
    """The column or columns with the key of the public use file, in the order of its `id`."""
    eif_id: Names
    """The column or columns with the key of the external intruder file, in the order of its `id`."""
    unknown_links_at_most: int = Field(0, ge=0)
    """The largest number of links to records that are in neither file; the actual number is reported."""


def table_keys(columns: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the key columns of ``puf`` and ``eif`` as the tables of the study name them.

    A name that both files use gets the prefix ``puf_`` or ``eif_``.
    """
    shared = set(columns["puf"]) & set(columns["eif"])
    return {
        side: tuple(f"{side}_{name}" if name in shared else name for name in names) for side, names in columns.items()
    }


class LinkedFiles(Section):
    """The three files of a study, and the public use file before protection."""

    puf: RecordFile
    """The public use file (PUF)."""
    eif: ExternalFile
    """The external intruder file (EIF)."""
    iuf: LinkFile
    """The internal use file (IUF): the true links."""
    original: SourceFile | None = None
    """The public use file before protection, with the key, columns and codes of `puf`: the study attacks this file
    too. It is as confidential as the internal use file. Source: METHODS §6.1.
    """

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The key columns of ``puf`` and ``eif``, see :func:`table_keys`."""
        return table_keys({"puf": self.puf.id, "eif": self.eif.id})

    @model_validator(mode="after")
    def _key_widths(self) -> LinkedFiles:
        for side, key in (("puf", self.iuf.puf_id), ("eif", self.iuf.eif_id)):
            width = len(getattr(self, side).id)
            if len(key) != width:
                raise ValueError(
                    f"`.iuf.{side}_id` must have as many columns as the key of `{side}` (`id`, or with `units` those "
                    f"of the unit), but has {len(key)} instead of {width}. Correct one of the two."
                )
        return self


SIMULATED = LinkedFiles(
    puf=RecordFile(path="puf.csv", id=("pufid",)),
    eif=ExternalFile(path="eif.csv", id=("broker", "serial")),
    iuf=LinkFile(path="iuf.csv", puf_id=("pufid",), eif_id=("broker", "serial")),
)
"""The files that the simulation of a household survey creates."""
