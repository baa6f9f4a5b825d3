"""Two releases side by side, and what may be concluded from their difference (METHODS §10, "Comparing releases").

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
from reident.pipeline.steps import STEPS
from reident.pipeline.tables import WHOLE
from reident.verdict.warnings import ATTACK

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

MEASURES = {"file_risk": ("share_unique", "dis"), "matching": ("risk_per_target", "true_match_rate")}
"""The quantities by which the risk of one file, and of matching, is higher or lower."""

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
    """Why the attacks allow no conclusion, and the releases of which it is true."""

    kind: str
    sides: tuple[str, ...] = SIDES


@dataclass(frozen=True)
class Comparison:
    """Two releases and what differs.

    Attributes
    ----------
    before, after : Release
    changes : dict
        The differences by what they are about, see :data:`CHANGES`; None where a release does not record it.
    measures : dict
        The quantities of `file_risk` and `matching` in both releases, where both have them.
    rates : list of Difference
    metrics : tuple of list of str
        The metrics of both releases, and those of each alone.
    reason : Reason or None
    ungrouped : str
        Why only the whole is compared; empty if strata are.
    same_records : bool
        Whether both attacks are on the same released file.
    """

    before: Release
    after: Release
    changes: dict[str, list[Change] | None]
    measures: dict[str, tuple[Quantities, Quantities]]
    rates: list[Difference]
    metrics: tuple[list[str], list[str], list[str]]
    reason: Reason | None
    ungrouped: str
    same_records: bool

    def lines(self, name: str) -> list[Change]:
        """Return the differences of one kind; none where they are not recorded."""
        return self.changes[name] or []

    @property
    def whole(self) -> list[Difference]:
        """Return the differences of the whole study by which the risk grows or falls."""
        return [line for line in self.rates if line.group is None and line.rate in RISK]

    @property
    def by_group(self) -> list[Difference]:
        """Return those of the strata, the largest growth first."""
        known = [
            line
            for line in self.rates
            if line.group is not None and line.rate in RISK and line.change is not None
        ]
        return sorted(known, key=lambda line: (-(line.change or 0), line.group or (), line.metric, line.rate))

    @cached_property
    def conclusion(self) -> str:
        """Return what can be said of the risk."""
        if self.is_identical:
            return IDENTICAL
        if self.reason is None:
            return _joint({line.direction for line in self.whole}, GREW, FELL)
        if self.reason == Reason(NO_ATTACK):
            return _joint(set(self._observed()), HIGHER, LOWER)
        return UNKNOWN

    def _observed(self) -> Iterator[str]:
        """Yield whether each measure of a file is higher, lower, or the same."""
        for name, pair in self.measures.items():
            for before, after in (tuple(own[measure] for own in pair) for measure in MEASURES[name]):
                if before is not None and after is not None:
                    yield SAME if before == after else HIGHER if after > before else LOWER

    @property
    def is_identical(self) -> bool:
        """Return whether the releases are the same in everything that was recorded."""
        pairs: list[tuple[Any, Any]] = [*self.measures.values()]
        pairs += [(line.before, line.after) for line in self.rates]
        # Also tables that a bag does not have: the ledger knows their digests.
        digests = [
            {path: line["sha256"] for path, line in release.outputs.items() if path.endswith(".csv")}
            for release in (self.before, self.after)
        ]
        pairs += [
            (digests[0].get(path), digests[1].get(path)) for path in digests[0].keys() & digests[1].keys()
        ]
        return not (
            any(self.changes.values())
            or any(self.metrics[1:])
            or any(before != after for before, after in pairs)
        )

    @cached_property
    def causes(self) -> list[str]:
        """Return what the difference of the attacks may come from."""
        changed = {line.about for line in self.lines("files") if line.what == "sha256"}
        steps = _attack_steps()
        code = any(line.about == "code" and line.what.split(".")[0] in steps for line in self.lines("code"))
        found = {
            FILE: "puf" in changed,
            LINKS: "iuf" in changed,
            INTRUDER: "eif" in changed,
            SETTINGS: "functions" in changed or bool(changes.settings(self.lines("options"))),
            CODE: code,
        }
        return [name for name, true in found.items() if true]

    def plain(self) -> dict[str, Any]:
        """Return the comparison as plain values, for ``comparison.json``."""
        return {
            "layout": LAYOUT,
            **{side: getattr(self, side).name for side in SIDES},
            "notes": {side: list(getattr(self, side).notes) for side in SIDES},
            "conclusion": self.conclusion,
            "reason": None if self.reason is None else self.reason._asdict(),
            "causes": self.causes,
            "same_records": self.same_records,
            "not_by_stratum": self.ungrouped or None,
            "metrics": dict(zip(("both", *SIDES), self.metrics, strict=True)),
            "changes": {
                name: None if lines is None else [line._asdict() for line in lines]
                for name, lines in self.changes.items()
            },
            "measures": {name: dict(zip(SIDES, pair, strict=True)) for name, pair in self.measures.items()},
            "rates": [
                line._asdict() | {side: getattr(line, side)._asdict() for side in SIDES}
                for line in self.rates
            ],
        }


def _joint(found: set[str], up: str, down: str) -> str:
    """Return the conclusion from those on several measures."""
    if {up, down} <= found:
        return MIXED
    return next((one for one in (up, down, UNCLEAR, SAME) if one in found), UNKNOWN)


def _attack_steps() -> set[str]:
    """Return the steps on which the rates rest."""
    found, todo = set[str](), ["rate"]
    while todo:
        rule = todo.pop()
        found.add(rule)
        todo += STEPS[rule].after
    return found


def compare(before: Release, after: Release) -> Comparison:
    """Compare two releases.

    Parameters
    ----------
    before, after : Release

    Returns
    -------
    Comparison
    """
    both, own, reason = _metrics(before, after)
    named = changes.groups(before, after), changes.groups(after, before)
    same_records = _same_records(before, after)
    rates: list[Difference] = []
    if both:
        attacks = [_attack(release, groups) for release, groups in zip((before, after), named, strict=True)]
        rates = differences.compare(*attacks, same_records=same_records)
    if reason is not None and reason.kind == NO_LINK:  # What nothing can confirm is no rate of 0.
        rates = [line for line in rates if line.rate == "suspected_rate"]
    return Comparison(
        before,
        after,
        {name: compared(before, after) for name, compared in CHANGES.items()},
        {
            name: (one, other)
            for name, read in (("file_risk", changes.file_risk), ("matching", changes.matching))
            if (one := read(before)) is not None and (other := read(after)) is not None
        },
        rates,
        (both, *own),
        reason,
        _ungrouped(before, after, named),
        same_records,
    )


def _metrics(before: Release, after: Release) -> tuple[list[str], tuple[list[str], list[str]], Reason | None]:
    """Return the metrics of both releases, those of each alone, and why there is no conclusion."""
    rates = {side: release.table("rates.csv") for side, release in zip(SIDES, (before, after), strict=True)}
    names = {
        side: [] if table is None else list(dict.fromkeys(table["metric"])) for side, table in rates.items()
    }
    both = [name for name in names["after"] if name in names["before"]]
    own = tuple([name for name in names[side] if name not in both] for side in SIDES)
    lacking = {
        NO_ATTACK: [side for side in SIDES if rates[side] is None],
        NO_METRIC: [] if both else list(SIDES),
        NO_LINK: [side for side, table in rates.items() if table is not None and not _findable(table)],
        INVALID: [side for side, release in zip(SIDES, (before, after), strict=True) if _is_invalid(release)],
    }
    reason = next((Reason(kind, tuple(sides)) for kind, sides in lacking.items() if sides), None)
    return both, (own[0], own[1]), reason


def _findable(rates: pd.DataFrame) -> bool:
    """Return whether a suspected pair could be confirmed: at least one true link is inside a stratum."""
    column = "n_findable" if "n_findable" in rates else "n_links"
    return bool(rates.loc[rates["stratum"] == WHOLE, column].fillna(0).any())


def _is_invalid(release: Release) -> bool:
    """Return whether a warning may invalidate the results of the attack."""
    table = release.table("verdict/warnings.csv")
    return table is not None and bool(((table["about"] == ATTACK) & (table["severity"] == INVALIDATES)).any())


def _same_records(before: Release, after: Release) -> bool:
    known = [changes.sources(release).get("puf") for release in (before, after)]
    return known[0] is not None and known[1] is not None and known[0]["sha256"] == known[1]["sha256"]


def _attack(release: Release, groups: Mapping[str, differences.Group]) -> Attack:
    table, rates = release.table("rates.csv"), release.study["rates"]
    if table is None:
        raise ValueError("the release has no rates")
    return Attack(table, groups, str(rates["interval"]), float(rates["level"]))


def _ungrouped(before: Release, after: Release, named: tuple[Mapping[str, Any], Mapping[str, Any]]) -> str:
    """Return why only the whole is compared."""
    variables = [sorted(release.variables("strata")) for release in (before, after)]
    if variables[0] != variables[1]:
        return OTHER_STRATA
    if not variables[0]:
        return NO_STRATA
    if not all(named):
        return NO_VALUES
    return "" if set(named[0].values()) & set(named[1].values()) else NO_COMMON
