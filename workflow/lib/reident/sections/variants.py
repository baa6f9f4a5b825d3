"""The section `variants` of a study file: the values to compare."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from reident.sections.base import Pattern, Section, one_or_many

MAX_VARIANTS = 200
MAX_ID_LENGTH = 100
WITHOUT_RESULTS = ("id", "title", "agency", "date", "decision", "variants", "confirmed_csv")
"""Keys of a study that change no result: their variants would be equal."""

Path = tuple[str | int, ...]
"""The location of a setting in the content of a study file: keys, and positions in lists from 0."""


_Word = Annotated[str, Field(min_length=1, max_length=60)]
_ManyPaths = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
_Paths = Annotated[_ManyPaths, BeforeValidator(one_or_many(str), json_schema_input_type=str | _ManyPaths)]


class Varied(Section):
    """The values of one setting, or of several settings together, that are compared."""

    set: _Paths | None = None
    """The key that varies, with dots between its sections. An item of a list is written by its `name`, as in
    `linking_variables.age.missing`, or by its number in quotation marks, as `"linking_variables[1].missing"`. Of a
    list of keys, all take the same value. The value `null` drops an item of a list, and its score."""
    values: Annotated[dict[_Word, Any] | list[Any], Field(min_length=1)] | None = None
    """The values of `set`: a list, or a mapping from labels to values. A value that is a list or a section must have a
    label."""
    combinations: dict[_Word, dict[str, Any]] | None = Field(None, min_length=1)
    """For keys that vary together, instead of `set` and `values`: a mapping from labels to the keys and their
    values."""
    name: (
        Annotated[
            str,
            Pattern(
                r"[a-z][a-z0-9_]*",
                "must consist of lower-case letters, digits and underscores, and begin with a letter. Correct the "
                "name.",
            ),
            Field(max_length=40),
        ]
        | None
    ) = None
    """The name of what varies, in tables and folders. If absent: the last word of `set`. Required with
    `combinations`."""

    @property
    def labelled(self) -> dict[str, dict[str, Any]]:
        """The settings of each label: the value, as the file has it, of each key as written."""
        if self.combinations is not None:
            return self.combinations
        keys, values = self.set or (), self.values or []
        pairs = values.items() if isinstance(values, dict) else ((label_of(value), value) for value in values)
        return {label: dict.fromkeys(keys, value) for label, value in pairs}

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that vary, as written."""
        return tuple(dict.fromkeys(key for settings in self.labelled.values() for key in settings))

    @model_validator(mode="after")
    def _one_form(self) -> Varied:
        if (self.set is None) != (self.values is None) or (self.set is None) == (self.combinations is None):
            raise ValueError(
                "must have either `set` and `values`, or `combinations`. Remove the others, or add what is missing."
            )
        if self.combinations is not None and self.name is None:
            raise ValueError("`.name` is missing. Name what the `combinations` vary, such as `name: protection`.")
        return self

    @model_validator(mode="after")
    def _labels(self) -> Varied:
        if isinstance(self.values, list):
            for value in self.values:
                if isinstance(value, dict | list):
                    raise ValueError(
                        "`.values` must have a label for a list or a section. Write them as a mapping, `values: "
                        "{label: value}`."
                    )
            labels = [label_of(value) for value in self.values]
        else:
            labels = [*(self.values or self.combinations or {})]
        for at, label in enumerate(labels):
            if slug(label) in [slug(other) for other in labels[:at]]:
                raise ValueError(
                    f"`{label}` is given twice, or differs from another value or label only in punctuation. Remove one "
                    "of the two, or give labels that differ: `values: {label: value}`."
                )
        return self

    @model_validator(mode="after")
    def _keys_are_settings(self) -> Varied:
        for key in self.keys:
            first = split(key)[0]
            if first in WITHOUT_RESULTS:
                raise ValueError(f"`{key}` must not vary, because `{first}` changes no result. Remove it.")
        return self


def label_of(value: Any) -> str:
    """Return the label of a plain value."""
    return "none" if value is None else str(value) or "empty"


def slug(label: str) -> str:
    """Return a label as a part of a folder's name.

    Examples
    --------
    >>> slug("half_gap"), slug("-0.5"), slug("1/3")
    ('half-gap', 'minus-0.5', '1-3')
    """
    text = re.sub(r"[^a-z0-9.]+", "-", re.sub(r"^-(?=[\d.])", "minus ", label.lower())).strip("-.")
    return text or hashlib.sha256(label.encode()).hexdigest()[:8]


def names(varied: Sequence[Varied]) -> list[str]:
    """Return the names of the varied keys: as given, or the last words of the key, as many as are needed to differ.

    Raises
    ------
    ValueError
        If two names are equal.
    """
    words = [[slug(str(part)).replace("-", "_").replace(".", "_") for part in split(item.keys[0])] for item in varied]
    for length in range(1, max(map(len, words), default=1) + 1):
        chosen = [item.name or "_".join(parts[-length:]) for item, parts in zip(varied, words, strict=True)]
        if len(set(chosen)) == len(chosen):
            return chosen
    raise ValueError("must not have two items with the same name. Give each item a different `name`.")


def check(varied: tuple[Varied, ...]) -> tuple[Varied, ...]:
    """Return the items, after checking that they fit together.

    Raises
    ------
    ValueError
        If a key varies twice, names are equal, or there are too many combinations.
    """
    names(varied)
    for first, second in _together(varied):
        one, two = split(first), split(second)
        if one[: len(two)] == two[: len(one)]:
            outer, inner = sorted((first, second), key=len)
            problem = "is given twice" if one == two else f"is part of `{outer}`, which also varies"
            raise ValueError(f"`{inner}` {problem}. Vary each key in one item only.")
    number = math.prod(len(item.labelled) for item in varied)
    if number > MAX_VARIANTS:
        raise ValueError(
            f"must result in at most {MAX_VARIANTS} variants, but results in {number:,}. List fewer values, or only "
            "the combinations that you need as `combinations`."
        )
    return varied


def _together(varied: Sequence[Varied]) -> Iterator[tuple[str, str]]:
    """Yield every two keys that one combination may set: those of two items, and those of one label of an item."""
    for one, other in itertools.combinations(varied, 2):
        yield from itertools.product(one.keys, other.keys)
    for item in varied:
        for settings in item.labelled.values():
            yield from itertools.combinations(settings, 2)


def split(key: str) -> Path:
    """Return the parts of a key as written.

    Examples
    --------
    >>> split("matching.scenarios[2].known")
    ('matching', 'scenarios', 1, 'known')
    """
    parts: list[str | int] = []
    for part in key.split("."):
        word, *numbers = re.split(r"\[(\d+)\]", part)
        parts += [word] if word or not numbers else []
        parts += [int(number) - 1 for number in numbers[::2]]
    return tuple(parts)
