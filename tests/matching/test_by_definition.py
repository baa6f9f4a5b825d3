"""Matching-based risk is what a double loop over records says, with every option of METHODS §8."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from making.examples import examples
from oracles import matching as oracle
from reident.errors import InputError
from reident.intake.radius import Reach, neighbourhoods, scaled_whole
from reident.kernels.matching import count
from reident.matching import prepare as intake
from reident.matching import step as matching_step
from reident.matching.counting import pack
from reident.matching.section import Matching
from reident.matching.summary import CLASSES, match_files

CODES = [["1", "2"], ["1", "2", "3"], ["a", " a", "A", "é", "e\u0301"], ["x"]]
INTEGERS = ["1", "01", "1.0", "2", "+2", "-9", "-9.0"]
NUMBERS = [
    ["0", "1", "2", "3", "5"],
    ["0.1", "0.2", "0.3", "0.7", "0.8", "1.1"],
    ["-3", "-2.4", "-2", "0", "2", "2.4"],
    ["0", "0", "0", "100", "120", "80", "83.3"],
    ["123456789012345", "-138888887638888", "1", "12345678901234"],
    ["1e200", "1.2e200", "-1e-200", "0", "123456.000000001", "123456"],  # no common unit in 64 bits
]
ANY_NUMBER = st.sampled_from([text for pool in NUMBERS for text in pool])
RADII = ["0", "0.1", "0.2", "1/3", "1", "2.5", "0.124999998859375", "123456789.123456789"]


@st.composite
def variables(draw, name):
    """(the mention in the study, the radius or None, texts of its values)."""
    kind = draw(st.sampled_from(["plain", "plain", "integer", "number", "number"]))
    missing = draw(st.sampled_from([[], ["-9"], ["", "-9"]]))
    mention = name if not missing and kind != "integer" else {"name": name, "missing": missing}
    if kind == "number":
        pool = draw(st.sampled_from(NUMBERS))
        size = draw(st.sampled_from(RADII))
        return mention, {draw(st.sampled_from(["relative", "absolute"])): size}, pool + missing
    if kind == "integer":
        return mention | {"integer_coded": "true"}, None, INTEGERS
    return mention, None, draw(st.sampled_from(CODES)) + missing


@st.composite
def studies(draw):
    """(study, rows of the confidential file, rows of each synthetic file)."""
    names = [f"v{j}" for j in range(draw(st.integers(1, 5)))]
    made = {name: draw(variables(name)) for name in names}
    first = draw(st.integers(1, len(names)))  # synthesized ones stand first
    synthesized, known = names[:first], names[first:]
    mention = {name: made[name][0] for name in names}
    study = {
        "confidential": {"path": "confidential.csv"},
        "synthesized": [mention[name] for name in synthesized],
        "radius": {name: radius for name, (_, radius, _) in made.items() if radius},
        **draw(st.fixed_dictionaries({}, optional={
            "interval": st.sampled_from(["closed", "open"]), "missing": st.sampled_from(["never", "each_other"]),
        })),
    }  # fmt: skip
    if known and draw(st.booleans()):
        study |= {"known": "all-subsets", "candidates": [mention[name] for name in known]}
        study["max_known"] = str(draw(st.integers(1, 3)))
    else:
        study["known"] = [mention[name] for name in known]
    if draw(st.booleans()):
        study["scenarios"] = [{"name": "neighbour", "known": known[:1]}]
    n, m = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    study["synthetic"] = [{"path": f"synthetic_{file}.csv"} for file in range(1, m + 1)]
    row = st.fixed_dictionaries({name: st.sampled_from(texts) for name, (_, _, texts) in made.items()})
    confidential = draw(st.lists(row, min_size=n, max_size=n))
    drawn = draw(st.lists(st.lists(st.tuples(row, st.booleans()), min_size=n, max_size=n), min_size=m, max_size=m))
    synthetic = [
        [copy if fresh else {**own, synthesized[0]: copy[synthesized[0]]}
         for own, (copy, fresh) in zip(confidential, file, strict=True)]
        for file in drawn
    ]  # fmt: skip
    if draw(st.booleans()):
        study["targets"] = draw(targets(made))
    return study, confidential, synthetic


@st.composite
def targets(draw, made):
    """A condition on one variable."""
    name = draw(st.sampled_from(list(made)))
    texts = [text for text in made[name][2] if text]
    if made[name][1] and draw(st.booleans()):
        return {"variable": name, draw(st.sampled_from(["at_least", "at_most"])): draw(st.sampled_from(texts))}
    return [{"variable": name, "equals": draw(st.lists(st.sampled_from(texts), min_size=1, max_size=2))}]


def table(rows):
    return pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in rows[0]})


def refused(options, confidential, synthetic):
    """The sentence with which the files are refused, or an empty one."""
    try:
        intake.prepare(matching_step.matched_files(options), confidential, synthetic)
    except InputError as error:
        return str(error)
    return ""


@given(studies())
def test_every_record_scenario_and_summary(drawn):
    study, confidential, synthetic = drawn
    options = Matching.model_validate(study)
    expected, targets = oracle.run(study, confidential, synthetic)
    files = table(confidential), [table(file) for file in synthetic]
    if refusal := refused(options, *files):
        # Only what the oracle sees too: nobody is a target, or a category without a code in common.
        assert not targets if "target" in refusal else "no code" in refusal
        return
    prepared = intake.prepare(matching_step.matched_files(options), *files)
    found = match_files(matching_step.match_rules(options), prepared.confidential, prepared.synthetic)
    files = [*map(str, range(1, len(synthetic) + 1)), "confidential"]
    lines = found.scenarios.set_index(["scenario", "file"])
    records = found.records.to_pandas()
    for name, by_file in expected.items():
        risks = [oracle.summaries(*file) for file in by_file]
        for file, risk in zip(files, risks, strict=True):
            check_risk(lines.loc[name, file], risk, len(targets))
        check_risk(lines.loc[name, "mean"], mean(risks[:-1]), len(targets))
        own = records[records["scenario"] == name]
        if not lines.loc[(name, "mean"), "listed"] and own.empty:
            continue
        assert own["row"].tolist() == [target + 2 for target in targets]
        check_records(own, files, by_file)
        check_distribution(found.distribution[found.distribution["scenario"] == name], by_file)
    assert set(lines.index.get_level_values(0)) == set(expected)
    assert found.summary["file"].tolist() == [*files[:-1], "mean", "confidential"]
    first = lines.loc[records["scenario"].iloc[0]]
    assert found.summary["expected_match_risk"].tolist() == first["expected_match_risk"].tolist()


def check_risk(line, risk, n):
    expected, true, false, unique = risk
    assert line["expected_match_risk"] == pytest.approx(float(expected), rel=1e-14, abs=1e-14)
    assert line["true_match_rate"] == pytest.approx(float(true), rel=1e-14)
    assert (
        math.isnan(line["false_match_rate"])
        if false is None
        else line["false_match_rate"] == pytest.approx(float(false))
    )
    assert line["unique_matches"] == pytest.approx(float(unique))
    assert line["targets"] == n


def mean(risks):
    columns = [[value for value in column if value is not None] for column in zip(*risks, strict=True)]
    return [sum(column, Fraction(0)) / len(column) if column else None for column in columns]


def check_records(own, files, by_file):
    risk = np.zeros(len(own))
    for file, (c, mine) in zip(files, by_file, strict=True):
        assert own[f"c_{file}"].tolist() == c
        assert own[f"T_{file}"].tolist() == mine
        assert own[f"K_{file}"].tolist() == [k == 1 and t for k, t in zip(c, mine, strict=True)]
        assert own[f"F_{file}"].tolist() == [k == 1 and not t for k, t in zip(c, mine, strict=True)]
        if file != "confidential":
            risk += [t / k if k else 0 for k, t in zip(c, mine, strict=True)]
    assert own["risk"].to_numpy() == pytest.approx(risk / (len(files) - 1))


def check_distribution(lines, by_file):
    assert len(lines) == len(CLASSES) * len(by_file)
    for (c, mine), (_, own) in zip(by_file, lines.groupby("file", sort=False), strict=True):
        assert own["n_records"].sum() == len(c)
        assert own["n_own"].sum() == sum(mine)
        assert own["n_records"].iloc[1] == c.count(1)


FRACTIONS = ["1", "0.5", "1/3", "0.9", "0.01"]


def check_pooled(line, expected):
    """A line of `pooled.csv` against the oracle's (c, T, probability) of every target."""
    c, own, probability = zip(*expected, strict=True)
    check_risk(line, oracle.summaries(list(c), list(own)), len(c))
    assert line["own_probability"] == pytest.approx(float(sum(probability)), rel=1e-13, abs=1e-13)
    assert line["no_record"] == c.count(0)


