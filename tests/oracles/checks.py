"""What a study made, held against what the oracle says: both of a run in memory and of a folder of results."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from oracles.metrics import ORACLES
from oracles.rating import ALL

ROUNDED = tuple(name for name, oracle in ORACLES.items() if oracle.rounded)
"""The metrics whose scores are doubles, rounded to twelve decimals."""


def check_study(oracle, tables):
    """Strata, kept and suspected pairs, ranks, orders and sets, confirmed pairs and rates of every metric."""
    check_strata(oracle, tables)
    assert set(tables.metrics) == set(oracle.metrics)
    for metric, expected in oracle.metrics.items():
        check_pairs(metric, expected, tables.metrics[metric], tables)
        check_distribution(metric, expected, tables.metrics[metric], tables)
        check_rates(metric, expected, tables)


def check_limit(limit, expected, found, tables):
    """The counts at a rank limit other than the study's own, as if the study had it."""
    strata = strata_of(tables)
    rows = found.rank_curve[found.rank_curve["max_pairs"] == limit].to_dict("records")
    assert {strata[row["stratum"]] for row in rows} == expected.rates.keys()
    for row in rows:
        rates = expected.rates[strata[row["stratum"]]]
        columns = ["n_suspected", "n_confirmed", "n_ambiguous", "n_pairs", "n_confirmed_pairs"]
        assert {column: row[column] for column in columns} == {column: rates[column] for column in columns}
        assert row["expected_correct"] == pytest.approx(float(rates["expected_correct"]), rel=1e-14)


def strata_of(tables):
    """{stratum id: the values of its strata variables}, and of the whole study."""
    names = [variable.name for variable in tables.study.strata]
    rows = tables.manifest[["stratum", *names]].itertuples(index=False)
    return {ALL: ALL} | {row[0]: tuple(row[1:]) for row in rows}


def by_keys(tables, table):
    """The pairs of a table of row numbers with their keys and their stratum; ambiguous records are left out."""
    table = table.filter(pc.is_valid(table["eif"]))
    columns = {}
    for side, names in tables.study.keys.items():
        records = tables.prepared[side].take(table[side])
        columns |= {name: records[name] for name in names}
    line = tables.strata["puf"]["stratum"].take(table["puf"])
    columns["stratum"] = pa.array(tables.manifest["stratum"]).take(line)
    return pa.table(columns | {name: table[name] for name in table.column_names if name not in ("puf", "eif")})


def keyed(tables, table, *columns):
    """{(pufid, eifid): the columns' values, a stratum as the values of its variables}; no pair stands twice."""
    sides = [list(zip(*(table[name].to_pylist() for name in own), strict=True)) for own in tables.study.keys.values()]
    pairs, strata = list(zip(*sides, strict=True)), strata_of(tables)
    assert len(set(pairs)) == len(pairs)
    values = [table[column].to_pylist() for column in columns]
    if columns[0] == "stratum":
        values[0] = [strata[stratum] for stratum in values[0]]
    return dict(zip(pairs, zip(*values, strict=True), strict=True))


def check_ambiguous(expected, found, tables):
    """The records of which nothing is kept are those that are ambiguous where `keep` is the limit."""
    for table in (found.scores, found.suspected):
        rows = table.filter(pc.is_null(table["eif"]))
        records = tables.prepared["puf"].take(rows["puf"])
        ambiguous = list(zip(*(records[name].to_pylist() for name in tables.study.keys["puf"]), strict=True))
        assert len(ambiguous) == len(set(ambiguous))
        assert set(ambiguous) == expected.ambiguous
        assert all(rows[name].null_count == len(rows) for name in rows.column_names if name != "puf")


def check_strata(oracle, tables):
    manifest, strata = tables.manifest, strata_of(tables)
    counts = manifest[["n_puf", "n_eif", "n_links"]].itertuples(index=False, name=None)
    assert dict(zip((strata[s] for s in manifest["stratum"]), counts, strict=True)) == oracle.strata
    assert manifest["pairs"].sum() == sum(n_puf * n_eif for n_puf, n_eif, _ in oracle.strata.values())


