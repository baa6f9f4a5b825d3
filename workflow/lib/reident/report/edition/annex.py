"""Show the rules that an edition follows, how to cite it, and its statement (METHODS §11)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from reident.report.edition.reading import RECORD, Edition, Policy
from reident.report.layout import Column, paragraphs, part, table
from reident.report.sentences import Sentences
from reident.report.wording import day, declared, escape, listed, whole

TEXT = Sentences("edition-tables")


@part(RECORD)
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
            Column(heads["what"], [what for what, _ in lines], "l", "1fr"),
            Column(heads["rule"], [rule for _, rule in lines], "l", "3fr"),
        ),
        " ".join(_checked(edition)),
        whole(statement) if (statement := edition.record.get("statement")) else None,
    )


def _rules(edition: Edition) -> Iterator[tuple[str, str]]:
    """Yield what a rule is about, and the rule."""
    policy, what = edition.policy, TEXT.group("rules.what_fixed")
    yield from _counts(policy, what)
    if policy.small:
        sign = f"**{escape(policy.small['shown'])}**"
        yield what["small"], TEXT("rules.small", below=int(policy.small["below"]), sign=sign)
    if zero := policy.given.get("zero"):
        yield what["zero"], TEXT(f"rules.zero.{zero}")
    if (width := policy.given.get("protect")) and not policy.exact:
        shares = {name: _width(width.get(name, 1)) for name in ("small", "rounded")}
        yield what["width"], TEXT("rules.width", **shares)
    yield what["rates"], TEXT("rules.rates", n=int(policy.given["rates"]["decimals"]))
    for name in ("extremes", "intervals"):
        if name == "intervals" and edition.has_dependent_records:
            yield what[name], TEXT("rules.intervals.dependent")
        elif rule := policy.given.get(name):
            yield what[name], TEXT(f"rules.{name}.{rule}")
    digits = (policy.given.get("cut_points") or {}).get("significant_digits")
    yield what["cut_points"], TEXT("rules.digits", n=int(digits)) if digits else TEXT("rules.exact")


def _counts(policy: Policy, what: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the rounding of counts, band by band."""
    if policy.exact or not policy.bands:
        yield what["counts"], TEXT("rules.exact")
        return
    for band in policy.bands:
        if band.get("up_to") is not None:
            name = TEXT("rules.up_to", n=int(band["up_to"]))
        else:
            name = what["beyond"] if len(policy.bands) > 1 else what["counts"]
        if digits := band.get("significant_digits"):
            yield name, TEXT("rules.digits", n=int(digits))
        else:
            yield name, TEXT(f"rules.rounding.{policy.rounding}", n=int(band["nearest"]))


def _width(value: Any) -> str:
    return declared(1.0 if value == "full" else float(value))


def _checked(edition: Edition) -> Iterator[str]:
    """Yield what the check of the edition counted, took as known and joined."""
    n = {
        name: int(edition.record["counts"].get(name, 0))
        for name in ("exact", "rounded", "small", "suppressed")
    }
    total = sum(n.values())
    yield TEXT(
        "rules.counted",
        total=total,
        rounded=n["exact"] + n["rounded"],
        small=n["small"],
        suppressed=n["suppressed"],
    )
    files = TEXT.group("rules.files")
    if names := [files[name] for name in edition.record.get("known") or ()]:
        yield TEXT("rules.known", files=listed(names))
    if after := [_earlier(entry) for entry in edition.record.get("after") or ()]:
        yield TEXT("rules.after", editions=listed(after))


def _earlier(entry: Any) -> str:
    """Return an earlier edition, which the record has as a title or with its date."""
    if isinstance(entry, str):
        return f"*{whole(entry)}*"
    if not entry.get("date"):
        return f"*{whole(entry['title'])}*"
    return TEXT(
        "rules.earlier", title=f"*{whole(entry['title'])}*", date=day(date.fromisoformat(entry["date"]))
    )


@part(RECORD)
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
