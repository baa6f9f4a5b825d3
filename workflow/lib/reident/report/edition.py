"""The page of a releasable edition, from its published file alone (METHODS §11.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from reident import language
from reident.edition.texts import hidden, interval
from reident.page.layout import ReportColumn, box, items, paragraphs, table
from reident.page.sentences import Sentences
from reident.page.terms import about as terms_about
from reident.page.terms import title
from reident.page.wording import declared, digits, escape, listed, whole
from reident.report import render as rendering
from reident.report.render import About, Content, Rendered
from reident.sections.edition import ALL, ATTACK, METRIC, POPULATION, SINGLE, Edition, Part, ToldCount, ToldLimit

TEXT = Sentences("edition")
STYLE = """
/* The releasable edition: one column in the middle, without contents. */
.contents { display: none; }
.masthead .measure, .frame, footer.measure { max-width: 49rem; }
.sheet h2 { margin-top: 2.6rem; padding-top: .8rem; border-top: 3px solid var(--accent); }
.sheet h2 { font-size: 1.4rem; color: var(--accent); }
"""
PICTURE = {"single": "single", "found": "open", "suspected": "rest"}
"""The classes of squares (found, found or not, not found) with the names of their words."""

FIVE = 20
"""Five per cent is one of so many."""


class Hundred(NamedTuple):
    """How many of 100 suspected records are found, from rounded numbers; an end that nothing tells is None."""

    low: int | None
    high: int | None

    @property
    def words(self) -> str:
        """Return the share in words."""
        if self.low is None and self.high is None:
            return TEXT("share.withheld")
        if self.high is None:
            return TEXT("share.least", n=self.low or 0)
        if not self.low:
            return TEXT("share.most", n=self.high) if self.high else TEXT("share.fewer", n=1)
        if self.low == self.high:
            return TEXT("share.about", n=self.low)
        return TEXT("share.span", low=self.low, high=self.high)


def render(edition: Edition, font: Path | None = None, say: Callable[[str], object] = lambda _: None) -> Rendered:
    """Return the page of an edition as HTML and PDF: the same bytes for the same published file and font.

    ``say(warning)`` takes a sentence on letters that no font has.
    """
    with language.use(edition.language):
        about = About(
            title=edition.title,
            subtitle=TEXT("page.subtitle"),
            agency=edition.agency,
            study=edition.study,
            date=edition.date,
            footer=TEXT("page.footer"),
            front=TEXT("page.front"),
            style=STYLE,
            language=edition.language,
        )
        return rendering.render(Content(text(edition), "", {}), about, font, say)


def text(edition: Edition) -> str:
    """Return what the page says, as Markdown in the language in use."""
    return paragraphs(*(box("sheet", *sheet) for sheet in _sheets(edition)))


def hundred(edition: Edition, count: ToldCount) -> Hundred:
    """Return how many of 100 suspected records are found, by the published texts."""
    suspected = _value(count.suspected)
    if not count.first or not suspected:
        return Hundred(None, None)
    first, last = _value(count.first), _value(count.last)
    if first is not None and first == last and not _is_lowest(edition, count.first):
        share = round(100 * min(first, suspected) / suspected)
        return Hundred(share, share)
    low = None if first is None or _is_lowest(edition, count.first) else first * 100 // suspected
    high = interval(edition.policy, count.last)[1] if last is None else last
    is_open = count.at_most is None and high >= suspected
    return Hundred(low, None if is_open else min(100, -(-high * 100 // suspected)))


def _value(text: str) -> int | None:
    return int(text) if text.isdigit() else None


def _is_lowest(edition: Edition, text: str) -> bool:
    """Return whether a text is that of 0, or leaves 0 possible: a count is never told to be above it."""
    return interval(edition.policy, text)[0] <= 0


def found(edition: Edition, count: ToldCount) -> str:
    """Return what is told of a count for a cell: a text, a run of texts, or that nothing is told."""
    if not count.first:
        return TEXT("found.withheld")
    suspected, last = _value(count.suspected), _value(count.last)
    if count.first == count.last:
        return shown(count.first)
    is_open = count.at_most is None and suspected is not None and last is not None and last >= suspected
    if _is_lowest(edition, count.first):
        return TEXT("found.withheld") if is_open else TEXT("found.most", n=shown(count.last))
    if is_open:
        return TEXT("found.least", n=shown(count.first))
    return TEXT("found.span", low=shown(count.first), high=shown(count.last))


def shown(text: str) -> str:
    """Return a published text with thousands separators."""
    return digits(f"{int(text):,}") if text.isdigit() else escape(text)


def name(edition: Edition, count: ToldCount) -> str:
    """Return the name of a count."""
    if count.stratum:
        return TEXT("kind.stratum", names=escape(", ".join(edition.strata)), stratum=escape(count.stratum))
    if count.kind == METRIC:
        return escape(title(count.metrics[0]))
    if count.kind == SINGLE:
        return TEXT("kind.single", metric=escape(title(count.metrics[0])))
    return TEXT(f"kind.{count.kind}")


def _sheets(edition: Edition) -> Iterator[list[str]]:
    """Yield the parts of the page in their order: results first, then what they mean, a sheet of the PDF each."""
    results = [_headline(edition), _heading(TEXT("tested")), *_tested(edition)]
    for part in edition.parts:
        results += [_heading(TEXT("result")), *_picture(edition, part), *_table(edition, part)]
    yield results
    yield [
        *_alone(edition),
        *_limits(edition),
        _heading(TEXT("cannot")),
        items(TEXT.group("cannots").values()),
        _heading(TEXT("rules")),
        *_rules(edition),
    ]


def _alone(edition: Edition) -> Iterator[str]:
    """Yield what the released file shows by itself."""
    if edition.file is not None:
        yield _heading(TEXT("alone"))
        yield TEXT("file.line", **{key: shown(text) for key, text in edition.file.model_dump().items()})


def _heading(text: str) -> str:
    return f"# {text} {{.brief}}"


def _headline(edition: Edition) -> str:
    """Return the first sentence, and where nothing is told that this does not mean none."""
    if not edition.parts:
        alone = edition.file
        text = (
            ""
            if alone is None
            else TEXT("headline.population", unique=shown(alone.unique), records=shown(alone.records))
        )
        return box("verdict statement", f"**{text}**")
    part = edition.parts[0]
    if not part.told:
        return box("verdict statement", f"**{TEXT('headline.nothing')}**", TEXT("not_none"))
    share = hundred(edition, part.counts[0] if part.about == ATTACK else part.counts[-1])
    if share == Hundred(None, None):
        return box("verdict statement", f"**{TEXT('headline.withheld')}**", TEXT("not_none"))
    of = edition.counted if part.about == ATTACK else part.about
    texts = [f"**{TEXT(f'headline.told.{of}', share=share.words)}**"]
    if part.about == ATTACK:
        texts += _surest(edition, part, share)
    elif part.about == POPULATION and edition.file is not None:
        fields = {"unique": shown(edition.file.unique), "records": shown(edition.file.records)}
        texts.append(TEXT("headline.population", **fields))
    elif (matched := hundred(edition, part.counts[0])) != Hundred(None, None):
        texts.append(TEXT("headline.matched", share=matched.words))
    return box("verdict statement", *texts)


def _surest(edition: Edition, part: Part, of_any: Hundred) -> Iterator[str]:
    """Yield the sentence on the comparison that is right most often, where it is so more often than any together."""
    shares = [(hundred(edition, count), count) for count in part.counts if count.kind == METRIC and not count.stratum]
    share, count = max(shares, key=lambda one: one[0].low or 0, default=(of_any, part.counts[0]))
    if (share.low or 0) > (100 if of_any.high is None else of_any.high):
        yield TEXT("headline.surest", metric=name(edition, count), share=share.words)


def _tested(edition: Edition) -> Iterator[str]:
    """Yield what was compared, and what a count means."""
    names = listed([f"*{escape(variable)}*" for variable in edition.variables])
    if all(part.about == POPULATION for part in edition.parts):
        yield TEXT("file.tested", names=names)
    for part in edition.parts:
        if part.about == ATTACK:
            counted = edition.counted
            yield TEXT(f"{counted}.tested", others=shown(part.others), records=shown(part.records))
            sentences = [TEXT(f"{counted}.variables", names=names)]
            if edition.strata:
                strata = listed([f"*{escape(variable)}*" for variable in edition.strata])
                sentences.append(TEXT(f"{counted}.strata", names=strata))
            metrics = listed([escape(title(metric)) for metric in edition.metrics])
            sentences.append(TEXT(f"{counted}.metrics", n=len(edition.metrics), names=metrics))
            yield " ".join(sentences)
            yield TEXT(f"{counted}.found")
        elif part.about == POPULATION:
            yield TEXT("population.found")
        else:
            yield TEXT("matching.tested", names=names, records=shown(part.records))
            yield TEXT("matching.found")


def _table(edition: Edition, part: Part) -> Iterator[str]:
    """Yield the table *suspected, found, of 100*."""
    columns = (
        ReportColumn(
            TEXT(f"suspected.{part.about}.count"), [f"**{name(edition, count)}**" for count in part.counts], "l", "1fr"
        ),
        ReportColumn(TEXT(f"suspected.{part.about}.column"), [shown(count.suspected) for count in part.counts]),
        ReportColumn(TEXT(f"suspected.{part.about}.found"), [found(edition, count) for count in part.counts]),
        ReportColumn(TEXT(f"suspected.{part.about}.share"), [hundred(edition, count).words for count in part.counts]),
    )
    yield table(TEXT(f"suspected.{part.about}.caption"), *columns, kind="cards")
    texts = dict.fromkeys(text for count in part.counts for text in (count.suspected, count.first, count.last) if text)
    notes = []
    for text in texts:
        if not text.isdigit():
            low, high = interval(edition.policy, text)
            notes.append(TEXT("table.stands", text=shown(text), low=low, high=high))
    if any(hundred(edition, count) == Hundred(None, None) for count in part.counts):
        notes.append(TEXT("table.not_none"))
    if notes:
        yield box("foot", " ".join(notes))


def _picture(edition: Edition, part: Part) -> Iterator[str]:
    """Yield a strip of 100 squares for each comparison of the whole study of which a share is told."""
    strips, keys = [], {"single", "suspected"}
    for count in part.counts:
        share = hundred(edition, count)
        if count.stratum or count.kind in {ALL, SINGLE} or share == Hundred(None, None):
            continue
        low, high = share.low or 0, 100 if share.high is None else share.high
        squares = f'[]{{.squares total="100" rows="4" single="{low}" found="{high}" suspected="100"}}'
        keys |= {"found"} if low < high else set()
        about = terms_about(count.metrics[0]) if count.kind == METRIC else ""
        strips.append(box("strip", f"**{name(edition, count)}** [{about}]{{.below}}", squares, share.words))
    if strips:
        yield box("sub", TEXT(f"suspected.{part.about}.picture"))
        words = {key: TEXT(f"suspected.{part.about}.{name}") for key, name in PICTURE.items() if key in keys}
        legend = (f"[]{{.key-{key}}} {text}" for key, text in words.items())
        yield from strips
        yield box("legend", "\N{EM SPACE} ".join(legend))


def _limits(edition: Edition) -> Iterator[str]:
    """Yield the limits with their outcomes; nothing without any."""
    lines = [(part, limit) for part in edition.parts for limit in part.limits]
    if not lines:
        return
    yield _heading(TEXT("limits"))
    yield TEXT("limit.released") if edition.released_means else TEXT("limit.lead")
    outcomes = [TEXT(f"outcome.{limit.outcome.replace(' ', '_')}") for _, limit in lines]
    columns = (
        ReportColumn(TEXT("limit.name"), [_limit(edition, *line) for line in lines], "l", "1fr"),
        ReportColumn(TEXT("limit.outcome"), outcomes, "l"),
    )
    yield table(TEXT("limit.caption"), *columns)
    if edition.more_limits:
        yield TEXT("limit.more")


def _limit(edition: Edition, part: Part, limit: ToldLimit) -> str:
    """Return a limit in words."""
    fields = {"bound": declared(limit.bound) if "rate" in limit.limit else digits(f"{int(limit.bound):,}")}
    if part.about == ATTACK:
        fields["count"] = name(edition, part.counts[limit.count])
    text = TEXT(f"limit.{limit.limit}", **fields)
    return TEXT("limit.upper", limit=text) if limit.interval else text


def _rules(edition: Edition) -> Iterator[str]:
    """Yield the theorem and the rule, the smallest study, the policy and its source."""
    policy = edition.policy
    # What is public already may be narrow: the theorem is about statements that tell something.
    if edition.parts and not any(part.told for part in edition.parts):
        yield TEXT("rule.nothing")
    elif edition.parts:
        sentences = [TEXT(f"{edition.counted}.theorem", n=edition.free), TEXT("rule.decided")]
        if edition.one_to_one and any(part.about == ATTACK for part in edition.parts):
            sentences.append(TEXT("rule.one_to_one"))
        if edition.after:
            titles = listed([f"*{escape(earlier.title)}*" for earlier in edition.after])
            sentences.append(TEXT("rule.after", titles=titles))
        yield " ".join(sentences)
    if edition.parts:
        yield TEXT("rule.small", n=FIVE * hidden(policy))
    yield TEXT("rule.policy", title=whole(policy.title), version=policy.version, scope=whole(policy.scope))
    yield box(
        "foot",
        f"{TEXT('rule.source', source=whole(policy.source))} {TEXT('rule.software', version=escape(edition.software))}",
    )
