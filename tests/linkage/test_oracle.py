"""The oracle itself, on cases worked by hand (METHODS §1–6): the judge must be beyond doubt."""

from fractions import Fraction

import pytest
from making.examples import cases
from oracles.binning import bin_column, bin_records, cut_points, variance
from oracles.preparing import prepare, value_of
from oracles.rating import ALL, Pair, interval, keep_ranks, rank
from oracles.study import run

NUMERIC, CATEGORICAL = {"type": "numeric"}, {"type": "categorical"}


def small(types, puf, eif, links="", *, strata=False, **settings):
    """The arguments of `run`: rows are "key [stratum] value …, …"; "." is missing; types is e.g. "cnn"."""
    names = [f"x{j}" for j in range(len(types))]
    kinds = {"c": "categorical", "n": "numeric"}
    columns = ["id", *(["area"] if strata else []), *names]
    study = {
        "files": {"puf": {"id": ["id"]}, "eif": {"id": ["id"]}, "iuf": {"puf_id": ["p"], "eif_id": ["e"]}},
        "strata": [{"name": "area", "missing": ["."]}] if strata else [],
        "linking_variables": [
            {"name": name, "type": kinds[t], "missing": ["."]} for name, t in zip(names, types, strict=True)
        ],
        **settings,
    }

    def rows(names, text):
        return [dict(zip(names, row.split(), strict=True)) for row in text.split(",") if row]

    return study, rows(columns, puf), rows(columns, eif), rows("pe", links)


def suspected(metric, options, types, puf, eif, **settings):
    """{"pufid eifid": (score rounded, rank)} of one metric; unicity: (order, set)."""
    result = run(*small(types, puf, eif, metrics={metric: options}, **settings)).metrics[metric]
    return {
        f"{pair.pufid[0]} {pair.eifid[0]}": (pair.order, pair.variables)
        if metric == "unicity"
        else (round(float(pair.score), 9), pair.rank)
        for pair in result.suspected.values()
    }


CELLS = [
    ("blanks around a code do not count", CATEGORICAL, "puf", " 1 ", "1"),
    ("a decomposed letter is its composed form", CATEGORICAL, "puf", "e\u0301", "\u00e9"),
    ("codes are text: 01 is not 1", CATEGORICAL, "puf", "01", "01"),
    ("integer-coded 01 is 1", {**CATEGORICAL, "integer_coded": "true"}, "puf", "01", "1"),
    ("integer-coded 1.0 is 1", {**CATEGORICAL, "integer_coded": "true"}, "puf", "1.0", "1"),
    ("integer-coded 1.5 stays as it is", {**CATEGORICAL, "integer_coded": "true"}, "puf", "1.5", "1.5"),
    ("NA is Namibia", CATEGORICAL, "puf", "NA", "NA"),
    ("an empty cell is a code unless declared missing", CATEGORICAL, "puf", "", ""),
    ("NA is missing where it is declared", {**CATEGORICAL, "missing": ["NA"]}, "puf", "NA", None),
    ("a missing code of the other file is a code", {**CATEGORICAL, "missing": {"eif": ["9"]}}, "puf", "9", "9"),
    ("a missing code of this file", {**CATEGORICAL, "missing": {"eif": ["9"]}}, "eif", "9", None),
    ("integer-coded missing", {**CATEGORICAL, "integer_coded": "true", "missing": ["9"]}, "eif", "09", None),
    ("a missing number in another spelling", {**NUMERIC, "missing": ["-9"]}, "puf", "-9.0", None),
    ("a number is what its digits say", NUMERIC, "puf", "0.1", Fraction(1, 10)),
    ("a number with an exponent", NUMERIC, "puf", "1.2E+3", Fraction(1200)),
    ("recoded in its own file", {**CATEGORICAL, "recode": {"eif": {"M": "1"}}}, "eif", "M", "1"),
    ("not recoded in the other", {**CATEGORICAL, "recode": {"eif": {"M": "1"}}}, "puf", "M", "M"),
    ("a code without an entry stays", {**CATEGORICAL, "recode": {"eif": {"M": "1"}}}, "eif", "2", "2"),
    ("missing is judged before recoding", {**CATEGORICAL, "missing": ["9"], "recode": {"eif": {"M": "9", "9": "1"}}},
     "eif", "9", None),
    ("a code recoded to a missing code is that code", {**CATEGORICAL, "missing": ["9"], "recode": {"eif": {"M": "9"}}},
     "eif", "M", "9"),
]  # fmt: skip


