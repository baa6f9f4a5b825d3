"""The same records in every kind give the same bytes after `prepare`; what a kind cannot say for certain is refused."""

import gzip
import io
import re
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pyreadstat
import pytest
from making import sas7bdat
from making.examples import cases
from making.formats import ENDINGS, write
from making.studies import read_source
from reident import reading, simulation
from reident.errors import InputError
from reident.intake import prepare as intake
from reident.intake.step import preparing
from reident.reading import statistical
from reident.reading.stored import display_of
from reident.sections.files import SourceFile
from reident.study import model as study

EXAMPLE = Path(__file__).resolve().parents[2] / "config" / "studies" / "example.yaml"


def read(path, columns, keys=(), **source):
    return reading.read(path, SourceFile(path=path.name, **source), columns, keys)


# The example's three files


@pytest.fixture(scope="module")
def example():
    """The example study's description and its files, as rows of text."""
    model = study.load(EXAMPLE)
    return model, simulation.simulate(model.simulate)


def prepared_bytes(example, kind, folder):
    """What `prepare` writes of the example's files, stored in a format; and the model."""
    model, tables = example
    files = {}
    for side, rows in tables.items():
        path = folder / f"{side}.{ENDINGS[kind]}"
        files[side] = {"path": path.name, **write(rows, kind, path)}
    described = {**model.model_dump(mode="json", exclude={"simulate", "files", "metrics"}), "metrics": {"taxicab": {}}}
    declared = model.linked_files.iuf.model_dump(include={"puf_id", "eif_id"})
    files["iuf"] |= declared
    for side in ("puf", "eif"):
        files[side]["id"] = list(getattr(model.linked_files, side).id)
    stored = study.Study.model_validate({**described, "files": files})
    sources = {side: read_source(preparing(stored), side, folder / stored.sources[side].path) for side in files}
    ending = f".{ENDINGS[kind]}"
    return {
        name: _bytes(table, ending) for name, table in intake.prepare(preparing(stored), **sources)._asdict().items()
    }


def _bytes(table, ending):
    if isinstance(table, pd.DataFrame):  # warnings name the files
        return re.sub(rf"\b(puf|eif|iuf){re.escape(ending)}\b", r"\1", table.to_csv(index=False)).encode()
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


@pytest.fixture(scope="module")
def of_csv(example, tmp_path_factory):
    """What `prepare` writes of the example's files as CSV."""
    return prepared_bytes(example, "csv", tmp_path_factory.mktemp("csv"))


@pytest.mark.parametrize("kind", [name for name in ENDINGS if name != "csv"])
def test_the_example_in_every_format_gives_the_same_bytes_after_prepare(example, of_csv, tmp_path, kind):
    assert len(of_csv["puf"]) > 50_000
    assert prepared_bytes(example, kind, tmp_path) == of_csv


# Numbers of SAS, Stata and SPSS

WRITERS = {"xport": pyreadstat.write_xport, "stata": pyreadstat.write_dta, "spss": pyreadstat.write_sav}
STATISTICAL = list(WRITERS)
DESCRIBED = [*STATISTICAL, "sas7bdat"]
NUMBERS = {
    1.0: "1",
    -9.0: "-9",
    -0.0: "0",
    0.1: "0.1",
    1.2e15: "1200000000000000",
    2.0**53 - 1: "9007199254740991",
    2.0**53: "9007199254740992.0",
    1e20: "1e+20",
    1 / 3: "0.3333333333333333",
    float("nan"): "",
}


@pytest.mark.parametrize("kind", STATISTICAL)
def test_numbers_are_integers_or_the_shortest_decimal_that_reads_back(tmp_path, kind):
    path = tmp_path / f"f.{ENDINGS[kind]}"
    frame = pd.DataFrame({"a": list(NUMBERS), "t": [" 01"] * len(NUMBERS)})
    WRITERS[kind](frame, path)
    found = read(path, ["a", "t"])
    assert found["a"].to_pylist() == list(NUMBERS.values())
    assert found["t"].to_pylist() == [" 01"] * len(NUMBERS)


def test_codes_are_read_instead_of_labels_and_missing_values_of_spss(tmp_path):
    path = tmp_path / "f.sav"
    pyreadstat.write_sav(
        pd.DataFrame({"a": [1.0, 2.0, -9.0], "t": ["x", "U", "y"]}),
        path,
        variable_value_labels={"a": {1: "low", 2: "high", -9: "refused"}},
        missing_ranges={"a": [-9], "t": ["U"]},
    )
    found = read(path, ["a", "t"])
    assert found.to_pylist() == [{"a": "1", "t": "x"}, {"a": "2", "t": "U"}, {"a": "-9", "t": "y"}]


