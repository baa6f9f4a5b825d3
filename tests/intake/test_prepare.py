"""Typing by the study: what is missing, what is the same code, what is a number, which links count."""

import os
from threading import Event

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import cases, examples
from making.studies import plain, study, table
from reident.errors import InputError
from reident.intake import prepare as intake
from reident.intake import spool
from reident.intake import step as intake_step
from reident.intake.spool import Spool
from reident.intake.values import Place, typed
from reident.sections.codes import Coding, clean, number


def prepared(model, puf, eif, iuf=None):
    """Prepare rows of text; every table has the columns that the study names."""
    return intake.prepare(intake_step.preparing(model), puf, eif, table("p e") if iuf is None else iuf)


def one_variable(cells, others=None, kind="categorical", **fields):
    """The values of a variable v in the PUF (and the EIF) as the study types them."""
    model = study(linking_variables=[{"name": "v", "type": kind, **fields}])
    sides = [cells, cells if others is None else others]
    puf, eif = (
        pa.table({key: [str(at) for at in range(len(own))], "v": pa.array(own, pa.string())})
        for key, own in zip("pe", sides, strict=True)
    )
    found = prepared(model, puf, eif)
    values = found.puf["v"].to_pylist(), found.eif["v"].to_pylist()
    return values[0] if others is None else values


NUMBERS = [
    ("the usual forms", ["1", "-1.5", "+2", ".5", "5.", "1e3", "1.2E+15"], {},
     [1.0, -1.5, 2.0, 0.5, 5.0, 1000.0, 1.2e15]),
    ("blanks around and zeros before", [" 007 "], {}, [7.0]),
    ("no negative zero", ["-0", "-0.0"], {}, [0.0, 0.0]),
    ("missing codes by their number", ["-9", "-9.0", "-09", "-9e0", "9"], {"missing": ["-9"]},
     [None, None, None, None, 9.0]),
    ("a missing code that is no number", [".", "1"], {"missing": ["."]}, [None, 1.0]),
    ("a missing code beyond what doubles can tell", ["1e309", "1"], {"missing": ["1e309"]}, [None, 1.0]),
    ("recodes by number, too", ["99.0", "65"], {"recode": {"puf": {"99": "65"}, "eif": {"99": "65"}}}, [65.0, 65.0]),
    ("recodes of text to numbers", ["65+", "64"], {"recode": {"puf": {"65+": "65"}, "eif": {"65+": "65"}}},
     [65.0, 64.0]),
    ("missing before recoding", ["x", "-9"],
     {"missing": ["-9"], "recode": {"puf": {"x": "1", "-9--8": "2"}, "eif": {"x": "1", "-9--8": "2"}}}, [1.0, None]),
]  # fmt: skip


@pytest.mark.parametrize(("cells", "fields", "found"), cases(NUMBERS))
def test_numbers(cells, fields, found):
    values = one_variable(cells, kind="numeric", **fields)
    assert values == found
    assert not any(np.signbit(value) for value in values if value == 0)


NO_NUMBERS = [
    "", "x", "1 000", "1,5,5", "0x1F", "inf", "nan", "1e309", "1e-400", "1_000", "١", "--1", "1e", "22:30",
    "1/2", "TRUE",
]  # fmt: skip


@pytest.mark.parametrize("cell", NO_NUMBERS)
def test_what_is_no_finite_number_is_an_error_with_row_and_column(cell):
    with pytest.raises(InputError) as caught:
        one_variable(["1", cell, "2"], kind="numeric")
    assert str(caught.value).startswith("puf.csv, row 3, column `v`: the value of `v` is not a number. Declare it")


@pytest.mark.parametrize("cell", ["1,5", " -2,25 ", ",5", "1,5e3", "1,000"])
@pytest.mark.parametrize(
    ("path", "remedy"),
    [
        ("puf.csv", 'If the comma is the decimal separator, set `decimal: ","` for the file; otherwise'),
        ("puf.dta", "Write the numbers of the file with a decimal point."),
    ],
)
def test_a_number_with_a_comma_is_an_error_that_names_the_decimal_separator(cell, path, remedy):
    files = {**plain()["files"], "puf": {"path": path, "id": "p"}}
    model = study(files=files, linking_variables=[{"name": "v", "type": "numeric"}])
    puf, eif = (pa.table({key: ["1", "2"], "v": ["1", cell]}) for key in "pe")
    with pytest.raises(InputError) as caught:
        prepared(model, puf, eif)
    says = "column `v`: the value of `v` is not a number, because it has a comma. "
    if cell == "1,000" and path == "puf.csv":
        remedy = remedy.replace("otherwise", 'if it separates thousands, set `thousands: ","`; otherwise')
    assert says + remedy in str(caught.value)
    assert cell.strip() not in str(caught.value)


