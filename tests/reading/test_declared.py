"""What files of statistical programs declare missing themselves (METHODS §1)."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import cases, examples
from making.studies import study, table
from reident import reading
from reident.intake import prepare as intake
from reident.intake import step as intake_step
from reident.reading.declared import NOTHING, Declared, says_missing
from reident.sections.files import SourceFile

SAYS = [
    (label, label, True)
    for label in (
        "Refused",
        "98 Don\u2019t know",
        "Refused / not stated",
        "Keine Angabe",
        "ne sait pas",
        "NS/NC",
        "(missing)",
    )
] + [(label, label, False) for label in ("Male", "9 or more", "", "Not in labour force", "Refused visa", "No")]


@pytest.mark.parametrize(("label", "says"), cases(SAYS))
def test_a_label_says_that_a_value_is_not_known(label, says):
    assert says_missing(label) == says


@examples(200)
@given(
    ranges=st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 5)), max_size=3),
    codes=st.lists(st.integers(-9, 9), max_size=3),
    values=st.lists(st.integers(-10, 15), min_size=1, max_size=20),
)
def test_ranges_and_labels_declare_what_a_set_of_numbers_has(ranges, codes, values):
    every = {low + step for low, width in ranges for step in range(width + 1)} | set(codes)
    labels = {float(code): "Refused" for code in codes} | {99.0: "Male"}
    ends = [{"lo": float(low), "hi": float(low + width)} for low, width in ranges]
    declared = Declared.read(Declared.compose(ends, labels, special=False).field("v"))
    for value in values:
        assert declared(str(value)) == declared(float(value)) == (value in every)
    assert declared.numbers(np.array(values, float)).tolist() == [value in every for value in values]


def test_other_texts_declare_nothing():
    assert Declared.read(pa.field("v", pa.string())) == NOTHING
    assert not NOTHING("98")
    assert Declared.compose((), {}, special=True)(".A")
    assert not Declared.compose((), {}, special=False)(".A")


def test_padding_keeps_what_a_file_declares(tmp_path):
    path = tmp_path / "a.sav"
    pyreadstat.write_sav(pd.DataFrame({"a": [1.0, 9.0]}), path, missing_ranges={"a": [9]})
    found = reading.read(path, SourceFile(path="a.sav", pad={"a": 2}), ["a"])
    assert found["a"].to_pylist() == ["01", "09"]
    assert Declared.read(found.schema.field("a"))("09")


@pytest.mark.parametrize("missing", [(), ("98", "-2", "8")])
def test_a_run_warns_of_what_the_study_does_not_declare(missing, tmp_path):
    n = 100
    frame = pd.DataFrame({"p": [str(at) for at in range(n)], "age": [30.0 + at % 40 for at in range(n)]})
    frame["sex"] = [1.0 + at % 2 for at in range(n)]
    frame.loc[:4, "age"], frame.loc[5:6, "age"], frame.loc[:9, "sex"] = 98.0, -2.0, 8.0
    path = tmp_path / "puf.sav"
    pyreadstat.write_sav(
        frame, path, variable_value_labels={"sex": {8: "Refused"}}, missing_ranges={"age": [{"lo": -9, "hi": -1}, 98]}
    )
    source = {"puf": {"path": "puf.sav", "id": "p"}, "eif": {"path": "eif.csv", "id": "e"}}
    model = study(
        files={**source, "iuf": {"path": "iuf.csv", "puf_id": "p", "eif_id": "e"}},
        linking_variables=[
            {"name": "age", "type": "numeric", "missing": {"puf": list(missing)}},
            {"name": "sex", "type": "categorical", "missing": {"puf": list(missing)}},
        ],
    )
    settings = intake_step.preparing(model)
    puf = reading.read(path, settings.file("puf"), settings.columns_of("puf"), ["p"])
    eif = pa.table(
        {"e": frame["p"], "age": [str(30 + at % 40) for at in range(n)], "sex": [str(1 + at % 2) for at in range(n)]}
    )
    warnings = intake.prepare(settings, puf, eif, table("p e", *(f"{at} {at}" for at in range(n)))).warnings
    found = warnings[warnings["code"] == "undeclared_by_study"]
    expected = [("understates", 7, "-2, 98"), ("understates", 10, "8")]
    assert sorted(found[["severity", "affected", "codes"]].itertuples(index=False, name=None)) == (
        [] if missing else expected
    )
    assert not (warnings["code"] == "undeclared_missing").any()