@given(studies(), st.sampled_from([None, *FRACTIONS]))
@examples(120)
def test_the_pooled_intruder(drawn, fraction):
    study, confidential, synthetic = drawn
    if fraction is not None:
        study["uncertain_targets"] = {"sampling_fraction": fraction}
    lines = pooled_lines(study, confidential, synthetic)
    exact = {"certain": None, "uncertain": fraction and Fraction(fraction)}
    for (scenario, membership), line in lines.iterrows():
        check_pooled(line, oracle.pooled(study, confidential, synthetic, None, exact[membership])[scenario])
    assert ("uncertain" in lines.index.get_level_values(1)) == (fraction is not None)


@given(studies(), st.data())
@examples(80)
def test_the_pooled_intruder_with_population_counts(drawn, data):
    study, confidential, synthetic = drawn
    study = {**study, "known": study["candidates"] if study["known"] == "all-subsets" else study["known"]}
    for key in ("candidates", "max_known", "scenarios"):
        study.pop(key, None)
    study["uncertain_targets"] = {"population_count": "people"}
    count = st.sampled_from(["1", "2", "3", "4.5", "6", "0.5", "30", "1e15", "2.0000000001"])
    confidential = [{**row, "people": data.draw(count)} for row in confidential]
    lines = pooled_lines(study, confidential, synthetic)
    for membership, population in (("certain", None), ("uncertain", "people")):
        expected = oracle.pooled(study, confidential, synthetic, population)["known"]
        check_pooled(lines.loc[("known", membership)], expected)