SAME_CODES = [
    ("trimmed", [" a", "a ", "a\t"], {}, ["a", "a", "a"]),
    ("in NFC", ["é", "e\u0301"], {}, ["é", "é"]),
    ("categories with zeros differ", ["1", "01", "1.0"], {}, ["1", "01", "1.0"]),
    ("coded integers", ["1", "01", "1.0", "+1", "1.", "001.000"], {"integer_coded": True}, ["1"] * 6),
    ("coded integers below zero and zero", ["-1", "-01", "-0", "00"], {"integer_coded": True}, ["-1", "-1", "0", "0"]),
    ("coded integers beyond 2^64", ["018446744073709551617"], {"integer_coded": True}, ["18446744073709551617"]),
    ("what is no integer stays", ["1.5", "A1", "1e3", ""], {"integer_coded": True}, ["1.5", "A1", "1e3", ""]),
    ("recodes of coded integers", ["06", "7.0"],
     {"integer_coded": True, "recode": {"puf": {"6": "05", "7": "5"}, "eif": {"6": "5", "7": "5"}}}, ["5", "5"]),
    ("a recode is not applied twice", ["a", "b"],
     {"recode": {"puf": {"a": "b", "b": "a"}, "eif": {"a": "b", "b": "a"}}}, ["b", "a"]),
    ("an order in another spelling", ["01", "2"], {"integer_coded": True, "order": ["01", "02"]}, ["1", "2"]),
    ("an order in NFD", ["é", "a"], {"order": ["e\u0301", "a "]}, ["é", "a"]),
]  # fmt: skip


@pytest.mark.parametrize(("cells", "fields", "found"), cases(SAME_CODES))
def test_codes_that_are_the_same(cells, fields, found):
    assert one_variable(cells, **fields) == found


WRONG_CODES = [
    (
        "outside the order",
        ["a", "c"],
        {"order": ["a", "b"]},
        "puf.csv, row 3, column `v`: the value of `v` is not in the declared `order`. Add it, recode it",
    ),
    (
        "a recode table that says two things of one code",
        ["1"],
        {"integer_coded": True, "recode": {"puf": {"1": "a", "01": "b"}}},
        "two of its codes are equal after trimming and normalising",
    ),
]


@pytest.mark.parametrize(("cells", "fields", "says"), cases(WRONG_CODES))
def test_codes_that_are_refused(cells, fields, says):
    with pytest.raises(InputError) as caught:
        one_variable(cells, **fields)
    assert says in str(caught.value)


COMMON = [
    ("none in common", ["a", "b"], ["A", "B"], {}, "error"),
    ("fewer than half in common", ["a", "b", "c"], ["a", "d"], {}, "Fewer than half"),
    ("half in common", ["a", "b"], ["a", "b", "c", "d"], {}, None),
    ("missing codes do not count", ["a", "-9"], ["b", "-9"], {"missing": ["-9"]}, "error"),
    ("all missing in one file", ["-9"], ["a"], {"missing": ["-9"]},
     "is missing in every record of one of the two files"),
    ("numbers need no common value", ["1"], ["2"], {"type": "numeric"}, None),
]  # fmt: skip


@pytest.mark.parametrize(("puf", "eif", "fields", "outcome"), cases(COMMON))
def test_codes_in_common(puf, eif, fields, outcome):
    model = study(linking_variables=[{"name": "v", "type": "categorical", "puf": "V", **fields}])
    sides = [
        pa.table({key: [str(at) for at in range(len(own))], name: own})
        for key, name, own in (("p", "V", puf), ("e", "v", eif))
    ]
    if outcome == "error":
        with pytest.raises(InputError, match=r"puf\.csv and eif\.csv, columns `V` and `v`: no code of `v` is in both"):
            prepared(model, *sides)
        return
    warnings = [line for line in prepared(model, *sides).warnings["warning"] if "linking variable v" in line]
    assert len(warnings) == (outcome is not None)
    assert outcome is None or outcome in warnings[0]


# Codes in common


