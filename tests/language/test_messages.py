"""Every code has a template in every language, with the same fields, and some step records it."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import reident
from hypothesis import given
from hypothesis import strategies as st
from reident import language
from reident.challenge.settings import EXACT
from reident.intake.account import CAUSES, WHOLE_KEY, coded
from reident.intake.severity import StudyWarning, table
from reident.language.messages import label, message, percentage, sentence, words
from reident.language.sentences import entries, field_names, is_choice
from reident.linkage.bins import bin_ends, bin_labels
from reident.linkage.metrics import REGISTRY
from reident.linkage.settings import AGREEMENT, ANY
from reident.sections.language import DEFAULT_LANGUAGE, LANGUAGES

LIBRARY = Path(reident.__file__).parent
FILES = {code: entries(language.FOLDER / code, "messages") for code in LANGUAGES}
OTHERS = [code for code in LANGUAGES if code != DEFAULT_LANGUAGE]
MAKERS = {"warnings": "StudyWarning", "hazards": "Hazard"}
"""What a module names that records something of a group."""


def keys_of(entry: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path and the sentence, or the choice, of every code below an entry."""
    if isinstance(entry, dict) and not is_choice(entry):
        for name, inner in entry.items():
            yield from keys_of(inner, (*path, name))
    else:
        yield path, entry


@pytest.mark.parametrize("code", OTHERS)
def test_every_language_has_the_same_codes_with_the_same_fields(code):
    own, others = (dict(keys_of(FILES[each])) for each in (code, DEFAULT_LANGUAGE))
    assert list(own) == list(others)
    for path, entry in own.items():
        assert set(field_names(entry)) == set(field_names(others[path])), path
        assert is_choice(entry) == is_choice(others[path]), path


def constants(name: str) -> set[str]:
    """Return the texts in the code of the modules that use a name."""
    trees = [
        ast.parse(text)
        for text in (path.read_text(encoding="utf-8") for path in LIBRARY.rglob("*.py"))
        if f"{name}(" in text
    ]
    nodes = (node for tree in trees for node in ast.walk(tree))
    return {str(node.value) for node in nodes if isinstance(node, ast.Constant)}


@pytest.mark.parametrize("group", MAKERS)
def test_every_code_is_recorded_somewhere(group):
    assert set(FILES[DEFAULT_LANGUAGE][group]) - constants(MAKERS[group]) == set()


def test_every_code_that_is_recorded_has_a_template():
    """Of warnings and hazards that a call names; the fields are held to the template when they are recorded."""
    recorded: set[tuple[str, str]] = set()
    for path in LIBRARY.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                at = {"StudyWarning": 1, "Hazard": 0}.get(name)
                if at is not None and isinstance(code := node.args[at], ast.Constant):
                    recorded.add(("warnings" if at else "hazards", str(code.value)))
    assert len(recorded) > 30
    assert {(group, code) for group, code in recorded if code not in FILES[DEFAULT_LANGUAGE][group]} == set()


SHARES = ("share", "links_share")


def value(group: str, name: str) -> Any:
    """Return a value that the field of a template can have."""
    if name in FILES[DEFAULT_LANGUAGE]["words"]:
        return next(iter(FILES[DEFAULT_LANGUAGE]["words"][name]))
    if name in SHARES:
        return 0.125
    if name == "rows" and group == "differ":
        return {"sex, age": 1234, "x": 1}
    return "wave 1, column A.csv" if name in {"file", "other", "column", "variable", "names"} else 1234


TEMPLATES = [(group, code) for group in ("warnings", "hazards") for code in FILES[DEFAULT_LANGUAGE][group]]


@pytest.mark.parametrize(("group", "code"), TEMPLATES)
def test_every_sentence_shows_the_names_whole_and_the_numbers_of_its_language(group, code):
    """Names such as `wave 1, column A.csv` have what ends a field in English sentences."""
    names = set(field_names(FILES[DEFAULT_LANGUAGE][group][code]))
    fields = {name: value(code, name) for name in names}
    english, _, recorded = message(group, code, fields)
    with language.use("de"):
        german = sentence(group, code, recorded)
    assert german != english
    for shown, number, share in ((english, "1,234", "12.5 %"), (german, "1.234", "12,5 %")):
        shown_names = [name for name, inner in fields.items() if inner == "wave 1, column A.csv"]
        assert shown.count("wave 1, column A.csv") >= len(shown_names)
        assert (number in shown) == any(isinstance(inner, int | dict) for inner in fields.values())
        assert (share in shown) == any(name in names for name in SHARES)
        assert "{" not in shown


