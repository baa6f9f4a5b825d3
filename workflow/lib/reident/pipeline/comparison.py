"""The comparison of a study's variants: what each of them found, line by line beside what varies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from reident.linkage.ranking import WHOLE
from reident.matching.summary import MEAN

if TYPE_CHECKING:
    from reident.pipeline.family import Member
    from reident.study.model import Study


class Compared(NamedTuple):
    """A table of a study that is compared: where it lies, and the lines that stand for the whole study."""

    path: str
    column: str
    value: str


TABLES = {
    "rates": Compared("rates.csv", "stratum", WHOLE),
    "agreements": Compared("agreements.csv", "stratum", WHOLE),
    "matching": Compared("matching/summary.csv", "file", MEAN),
    "filerisk": Compared("filerisk/definitions.csv", "chosen", "True"),
}
"""The tables that are compared, by name."""


def tables(study: Study) -> list[str]:
    """The names of the tables that a study and its variants have in common; none without variants."""
    sections = {name: getattr(study, name) for name in ("matching", "file_risk", "variants")}
    return asked({**sections, "metrics": study.chosen})


def asked(study: Mapping[str, Any]) -> list[str]:
    """As :func:`tables`, of a study in plain values, as ``study.json`` has it."""
    metrics = {name for name, options in (study.get("metrics") or {}).items() if options is not None}
    made = {
        "rates": bool(metrics),
        "agreements": "winkler" in metrics,
        "matching": study.get("matching") is not None,
        "filerisk": study.get("file_risk") is not None,
    }
    return [name for name in TABLES if study.get("variants") and made[name]]


def compare(name: str, members: Sequence[Member], found: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The lines of one table of every variant.

    Parameters
    ----------
    name : str
        Of :data:`TABLES`.
    members : sequence of Member
        The study and its variants.
    found : sequence of pandas.DataFrame
        The table of each of them, as text.

    Returns
    -------
    pandas.DataFrame
        ``variant``; ``reference``, ``yes`` for the study as it stands; ``set_…``, the label of each thing that
        varies; then the columns of the table, in the order of the members and of their tables.
    """
    kept = TABLES[name]
    lines = []
    for member, table in zip(members, found, strict=True):
        own = table[table[kept.column] == kept.value].drop(columns=kept.column)
        own.insert(0, "variant", member.variant)
        own.insert(1, "reference", "yes" if member.place == "" else "no")
        for at, (varied, label) in enumerate(member.labels.items(), start=2):
            own.insert(at, f"set_{varied}", label)
        lines.append(own)
    return pd.concat(lines, ignore_index=True)
