"""The gate of the releasable edition: typed tables in, published tables out, and nothing beside them (METHODS §11).

Exact counts end here: what passes depends on what is published of each count, and on what the public knows, alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from reident.errors import InputError
from reident.linkage.settings import WHOLE
from reident.pipeline import release as versions
from reident.pipeline.releasing import ReleaseSettings
from reident.release import (
    containment,
    file_relations,
    joint,
    outcomes,
    policies,
    published,
    suppression,
    unit_containment,
)
from reident.release.cells import SUPPRESSED, Cell, Published
from reident.release.collect import Tables
from reident.release.containment import Containments
from reident.release.earlier import Edition, is_own
from reident.release.facts import Facts, LimitOutcome
from reident.release.linear import ContradictionError, Relation
from reident.release.relations import relations
from reident.sections.language import DEFAULT_LANGUAGE
from reident.sections.linkage import Rates
from reident.sections.release import Policy

KNOWN = {"puf": "n_puf", "eif": "n_eif"}
"""The count that who holds a file knows of each stratum."""

DEFAULT_INTERVAL = Rates().interval
"""The method of intervals that a record does not name."""

EDITION = 1
"""The version of the public files' form."""


class Passed(NamedTuple):
    """The output of the gate: the published tables and the record of the rules; and the audit, which stays."""

    tables: dict[str, pd.DataFrame]  # by the names of the step's outputs
    record: str  # JSON
    audit: pd.DataFrame  # one line per count of the edition
    is_least: bool  # False where the search for suppressions reached its limit, and more is suppressed than necessary


def approve(
    settings: ReleaseSettings,
    policy: Policy,
    results: Mapping[Path, pd.DataFrame],
    after: Sequence[Edition] = (),
    progress: Callable[[float], None] | None = None,
) -> Passed:
    """Round, audit and suppress the numbers of a study (METHODS §11).

    Parameters
    ----------
    settings : ReleaseSettings
    policy : Policy
    results : mapping of pandas.DataFrame
        The tables whose numbers are in the edition, by their path; in the declared types.
    after : sequence of Edition
        The earlier editions, with which the new one is audited.
    progress : callable, optional
        Takes the share of the solver calls that are spent.

    Raises
    ------
    InputError
        For a table or a column that does not say how it leaves, or two tables that contradict each other.
    """
    tables = Tables(settings, results)
    counts = tables.counts()
    rounded = {cell: policies.publish(policy, count, _name(cell), settings.seed) for cell, count in counts.items()}
    # The rank limit in force by metric, 0 where there is none.
    rank_limits = {name: settings.max_pairs if name in settings.ranked else 0 for name, _ in settings.metrics}
    judged = tables.lines("verdict/limits.csv")
    limit_outcomes = outcomes.publish(judged, rounded, rank_limits, by_estimate=settings.by_estimate)
    known_quantities = {KNOWN[file] for file in settings.known}
    public_counts = {cell: count for cell, count in counts.items() if cell.quantity in known_quantities}
    if settings.counts_units and settings.file_is_puf and "puf" in settings.known:
        # Whoever holds the file counts its rows, too.
        public_counts |= {cell: n for cell, n in counts.items() if cell in file_relations.ROWS}
    sums = _sums(counts)
    containments = unit_containment.find(settings.attacks, complete=tables.complete, single=tables.single)
    several = settings.counts_units and "puf" not in tables.single
    facts = _facts(settings, tuple(tables.strata.values()), sums, containments, several=several)
    work = _Audit(facts, rounded, public_counts, policy, after, progress, settings.counts_units)
    protection = work.run(limit_outcomes)
    if limit_outcomes and work.tell(protection):
        limit_outcomes = []
        protection = work.run(limit_outcomes)
    texts = {cell: policies.WITHHELD if cell in protection.suppressed else count for cell, count in rounded.items()}
    return Passed(
        _tables(settings, tables, published.Rounded(texts, policy, settings.interval, settings.level), limit_outcomes),
        _record(settings, policy, texts, after, sums, containments),
        _audit(texts, protection, public_counts),
        protection.is_least,
    )


