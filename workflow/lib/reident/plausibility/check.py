"""Check the description of a study by its links and files: the step `check_description` (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd
import pyarrow as pa

from reident.intake.severity import NOTABLE, UNDERSTATES
from reident.plausibility import categories, files, grouping, joins, links, numbers, order, parts, recodes
from reident.plausibility.findings import MIN_LINKS, Finding, table
from reident.plausibility.records import Records, read
from reident.plausibility.settings import DescriptionCheckSettings

UNCERTAIN = frozenset({"no_better_than_chance", "monotone"})
"""Checks whose findings may be true of the people: what was measured at another time, or tells little."""

MAX_CHANCE = 0.65
"""The largest share of strangers that agree on a categorical variable that decides more than a little."""


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
        yield from _weighed(_variable(records, name), agreement)
    yield from links.account(account)
    if records.links.n < MIN_LINKS:
        few = "few_linked_units" if records.profiles else "few_links"
        yield Finding("iuf", few, records.links.n, n=records.links.n, severity=NOTABLE)
    if records.profiles:  # units are compared as wholes; what follows compares records, value by value
        yield from links.split(records)
        return
    yield from parts.check(records)
    yield from joins.check(records)
    if agreement is not None:
        yield from links.partners(agreement)
        yield from links.missing(records, agreement.weights)
    yield from files.repeats(records)
    yield from files.distances(records)


def _weighed(found: Iterable[Finding], agreement: links.Evidence | None) -> Iterator[Finding]:
    """Yield findings, those that may be of right descriptions by whether the attack finds more without the variable."""
    for finding in found:
        is_number = finding.check == "no_better_than_chance" and not finding.chance
        decides = finding.statistic > -0.15 if is_number else 0 < finding.chance < MAX_CHANCE
        if agreement is not None and finding.check in UNCERTAIN and not decides:
            severity = UNDERSTATES if links.hinders(agreement, finding.scope) else NOTABLE
            yield finding._replace(severity=severity)
        else:
            yield finding


def _variable(records: Records, name: str) -> Iterator[Finding]:
    values, pairs = records.variables[name], records.links
    codes = values.codes["puf"][pairs.puf], values.codes["eif"][pairs.eif]
    chance = records.chance(values.codes)
    if values.numbers is None:
        return categories.check(name, *codes, pairs.half, chance)
    linked = values.numbers["puf"][pairs.puf], values.numbers["eif"][pairs.eif]
    return numbers.check(name, *linked, pairs.half, codes, chance, dates=values.is_date)
