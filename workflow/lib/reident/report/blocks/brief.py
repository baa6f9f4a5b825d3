"""Make the brief that a board decides on: the test, strips of squares, and rates as products (METHODS §6)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pandas as pd

from reident.linkage.settings import AGREEMENT, ANY, WHOLE
from reident.linkage.surest import NUMBERS
from reident.report.blocks import filerisk, matching, together
from reident.report.blocks.common import FEW, share_of
from reident.report.blocks.exact import exact_names
from reident.report.blocks.front import (
    conditional_rates,
    confirmed,
    exact_of_table,
    larger_file,
    outcome_of,
    overlap_of,
    unconfirmable,
)
from reident.report.blocks.surest import AGREEMENTS, AT
from reident.report.blocks.surest import SUMMARY as SUREST
from reident.report.blocks.surest import summary as surest_lines
from reident.report.layout import ReportColumn, block, box, items, paragraphs, table
from reident.report.results import LIMITS, Results
from reident.report.sentences import Sentences
from reident.report.terms import some, title
from reident.report.wording import (
    UNDEFINED,
    count,
    declared,
    defined,
    fixed,
    label_cells,
    listed,
    number,
    percent,
    sentence,
    span,
    word,
)
from reident.verdict.limits import BREAKS
from reident.verdict.warnings import ATTACK, MATCHING, TOGETHER

TEXT = Sentences("brief")
FRONT = Sentences("front")
SQUARES, MANY_SQUARES = 100, 1000
"""How many squares stand for all records; many where fewer than 1 of 100 records are found."""

MAX_TALL = 9
"""Strips up to which a strip has four rows of squares; more strips have two."""


class Squares(NamedTuple):
    """A number of squares that stand for all records of a file, or for all claims."""

    squares: int
    records: float

    def of(self, records: float) -> float:
        """Return records as squares, which need not be whole."""
        return records / self.records * self.squares

    def words(self, records: float, places: int = 0) -> str:
        """Return records as a number of squares in words."""
        squares = self.of(records)
        if records == 0:
            return TEXT("number.none")
        return TEXT("number.fewer") if squares < 1 and not places else fixed(squares, places)


def squares_of(records: float, found: Iterable[float]) -> Squares:
    """Return the squares of a file, of which these numbers of records are found by one metric or another."""
    most = max(found, default=0)
    squares = MANY_SQUARES if 0 < most < records / SQUARES else SQUARES
    return Squares(round(min(squares, records)), records)


def frequency(part: float, n: float) -> str:
    """Return a part of n in natural frequencies, ``48 of 100``, of 1,000 where it is nearly none or nearly all."""
    if n <= SQUARES:
        return TEXT("frequency", part=count(part), n=count(n))
    for whole in (SQUARES, MANY_SQUARES):
        shown = round(part / n * whole)
        if part in {0, n} or 0 < shown < whole:
            return TEXT("frequency", part=count(shown), n=count(whole))
    return TEXT("frequency", part=count(part), n=count(n))


class Strip(NamedTuple):
    """A line of the figure: its name, a note on it, records by class, and what is said beside its squares.

    The classes, from the left, are `single` (found with a single candidate), `found` and `suspected`, each with those
    before it; `held` alone is a class of its own. `room` is how many records a limit allows to be found, `share` the
    share of the suspected records, where the limit is on these.
    """

    name: str
    about: str
    classes: dict[str, float]
    lead: str
    beside: str = ""
    room: float | None = None
    share: float | None = None
    is_above: bool = False


def _drawn(strip: Strip, scale: Squares, rows: int) -> str:
    """Return a strip as Markdown; the style sheets draw the squares."""
    ends = {name: round(scale.of(records)) for name, records in strip.classes.items()}
    if strip.room is not None:
        ends["room"] = min(math.floor(scale.of(strip.room) + 0.5), scale.squares)
    marks = " ".join(f'{name}="{n}"' for name, n in {"total": scale.squares, "rows": rows, **ends}.items())
    lead = f"[▲ {strip.lead}]{{.above}}" if strip.is_above else f"**{strip.lead}**"
    above = " .broken" if strip.is_above else ""
    texts = [f"**{strip.name}** [{strip.about}]{{.below}}", f"[]{{.squares{above} {marks}}}"]
    return box("strip", *texts, f"{lead} [{strip.beside}]{{.below}}" if strip.beside else lead)


@block()
def test(results: Results) -> str:
    """Say in a few sentences what was tested."""
    texts = []
    if results.has("rates.csv"):
        line, names = results.whole.iloc[0], label_cells(results.strata_names)
        noun = "unit" if results.compares_units else "record"
        fields = {"eif": some(round(line["n_eif"]), noun), "puf": some(round(line["n_puf"]), noun)}
        variables = some(len(results.study["linking_variables"]), "variable")
        texts.append(TEXT("test.attack" if results.named else "test.unnamed", variables=variables, **fields))
        if names:
            texts.append(FRONT("strata", n=len(names), names=listed(names)))
        texts.append(TEXT("test.truth"))
    if results.has(matching.SUMMARY):
        n, people = len(matching.synthetic_files(results)), results.table(matching.SUMMARY)["targets"].iloc[0]
        texts.append(TEXT("test.matching", n=n, number=word(n), people=some(round(people), "person")))
    if results.has(filerisk.SUMMARY):
        records, n = (round(filerisk.quantity(results, name)) for name in ("records", "key_variables"))
        texts.append(TEXT("test.file", records=some(records, "record"), variables=some(n, "key_variable")))
    return box("test", " ".join(texts)) if texts else ""


# The attack -------------------------------------------------------------------------------------------


def linked(results: Results) -> int:
    """Return the released records of people whom the intruder's file has, in whatever stratum."""
    reached = results.whole[results.whole["n_confirmed"] > 0]
    if reached.empty:
        return round(results.whole["n_findable"].iloc[0])
    return round(reached["n_confirmed"].iloc[0] / reached["reach"].iloc[0])


