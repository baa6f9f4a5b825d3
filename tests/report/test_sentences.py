"""Sentences of the report: fields by name, choices by number, and no sentence that is missing or unused."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from making.report import NOTEBOOK
from reident import language
from reident.language.sentences import field_names, is_choice
from reident.page import sentences
from reident.page.sentences import Sentences, is_of_forms
from reident.page.wording import NO_BREAK, count, declared, escape, inside, listed, number, percent, span
from reident.sections.language import DEFAULT_LANGUAGE, LANGUAGES

REPORT = Path(sentences.__file__).parents[1]


@pytest.fixture
def section(tmp_path, monkeypatch):
    file = tmp_path / "section.yaml"
    file.write_text(
        "en:\n"
        "  plain: No field.\n"
        "  nested:\n    share: '{share} of {records} records.'\n"
        "  records: {none: No records., one: One record., other: '{n} records in {where}.'}\n"
        "  metrics: {one: The metric., two: Both metrics., other: 'All {number} metrics.'}\n"
        "  formula: '$x^{{2}}$'\n"
        "  formatted: '{share:.1f}'\n"
        "  group: {first: A., second: B.}\n"
        "  noun: {one: '{Noun} of {where}.', other: '{n} {nouns} of {where}, a {subject} each.'}\n"
        "  forms: {records: 'One row of {where}.', units: 'Rows that are one {noun} of {where}.'}\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(sentences, "files", lambda: {"section": file})
    return Sentences("section")


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


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("record", ("Record of A.", "2 records of A, a person each.", "One row of A.")),
        ("unit", ("Unit of A.", "2 units of A, a unit each.", "Rows that are one unit of A.")),
        ("person", ("Person of A.", "2 people of A, a person each.", "Rows that are one person of A.")),
    ],
)
def test_a_sentence_is_on_what_the_study_compares(section, kind, shown):
    with sentences.use(SimpleNamespace(language="en", noun=kind)):
        assert (section("noun", n=1, where="A"), section("noun", n=2, where="A"), section("forms", where="A")) == shown
        with pytest.raises(ValueError, match="share"):
            section("forms", where="A", share="5 %")


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
    if isinstance(entry, dict) and not is_choice(entry) and not is_of_forms(entry):
        for name, inner in entry.items():
            yield from keys_of(inner, f"{path}.{name}" if path else name)
    else:
        yield path


def texts_of(entry: Any) -> Iterator[str]:
    """Yield the texts of a sentence: of every number, and for records and units."""
    for text in entry.values() if isinstance(entry, dict) else [entry]:
        yield from text.values() if is_of_forms(text) else [text]


def fields_of(entry: Any) -> set[str]:
    """Return the fields that the code gives to a sentence, or to any text of one."""
    names = {name for text in texts_of(entry) for name in field_names(text)}
    return (names | set("n" * is_choice(entry))) - set(sentences.nouns(DEFAULT_LANGUAGE, sentences.RECORD))


BELOW = {"verdict_on": (2, r"verdict\.[\w-]+"), "choices_of": (0, r"choices\.[\w-]+\.[\w-]+")}
"""Functions that give sentences of a section: the place of its ``Sentences``, and the pattern of their keys."""


def calls_of(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the section and the key, as a pattern, of every call of a module's ``Sentences``."""
    names = {"HEADING": sentences.HEADING.section} | {
        node.targets[0].id: node.value.args[0].value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "id", "") == "Sentences"
        and len(node.value.args) == 1  # those of messages are in another folder
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called, below = node.func, ""
            if isinstance(called, ast.Name) and called.id == "columns":
                groups = [rf"{group}\." for option in node.keywords for group in patterns_of(option.value)] or [""]
                assert isinstance(node.args[2], ast.Constant), f"line {node.lineno}: write the columns as a literal"
                for words in node.args[2].value.split():
                    for group in groups:
                        yield names[node.args[1].id], group + re.escape(re.split("[=:@]", words)[0])
            if isinstance(called, ast.Name) and called.id in BELOW:
                place, pattern = BELOW[called.id]
                yield names[node.args[place].id], pattern
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
        return ["".join(re.escape(part.value) if isinstance(part, ast.Constant) else r"[\w-]+" for part in key.values)]
    assert isinstance(key, ast.Constant), f"line {key.lineno}: the key must be a literal or an f-string"
    return [re.escape(key.value)]


TITLES = re.compile(r'"(\w+)\.(\w+)",')
"""The titles of sections, as the notebook names them."""