def _tables(
    settings: ReleaseSettings, tables: Tables, rounded: published.Rounded, limit_outcomes: list[LimitOutcome]
) -> dict[str, pd.DataFrame]:
    """Return the tables of the edition."""
    metrics, strata = [name for name, _ in settings.metrics], list(tables.strata.values())
    return {
        "attack": published.attack(rounded, metrics, strata),
        "clusters": published.clusters(rounded, metrics, strata),
        "file": published.file(rounded),
        "matching": published.matching(rounded),
        "cut_points": published.cut_points(tables.lines("binned/cutpoints.csv"), rounded, tables.strata),
        "limits": outcomes.table(tables.lines("verdict/limits.csv"), limit_outcomes),
    }


class _Audit(NamedTuple):
    """The input of the audit of an edition beside the published outcomes of limits."""

    facts: Facts  # but for the outcomes of limits
    rounded: Mapping[Cell, Published]
    public_counts: Mapping[Cell, int]
    policy: Policy
    after: Sequence[Edition]
    progress: Callable[[float], None] | None
    counts_units: bool

    def relations(self, limit_outcomes: list[LimitOutcome], cells: Mapping[Cell, Published]) -> list[Relation]:
        """Return every relation between counts of the edition."""
        public = {cell: Published(str(n), n, n, n) for cell, n in self.public_counts.items()}
        return relations({**cells, **public}, self.facts._replace(outcomes=tuple(limit_outcomes)))

    def run(self, limit_outcomes: list[LimitOutcome]) -> suppression.Protected:
        """Suppress counts that the others and the outcomes would reveal; an error if no study has all the counts."""
        policies_ = [self.policy, *(Policy.model_validate(edition.policy) for edition in self.after)]
        cells, after = self.rounded, []
        if self.after:
            cells = joint.in_strata(cells, self.facts.strata)
        for edition in self.after:
            earlier = edition._replace(
                cells=joint.in_strata(edition.cells, edition.strata),
                counts_otherwise=bool(edition.record.get("units")) != self.counts_units,
            )
            after.append((earlier, relations(earlier.cells, _facts_of(earlier))))
        try:
            return joint.protect_jointly(
                cells,
                self.relations(limit_outcomes, cells),
                after,
                self.public_counts,
                _required(policies_),
                self.progress,
            )
        except ContradictionError:
            raise InputError(
                "release.after: no study has the counts of these editions. Name earlier ones as they were published."
                if self.after
                else "rates.csv: no study has these counts. Run the study again in an empty folder."
            ) from None

    def tell(self, protection: suppression.Protected) -> bool:
        """Return whether outcomes tell a count closer than the policy asks, however many counts are suppressed."""
        capped = {
            cell: audit.policy_width
            for cell, audit in protection.audit.items()
            if cell in self.rounded and audit.required < audit.policy_width
        }
        if not capped:
            return False
        unpublished = self.relations([], self.rounded)
        widths = suppression.unpublished(self.rounded, unpublished, self.public_counts, capped)
        return any(widths[cell].possible(width) > protection.audit[cell].required for cell, width in capped.items())


def _name(cell: Cell) -> str:
    """Return the name of a count for random rounding: counts of one thing that are equal are published alike."""
    return json.dumps(cell._replace(variant="", rank_limit=0), ensure_ascii=False, separators=(",", ":"))


def _sums(counts: Mapping[Cell, int]) -> dict[str, bool]:
    """Return whether strata sum to their total: readers guess it, so it is public, and the audit knows it."""
    sums: dict[str, bool] = {}
    for name, quantity in (("puf_in_strata", "n_puf"), ("nested_clusters", "n_clusters")):
        strata = {cell.stratum: n for cell, n in counts.items() if cell.quantity == quantity and is_own(cell)}
        # A cluster in no stratum would make up in the sum for one that is in two.
        if strata and sums.get("puf_in_strata", True):
            sums[name] = strata.pop(WHOLE) == sum(strata.values())
    return sums


