"""The comparison of two releases: the conclusion, the rates before and after, and by group (METHODS §10)."""

from __future__ import annotations

from collections.abc import Sequence

from reident.archive import comparison as compared
from reident.archive.comparison import MEASURES, SIDES, Comparison
from reident.archive.differences import FELL, GREW, OPEN, RISK, UNCLEAR, Difference, Share
from reident.page.layout import ReportColumn, box, items, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.terms import metric_cells, some, title
from reident.page.wording import (
    UNDEFINED,
    count,
    declared,
    defined,
    digits,
    escape,
    fixed,
    label_cells,
    listed,
    percent,
    sentence,
    span,
    without_repeats,
    without_unit,
)

TEXT = Sentences("releases")
KINDS = {
    GREW: "above", compared.HIGHER: "above", FELL: "within", compared.LOWER: "within", compared.MIXED: "reserved",
    UNCLEAR: "reserved", compared.UNKNOWN: "unknown",
}  # fmt: skip
"""The look of a conclusion; others have none."""

MAX_LINES = 3
"""Rates that the first sentence names."""

MAX_GROUPS = 15
"""Lines of the tables by group."""

MINUS = "\u2212"
LEAST = 0.001
"""Percentage points below which a difference is not shown in full."""


def points(change: float | None) -> str:
    """Return a difference of shares in percentage points, with its sign.

    Examples
    --------
    >>> points(0.0123), points(-0.0004), points(-0.000001)
    ('+1.2', '−0.04', '<0.001')
    """
    if not defined(change):
        return UNDEFINED
    size = 100 * abs(change)
    if 0 < size < LEAST:
        return digits(f"<{LEAST}")
    text = fixed(size, 1 if size >= 0.1 or not size else 2 if size >= 0.01 else 3)
    return ("+" if change > 0 else MINUS if change < 0 else "") + text


def level_of(comparison: Comparison) -> str:
    """Return the confidence level of the intervals of differences."""
    return declared(float((comparison.after.study.get("rates") or {"level": 0.95})["level"]))


def name_of(line: Difference) -> str:
    """Return a rate with its metric, both values and the difference, in words."""
    change = TEXT("points", change=points(line.change))
    if line.low is not None:
        change += TEXT("points_interval", low=points(line.low), high=points(line.high))
    fields = {"before": percent(line.before.rate), "after": percent(line.after.rate), "change": change}
    return TEXT("line", rate=TEXT(f"rates.{line.rate}"), metric=title(line.metric), **fields)


def _few(lines: Sequence[Difference]) -> str:
    """Return the largest differences in words, with their intervals, and how many more there are."""
    ordered = sorted(lines, key=lambda line: -abs(line.change or 0))
    names = [name_of(line) for line in ordered[:MAX_LINES]]
    if len(ordered) > len(names):
        names.append(TEXT("more", n=len(ordered) - len(names)))
    return listed(names)


# The first page


def conclusion(comparison: Comparison) -> str:
    """Return the conclusion, set apart."""
    kind = comparison.conclusion
    return box(f"verdict {KINDS.get(kind, 'open')}", TEXT(f"conclusion.{kind}"), " ".join(_because(comparison, kind)))


def _because(comparison: Comparison, kind: str) -> list[str]:
    judged = [line for line in comparison.whole if line.direction != OPEN]
    if kind == compared.IDENTICAL:
        return [TEXT("because.identical")]
    reason = comparison.reason
    if kind == compared.UNKNOWN and reason is None:
        return [TEXT("because.undefined")]
    if kind == compared.UNKNOWN and reason is not None:
        if reason.kind == compared.NO_METRIC:
            return [TEXT("because.no_metric")]
        releases = listed([TEXT(f"sides.{side}") for side in reason.sides])
        return [TEXT(f"because.{reason.kind}", n=len(reason.sides), release=releases)]
    if reason is not None:
        return _because_of_file(comparison)
    texts = []
    for direction in (GREW, FELL):
        if lines := [line for line in judged if line.direction == direction]:
            n, total = len(lines), len(judged)
            texts.append(TEXT(f"because.{direction}", n=n, total=total, lines=_few(lines)))
    if kind == UNCLEAR:
        largest = max(judged, key=lambda line: abs(line.change or 0))
        texts.append(TEXT("because.unclear", line=name_of(largest)))
    return texts or [TEXT("because.same")]


def _because_of_file(comparison: Comparison) -> list[str]:
    """Return the sentences on releases without an attack: which measures of the file are higher or lower."""
    changes: dict[bool, list[str]] = {True: [], False: []}
    for name, (before, after) in comparison.measures.items():
        for measure in MEASURES[name]:
            old, new = before[measure], after[measure]
            if old is not None and new is not None and old != new:
                changes[new > old].append(_measure(measure, old, new))
    texts = [
        TEXT(f"because.{kind}", lines=listed(lines))
        for kind, lines in (("higher", changes[True]), ("lower", changes[False]))
        if lines
    ]
    return texts or [TEXT("because.same_file")]


