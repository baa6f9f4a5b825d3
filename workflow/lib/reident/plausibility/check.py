"""Check the description of a study by its links and files: the step `check_description` (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd
import pyarrow as pa

from reident.intake.severity import NOTABLE
from reident.plausibility import categories, files, grouping, joins, links, numbers, order, parts, recodes
from reident.plausibility.findings import MIN_LINKS, Finding, table
from reident.plausibility.records import Records, read
from reident.plausibility.settings import DescriptionCheckSettings


def check(
    settings: DescriptionCheckSettings,
    prepared: Mapping[str, pa.Table],
    iuf: pa.Table,
    strata: Mapping[str, pa.Table],
    account: pd.DataFrame,
    texts: Mapping[str, pa.Table] | None = None,
) -> pd.DataFrame:
    """Check the description of a study by its links and files.

    Parameters
    ----------
    prepared : mapping of pyarrow.Table
        The prepared ``puf`` and ``eif``.
    iuf : pyarrow.Table
        The links by row number.
    strata : mapping of pyarrow.Table
        The stratum of each record, by side.
    account : pandas.DataFrame
        The row accounts of typing and of the strata, one after the other.
    texts : mapping of pyarrow.Table, optional
        The text of the keys of both files, and of the columns that may group rows.

    Returns
    -------
    pandas.DataFrame
        With the columns that `columns.csv` declares. What is learnt from a sample depends on the keys of its
        records, and on nothing else.
    """
    records = read(settings, prepared, iuf, strata)
    found = [*findings(records, account), *order.check(records, prepared, settings.keys)]
    if settings.files is not None:
        agreement = {finding.scope: finding.statistic for finding in found if finding.check == "agreement"}
        found += recodes.check(settings.files, agreement, records.links.n)
    if texts and settings.files is not None and grouping.is_of_rows(prepared):
        wanted = grouping.candidates(settings.files, {side: text.column_names for side, text in texts.items()})
        found += grouping.check(records, grouping.coded(settings.files, wanted, texts))
    return table(found)


def findings(records: Records, account: pd.DataFrame) -> Iterator[Finding]:
    """Yield the measurements of every check, variable by variable, then of the links and of the files."""
    agreement = None if records.profiles else links.evidence(records)
    for name in records.variables:
        yield from _variable(records, name, links.Trial(records, agreement, name))
    yield from links.account(account)
    if records.links.n < MIN_LINKS:
        few = "few_linked_units" if records.profiles else "few_links"
        yield Finding("iuf", few, records.links.n, n=records.links.n, severity=NOTABLE)
    if records.profiles:  # units are compared as wholes; what follows compares records, value by value
        yield from links.split(records)
        return
    yield from parts.check(records)
    repeated = list(files.repeats(records))
    joined = joins.check(records)  # what records of a file have of each other is no measure where they repeat
    yield from (one for one in joined if one.check not in joins.JOINS or not any(two.severity for two in repeated))
    if agreement is not None:
        yield from links.partners(agreement)
        yield from links.missing(records, agreement.weights, joins.exact(records))
    yield from repeated
    yield from files.distances(records)


def _variable(records: Records, name: str, trial: links.Trial) -> Iterator[Finding]:
    values, pairs = records.variables[name], records.links
    codes = values.codes["puf"][pairs.puf], values.codes["eif"][pairs.eif]
    chance = records.chance(values.codes)
    if values.numbers is None:
        return categories.check(name, *codes, chance, trial)
    linked = values.numbers["puf"][pairs.puf], values.numbers["eif"][pairs.eif]
    return numbers.check(name, *linked, pairs.half, codes, chance, trial, dates=values.is_date)
