"""Sentences of codes with fields that steps record: warnings and hazards (METHODS §1).

The tables of a study have the code, the fields and the English sentence. Every sentence is made here, from the template
of the code in ``messages.yaml`` of its language. A new warning is a code, its fields, and a template in each language.

A field is shown by its type: an integer with thousands separators, a float as a percentage, a mapping as names with
numbers, and a text as it is, unless ``words`` has a group by the name of the field, of which it is then a word.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from reident import language
from reident.language import en
from reident.language.sentences import Sentences
from reident.sections.language import DEFAULT_LANGUAGE

TEXT = Sentences("messages", language.FOLDER)
ENGLISH = language.FOLDER / en.__name__.rpartition(".")[2]
"""The folder of the recorded sentences: an edited one makes the results of the steps that record messages anew."""
METRICS = language.FOLDER.parent / "linkage" / "metrics"

Fields: TypeAlias = Mapping[str, Any]
"""Texts, integers, floats and mappings of names to integers, by the name of the field."""


class Message(NamedTuple):
    """A message as a table has it: the English sentence, the code, and the fields as canonical JSON."""

    sentence: str
    code: str
    fields: str


def message(group: str, code: str, fields: Fields) -> Message:
    """Return a message of a group of ``messages.yaml``, such as ``warnings``, as it is recorded.

    Raises
    ------
    KeyError, ValueError
        If the code has no template, or one with other fields.
    """
    # Names in a mapping keep their order, which the sentence has.
    ordered = dict(sorted(fields.items()))
    text = json.dumps(ordered, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    with language.use(DEFAULT_LANGUAGE):
        return Message(sentence(group, code, text), code, text)


def _plain(number: Any) -> Any:
    """Return a number of numpy as one of Python."""
    return number.item()


def sentence(group: str, code: str, fields: str) -> str:
    """Return the sentence of a recorded message in the language in use."""
    values = json.loads(fields)
    return TEXT(f"{group}.{code}", **{name: _shown(name, value) for name, value in values.items()})


def _shown(name: str, value: Any) -> Any:
    if isinstance(value, float):
        return percentage(value)
    if isinstance(value, dict):
        digits = language.current().digits
        return ", ".join(f"{key} ({digits(f'{number:,}')})" for key, number in value.items())
    return words(name).get(value, value) if isinstance(value, str) else value


def percentage(share: float) -> str:
    """Return a share as a percentage, never as 0 where it is not."""
    if 0 < share < 0.001:
        return TEXT("below", share=language.current().digits("0.1"))
    return language.current().digits(f"{100 * share:.1f} %")


def words(group: str) -> dict[str, str]:
    """Return the words of a field in the language in use, by their codes; none of a field that holds no word."""
    own = TEXT.group(f"words.{group}") if group in TEXT.names("words") else {}
    return own | _of_metrics(language.current().code).get(group, {})


@cache
def _of_metrics(code: str) -> dict[str, dict[str, str]]:
    """Return the words on metrics by field and metric, from the file of each beside its code."""
    contents = {file.stem: language.read(file)[code] for file in sorted(METRICS.glob("*.yaml"))}
    entries_ = {"metric": "title", "remedy": "remedy"}
    return {
        field: {name: content[entry] for name, content in contents.items() if entry in content}
        for field, entry in entries_.items()
    }


def label(group: str, code: str) -> str:
    """Return the label that the report shows for a code of a table, such as a type; without a label, the code."""
    return TEXT.group(f"labels.{group}").get(code, code)