def pooled_lines(study, confidential, synthetic):
    options = Matching.model_validate(study)
    files = table(confidential), [table(file) for file in synthetic]
    assume(not refused(options, *files))
    prepared = intake.prepare(matching_step.matched_files(options), *files)
    found = match_files(matching_step.match_rules(options), prepared.confidential, prepared.synthetic)
    return found.pooled.set_index(["scenario", "membership"])


@st.composite
def repeated(draw):
    """Files of few records with the same candidates in several of them: probabilities that are nearly or just equal."""
    n, m = draw(st.integers(2, 14)), draw(st.integers(2, 6))
    code = st.sampled_from("aaab")
    files = draw(st.lists(st.lists(code, min_size=n, max_size=n), min_size=m, max_size=m))
    study = {
        "confidential": {"path": "confidential.csv"},
        "synthetic": [{"path": f"synthetic_{file}.csv"} for file in range(m)],
        "known": [],
        "synthesized": ["v"],
    }
    return study, [{"v": "ab"[at % 2]} for at in range(n)], [[{"v": code} for code in file] for file in files]


@given(repeated())
@examples(200)
def test_ties_of_sums_are_decided_exactly(drawn):
    """As 1/2 = 1/3 + 1/6, which a sum of doubles need not find equal."""
    lines = pooled_lines(*drawn)
    check_pooled(lines.loc[("known", "certain")], oracle.pooled(*drawn)["known"])