WRONG_KEYS = [("half", 0.5), ("beyond 2^53", 2.0**53), ("beyond 2^64", 2.0**65)]


@pytest.mark.parametrize("kind", STATISTICAL)
@pytest.mark.parametrize("number", cases(WRONG_KEYS))
def test_a_numeric_key_must_be_an_exact_integer(tmp_path, kind, number):
    path = tmp_path / f"f.{ENDINGS[kind]}"
    frame = pd.DataFrame({"a": [1.0, 2.0**53 - 1, number]})
    WRITERS[kind](frame, path)
    assert read(path, ["a"]).num_rows == 3
    with pytest.raises(InputError, match=r"^f\.\w+, row 3, column `a`: a numeric key must be an integer below"):
        read(path, ["a"], keys=["a"])


def test_a_key_in_single_precision_must_be_below_2_24(tmp_path):
    path = tmp_path / "f.dta"
    pd.DataFrame({"a": np.array([2**24 - 1, 2**24], np.float32)}).to_stata(path, write_index=False)
    with pytest.raises(InputError, match=r"^f\.dta, row 2, column `a`: a numeric key"):
        read(path, ["a"], keys=["a"])


# Special missing values

IBM_ONE = bytes.fromhex("4110000000000000")


def transport(path, cells):
    """A transport file of one numeric variable a, with the eight bytes of each cell as given."""
    pyreadstat.write_xport(pd.DataFrame({"a": [1.0] * len(cells)}), path, file_format_version=8)
    content = path.read_bytes()
    assert content.count(IBM_ONE) == len(cells)
    path.write_bytes(content.replace(IBM_ONE * len(cells), b"".join(cells)))


def test_special_missing_values_of_sas_are_kept_apart(tmp_path):
    path = tmp_path / "f.xpt"
    cells = [letter.encode() + bytes(7) for letter in "._AMZ"]
    transport(path, [*cells, IBM_ONE, bytes(8), bytes.fromhex("C190000000000000")])
    assert read(path, ["a"])["a"].to_pylist() == ["", "._", ".A", ".M", ".Z", "1", "0", "-9"]
    with pytest.raises(InputError, match=r"^f\.xpt, row 2, column `a`: a numeric key must be an integer"):
        read(path, ["a"], keys=["a"])


# SAS data sets


def test_sas_data_sets_have_numbers_text_days_and_special_missing_values(tmp_path):
    path = tmp_path / "f.sas7bdat"
    columns = {
        "number": [*NUMBERS, *map(sas7bdat.special, "_AZ")],
        "text": [" 01", "é ", *[""] * (len(NUMBERS) + 1)],
        "day": [0.0, 24196.0, *[float("nan")] * (len(NUMBERS) + 1)],
        "key": [float(at) for at in range(len(NUMBERS) + 3)],
        "time": [0.5] * (len(NUMBERS) + 3),
    }
    path.write_bytes(sas7bdat.content(columns, {"day": "YYMMDD", "time": "TIME"}))
    found = read(path, ["text", "number", "day", "key"], keys=["key"])
    assert found["number"].to_pylist() == [*NUMBERS.values(), "._", ".A", ".Z"]
    assert found["text"].to_pylist()[:3] == [" 01", "é", ""]
    assert found["day"].to_pylist()[:3] == ["1960-01-01", "2026-03-31", ""]
    assert found["key"].to_pylist()[:2] == ["0", "1"]
    with pytest.raises(InputError, match=r"^f\.sas7bdat, column `time`: a time, or a part of a date"):
        read(path, ["time"])
    with pytest.raises(InputError, match=r"^f\.sas7bdat, row 4, column `number`: a numeric key must be an integer"):
        read(path, ["number"], keys=["number"])


def test_a_file_that_has_lost_the_name_of_a_column_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "f.sas7bdat"
    path.write_bytes(sas7bdat.content({"key": ["a"], "x": [1.0]}))
    library = pyreadstat.read_sas7bdat

    def nameless(*arguments, **how):
        cells, about = library(*arguments, **how)
        about.column_names[1] = None  # as the library has it of some damaged files
        return cells, about

    monkeypatch.setitem(statistical._READERS, "sas7bdat", nameless)
    for wanted in (["key"], ["nothing"]):
        with pytest.raises(InputError, match=r"^f\.sas7bdat: the file is not a complete SAS data set\. Write"):
            read(path, wanted)


