"""The page about a reproduction: the outcome, its basis, and the differences (METHODS §10)."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from reident import language
from reident.page.layout import ReportColumn, box, items, paragraphs, table
from reident.page.sentences import Sentences
from reident.page.wording import UNDEFINED, count, escape, fixed, listed, whole
from reident.report.render import About, Content, to_html, to_pdf

TEXT = Sentences("reproduction")
PAGE = Sentences("page")
MAX_DIFFERENCES = 6
MAX_NAMES = 4
"""What the page shows of a list; ``reproduction.json`` has all of it."""

DIGITS = 12
"""Hexadecimal digits of a commit or a digest."""

Facts = Mapping[str, Any]


def render(facts: Facts) -> dict[str, bytes]:
    """Return the page on ``reproduction.json``, see :mod:`reident.archive.reproduce`, as HTML and PDF, by suffix."""
    day, code = datetime.date.fromisoformat(facts["on"]), language.named(facts)
    with language.use(code):
        texts = facts["title"], TEXT("subtitle"), facts["agency"], facts["bag"]
        about = About(*texts, day, TEXT("footer"), PAGE("front"), language=code)
        content = Content(page(facts), "", {})
        return {"html": to_html(content, about).encode(), "pdf": to_pdf(content, about)}


def page(facts: Facts) -> str:
    """Return the page as Markdown: the outcome, its basis, and the tables."""
    return paragraphs(
        verdict(facts),
        box("findings", items(findings(facts))),
        missing(facts),
        outcomes(facts),
        differences(facts),
        environment(facts),
    )


def verdict(facts: Facts) -> str:
    """Return the outcome, set apart."""
    counts, inputs = facts["counts"], facts["inputs"]
    total = sum(number for kind, number in counts.items() if kind != "extra")
    failed = counts.get("different", 0) + counts.get("missing", 0)
    if facts["outcome"] == "reproduced":
        withheld = counts.get("withheld", 0)
        same = counts.get("identical") == total - withheld
        texts = [TEXT("identical" if same else "equal", n=total - withheld)]
        texts += [TEXT("withheld", n=withheld)] if withheld else []
        return box("verdict within", f"**{TEXT('verdict.reproduced')}**", *texts)
    if facts["outcome"] == "not reproduced":
        errors = [TEXT("failed"), *(whole(error) for error in facts["errors"])]
        texts = errors if facts["errors"] else [TEXT("differ", n=failed, total=total)]
        return box("verdict above", f"**{TEXT('verdict.differs')}**", *texts)
    text = TEXT("not_found", n=len(inputs["missing"]), needed=inputs["needed"])
    return box("verdict reserved", f"**{TEXT('verdict.not_rerun')}**", text)


def findings(facts: Facts) -> list[str]:
    """Return the basis of the outcome: the bytes, the signatures, the code, the network."""
    texts = [TEXT("bytes", digest=f"`{facts['digest']}`")]
    if facts["signed_by"]:
        texts.append(TEXT("signed", signer=_signer(facts["signed_by"])))
    for decided in facts["sign_offs"]:
        fields = {name: escape(decided[name]) for name in ("board", "date", "decision")}
        texts.append(TEXT("sign_off", **fields, signer=_signer(decided)))
    texts += [whole(warning[:1].upper() + warning[1:]) for warning in facts["warnings"]]
    if unreadable := facts["inputs"]["unreadable"]:
        texts.append(TEXT("unreadable", n=unreadable))
    if facts["outcome"] != "verified, not rerun":
        network = TEXT("network.with" if facts["network"] else "network.without")
        texts.append(TEXT(f"ran.{facts['code']}", system=escape(facts["system"]), network=network))
        texts.append(TEXT("same") if facts["same_code"] else TEXT("other"))
    if renamed := facts["renamed"]:
        texts.append(TEXT("renamed", n=len(renamed)))
    if files := facts["files"]:
        texts.append(TEXT("files", n=len(files), names=_few(files)))
    return texts


def missing(facts: Facts) -> str | None:
    """Return the table of the inputs that were not found."""
    names = facts["inputs"]["missing"]
    if not names:
        return None
    return table(
        TEXT("missing.caption"), ReportColumn(TEXT("missing.column"), [whole(name) for name in names], "l", "1fr")
    )


def outcomes(facts: Facts) -> str | None:
    """Return the table of outcomes with the number of results of each."""
    counts, words, heads = facts["counts"], TEXT.group("outcomes.kinds"), TEXT.group("outcomes.columns")
    kinds = [kind for kind in words if counts.get(kind)]
    if not kinds:
        return None
    numbers = [count(counts[kind]) for kind in kinds]
    return table(
        TEXT("outcomes.caption"),
        ReportColumn(heads["outcome"], [words[kind] for kind in kinds], "l", "1fr"),
        ReportColumn(heads["results"], numbers),
    )


def differences(facts: Facts) -> str | None:
    """Return the table of the results that differ."""
    lines = [line for line in facts["results"] if line["outcome"] in ("different", "missing")]
    if not lines:
        return None
    rows = lines[:MAX_DIFFERENCES]
    caption = TEXT("differences.caption")
    if len(lines) > len(rows):
        caption = TEXT("differences.cut", shown=len(rows), n=len(lines))
    heads, details = TEXT.group("differences.columns"), [line["difference"] or {} for line in rows]
    computed = [
        TEXT("differences.missing") if line["outcome"] == "missing" else _value(difference.get("computed"))
        for line, difference in zip(rows, details, strict=True)
    ]
    return table(
        caption,
        ReportColumn(heads["result"], [f"[{escape(line['path'])}]{{.file}}" for line in rows], "l", "1fr"),
        ReportColumn(heads["place"], [_place(difference) for difference in details], "l"),
        ReportColumn(heads["sealed"], [_value(difference.get("sealed")) for difference in details]),
        ReportColumn(heads["computed"], computed),
        kind="compact",
    )


def environment(facts: Facts) -> str:
    """Return the table of the code and packages of the sealed results, and of their reproduction."""
    rows, heads = TEXT.group("then.rows"), TEXT.group("then.columns")
    then, now, cost = facts["then"], facts["now"], facts["cost"]
    lines = [
        (rows[name], *(_value(release.get(name), DIGITS) for release in (then, now)))
        for name in ("version", "commit", "tree")
    ]
    python = [escape(release.get("versions", {}).get("python", UNDEFINED)) for release in (then, now)]
    lines.append((rows["python"], python[0], python[1]))
    absent = TEXT("then.absent")
    packages = [package for package in facts["packages"] if package[0] != "python"][:MAX_DIFFERENCES]
    lines += [(escape(name), escape(old or absent), escape(new or absent)) for name, old, new in packages]
    for name, unit, scale in _COSTS:
        values = [(taken or {}).get(name) for taken in (cost["then"], cost["now"])]
        texts = [
            UNDEFINED if value is None else TEXT(f"units.{unit}", value=fixed(value / scale, 1)) for value in values
        ]
        lines.append((rows[name], texts[0], texts[1]))
    what, sealed, reproduced = zip(*lines, strict=True)
    return table(
        TEXT("then.caption"),
        ReportColumn(heads["what"], what, "l", "1fr"),
        ReportColumn(heads["sealed"], sealed),
        ReportColumn(heads["reproduced"], reproduced),
        kind="compact" if facts["results"] and facts["outcome"] == "not reproduced" else "",
    )


_COSTS = (
    ("seconds", "seconds", 1.0),
    ("cpu_seconds", "seconds", 1.0),
    ("peak_memory_mb", "megabytes", 1.0),
    ("disk_bytes", "megabytes", 1e6),
)


def _signer(signer: Facts) -> str:
    fingerprint = f"`{signer['fingerprint']}`"
    if signer["principal"] is None:
        return TEXT("unknown", fingerprint=fingerprint)
    return TEXT("known", name=escape(signer["principal"]), fingerprint=fingerprint)


def _few(names: list[str]) -> str:
    labels = [f"`{name}`" for name in names[:MAX_NAMES]]
    if len(names) == len(labels):
        return listed(labels)
    return TEXT("more", names=", ".join(labels), n=len(names) - len(labels))


def _place(difference: Facts) -> str:
    column = escape(difference.get("column") or "")
    if not difference.get("row"):
        return column or UNDEFINED
    return TEXT("differences.row", row=count(difference["row"]), column=column)


def _value(value: str | None, length: int | None = None) -> str:
    return UNDEFINED if value is None else escape(value[:length])
