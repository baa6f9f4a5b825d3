"""Sentences of the report: fields by name, choices by number, and no sentence that is missing or unused."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from reident.report import sentences
from reident.report.sentences import Sentences

REPORT = Path(sentences.__file__).parents[1]


@pytest.fixture
def section(tmp_path, monkeypatch):
    (tmp_path / "section.yaml").write_text(
        "plain: No field.\n"
        "nested:\n  share: '{share} of {records} records.'\n"
        "records: {none: No records., one: One record., other: '{n} records in {where}.'}\n"
        "metrics: {one: The metric., two: Both metrics., other: 'All {number} metrics.'}\n"
        "formula: '$x^{{2}}$'\n"
        "formatted: '{share:.1f}'\n"
        "group: {first: A., second: B.}\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(sentences, "FOLDER", tmp_path)
    sentences._entries.cache_clear()
    yield Sentences("section")
    sentences._entries.cache_clear()


def test_fields_are_filled_in_and_integers_get_separators(section):
    assert section("plain") == "No field."
    assert section("nested.share", share="5 %", records=12345) == "5 % of 12,345 records."
    assert section("formula") == "$x^{2}$"


@pytest.mark.parametrize(
    ("key", "fields", "shown"),
    [
        ("records", {"n": 0, "where": "s0001"}, "No records."),
        ("records", {"n": 1, "where": "s0001"}, "One record."),
        ("records", {"n": 2, "where": "s0001"}, "2 records in s0001."),
        ("records", {"n": 1200, "where": "s0001"}, "1,200 records in s0001."),
        ("metrics", {"n": 2, "number": "two"}, "Both metrics."),
        ("metrics", {"n": 0, "number": "no"}, "All no metrics."),
    ],
)
def test_a_choice_depends_on_its_number_and_each_sentence_may_leave_fields_out(section, key, fields, shown):
    assert section(key, **fields) == shown


def test_a_group_of_sentences_is_returned_by_key(section):
    assert section.group("group") == {"first": "A.", "second": "B."}


@pytest.mark.parametrize(
    ("key", "fields", "error"),
    [
        ("other", {}, KeyError),
        ("nested.share", {"share": "5 %"}, KeyError),
        ("records", {"n": 2}, KeyError),
        ("plain", {"n": 1}, ValueError),
        ("records", {"n": 0, "where": "s0001", "share": "5 %"}, ValueError),
        ("formatted", {"share": "5 %"}, ValueError),
        ("nested.share", {"share": 0.05, "records": 1}, TypeError),
        ("nested.share", {"share": True, "records": 1}, TypeError),
    ],
)
def test_fields_that_do_not_match_the_sentence_are_refused(section, key, fields, error):
    with pytest.raises(error):
        section(key, **fields)


# The files and the code ---------------------------------------------------------------------------


def keys_of(entry: Any, path: str = "") -> Iterator[str]:
    """Yield the key of every sentence and choice below an entry."""
    if isinstance(entry, dict) and not sentences.is_choice(entry):
        for name, inner in entry.items():
            yield from keys_of(inner, f"{path}.{name}" if path else name)
    else:
        yield path


def calls_of(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the section and the key, as a pattern, of every call of a module's ``Sentences``."""
    names = {
        node.targets[0].id: node.value.args[0].value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "id", "") == "Sentences"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called, below = node.func, ""
            if isinstance(called, ast.Attribute) and called.attr == "group":
                called, below = called.value, r"\.\w+"
            if isinstance(called, ast.Name) and called.id in names:
                for pattern in patterns_of(node.args[0]):
                    yield names[called.id], pattern + below


def patterns_of(key: ast.expr) -> list[str]:
    """Return the patterns of a key: a literal, an f-string, or a choice between two of them."""
    if isinstance(key, ast.IfExp):
        return patterns_of(key.body) + patterns_of(key.orelse)
    if isinstance(key, ast.JoinedStr):
        return [
            "".join(
                re.escape(part.value) if isinstance(part, ast.Constant) else r"[\w-]+" for part in key.values
            )
        ]
    assert isinstance(key, ast.Constant), f"line {key.lineno}: the key must be a literal or an f-string"
    return [re.escape(key.value)]


USED = {
    (section, pattern)
    for source in sorted(REPORT.rglob("*.py"))
    for section, pattern in calls_of(ast.parse(source.read_text(encoding="utf-8")))
}
FILES = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sentences.FOLDER.glob("*.yaml")
}


def test_every_section_is_used_and_exists():
    assert {section for section, _ in USED} == set(FILES)


@pytest.mark.parametrize("section", sorted(FILES))
def test_every_sentence_is_used_and_every_key_that_the_code_uses_exists(section):
    keys = set(keys_of(FILES[section]))
    patterns = {pattern for used, pattern in USED if used == section}
    assert [key for key in keys if not any(re.fullmatch(pattern, key) for pattern in patterns)] == []
    assert [pattern for pattern in patterns if not any(re.fullmatch(pattern, key) for key in keys)] == []


@pytest.mark.parametrize("section", sorted(FILES))
def test_every_sentence_is_text_with_plain_fields(section):
    for key in keys_of(FILES[section]):
        entry: Any = FILES[section]
        for part in key.split("."):
            entry = entry[part]
        texts = entry.values() if sentences.is_choice(entry) else [entry]
        assert all(isinstance(text, str) and text.strip() == text for text in texts), key
        assert all(map(str.isidentifier, sentences.field_names(entry))), key
