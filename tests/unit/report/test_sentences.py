"""The report's sentences: fields by name, number by number, nothing missing and nothing too many."""

import pytest
from reident.report import sentences
from reident.report.sentences import Sentences


@pytest.fixture
def section(tmp_path, monkeypatch):
    (tmp_path / "section.yaml").write_text(
        "plain: No field.\n"
        "nested:\n  share: '{share} of {records} records.'\n"
        "found: {none: Nothing., one: One record., other: '{n} records in {where}.'}\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(sentences, "FOLDER", tmp_path)
    sentences._entries.cache_clear()
    yield Sentences("section")
    sentences._entries.cache_clear()


def test_fields_are_filled_in_and_whole_numbers_get_separators(section):
    assert section("plain") == "No field."
    assert section("nested.share", share="5 %", records=12345) == "5 % of 12,345 records."


def test_an_entry_is_chosen_by_its_number(section):
    assert section("found", n=0) == "Nothing."
    assert section("found", n=1) == "One record."
    assert section("found", n=1200, where="s0001") == "1,200 records in s0001."


@pytest.mark.parametrize(
    ("key", "fields", "error"),
    [
        ("other", {}, KeyError),
        ("nested.share", {"share": "5 %"}, KeyError),
        ("plain", {"n": 1}, ValueError),
        ("nested.share", {"share": 0.05, "records": 1}, TypeError),
        ("nested.share", {"share": True, "records": 1}, TypeError),
    ],
)
def test_what_does_not_fit_is_refused(section, key, fields, error):
    with pytest.raises(error):
        section(key, **fields)
