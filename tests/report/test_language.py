"""No word of a report in another language is left in English: sentences, tables, figures, captions."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from making import edition as editions
from making import releases as making
from making.filerisk import POPULATION, write_filerisk
from making.matching import MATCHING, SUBSETS, write_matching
from making.report import Shape, cells, write_results
from making.variants import ALPHA, add_variants
from reident import language
from reident.archive.comparison import compare
from reident.intake.severity import StudyWarning
from reident.page import style
from reident.page.style import Figure
from reident.page.wording import whole
from reident.report import edition, releases
from reident.report.results import Results

ENGLISH = re.compile(
    r"\b(the|of|is|are|and|with|by|not|for|each|that|this|these|from|to|if|its|their|has|have|no|one|all|only|other"
    r"|records?|files?|suspected|confirmed|ambiguous|missing|metrics?|strata|stratum|limits?|shares?|rounded"
    r"|unique|uniques|match(es)?|true|links?|average|lowest|highest|above|below|between|table|figure|verdict"
    r"|numeric|categorical|known|population|sample|synthetic|confidential|candidates?|intruder|cut points?)\b",
    re.IGNORECASE,
)
QUOTED = re.compile(
    r"`[^`]*`|[\w\\/-]+\.csv|\w+(?:\\?_\w+)+|\$[^$]*\$|\{[^{}]*\}|\]\([^)]*\)|\[[\w-]+\]\("
    r"|#[\w-]+|\((external intruder file|internal use file|user guide)\)"
    r"|Public-Use-File\w*|special uniques detection algorithm|data intrusion simulation|perturbation-aware"
)
"""Code, formulas, marks, and the English names that a text explains."""

SVG_TEXT = re.compile(r"<text[^>]*>(.*?)</text>", re.DOTALL)

EXHIBITS = (
    "agency date linking_variables numeric_variables strata_variables records intruder_file smallest_stratum agreement "
    "true_links confirmed verdict conditional_rate reach clusters protection warnings"
)
ASKED = [
    {"id": f"q{at}", "text": "Frage?", "why": "Grund.", "exhibits": [name]} for at, name in enumerate(EXHIBITS.split())
]
CHECKLIST = {"questions": {"title": "Fragen", "topics": [{"title": "Thema", "questions": ASKED}]}, "answers": {}}
WARNINGS = (
    StudyWarning("notable", "single_value", {"kind": "linking", "variable": "Alter"}),
    StudyWarning("notable", "no_link", {"file": "puf.csv"}),
)


@pytest.fixture(autouse=True)
def _letters_as_text(monkeypatch):
    monkeypatch.setitem(style._STYLE, "svg.fonttype", "none")


def german(folder: Path) -> Results:
    """Return the results in a folder of a study in German."""
    path = folder / "study.json"
    study = json.loads(path.read_text(encoding="utf-8")) | {"language": "de"}
    path.write_text(json.dumps(study), encoding="utf-8")
    return Results(folder)


def folder_of(made: object) -> Path:
    return made.folder if isinstance(made, Results) else made


def attack(folder: Path) -> Path:
    shape = Shape(
        strata=("Nord", "Süd", "West"),
        warnings=WARNINGS,
        checklist=CHECKLIST,
        original=True,
        cluster=("haus",),
        metrics=("unicity", "taxicab", "euclidean", "adhoc", "winkler", "fellegi_sunter"),
        title="Erhebung",
        agency="Amt",
    )
    labels = [{"alpha": value} for value in ALPHA["values"]]
    return add_variants(write_results(folder, shape), [ALPHA], labels, reference=1)


STUDIES = {
    "attack": attack,
    "nothing found": lambda folder: write_results(
        folder,
        Shape(
            strata=None, nothing_suspected=("taxicab",), nothing_confirmed=("unicity", "euclidean", "adhoc"), linked=0
        ),
    ),
    "population": lambda folder: write_filerisk(folder, POPULATION),
    "matching": lambda folder: write_matching(folder, MATCHING),
    "all sets": lambda folder: write_matching(folder, SUBSETS),
}


def english(text: str) -> list[str]:
    """Return the English words of a text, each with what is around it."""
    plain = QUOTED.sub(" ", html.unescape(text))
    return [plain[max(0, word.start() - 40) : word.end() + 30] for word in ENGLISH.finditer(plain)]


def texts(shown: object) -> list[str]:
    """Return what a piece of a report says; a figure says its caption, its alternative text and its letters."""
    if isinstance(shown, Figure):
        return [shown.alt, shown.caption, *SVG_TEXT.findall(shown.svg), *SVG_TEXT.findall(shown.narrow)]
    return [str(shown)]


SHORT = "nothing found"
"""The study that `make test` writes in German; the others have more sections, and take longer."""


@pytest.mark.parametrize(
    "name", [name if name == SHORT else pytest.param(name, marks=pytest.mark.slow) for name in STUDIES]
)
def test_a_german_report_has_no_english_word(tmp_path, name):
    study = german(folder_of(STUDIES[name](tmp_path / "results")))
    shown = [text for pieces in cells(study).values() for piece in pieces for text in texts(piece)]
    assert len(" ".join(shown)) > 5000
    left = {word for text in shown for word in english(text)}
    assert left == set()


def test_a_german_edition_has_no_english_word(tmp_path):
    for kind in editions.kinds(tmp_path).values():
        with language.use("de"):
            said = edition.text(kind)
        own = (kind.policy.title, kind.policy.source, kind.policy.scope, *kind.variables, *kind.strata)
        names = re.compile("|".join(re.escape(form) for name in own for form in (name, whole(name))))
        assert set(english(names.sub("", said))) == set()
        assert len(said) > 1000


def test_a_german_comparison_has_no_english_word(tmp_path):
    shape = Shape(metrics=("taxicab", "adhoc"), strata=("Nord", "Süd"), title="Erhebung", agency="Amt", original=True)
    before, after = (
        making.release(tmp_path / side, shape=shape, name="Erhebung", study={"language": "de"}, counts=counts)
        for side, counts in (("before", {"adhoc": (2000, 400, 10)}), ("after", {"adhoc": (2000, 400, 90)}))
    )
    comparison = compare(before, after)
    shown = releases.page(comparison)["html"]
    assert '<html lang="de">' in shown
    body = re.sub(r"<style>.*?</style>", "", shown, flags=re.DOTALL)
    left = set(english(re.sub(r"<[^>]*>", " ", re.sub(r"<code>.*?</code>", " ", body, flags=re.DOTALL))))
    assert left == set()
