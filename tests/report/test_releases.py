"""What the page on two releases concludes, with the cases in which it must and must not (METHODS §10)."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest
from making import releases as making
from making.filerisk import drawn, write_filerisk
from making.matching import write_matching
from making.report import Shape
from making.warnings import Sentence
from pypdf import PdfReader
from reident.archive.comparison import compare
from reident.report import releases
from reident.report.blocks import release_changes
from reident.report.blocks import releases as tables

CONCLUSIONS = {
    "GREW": r"\*\*The risk grew\*\*",
    "FELL": r"\*\*The risk fell\*\*",
    "MIXED": r"\*\*Some measures grew and others fell\*\*",
    "UNCLEAR": r"\*\*No clear change\*\*",
    "SAME": r"\*\*The same risk\*\*",
    "NO CONCLUSION": r"\*\*No conclusion\*\*",
    "NO DIFFERENCE": r"\*\*No difference\*\*",
    "higher": r"One of \d+ rates that were compared is higher|rates that were compared are higher than before",
    "lower": r"One of \d+ rates that were compared is lower|rates that were compared are lower than before",
    "by chance": r"not by more than chance can explain",
    "every rate the same": r"Every rate that was compared is what it was before",
    "same in everything": r"The two releases are the same in everything that was recorded",
    "no attack": r"has no attack, so there are no rates to compare",
    "no metric": r"no metric in common",
    "no link": r"has no true link inside a stratum|Neither release has a true link",
    "invalid": r"may invalidate the results of",
    "undefined": r"No rate that shows the risk is defined in both",
    "region grew": r"The largest growth is in region ",
    "region unclear": r"No group has a clearly higher rate\. The largest difference is in region ",
    "no region": r"No rate of a group is higher than before",
    "chance": r"rates of groups were compared; if nothing had changed",
    "only whole": r"so only the whole file is compared",
    "verdict same": r"The same as before: ",
    "verdict changed": r"\*\*Verdict\.\*\* Before: .+\. After: ",
    "limits changed": r"The limits themselves changed",
    "nothing changed": r"The three files, the settings of the attack and the code that ran are the same",
    "one cause": r"Of what the rates depend on, only ",
    "several causes": r"The difference cannot be attributed to one of them",
    "only before": r"Only before: ",
    "only after": r"Only after: ",
    "variants": r"Only the studies as declared are compared",
    "verification": r"\*\*Verification\.\*\*",
}
USUAL = {"chance", "verdict same", "one cause"}
"""What is said of two releases with another released file and the same limits."""

ONE = Shape(metrics=("taxicab",), limit=None)
TWO = Shape(metrics=("unicity", "taxicab"), limit=None)
OTHER = {"files": {"puf": "b"}}
FEW = {f"s000{at}": {"taxicab": (700, 100, 10)} for at in range(1, 9)}
FATAL = Sentence("invalidates", "Rows do not correspond.")


def of(confirmed, suspected=1000, shape=ONE, **more):
    """A release whose metrics find these records; its groups find what those of any other do."""
    counts = dict.fromkeys(shape.metrics, (6000, suspected, confirmed))
    strata = more.pop("strata", {stratum: dict.fromkeys(shape.metrics, (700, 100, 10)) for stratum in FEW})
    return {"shape": shape, "counts": counts, "strata": strata, **more}


def group(confirmed):
    return FEW | {"s0003": {"taxicab": (700, 100, confirmed)}}


CASES = [
    ("nothing differs", of(100), of(100), {"NO DIFFERENCE", "same in everything"}),
    ("grew", of(100), of(200, **OTHER), {"GREW", "higher", "no region"} | USUAL),
    ("fell", of(200), of(100, **OTHER), {"FELL", "lower", "no region"} | USUAL),
    ("no clear change", of(100), of(101, **OTHER), {"UNCLEAR", "by chance", "no region"} | USUAL),
    (
        "the conditional rate grew and the confirmed rate fell",
        of(200, 1000), of(120, 400, **OTHER),
        {"MIXED", "higher", "lower", "no region"} | USUAL,
    ),
    (
        "another file with the same rates",
        of(100), of(100, **OTHER), {"SAME", "every rate the same", "no region"} | USUAL,
    ),
    (
        "the same file with another option",
        of(100), of(101, study={"rank_filter": {"max_pairs": 6, "keep": 20}}),
        {"GREW", "higher", "no region", "verdict same", "one cause"},
    ),
    (
        "the same file in a study with another title",
        of(100), of(100, study={"title": "Other"}),
        {"SAME", "every rate the same", "no region", "verdict same", "nothing changed"},
    ),
    (
        "file, intruder and option",
        of(100), of(200, files={"puf": "b", "eif": "b"}, study={"rank_filter": {"max_pairs": 6, "keep": 20}}),
        {"GREW", "higher", "no region", "several causes"} | USUAL - {"one cause"},
    ),
    (
        "a file with its links is one cause",
        of(100), of(200, files={"puf": "b", "iuf": "b"}), {"GREW", "higher", "no region"} | USUAL,
    ),
    ("a group grew", of(100), of(101, strata=group(40), **OTHER), {"UNCLEAR", "by chance", "region grew"} | USUAL),
    (
        "a group is higher, but not clearly",
        of(100), of(101, strata=group(11), **OTHER), {"UNCLEAR", "by chance", "region unclear"} | USUAL,
    ),
    ("a group fell", of(100), of(101, strata=group(1), **OTHER), {"UNCLEAR", "by chance", "no region"} | USUAL),
    ("no strata", of(100, shape=Shape(metrics=("taxicab",), limit=None, strata=None), strata={}),
     of(200, shape=Shape(metrics=("taxicab",), limit=None, strata=None), strata={}, **OTHER),
     {"GREW", "higher", "only whole", "verdict same", "one cause"}),
    ("strata in one only", of(100),
     of(200, shape=Shape(metrics=("taxicab",), limit=None, strata=None), strata={}, **OTHER),
     {"GREW", "higher", "only whole", "verdict same", "several causes"}),
    ("other strata", of(100, shape=Shape(metrics=("taxicab",), limit=None, strata=("a", "b", "c", "d")), strata={}),
     of(200, shape=Shape(metrics=("taxicab",), limit=None, strata=("e", "f", "g", "h")), strata={}, **OTHER),
     {"GREW", "higher", "only whole", "verdict same", "one cause"}),
    (
        "a metric in one only",
        of(100), of(100, shape=TWO, **OTHER),
        {"SAME", "every rate the same", "no region", "only after", "several causes"} | USUAL - {"one cause"},
    ),
    (
        "a metric that is gone",
        of(100, shape=TWO), of(100, **OTHER),
        {"SAME", "every rate the same", "no region", "only before", "several causes"} | USUAL - {"one cause"},
    ),
    (
        "no common metric",
        of(100), of(100, shape=Shape(metrics=("unicity",), limit=None), **OTHER),
        {"NO CONCLUSION", "no metric", "only before", "only after", "verdict same"},
    ),
    (
        "no link after",
        of(100), of(0, shape=Shape(metrics=("taxicab",), limit=None, linked=0.0, nothing_confirmed=("taxicab",))),
        {"NO CONCLUSION", "no link", "verdict same", "nothing changed"},
    ),
    (
        "no link before",
        of(0, shape=Shape(metrics=("taxicab",), limit=None, linked=0.0, nothing_confirmed=("taxicab",))), of(100),
        {"NO CONCLUSION", "no link", "verdict same", "nothing changed"},
    ),
    (
        "a warning that may invalidate",
        of(100), of(200, shape=Shape(metrics=("taxicab",), limit=None, warnings=(FATAL,)), **OTHER),
        {"NO CONCLUSION", "invalid", "verdict same", "one cause"},
    ),
    (
        "nothing suspected in either",
        of(0, 0), of(0, 0, **OTHER), {"SAME", "every rate the same", "no region"} | USUAL,
    ),
    ("the verdict changed", of(100, shape=Shape(metrics=("taxicab",), limit=0.9)),
     of(200, shape=Shape(metrics=("taxicab",), limit=0.01), **OTHER),
     {"GREW", "higher", "no region", "chance", "one cause", "verdict changed", "limits changed"}),
    (
        "variants in one only",
        of(100), of(200, study={"variants": [{"set": "binning.bins", "values": [5, 6]}]}, **OTHER),
        {"GREW", "higher", "no region", "variants"} | USUAL,
    ),
    (
        "a bag that nobody signed",
        of(100, notes=("Nobody has signed it.",)), of(200, **OTHER),
        {"GREW", "higher", "no region", "verification"} | USUAL,
    ),
]  # fmt: skip


@pytest.fixture
def pair(tmp_path):
    """Return a function that compares two releases."""

    def make(before, after):
        return compare(
            making.release(tmp_path / "before", name="before", **before),
            making.release(tmp_path / "after", name="after", **after),
        )

    return make


def front(comparison):
    texts = (tables.conclusion(comparison), tables.findings(comparison), tables.front_rates(comparison))
    return "\n\n".join(text for text in texts if text)


def printed(text):
    plain = " ".join(text.replace("\u00a0", " ").split())
    return {name for name, pattern in CONCLUSIONS.items() if re.search(pattern, plain)}


@pytest.mark.parametrize(("case", "before", "after", "expected"), CASES, ids=[case[0] for case in CASES])
def test_a_conclusion_is_printed_where_the_releases_allow_it_and_nowhere_else(pair, case, before, after, expected):
    assert printed(front(pair(before, after))) == expected, case


def test_every_conclusion_is_printed_in_a_case_and_not_in_another():
    elsewhere = {"no attack", "undefined"}  # cases of their own below
    for name in set(CONCLUSIONS) - elsewhere:
        found = [name in expected for *_, expected in CASES]
        assert any(found), name
        assert not all(found), name


def test_the_first_sentence_says_by_how_much(pair):
    comparison = pair(of(100), of(200, **OTHER))
    line = next(line for line in comparison.whole if line.rate == "confirmed_rate")
    text = tables.conclusion(comparison).replace("\u00a0", " ")
    assert "2 of 2 rates that were compared are higher than before" in text
    assert f"confirmed rate by Taxicab, 1.7 % → 3.3 % (+1.7 points, interval {tables.points(line.low)} to" in text
    assert "conditional rate by Taxicab, 10.0 % → 20.0 % (+10.0 points" in text


def test_rates_that_are_defined_in_one_release_only_allow_no_conclusion(pair):
    comparison = pair(of(100), of(200, **OTHER))
    lines = [line._replace(direction="open", change=None) for line in comparison.rates]
    shown = front(dataclasses.replace(comparison, rates=lines))
    assert "undefined" in printed(shown)
    assert "NO CONCLUSION" in printed(shown)


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (0.0123, "+1.2"), (-0.0123, "−1.2"), (0.0004, "+0.04"), (-0.00002, "−0.002"), (1e-9, "<0.001"), (0.0, "0.0"),
        (None, "–"), (1.0, "+100.0"),
    ],
)  # fmt: skip
def test_a_difference_is_never_shown_as_0_unless_it_is(change, shown):
    assert tables.points(change) == shown


# Studies without an attack ----------------------------------------------------------------------------


def risk(folder, people):
    return making.of_folder(write_filerisk(folder, file=people, n=len(people)))


@pytest.mark.parametrize(
    ("direction", "words"), [(1, "**The risk of the file is lower**"), (-1, "**The risk of the file is higher**")]
)
def test_files_without_an_attack_are_compared_by_their_own_risk(tmp_path, direction, words):
    people = drawn(300)
    coarse = people.assign(age="40", job="1")
    first, second = (people, coarse)[::direction]
    comparison = compare(risk(tmp_path / "before", first), risk(tmp_path / "after", second))
    assert words in tables.conclusion(comparison)
    assert "These measures have no interval." in tables.conclusion(comparison)
    assert "Sample uniques" in release_changes.measures(comparison)


def test_an_attack_in_one_release_only_allows_no_conclusion(tmp_path):
    before = making.release(tmp_path / "before", **of(100))
    after = making.of_folder(write_matching(tmp_path / "after"))
    comparison = compare(before, after)
    assert {"no attack", "NO CONCLUSION"} <= printed(front(comparison))
    assert "The release after has no attack" in tables.conclusion(comparison)
    assert comparison.measures == {}


# The page -----------------------------------------------------------------------------------------


def test_the_page_is_the_same_in_every_run_and_has_every_section(pair):
    comparison = pair(
        of(100, shape=TWO),
        of(200, shape=TWO, **OTHER, entries={"rate": {"library_digest": "f" * 64, "versions": {"numpy": "9"}}}),
    )  # fmt: skip
    first, second = releases.page(comparison), releases.page(comparison)
    assert first == second
    assert set(first) == {"html", "pdf"}
    for heading in ("Rates before and after", "Files", "Options", "Code and packages"):
        assert heading in first["html"]
    assert "The code of one step changed" in first["html"]
    (folder := comparison.after.tables / "page.pdf").write_bytes(first["pdf"])
    pages = PdfReader(folder).pages
    assert "The risk grew" in pages[0].extract_text()
    assert "before → after" in pages[0].extract_text()


HOSTILE = "<script>alert(1)</script> | `x` $y$ [a](b) \\ **c** {.above}"


def test_labels_cannot_change_the_page(pair):
    shape = Shape(metrics=("taxicab",), strata=(HOSTILE, "b", "c"), title=HOSTILE, agency=HOSTILE)
    strata = {"s0001": {"taxicab": (2000, 400, 10)}}
    comparison = pair(
        of(100, shape=shape, strata=strata),
        of(
            200, shape=shape, strata={"s0001": {"taxicab": (2000, 400, 90)}},
            study={"metrics": {"taxicab": {"alpha": "1/3"}}}, **OTHER,
        ),
    )  # fmt: skip
    shown = releases.page(comparison)
    assert "<script" not in shown["html"]
    assert "&lt;script&gt;" in shown["html"]
    assert 'class="above"' in shown["html"]  # those of the page itself
    json.dumps(comparison.plain())


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (True, "true"), (5, "5"), (0.25, "0.25"), (["a", "b"], "\\[a\\, b\\]"), ({}, "\\{\\}"), ("", "“”")],
)
def test_a_value_of_the_study_is_shown_in_one_way(value, shown):
    assert release_changes.cell(value) == shown
