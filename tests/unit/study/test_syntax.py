"""Mistakes in the syntax of a study file: the line is that of the mistake, not the one on which the parser noticed."""

import pytest
from pydantic import BaseModel, ValidationError
from reident.errors import InputError
from reident.sections.decision import Decision
from reident.study import reading

STUDY = """\
id: s
title: A survey
files:
  puf: {path: puf.csv, id: pufid}
strata:
  - {name: region, eif: area}
variables:
  - {name: age, missing: ["-9"]}
  - {name: sex, recode: {M: "1"}}
end: here
"""

MISTAKES = [
    ("a quotation mark", '["-9"]', '["-9]', 8, "a quotation mark is not closed"),
    ("the last quotation mark", "end: here", 'end: "here', 10, "a quotation mark is not closed"),
    ("a brace", "eif: area}", "eif: area", 6, "`{` is not closed by `}`"),
    ("a bracket", '["-9"]', '["-9"', 8, "`[` is not closed by `]`"),
    ("a tab", "  puf: {", "\tpuf: {", 4, "a tab in the indentation"),
    ("a colon in a value", "A survey", "A survey: its file", 2, "a value has a colon and a blank"),
    ("no colon", "strata:", "strata", 5, "a colon is missing after a key"),
    ("no blank after a colon", "id: s\n", "id:s\n", 1, "a blank is missing after `id:`"),
    ("no blank after a dash", "  - {name: region", "  -{name: region", 6, "a blank is missing after `-`"),
    ("a value with @", "path: puf.csv", "path: @puf.csv", 4, "a value must not begin with `@`"),
    ("a value with *", "path: puf.csv", "path: *.csv", 4, "a value must not begin with `*`"),
    ("a backslash", "path: puf.csv", 'path: "C:\\puf.csv"', 4, "a backslash in double quotation marks"),
    (
        "an indentation of its own",
        "strata:",
        " strata:",
        5,
        "the indentation differs from that of the keys above",
    ),
]


@pytest.mark.parametrize(
    ("sentence", "old", "new", "line", "problem"), MISTAKES, ids=[case[0] for case in MISTAKES]
)
def test_the_line_is_that_of_the_mistake(tmp_path, sentence, old, new, line, problem):
    assert STUDY.count(old) == 1
    file = tmp_path / "study.yaml"
    file.write_text(STUDY.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        reading.read(file)
    said = str(caught.value)
    assert said.startswith(f"{file}, line {line}: the file is not valid YAML ({problem}). "), said
    assert said.endswith(".")


def test_a_text_over_several_lines_is_not_taken_for_an_open_quotation_mark(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text('title: "two\n  lines"\nkey: [1\nend: x\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"line 3: .*`\[` is not closed"):
        reading.read(file)


class Whole(BaseModel):
    decision: Decision


DECIMALS = [
    ("in braces", "decision: {conditional_rate_at_most: 0,3}", 1, "Write 0.3, with a point."),
    ("with two digits", "decision: {conditional_rate_at_most: 0,25}", 1, "Write 0.25, with a point."),
    (
        "below the key",
        "decision:\n  conditional_rate_at_most: 0,3",
        2,
        "Write decimals with a point, such as 0.5.",
    ),
]


@pytest.mark.parametrize(("sentence", "text", "line", "remedy"), DECIMALS, ids=[case[0] for case in DECIMALS])
def test_a_decimal_comma_is_named(tmp_path, sentence, text, line, remedy):
    file = tmp_path / "study.yaml"
    file.write_text(text, encoding="utf-8")
    data, node = reading.read(file)
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate(data)
    first = str(reading.explain(caught.value, file, data, node, []))
    assert first == f"{file}, line {line}: `decision.conditional_rate_at_most` must be a number. {remedy}"


def test_a_key_of_digits_with_a_value_is_an_unknown_key(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text("{conditional_rate_at_most: 0, 3: x}", encoding="utf-8")
    with pytest.raises(InputError, match="`3` is not a known key"):
        reading.load(file, Decision, list)
