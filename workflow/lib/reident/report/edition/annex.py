"""Show the rules that an edition follows, how to cite it, and its statement (METHODS §11)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from reident.report.edition.reading import RECORD, Edition
from reident.report.layout import ReportColumn, block, paragraphs, table
from reident.report.sentences import Sentences
from reident.report.wording import day, declared, escape, listed, whole
from reident.sections.release import Policy

TEXT = Sentences("edition-tables")


@block(RECORD)
def rules(edition: Edition) -> str:
    """Return the rules applied, in words and as a table."""
    policy = edition.policy
    lines = list(_rules(edition))
    caption = TEXT("rules.caption", title=whole(policy.title), version=escape(policy.version))
    heads = TEXT.group("rules.columns")
    return paragraphs(
        TEXT("rules.text"),
        table(
            caption,
            ReportColumn(heads["what"], [what for what, _ in lines], "l", "1fr"),
            ReportColumn(heads["rule"], [rule for _, rule in lines], "l", "3fr"),
        ),
        " ".join(_checked(edition)),
        whole(statement) if (statement := edition.record.get("statement")) else None,
    )


def _rules(edition: Edition) -> Iterator[tuple[str, str]]:
    policy, what = edition.policy, TEXT.group("rules.what_fixed")
    yield from _counts(policy, what)
    if policy.small:
        sign = f"**{escape(policy.small.shown)}**"
        yield what["small"], TEXT("rules.small", below=policy.small.below, sign=sign)
    yield what["zero"], TEXT(f"rules.zero.{policy.zero}")
    if not edition.exact:
        shares = {"small": declared(policy.protect.small), "rounded": declared(policy.protect.rounded)}
        yield what["width"], TEXT("rules.width", **shares)
    yield what["rates"], TEXT("rules.rates", n=policy.rates.decimals)
    yield what["extremes"], TEXT(f"rules.extremes.{policy.extremes}")
    dependent = TEXT(f"{edition.counted}.intervals") if edition.has_dependent_records else None
    yield what["intervals"], dependent or TEXT(f"rules.intervals.{policy.intervals}")
    digits = policy.cut_points.significant_digits
    yield what["cut_points"], TEXT("rules.digits", n=digits) if digits else TEXT("rules.exact")


def _counts(policy: Policy, what: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the rounding of counts, band by band."""
    if not policy.bands:
        yield what["counts"], TEXT("rules.exact")
    for band in policy.bands:
        name = what["beyond"] if len(policy.bands) > 1 else what["counts"]
        if band.up_to is not None:
            name = TEXT("rules.up_to", n=band.up_to)
        if band.significant_digits:
            yield name, TEXT("rules.digits", n=band.significant_digits)
        else:
            yield name, TEXT(f"rules.rounding.{policy.rounding}", n=band.nearest or 1)


def _checked(edition: Edition) -> Iterator[str]:
    """Yield the counts, the known values and the joins of the check of the edition."""
    counts = edition.record["counts"]
    n = {name: int(counts.get(name, 0)) for name in ("exact", "rounded", "small", "suppressed")}
    rounded = n["exact"] + n["rounded"]
    fields = {"small": n["small"], "suppressed": n["suppressed"]}
    yield TEXT("rules.counted", total=sum(n.values()), rounded=rounded, **fields)
    files = TEXT.group("rules.files")
    if names := [files[name] for name in edition.record.get("known") or ()]:
        yield TEXT(f"{edition.counted}.known", files=listed(names))
    if after := [_earlier(entry) for entry in edition.record.get("after") or ()]:
        yield TEXT("rules.after", editions=listed(after))


def _earlier(entry: Any) -> str:
    """Return an earlier edition, which the record has as a title or with its date."""
    if isinstance(entry, str):
        entry = {"title": entry}
    name = f"*{whole(entry['title'])}*"
    if not entry.get("date"):
        return name
    return TEXT("rules.earlier", title=name, date=day(date.fromisoformat(entry["date"])))


@block(RECORD)
def cite(edition: Edition) -> str:
    """Return how to cite the edition."""
    record = edition.record
    when = record.get("date")
    agency = whole(record["agency"]) if record.get("agency") else ""
    dated = f"{agency} ({date.fromisoformat(when).year}). " if when else f"{agency}. " if agency else ""
    return TEXT(
        "cite",
        start=dated.lstrip(),
        title=whole(record["title"]),
        edition=str(record["edition"]),
        version=escape(record["reident"]),
        policy=f"*{whole(edition.policy.title)}*",
        policy_version=escape(edition.policy.version),
    )
