"""Whether the rows of a synthetic file correspond to those of the confidential file (METHODS §8).

Known variables are released as they are. Where rows correspond, they agree row by row; in a random order of the rows
they agree as often as by chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from reident.intake import keys
from reident.intake.severity import INVALIDATES, NOTABLE, UNDERSTATES, StudyWarning, of_share
from reident.language.messages import Fields
from reident.linkage.tally import cases
from reident.matching.pairing import MIN_RECORDS, Pairing, tell

Finding = Literal["agree", "unknown", "differ", "another_order", "another_key", "fully_synthetic"]
"""All rows agree; no known variable can tell; some rows differ; the rows are in another order; the rows agree as they
are in the files, but not by the key; nothing agrees."""

INVALID = ("another_order", "another_key", "fully_synthetic")
"""Findings after which the matches of a file mean nothing."""

MIN_CORRESPONDENCE = 0.5
"""Rows without a key are in another order below this."""

_SAME_ROWS = 0.99
"""From this share of rows that agree in some order, both files have the same rows on the known variables."""

_DEVIATIONS = 4
"""Standard deviations above chance from which a variable agrees more often than by chance."""


class Correspondence(NamedTuple):
    """The agreement of a synthetic file with the confidential file on the known variables.

    `columns.csv` says what each field is. Missing values agree with missing values; the
    correspondence is about 0 in a random order, and NaN if no order has more rows that agree than another.
    """

    n_records: int
    n_agree: int
    n_possible: int
    by_chance: float
    correspondence: float
    finding: Finding


def compare(
    confidential: pa.Table, synthetic: pa.Table, variables: Sequence[str], *, keyed: bool
) -> tuple[Correspondence, dict[str, int]]:
    """Compare two typed files on the known variables, and count the rows in which each variable differs.

    Row i of one file corresponds to row i of the other; `keyed` says whether a key tells which rows correspond.
    """
    n = confidential.num_rows
    columns, differ, by_chance_only = [np.zeros(2 * n, np.int32)], {}, bool(variables)
    for name in variables:
        codes = _coded(confidential[name], synthetic[name])
        differ[name] = int((codes[0] != codes[1]).sum())
        chance = _common(codes)[0] / n
        spread = math.sqrt(chance * max(1 - chance / n, 0))
        by_chance_only &= n - differ[name] <= chance + _DEVIATIONS * spread
        columns.append(codes.ravel().astype(np.int32))
    joint = cases(*columns)[1].reshape(2, n)
    agree = int((joint[0] == joint[1]).sum())
    products, possible = _common(joint)
    span = n * possible - products
    value = (n * agree - products) / span if span else math.nan
    finding: Finding = "differ"
    if agree == n:
        finding = "unknown" if math.isnan(value) else "agree"
    elif not value >= MIN_CORRESPONDENCE:  # also where it is NaN, since no two rows agree
        if not keyed and possible >= _SAME_ROWS * n:
            finding = "another_order"
        elif by_chance_only:
            finding = "fully_synthetic"
    comparison = Correspondence(n, agree, possible, products / n, value, finding)
    return comparison, {name: rows for name, rows in differ.items() if rows}


def warnings(file: str, comparison: Correspondence, differ: Mapping[str, int], *, keyed: bool) -> list[StudyWarning]:
    """Return the warnings for the analyst about a synthetic file."""
    n, agree = comparison.n_records, comparison.n_agree
    others, share = n - agree, (n - agree) / n
    if comparison.finding == "another_order":
        counts = {"n": agree, "rows": n, "possible": comparison.n_possible}
        return [StudyWarning(INVALIDATES, "another_order", {"file": file, **counts}, others, share)]
    if comparison.finding == "fully_synthetic":
        fields: Fields = {"file": file, "reason": "keys_differ" if keyed else "rows_differ"}
        return [StudyWarning(INVALIDATES, "fully_synthetic", fields, others, share)]
    if comparison.finding == "another_key":
        return [StudyWarning(INVALIDATES, "another_key", {"file": file})]
    if comparison.finding == "differ":
        fields = {"file": file, "rows": differ, "advice": "synthesized" if keyed else "give_id"}
        severity = NOTABLE if keyed else of_share(share)
        return [StudyWarning(severity, "differ", fields, others, share)]
    return []


def judge_pairing(
    file: str, comparison: Correspondence, by_key: Pairing, by_row: Pairing | None, *, keyed: bool, matched: bool
) -> tuple[Correspondence, list[StudyWarning]]:
    """Judge by all variables, synthesized ones too, what known ones do not tell.

    `by_key` are the records as they are matched, `by_row` those of a file with a key as they are in the files; None if
    the files differ in size. `matched` says whether the matches are all that is asked for.
    """
    told = tell(by_key, by_row if keyed else None)
    if told == "rows":
        return comparison._replace(finding="another_key"), []
    if comparison.finding != "unknown" or (told == "key" and by_key.records >= MIN_RECORDS):
        return comparison, []
    if told == "neither":
        fields: Fields = {"file": file, "reason": "keys_differ" if keyed else "rows_differ"}
        return comparison, [StudyWarning(UNDERSTATES if matched else NOTABLE, "by_chance", fields)]
    return comparison, [] if keyed else [StudyWarning(NOTABLE, "unknown_order", {"file": file})]


def _coded(*columns: pa.ChunkedArray) -> np.ndarray:
    """Return codes of both columns, equal for equal values: int64 (2, n); missing is a value of its own."""
    if pa.types.is_string(columns[0].type) or pa.types.is_dictionary(columns[0].type):
        return np.stack(keys.text_codes(columns)[0]).astype(np.int64) + 1
    values = np.stack([column.to_numpy().astype(np.float64) for column in columns])
    return _dense(np.where(np.isnan(values), np.nan, values + 0.0))  # one bit pattern for each value


def _dense(values: np.ndarray) -> np.ndarray:
    """Return codes from 0, equal for equal values: int64 (2, n)."""
    codes = pa.array(values.ravel()).dictionary_encode().indices
    return codes.to_numpy().reshape(values.shape).astype(np.int64)


def _common(codes: np.ndarray) -> tuple[int, int]:
    """Return the sums of the products and of the minima of both files' counts of each code.

    The first is n times the agreements expected in a random order, the second the most in any order.
    """
    size = int(codes.max(initial=0)) + 1
    counts, others = (np.bincount(file, minlength=size) for file in codes)
    return int((counts * others).sum()), int(np.minimum(counts, others).sum())