@pytest.mark.parametrize(("variable", "file", "cell", "value"), cases(CELLS))
def test_cell(variable, file, cell, value):
    assert value_of({"name": "x", **variable}, file, cell) == value


def test_a_numeric_cell_that_is_no_number_is_an_error():
    with pytest.raises(ValueError, match="not a number"):
        value_of({"name": "x", **NUMERIC}, "puf", "")


def test_keys_are_tuples_of_text():
    study, puf, _, _ = small("c", "1 a, 01 a", "")
    assert [record.key for record in prepare(study, "puf", puf)] == [("1",), ("01",)]
    with pytest.raises(ValueError, match="repeats"):
        prepare(study, "puf", [*puf, puf[0]])


def test_a_link_to_an_unknown_record_counts_only_as_declared():
    study, *rows = small("c", "p 1", "e 1", "p e, p f", metrics={"taxicab": {}})
    with pytest.raises(ValueError, match="neither file"):
        run(study, *rows)
    study["files"]["iuf"]["unknown_links_at_most"] = "1"
    assert run(study, *rows).metrics["taxicab"].rates[ALL]["n_links"] == 1


CUTS = [
    # n·k/5 = 1, 2, 3, 4, all whole: midpoints of neighbours
    ("five values in five bins", [5, 1, 4, 2, 3], 5, ["3/2", "5/2", "7/2", "9/2"]),
    # n·k/5 = 0.6, 1.2, 1.8, 2.4: the 1st, 2nd, 2nd, 3rd value
    ("three values in five bins", [1, 2, 3], 5, ["1", "2", "2", "3"]),
    ("one value is every cut point", [7], 5, ["7", "7", "7", "7"]),
    # n·k/5 = 1, 2, 3, 4: (0+0)/2 three times, then (0+10)/2
    ("ties make equal cut points", [0, 0, 0, 0, 10], 5, ["0", "0", "0", "5"]),
    ("the median of two", [1, 2], 2, ["3/2"]),
]


@pytest.mark.parametrize(("values", "bins", "cuts"), cases(CUTS))
def test_cut_points(values, bins, cuts):
    assert cut_points([Fraction(x) for x in values], bins) == [Fraction(c) for c in cuts]


COLUMNS = [
    # the cut points are 1.5, 2.5, 3.5, 4.5
    ("each value in its bin, beyond the ends too", [1, 2, 3, 4, 5], [0, 1, 2, 5, 9], [1, 1, 2, 5, 5]),
    ("a value equal to a cut point is not above it", [1, 2, 3], [1, 2, 3], [1, 2, 4]),
    ("missing stays missing", [1, 2, 3, 4, 5], [None, 3], [None, 3]),
    ("nothing to cut with: all missing", [], [1, 2], [None, None]),
    ("a constant: not above, above", [4, 4, 4], [4, 5], [1, 5]),
]


@pytest.mark.parametrize(("cutting", "column", "bins"), cases(COLUMNS))
def test_bins_of_a_column(cutting, column, bins):
    assert bin_column(column, [Fraction(x) for x in cutting], 5) == bins


BINNING = [
    # PUF: 1, 3 in a, 10, 30 in b, 100 in none; EIF: 2, 4 in a, 10 in b; two bins, cut at the median
    # a (1+3)/2 = 2, b (10+30)/2 = 20
    ("puf, by stratum", {}, [1, 2, 1, 2], [1, 2, 1]),
    # a (2+4)/2 = 3, b 10
    ("eif, by stratum", {"cutpoints": "eif"}, [1, 1, 1, 2], [1, 2, 1]),
    # a: 1 2 3 4 -> 2.5; b: 10 10 30 -> n/2 = 1.5 -> the 2nd, 10
    ("pooled, by stratum", {"cutpoints": "pooled"}, [1, 2, 1, 2], [1, 2, 1]),
    # PUF as in puf: a 2, b 20; EIF a 3, b 10
    ("each, by stratum", {"cutpoints": "each"}, [1, 2, 1, 2], [1, 2, 1]),
    # 1 3 10 30 100: n/2 = 2.5 -> the 3rd, 10; the record without a stratum is part of the file
    ("puf, whole study", {"scope": "study"}, [1, 1, 1, 2, 2], [1, 1, 1]),
    # 2 4 10: n/2 = 1.5 -> the 2nd, 4
    ("eif, whole study", {"scope": "study", "cutpoints": "eif"}, [1, 1, 2, 2, 2], [1, 1, 2]),
]