def check_pairs(metric, expected, found, tables):
    scores, suspected = by_keys(tables, found.scores), by_keys(tables, found.suspected)
    for table in (found.scores, found.suspected):
        assert table.column("puf").type == table.column("eif").type == pa.int32()
    if metric == "unicity":
        orders = {pair: (p.stratum, p.order) for pair, p in expected.suspected.items()}
        sets = {pair: (sum(2**j for j in p.variables),) for pair, p in expected.suspected.items()}
        assert keyed(tables, scores, "stratum", "order") == orders
        assert keyed(tables, scores, "variables") == sets
        assert keyed(tables, suspected, "stratum", "order") == orders
        assert keyed(tables, found.confirmed, "stratum", "order") == orders
    else:
        check_scores(metric, expected.scored, keyed(tables, scores, "stratum", "score"))
        check_scores(metric, expected.scored, keyed(tables, suspected, "stratum", "score"))
        assert keyed(tables, suspected, "rank", "max_pairs") == limits_of(expected.scored), metric
        ranked = {pair: (p.stratum, p.rank) for pair, p in expected.suspected.items()}
        assert keyed(tables, found.confirmed, "stratum", "rank") == ranked, metric
        check_scores(metric, expected.suspected, keyed(tables, found.confirmed, "stratum", "score"))
    confirmed = {pair: (p.stratum, pair in expected.confirmed) for pair, p in expected.suspected.items()}
    assert keyed(tables, found.confirmed, "stratum", "confirmed") == confirmed, metric
    assert by_keys(tables, found.positions)["confirmed"].equals(found.confirmed["confirmed"])
    assert keyed(tables, by_keys(tables, found.positions), "stratum", "confirmed") == confirmed, metric


def limits_of(pairs):
    """{(pufid, eifid): rank, and the number of pairs of the pufid that have this rank or a better one}."""
    ranks = {}
    for pair in pairs.values():
        ranks.setdefault(pair.pufid, []).append(pair.rank)
    return {key: (p.rank, sum(rank <= p.rank for rank in ranks[p.pufid])) for key, p in pairs.items()}


def check_scores(metric, expected, found):
    """Scores exactly; those that are rounded but for one unit of their twelfth decimal.

    Both sides round a double whose last bits depend on how it was computed, so that a score in the middle of two
    roundings may go either way.
    """
    close = 1.5e-12 if metric in ROUNDED else 0
    assert found.keys() == expected.keys(), metric
    for pair, (stratum, score) in found.items():
        assert stratum == expected[pair].stratum, metric
        assert abs(score - float(expected[pair].score)) <= close, metric


def rounding_splits_a_tie(oracle, tables):
    """Whether two rounded scores of one record differ by no more than two roundings, on either side.

    Then equal scores may have been rounded apart on one side alone, and ranks differ though nothing is wrong.
    """
    sides = [{pair: (p.score,) for pair, p in oracle.metrics[name].scored.items()} for name in ROUNDED]
    sides += [keyed(tables, by_keys(tables, tables.metrics[name].scores), "score") for name in ROUNDED]
    return any(
        a[0] == b[0] and 0 < b[1] - a[1] < 2.5e-12
        for side in sides
        for a, b in pairwise(sorted((pufid, score) for (pufid, _), (score,) in side.items()))
    )


def almost_tied(pairs):
    """Whether two scores differ by less than rounding, so that equal ones may be rounded apart on one side alone."""
    scores = sorted({score for _, _, score in pairs})
    return any(0 < other - one < Fraction(3, 10**12) for one, other in pairwise(scores))


def check_distribution(metric, expected, found, tables):
    pairs, records = Counter(), {}
    for pair in expected.scored.values():
        for stratum in (ALL, pair.stratum):
            line = stratum, pair.order if metric == "unicity" else pair.rank
            pairs[line] += 1
            records.setdefault(line, set()).add(pair.pufid)
    strata = strata_of(tables)
    lines = found.distribution.itertuples(index=False, name=None)
    assert {(strata[s], level): (n_pufids, n_pairs) for s, level, n_pufids, n_pairs in lines} == {
        line: (len(records[line]), n) for line, n in pairs.items()
    }, metric


def check_rates(metric, expected, tables):
    """Counts exactly, rates but for the last bits of a double; an empty field where a rate is undefined.

    The claims that are right at the study's rank limit are the same to the last bit.
    """
    strata, rows = strata_of(tables), tables.rates[tables.rates["metric"] == metric]
    assert {"metric", "stratum", *expected.rates[ALL]} == set(rows), "the oracle knows other columns than rates.csv has"
    assert [strata[stratum] for stratum in rows["stratum"]] == list(expected.rates)
    for row in rows.to_dict("records"):
        for column, value in expected.rates[strata[row["stratum"]]].items():
            found = None if pd.isna(row[column]) else float(row[column])
            close = value if value is None else pytest.approx(float(value), rel=1e-12, abs=1e-12)
            assert found == close, (metric, column)
    curve = tables.metrics[metric].rank_curve
    at_limit = curve[curve["max_pairs"] == tables.study.rank_filter.max_pairs]
    assert metric == "unicity" or list(at_limit["expected_correct"]) == list(rows["expected_correct"])