def _measure(name: str, before: float | None, after: float | None) -> str:
    return TEXT("measure", name=TEXT(f"measures.{name}"), before=percent(before), after=percent(after))


def findings(comparison: Comparison) -> str | None:
    """Return the groups with a higher risk, the verdicts, possible causes of the difference, and its limits."""
    if comparison.is_identical:
        return None
    notes = [
        TEXT(f"not_by_metric.{side}", metrics=listed([*map(title, metrics)]))
        for side, metrics in zip(SIDES, comparison.metrics[1:], strict=True)
        if metrics
    ]
    texts = [
        *(_where(comparison), _verdict(comparison), _causes(comparison), *_measures(comparison)),
        f"{TEXT('not_by_metric.lead')} {' '.join(notes)}" if notes else "",
        _variants(comparison),
        *_notes(comparison),
    ]
    return box("findings", items(filter(None, texts)))


def _where(comparison: Comparison) -> str:
    """Name the group whose risk grew most, or explain why there are no groups."""
    if comparison.reason is not None:
        return ""
    if comparison.ungrouped:
        fields = {}
        if comparison.ungrouped == compared.OTHER_STRATA:
            releases = {"before": comparison.before, "after": comparison.after}
            names = {side: listed(label_cells(each.variables("strata"))) for side, each in releases.items()}
            fields["change"] = TEXT("change", **{side: text or UNDEFINED for side, text in names.items()})
        return f"{TEXT('where.lead')} {TEXT(f'where.{comparison.ungrouped}', **fields)}"
    lines = comparison.by_group
    grew = [line for line in lines if line.direction == GREW]
    higher = [line for line in lines if (line.change or 0) > 0 and line.direction != OPEN]
    if grew:
        text = TEXT("where.grew", group=group_name(comparison, grew[0]), line=name_of(grew[0]))
    elif higher:
        text = TEXT("where.unclear", group=group_name(comparison, higher[0]), line=name_of(higher[0]))
    else:
        text = TEXT("where.none")
    return f"{TEXT('where.lead')} {text} {by_chance(comparison)}".rstrip()


def by_chance(comparison: Comparison) -> str:
    """Return how many intervals of groups would leave out 0 if nothing had changed; empty without intervals."""
    n = sum(line.low is not None for line in comparison.by_group)
    if not n:
        return ""
    level = float(comparison.after.study["rates"]["level"])
    return TEXT("where.chance", n=n, expected=digits(f"{n * (1 - level):.1f}".removesuffix(".0")))


def group_name(comparison: Comparison, line: Difference) -> str:
    """Return the name of a group in a sentence: each strata variable with its value."""
    pairs = zip(sorted(comparison.after.variables("strata")), line.group or (), strict=True)
    return escape(" · ".join(f"{name} {value}" for name, value in pairs))


def group_heading(comparison: Comparison) -> str:
    """Return the heading of a column of groups: the names of the strata variables."""
    return escape(" · ".join(sorted(comparison.after.variables("strata"))))


def _verdict(comparison: Comparison) -> str:
    words = []
    for release in (comparison.before, comparison.after):
        summary = release.table("verdict/summary.csv")
        words.append("missing" if summary is None else str(summary["verdict"].iloc[0]))
    before, after = (TEXT(f"verdict_words.{word}") for word in words)
    text = TEXT("verdict_same", after=after) if before == after else TEXT("verdict_changed", before=before, after=after)
    bounds = any(line.what.endswith(".bound") for line in comparison.lines("verdict"))
    return " ".join([TEXT("verdict_lead"), text, *([TEXT("limits_changed")] if bounds else [])])


def _causes(comparison: Comparison) -> str:
    if not comparison.metrics[0]:
        return ""
    causes = list(comparison.causes)
    names = [TEXT(f"causes.names.{cause}") for cause in causes]
    if causes[:2] == [compared.FILE, compared.LINKS]:  # Another released file has other links, as a rule.
        names[:2] = [TEXT("causes.with_links")]
    key = "none" if not names else "one" if len(names) == 1 else "other"
    if not comparison.links_are_known:
        key = "recorded" if names else "none_recorded"
    fields = {"causes": listed(names)} if names else {}
    return f"{TEXT('causes.lead')} {TEXT(f'causes.{key}', **fields)}"


def _measures(comparison: Comparison) -> list[str]:
    """Return the measures beside the rates, one sentence for each kind."""
    leads = {name: TEXT(f"{name}_lead") for name in MEASURES}
    texts = []
    for name, (before, after) in comparison.measures.items():
        ends = {measure: (before[measure], after[measure]) for measure in MEASURES[name]}
        measures = [_measure(measure, *pair) for measure, pair in ends.items() if pair != (None, None)]
        if measures:
            texts.append(f"{leads[name]} {TEXT('measured', measures=sentence(listed(measures)))}")
    return texts


def _variants(comparison: Comparison) -> str:
    n = [len(release.study.get("variants") or ()) for release in (comparison.before, comparison.after)]
    if not any(n):
        return ""
    return f"{TEXT('variants.lead')} {TEXT('variants.text', before=n[0], after=n[1])}"