@pytest.mark.parametrize(("setting", "in_puf", "in_eif"), cases(BINNING))
def test_binning(setting, in_puf, in_eif):
    puf, eif = "p1 a 1, p2 a 3, p3 b 10, p4 b 30, p5 . 100", "e1 a 2, e2 a 4, e3 b 10"
    study, puf, eif, _ = small("n", puf, eif, strata=True, binning={"bins": "2", **setting})
    binned = bin_records(study, prepare(study, "puf", puf), prepare(study, "eif", eif))
    assert [[record.values[0] for record in file] for file in binned] == [in_puf, in_eif]


def test_variance():
    assert variance([Fraction(1), Fraction(2), Fraction(3)]) == 1
    assert variance([Fraction(1, 10)] * 3) == 0
    assert variance([Fraction(1)]) is None
    assert variance([]) is None


UNICITY = [
    # full set: p1 = e1 = (1, 1); all four records are unique
    ("nothing missing: auto is the full set", {}, "p1 1 1, p2 1 2", "e1 1 1, e2 2 2", {"p1 e1": (2, (0, 1))}),
    # {x0}: 1 twice in the PUF; {x1}: 1 and 2 once in either file
    ("all sets find more than the full set", {"interactions": "all"}, "p1 1 1, p2 1 2", "e1 1 1, e2 2 2",
     {"p1 e1": (1, (1,)), "p2 e2": (1, (1,))}),
    # p1, e1 are unique on {x1}; p2 is outside sets with x0; {x0}: p1 alone, e1 alone
    ("one missing value: auto is all sets", {}, "p1 1 1, p2 . 2", "e1 1 1, e2 2 2",
     {"p1 e1": (1, (0,)), "p2 e2": (1, (1,))}),
    ("the full set leaves a missing value out", {"interactions": "full"}, "p1 1 .", "e1 1 1", {}),
    # {x0} and {x1} hold two of each in the PUF: only both together tell them apart
    ("unique by an interaction only", {"interactions": "all"}, "p1 1 1, p2 1 2, p3 2 1, p4 2 2", "e1 1 2",
     {"p2 e1": (2, (0, 1))}),
    ("orders above max_order are not tried", {"max_order": "1"}, "p1 1 1, p2 1 2, p3 2 1, p4 2 2", "e1 1 2", {}),
    ("a cell of two is not unique, in the EIF as in the PUF", {}, "p1 1 1", "e1 1 1, e2 1 1", {}),
    # p1 and e1 share x0 only, there p1 is alone (p2 has 2) and e1 is alone
    ("jointly observed: the variables that both have", {"interactions": "jointly_observed"}, "p1 1 ., p2 2 3",
     "e1 1 2, e2 5 3", {"p1 e1": (1, (0,))}),
    # the same with p2 = (1, 3): on {x0} the PUF has 1 twice
    ("jointly observed: uniqueness counts records without a missing value there", {"interactions": "jointly_observed"},
     "p1 1 ., p2 1 3", "e1 1 2", {}),
    ("nothing in common is no set", {"interactions": "jointly_observed"}, "p1 1 .", "e1 . 2", {}),
    ("nothing in common is no pair", {"interactions": "all"}, "p1 1 .", "e1 . 2", {}),
    ("no record, no pair", {}, "", "e1 1 1", {}),
]  # fmt: skip


@pytest.mark.parametrize(("options", "puf", "eif", "pairs"), cases(UNICITY))
def test_unicity(options, puf, eif, pairs):
    assert suspected("unicity", options, "cc", puf, eif) == pairs


