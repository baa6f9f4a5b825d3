"""Two releases side by side, and the conclusions from their difference (METHODS §10, "Comparing releases").

The words are those of the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from reident.archive import changes, differences
from reident.archive.changes import Change, Quantities
from reident.archive.differences import FELL, GREW, RISK, SAME, UNCLEAR, Attack, Difference
from reident.archive.releases import Release
from reident.intake.severity import INVALIDATES
from reident.linkage.settings import WHOLE
from reident.outcomes import ATTACK
from reident.pipeline.steps import STEPS

LAYOUT = 1
"""The layout of ``comparison.json``."""

SIDES = ("before", "after")

IDENTICAL, MIXED, HIGHER, LOWER, UNKNOWN = "identical", "mixed", "higher", "lower", "unknown"
"""Conclusions beside those on one difference: nothing differs that was recorded; some measures grew and others fell;
without an attack, the measures of the file are higher, or lower; nothing can be concluded."""

NO_ATTACK, NO_METRIC, NO_LINK, INVALID = "no_attack", "no_metric", "no_link", "invalid"
"""Why the attacks allow no conclusion: a release without one; no common metric; no true link inside a stratum; a
warning that may invalidate the results."""

NO_STRATA, OTHER_STRATA, NO_VALUES, NO_COMMON = "no_strata", "other_strata", "no_values", "no_common"
"""Why only the whole is compared: no strata; different strata variables; values that are not recorded or not unique;
no common stratum."""

FILE, LINKS, INTRUDER, SETTINGS, CODE = "file", "links", "intruder", "settings", "code"
"""What the difference of two attacks may come from."""

MEASURES = {
    "surest": ("surest_right",),
    "file_risk": ("share_unique", "dis"),
    "matching": ("risk_per_target", "true_match_rate"),
}
"""The quantities by which the surest claims, the risk of one file, and of matching, are higher or lower."""

_READERS = {"surest": changes.surest, "file_risk": changes.file_risk, "matching": changes.matching}
"""The function that reads the quantities of each kind."""

CHANGES: dict[str, Callable[[Release, Release], list[Change] | None]] = {
    "files": changes.files,
    "variables": changes.variables,
    "codes": changes.codes,
    "counts": changes.counts,
    "strata": changes.strata,
    "options": changes.options,
    "code": changes.code,
    "verdict": changes.verdict,
    "warnings": changes.warnings,
}


class Reason(NamedTuple):
    """The reasons why the attacks allow no conclusion, and the releases they are about."""

    kind: str
    sides: tuple[str, ...] = SIDES


@dataclass(frozen=True)
class Comparison:
    """Two releases and their differences."""

    before: Release
    after: Release
    # The differences by what they are about, see :data:`CHANGES`; None where a release does not record it.
    changes: dict[str, list[Change] | None]
    # The quantities of the surest claims, `file_risk` and `matching` in both releases, where both have them.
    measures: dict[str, tuple[Quantities, Quantities]]
    rates: list[Difference]
    metrics: tuple[list[str], ...]  # the metrics of both releases, and those of each alone
    reason: Reason | None
    ungrouped: str  # why only the whole is compared; empty if strata are
    same_records: bool  # whether both attacks are on the same released file

    def lines(self, name: str) -> list[Change]:
        """Return the differences of one kind; none where they are not recorded."""
        return self.changes[name] or []

    @property
    def whole(self) -> list[Difference]:
        """Return the differences of the whole study by which the risk grows or falls."""
        return [line for line in self.rates if line.group is None and line.rate in RISK]

    @property
    def by_group(self) -> list[Difference]:
        """Return the changes of the strata, the largest growth first."""
        lines = [line for line in self.rates if line.group is not None and line.rate in RISK]
        lines = [line for line in lines if line.change is not None]
        return sorted(lines, key=lambda line: (-(line.change or 0), line.group or (), line.metric, line.rate))

    @cached_property
    def conclusion(self) -> str:
        """Return the conclusion on the risk."""
        if self.is_identical:
            return IDENTICAL
        if self.reason is None:
            return _joint({line.direction for line in self.whole}, GREW, FELL)
        if self.reason == Reason(NO_ATTACK):
            return _joint(set(self._directions_of_measures()), HIGHER, LOWER)
        return UNKNOWN

    def _directions_of_measures(self) -> Iterator[str]:
        """Yield whether each measure of a file is higher, lower, or the same."""
        for name, (before, after) in self.measures.items():
            for measure in MEASURES[name]:
                old, new = before[measure], after[measure]
                if old is not None and new is not None:
                    yield SAME if old == new else HIGHER if new > old else LOWER

    @property
    def is_identical(self) -> bool:
        """Return whether the releases are the same in everything that was recorded."""
        pairs: list[tuple[Any, Any]] = [*self.measures.values()]
        pairs += [(line.before, line.after) for line in self.rates]
        # Also tables that a bag does not have: the ledger knows their digests.
        old, new = self.before.outputs, self.after.outputs
        common = [path for path in old.keys() & new.keys() if path.endswith(".csv")]
        digests = [(old[path]["sha256"], new[path]["sha256"]) for path in common]
        pairs += [pair for pair in digests if None not in pair]
        differ = any(before != after for before, after in pairs)
        return not (any(self.changes.values()) or any(self.metrics[1:]) or differ)

    @cached_property
    def links_are_known(self) -> bool:
        """Return whether it is recorded if the true links are the same."""
        return changes.links_are_known(self.before, self.after)

    @cached_property
    def causes(self) -> list[str]:
        """Return the possible causes of the difference between the attacks."""
        changed = {line.about for line in self.lines("files") if line.what == "sha256"}
        steps = _attack_steps()
        causes = {
            FILE: "puf" in changed,
            LINKS: "iuf" in changed,
            INTRUDER: "eif" in changed,
            SETTINGS: "functions" in changed or changes.settings(self.lines("options")),
            CODE: any(line.about == "code" and line.what.split(".")[0] in steps for line in self.lines("code")),
        }
        return [name for name, true in causes.items() if true]

    def plain(self) -> dict[str, Any]:
        """Return the comparison as plain values, for ``comparison.json``."""
        return {
            "layout": LAYOUT,
            **{side: getattr(self, side).name for side in SIDES},
            "notes": {side: list(getattr(self, side).notes) for side in SIDES},
            "conclusion": self.conclusion,
            "reason": None if self.reason is None else self.reason._asdict(),
            "causes": self.causes,
            "links_are_known": self.links_are_known,
            "same_records": self.same_records,
            "not_by_stratum": self.ungrouped or None,
            "metrics": dict(zip(("both", *SIDES), self.metrics, strict=True)),
            "changes": {
                name: None if lines is None else [line._asdict() for line in lines]
                for name, lines in self.changes.items()
            },
            "measures": {name: dict(zip(SIDES, pair, strict=True)) for name, pair in self.measures.items()},
            "rates": [line._asdict() | {side: getattr(line, side)._asdict() for side in SIDES} for line in self.rates],
        }


def _joint(directions: set[str], up: str, down: str) -> str:
    """Return the conclusion from those on several measures."""
    if {up, down} <= directions:
        return MIXED
    return next((one for one in (up, down, UNCLEAR, SAME) if one in directions), UNKNOWN)


def _attack_steps() -> set[str]:
    """Return the steps on which the rates depend."""
    steps, todo = set[str](), ["rate"]
    while todo:
        rule = todo.pop()
        steps.add(rule)
        todo += STEPS[rule].after
    return steps


def compare(before: Release, after: Release) -> Comparison:
    """Compare two releases."""
    releases = dict(zip(SIDES, (before, after), strict=True))
    tables = {side: release.table("rates.csv") for side, release in releases.items()}
    names = [[] if table is None else list(dict.fromkeys(table["metric"])) for table in tables.values()]
    common = [name for name in names[1] if name in names[0]]
    reason = _reason(releases, tables, common)
    named = changes.groups(before, after), changes.groups(after, before)
    same_records = _same_records(before, after)
    rates: list[Difference] = []
    if common:
        attacks = [
            Attack(table, groups, str(release.study["rates"]["interval"]), float(release.study["rates"]["level"]))
            for release, table, groups in zip(releases.values(), tables.values(), named, strict=True)
            if table is not None
        ]
        rates = differences.compare(*attacks, same_records=same_records)
    if reason is not None and reason.kind == NO_LINK:  # What nothing can confirm is no rate of 0.
        rates = [line for line in rates if line.rate == "suspected_rate"]
    return Comparison(
        before,
        after,
        {name: compared(before, after) for name, compared in CHANGES.items()},
        {
            name: (old, new)
            for name, read in _READERS.items()
            if (old := read(before)) is not None and (new := read(after)) is not None
        },
        rates,
        (common, *([name for name in metrics if name not in common] for metrics in names)),
        reason,
        _ungrouped(before, after, named),
        same_records,
    )


def _reason(
    releases: Mapping[str, Release], rates: Mapping[str, pd.DataFrame | None], metrics: list[str]
) -> Reason | None:
    """Return why the attacks allow no conclusion."""
    lacking = {
        NO_ATTACK: [side for side, table in rates.items() if table is None],
        NO_METRIC: [] if metrics else SIDES,
        NO_LINK: [side for side, table in rates.items() if table is not None and not _findable(table)],
        INVALID: [side for side, release in releases.items() if _is_invalid(release)],
    }
    return next((Reason(kind, tuple(sides)) for kind, sides in lacking.items() if sides), None)


def _findable(rates: pd.DataFrame) -> bool:
    """Return whether a suspected pair could be confirmed: at least one true link is inside a stratum."""
    column = "n_findable" if "n_findable" in rates else "n_links"
    return bool(rates.loc[rates["stratum"] == WHOLE, column].fillna(0).any())


def _is_invalid(release: Release) -> bool:
    """Return whether a warning may invalidate the results of the attack."""
    table = release.table("verdict/warnings.csv")
    return table is not None and bool(((table["about"] == ATTACK) & (table["severity"] == INVALIDATES)).any())


def _same_records(before: Release, after: Release) -> bool:
    old, new = (changes.sources(release).get("puf") for release in (before, after))
    return old is not None and old == new


def _ungrouped(before: Release, after: Release, named: tuple[Mapping[str, Any], Mapping[str, Any]]) -> str:
    """Return why only the whole is compared."""
    variables = sorted(before.variables("strata"))
    if variables != sorted(after.variables("strata")):
        return OTHER_STRATA
    if not variables:
        return NO_STRATA
    if not all(named):
        return NO_VALUES
    return "" if set(named[0].values()) & set(named[1].values()) else NO_COMMON
