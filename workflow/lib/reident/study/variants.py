"""Variants: what a study file lists to be compared, and the combinations that come of it.

Each item of `variants` lists values of one thing; every combination of them is a variant, a study of its
own in which those values stand in place of what the study file says. Values are set in the file's content
before it is checked, so that a variant is the study that one would get by writing them there.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from reident.sections.variants import LONGEST_ID, Path, Varied, names, slug, split


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
