"""Variants: what a study file lists to be compared, and the combinations that come of it.

Each item of `variants` lists values of one thing; every combination of them is a variant, a study of its
own in which those values stand in place of what the study file says. Values are set in the file's content
before it is checked, so that a variant is the study that one would get by writing them there.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from reident.section import Section

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


class Variant(NamedTuple):
    """One combination.

    Attributes
    ----------
    id : str
        Lower-case letters, digits, dots, hyphens and underscores; depends on its own values alone.
    labels : dict
        The label of each thing that varies, by its name.
    settings : dict
        Values in the file's own form by key as written.
    places : dict
        For each key, where in `variants` its value is written: item, and label or number.
    """

    id: str
    labels: dict[str, str]
    settings: dict[str, Any]
    places: dict[str, Path]


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


def expand(varied: Sequence[Varied], *, partly: bool = False) -> list[Variant]:
    """Every combination, the last item of `variants` changing fastest.

    Parameters
    ----------
    varied : sequence of Varied
    partly : bool
        Whether combinations that set only some of what varies are wanted too.
    """
    if not varied:
        return []
    found, called = [], names(varied)
    for labels in itertools.product(*([*own.labelled, *([None] if partly else [])] for own in varied)):
        settings: dict[str, Any] = {}
        places: dict[str, Path] = {}
        for at, (own, label) in enumerate(zip(varied, labels, strict=True)):
            if label is not None:
                settings |= own.labelled[label]
                places |= dict.fromkeys(own.labelled[label], _place(own, at, label))
        by_name = {name: label for name, label in zip(called, labels, strict=True) if label is not None}
        if by_name:
            found.append(Variant(id_of(by_name), by_name, settings, places))
    return found


def _place(varied: Varied, at: int, label: str) -> Path:
    if varied.combinations is not None:
        return ("variants", at, "combinations", label)
    own = [*varied.labelled].index(label) if isinstance(varied.values, list) else label
    return ("variants", at, "values", own)


def id_of(labels: Mapping[str, str]) -> str:
    """The name of the variant that has these labels, by the name of what varies."""
    text = "_".join(f"{name.replace('_', '-')}-{slug(label)}" for name, label in labels.items())
    if len(text) <= LONGEST_ID:
        return text
    return f"{text[: LONGEST_ID - 9]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


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


def value_at(whole: Any, key: str) -> Any:
    """The value of a key in a study's plain content; None where it has none."""
    for part in split(key):
        whole = _inside(whole, part)
    return whole


def _inside(whole: Any, part: str | int) -> Any:
    if isinstance(whole, Mapping):
        return whole.get(str(part), whole.get(str(part).replace("-", "_")))
    if isinstance(whole, list):
        place = _item(whole, part)
        return whole[place] if place is not None else None
    return None


def _item(items: list[Any], part: str | int) -> int | None:
    """The place of an item of a list, named by its number or its `name`."""
    if isinstance(part, int):
        return part if 0 <= part < len(items) else None
    called = [at for at, item in enumerate(items) if isinstance(item, Mapping) and item.get("name") == part]
    return called[0] if len(called) == 1 else None


def with_settings(
    content: dict[str, Any], whole: Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The content of a study file with other values and without `variants`.

    Parameters
    ----------
    content : dict
        As read from the file.
    whole : mapping
        The same study in plain values, with every default.
    settings : mapping
        Values in the file's own form by key.

    Raises
    ------
    ValueError
        If a section on the way to a key is none of the study's, or is written short.
    """
    made = copy.deepcopy({name: own for name, own in content.items() if name != "variants"})
    for key, value in settings.items():
        *way, last = split(key)
        inside, known = made, whole
        for at, part in enumerate(way):
            known = _inside(known, part)
            if known is None:
                raise ValueError(
                    f"`{key}`: the study has no `{_shown(way[: at + 1])}`; add it, or correct the key."
                )
        for at, part in enumerate(way):
            inside = _enter(inside, part, [*way, last][at + 1], f"`{key}`", _shown(way[: at + 1]))
        _put(inside, last, value, f"`{key}`")
    return made


def _shown(way: Sequence[str | int]) -> str:
    """A key as it is written."""
    return "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in way).removeprefix(".")


def _enter(inside: Any, part: str | int, after: str | int, key: str, shown: str) -> Any:
    """The section of a name inside another; one that stands for its defaults is written out."""
    if isinstance(inside, list):
        place = _item(inside, part)
        found = inside[place] if place is not None else None
    else:
        name = _spelling(inside, str(part))
        if inside.get(name) is None and not isinstance(after, int):
            inside[name] = {}
        found = inside.get(name)
    if not isinstance(found, dict | list):
        raise ValueError(
            f"{key}: the study file writes `{shown}` short; write it out as a section, or set it as a whole."
        )
    return found


def _put(inside: Any, last: str | int, value: Any, shown: str) -> None:
    if isinstance(inside, list):
        place = _item(inside, last)
        if place is None:
            raise ValueError(f"{shown}: the list has no such item; correct the key.")
        inside[place] = copy.deepcopy(value)
    else:
        inside[_spelling(inside, str(last))] = copy.deepcopy(value)


def _spelling(section: Mapping[str, Any], name: str) -> str:
    """A key as the section spells it: some may be written with a hyphen in place of an underscore."""
    for other in (name.replace("_", "-"), name.replace("-", "_")):
        if other in section and name not in section:
            return other
    return name