UNUSED = [
    ("all codes that are recoded occur", {"recode": {"eif": {"a": "b"}}}, None),
    ("a code that is recoded occurs in the other file alone", {"recode": {"puf": {"a": "b", "c": "b"}}},
     "puf.csv, variable v: 1 of the 2 codes in `recode` do not occur, while codes that are not in it do"),
    ("a recode table of all that occurs, and of more",
     {"missing": {"puf": ["x, y"]}, "recode": {"puf": {"a": "a", "b": "b", "7": "b", "c": "c"}}}, None),
    ("a recoded code in another spelling", {"integer_coded": True, "recode": {"puf": {"07": "b"}}}, None),
    ("a missing code that occurs nowhere", {"missing": ["-9", ""]}, None),
    ("several missing codes in one text", {"missing": {"eif": ["-9, -8", ""]}},
     "eif.csv, variable v: 1 of the codes in `missing` contain a comma or a semicolon and do not occur"),
    ("several missing codes with a semicolon", {"missing": {"puf": "-9;-8"}}, "puf.csv, variable v: 1 of the codes"),
    ("a missing code that has a comma, and occurs", {"missing": {"puf": ["x, y"]}}, None),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "says"), cases(UNUSED))
def test_declared_codes_that_occur_in_no_record(fields, says):
    model = study(linking_variables=[{"name": "v", "type": "categorical", **fields}])
    cells = {"p": ["a", "b", "7", "x, y"], "e": ["a", "b", "c", "7"]}
    puf, eif = (pa.table({key: list("1234"), "v": own}) for key, own in cells.items())
    found = [
        line
        for line in prepared(model, puf, eif).warnings["warning"]
        if "variable v: " in line and "never agree" not in line
    ]
    assert found == [] if says is None else len(found) == 1 and found[0].startswith(says)


# Records and links

X = {"linking_variables": [{"name": "v", "type": "numeric"}]}


RECORDS = [
    ("no record in the PUF", [], ["1 1"], "puf.csv: the file has a header and no records"),
    ("no record in the EIF", ["1 1"], [], "eif.csv: the file has a header and no records"),
]


@pytest.mark.parametrize(("puf", "eif", "says"), cases(RECORDS))
def test_records_that_are_refused(puf, eif, says):
    with pytest.raises(InputError) as caught:
        prepared(study(**X), table("p v", *puf), table("e v", *eif))
    assert str(caught.value).startswith(says)


def tolerant(links):
    files = {
        **plain()["files"],
        "iuf": {"path": "iuf.csv", "puf_id": "p", "eif_id": "e", "unknown_links_at_most": links},
    }
    return study(files=files, **X)


UNKNOWN = [
    ("a pufid that is not there", ["1 1", "01 1"], 0,
     "iuf.csv, row 3: the link names a record that is not in puf.csv (1 such"),
    ("more than the tolerance", ["9 1", "1 9"], 1,
     "iuf.csv, row 2: the link names a record that is not in puf.csv (2 such"),
    ("a link without a record", ["1 _"], 0, "iuf.csv, row 2: the link names a record that is not in eif.csv"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "tolerance", "says"), cases(UNKNOWN))
def test_links_to_unknown_records(rows, tolerance, says):
    with pytest.raises(InputError) as caught:
        prepared(tolerant(tolerance), table("p v", "1 1", "2 2"), table("e v", "1 1", "2 2"), table("p e", *rows))
    assert str(caught.value).startswith(says)


# From files


def test_clusters_follow_their_records_and_have_several_columns():
    """The key of the second record comes first; ("1", "23") and ("12", "3") are two clusters."""
    model = study(rates={"cluster": ["area", "hh"]})
    puf = table("p x c area hh", "9 1 a 12 3", "1 1 a 1 23", "5 1 a 12 3", "7 1 a _ 3")
    found = prepared(model, puf, table("e x c", "0 1 a"))
    assert found.puf["p"].to_pylist() == ["1", "5", "7", "9"]
    assert found.clusters["cluster"].to_pylist() == [0, 1, 2, 1]
    assert "area" not in found.puf.column_names
    (warning,) = [text for text in found.warnings["warning"] if "rates.cluster" in text]
    assert "1 records have an empty value" in warning


def with_original(*rows):
    """Prepare two PUF records beside a file before protection with these keys."""
    original = {**plain()["files"], "original": {"path": "in/full.csv"}}
    tables = table("p x c", "1 1 a", "01 1 a"), table("e x c", "0 1 a"), table("p e")
    return intake.prepare(intake_step.preparing(study(files=original)), *tables, table("p", *rows))


def test_a_file_before_protection_has_the_keys_of_the_puf_in_any_order():
    usual = prepared(study(), table("p x c", "1 1 a", "01 1 a"), table("e x c", "0 1 a"))
    assert with_original("1", "01").puf.equals(usual.puf)
    assert with_original("01", "1").puf.equals(usual.puf)