def agreeing(results: Results) -> tuple[pd.Series, str] | None:
    """Return the rates where the most metrics suspect the same pair, of some records, and their number in words."""
    if not results.has(AGREEMENTS):
        return None
    lines = results.table(AGREEMENTS)
    lines = lines[lines["stratum"] == WHOLE]
    if lines.empty:
        return None
    m = len(lines)
    some_records = lines[(lines["n_suspected"] >= FEW) & (lines["metrics"] > 1)]
    line = (lines if some_records.empty else some_records).iloc[-1]
    k = int(line["metrics"])
    return line, TEXT("agree.all", n=m, number=word(m)) if k == m else TEXT("agree.least", k=word(k), m=word(m))


def surest(results: Results) -> tuple[int, float, str] | None:
    """Return a number of surest claims, how many of them are right, and by which metric; those with most right."""
    if not results.has(SUREST) or not results.confirmable:
        return None
    lines = surest_lines(results)
    size = max((n for n in NUMBERS if lines[f"right_of_{n}"].notna().any()), default=0)
    if not size or not lines["n_right"].max():
        return None
    best = str(lines[f"right_of_{size}"].idxmax())
    return size, float(lines.at[best, f"right_of_{size}"]), best


@block("rates.csv")
def keys(results: Results) -> str:
    """Return the numbers that come first: people held, records found, and what an intruder can be surest of."""
    n_puf, held = results.whole["n_puf"].iloc[0], linked(results)
    texts = [TEXT("keys.held", frequency=frequency(held, n_puf), n=held, puf=count(n_puf))]
    if results.confirmable:
        n, key = confirmed(results), "any" if len(results.metrics) > 1 else "one"
        share = share_of(n / max(held, 1), held)
        texts.append(TEXT(f"keys.found_{key}", frequency=frequency(n, n_puf), n=n, share=share))
        if (line := agreeing(results)) is not None and line[0]["n_suspected"]:
            n, suspected = (round(line[0][name]) for name in ("n_confirmed", "n_suspected"))
            fields = {"frequency": frequency(n, suspected), "which": line[1], "suspected": count(suspected)}
            texts.append(TEXT("keys.agree", n=n, **fields))
    if (claims := surest(results)) is not None:
        size, right, metric = claims
        many = surest_lines(results)[AT]
        first = TEXT("keys.surest", frequency=frequency(right, size), by=_by(metric))
        texts.append(f"{first} {TEXT('keys.at_95', n=int(many.max()), by=_by(str(many.idxmax())))}")
    return box("keys", *texts)