def _required(by: Sequence[Policy]) -> Callable[[Cell, Published], float]:
    """Return the width that the policy of the edition, or of an earlier one, asks for of each count."""

    def width(cell: Cell, count: Published) -> float:
        protect = by[joint.edition_of(cell)].protect
        share = protect.small if count.value is None else protect.rounded
        return 0 if count.text == SUPPRESSED else math.floor(share * (count.high - count.low))

    return width


def _facts(
    settings: ReleaseSettings,
    strata: tuple[str, ...],
    sums: Mapping[str, bool],
    containments: Containments,
    *,
    several: bool,
) -> Facts:
    """Return the public facts about the study beside its counts and the outcomes of its limits."""
    return Facts(
        strata=strata,
        stratified=bool(settings.strata),
        puf_in_strata=sums.get("puf_in_strata"),
        nested_clusters=sums.get("nested_clusters"),
        unranked=frozenset(name for name, _ in settings.metrics) - frozenset(settings.ranked),
        containments=containments,
        same_files=frozenset(settings.alike.files),
        same_records=frozenset(settings.attacks),
        same_attack=frozenset(settings.alike.attacks),
        file_is_puf=settings.file_is_puf,
        several_rows=several,
        nested_scenarios=settings.nested_scenarios,
    )


def _facts_of(edition: Edition) -> Facts:
    """Return the public facts about an earlier study from its edition."""
    ranked = {cell.metric for cell in edition.cells if cell.rank_limit}
    return Facts(
        strata=edition.strata,
        stratified=bool(edition.record["strata"]),
        puf_in_strata=edition.record.get("puf_in_strata"),
        nested_clusters=edition.record.get("nested_clusters"),
        containments=containment.recorded(edition.record.get("containments")),
        unranked=frozenset(edition.record["metrics"]) - ranked,
    )


def _record(
    settings: ReleaseSettings,
    policy: Policy,
    texts: Mapping[Cell, Published],
    after: Sequence[Edition],
    sums: Mapping[str, bool],
    containments: Containments,
) -> str:
    """Return the record of the rules that were applied, as JSON: no digest, no path, no count but of counts."""
    statuses = [_status(count) for count in texts.values()]
    heading = settings.heading
    content = {
        "study": settings.study,
        "title": heading.title,
        "agency": heading.agency,
        "date": heading.date.isoformat() if heading.date else None,
        **({"language": heading.language} if heading.language != DEFAULT_LANGUAGE else {}),
        "edition": EDITION,
        "reident": versions.recorded()["version"],
        "policy": policy.model_dump(mode="json"),
        "known": list(settings.known),
        **({"interval": settings.interval} if settings.interval != DEFAULT_INTERVAL else {}),
        "level": settings.level,
        "rank_limit": settings.max_pairs,
        "metrics": dict(settings.metrics),
        "ranked": list(settings.ranked),
        "strata": list(settings.strata),
        **({"units": True} if settings.counts_units else {}),
        **sums,
        **({"containments": containments._asdict()} if settings.metrics else {}),
        "variables": list(settings.linking_variables),
        "variants": {name: dict(labels) for name, labels in settings.variants.items()},
        "counts": {name: statuses.count(name) for name in ("exact", "rounded", "small", "suppressed")},
        "after": [{"title": edition.title, "date": edition.date} for edition in after],
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _status(count: Published) -> str:
    """Return the treatment of a count."""
    if count.text == SUPPRESSED:
        return "suppressed"
    if count.value is None:
        return "small"
    return "exact" if count.low == count.high else "rounded"


def _audit(
    texts: Mapping[Cell, Published], protection: suppression.Protected, public_counts: Mapping[Cell, int]
) -> pd.DataFrame:
    """Return the derivable range of each count of the edition, in sorted order."""
    rows = []
    for cell, count in sorted(texts.items()):
        audit = protection.audit[cell]
        status = "public" if cell in public_counts else _status(count)
        rows.append([*cell, count.text, status, audit.policy_width, audit.required, audit.width.proven])
    return pd.DataFrame(rows, columns=published.columns("audit"))
