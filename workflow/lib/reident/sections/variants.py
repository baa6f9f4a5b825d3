"""The section `variants` of a study file: values to be compared."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from reident.sections.base import Section

MOST_VARIANTS = 200
LONGEST_ID = 100
WITHOUT_RESULTS = ("id", "title", "agency", "date", "decision", "variants")
"""Keys of a study that change no result, so that variants of them would be equal."""

Path = tuple[str | int, ...]
"""Where a setting stands in the content of a study file: keys, and places in lists from 0."""


def _one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_Word = Annotated[str, Field(min_length=1, max_length=60)]
_ManyPaths = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
_Paths = Annotated[_ManyPaths, BeforeValidator(_one_or_many, json_schema_input_type=str | _ManyPaths)]


class Varied(Section):
    """Values to be compared, of one setting or of several at a time."""

    set: _Paths | None = Field(
        None,
        description="The key that varies, with a dot before each section that leads to it, as in "
        "`metrics.taxicab.alpha`; items of a list by their `name`, as in `linking_variables.age.missing`, or by "
        'their number in quotes, as in `"linking_variables[1].missing"`. Several keys take the same value.',
    )
    values: Annotated[dict[_Word, Any] | list[Any], Field(min_length=1)] | None = Field(
        None,
        description="What `set` takes, one after the other: a list, or a mapping from a label to the value where a "
        "value is more than one word.",
    )
    combinations: dict[_Word, dict[str, Any]] | None = Field(
        None,
        min_length=1,
        description="In place of `set` and `values`, where keys vary together: a mapping from a label to the keys, "
        "written as in `set`, and their values. A key that is not named stays as the study says.",
    )
    name: str | None = Field(
        None,
        pattern=r"^[a-z][a-z0-9_]*$",
        max_length=40,
        description="What varies, in tables and folders; empty: the last word of `set`. `combinations` need one.",
    )

    @property
    def labelled(self) -> dict[str, dict[str, Any]]:
        """The settings of each value by its label: key as written -> value in the file's own form."""
        if self.combinations is not None:
            return self.combinations
        keys, values = self.set or (), self.values or []
        pairs = values.items() if isinstance(values, dict) else ((label_of(own), own) for own in values)
        return {label: dict.fromkeys(keys, own) for label, own in pairs}

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that vary, as written."""
        return tuple(dict.fromkeys(key for settings in self.labelled.values() for key in settings))

    @model_validator(mode="after")
    def _one_form(self) -> Varied:
        if (self.set is None) != (self.values is None) or (self.set is None) == (self.combinations is None):
            raise ValueError(
                "an item of `variants` has either `set` and `values` or `combinations`; give one of the two."
            )
        if self.combinations is not None and self.name is None:
            raise ValueError(
                "`combinations` need a `name` for what varies; add one, such as `name: protection`."
            )
        return self

    @model_validator(mode="after")
    def _labels(self) -> Varied:
        if isinstance(self.values, list):
            for value in self.values:
                if isinstance(value, dict | list):
                    raise ValueError(
                        "a value that is a list or a section needs a label; write `values` as a mapping: "
                        "`values: {label: value}`."
                    )
            labels = [label_of(value) for value in self.values]
        else:
            labels = [*(self.values or self.combinations or {})]
        for at, label in enumerate(labels):
            if slug(label) in [slug(other) for other in labels[:at]]:
                raise ValueError(
                    f"the value or label `{label}` stands twice or differs from another in signs alone; keep one of "
                    "them, or give labels that differ: `values: {label: value}`."
                )
        return self

    @model_validator(mode="after")
    def _keys_are_settings(self) -> Varied:
        for key in self.keys:
            first = split(key)[0]
            if first in WITHOUT_RESULTS:
                raise ValueError(
                    f"`{first}` changes no result, so that its variants would be equal; remove `{key}`."
                )
        return self


def label_of(value: Any) -> str:
    """The label of a plain value."""
    return "none" if value is None else str(value) or "empty"


def slug(label: str) -> str:
    """A label as a part of a folder's name.

    Examples
    --------
    >>> slug("half_gap"), slug("-0.5"), slug("1/3")
    ('half-gap', 'minus-0.5', '1-3')
    """
    text = re.sub(r"[^a-z0-9.]+", "-", re.sub(r"^-(?=[\d.])", "minus ", label.lower())).strip("-.")
    return text or hashlib.sha256(label.encode()).hexdigest()[:8]


def names(varied: Sequence[Varied]) -> list[str]:
    """The names of what varies: as given, or the last word of its key, with the word before it where two agree."""
    words = [
        [slug(str(part)).replace("-", "_").replace(".", "_") for part in split(own.keys[0])] for own in varied
    ]
    for length in range(1, max(map(len, words), default=1) + 1):
        found = [own.name or "_".join(parts[-length:]) for own, parts in zip(varied, words, strict=True)]
        if len(set(found)) == len(found):
            return found
    raise ValueError("two items of `variants` have the same name; give each a `name` of its own.")


def check(varied: tuple[Varied, ...]) -> tuple[Varied, ...]:
    """The items, after a look whether they fit together.

    Raises
    ------
    ValueError
        If a key varies twice, names are equal, or there are too many combinations.
    """
    names(varied)
    every = [(split(key), key) for own in varied for key in own.keys]
    for (one, first), (two, second) in itertools.combinations(every, 2):
        if one[: len(two)] == two[: len(one)]:
            inside = (
                "stands twice"
                if one == two
                else f"is part of `{min(first, second, key=len)}`, which varies too"
            )
            raise ValueError(
                f"`{max(first, second, key=len)}` {inside}; each key may vary in one place only."
            )
    number = math.prod(len(own.labelled) for own in varied)
    if number > MOST_VARIANTS:
        raise ValueError(
            f"the values combine to {number:,} variants and at most {MOST_VARIANTS} are computed; list fewer values, "
            "or those that you need as `combinations`."
        )
    return varied


def split(key: str) -> Path:
    """A key as written, part by part.

    Examples
    --------
    >>> split("matching.scenarios[2].known")
    ('matching', 'scenarios', 1, 'known')
    """
    found: list[str | int] = []
    for part in key.split("."):
        word, *numbers = re.split(r"\[(\d+)\]", part)
        found += [word] if word or not numbers else []
        found += [int(number) - 1 for number in numbers[::2]]
    return tuple(found)