def _by(metric: str) -> str:
    return TEXT("keys.by_agreement") if metric == AGREEMENT else TEXT("keys.by_metric", metric=title(metric))


ROOMS = {
    "conditional_rate_at_most": lambda line, bound: bound * line["n_suspected"],
    "confirmed_rate_at_most": lambda line, bound: bound * line["n_puf"],
    "reach_at_most": lambda line, bound: bound * line["n_linked"],
    "confirmed_at_most": lambda _, bound: bound,
    "confirmed_by_any_at_most": lambda _, bound: bound,
    "together_confirmed_rate_at_most": lambda line, bound: bound * line["n_puf"],
    "true_match_rate_at_most": lambda line, bound: bound * line["targets"],
}
"""By limit, how many records it allows to be found; other limits are not on records that are found."""


def _outcomes(results: Results, about: str, metric: str) -> pd.DataFrame:
    """Return the limits of a metric with their outcomes; none where nothing can be confirmed."""
    limits = results.limits(about) if results.has(LIMITS) else pd.DataFrame(columns=["metric", "outcome"])
    return limits[(limits["metric"] == metric) & results.confirmable]


def _room(results: Results, limits: pd.DataFrame, line: dict[str, Any]) -> tuple[float | None, float | None]:
    """Return how many records the limits of a metric allow to be found, and as what share of those suspected."""
    by_end = results.decision.get("by") == "upper"  # which is not a number of records found
    kinds = [row for row in limits.itertuples() if row.limit in ROOMS and not (by_end and "conditional" in row.limit)]
    if not kinds or not line["n_suspected"]:
        return None, None
    least = min(kinds, key=lambda row: ROOMS[row.limit](line, row.bound))
    share = least.bound if least.limit == "conditional_rate_at_most" else None
    return ROOMS[least.limit](line, least.bound), share


def _warned(results: Results, metric: str) -> bool:
    """Return whether a warning says that the risk of a metric may be understated."""
    lines = results.warnings
    fields = lines.loc[lines["severity"] == "understates", "fields"].dropna()
    return any(json.loads(text).get("metric") == metric for text in fields if text)


def _strip(
    results: Results, scale: Squares, name: str, about: str, line: dict[str, Any], metric: str = "", of: str = ATTACK
) -> Strip:
    """Return the strip of an attack, from the counts of its line; `metric` is what its limits are on."""
    classes = {key: line[f"n_{column}"] for key, column in COUNTS.items() if f"n_{column}" in line}
    found, single = line["n_confirmed"], line.get("n_single_confirmed")
    key = "matched" if of == MATCHING else "suspected"
    beside = TEXT(f"strip.{key}", suspected=scale.words(line["n_suspected"]))
    if single is not None and results.confirmable:
        beside += TEXT("strip.single", single=scale.words(single))
    limits = _outcomes(results, of, metric)
    (room, share), outcomes = _room(results, limits, line), set(limits["outcome"])
    kind = outcome_of(outcomes)
    if not results.confirmable:
        lead = TEXT("strip.unknown")
    elif not outcomes:
        lead = TEXT("strip.found", found=scale.words(found))
    else:
        is_broken = BREAKS in outcomes
        kind = "warned" if kind in {"within", "unsure"} and _warned(results, metric) else kind
        verdict, words = TEXT(f"strip.verdict.{kind}"), scale.words(found)
        if room is None:
            lead = TEXT("strip.judged", found=words, verdict=verdict)
        elif is_broken and found <= room:
            lead = TEXT("strip.other", found=words, room=scale.words(room), verdict=verdict)
        else:
            alike = is_broken and scale.words(room) == words
            shown = {
                name: scale.words(n, int(alike or scale.of(n) < 1)) for name, n in (("found", found), ("room", room))
            }
            lead = TEXT("strip.limited", verdict=verdict, **shown)
    return Strip(name, about, classes, lead, beside, room, share, kind == "above")


COUNTS = {"single": "single_confirmed", "found": "confirmed", "suspected": "suspected"}
"""The classes of squares, with the columns that have their records."""


