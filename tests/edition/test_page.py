"""The page of an edition: what it says, and that it says nothing beyond the published file (METHODS §11.3)."""

import re

import numpy as np
import pytest
from making import edition as making
from reident import language
from reident.edition.texts import interval
from reident.report import edition as page
from reident.sections.edition import Edition


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    return making.kinds(tmp_path_factory.mktemp("kinds"))


KINDS = ("records", "units", "strata", "few", "one file", "file alone", "synthetic", "random")


def said(edition, code="en"):
    with language.use(code):
        return page.text(edition)


def plain(text):
    text = re.sub(r"[\u00a0\\*{}\[\]|#:]|\.(?=[a-z])", " ", text)
    return " ".join(text.split())


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_says_what_was_tested_what_it_cannot_show_and_the_rules(kinds, kind):
    text = plain(said(kinds[kind]))
    for sentence in (
        "What was tested",
        "What this test cannot show",
        "must pass the agency’s own rules",
        "The numbers follow",
    ):
        assert sentence in text
    assert kinds[kind].policy.title in text.replace("*", "")
    # The theorem, where something is told of a secret.
    free, counted = kinds[kind].free, kinds[kind].counted
    assert (f"For any {free} {counted}, and whatever is true of them" in text) == (kind != "file alone")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("code", ["en", "de"])
def test_every_number_of_the_page_is_of_the_published_file(kinds, kind, code):
    edition = kinds[kind]
    shown = said(edition, code)
    policy = edition.policy
    for text in (policy.scope, policy.source, policy.title, edition.software):
        shown = shown.replace(page.whole(text), " ").replace(page.escape(text), " ")
    shown = re.sub(r"total=\S+ rows=\S+|§11|11.3|:::+|widths=\S+", " ", shown)
    found = {int(number.replace(",", "").replace(".", "")) for number in re.findall(r"\d[\d,.]*\d|\d", shown)}
    counts = [count for part in edition.parts for count in part.counts]
    allowed = {edition.free, len(edition.metrics), policy.version, 2, 3, 5, 100, 20 * page.hidden(policy)}
    for count in counts:
        share = page.hundred(edition, count)
        allowed |= {share.low or 0, 100 if share.high is None else share.high}
        texts = (count.suspected, count.first, count.last)
        allowed |= {int(number) for text in texts for number in re.findall(r"\d+", text)}
        allowed |= {end for text in texts if text and not text.isdigit() for end in interval(policy, text)}
    texts = [text for part in edition.parts for text in (part.records, part.others)]
    texts += list(edition.file.model_dump().values()) if edition.file else []
    allowed |= {int(number) for text in texts for number in re.findall(r"\d+", text)}
    allowed |= {round(limit.bound * 100) for part in edition.parts for limit in part.limits}
    allowed |= {round(limit.bound) for part in edition.parts for limit in part.limits}
    assert found <= allowed


def test_what_is_withheld_is_never_taken_for_none(kinds):
    text = said(kinds["few"])
    assert "How many people were recognised is not told." in text
    assert "This does not mean that nobody was recognised." in text
    assert "“Not told” does not mean none" in text
    assert ".squares" not in text
    assert not re.search(
        r"\b(none|nobody|no one|zero|0)\b (was|were) (found|recognised)", plain(text).replace("that nobody was", "")
    )
    german = said(kinds["few"], "de")
    assert "Das heißt nicht, dass niemand wiedererkannt wurde." in german
    assert "„Keine Angabe“ heißt nicht null" in german
    # The rules of an agency are in its own language.
    assert "Dort heißt es: „Counts below 15, zero included, are published as" in german.replace("\\", "")


def test_an_earlier_edition_that_leaves_no_room_is_said():
    first = making.made(making.attacked(np.random.default_rng(2), n=900))
    text = said(making.made(making.attacked(np.random.default_rng(3), n=900), after=(first,)))
    assert "Nothing can be told beside what is public about the same people already." in text
    assert "this page adds nothing to what is public already" in text
    assert "whatever is true of" not in text
    assert "This does not mean that nobody was recognised." in text


def test_units_are_called_units(kinds):
    text = plain(said(kinds["units"]))
    assert "If an intruder names candidates for 100 released units" in text
    assert "A released unit is suspected" in text


COUNTS = [
    ({"first": "", "last": ""}, "not told", "not told"),
    ({"first": "200", "last": "200", "at_least": 176, "at_most": 225}, "200", "about 20"),
    ({"first": "150", "last": "200", "at_least": 126, "at_most": 225}, "150 to 200", "about 15 to 20"),
    ({"first": "<15", "last": "200", "at_most": 225}, "up to 200", "at most about 20"),
    ({"first": "150", "last": "1000", "at_least": 126}, "150 or more", "at least about 15"),
    ({"first": "<15", "last": "<15", "at_most": 14}, r"\<15", "at most about 2"),
    ({"first": "<15", "last": "1000"}, "not told", "not told"),
]


@pytest.mark.parametrize(("told", "count", "share"), COUNTS)
def test_a_count_is_said_as_it_is_told(kinds, told, count, share):
    edition = kinds["records"]
    first = edition.parts[0].counts[0].model_dump() | {"suspected": "1000", "at_least": None, "at_most": None} | told
    one = type(edition.parts[0].counts[0]).model_validate(first)
    with language.use("en"):
        assert (page.found(edition, one), page.hundred(edition, one).words) == (count, share)


def test_labels_of_strata_and_variables_change_no_page():
    strange = "<b>|*_$x$ [a](b) ::: {.x}"
    tables = making.attacked(np.random.default_rng(1))
    tables["manifest"]["region"] = [strange, strange + "2"]
    edition = making.made(tables, by_stratum=True, variables=(strange,), strata={"region": {}})
    made = page.render(edition)
    assert "&lt;b&gt;|*_$x$ [a](b) ::: {.x}2" in made.html
    assert "<b>|" not in made.html


@pytest.mark.parametrize("kind", ["records", "one file", pytest.param("synthetic", marks=pytest.mark.slow)])
def test_the_pages_are_a_function_of_the_published_file(kinds, kind):
    copy = Edition.model_validate_json(kinds[kind].model_dump_json())
    first, second = page.render(kinds[kind]), page.render(copy)
    assert first == second
    assert first.pdf.startswith(b"%PDF")
    assert "<script" not in first.html
