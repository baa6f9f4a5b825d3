"""What callers give: data frames of other libraries, keys of any type, one item for a list; and what is refused."""

import decimal
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import reident
from making.examples import cases
from making.studies import plain
from pandas.testing import assert_frame_equal
from reident.api.frames import as_text, items
from reident.api.study import StudyFiles
from reident.study.model import Study

N = 30
DRAW = np.random.default_rng(1)
PUF = pd.DataFrame({"pid": DRAW.permutation(N) + 1, "age": DRAW.integers(20, 70, N), "sex": DRAW.choice(["f", "m"], N)})
EIF = PUF.rename(columns={"pid": "name"}).assign(name=[f"n{at}" for at in range(N)]).iloc[::-1]
LINKS = pd.DataFrame({"pid": PUF["pid"], "name": EIF["name"].iloc[::-1].to_numpy()})[:20]
VARIABLES = {"age": "numeric", "sex": "categorical"}
PEOPLE = PUF.assign(pay=DRAW.integers(1, 5, N), house=np.repeat(range(N // 2), 2), w=DRAW.uniform(5, 6, N))


def attack(puf=PUF, eif=EIF, links=LINKS, **keys):
    return reident.attack(puf, eif, links, **{"variables": VARIABLES, "metrics": "taxicab"} | keys)


PLAIN = attack()


class Stream:
    """A data frame of another library, which offers its columns in the interface of Arrow and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self._table, self.columns = table, table.column_names

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def polars(frame: pd.DataFrame) -> Stream:
    """What Polars offers: views of text, and categories of them."""
    columns = {}
    for name, column in pa.Table.from_pandas(frame, preserve_index=False).to_pydict().items():
        array = pa.array(column)
        if pa.types.is_string(array.type):
            array = array.cast(pa.string_view())
            if name == "sex":
                codes = array.cast(pa.string()).dictionary_encode()
                array = pa.DictionaryArray.from_arrays(codes.indices, codes.dictionary.cast(pa.string_view()))
        columns[name] = array
    return Stream(pa.table(columns))


FRAMES = [
    ("arrow", lambda frame: pa.Table.from_pandas(frame, preserve_index=False)),
    ("batch", lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False)),
    ("with its index", pa.Table.from_pandas),
    ("polars", polars),
    ("types of arrow", lambda frame: frame.convert_dtypes(dtype_backend="pyarrow")),
    ("types with NA", pd.DataFrame.convert_dtypes),
    ("objects", lambda frame: frame.astype(object)),
    ("categories", lambda frame: frame.astype(dict.fromkeys(frame.columns, "category"))),
    ("a named index", lambda frame: frame.set_index(frame.columns[0])),
    ("a column that is the index, too", lambda frame: frame.set_index(frame.columns[0], drop=False)),
    ("an index of no interest", lambda frame: frame.sample(frac=1, random_state=2)),
    ("sparse", lambda frame: frame.assign(age=frame["age"].astype(pd.SparseDtype("int64")))
     if "age" in frame else frame),
]  # fmt: skip


@pytest.mark.parametrize("convert", [case[1] for case in FRAMES], ids=[case[0] for case in FRAMES])
def test_frames_of_all_libraries_give_the_same_rates_and_keys_of_their_types(convert):
    puf, eif, links = map(convert, (PUF, EIF, LINKS))
    found = attack(puf, eif, links)
    assert_frame_equal(found.rates, PLAIN.rates, check_exact=True)
    ours, plain = (one.confirmed["taxicab"] for one in (found, PLAIN))
    assert ours["pid"].tolist() == plain["pid"].tolist()
    assert ours["name"].tolist() == plain["name"].tolist()
    if isinstance(puf, pd.DataFrame) and "pid" in puf:
        assert found.confirmed["taxicab"]["pid"].dtype == puf["pid"].dtype


MISSING = [
    ("NaN", lambda column: column.astype(float).where(column > 30)),
    ("NA", lambda column: column.astype("Int64").where(column > 30)),
    ("None", lambda column: column.astype(object).where(column > 30, None)),
    ("null", lambda column: column.astype("int64[pyarrow]").where(column > 30)),
]  # fmt: skip


@pytest.mark.parametrize("convert", [case[1] for case in MISSING], ids=[case[0] for case in MISSING])
def test_whatever_is_missing_is_missing(convert):
    puf = PUF.assign(age=convert(PUF["age"]))
    coded = PUF.assign(age=PUF["age"].where(PUF["age"] > 30, -9))
    age = {"type": "numeric", "missing": {"puf": -9.0, "eif": []}}
    expected = attack(coded, variables=VARIABLES | {"age": age}).rates
    assert_frame_equal(attack(puf).rates, expected, check_exact=True)
    arrow = pa.Table.from_pandas(puf, preserve_index=False)
    if pa.types.is_floating(arrow["age"].type):
        arrow = arrow.set_column(1, "age", pa.array(puf["age"].to_numpy()))
        assert arrow["age"].null_count == 0, "NaN that is no null"
    assert_frame_equal(attack(arrow).rates, expected, check_exact=True)


def test_keys_merge_with_the_frames_that_they_are_from():
    for kind in ("int64", "float64", "Int64", "uint16", "str", "category"):
        puf = PUF.astype({"pid": kind})
        links = LINKS.astype({"pid": "float64"}) if kind != "str" else LINKS.astype({"pid": kind})
        pairs = attack(puf, links=links).confirmed["taxicab"].merge(puf, on="pid").merge(EIF, on="name")
        assert len(pairs) == len(PLAIN.confirmed["taxicab"]) > 10
    same = attack(PUF.rename(columns={"pid": "id"}), EIF.rename(columns={"name": "id"}), puf_id="id", eif_id=["id"])
    assert same.confirmed["taxicab"]["puf_id"].tolist() == PLAIN.confirmed["taxicab"]["pid"].tolist()
    houses = PEOPLE.assign(other=PEOPLE["house"].astype(str)), PEOPLE.rename(columns={"pid": "name"})
    units = attack(*houses, LINKS.assign(name=LINKS["pid"]), units={"puf": "house", "eif": ["house"]})
    assert units.confirmed["taxicab"]["puf_house"].dtype == PEOPLE["house"].dtype


def test_keys_of_other_functions_merge_too():
    copy = PEOPLE.sample(frac=1, random_state=3)
    for made in (
        reident.file_risk(PEOPLE, keys="age", sampling_fraction=0.1, id="pid", population_models={}),
        reident.matching_risk(PEOPLE, copy, known="sex", synthesized="pay", id="pid"),
        reident.closest(PEOPLE, copy, variables="pay", id=["pid"]),
        reident.attribute_disclosure(PEOPLE, copy, keys="sex", targets="pay", id="pid"),
        reident.file_risk(PEOPLE.set_index("pid"), keys="age", sampling_fraction=0.1, id="pid"),
    ):
        assert len(made.records.merge(PEOPLE, on="pid")) == N
        for table in made.values():
            assert "pid" not in table or table["pid"].dtype == PEOPLE["pid"].dtype
    indexed = PEOPLE.set_index("pid"), PEOPLE.set_index("pid"), PEOPLE.set_index("pid")
    assert "pid" not in set(reident.closest(*indexed).premise["variable"]), "the index is no variable"


def records(found):
    return found.records


ONE_ITEM = [
    ("metrics", lambda one: attack(metrics=one("taxicab")).rates),
    ("strata", lambda one: attack(strata=one("sex"), variables={"age": "numeric"}).rates),
    ("variables", lambda one: attack(variables=one({"name": "sex", "type": "categorical"})).rates),
    ("units", lambda one: attack(PEOPLE, PEOPLE.rename(columns={"pid": "name"}), LINKS.assign(name=LINKS["pid"]),
                                 units={"puf": one("house"), "eif": one("house")}).rates),
    ("keys", lambda one: records(reident.file_risk(PEOPLE, keys=one("sex"), sampling_fraction=0.1))),
    ("known", lambda one: records(reident.matching_risk(PEOPLE, one(PEOPLE), known=one("sex"), synthesized="pay"))),
    ("numbers", lambda one: records(reident.closest(PEOPLE, one(PEOPLE), variables=one("pay"), numeric=one("pay")))),
    ("scenarios", lambda one: reident.file_risk(PEOPLE, keys="sex", sampling_fraction=0.1, sensitive=one("pay"),
                                                scenarios=one({"name": "a", "known": one("sex")})).diversity),
    ("collapse", lambda one: reident.file_risk(PEOPLE, keys="sex", sampling_fraction=0.1,
                                               collapse=one({"variable": "sex", "recode": {"f": "x"}})).coarser),
    ("targets", lambda one: reident.attribute_disclosure(PEOPLE, one(PEOPLE), keys=one("sex"), targets=one("pay"),
                                                         sets=one(one("sex"))).summary),
    ("learn", lambda one: reident.confirm_values(PEOPLE, PEOPLE, PEOPLE, variables={"age": "numeric"}, learn=one("pay"),
                                                 person=one("pid"), metrics=one("taxicab")).rates),
]  # fmt: skip


@pytest.mark.parametrize("call", [case[1] for case in ONE_ITEM], ids=[case[0] for case in ONE_ITEM])
def test_one_item_stands_for_a_list_of_it(call):
    expected = call(lambda item: [item])
    assert_frame_equal(call(lambda item: item), expected, check_exact=True)
    assert_frame_equal(call(lambda item: (one for one in [item])), expected, check_exact=True)


def test_names_and_codes_are_the_text_of_columns():
    codes = [1.0, 2.5, True, np.int64(3), np.float32(4), decimal.Decimal("1.50"), float("nan"), pd.NA, 2.0**60, "x"]
    assert [as_text(code) for code in codes] == [
        "1", "2.5", "true", "3", "4", "1.50", "", "", "1.152921504606847e+18", "x"
    ]  # fmt: skip
    assert items({"b", "a", "c"}) == ["a", "b", "c"], "the order of a set is another one in each process"
    assert items(pd.Series(["a", "b"])) == items(np.array(["a", "b"])) == items(pd.Index(["a", "b"])) == ["a", "b"]
    assert items({"name": "categorical"}) == [{"name": "name", "type": "categorical"}]
    numbered = PUF.rename(columns={"age": 5}), EIF.rename(columns={"age": 5})
    recode = {side: {"f": 1.0, "m": 2} for side in ("puf", "eif")}
    found = attack(*numbered, variables={5: "numeric", "sex": {"type": "categorical", "recode": recode}})
    assert_frame_equal(found.rates, PLAIN.rates, check_exact=True)


def odd(column):
    """The PUF with one value of an odd type."""
    return PUF.assign(sex=column)


STAMPS = pd.date_range("2020-01-01", periods=N)
REFUSED = [
    ("complex numbers", lambda: attack(odd(np.arange(N) * 1j)), "puf, column `sex`: the values have no un"),
    ("several types", lambda: attack(odd(["f", 1] * (N // 2))), "puf, column `sex`: the values have several types."),
    ("half a character", lambda: attack(odd(pd.Series(["\ud800"] * N, dtype=object))), "is not Unicode."),
    ("integers of any size", lambda: attack(odd([10**30 + at for at in range(N)])), "the values have no un"),
    ("a zone", lambda: attack(odd(STAMPS.tz_localize("UTC"))), "has no unambiguous text. Store the column as text."),
    ("lists", lambda: attack(odd([["f"]] * N)), "has no unambiguous text. Store the column as text."),
    ("bytes", lambda: attack(odd([b"f"] * N)), "has no unambiguous text. Store the column as text."),
    ("a half as key", lambda: attack(PUF.assign(pid=PUF["pid"] + 0.5)), "puf, row 1, column `pid`: a numeric key"),
    ("a rounded key", lambda: attack(PUF.assign(pid=PUF["pid"] * 1e16)), "puf, row 1, column `pid`: a numeric key"),
    ("a key that is missing", lambda: attack(PUF.assign(pid=PUF["pid"].where(PUF["pid"] != 3))), "must not be empty"),
    ("a key of days", lambda: attack(PUF.assign(pid=STAMPS)), "has no unambiguous text. Store the column as text."),
    ("levels of names", lambda: attack(pd.concat({"x": PUF}, axis=1)), "puf: the columns of the data frame must"),
    ("a name twice", lambda: attack(pd.concat([PUF, PUF], axis=1)), "puf, column 4: the column name is given twice."),
    ("5 and '5'", lambda: attack(PUF.assign(**{"5": 1}).rename(columns={"age": 5})), "the column name is given twice."),
    ("no column", lambda: attack(pd.DataFrame()), "puf: the data frame has no column `pid`."),
    ("no record", lambda: attack(PUF[:0]), "puf: the file has a header and no records."),
    ("threads", lambda: attack(threads=0), "`threads` must be a positive integer"),
    ("threads of text", lambda: attack(threads="2"), "`threads` must be a positive integer"),
    ("a type", lambda: attack(variables={"age": int}), "`variables[1].type` must be `numeric`"),
    ("no variables", lambda: attack(variables=None), "`variables` is missing."),
    ("a number", lambda: attack(binning=5), "`binning` must be a section."),
    ("links of three columns", lambda: attack(links=LINKS.assign(more=1)), "the data frame must have two"),
    ("closest", lambda: reident.matching_risk(PUF, PUF, known="age", synthesized="sex", closest={}),
     "`closest` must not be given here. Call `reident.closest`."),
    ("another file", lambda: reident.file_risk(PUF, file="puf", keys="age", sampling_fraction=0.1),
     "`file` must not be given here."),
    ("a decision", lambda: reident.file_risk(PUF, keys="age", sampling_fraction=0.1, decision={}), "`decision` is"),
    ("released", lambda: reident.attribute_disclosure(PUF, PUF, keys="age", targets="sex", released="puf"),
     "must be data frames."),
    ("a policy", lambda: reident.statement(PLAIN, policy="none"), "`policy` must be `base-3-random` or "),
    ("a limit", lambda: reident.statement(PLAIN, policy="census-drb", limits={"taxicab": 0.5}), "must be an integer"),
    ("a study with NUL", lambda: reident.read_study("a\0b.yaml"), "a?b.yaml contains a NUL character."),
    ("a long path", lambda: reident.open_results("x" * 300), "has a name of more than 255 bytes."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), cases(REFUSED))
def test_bad_input_is_refused_in_one_sentence(call, sentence):
    with pytest.raises(reident.InputError) as error:
        call()
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


WRONG_TYPES = [
    ("a path", lambda: reident.attack("study.yaml"), "reident.attack(reident.read_study(PATH))"),
    ("a Path", lambda: reident.file_risk(Path("survey.csv"), keys="age"), "reident.file_risk(reident.read_study("),
    ("a mapping", lambda: attack(PUF.to_dict("list")), "`puf` must be a data frame of pandas, P"),
    ("a column", lambda: attack(links=LINKS["pid"]), "`links` must be a data frame"),
    ("an array", lambda: attack(links=pa.array([1])), "`links` must be a data frame"),
    ("files by name", lambda: reident.closest(PUF, {"a": PUF}), "`synthetic_1` must be a data frame"),
    ("a frame in a section", lambda: attack(rates={"cluster": PUF}), "a data frame must be given as an argument"),
    ("a result", lambda: reident.statement(PUF, policy="census-drb"), "`result` must be what `reident.attack` returns"),
    ("a policy", lambda: reident.statement(PLAIN, policy={"name": "census-drb"}),
     "`policy` must be the name of a policy, a path or a policy, not dict"),
    ("limits", lambda: reident.statement(PLAIN, policy="census-drb", limits=["taxicab"]), "`limits` must be a mapping"),
    ("no path", lambda: reident.read_study(3), "`path` must be a path, not int"),
    ("no folder", lambda: reident.open_results(None), "`folder` must be a path, not NoneType"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), cases(WRONG_TYPES))
def test_other_types_are_refused_by_the_argument(call, sentence):
    with pytest.raises(TypeError) as error:
        call()
    assert sentence in str(error.value)


def test_nothing_beside_a_study_counts_for_nothing_and_it_must_have_the_section():
    study = StudyFiles(Study.model_validate(plain()))
    for call, name in (
        (lambda: reident.attack(study, metrics=["taxicab"]), "metrics"),
        (lambda: reident.attack(study, EIF), "eif"),
        (lambda: reident.file_risk(study, max_order=3), "max_order"),
        (lambda: reident.confirm_values(study, person="pid"), "person"),
        (lambda: reident.attribute_disclosure(study, PUF), "released"),
    ):
        with pytest.raises(TypeError, match=f"takes no `{name}` beside a study"):
            call()
    for function, section in (
        (reident.file_risk, "file_risk"),
        (reident.matching_risk, "matching"),
        (reident.closest, "matching.closest"),
        (reident.attribute_disclosure, "attribute_disclosure"),
        (reident.confirm_values, "confirm"),
    ):
        with pytest.raises(reident.InputError, match=rf"the study has no `{section}`\. Add the section"):
            function(study)


def test_links_to_unknown_records_are_left_out_where_they_are_allowed():
    more = pd.concat([LINKS, LINKS[:2].assign(name=["nobody", None])])
    with pytest.raises(reident.InputError, match=r"links, row 21: .* allow them by `unknown_links_at_most`"):
        attack(links=more, unknown_links_at_most=1)
    assert_frame_equal(attack(links=more, unknown_links_at_most=2).rates, PLAIN.rates, check_exact=True)


def test_grave_warnings_are_warnings_of_python_with_their_remedy():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = attack(PUF.assign(sex=None), rates={"interval": "wilson"})
    grave = found.warnings[found.warnings["severity"] != "notable"]
    assert len(grave)
    assert [str(one.message).partition(": ")[2] for one in told] == grave["warning"].tolist()
    assert {one.category for one in told} == {reident.RiskWarning}
    assert {one.filename for one in told} == {__file__}, "the line of the caller"
    codes = PUF.assign(sex=PUF["sex"].where(PUF.index > 5, "ff")), EIF
    with pytest.warns(reident.RiskWarning, match="the table `warnings` names the codes") as told:
        attack(*codes)
    assert not any("warnings.csv" in str(one.message) for one in told)
    with pytest.warns(
        reident.RiskWarning, match="may invalidate the results: .* Check the column and its missing codes"
    ):
        reident.attribute_disclosure(PEOPLE, PEOPLE.assign(sex=None), keys="sex", targets="pay")
    with pytest.warns(reident.RiskWarning, match="may understate the risk: .*Read the individual risk beside it"):
        reident.file_risk(PEOPLE.assign(w=PEOPLE.index**4 + 1), keys="age", weight="w")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        notable = reident.attribute_disclosure(PEOPLE, PEOPLE.assign(age=99 - PEOPLE["age"]), keys="age", targets="pay")
    assert set(notable.warnings["severity"]) == {"notable"}


def test_every_key_of_file_risk_gives_its_tables():
    given = {"keys": ["age", "sex"], "sampling_fraction": 0.5, "special": {"standard_error": 0.1}}
    base = set(reident.file_risk(PEOPLE, **given))
    people = pd.concat([PEOPLE, PEOPLE]).assign(pid=range(2 * N))
    scenario = {"name": "neighbour", "known": "age"}
    for options, tables in (
        ({"scenarios": scenario}, {"scenarios", "diversity", "set_variables"}),
        ({"key_sets": {"up_to": 2}, "sensitive": "pay"}, {"scenarios", "diversity", "set_variables"}),
        ({"population_models": {"household": "house"}}, {"individual", "population_models", "individual_classes"}),
        ({"units": "house"}, {"units"}),
        ({"population": people}, set()),
        ({"population": {"file": people, "numerical_study": {"samples": 2}}}, {"by_sample", "by_class", "by_tenth"}),
        ({"original": PEOPLE.assign(age=20), "id": "pid"}, set()),
    ):
        found = reident.file_risk(PEOPLE, **given, **options)
        assert set(found) - base == tables
    assert (
        reident.file_risk(PEOPLE, **given, population=people)
        .summary.ne(reident.file_risk(PEOPLE, **given).summary)
        .any(axis=None)
    )
    coarser = reident.file_risk(PEOPLE, **given, collapse={"variable": "age", "recode": {20: "young"}}).coarser
    assert len(coarser) == 3


def test_a_sensitive_value_that_is_nan_is_missing():
    keys = {"keys": ["age"], "sampling_fraction": 0.5, "scenarios": {"name": "a", "known": "age"}}
    gaps = PEOPLE.assign(pay=PEOPLE["pay"].where(PEOPLE["pay"] > 1))
    coded = PEOPLE.assign(pay=PEOPLE["pay"].where(PEOPLE["pay"] > 1, -9))
    found = reident.file_risk(gaps, **keys, sensitive="pay").diversity
    assert_frame_equal(found, reident.file_risk(coded, **keys, sensitive={"name": "pay", "missing": -9}).diversity)
    column = {"name": "wage", "column": "pay", "type": "numeric"}
    one, other = (reident.file_risk(file, keys=[column | more], sampling_fraction=0.5).summary
                  for file, more in ((gaps, {}), (coded, {"missing": "-9"})))  # fmt: skip
    assert_frame_equal(one, other)