def _notes(comparison: Comparison) -> list[str]:
    notes = [
        TEXT("note", release=escape(release.name), note=escape(note, len(note)))
        for release in (comparison.before, comparison.after)
        for note in release.notes
    ]
    return [f"{TEXT('notes_lead')} {' '.join(notes)}"] if notes else []


def front_rates(comparison: Comparison) -> str | None:
    """Return the table of the rates that show the risk."""
    lines = comparison.whole
    if not lines:
        return None
    sizes = next((line for line in lines if line.rate == RISK[0]), lines[0])
    records = [some(size or 0, "released_record") for size in (sizes.before.records, sizes.after.records)]
    return table(TEXT("front_table", before=records[0], after=records[1]), *_columns(comparison, lines, interval=False))


# The rates


def all_rates(comparison: Comparison) -> str | None:
    """Return the table of every rate of the whole study, and how to read it."""
    lines = [line for line in comparison.rates if line.group is None]
    if not lines:
        return None
    caption = TEXT("table_exact") if comparison.same_records else TEXT("table")
    return paragraphs(table(caption, *_columns(comparison, lines), kind="compact"), reading(comparison))


def reading(comparison: Comparison) -> str:
    """Return the meaning of the differences and their intervals."""
    if comparison.same_records:
        return box("reading", TEXT("reading.measures"), TEXT("reading.exact"))
    texts = [
        TEXT("reading.measures"),
        TEXT("reading.samples", level=level_of(comparison)),
        TEXT("reading.same_persons"),
    ]
    studies = (comparison.before.study, comparison.after.study)
    if any((study.get("rates") or {}).get("interval") == "clustered" for study in studies):
        texts.append(TEXT("reading.clustered"))
    return box("reading", *texts)


def _columns(comparison: Comparison, lines: Sequence[Difference], *, interval: bool = True) -> list[ReportColumn]:
    """Return the columns of a table of differences, with the interval of each release if `interval`."""
    columns = [
        ReportColumn(HEADING("metric"), without_repeats(metric_cells(line.metric for line in lines)), "l"),
        ReportColumn(TEXT("columns.rate"), [TEXT(f"rates.{line.rate}") for line in lines], "l", "1fr"),
        ReportColumn(TEXT("columns.before"), [_share(line.before, interval=interval) for line in lines]),
        ReportColumn(TEXT("columns.after"), [_share(line.after, interval=interval) for line in lines]),
        ReportColumn(TEXT("columns.change"), [points(line.change) for line in lines]),
    ]
    if any(line.low is not None for line in lines):
        heading = TEXT("columns.interval", level=level_of(comparison))
        columns.append(ReportColumn(heading, [_interval(line) for line in lines]))
    columns.append(ReportColumn(TEXT("columns.only"), [TEXT(f"marks.{line.direction}") for line in lines], "l"))
    return columns


def _share(share: Share, *, interval: bool) -> str:
    rate = without_unit(percent(share.rate))
    if not interval or share.low is None or share.rate is None:
        return rate
    return f"{rate} [{without_unit(span(share.low, share.high))}]{{.aside}}"


def _interval(line: Difference) -> str:
    return UNDEFINED if line.low is None else TEXT("span", low=points(line.low), high=points(line.high))


# The groups


def group_rates(comparison: Comparison) -> str | None:
    """Return the groups whose rates grew most, and those whose rates fell most."""
    lines = comparison.by_group
    up = [line for line in lines if (line.change or 0) > 0][:MAX_GROUPS]
    down = [line for line in reversed(lines) if (line.change or 0) < 0][:MAX_GROUPS]
    tables = []
    if up:
        tables.append(_by_group(comparison, TEXT("groups_caption", shown=len(up), total=len(lines)), up))
    if down:
        tables.append(_by_group(comparison, TEXT("groups_fell_caption", shown=len(down)), down))
    return paragraphs(*tables, by_chance(comparison)) if tables else None


def _by_group(comparison: Comparison, caption: str, lines: Sequence[Difference]) -> str:
    groups = [escape(" · ".join(line.group or ())) for line in lines]
    return table(
        caption,
        ReportColumn(group_heading(comparison), groups, "l", "1fr"),
        ReportColumn(HEADING("metric"), [title(line.metric) for line in lines], "l"),
        ReportColumn(TEXT("columns.rate"), [TEXT(f"rates.{line.rate}") for line in lines], "l"),
        ReportColumn(TEXT("columns.before"), [_counted(line.before) for line in lines]),
        ReportColumn(TEXT("columns.after"), [_counted(line.after) for line in lines]),
        ReportColumn(TEXT("columns.change"), [points(line.change) for line in lines]),
        ReportColumn(TEXT("columns.only"), [TEXT(f"marks.{line.direction}") for line in lines], "l"),
        kind="compact",
    )


def _counted(share: Share) -> str:
    """Return a rate with its counts, which tell a small group."""
    if share.records is None:
        return without_unit(percent(share.rate))
    return f"{without_unit(percent(share.rate))} [{count(share.hits)}/{count(share.records)}]{{.aside}}"