# Dates


@pytest.mark.parametrize("kind", STATISTICAL)
def test_dates_and_points_in_time_are_the_same_text_in_every_format(tmp_path, kind):
    path = tmp_path / f"f.{ENDINGS[kind]}"
    days = [date(1960, 1, 1), date(1900, 2, 28), date(2026, 3, 31)]
    moments = [pd.Timestamp(day) for day in days[:2]] + [pd.Timestamp(2026, 3, 31, 12, 30, 5)]
    frame = pd.DataFrame({"a": days, "b": moments, "c": [1.0, 2.0, 3.0]})
    WRITERS[kind](frame, path)
    assert read(path, ["a"])["a"].to_pylist() == ["1960-01-01", "1900-02-28", "2026-03-31"]
    moments = ["1960-01-01 00:00:00", "1900-02-28 00:00:00", "2026-03-31 12:30:05"]
    assert read(path, ["c", "b"])["b"].to_pylist() == moments
    with pytest.raises(InputError, match=r"^f\.\w+, column `b`: a time, or a part of a date, has no unambiguous text"):
        read(path, ["b"], keys=["b"])


DISPLAYS = [
    ("sas7bdat", "YYMMDD10", "day"), ("sas7bdat", "DATE9", "day"), ("sas7bdat", "E8601DA10.", "day"),
    ("sas7bdat", "DATETIME20", "moment"), ("xport", "MONYY7", "time"), ("xport", "YEAR4", "time"),
    ("xport", "TIME8", "time"), ("sas7bdat", "E8601DT19", "moment"), ("sas7bdat", "BEST12", "number"),
    ("sas7bdat", "12.2", "number"), ("sas7bdat", None, "number"), ("sas7bdat", "$8", "number"),
    ("sas7bdat", "REGION", "number"), ("stata", "%td", "day"), ("stata", "%tdDD/NN/CCYY", "day"),
    ("stata", "%d", "day"), ("stata", "%-td", "day"), ("stata", "%tc", "moment"), ("stata", "%tC", "time"),
    ("stata", "%tm", "time"),
    ("stata", "%ty", "number"), ("stata", "%9.0g", "number"), ("stata", "%-9s", "number"),
    ("spss", "EDATE10", "day"), ("spss", "SDATE10", "day"), ("spss", "MOYR8", "time"),
    ("spss", "DATETIME20", "moment"), ("spss", "DTIME8", "time"), ("spss", "F8.2", "number"),
    ("spss", "WKDAY3", "number"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "pattern", "display"), DISPLAYS)
def test_display_formats(kind, pattern, display):
    assert display_of(kind, pattern) == display


def test_an_invalid_date_is_refused_with_its_row(tmp_path):
    path = tmp_path / "f.dta"
    frame = pd.DataFrame({"a": [0.0, np.nan, 0.5]})
    pyreadstat.write_dta(frame, path, variable_format={"a": "%td"})
    with pytest.raises(InputError, match=r"^f\.dta, row 3, column `a`: the value is not a valid date"):
        read(path, ["a"])


@pytest.mark.parametrize("n", range(1, 5))
@pytest.mark.parametrize("release", [117, 118])
def test_dates_of_single_precision_are_dates_of_every_record(tmp_path, n, release):
    """Stata's own type for what its function `date()` gives."""
    path = tmp_path / "f.dta"
    days = np.array([0, 1, 365, 20_000], np.float32)[:n]
    frame = pd.DataFrame({"a": days, "b": [f"{at}" for at in range(n)]})
    frame.to_stata(path, version=release, write_index=False)
    content = path.read_bytes()
    assert content.count(b"%9.0g") == 1
    path.write_bytes(content.replace(b"%9.0g", b"%td\0\0"))
    found = read(path, ["a", "b"])
    expected = ["1960-01-01", "1960-01-02", "1960-12-31", "2014-10-04"][:n]
    assert found["a"].to_pylist() == expected
    assert found["b"].to_pylist() == list(frame["b"])


# What is not whole, or named otherwise


def stored(folder, kind):
    path = folder / f"f.{ENDINGS[kind]}"
    write(pd.DataFrame({"a": [f"{at:05d}" for at in range(500)], "b": ["1"] * 500}), kind, path)
    return path


