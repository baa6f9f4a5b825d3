"""Variants: every combination of the values that a study file lists under `variants`.

A variant is the study that one would get by writing its values into the study file: they are set in the
content of the file before it is checked.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from reident.sections.decision import LIMITS
from reident.sections.variants import MAX_ID_LENGTH, Path, Varied, names, slug, split
from reident.simulation.section import UNTREATED, HouseholdSurvey
from reident.study.model import Study
from reident.study.reading import dotted_key


class Variant(NamedTuple):
    """One combination."""

    id: str  # lower-case letters, digits, dots, hyphens and underscores; depends only on the labels
    labels: dict[str, str]  # the label of each thing that varies, by its name
    settings: dict[str, Any]  # the value of each key, as the file has it
    places: dict[str, Path]  # the location of each key's value below `variants`: item, and label or number


BEFORE = {"before": "protection"}
"""The label of what sets the file before protection in place of the public use file, by its name."""


def before_protection(study: Study) -> tuple[Varied, ...]:
    """Return the values that put the file before protection in place of the PUF; empty without such a file."""
    settings: dict[str, Any] = dict.fromkeys(_coarsened(study))
    without = {name: None for name, section in study.analyses.items() if section.is_on_release}
    if study.files is not None and study.files.original is not None:
        original = study.files.original.model_dump(mode="json", exclude_defaults=True)
        settings |= {"files.puf": {**original, "id": list(study.files.puf.id)}, "files.original": None, **without}
    elif isinstance(study.simulate, HouseholdSurvey) and study.simulate.original:
        treatment = {f"simulate.treatment.{name}": value for name, value in UNTREATED.items()}
        settings |= {"simulate.original": False, **treatment, **without}
    else:
        return ()
    return tuple(Varied(name=name, combinations={label: settings}) for name, label in BEFORE.items())


def _coarsened(study: Study) -> list[str]:
    """Return the keys of the coarser values of a study or of one of its variants: they are a part of the protection."""
    keys = [f"linking_variables.{variable.name}.coarsen" for variable in study.linking_variables if variable.coarsen]
    varied = [key for item in study.variants for key in item.keys]
    return list(dict.fromkeys([*keys, *(key for key in varied if _COARSENED.fullmatch(key))]))


_COARSENED = re.compile(r"linking_variables\.[^.]+\.coarsen")


def expand(varied: Sequence[Varied], *, partly: bool = False) -> list[Variant]:
    """Return every combination; the last item of `variants` changes fastest.

    With `partly`, those are included that set only some of what varies.
    """
    if not varied:
        return []
    combinations, item_names = [], names(varied)
    for labels in itertools.product(*([*item.labelled, *([None] if partly else [])] for item in varied)):
        settings: dict[str, Any] = {}
        places: dict[str, Path] = {}
        for at, (item, label) in enumerate(zip(varied, labels, strict=True)):
            if label is not None:
                settings |= item.labelled[label]
                places |= dict.fromkeys(item.labelled[label], _place(item, at, label))
        by_name = {name: label for name, label in zip(item_names, labels, strict=True) if label is not None}
        if by_name:
            combinations.append(Variant(id_of(by_name), by_name, settings, places))
    return combinations


def _place(varied: Varied, at: int, label: str) -> Path:
    if varied.combinations is not None:
        return ("variants", at, "combinations", label)
    last = [*varied.labelled].index(label) if isinstance(varied.values, list) else label
    return ("variants", at, "values", last)


def id_of(labels: Mapping[str, str]) -> str:
    """Return the id of the variant with these labels, given by the names of the varied keys."""
    text = "_".join(f"{name.replace('_', '-')}-{slug(label)}" for name, label in labels.items())
    if len(text) <= MAX_ID_LENGTH:
        return text
    return f"{text[: MAX_ID_LENGTH - 9]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def value_at(content: Any, key: str) -> Any:
    """Return the value of a key in a study's plain content; None if the key is absent."""
    for part in split(key):
        content = _inside(content, part)
    return content


def _inside(content: Any, part: str | int) -> Any:
    if isinstance(content, Mapping):
        return content.get(str(part), content.get(str(part).replace("-", "_")))
    if isinstance(content, list):
        place = _item(content, part)
        return content[place] if place is not None else None
    return None