def _attacks(results: Results, scale: Squares) -> Iterator[Strip]:
    """Yield the strips of an attack: the people held, any metric, each metric, their agreement, several files."""
    held, n_puf = linked(results), results.whole["n_puf"].iloc[0]
    lead = TEXT("strip.held", held=scale.words(held))
    yield Strip(TEXT("name.held"), TEXT("about.held"), {"held": held}, lead, TEXT("strip.others"))
    if len(results.metrics) > 1 and results.has("description/overlap.csv"):
        line = {f"n_{kind}": overlap_of(results, kind) for kind in ("suspected", "confirmed")}
        yield _strip(results, scale, TEXT("name.any"), TEXT("about.any"), line | {"n_puf": n_puf}, ANY)
    for metric, row in results.whole.iterrows():
        line = {**row.to_dict(), "n_linked": held}
        about = TEXT.group("about.metric").get(str(metric), "")
        yield _strip(results, scale, title(str(metric)), about, line, str(metric))
    if (agreement := agreeing(results)) is not None:
        yield _strip(results, scale, sentence(agreement[1]), TEXT("about.agree"), agreement[0].to_dict())
    if results.has(together.RATES) and len(together.labels(results)) > 1:
        lines = {name: together.line_of(together.whole_of(results, name), ANY) for name in results.metrics}
        metric = max(lines, key=lambda name: lines[name]["n_confirmed"])
        name = TEXT("name.together", n=len(together.labels(results)), number=word(len(together.labels(results))))
        yield _strip(results, scale, name, title(metric), lines[metric].to_dict(), metric, TOGETHER)


@block("rates.csv")
def strips(results: Results) -> str:
    """Show of 100 released records how many the intruder holds, suspects and finds, by metric, beside the limit."""
    n_puf = results.whole["n_puf"].iloc[0]
    scale = squares_of(n_puf, [confirmed(results)])
    lines = list(_attacks(results, scale))
    more, notes = [], box("foot", " ".join(_notes(results, scale, lines)))
    if (claims := surest(results)) is not None:
        size, right, metric = claims
        lead = TEXT("strip.right", right=count(right))
        by = TEXT("about.surest_agreement") if metric == AGREEMENT else TEXT("about.surest", metric=title(metric))
        strip = Strip(TEXT("name.surest", n=size), by, {"single": right, "suspected": size}, lead, TEXT("strip.claims"))
        more.append(_drawn(strip, Squares(size, size), 4 if len(lines) < MAX_TALL else 2))
    fields = {"squares": count(scale.squares), "held": scale.words(linked(results))}
    heading = TEXT("strips.unknown", **fields)
    if results.confirmable:
        heading = TEXT("strips.heading", found=scale.words(confirmed(results)), **fields)
    return _figure(heading, "attack", lines, scale, *more, notes)


def _figure(heading: str, kind: str, strips: list[Strip], scale: Squares, *more: str) -> str:
    """Return strips below their heading and legend, whose words are those of a kind of study."""
    rows = 10 if scale.squares > SQUARES else 4 if len(strips) < MAX_TALL else 2
    classes = {name for strip in strips for name in strip.classes} - {"held"}
    frame = ["room"] if any(strip.room is not None for strip in strips) else []
    legend = [name for name in COUNTS if name in classes] + ["none", *frame]
    names = (TEXT(f"legend.{name}" if name in {"none", "room"} else f"legend.{kind}.{name}") for name in legend)
    above = f" {TEXT('legend.above')}" if any(strip.is_above for strip in strips) else ""
    key = box(
        "legend",
        *(
            f"[]{{.key-{name}}} {text}{above if name == 'found' else ''}"
            for name, text in zip(legend, names, strict=True)
        ),
    )
    one = scale.records / scale.squares
    unit = (
        TEXT("unit.one")
        if one == 1
        else TEXT("unit.several", unit=number(float(f"{one:.3g}")), records=count(scale.records))
    )
    drawn = [_drawn(strip, scale, rows) for strip in strips]
    return paragraphs(f"# {heading} {{.brief}}", box("sub", f"{unit} {TEXT(f'unit.{kind}')}"), key, *drawn, *more)