OTHER_KEYS = [
    ("a record less", ["1"], "lacks 1 of its records and has 0 others"),
    ("a record more", ["1", "01", "7"], "lacks 0 of its records and has 1 others"),
    ("keys are text", ["1", "1.0"], "lacks 1 of its records and has 1 others"),
]


@pytest.mark.parametrize(("rows", "problem"), cases(OTHER_KEYS))
def test_a_file_before_protection_with_other_keys_is_refused(rows, problem):
    with pytest.raises(InputError) as caught:
        with_original(*rows)
    assert str(caught.value) == (
        f"full.csv: the file before protection must have the keys of puf.csv, but {problem}. Export both files from "
        "the same records, or remove `files.original`."
    )


def test_a_key_of_the_file_before_protection_must_not_repeat():
    with pytest.raises(InputError, match=r"full.csv, row 4: the key \(p\) is not unique"):
        with_original("1", "01", "1")


@pytest.mark.parametrize("threads", [1, 2])
def test_the_mistake_of_the_first_file_is_told_whichever_is_found_first(threads):
    found_in_eif = Event()

    def puf():
        assert threads == 1 or found_in_eif.wait(60)
        raise InputError("puf.csv: a mistake")
        yield

    def eif():
        found_in_eif.set()
        raise InputError("eif.csv: a mistake")
        yield

    sources = {"puf": puf(), "eif": eif(), "iuf": [table("p e")]}
    settings = intake_step.preparing(study(linking_variables=[{"name": "v", "type": "categorical"}]))
    with pytest.raises(InputError, match=r"^puf\.csv"):
        intake.prepare_files(settings, sources, {}, threads=threads)


def test_persons_are_kept_as_text_in_the_order_of_the_records():
    files = plain()["files"] | {"eif": {"path": "eif.csv", "id": "e", "person": "who"}}
    model = study(files=files, linking_variables=[{"name": "v", "type": "categorical"}])
    found = prepared(model, table("p v", "1 a"), table("e v who", "3 a 07", "1 a 7", "2 b _"))
    assert found.eif["e"].to_pylist() == ["1", "2", "3"]
    assert found.eif["external_person"].to_pylist() == ["7", None, "07"]
    assert "external_person" not in found.puf.column_names


SCHEMA = pa.schema([("a", pa.string()), ("b", pa.float64())])


def batch(*texts):
    numbers = [None if text == "" else float(len(text)) for text in texts]
    return pa.record_batch([pa.array(texts, pa.string()), pa.array(numbers, pa.float64())], schema=SCHEMA)


def test_the_file_has_no_name_and_is_gone_with_the_spool(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "MAX_ROWS", 0)
    own = Spool(SCHEMA, tmp_path)
    own.append(batch("x"))
    assert own._file is not None
    descriptor = own._file.fileno()
    assert os.fstat(descriptor).st_mode & 0o077 == 0
    assert os.fstat(descriptor).st_nlink == 0
    assert list(tmp_path.iterdir()) == []
    own.close()
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(descriptor)


PLACE = Place("f.csv", "x", "X")
PLAIN = st.from_regex(r"-?[0-9]{1,18}(\.[0-9]{1,18})?", fullmatch=True)
OTHER = st.sampled_from([" 7", "+7", "7.", ".7", "7e2", "-0", "-0.0", "1E-400", "-9", "-9.00", " -9 ", "007", "x"])


@examples(300)
@given(
    texts=st.lists(PLAIN | OTHER, min_size=1, max_size=12),
    codes=st.sampled_from([(), ("-9",), ("x", "-9.0"), ("7", "")]),
)
def test_numbers_are_those_of_python_one_by_one(texts, codes):
    missing = {number(code) if number(code) is not None else code for code in codes}
    expected = [number(clean(text)) if number(clean(text)) is not None else clean(text) for text in texts]
    expected = [None if value in missing else value for value in expected]
    wrong = next((row for row, value in enumerate(expected) if isinstance(value, str)), None)
    if wrong is not None:
        with pytest.raises(InputError, match=rf"f\.csv, row {wrong + 2}, column `x`: the value of `X` is not a number"):
            typed(pa.array(texts), Coding("numeric", missing=codes), PLACE)
        return
    found = typed(pa.array(texts), Coding("numeric", missing=codes), PLACE).to_pylist()
    assert [repr(value) for value in found] == [repr(value) for value in expected]
