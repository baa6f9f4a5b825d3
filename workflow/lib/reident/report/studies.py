"""The page over every study and variant that was run."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator
from typing import Any

from reident import language
from reident.archive.overview import CHANGED, MADE, Row
from reident.challenge.limits import parts
from reident.challenge.report import in_words
from reident.language.messages import words
from reident.outcomes import VERDICTS
from reident.page.layout import ReportColumn, box, items, table
from reident.page.sentences import Sentences
from reident.page.terms import title
from reident.page.variants import verdict_cell
from reident.page.wording import UNDEFINED, apart, count, day, declared, escape, number, percent
from reident.report.render import About, Content, to_html
from reident.sections.decision import LIMITS

TEXT = Sentences("studies")
NAMES = Sentences("variants")
COUNTED = frozenset({
    "confirmed_at_most", "confirmed_by_any_at_most", "surest", "k_anonymity_at_least", "k_map_at_least",
    "expected_reidentifications_at_most", "population_uniques_at_most", "l_diversity_at_least",
    "expected_match_risk_at_most",
})  # fmt: skip
"""The limits on numbers; the others are on shares."""

OF_ATTACKS = {limit for section in ("metrics", "metrics.any", "metrics.surest") for limit in LIMITS[section]}
"""The limits that apply to metrics and to other attacks at hand."""

NARROW = """
@media (max-width: 60rem) {{
  .scroll {{ overflow: visible; margin-right: 0; background: none; }}
  table, tbody, tbody tr, tbody th, td {{ display: block; width: 100%; }}
  thead {{ position: absolute; left: -99rem; }}
  tbody tr {{ padding: .8rem 0; border-bottom: 1px solid var(--muted); }}
  tbody th, td {{ position: static; padding: .1rem 0; border: 0; text-align: left !important; white-space: normal; }}
  td::before {{ color: var(--muted); }}
{labels}
}}
:root {{ --spare: 0rem; }}
.front {{ max-width: none; }}
"""
"""On a narrow screen each line of the table is a block, whose cells have the headings of their columns."""


def page(rows: list[Row]) -> str:
    """Return the page as HTML, in the language of the studies, or in English where they differ."""
    codes = {row["language"] for row in rows if row["language"]}
    code = codes.pop() if len(codes) == 1 else "en"
    with language.use(code):
        columns = list(_columns(rows))
        content = Content("\n\n".join([_summary(rows), table(TEXT("caption"), *columns, kind="sortable")]), "", {})
        labels = "\n".join(
            f'  td:nth-child({at})::before {{ content: "{column.heading}: "; }}'
            for at, column in enumerate(columns, start=1)
            if at > 1
        )
        about = About(
            title=TEXT("title"),
            subtitle=TEXT("subtitle"),
            footer=TEXT("footer"),
            front=TEXT("title"),
            style=NARROW.format(labels=labels),
            language=code,
            live=True,
        )
        return to_html(content, about)


def _summary(rows: list[Row]) -> str:
    """Return how many studies and variants have each verdict, and which studies differ from the one before."""
    counts = Counter(row["verdict"] for row in rows if row["verdict"])
    verdicts = ", ".join(f"{verdict_cell(verdict)} {count(counts[verdict])}" for verdict in VERDICTS if counts[verdict])
    n = sum(not row["variant"] for row in rows)
    texts = [TEXT("summary", n=n, variants=len(rows) - n, verdicts=verdicts or UNDEFINED)]
    texts += [TEXT("worse", study=escape(row["study"]), before=escape(row["before"])) for row in rows if _is_worse(row)]
    if any(row["state"] == CHANGED for row in rows):
        texts.append(TEXT("changed"))
    return box("findings", items(texts))


def _is_worse(row: Row) -> bool:
    """Return whether a study has a graver verdict, or more confirmed records, than the one before."""
    if not (row["verdict"] and row["before_verdict"]):
        return False
    gravity = VERDICTS.index(row["verdict"]), VERDICTS.index(row["before_verdict"])
    rates = row["confirmed_rate"], row["before_confirmed_rate"]
    return gravity[0] < gravity[1] or ("" not in rates and rates[0] > rates[1])


def _columns(rows: list[Row]) -> Iterator[ReportColumn]:
    def column(name: str, cells: list[str], align: str = "l") -> ReportColumn:
        return ReportColumn(TEXT(f"columns.{name}"), cells, align)

    yield column("study", [_name(row) for row in rows])
    if any(row["date"] for row in rows):
        yield column("date", [_date(row["date"]) for row in rows])
    yield column("verdict", [_verdict(row) for row in rows])
    if any(row["limit"] for row in rows):
        yield column("judged", [_judged(row) for row in rows])
    for rate in ("confirmed_rate", "conditional_rate", "reach"):
        if any(row[rate] != "" for row in rows):
            yield column(rate, [_rate(row[rate], row[f"{rate}_by"]) for row in rows])
    for measure in ("dis", "true_match_rate"):
        if any(row[measure] != "" for row in rows):
            yield column(measure, [_rate(row[measure]) for row in rows])
    yield column("warnings", [_warnings(row) for row in rows])
    if any(row["before"] for row in rows):
        yield column("before", [_before(row) for row in rows])
    yield column("pages", [_links(row) for row in rows])


def _name(row: Row) -> str:
    if row["variant"]:
        return TEXT("variant", study=escape(row["study"]), variant=escape(row["variant"]))
    name = f"**{escape(row['study'])}**"
    return f"{name} {escape(row['title'])}" if row["title"] else name


def _date(text: str) -> str:
    return day(datetime.date.fromisoformat(text)) if text else UNDEFINED


def _verdict(row: Row) -> str:
    return verdict_cell(row["verdict"]) if row["state"] == MADE else TEXT(f"states.{row['state']}")


def _judged(row: Row) -> str:
    """Return what the deciding limit judged, with the limit and the metric or the name that it applies to."""
    if not row["limit"]:
        return UNDEFINED
    name, of, value, bound = (row[key] for key in ("limit", "of", "value", "bound"))
    is_counted, about = name in COUNTED, NAMES(f"verdicts.limits.{name}")
    if of:
        about = TEXT("judged_of", name=about, of=_applied(name, of))
    shown = UNDEFINED if value == "" else number(value) if is_counted else apart(value, bound)[0]
    return TEXT("judged", name=about, value=shown, bound=number(bound) if is_counted else declared(bound))


def _applied(limit: str, of: str) -> str:
    """Return what a limit applied to: a metric or another attack at hand, or the name of an intruder or a target."""
    if known := words("metric").get(of):
        return known
    return in_words(parts(of)) if limit in OF_ATTACKS else escape(of)


def _rate(value: Any, metric: str = "") -> str:
    if value == "":
        return UNDEFINED
    return TEXT("by", rate=percent(value), metric=title(metric)) if metric else percent(value)


def _warnings(row: Row) -> str:
    names = ("invalidates", "understates", "notable")
    texts = [TEXT(f"severities.{name}", n=int(row[name])) for name in names if row[name] not in ("", 0)]
    return ", ".join(texts) or UNDEFINED


def _before(row: Row) -> str:
    if not row["before_verdict"]:
        return escape(row["before"]) or UNDEFINED
    text = f"{escape(row['before'])}: {verdict_cell(row['before_verdict'])}"
    if "" not in (row["confirmed_rate"], row["before_confirmed_rate"]):
        rates = {"before": percent(row["before_confirmed_rate"]), "after": percent(row["confirmed_rate"])}
        text += f", {TEXT('change', **rates)}"
    return text


def _links(row: Row) -> str:
    pages = ("report", "edition", "comparison")
    return ", ".join(f"[{TEXT(f'pages.{name}')}]({row[name]})" for name in pages if row[name]) or UNDEFINED