@given(
    values=st.lists(ANY_NUMBER | st.decimals(-1e6, 1e6, places=3).map(str), min_size=1),
    size=st.sampled_from(RADII), relative=st.booleans(), interval=st.sampled_from(["closed", "open"]),
)  # fmt: skip
def test_neighbourhoods_are_those_of_exact_fractions(values, size, relative, interval):
    distinct = np.unique([float(text) for text in values])
    exact = [Fraction(repr(value)) for value in distinct.tolist()]
    low, high = neighbourhoods(distinct, Reach(Fraction(size), relative, interval))
    for x, first, end in zip(exact, low, high, strict=True):
        reach = Fraction(size) * abs(x) if relative else Fraction(size)
        near = [abs(y - x) < reach if interval == "open" else abs(y - x) <= reach for y in exact]
        assert [first <= at < end for at in range(len(exact))] == near


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.decimals(-1e9, 1e9, places=5).map(float)))
def test_scaled_values_are_the_decimals_in_the_file(values):
    scaled = scaled_whole(np.array(values, float))
    if scaled is not None:
        whole, places = scaled
        assert [Fraction(int(unit), 10**places) for unit in whole] == [Fraction(repr(value)) for value in values]


@given(st.data())
@examples(100)
def test_counting_in_boxes_is_a_double_loop(data):
    q, top = data.draw(st.integers(0, 4)), data.draw(st.sampled_from([1, 2, 5, 60]))
    draw = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    n, m, groups = data.draw(st.integers(0, 200)), data.draw(st.integers(0, 30)), data.draw(st.integers(1, 3))
    points, group = draw.integers(0, top, (n, q)).astype(np.int32), draw.integers(-1, groups, n)
    low, high = (draw.integers(0, top + 1, (m, q)).astype(np.int32) for _ in range(2))
    asked = draw.integers(-1, groups + 1, m)
    expected = [
        sum(
            group[j] == asked[i] and all(low[i, k] <= points[j, k] < high[i, k] for k in range(q)) for j in range(n)
        ) if asked[i] >= 0 else 0
        for i in range(m)
    ]  # fmt: skip
    assert count(group, points, asked, low, high).tolist() == expected


@given(
    st.integers(0, 6).flatmap(lambda v: st.lists(st.tuples(*[st.integers(-1, 3)] * v), min_size=1, max_size=40)),
    st.sampled_from([4, 2**20, 2**45]),
)
def test_packed_codes_are_equal_where_rows_are(rows, size):
    columns = [np.array(column, np.int64).reshape(1, -1) for column in zip(*rows, strict=True)]
    code = pack(columns, [size] * len(columns), (1, len(rows)))[0]
    for i, row in enumerate(rows):
        assert (code[i] < 0) == (-1 in row)
        assert code[i] <= 8 * len(rows)
        assert all((code[i] == code[j]) == (row == other) for j, other in enumerate(rows) if -1 not in row)


@given(studies(), st.randoms(use_true_random=False))
@examples(50)
def test_the_order_of_rows_changes_no_number(drawn, shuffle):
    """The rows of all files are permuted alike, so that each record keeps its own synthetic record."""
    study, confidential, synthetic = drawn
    options = Matching.model_validate(study)
    order = list(range(len(confidential)))
    shuffle.shuffle(order)
    first, second = (
        (table([confidential[i] for i in rows]), [table([file[i] for i in rows]) for file in synthetic])
        for rows in (range(len(order)), order)
    )
    assume(not refused(options, *first))
    before, after = (
        match_files(
            matching_step.match_rules(options), *intake.prepare(matching_step.matched_files(options), *files)[:2]
        )
        for files in (first, second)
    )
    assert before.scenarios.equals(after.scenarios)
    assert before.distribution.equals(after.distribution)
    assert before.variables.equals(after.variables)
