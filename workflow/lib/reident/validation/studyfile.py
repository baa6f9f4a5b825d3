"""Every mistake of a study file: each is noted and left out, until the rest is a study."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import ValidationError

from reident.errors import InputError
from reident.study import reading as studyfile
from reident.study.model import Study
from reident.study.reading import Mistake
from reident.validation.findings import Findings

MAX_ROUNDS = 100
"""How often something is left out."""

_UNKNOWN, _MISSING = "is not a known key", "is missing"
_NAMES = re.compile(r"`([^`]+)`")
Location = tuple[str | int, ...]


class Content(NamedTuple):
    """The valid part of a study file: its content, and the tree of the whole file."""

    data: dict[str, Any]
    node: yaml.Node


def read(path: Path, findings: Findings) -> Content | None:
    """Note every mistake of a study file; return the study without them.

    A key with a near name of a known one is taken for that; any other mistake is left out: the key if its section has
    a default for it, otherwise the item or the section. What is wrong only because of that is not noted.

    None if the file is not YAML, or nothing is left that is a study.
    """
    try:
        data, node = studyfile.read(path, decide=False)
    except InputError as error:
        findings.error(str(error))
        return None
    content, keys, gone = Content(data, node), studyfile.known_keys(Study), _Gone()
    mistakes = studyfile.todos(data, node)
    for _ in range(MAX_ROUNDS):
        new = [mistake for mistake in _without_halves(mistakes) if not gone.explains(mistake)]
        # Unknown keys first, one of which may be a missing one; then from the end: the numbers of other items hold.
        mistakes.sort(key=lambda item: _order(item.location), reverse=True)
        mistakes.sort(key=lambda item: _UNKNOWN not in item.message)
        possible = [_correct(content, mistake, keys, gone) for mistake in mistakes]
        for mistake in new:
            if not gone.explains(mistake):
                findings.error(f"{path}, line {mistake.line}: {mistake.message}")
        if not all(possible):
            return None
        try:
            Study.model_validate(data)
        except ValidationError as error:
            mistakes = studyfile.mistakes(error, data, node, keys)
        else:
            return content
    return None


def _without_halves(mistakes: list[Mistake]) -> list[Mistake]:
    """Return mistakes without those about one half of a number that is written with a comma."""
    halves = {_NAMES.findall(item.message)[0] for item in mistakes if item.message.endswith("with a point.")}
    return [
        item
        for item in mistakes
        if item.message.endswith("with a point.") or not halves.intersection(_NAMES.findall(item.message)[:1])
    ]


def _order(location: Location) -> list[tuple[bool, Any]]:
    return [(isinstance(part, int), part) for part in location]


class _Gone:
    """The removed parts: their names, the sections that lack something for it, and the keys that were renamed."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._sections: set[Location] = set()
        self.renamed: set[Location] = set()

    def add(self, section: Location, removed: Any) -> None:
        """Remember a removed part of a section."""
        self._sections.add(section)
        if isinstance(removed, dict) and isinstance(removed.get("name"), str):
            self._names.add(removed["name"])
        elif isinstance(removed, str):
            self._names.add(removed)

    def explains(self, mistake: Mistake) -> bool:
        """Return whether a mistake may be one only because of removed or renamed parts."""
        named = _NAMES.findall(mistake.message)
        about = any(one == name or one.endswith(f".{name}") for one in named for name in self._names)
        if _MISSING in mistake.message:
            lacks = any(mistake.location[: len(section)] == section for section in self._sections if section)
            return about or lacks or mistake.location in self.renamed
        return about or (_UNKNOWN in mistake.message and mistake.location in self.renamed)


def _correct(content: Content, mistake: Mistake, keys: Collection[str], gone: _Gone) -> bool:
    """Change or remove the part of a study file with a mistake; return whether that is possible."""
    way, last, section, node = _at(content, mistake.location)
    if isinstance(section, list):
        if not isinstance(last, int):
            return False
        gone.add(way, section.pop(last))
        node.value.pop(last)
        return True
    if last in section and _MISSING in mistake.message:
        return True  # A key that was renamed is the missing one.
    if last not in section:  # It is missing: the section cannot be completed.
        return bool(way) and _correct(content, mistake._replace(location=way), keys, gone)
    (place,) = (at for at, (key, _) in enumerate(node.value) if key.value == last)
    key, value = node.value[place]
    unknown = _UNKNOWN in mistake.message and last not in keys  # not one that belongs elsewhere
    near = difflib.get_close_matches(str(last), keys, n=1) if unknown else []
    literal = isinstance(section[last], str) and _UNKNOWN not in mistake.message
    choices = [name for name in _NAMES.findall(mistake.message)[1:] if literal and name != section[last]]
    if near and near[0] not in section and (*way, last) not in gone.renamed:
        section[near[0]] = section.pop(last)
        key.value = near[0]
        gone.renamed.add((*way, near[0]))
    elif other := difflib.get_close_matches(str(section[last]), choices, n=1):
        section[last] = value.value = other[0]
    else:
        gone.add(way, section.pop(last))
        node.value.pop(place)
    return True


def _at(content: Content, location: Location) -> tuple[Location, str | int, Any, Any]:
    """Return the section that a location is in: the way to it, the last part, its content and its node.

    The last part may be missing in the section; parts that pydantic adds for unions are left out.
    """
    way: list[str | int] = []
    section: Any = content.data
    node: Any = content.node
    for part in location[:-1]:
        place = _place(section, node, part)
        if place is None:
            continue
        name, inner, inner_node = place
        if isinstance(inner, dict | list):
            way.append(name)
            section, node = inner, inner_node
    last = location[-1] if location else ""
    entry = _place(section, node, last)
    return tuple(way), last if entry is None else entry[0], section, node


def _place(section: Any, node: Any, part: str | int) -> tuple[str | int, Any, yaml.Node] | None:
    """Return a key as a section writes it, or a position, with its content and its node; None if it has none."""
    if isinstance(section, list):
        inside = isinstance(part, int) and part < len(section)
        return (part, section[part], node.value[part]) if inside and isinstance(part, int) else None
    for key, value in node.value:
        if key.value in (part, str(part).replace("_", "-")):
            return key.value, section[key.value], value
    return None
