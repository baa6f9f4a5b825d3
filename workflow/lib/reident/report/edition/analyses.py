"""Blocks of an edition on the file on its own, matching, cut points and limits (METHODS §11)."""

from __future__ import annotations

from decimal import Decimal

from reident.linkage.settings import WHOLE
from reident.report.edition.reading import Edition, Line
from reident.report.edition.tables import counts
from reident.report.edition.wording import share_cells
from reident.report.layout import ReportColumn, block, paragraphs, table
from reident.report.sentences import Sentences
from reident.report.wording import declared, digits, escape, label_cells, number, without_repeats

TEXT = Sentences("edition-tables")
CLASSES = (2, 3, 5)
"""Sizes of a combination of values below which records are counted."""

MATCHES = {"matches_from": "", "matches_to": ""}
"""Labels by which the lines of one scenario and file differ."""

MANY_LINES = 20
"""Lines above which a table is set in smaller type."""

RATES = "rate"
"""The end of the name of a limit on a rate, before `_at_most`."""


@block("file.csv")
def file(edition: Edition) -> str:
    """Return how many records of the released file have a rare combination of values."""
    lines = edition.tables["file.csv"]
    words = TEXT.group("file.conventions")
    names = [words.get(line["convention"]) or escape(line["convention"]) for line in lines]
    columns = []
    for k in CLASSES:
        numbers = counts("records", lines, f"below_{k}").cells
        shares = share_cells(line.shares[f"share_below_{k}"] for line in lines)
        columns.append(ReportColumn(TEXT("heading.below", k=k), numbers, "r", "1fr"))
        columns.append(ReportColumn(TEXT("heading.share_below", k=k), shares, "r", "1fr"))
    return paragraphs(
        TEXT("file.text"),
        table(
            TEXT("file.caption"),
            ReportColumn(TEXT("heading.convention"), names, "l", "2fr"),
            counts("records", lines, "n_records"),
            *columns,
        ),
    )


@block("matching.csv")
def matching(edition: Edition) -> str:
    """Return how often a record's own synthetic record is among the matches."""
    lines = edition.tables["matching.csv"]
    names = [escape(line["scenario"]) for line in lines]
    files = [line["file"] for line in lines]
    several = len(set(files)) > 1
    first = [
        at == 0 or dict(lines[at - 1].labels) | MATCHES != dict(line.labels) | MATCHES for at, line in enumerate(lines)
    ]
    of_file = [escape(file) if new else "" for file, new in zip(files, first, strict=True)]
    return paragraphs(
        TEXT("matching.text"),
        table(
            TEXT("matching.caption"),
            ReportColumn(TEXT("heading.scenario"), without_repeats(names), "l", "1fr"),
            *([ReportColumn(TEXT("heading.file"), of_file, "l")] if several else []),
            ReportColumn(TEXT("heading.matches"), [_matches(line) for line in lines]),
            counts("targets", lines, "n_targets"),
            counts("own", lines, "n_own"),
            ReportColumn(TEXT("heading.share_own"), share_cells(line.shares["share_own"] for line in lines)),
            kind="compact" if len(lines) > 20 else "",
        ),
    )


def _matches(line: Line) -> str:
    low, high = line["matches_from"], line["matches_to"]
    if not high:
        return TEXT("matching.matches.open", low=low)
    if low == high:
        return TEXT("matching.matches.none") if low == "0" else low
    return TEXT("matching.matches.range", low=low, high=high)


@block("cut-points.csv")
def cut_points(edition: Edition) -> str:
    """Return the rounded cut points, one line per variable, file and scope."""
    bins: dict[tuple[str, str, str], list[str]] = {}
    for line in edition.tables["cut-points.csv"]:
        points = bins.setdefault((line["variable"], line["file"], line["scope"]), [])
        points += [_point(line["up_to"])] if line["up_to"] else []
    order = [*dict.fromkeys(variable for variable, _, _ in bins)]
    lines = sorted(bins, key=lambda line: order.index(line[0]))
    variables, files, scopes = zip(*lines, strict=True)
    labels = [TEXT("cut_points.whole") if scope == WHOLE else escape(scope) for scope in scopes]
    columns = {TEXT("heading.file"): label_cells(files), TEXT("heading.stratum"): labels}
    return paragraphs(
        TEXT(f"{edition.counted}.cut_points"),
        table(
            TEXT("cut_points.caption"),
            ReportColumn(TEXT("heading.variable"), without_repeats([escape(name) for name in variables]), "l"),
            *(ReportColumn(name, cells, "l", "1fr") for name, cells in columns.items() if len(set(cells)) > 1),
            ReportColumn(TEXT("heading.cut_points"), [" · ".join(bins[line]) for line in lines], "l", "2fr"),
            kind="compact" if len(lines) > MANY_LINES else "",
        ),
    )


def _point(text: str) -> str:
    """Return a cut point with its digits as published, and a sign that is set as one."""
    return digits(f"{Decimal(text):,f}").replace("-", "\u2212") if text else ""


SHARES = (
    "reach", "unique_share", "disco", "largest_risk", "average_risk", "share_above", "delta_presence", "t_closeness",
)  # fmt: skip
"""The limits on shares that are not rates."""


@block("limits.csv")
def limits(edition: Edition) -> str:
    """Return the limits that the study declares, with the outcomes that published numbers decide."""
    lines = edition.tables["limits.csv"]
    about, names, outcomes = (TEXT.group(f"limits.{name}") for name in ("about", "names", "outcomes"))
    names["confirmed_at_most"] = TEXT(f"{edition.counted}.confirmed_at_most")
    scopes = [about.get(line["about"]) or escape(line["about"]) for line in lines]
    limits_ = [names.get(line["limit"]) or escape(line["limit"].replace("_", " ")) for line in lines]
    metrics = [escape(edition.title(line["metric"])) if line["metric"] else "" for line in lines]
    return paragraphs(
        TEXT("limits.text"),
        table(
            TEXT("limits.caption"),
            *([ReportColumn(TEXT("heading.about"), without_repeats(scopes), "l")] if len(set(scopes)) > 1 else []),
            ReportColumn(TEXT("heading.limit"), limits_, "l", "1fr"),
            ReportColumn(TEXT("heading.of"), metrics, "l"),
            ReportColumn(TEXT("heading.bound"), [_bound(line["limit"], line["bound"]) for line in lines]),
            ReportColumn(TEXT("heading.outcome"), [outcomes[line["outcome"]] for line in lines], "l"),
        ),
    )


def _bound(limit: str, text: str) -> str:
    """Return a limit as a percentage where it is one on a rate."""
    if not text:
        return ""
    if RATES in limit or limit.startswith(SHARES):
        return declared(float(text))
    return number(float(text))
