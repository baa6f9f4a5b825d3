"""Attribute disclosure of whole files: prepared, counted and ranked (METHODS §12)."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from making.attribution import HELD_OUT, LEARNT, drawn, texts
from making.studies import as_text
from oracles import attribution as oracle
from reident.attribution import assessment, prepare
from reident.attribution import step as attribution_step
from reident.attribution.assessment import MEAN
from reident.attribution.measures import Measures
from reident.errors import InputError
from reident.study import model as study

SIDES = ("attribution_original", "attribution_released_1", "attribution_released_2")


def run(options, files, threads=1):
    spec = study.Study.model_validate({"id": "learnt", "attribute_disclosure": options})
    prepared = prepare.prepare(attribution_step.attribution_files(spec), files)
    return prepared, assessment.assess(attribution_step.attribution_rules(spec), *prepared[:4], threads=threads)


def expected(files, target, keys, options, released=1):
    """The measures of one released file by the oracle, from the texts."""
    reach = (Fraction(1, 10), True) if target == "income" else None
    category = options.get("missing") == "category"

    def plain(side):
        if side not in files:
            return []
        rows = files[side].to_pylist()
        order = sorted(range(len(rows)), key=lambda at: rows[at]["person"])
        return [(tuple(rows[at][key] for key in keys), value(rows[at][target])) for at in order]

    def value(text):
        if target != "income":
            return text
        return ("missing" if category else None) if text == "-9" else int(text)

    sides = "attribution_original", f"attribution_released_{released}", "attribution_holdout"
    linked = "id" in options["original"]
    return oracle.measures(reach, *map(plain, sides), linked=linked)


@pytest.mark.parametrize("missing", ["excluded", "category"])
@pytest.mark.parametrize("options", [LEARNT, HELD_OUT], ids=["linked", "held out"])
def test_the_summary_has_the_measures_of_every_set(options, missing):
    options = {**options, "keys": ["sex", "region", "job"], "missing": missing}
    options["targets"] = [one for one in LEARNT["targets"] if one != "job"]
    files = texts(options, 120)
    _, found = run(options, files)
    lines = found.summary.set_index(["keys", "file"])
    n_files = len(options["released"])
    for size in (1, 2, 3):
        for keys in itertools.combinations(["sex", "region", "job"], size):
            for released in range(1, n_files + 1):
                line = lines.loc[" + ".join(keys), str(released)]
                for name, value in expected(files, "income", keys, options, released).items():
                    if value is None:
                        assert math.isnan(line[name]), name
                    else:
                        assert line[name] == pytest.approx(float(value), abs=1e-12), (name, keys)
    assert len(lines) == 7 * (n_files + 1)


def test_the_mean_is_over_the_files_and_the_first_set_discloses_most():
    _, found = run(LEARNT, texts(LEARNT, 200))
    for (_, _), lines in found.summary.groupby(["target", "keys"]):
        own = lines.set_index("file")
        for name in Measures._fields:
            if own[name].notna().all():
                assert own.at[MEAN, name] == pytest.approx((own.at["1", name] + own.at["2", name]) / 2)
    means = found.summary[found.summary["file"] == MEAN]
    for _, lines in means.groupby("target"):
        ranked = lines.sort_values("danger")
        assert ranked["danger"].tolist() == list(range(1, 8))
        assert ranked["disco"].is_monotonic_decreasing
    assert found.targets["target"].tolist() == ["job", "income"]
    assert found.targets["within"].fillna("").tolist() == ["", "relative 0.1"]


def test_records_are_those_of_the_most_dangerous_set():
    files = texts(LEARNT, 150)
    prepared, found = run(LEARNT, files)
    table = found.records.to_pandas()
    assert table["person"].tolist() == sorted(files["attribution_original"]["person"].to_pylist()) * 2
    for target, lines in table.groupby("target"):
        own = found.summary[(found.summary["target"] == target) & (found.summary["danger"] == 1)]
        mean = own[own["file"] == MEAN].iloc[0]
        assert set(lines["keys"]) == {mean["keys"]}
        used = int(mean["n_original"])
        assert lines["n_disclosed"].sum() / used / 2 == pytest.approx(mean["disco"])
        assert lines["cap"].sum() / used == pytest.approx(mean["cap"])
    assert prepared.account["rows"].tolist() == [150] * 6


def same(one, other):
    for name in ("summary", "targets"):
        assert getattr(one, name).equals(getattr(other, name)), name
    assert one.records.equals(other.records)


def test_neither_the_order_of_rows_nor_threads_change_a_result():
    files = texts(LEARNT, 150)
    _, found = run(LEARNT, files)
    draw = np.random.default_rng(0)
    mixed = {side: text.take(draw.permutation(text.num_rows)) for side, text in files.items()}
    same(found, run(LEARNT, mixed)[1])
    same(found, run(LEARNT, files, threads=3)[1])


def test_a_file_released_unchanged_discloses_what_it_says_itself():
    files = dict.fromkeys(SIDES, as_text(drawn(4, 100)))
    lines = run(LEARNT, files)[1].summary
    for one, other in (("disco", "dorig"), ("disdio", "dorig"), ("cap", "cap_original"), ("uio", "repu")):
        np.testing.assert_allclose(lines[one], lines[other], err_msg=one)
    np.testing.assert_allclose(lines["cap_others"], lines["cap_true_others"])
    assert (lines["matched"] == 1).all()
    assert (lines["tcap"].dropna() == 1).all()


def test_one_record_discloses_itself_and_its_others_nothing():
    files = dict.fromkeys(SIDES, as_text(drawn(4, 1).assign(income="1000")))
    lines = run(LEARNT, files)[1].summary
    assert (lines[["uio", "repu", "disco", "cap", "guess", "tcap"]] == 1).all(axis=None)
    assert (lines[["disco_others", "cap_others", "guess_others", "cap_true_others"]] == 0).all(axis=None)


def test_nothing_is_measured_where_a_variable_is_missing_throughout():
    original = drawn(4, 50)
    files = {side: as_text(original) for side in SIDES}
    files[SIDES[1]] = as_text(original.assign(income="-9"))
    prepared, found = run(LEARNT, files)
    lines = found.summary[(found.summary["target"] == "income") & (found.summary["file"] == "1")]
    assert (lines["n_released"] == 0).all()
    assert (lines[["matched", "disco", "cap"]] == 0).all(axis=None)
    assert lines[["uis", "dsyn", "tcap", "cap_matched"]].isna().all(axis=None)
    assert "income is missing in every record" in prepared.warnings["warning"][0]
    every = {side: as_text(original.assign(income="-9")) for side in SIDES}
    lines = run(LEARNT, every)[1].summary
    assert lines.loc[lines["target"] == "income", "disco"].isna().all()


def test_a_common_value_dominates_what_is_disclosed():
    original = drawn(4, 200)
    original["job"] = ["1"] * 195 + ["2"] * 5
    files = {side: as_text(original) for side in SIDES}
    line = run(LEARNT, files)[1].targets.set_index("target").loc["job"]
    assert (line["level"], line["dominated"]) == ("1", True)
    assert line["level_share"] > 0.9


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda text: text.slice(0, 0), "has a header and no records"),
        (lambda text: pa.concat_tables([text, text]), "is not unique; an earlier row has it"),
        (lambda text: changed(text, "job", "x"), "no code of `job` is in both files"),
        (lambda text: changed(text, "income", "much"), "the value of `income` is not a number"),
    ],
)
def test_files_that_cannot_be_compared_are_refused(change, sentence):
    files = texts(LEARNT, 30)
    files[SIDES[1]] = change(files[SIDES[1]])
    with pytest.raises(InputError, match=sentence) as error:
        run(LEARNT, files)
    assert "released_1.csv" in str(error.value)


def changed(text, column, value):
    return text.set_column(text.column_names.index(column), column, pa.array([value] * text.num_rows))


def test_few_codes_in_common_are_a_warning():
    original = drawn(4, 300)
    files = {side: as_text(original) for side in SIDES}
    files[SIDES[1]] = as_text(original.assign(job=["1", "a", "b", "c", "d", "e"] * 50))
    warnings = run(LEARNT, files)[0].warnings["warning"]
    assert "fewer than half of the codes of job are also in the original file (1 of 14)" in warnings[0]


def test_codes_are_in_the_declared_order_whatever_the_decimal_sign():
    rooms = {"name": "rooms", "integer_coded": True, "order": ["10,0", "9,0"]}
    files = {side: {"path": f"{side}.csv", "decimal": ","} for side in ("a", "b")}
    options = {"original": files["a"], "released": [files["b"]], "keys": [rooms], "targets": ["job"]}
    text = pa.table({"rooms": ["9", "10,0", "09", "9,0"], "job": list("ssft")})
    prepared, _ = run(options, dict.fromkeys(SIDES[:2], text))
    assert prepared.original["rooms"].to_pylist() == [1, 0, 1, 1]
    lines = prepared.categories[prepared.categories["variable"] == "rooms"]
    assert list(lines["label"]) == ["10", "9"]
    assert list(lines["n_original"]) == [1, 3]
