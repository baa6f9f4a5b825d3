"""Read the public files of a releasable edition: numbers as they are published, and nothing else (METHODS §11).

Invariants: no number of the edition's pages comes from anywhere but these files. A text that the policy cannot have
published, and a column that is not declared here, stop the edition.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from reident import language
from reident.errors import InputError
from reident.language.messages import words
from reident.linkage.settings import WHOLE
from reident.release.cells import SUPPRESSED
from reident.report.layout import locate
from reident.sections.columns import MARK
from reident.sections.language import DEFAULT_LANGUAGE
from reident.sections.release import Policy

RECORD = "release.json"

Kind = Literal["number", "small", "suppressed", "absent"]


class Count(NamedTuple):
    """A count as it is published: its text, its rounded value where it has one, and which kind of text it is."""

    text: str
    value: int | None
    kind: Kind


class Share(NamedTuple):
    """A rate or another fraction as it is published; an empty text where it is suppressed or not defined."""

    text: str
    value: float | None


@dataclass(frozen=True)
class Line:
    """A line of a table: labels, counts and shares by column."""

    labels: Mapping[str, str]
    counts: Mapping[str, Count]
    shares: Mapping[str, Share]

    def __getitem__(self, column: str) -> str:
        """Return the label of a column."""
        return self.labels[column]


class Form(NamedTuple):
    """The columns of a table by their kind."""

    labels: tuple[str, ...]
    counts: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()

    @property
    def columns(self) -> frozenset[str]:
        """Return every column."""
        return frozenset(self.labels + self.counts + self.shares)


FORMS = {
    "attack.csv": Form(
        ("file", "variant", "metric", "stratum", "rank_limit"),
        (
            "n_puf", "n_eif", "n_links", "n_suspected", "n_confirmed", "n_ambiguous", "n_single",
            "n_single_confirmed",
        ),
        ("suspected_rate", "confirmed_rate", "conditional_rate", "conditional_low", "conditional_high", "single_rate"),
    ),
    "clusters.csv": Form(
        ("metric", "stratum"),
        ("n_clusters", "n_suspected", "n_confirmed"),
        ("suspected_rate", "confirmed_rate", "conditional_rate"),
    ),
    "file.csv": Form(
        ("convention",),
        ("n_records", "below_2", "below_3", "below_5"),
        ("share_below_2", "share_below_3", "share_below_5"),
    ),
    "matching.csv": Form(
        ("scenario", "file", "matches_from", "matches_to"), ("n_targets", "n_own"), ("share_own",)
    ),
    "cut-points.csv": Form(("scope", "variable", "file", "bin", "above", "up_to")),
    "limits.csv": Form(("about", "limit", "metric", "bound", "outcome")),
}  # fmt: skip
"""The tables of an edition."""


_NUMBER = re.compile(r"0|[1-9][0-9]*")
_FRACTION = re.compile(r"[0-9]+(\.[0-9]+)?")


class Edition:
    """The public files of a releasable edition in a folder; nothing else in it is read.

    If a file is missing, a column is not one of the table's, or a text is not one that the policy publishes, an
    :class:`InputError` names it.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self.record: dict[str, Any] = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            try:
                self.policy = Policy.model_validate(self.record["policy"])
            except ValueError:  # its text would have values
                raise InputError(
                    f"`{RECORD}`: the policy has other keys than in this version. Run `release` again."
                ) from None
            self.tables = {name: self._read(folder / name, form) for name, form in FORMS.items()}
        except FileNotFoundError as error:
            raise InputError(
                f"`{Path(error.filename).name}` is missing from the edition. Run `release` again."
            ) from error

    def has(self, *names: str) -> bool:
        """Return whether each of these tables has a line."""
        return all(name == RECORD or bool(self.tables[name]) for name in names)

    def _read(self, path: Path, form: Form) -> list[Line]:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = csv.DictReader(stream, strict=True)
            if unknown := set(rows.fieldnames or ()) ^ form.columns:
                raise InputError(
                    f"`{path.name}`: the columns {', '.join(sorted(map(repr, unknown)))} must be those of the table. "
                    "Declare a column before it is published."
                )
            return [self._line(path.name, at, row, form) for at, row in enumerate(rows, 2)]

    def _line(self, name: str, at: int, row: Mapping[str, Any], form: Form) -> Line:
        if None in row or None in row.values():
            raise InputError(f"`{name}`, line {at}: must have exactly {len(form.columns)} fields.")
        try:
            return Line(
                {column: row[column].removeprefix(MARK) for column in form.labels},
                {column: self.count(row[column]) for column in form.counts},
                {column: share(row[column]) for column in form.shares},
            )
        except ValueError as error:
            raise InputError(f"`{name}`, line {at}: {error}") from None

    def count(self, text: str) -> Count:
        """Return a published count from its text; raise a `ValueError` if the policy publishes no such text."""
        if _NUMBER.fullmatch(text):
            return Count(text, int(text), "number")
        if text == SUPPRESSED:
            return Count(text, None, "suppressed")
        if self.policy.small is not None and text == self.policy.small.shown:
            return Count(text, None, "small")
        if not text:
            return Count(text, None, "absent")
        raise ValueError(f"`{text}` must be a text that the policy publishes.")

    @property
    def exact(self) -> bool:
        """Return whether the policy rounds nothing."""
        return self.policy.rounding == "exact"

    @property
    def has_dependent_records(self) -> bool:
        """Return whether records of a cluster depend on each other, so that no interval follows from counts."""
        return bool(self.record.get("interval") == "clustered")

    @property
    def counted(self) -> Literal["records", "units"]:
        """Return what the counts of the attack are of: the group of sentences about it."""
        return "units" if self.record.get("units") else "records"

    @property
    def language(self) -> str:
        """Return the language of the pages."""
        return language.named(self.record)

    def title(self, metric: str) -> str:
        """Return the name of a metric in the language of the pages; the record has it in English."""
        translation = words("metric").get(metric) if self.language != DEFAULT_LANGUAGE else None
        return translation or self.record["metrics"].get(metric, metric)

    @property
    def metrics(self) -> dict[str, str]:
        """Return the names of the metrics of the attack by their keys, in the order of the study."""
        keys = dict.fromkeys(line["metric"] for line in self.tables["attack.csv"])
        titles = {metric: self.title(metric) for metric in self.record["metrics"] if metric in keys}
        return titles | {metric: metric.capitalize() for metric in keys if metric not in titles}

    @cached_property
    def whole(self) -> dict[str, Line]:
        """Return the lines of the whole study with the rank limit in force, by metric."""
        lines = {line["metric"]: line for line in self.study if line["stratum"] == WHOLE and self._in_force(line)}
        return {metric: lines[metric] for metric in self.metrics if metric in lines}

    @cached_property
    def study(self) -> list[Line]:
        """Return the lines of the attack on the released file with the settings of the study."""
        return [line for line in self.tables["attack.csv"] if line["file"] == "released" and line["variant"] == ""]

    def _in_force(self, line: Line) -> bool:
        return line["rank_limit"] in {"", "0", str(self.record["rank_limit"])}

    @cached_property
    def strata(self) -> list[str]:
        """Return the labels of the strata, in the order of the table."""
        return list(dict.fromkeys(line["stratum"] for line in self.study if line["stratum"] != WHOLE))

    def stratum(self, metric: str) -> dict[str, Line]:
        """Return the lines of a metric by stratum."""
        return {
            line["stratum"]: line
            for line in self.study
            if line["metric"] == metric and line["stratum"] != WHOLE and self._in_force(line)
        }

    @cached_property
    def rank_limits(self) -> dict[str, dict[int, Line]]:
        """Return the lines of the whole study by metric and rank limit, for metrics with more than one."""
        by_metric: dict[str, dict[int, Line]] = {metric: {} for metric in self.metrics}
        for line in self.study:
            if line["stratum"] == WHOLE and line["rank_limit"] not in {"", "0"}:
                by_metric[line["metric"]][int(line["rank_limit"])] = line
        return {metric: dict(sorted(lines.items())) for metric, lines in by_metric.items() if len(lines) > 1}

    @cached_property
    def before(self) -> dict[str, Line]:
        """Return the lines of the attack on the file before protection, by metric."""
        return {
            line["metric"]: line
            for line in self.tables["attack.csv"]
            if line["file"] == "before" and line["variant"] == "" and line["stratum"] == WHOLE
        }

    @cached_property
    def variants(self) -> dict[str, dict[str, Line]]:
        """Return the lines of the whole study by variant and metric."""
        by_variant: dict[str, dict[str, Line]] = {}
        for line in self.tables["attack.csv"]:
            if line["file"] == "released" and line["variant"] and line["stratum"] == WHOLE:
                by_variant.setdefault(line["variant"], {})[line["metric"]] = line
        return by_variant


def share(text: str) -> Share:
    """Return a published share from its text, a decimal fraction in [0, 1] or nothing; another is a `ValueError`."""
    if not text:
        return Share("", None)
    if not _FRACTION.fullmatch(text) or not 0 <= float(text) <= 1:
        raise ValueError(f"`{text}` must be a decimal fraction from 0 to 1.")
    return Share(text, float(text))


def open_edition(folder: str | Path) -> Edition:
    """Open the edition in a folder: an absolute path, or one relative to the working folder or a folder above it."""
    advice = "there is no releasable edition. Run a study with the section `release` first."
    return Edition(locate(folder, RECORD, advice))