def _notes(results: Results, scale: Squares, lines: list[Strip]) -> Iterator[str]:
    """Yield how to read the strips, with an example, and what chance would find."""
    findable, held = round(results.whole["n_findable"].iloc[0]), linked(results)
    limited = sorted(
        (line for line in lines if line.room is not None), key=lambda line: (not line.is_above, line.share is None)
    )
    if limited:
        fields = {key: scale.words(limited[0].classes[key]) for key in ("suspected", "found")}
        fields |= {"name": limited[0].name, "squares": count(scale.squares), "room": scale.words(limited[0].room or 0)}
        share = limited[0].share
        yield (
            TEXT("notes.read", **fields) if share is None else TEXT("notes.read_share", limit=declared(share), **fields)
        )
    if held != findable:
        yield TEXT("notes.strata", n=findable, held=held)
    chance = (results.whole["baseline_rate"] * results.whole["n_suspected"]).max()
    if defined(chance) and results.confirmable:
        yield TEXT("notes.chance", n=scale.words(chance), squares=count(scale.squares))
    yield TEXT("notes.rounded")


# The rate as a product --------------------------------------------------------------------------------


def _product_lines(results: Results) -> pd.DataFrame:
    """Return the lines of rates by metric, of their agreement and of exact values, each with its name."""
    lines = results.whole.assign(metric=results.metrics, name=[f"**{title(name)}**" for name in results.metrics])
    if (agreement := agreeing(results)) is not None:
        lines = pd.concat([lines, pd.DataFrame([agreement[0].to_dict() | {"name": f"**{sentence(agreement[1])}**"}])])
    if (exact := exact_of_table(results)) is not None:
        lines = pd.concat([lines, pd.DataFrame([exact.to_dict() | {"name": f"**{TEXT('name.exact')}**"}])])
    held = lines["n_suspected"] - lines["n_false_outside"]
    return lines.assign(held=held, kept=lines["n_confirmed"] / held.where(held > 0), n_linked=linked(results))


def _two(text: str, below: str) -> str:
    return f"{text} [{below}]{{.below}}" if below else text


def _share(part: float, n: float, sign: str = "", *, of: bool = False) -> str:
    """Return a share with the number of records below it, `of` all; of few records their number alone."""
    if not defined(part) or not n:
        return UNDEFINED
    if n < FEW:
        return sign + TEXT("frequency", part=share_of(part / n, n), n=count(n))
    below = count(part) if part == round(part) else TEXT("about_n", n=fixed(part, int(part < FEW)))
    below = TEXT("frequency", part=below, n=count(n)) if of else below
    return _two(sign + percent(part / n, 0 if part >= n / SQUARES else None), below)


@block("rates.csv")
def product(results: Results) -> str:
    """Show the conditional rate as a product: the share of suspected records held, and of those the share found."""
    lines, scale = _product_lines(results), squares_of(results.whole["n_puf"].iloc[0], [confirmed(results)])
    cells: dict[str, list[str]] = {name: [] for name in TEXT.names("product.columns")}
    for line, rate in zip(lines.to_dict("records"), conditional_rates(lines, results.limit), strict=True):
        n, held = line["n_suspected"], line["held"]
        outcome = outcome_of(set(_outcomes(results, ATTACK, str(line.get("metric", "")))["outcome"]))
        cells["suspected"].append(_two(count(n), TEXT("frequency", part=scale.words(n), n=count(scale.squares))))
        cells["held"].append(_share(held, n))
        cells["found"].append(_share(line["n_confirmed"], held, "× ") if defined(held) else UNDEFINED)
        interval = span(line["conditional_low"], line["conditional_high"])
        cells["rate"].append(_rate(line, rate, interval, outcome))
        cells["reach"].append(_share(line["n_confirmed"], line["n_linked"], of=True))
        cells["guess"].append(_share(line["expected_correct_rate"] * n, n))
        cells["single"].append(_share(line["n_single_confirmed"], line["n_single"], of=True))
    columns = [ReportColumn(TEXT(f"product.columns.{name}"), texts, width="1fr") for name, texts in cells.items()]
    caption = TEXT("product.caption", level=declared(results.level), undefined=UNDEFINED)
    if (exact := exact_of_table(results)) is not None:
        caption += f" {FRONT('table.exact', names=exact_names(exact))}"
    heading, text = _explained(results)
    names = ReportColumn(TEXT("product.metric"), list(lines["name"]), "l", "1.3fr")
    return paragraphs(f"# {heading} {{.brief}}", text, table(caption, names, *columns, kind="cards"))


