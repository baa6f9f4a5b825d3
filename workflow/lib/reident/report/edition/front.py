"""Show the front page of an edition, and how to read its numbers (METHODS §11)."""

from __future__ import annotations

from collections.abc import Iterator

from reident.release.cells import SUPPRESSED
from reident.report.edition.reading import RECORD, Count, Edition, Line
from reident.report.edition.wording import in_words, precise, records
from reident.report.layout import block, box, items
from reident.report.sentences import Sentences
from reident.report.wording import escape, listed, whole

TEXT = Sentences("edition-front")


@block(RECORD)
def findings(edition: Edition) -> str:
    """Describe the study and the results of each metric, in sentences with rounded numbers."""
    texts = [f"{TEXT('studied.lead')} {' '.join(_studied(edition))}"]
    for metric, line in edition.whole.items():
        lead = TEXT("metric.lead", metric=escape(edition.metrics[metric]))
        texts.append(f"{lead} {' '.join(_outcome(edition, line))}")
    if edition.tables["file.csv"]:
        texts.append(f"{TEXT('file.lead')} {_unique(edition)}")
    if edition.tables["matching.csv"]:
        texts.append(f"{TEXT('matching.lead')} {TEXT('matching.text')}")
    return box("findings", items(texts))


def _studied(edition: Edition) -> Iterator[str]:
    if edition.whole:
        counts = next(iter(edition.whole.values())).counts
        files = {file: records(edition, counts[f"n_{file}"], edition.counted) for file in ("puf", "eif")}
        yield TEXT("studied.attack", **files)
        if edition.counted == "units":
            yield TEXT("studied.units")
        if names := edition.record["strata"]:
            agree = TEXT("studied.agree", n=len(names))
            yield TEXT(f"{edition.counted}.strata", names=listed([f"*{escape(name)}*" for name in names]), agree=agree)
        if counts["n_links"].value is not None:
            yield TEXT(f"{edition.counted}.links", links=records(edition, counts["n_links"], edition.counted))
    if edition.tables["file.csv"]:
        yield TEXT("studied.file")
    if edition.tables["matching.csv"]:
        yield TEXT("studied.matching")


def _outcome(edition: Edition, line: Line) -> Iterator[str]:
    """Yield how many records a metric suspects, and of how many of them the true person is a candidate."""
    suspected, released = line.counts["n_suspected"], line.counts["n_puf"]
    text = records(edition, suspected, edition.counted)
    if suspected.kind == "small":
        yield TEXT(f"{edition.counted}.metric.small", records=text)
        return
    if suspected.value is None and line.counts["n_confirmed"].kind in {"suppressed", "absent"}:
        yield TEXT(f"{edition.counted}.metric.all_hidden")
        return
    if suspected.value is None:
        yield TEXT(f"{edition.counted}.metric.hidden")
    elif suspected.value == 0:
        yield TEXT(f"{edition.counted}.metric.nothing")
        return
    elif precise(edition, suspected, released) and line.shares["suspected_rate"].value is not None:
        yield TEXT(
            f"{edition.counted}.metric.suspects",
            share=in_words(line.shares["suspected_rate"].value, edition.counted),
            records=text,
        )
    else:
        yield TEXT(f"{edition.counted}.metric.suspects_number", records=text)
    yield _confirmed(edition, suspected, line)


def _confirmed(edition: Edition, suspected: Count, line: Line) -> str:
    confirmed, rate = line.counts["n_confirmed"], line.shares["conditional_rate"]
    text = records(edition, confirmed, edition.counted)
    if confirmed.kind == "small":
        return TEXT(f"{edition.counted}.metric.confirmed_small", records=text)
    if confirmed.value is None:
        return TEXT(f"{edition.counted}.metric.confirmed_hidden")
    if rate.value is not None and precise(edition, confirmed, suspected):
        return TEXT(f"{edition.counted}.metric.confirmed", share=in_words(rate.value, edition.counted))
    if rate.value is None and suspected.value is not None and confirmed.value in {0, suspected.value}:
        return TEXT(f"{edition.counted}.metric.extreme")
    return TEXT(f"{edition.counted}.metric.confirmed_number", records=text)


def _unique(edition: Edition) -> str:
    """Return how many records of the file are unique, by the first convention of missing values."""
    line = edition.tables["file.csv"][0]
    below, share = line.counts["below_2"], line.shares["share_below_2"]
    text = records(edition, line.counts["n_records"])
    complete = line["convention"] == "excluded"
    of = TEXT("file.complete", records=text) if complete else TEXT("file.all", records=text)
    if share.value is not None and precise(edition, below, line.counts["n_records"]):
        return TEXT("file.shown", share=in_words(share.value), of=of)
    if below.value is not None or below.kind == "small":
        return TEXT("file.number", of=of, below=records(edition, below))
    return TEXT("file.hidden", of=of)


@block(RECORD)
def internal(edition: Edition) -> str | None:
    """Warn, set apart, that an edition must stay inside the agency."""
    return box("warning", TEXT("rounded.internal")) if edition.policy.internal else None


@block(RECORD)
def reading(edition: Edition) -> str:
    """Explain rounded and suppressed numbers, with the scope and the source of the policy."""
    policy = edition.policy
    signs = [] if edition.exact else [TEXT("reading.number")]
    if policy.small:
        sign, below = f"**{escape(policy.small.shown)}**", policy.small.below
        zero = f" {TEXT('reading.zero_small')}" if policy.zero == "small" else ""
        signs.append(TEXT("reading.small", sign=sign, below=below) + zero)
    if not edition.exact:
        signs.append(TEXT("reading.suppressed", sign=f"**{SUPPRESSED}**"))
    signs.append(TEXT("reading.blank"))
    notes = [] if edition.exact else [TEXT("reading.rates")]
    source = TEXT(
        "reading.policy", title=whole(policy.title), version=escape(policy.version), source=whole(policy.source)
    )
    return box(
        "reading",
        f"{TEXT('reading.lead')} {TEXT('rounded.exact') if edition.exact else TEXT('rounded.other')}",
        f"{whole(policy.scope)} {source}",
        items(signs),
        " ".join([*notes, TEXT("reading.not_risk")]),
    )
