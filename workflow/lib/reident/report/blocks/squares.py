"""Draw of 100 released records how many an intruder holds, suspects and finds, as strips of squares (METHODS §6)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pandas as pd

from reident.linkage.settings import AGREEMENT, ANY, WHOLE
from reident.linkage.surest import NUMBERS
from reident.report.blocks import filerisk, matching, together
from reident.report.blocks.common import FEW
from reident.report.blocks.front import confirmed, outcome_of, overlap_of
from reident.report.blocks.surest import AGREEMENTS
from reident.report.blocks.surest import SUMMARY as SUREST
from reident.report.blocks.surest import summary as surest_lines
from reident.report.layout import block, box, paragraphs
from reident.report.results import LIMITS, Results
from reident.report.sentences import Sentences
from reident.report.terms import title
from reident.report.wording import count, declared, defined, fixed, number, sentence, word
from reident.verdict.limits import BREAKS
from reident.verdict.warnings import ATTACK, MATCHING, TOGETHER

TEXT = Sentences("brief")
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


def outcomes_of(results: Results, about: str, metric: str) -> pd.DataFrame:
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
    limits = outcomes_of(results, of, metric)
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


@block(filerisk.SUMMARY, filerisk.CONVENTIONS)
def risk_strip(results: Results) -> str | None:
    """Show of 100 records how many are unique, and how many are in small cells, on the values that they have."""
    records = filerisk.quantity(results, "records")
    if filerisk.is_wildcard(results):
        return None
    sizes = {"single": 2, "found": 3, "suspected": 5}
    classes: dict[str, float] = {name: filerisk.alone_by_values(results, k) for name, k in sizes.items()}
    scale = squares_of(records, [classes["single"]])
    words = {name: scale.words(n) for name, n in classes.items()}
    lead = TEXT("risk.unique", unique=words["single"])
    beside = TEXT("risk.cells", found=words["found"], suspected=words["suspected"])
    about = TEXT("risk.about" if filerisk.n_complete(results) == records else "risk.about_values")
    strip = Strip(TEXT("risk.name"), about, classes, lead, beside)
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