def _item(items: list[Any], part: str | int) -> int | None:
    """Return the position of a list item that is given by its number or its `name`; None if there is not one."""
    if isinstance(part, int):
        return part if 0 <= part < len(items) else None
    names = [item.get("name") if isinstance(item, Mapping) else item for item in items]
    places = [at for at, name in enumerate(names) if name == part]
    return places[0] if len(places) == 1 else None


def with_settings(content: dict[str, Any], complete: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a study file with other values by their keys, and without the keys about variants.

    None drops an item of a list. `complete` is the same study in plain values, with every default. It is a ValueError
    if the study does not have a section on the way to a key, or has it as a single word.
    """
    result = copy.deepcopy({name: value for name, value in content.items() if name not in ("variants", "together")})
    _drop_joint_limits(result)
    dropped: list[tuple[list[Any], int]] = []
    for key, value in settings.items():
        *way, last = split(key)
        parent, node = result, complete
        for at, part in enumerate(way):
            node = _inside(node, part)
            if node is None:
                section = dotted_key(way[: at + 1])
                raise ValueError(
                    f"`{key}` is not a key of the study, which has no `{section}`. Add `{section}`, or correct the key."
                )
        for at, part in enumerate(way):
            parent = _enter(parent, part, [*way, last][at + 1], key, dotted_key(way[: at + 1]))
        items: Any = parent
        place: Any = _place_in(items, last, key) if isinstance(items, list) else _spelling(items, str(last))
        if isinstance(items, list) and value is None:
            dropped.append((items, place))
        else:
            items[place] = copy.deepcopy(value)
    # Last and from the end, so that the numbers of other items hold while values are set.
    for items, place in sorted(dropped, key=lambda one: one[1], reverse=True):
        _drop_score(result, items.pop(place))
    return result


def _drop_joint_limits(content: dict[str, Any]) -> None:
    """Remove the limits for an intruder with several files: a variant has one file."""
    if isinstance(limits := content.get("decision"), dict):
        for name in [name for name in limits if str(name).replace("-", "_") in LIMITS["together"]]:
            del limits[name]
        if not limits:
            del content["decision"]


def _drop_score(content: dict[str, Any], item: Any) -> None:
    """Remove the options of metrics and `why` about a linking variable that a variant drops."""
    name = item.get("name") if isinstance(item, Mapping) else item
    if _item(value_at(content, "linking_variables") or [], str(name)) is not None:
        return
    if isinstance(scores := value_at(content, "metrics.adhoc.scores"), dict):
        scores.pop(name, None)
    if isinstance(bands := value_at(content, "metrics.fellegi_sunter.bands"), dict):
        bands.pop(name, None)
    if isinstance(partial := value_at(content, "metrics.fellegi_sunter.partial"), list) and name in partial:
        partial.remove(name)
    if isinstance(tried := value_at(content, "why.recodings"), list):
        tried[:] = [one for one in tried if not isinstance(one, Mapping) or one.get("variable") != name]


def _enter(inside: Any, part: str | int, after: str | int, key: str, section: str) -> Any:
    """Return the section of a name inside another section; add one that is absent because of its defaults."""
    if isinstance(inside, list):
        place = _item(inside, part)
        inner = inside[place] if place is not None else None
    else:
        name = _spelling(inside, str(part))
        if inside.get(name) is None and not isinstance(after, int):
            inside[name] = {}
        inner = inside.get(name)
    if not isinstance(inner, dict | list):
        raise ValueError(
            f"`{key}` must not be set inside `{section}`, which the study file writes as a single word. Write "
            f"`{section}` as a section, or set `{section}` as a whole."
        )
    return inner


def _place_in(items: list[Any], part: str | int, key: str) -> int:
    place = _item(items, part)
    if place is None:
        raise ValueError(f"`{key}` is not an item of the list. Correct the key.")
    return place


def _spelling(section: Mapping[str, Any], name: str) -> str:
    """Return a key as the section spells it, with underscores or hyphens."""
    for other in (name.replace("_", "-"), name.replace("-", "_")):
        if other in section and name not in section:
            return other
    return name