@functools.cache
def used():
    """The sections and keys, as patterns, that the code and the notebook use."""
    sources = [ast.parse(source.read_text(encoding="utf-8")) for source in sorted(REPORT.rglob("*.py"))]
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    titles = {found for cell in notebook.cells for found in TITLES.findall(cell.source)}
    calls = {found for source in sources for found in calls_of(source)}
    terms = {(name, r"terms\.[\w-]+\.(name|meaning)") for name in sentences.terms_of()}
    return calls | {(name, rf"titles\.{key}") for name, key in titles} | terms


CONTENT = {section: language.read(file) for section, file in sentences.files().items()}
FILES = {code: {section: content[code] for section, content in CONTENT.items()} for code in LANGUAGES}
SECTIONS = sorted(FILES[DEFAULT_LANGUAGE])
OTHERS = [code for code in LANGUAGES if code != DEFAULT_LANGUAGE]


def entry_of(code: str, section: str, key: str) -> Any:
    """Return an entry of a file."""
    entry: Any = FILES[code][section]
    for part in key.split("."):
        entry = entry[part]
    return entry


OF_EVERY_METRIC = r"title|about|narrow|remedy"
"""Entries of the words on a metric that are asked for by its name, where it has them."""


def is_of_metric(section: str) -> bool:
    """Return whether a section has the words on a metric."""
    return section.startswith("metrics/")


def test_every_section_is_used_and_exists():
    assert {section for section, _ in used()} | set(filter(is_of_metric, SECTIONS)) == set(SECTIONS)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_sentence_is_used_and_every_key_that_the_code_uses_exists(section):
    keys = set(keys_of(FILES[DEFAULT_LANGUAGE][section]))
    patterns = {pattern for name, pattern in used() if name == section}
    if is_of_metric(section):
        keys = {key for key in keys if not re.fullmatch(OF_EVERY_METRIC, key)}
    assert [key for key in keys if not any(re.fullmatch(pattern, key) for pattern in patterns)] == []
    assert [pattern for pattern in patterns if not any(re.fullmatch(pattern, key) for key in keys)] == []


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("section", SECTIONS)
def test_every_sentence_is_text_with_plain_fields(code, section):
    for key in keys_of(FILES[code][section]):
        entry = entry_of(code, section, key)
        # A remedy follows a full stop.
        assert all(isinstance(text, str) and (text.strip() == text or key == "remedy") for text in texts_of(entry)), key
        assert all(map(str.isidentifier, fields_of(entry))), key


# The languages ------------------------------------------------------------------------------------


def test_every_section_has_every_language():
    assert [section for section, content in CONTENT.items() if set(content) - {"terms_of"} != set(LANGUAGES)] == []


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("section", SECTIONS)
def test_every_language_has_the_same_sentences_with_the_same_fields(code, section):
    keys = list(keys_of(FILES[DEFAULT_LANGUAGE][section]))
    assert list(keys_of(FILES[code][section])) == keys
    for key in keys:
        own, other = entry_of(code, section, key), entry_of(DEFAULT_LANGUAGE, section, key)
        assert fields_of(own) == fields_of(other), key
        assert is_choice(own) == is_choice(other), key
        if is_choice(own):  # a sentence for 0 without the number may not be shown for another number
            assert ("none" in own) == ("none" in other), key


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("section", SECTIONS)
def test_marks_and_code_are_the_same_in_every_language(code, section):
    """Classes of spans, names of files and keys of the study, and formulas are no words."""
    for key in keys_of(FILES[code][section]):
        own, other = (str(entry_of(each, section, key)) for each in (code, DEFAULT_LANGUAGE))
        for marks in (r"\{\{\.\w+\}\}", r"pr\(.*?\)", "[▲▼✓☐]"):
            assert set(re.findall(marks, own)) == set(re.findall(marks, other)), key
        assert set(re.findall("`[^`]+`", other)) <= set(re.findall("`[^`]+`", own)), key


def test_german_numbers():
    with language.use("de"):
        assert count(1234567) == "1.234.567"
        assert percent(0.12345) == f"12,3{NO_BREAK}%"
        assert percent(1e-7) == f"<{NO_BREAK}0,001{NO_BREAK}%"
        assert declared(0.0725) == f"7,25{NO_BREAK}%"
        assert number(-12345.678) == "\u221212.345,7"
        assert span(0.01, 0.2) == f"1,0 – 20,0{NO_BREAK}%"
        assert listed(["a", "b", "c"]) == "a, b und c"
        assert escape("") == r"\(leer\)"
        assert escape("1,234.5") == r"1\,234\.5"  # a label is not a number of the report
        assert inside("Bedingte Rate") == "Bedingte Rate"
