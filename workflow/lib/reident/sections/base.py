"""The base of all sections of a study file: they are immutable, and closed to unknown keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, get_args

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from reident.sections.codes import listed, underflows
from reident.sections.exact import parse_rational, rational_text

_NUMBERS = {int, float, Decimal, Fraction}
_BOOLEANS = {"true", "false"}
_UNDERSCORE = re.compile(r"(?![+-]?\d{1,3}(_\d{3})+(\.\d+)?$)[+-]?[\d.]+(_[\d./eE+-]*)+", re.ASCII)
"""A number with an underscore anywhere but between thousands."""


class Quoted(str):
    """A text that a study file has in quotation marks; it is never a boolean."""

    __slots__ = ()


def _day(value: Any) -> Any:
    if isinstance(value, str) and not re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII):
        raise ValueError("is not a date (YYYY-MM-DD). Write for example 2026-03-31.")
    return value


Day = Annotated[date, BeforeValidator(_day)]
"""A date, written YYYY-MM-DD. Other texts, such as `0`, could be read as seconds since 1970."""


def _joined(text: object) -> object:
    return " ".join(text.split()) if isinstance(text, str) else text


PROSE = BeforeValidator(_joined)
"""What makes one paragraph of a text: the line ends of YAML become spaces."""

Paragraph = Annotated[str, Field(min_length=1, max_length=2000), PROSE]
Line = Annotated[str, Field(min_length=1, max_length=300), PROSE]

Codes = Annotated[tuple[str, ...], BeforeValidator(listed, json_schema_input_type=str | tuple[str, ...])]
"""The codes that mean missing in one file."""

IntegerCoded = Annotated[
    bool,
    Field(
        validation_alias=AliasChoices("integer_coded", "integer-coded"),
        description="Whether `1`, `01` and `1.0` are the same code. May also be written `integer-coded`.",
    ),
]

Labels = Annotated[
    dict[str, Annotated[str, Field(min_length=1)]],
    Field(
        description="The labels of codes after recoding, which the report shows instead of the codes. They change no "
        "number."
    ),
]

Rational = Annotated[
    Fraction,
    BeforeValidator(parse_rational),
    PlainSerializer(rational_text, return_type=str),
    WithJsonSchema({"type": ["number", "string"]}),
]
"""An exact rational, written ``0.5`` or ``1/3`` in the study file."""


class Section(BaseModel):
    """One mapping of the study file.

    Fields are documented by the docstrings below them: the JSON Schema and ``config/README.md``
    are generated from these texts.

    A validator raises ``ValueError`` with a text of two sentences, what is wrong and what to do. It begins with

    - "`.key` must …" for a key of the section, which messages write in full and with its line;
    - "must …" if the subject is the section or key that the validator belongs to;
    - "`name` must …" for a column, a variable or a key that is written in full.
    """

    # A step is given checked sections: what checks them takes long to build, and is built where it is first used.
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False, defer_build=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_other_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse 5_0, which is read as 50 and may mean 5.0 (100_000 is unambiguous), and 1e-400, which is read as 0."""
        types = set(_leaves(cls.model_fields[info.field_name or ""].annotation))
        if types & _NUMBERS and str not in types and any(map(_UNDERSCORE.fullmatch, _texts(value))):
            raise ValueError(
                "must not have underscores except between thousands, as in 100_000. Write the digits without them."
            )
        if float in types and str not in types and any(map(underflows, _texts(value))):
            raise ValueError("is so close to 0 that it would be read as 0. Write 0, or a larger number.")
        return value

    @field_validator("*", mode="before")
    @classmethod
    def _no_words_for_booleans(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse "true" in quotation marks, and words such as `yes`, which are text in YAML."""
        if bool not in set(_leaves(cls.model_fields[info.field_name or ""].annotation)):
            return value
        if isinstance(value, str) and (isinstance(value, Quoted) or value.casefold() not in _BOOLEANS):
            raise ValueError("must be `true` or `false`. Write one of them, without quotation marks.")
        return value


SectionT = TypeVar("SectionT", bound=Section)


class Analysis(Section):
    """The section of an analysis at the top of a study file: what it asks of the rest of the study."""

    needs_metrics: ClassVar[bool] = False
    """Whether it is of no use in a study that links no records."""
    without_units: ClassVar[str] = ""
    """What to do where a study compares units, if it cannot; empty if it can."""
    without_links: ClassVar[str] = ""
    """Why it must not be where a study confirms without true links (`confirm`); empty if it may."""
    is_compared: ClassVar[bool] = False
    """Whether variants are compared by it: none may then add or remove it."""
    is_on_release: ClassVar[bool] = False
    """Whether the attack on the file before protection is without it: it is on the release, or compares the two."""
    reads_before: ClassVar[bool] = False
    """Whether its steps read the records of every variant before protection."""

    def fit(self, study: Any) -> None:
        """Refuse a :class:`reident.study.model.Study` that it does not fit.

        Raises
        ------
        ValueError
            See :class:`Section`.
        """


def _leaves(annotation: Any) -> Iterator[Any]:
    """Yield the types that an annotation is composed of."""
    parts = get_args(annotation)
    if not parts:
        yield annotation
    for part in parts:
        yield from _leaves(part)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a value that is a text, or a list or mapping of texts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | Mapping):
        items = value.values() if isinstance(value, Mapping) else value
        yield from (item for item in items if isinstance(item, str))


class Pattern(NamedTuple):
    """The pattern of a text, as an annotation of its type.

    Attributes
    ----------
    pattern : str
        A regular expression that the whole text must match; the schema has it between ``^`` and ``$``.
    problem : str
        What a message says of another text: "must … . …"
    """

    pattern: str
    problem: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Check a text after its type."""
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Add the pattern to the schema of the text."""
        return {**handler(schema), "pattern": f"^{self.pattern}$"}

    def _check(self, value: str) -> str:
        if not re.fullmatch(self.pattern, value):
            raise ValueError(self.problem)
        return value


def exactly_one(*names: str) -> Any:
    """Return a validator, for the body of a section, that requires exactly one of two keys."""

    def check(section: SectionT) -> SectionT:
        if sum(getattr(section, name) is not None for name in names) != 1:
            keys = " and ".join(f"`{name}`" for name in names)
            raise ValueError(f"must have exactly one of {keys}. Remove the other, or add one.")
        return section

    return model_validator(mode="after")(check)


def required(section: SectionT | None, name: str) -> SectionT:
    """Return a section that the study must have where this is called: a step asks for its settings only then."""
    if section is None:
        raise ValueError(f"the study has no section `{name}`")
    return section


def one_or_many(kind: type) -> Callable[[Any], Any]:
    """Return a function that puts a value of this type into a list, and leaves other values as they are."""
    return lambda value: [value] if isinstance(value, kind) else value


def word_or(other: str) -> Callable[[Any], str]:
    """Return a function that gives the tag of a value: `word` for a text, and another one for anything else."""
    return lambda value: "word" if isinstance(value, str) else other


def name_alone(value: Any) -> Any:
    """Let a name stand for the section of a variable with this name and the defaults."""
    return {"name": value} if isinstance(value, str) else value


def named_by_default(section: Any, *columns: str) -> Any:
    """Return the section of a variable with its name for columns that it does not give."""
    if isinstance(section, dict) and isinstance(section.get("name"), str):
        return dict.fromkeys(columns, section["name"]) | section
    return section


def refuse_repeats(names: Iterable[str], key: str) -> None:
    """Refuse a list that gives a name twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"`{name}` is given twice in `{key}`. Remove one of the two.")
        seen.add(name)


def refuse_strangers(names: Iterable[str], known: Container[str], rule: str) -> None:
    """Refuse a list with a name that is not known; ``rule`` says what the names must be."""
    for name in names:
        if name not in known:
            raise ValueError(f"{rule}, and `{name}` is not one. Correct the name.")