def _rate(line: dict[str, Any], rate: str, interval: str, outcome: str) -> str:
    if 0 < line["n_suspected"] < FEW:
        return f"= {TEXT('frequency', part=count(line['n_confirmed']), n=count(line['n_suspected']))}"
    if rate == UNDEFINED:
        return rate
    text = f"= {rate} %"
    below = "" if interval == UNDEFINED else interval
    return _two(f"[▲ {text}]{{.above}}" if outcome == "above" else f"**{text}**", below)


def _explained(results: Results) -> tuple[str, str]:
    """Return the heading and the text of the table: why who finds most may be right less often than another."""
    lines = results.whole.assign(held=lambda w: w["n_suspected"] - w["n_false_outside"])
    lines = lines[(lines["n_suspected"] >= FEW) & (lines["n_confirmed"] > 0)]
    text = TEXT("product.text")
    if len(lines) < 2:
        return TEXT("product.heading"), text if results.confirmable else f"{text} {unconfirmable(results)}"
    most, best = str(lines["n_confirmed"].idxmax()), str(lines["conditional_rate"].idxmax())
    if most == best:
        return TEXT("product.heading"), f"{text} {TEXT('product.same', metric=title(most))}"
    held, found = lines["held"] / lines["n_suspected"], lines["n_confirmed"] / lines["held"]
    cause, shares = ("held", held) if held[best] / held[most] >= found[best] / found[most] else ("found", found)
    fields = {"most": title(most), "best": title(best), "most_share": percent(shares[most], 0)}
    why = TEXT(f"product.{cause}", **fields, best_share=percent(shares[best], 0))
    return TEXT("product.heading_paradox", most=title(most), best=title(best)), f"{text} {why}"


@block()
def unseen(results: Results) -> str:
    """Say what the study cannot show."""
    if not results.has("rates.csv"):
        return items([TEXT("unseen.knowledge"), TEXT("unseen.harm")])
    whole = results.whole[results.whole["n_suspected"] > 0]
    texts = [f"{TEXT('unseen.intruders', level=declared(results.level))} {larger_file(results)}".strip()]
    if results.confirmable and len(whole):
        rates = whole["expected_correct_rate"]
        low, high = percent(rates.min()), percent(rates.max())
        texts.append(TEXT("unseen.guess", n=1 if low == high else 2, low=low, high=high))
    texts += [TEXT("unseen.harm"), TEXT("unseen.links")]
    return items(texts)


# One file, and synthetic files ------------------------------------------------------------------------


@block(filerisk.SUMMARY, filerisk.CELLS)
def risk_strip(results: Results) -> str | None:
    """Show of 100 records how many are unique, and how many are in small cells."""
    cells, records = results.table(filerisk.CELLS), filerisk.quantity(results, "records")
    if cells.empty or filerisk.is_wildcard(results):
        return None
    sizes = {"single": 2, "found": 3, "suspected": 5}
    classes = {name: cells.loc[cells["cell_size"] < k, "n_records"].sum() for name, k in sizes.items()}
    scale = squares_of(records, [classes["single"]])
    words = {name: scale.words(n) for name, n in classes.items()}
    lead = TEXT("risk.unique", unique=words["single"])
    beside = TEXT("risk.cells", found=words["found"], suspected=words["suspected"])
    strip = Strip(TEXT("risk.name"), TEXT("risk.about"), classes, lead, beside)
    heading = TEXT("risk.heading", squares=count(scale.squares), unique=words["single"])
    return _figure(heading, "risk", [strip], scale)


@block(matching.SUMMARY, matching.SCENARIOS, matching.POOLED, matching.CORRESPONDENCE)
def matching_strips(results: Results) -> str | None:
    """Show of 100 people how many each intruder matches with a single record, and how many of these are right."""
    lines = matching.by_worst(results).head(matching.MAX_INTRUDERS)
    if matching.invalid(results) or lines.empty:
        return None
    right = lines["true_match_rate"] * lines["targets"]
    lines = lines.assign(n_confirmed=right, n_suspected=lines["unique_matches"])
    scale = squares_of(lines["targets"].iloc[0], right)
    attacks = [
        _strip(results, scale, matching.intruder_name(results, str(name)), "", line.to_dict(), str(name), MATCHING)
        for name, line in lines.iterrows()
    ]
    fields = {"squares": count(scale.squares), "right": scale.words(right.max())}
    return _figure(TEXT("matching.heading", **fields), "matching", attacks, scale)