TAXICAB = [
    # threshold 1/4
    ("equal", {}, "cc", "p 1 1", "e 1 1", {"p e": (0, 1)}),
    ("half matching, half missing is not below", {}, "cc", "p 1 .", "e 1 1", {}),
    ("one of four missing: 1/8", {}, "cccc", "p 1 1 1 .", "e 1 1 1 1", {"p e": (0.125, 1)}),
    ("one of four different: 1/4 is not below", {}, "cccc", "p 1 1 1 2", "e 1 1 1 1", {}),
    ("missing in both counts once", {}, "cccc", "p 1 1 1 .", "e 1 1 1 .", {"p e": (0.125, 1)}),
    # threshold 1/6, one missing of four 1/12, two 1/6
    ("a third", {"alpha": "1/3"}, "cccc", "p 1 1 1 .", "e 1 1 1 1", {"p e": (0.083333333, 1)}),
    ("a third, at the threshold", {"alpha": "1/3"}, "cccc", "p 1 1 . .", "e 1 1 1 1", {}),
    # threshold 1/2
    ("one of four different", {"alpha": "1"}, "cccc", "p 1 1 1 2", "e 1 1 1 1", {"p e": (0.25, 1)}),
    # PUF 1, 2, 3 cut at 1, 2, 2, 3: bins 1, 2, 4; 2.5 is in bin 4
    ("numbers in bins", {}, "n", "p 1, q 2, r 3", "e 2.5", {"r e": (0, 1)}),
]


@pytest.mark.parametrize(("options", "types", "puf", "eif", "pairs"), cases(TAXICAB))
def test_taxicab(options, types, puf, eif, pairs):
    assert suspected("taxicab", options, types, puf, eif) == pairs


RMS = {"norm": "rms"}
FARTHEST = 0.248763688  # tanh(3) / 4, below the threshold of 1/4
EUCLIDEAN = [
    # PUF 1, 2, 3: deviation 1; tanh(0.25) = 0.244918662 < 0.25 for p and q, tanh(0.75) for r
    ("a distance", {}, "n", "p 1, q 2, r 3", "e 1.5", {"p e": (0.244918662, 1), "q e": (0.244918662, 1)}),
    # x = 0.6: tanh(0.3) = 0.291; x = 0.4: tanh(0.2) = 0.197375320
    ("beyond the threshold", {}, "n", "p 1, q 2, r 3", "e 1.6", {"q e": (0.19737532, 1)}),
    ("a constant, another value: x = 6", {}, "nccc", "p 4 1 1 1, q 4 2 2 2", "e 5 1 1 1", {"p e": (FARTHEST, 1)}),
    ("a constant, the same value", {}, "nccc", "p 4 1 1 1, q 4 2 2 2", "e 4 1 1 1", {"p e": (0, 1)}),
    ("one PUF record has no deviation: x = 6", {}, "nccc", "p 4 1 1 1", "e 5 1 1 1", {"p e": (FARTHEST, 1)}),
    # PUF 1, 2, 3: 97 deviations count as 6
    ("x = 6 at most", {}, "nccc", "p 3 1 1 1, q 1 2 2 2, r 2 3 3 3", "e 100 1 1 1", {"p e": (FARTHEST, 1)}),
    ("half matching, half missing: √0.25/2 is not below", {}, "cc", "p 1 .", "e 1 1", {}),
    ("the same in the other norm", RMS, "cc", "p 1 .", "e 1 1", {}),
    ("the other norm: √(0.25/4)", RMS, "cccc", "p 1 1 1 .", "e 1 1 1 1", {"p e": (0.25, 1)}),
    # √1/5 = 0.2 < 0.25 as printed; √(1/5) = 0.447 > 0.354
    ("one of five different", {}, "ccccc", "p 1 1 1 1 1", "e 1 1 1 1 2", {"p e": (0.2, 1)}),
    ("one of five different, the other norm", RMS, "ccccc", "p 1 1 1 1 1", "e 1 1 1 1 2", {}),
]  # fmt: skip


@pytest.mark.parametrize(("options", "types", "puf", "eif", "pairs"), cases(EUCLIDEAN))
def test_euclidean(options, types, puf, eif, pairs):
    assert suspected("euclidean", options, types, puf, eif) == pairs