@given(
    st.text(max_size=30) | st.sampled_from(["puf", "original", "all", "none"]), st.integers(0, 10**9), st.floats(0, 1)
)
def test_fields_are_told_apart_whatever_they_hold(name, n, share):
    """A name with braces, quotes or line ends changes nothing but itself."""
    fields = {"extent": "some", "n": n, "links": n, "share": share}
    assert json.loads(message("warnings", "lost_links", fields).fields) == fields
    english, _, recorded = message("warnings", "no_link", {"file": name})
    assert english == f"{name}: no link joins records of the two files. Nothing can be confirmed. Check the keys."
    with language.use("de"):
        assert sentence("warnings", "no_link", recorded).startswith(f"{name}: Keine Verknüpfung")


def test_the_recorded_sentence_is_english_whatever_language_is_in_use():
    warning = StudyWarning("notable", "no_cluster", {"file": "a.csv", "n": 1200}, 1200, 0.5)
    with language.use("de"):
        assert table([warning]).equals(table([warning]))
        assert table([warning])["warning"][0].startswith("a.csv, `rates.cluster`: 1,200 records have")
    assert table([warning])["fields"][0] == '{"file":"a.csv","n":1200}'


@pytest.mark.parametrize(
    ("code", "fields", "error"),
    [
        ("unheard_of", {}, KeyError),
        ("no_link", {}, KeyError),
        ("no_link", {"file": "a.csv", "n": 1}, ValueError),
        ("lost_links", {"extent": "some", "n": 1, "links": 1, "share": float("nan")}, ValueError),
    ],
)
def test_a_warning_that_its_template_does_not_fit_is_refused(code, fields, error):
    with pytest.raises(error):
        message("warnings", code, fields)


def test_the_causes_of_the_row_account_are_those_that_steps_name():
    """The table of an account has its causes in English, which the report shows."""
    named = {
        str(key.value)
        for path in LIBRARY.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "account.add" and len(call.args) > 2
        for key in call.args[2].keys
    }
    assert {"in": "in", "used": "used", **FILES[DEFAULT_LANGUAGE]["labels"]["cause"]} == CAUSES
    assert named == set(CAUSES) - {"in", "used"}
    assert FILES[DEFAULT_LANGUAGE]["labels"]["scope"] == {"whole_key": WHOLE_KEY}


def test_a_cause_of_an_earlier_release_stays_as_it_is():
    causes = ["in", "exact repeat of a link", "a cause of an earlier release"]
    codes = list(coded(pd.DataFrame({"cause": causes}))["cause"])
    assert codes == ["in", "repeat", causes[2]]
    with language.use("de"):
        assert label("cause", codes[1]) == "genaue Wiederholung einer Verknüpfung"
        assert label("cause", codes[2]) == causes[2]


@pytest.mark.parametrize(
    ("share", "english", "german"),
    [
        (0.0, "0.0 %", "0,0 %"),
        (0.000999, "less than 0.1 %", "weniger als 0,1 %"),
        (0.001, "0.1 %", "0,1 %"),
        (1.0, "100.0 %", "100,0 %"),
    ],
)
def test_a_share_is_never_shown_as_0_where_it_is_not(share, english, german):
    assert percentage(share) == english
    with language.use("de"):
        assert percentage(share) == german


def test_every_metric_has_a_name_and_one_of_a_user_keeps_its_own():
    titles = {name: entry.title for name, entry in REGISTRY.items()}
    assert {name: title for name, title in words("metric").items() if name not in (EXACT, AGREEMENT, ANY)} == titles
    text = message("warnings", "no_pair", {"metric": "Gower"}).sentence
    assert text.startswith("Gower: no pair can be suspected")


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=5, unique=True).map(sorted))
def test_the_ends_of_bins_are_those_that_their_labels_name(cuts):
    texts = [f"{cut:,.6g}" for cut in cuts]
    ends = [bin_ends(label) for label in bin_labels(np.array(cuts))]
    assert ends == list(zip(["", *texts], [*texts, ""], strict=True))
    assert bin_ends("(missing)") == bin_ends("upper") == ("", "")
