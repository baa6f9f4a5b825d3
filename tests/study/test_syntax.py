"""Mistakes in the syntax of a study file: the line is that of the mistake, not the one on which the parser noticed."""

import pytest
from making.examples import cases
from pydantic import BaseModel
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
    ('["-9"]', '["-9]', 8, "a quotation mark is not closed"),
    ("end: here", 'end: "here', 10, "a quotation mark is not closed"),
    ("eif: area}", "eif: area", 6, "`{` is not closed by `}`"),
    ('["-9"]', '["-9"', 8, "`[` is not closed by `]`"),
    ("  puf: {", "\tpuf: {", 4, "a tab in the indentation"),
    ("A survey", "A survey: its file", 2, "a value has a colon and a blank"),
    ("strata:", "strata", 5, "a colon is missing after a key"),
    ("id: s\n", "id:s\n", 1, "a blank is missing after `id:`"),
    ("  - {name: region", "  -{name: region", 6, "a blank is missing after `-`"),
    ("path: puf.csv", "path: @puf.csv", 4, "a value must not begin with `@`"),
    ("path: puf.csv", "path: *.csv", 4, "a value must not begin with `*`"),
    ("path: puf.csv", 'path: "C:\\puf.csv"', 4, "a backslash in double quotation marks"),
    ("strata:", " strata:", 5, "the indentation differs from that of the keys above"),
]


@pytest.mark.parametrize(("old", "new", "line", "problem"), MISTAKES)
def test_the_line_is_that_of_the_mistake(tmp_path, old, new, line, problem):
    assert STUDY.count(old) == 1
    file = tmp_path / "study.yaml"
    file.write_text(STUDY.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        reading.read(file)
    said = str(caught.value)
    assert said.startswith(f"{file}, line {line}: the file is not valid YAML ({problem}). "), said
    assert said.endswith(".")


class Whole(BaseModel):
    decision: Decision


DECIMALS = [
    ("in braces", "decision: {conditional_rate_at_most: 0,3}", 1, "Write 0.3, with a point."),
    ("with two digits", "decision: {conditional_rate_at_most: 0,25}", 1, "Write 0.25, with a point."),
    ("below the key", "decision:\n  conditional_rate_at_most: 0,3", 2, "Write decimals with a point, such as 0.5."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "remedy"), cases(DECIMALS))
def test_a_decimal_comma_is_named(tmp_path, text, line, remedy):
    file = tmp_path / "study.yaml"
    file.write_text(text, encoding="utf-8")
    data, node = reading.read(file)
    with pytest.raises(InputError) as caught:
        reading.validated(file, Whole, data, node)
    assert str(caught.value) == f"{file}, line {line}: `decision.conditional_rate_at_most` must be a number. {remedy}"