TWO_BANDS = {"bands": [{"within": "2", "score": "5"}, {"within": "0", "score": "3"}]}
A_TENTH = {"bands": [{"within": "0.1", "score": "5", "relative": "true"}]}
FAR_IS_GOOD = {"bands": [{"within": "1", "score": "2"}], "beyond": "3"}
A_IS_B = {"table": [{"puf": "a", "eif": "b", "score": "4.5"}], "otherwise": "1"}
ADHOC = [
    # above 5/2 per variable
    ("half matching, half missing: 5 is not above 5", None, "cc", "p 1 .", "e 1 1", {}),
    ("two of three: 10 > 7.5", None, "ccc", "p 1 1 1", "e 1 1 2", {"p e": (10, 1)}),
    # PUF 1, 2, 3: deviation 1
    ("0.1 deviations included", None, "n", "p 1, q 2, r 3", "e 1.1", {"p e": (5, 1)}),
    ("above 0.1 deviations", None, "n", "p 1, q 2, r 3", "e 1.11", {"p e": (4, 1)}),
    ("0.5 deviations included", None, "n", "p 1, q 2, r 3", "e 2.5", {"q e": (3, 1), "r e": (3, 1)}),
    # p: 0, q: 1 -> 2, r: 2 -> 1 deviations; with a matching code 10, 7, 6, all above 5
    ("the highest is best", None, "nc", "p 1 a, q 2 a, r 3 a", "e 1 a", {"p e": (10, 1), "q e": (7, 1), "r e": (6, 1)}),
    ("a constant: 5 if equal, otherwise 0", None, "n", "p 1, q 1", "e 1, f 1.001", {"p e": (5, 1), "q e": (5, 1)}),
    ("the narrowest closed band counts", TWO_BANDS, "n", "p 10", "e 10, f 12, g 12.01", {"p f": (5, 1), "p e": (3, 2)}),
    ("relative to the PUF's value, ends included", A_TENTH, "n", "p 10, q -10, r 0", "e 11, f 11.1, g -9, h 0, i 0.01",
     {"p e": (5, 1), "q g": (5, 1), "r h": (5, 1)}),
    ("beyond the bands", FAR_IS_GOOD, "n", "p 10", "e 10, f 20", {"p f": (3, 1)}),
    ("a table goes from the PUF to the EIF", A_IS_B, "c", "p a, q b", "e b, f a", {"p e": (4.5, 1)}),
    ("exact for a number", "exact", "n", "p 1", "e 1.0, f 1.1", {"p e": (5, 1)}),
]  # fmt: skip


@pytest.mark.parametrize(("declared", "types", "puf", "eif", "pairs"), cases(ADHOC))
def test_adhoc(declared, types, puf, eif, pairs):
    options = {"scores": {"x0": declared}} if declared else {}
    assert suspected("adhoc", options, types, puf, eif) == pairs


RANKS = [
    # sizes of the ranks, limit, ranks kept
    ("three alone, then twenty", [1, 1, 1, 20], 5, [1, 2, 3]),
    ("the top rank is shared by twenty", [20], 5, []),
    ("exactly five", [5, 1], 5, [1]),
    ("six", [6], 5, []),
    ("five in two ranks", [2, 3, 1], 5, [1, 2]),
    ("a rank that does not fit ends it, though the next would fit", [3, 3, 1], 5, [1]),
    ("limit one", [1, 1], 1, [1]),
]


@pytest.mark.parametrize(("sizes", "limit", "kept"), cases(RANKS))
def test_rank_filter(sizes, limit, kept):
    pairs = [Pair(("p",), (str(r), str(i)), (), score=r) for r, size in enumerate(sizes) for i in range(size)]
    best_last = [Pair(("q",), p.eifid, (), score=-p.score) for p in pairs]
    assert sorted({p.rank for p in keep_ranks(rank(pairs, high_is_best=False), limit)}) == kept
    assert sorted({p.rank for p in keep_ranks(rank(best_last, high_is_best=True), limit)}) == kept
    assert keep_ranks(rank(pairs + best_last, high_is_best=False), 100) == rank(pairs + best_last, high_is_best=False)