@pytest.mark.parametrize("kind", DESCRIBED)
@pytest.mark.parametrize("keep", [0.0, 0.01, 0.5, 0.97])
def test_truncated_files_and_files_of_other_formats_are_refused(tmp_path, kind, keep):
    path = stored(tmp_path, kind)
    content = path.read_bytes()
    says = r"^f\.\w+: the file is not a complete (SAS|Stata|SPSS) [a-z ]*(file|data set). Write it again\.$"
    for spoilt in (content[: int(len(content) * keep)], b"a,b\n1,x\n", bytes(5000)):
        path.write_bytes(spoilt)
        with pytest.raises(InputError, match=says):
            read(path, ["a"])


@pytest.mark.parametrize("kind", [*DESCRIBED, "parquet"])
def test_a_file_with_the_name_of_another_format_is_recognised(tmp_path, kind):
    path = stored(tmp_path, kind)
    named = path.rename(tmp_path / "f.csv")
    with pytest.raises(
        InputError, match=rf"^f\.csv: the file is not a `csv` file; it is an? .*\. Declare `format: {kind}`\.$"
    ):
        read(named, ["a"])
    assert read(named, ["a"], format=kind).num_rows == 500


@pytest.mark.parametrize("kind", [*DESCRIBED, "parquet"])
def test_a_compressed_file_is_recognised(tmp_path, kind):
    path = stored(tmp_path, kind)
    path.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(InputError, match=rf"^f\.\w+: a `{kind}` file must not be compressed with gzip"):
        read(path, ["a"])
    named = path.rename(tmp_path / "f.csv.gz")
    with pytest.raises(
        InputError, match=r"^f\.csv\.gz: the file is not a `csv` file; it is an? .*compressed with gzip\. Decompress it"
    ):
        read(named, ["a"])


def test_an_spss_portable_file_is_recognised(tmp_path):
    path = tmp_path / "f.txt"
    pyreadstat.write_por(pd.DataFrame({"A": [1.0]}), path)
    with pytest.raises(
        InputError, match=r"^f\.txt: the file is not a `csv` file; it is an SPSS portable file. Save it as \.sav"
    ):
        read(path, ["A"])


# Texts


def test_a_text_that_spss_keeps_in_several_variables_shifts_no_other(tmp_path):
    path = tmp_path / "f.sav"
    pyreadstat.write_sav(pd.DataFrame({"a": ["x" * 600, "y"], "b": [1.0, 2.0]}), path)
    assert read(path, ["b"])["b"].to_pylist() == ["1", "2"]
    assert read(path, ["a", "b"])["a"].to_pylist() == ["x" * 600, "y"]


# SAS transport


def test_text_in_another_encoding_is_declared(tmp_path):
    path = tmp_path / "f.xpt"
    pyreadstat.write_xport(pd.DataFrame({"a": ["ab", "éb"]}), path)
    content = path.read_bytes()
    path.write_bytes(content.replace("éb".encode(), b"\xe9b "))
    assert read(path, ["a"], encoding="cp1252")["a"].to_pylist() == ["ab", "éb"]
    with pytest.raises(InputError, match=r"^f\.xpt, row 2, column `a`: the text is not utf-8"):
        read(path, ["a"])


LETTERS = {
    "f.dta": lambda: _old_stata(["Zoé", "xyz"]),
    "f.sas7bdat": lambda: sas7bdat.content({"a": ["Zoé", "xyz"]}, encoding="latin-1"),
}


def _old_stata(texts):
    sink = io.BytesIO()
    pd.DataFrame({"a": texts}).to_stata(sink, version=114, write_index=False)
    return sink.getvalue()


@pytest.mark.parametrize("name", LETTERS)
def test_an_incomplete_letter_at_the_end_of_a_text_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(LETTERS[name]())
    assert read(path, ["a"], encoding="cp1252")["a"].to_pylist() == ["Zoé", "xyz"]
    with pytest.raises(InputError, match=rf"^{name}, row 1, column `a`: the text is not utf-8. Declare"):
        read(path, ["a"], encoding="utf-8")


def test_several_data_sets_in_one_transport_file_are_refused(tmp_path):
    path = stored(tmp_path, "xport")
    content = path.read_bytes()
    path.write_bytes(content + content[content.index(b"HEADER RECORD*******MEMB") :])
    with pytest.raises(InputError, match=r"^f\.xpt: the file must have exactly one data set"):
        read(path, ["a"])