def test_ambiguous_records_and_what_is_kept():
    eif = ", ".join([*(f"e{i} 1 1 1 1 1" for i in range(6)), "f 1 1 1 1 ."])
    study = small("ccccc", "p 1 1 1 1 1, q 1 1 1 1 ., r 2 2 2 2 2", eif, metrics={"taxicab": {}})
    result = run(*study).metrics["taxicab"]
    # p: six pairs at 0, one at 0.1; q: all seven at 0.1; r: none
    assert result.ambiguous == {("p",), ("q",)}
    assert result.suspected == {}
    assert {pair.rank for pair in result.scored.values() if pair.pufid == ("p",)} == {1, 2}
    assert len(result.scored) == 14
    study[0]["rank_filter"] = {"max_pairs": "6", "keep": "6"}
    result = run(*study).metrics["taxicab"]
    assert result.ambiguous == {("q",)}
    assert len(result.suspected) == len(result.scored) == 6
    assert result.rates[ALL]["n_ambiguous"] == 1


BY_HAND = """
n_puf n_eif n_links n_pairs n_suspected n_confirmed n_ambiguous n_confirmed_pairs suspected_rate confirmed_rate
conditional_rate conditional_low conditional_high conditional_bound pair_precision reach baseline_rate expected_correct
expected_correct_rate best_rank_correct best_rank_correct_rate n_single n_single_confirmed single_rate n_false_outside
n_compared passing_rate n_findable tolerance
""".split()  # noqa: SIM905 - as a table of names


def test_rates_of_two_strata_worked_by_hand():
    puf, eif = "a1 A 1, a2 A 2, b1 B 1, n0 . 1", "x1 A 1, x2 A 1, x3 A 3, y1 B 1, z1 C 1"
    links = "a1 x1, a1 x1, a2 x2, b1 x3, n0 y1"  # one twice; the last two cross or leave the strata
    result = run(*small("c", puf, eif, links, strata=True, metrics={"taxicab": {}}))
    metric = result.metrics["taxicab"]
    assert set(metric.suspected) == {(("a1",), ("x1",)), (("a1",), ("x2",)), (("b1",), ("y1",))}
    assert metric.confirmed == {(("a1",), ("x1",))}
    assert result.strata == {("A",): (2, 3, 2), ("B",): (1, 1, 0), ("C",): (0, 1, 0)}
    # The second line of each: of the two candidates of a1 one is right, b1 has a single one, n0 is not compared.
    expected = {
        # 1 of 1: 0.025 to 1; baseline 1 − C(2, 2)/C(3, 2) = 2/3; reach 1 of a1, a2
        ("A",): [2, 3, 2, 2, 1, 1, 0, 1, 0.5, 0.5, 1, 0.025, 1, None, 0.5, 0.5, 2 / 3,
                 0.5, 0.5, 0.5, 0.5, 0, 0, None, 0, 2, 0.5, 2, 0],
        # 0 of 1: 0 to 0.975, one-sided to 0.95; y1 is not b1's; b1 has a link elsewhere
        ("B",): [1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0.975, 0.95, 0, 0, 0,
                 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0],
        # nothing to divide by
        ("C",): [0, 1, 0, 0, 0, 0, 0, 0, None, None, None, None, None, None, None, None, None,
                 0, None, 0, None, 0, 0, None, 0, 0, None, 0, 0],
        # 1 of 2: 1 − √0.975 to √0.975; reach 1 of a1, a2, b1, n0; baseline (2/3 + 0)/2
        ALL: [4, 5, 4, 3, 2, 1, 0, 1, 0.5, 0.25, 0.5, 1 - 0.975**0.5, 0.975**0.5, None, 1 / 3, 0.25, 1 / 3,
              0.5, 0.25, 0.5, 0.25, 1, 0, 0, 0, 3, 2 / 3, 2, 0],
    }  # fmt: skip
    assert metric.rates.keys() == expected.keys()
    for stratum, values in expected.items():
        for column, value in zip(BY_HAND, values, strict=True):
            found = metric.rates[stratum][column]
            assert found == (None if value is None else pytest.approx(value, abs=1e-12)), (stratum, column)


def test_wilson_interval():
    # 1 of 2: 0.5 ± z / (2·√(2 + z²)), z = 1.959964
    low, high = interval({"interval": "wilson"}, 1, 2)
    assert (low, high) == (pytest.approx(0.0945312, abs=1e-6), pytest.approx(0.9054688, abs=1e-6))
    assert interval({"interval": "wilson"}, 0, 4)[0] == 0
    assert interval({"interval": "wilson"}, 4, 4)[1] == 1
    assert interval({"interval": "wilson"}, 0, 0) == (None, None)
