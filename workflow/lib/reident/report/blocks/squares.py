"""Draw of 100 released records how many an intruder holds, suspects and finds, as strips of squares (METHODS §6)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pandas as pd

from reident.challenge.report import ATTACKS, at_hand, limits_on, of_any, strongest
from reident.challenge.settings import DECLARED, STANDARD
from reident.filerisk import report as filerisk
from reident.linkage.settings import ANY
from reident.linkage.surest import NUMBERS
from reident.matching import report as matching
from reident.outcomes import ABOVE, ATTACK, BREAKS, EXCEEDS, LIMITS, MATCHING
from reident.page.layout import block, box, paragraphs
from reident.page.sentences import Sentences
from reident.page.terms import some
from reident.page.wording import count, declared, defined, fixed, number
from reident.report.blocks.front import outcome_of
from reident.report.blocks.surest import AT
from reident.report.results import Results

TEXT = Sentences("brief")
SQUARES, MANY_SQUARES = 100, 1000
"""How many squares stand for all records; many where fewer than 1 of 100 records are found."""

MAX_STRIPS = 4
"""Strips of a page, of synthetic files those of the intruders who find most."""


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
    before it; `held` alone is a class of its own. `kind` names the words of its legend, and `room` is how many records
    a limit allows to be found.
    """

    name: str
    about: str
    classes: dict[str, float]
    lead: str
    beside: str = ""
    kind: str = "attack"
    room: float | None = None
    is_above: bool = False


def _drawn(strip: Strip, scale: Squares) -> str:
    """Return a strip with its legend as Markdown; the style sheets draw the squares."""
    ends = {name: round(scale.of(records)) for name, records in strip.classes.items()}
    room = {} if strip.room is None else {"room": min(math.floor(scale.of(strip.room) + 0.5), scale.squares)}
    rows = 10 if scale.squares > SQUARES else 4
    marks = " ".join(f'{name}="{n}"' for name, n in {"total": scale.squares, "rows": rows, **ends, **room}.items())
    above = " .broken" if strip.is_above else ""
    legend, before = [], (0, 0.0)
    for name, end in {**strip.classes, "none": scale.records}.items():
        n = ends.get(name, scale.squares) - before[0]
        if end > before[1]:
            words = count(n) if n else TEXT("number.fewer")
            legend.append(f"[[]{{.key-{name}{above}}} {TEXT(f'legend.{strip.kind}.{name}', n=words)}]{{.part}}")
        before = ends.get(name, scale.squares), end
    if room:
        legend.append(f"[[]{{.key-room}} {TEXT('legend.room')}]{{.part}}")
    lead = f"[▲ {strip.lead}]{{.above}}" if strip.is_above else f"**{strip.lead}**"
    texts = [two(f"**{strip.name}**", strip.about), f"[]{{.squares{above} {marks}}} {' '.join(legend)}"]
    return box("strip", *texts, two(lead, strip.beside))


def two(text: str, below: str) -> str:
    """Return a text with another one below it, if there is one."""
    return f"{text} [{below}]{{.below}}" if below else text


def linked(results: Results) -> int:
    """Return the released records of people whom the intruder's file has, in whatever stratum."""
    reached = results.whole[results.whole["n_confirmed"] > 0]
    if reached.empty:
        return round(results.whole["n_findable"].iloc[0])
    return round(reached["n_confirmed"].iloc[0] / reached["reach"].iloc[0])


def surest(results: Results) -> tuple[int, float, str] | None:
    """Return a number of surest claims, how many are right, and by which attack at hand; those with most right."""
    lines = at_hand(results).set_index("words")
    size = max((n for n in NUMBERS if lines[f"right_of_{n}"].notna().any()), default=0)
    if not size or not lines["n_right"].max() or not results.confirmable:
        return None
    best = str(lines[f"right_of_{size}"].idxmax())
    return size, float(lines.at[best, f"right_of_{size}"]), best


ROOMS = {
    "conditional_rate_at_most": lambda line, bound: bound * line["n_suspected"],
    "confirmed_rate_at_most": lambda line, bound: bound * line["n_puf"],
    "reach_at_most": lambda line, bound: bound * line["n_linked"],
    "confirmed_at_most": lambda _, bound: bound,
    "confirmed_by_any_at_most": lambda _, bound: bound,
    "true_match_rate_at_most": lambda line, bound: bound * line["targets"],
}
"""By limit, how many records it allows to be found; other limits are not on records that are found."""


def _room(results: Results, limits: pd.DataFrame, line: dict[str, Any]) -> tuple[float | None, tuple[str, str] | None]:
    """Return how many records the limits of an attack allow to be found, and the limit with its value, if a share."""
    by_end = results.decision.get("by") == "upper"  # which is not a number of records found
    kinds = [row for row in limits.itertuples() if row.limit in ROOMS and not (by_end and "conditional" in row.limit)]
    if not kinds or not line["n_suspected"]:
        return None, None
    least = min(kinds, key=lambda row: ROOMS[row.limit](line, row.bound))
    is_share = least.limit.endswith("rate_at_most") or least.limit == "reach_at_most"
    share = (least.limit, declared(least.bound)) if is_share else None
    return ROOMS[least.limit](line, least.bound), share


def _warned(results: Results, metric: str) -> bool:
    """Return whether a warning says that the risk of a metric may be understated."""
    lines = results.warnings
    fields = lines.loc[lines["severity"] == "understates", "fields"].dropna()
    return any(json.loads(text).get("metric") == metric for text in fields if text)


def _strip(
    results: Results, scale: Squares, name: str, about: str, line: dict[str, Any], limits: pd.DataFrame
) -> Strip:
    """Return the strip of an attack, from the counts of its line and the limits on it."""
    kind = "attack" if "n_single_confirmed" in line else "matching" if "targets" in line else "any"
    if not results.confirmable:
        return Strip(name, about, {"suspected": line["n_suspected"]}, TEXT("strip.unknown"), kind=kind)
    classes = {key: line[f"n_{column}"] for key, column in COUNTS.items() if f"n_{column}" in line}
    found, outcomes = line["n_confirmed"], set(limits["outcome"])
    room, share = _room(results, limits, line)
    judged, words = outcome_of(outcomes), scale.words(found)
    is_broken, is_met = bool(outcomes & {BREAKS, EXCEEDS}), judged in WARNABLE
    judged = "warned" if is_met and _warned(results, line["metric"]) else judged
    judged = "chance" if is_met and room is not None and found > room else judged
    judged = "above" if judged == "exceeds" and results.verdict(ATTACK) == ABOVE else judged
    verdict = TEXT(f"strip.verdict.{judged}") if outcomes else ""
    limit = TEXT("strip.judged", verdict=verdict) if outcomes else TEXT("strip.no_limit")
    if room is not None:
        exactly = int((is_broken and scale.words(room) == words) or scale.of(room) < 1 or scale.of(found) < 1)
        words, bound = scale.words(found, exactly), scale.words(room, exactly)
        if share is not None:
            bound = TEXT(f"strip.share.{share[0]}", limit=share[1], room=bound)
        key = "other" if is_broken and found <= room else "limited"
        limit = TEXT(f"strip.{key}", verdict=verdict, bound=bound)
    beside = TEXT("strip.counts", n=count(found), whole=count(scale.records), limit=limit)
    return Strip(name, about, classes, TEXT("strip.found", found=words), beside, kind, room, is_broken)


WARNABLE = frozenset({"within", "unsure"})
"""Verdicts on an attack that is within its limits, or may be."""

COUNTS = {"single": "single_confirmed", "found": "confirmed", "suspected": "suspected"}
"""The classes of squares, with the columns that have their records."""


def _attacks(results: Results, scale: Squares) -> Iterator[Strip]:
    """Yield the strips of an attack: the people held, the strongest attack at hand, and any declared metric."""
    held, n_puf = linked(results), results.whole["n_puf"].iloc[0]
    if results.confirmable:
        lead, about = TEXT("strip.held", held=scale.words(held)), TEXT("about.held")
        beside = TEXT("strip.others", n=held, whole=count(n_puf))
        yield Strip(TEXT("name.held"), about, {"held": held}, lead, beside, "held")
        line = strongest(results)
        about = TEXT("about.strongest", n=scale.words(line["n_right"]), squares=count(scale.squares))
        name = TEXT("name.strongest", attack=line["words"])
        yield _strip(results, scale, name, about, line.to_dict(), limits_on(results, line["name"]))
    if at_hand(results)["kind"].isin([DECLARED, STANDARD]).sum() > 1 or not results.confirmable:
        line = of_any(results)
        classes = line[["n_suspected", "n_confirmed", "n_puf", "metric"]].to_dict()
        limits = limits_on(results, ANY, line["name"])
        yield _strip(results, scale, TEXT("name.any"), TEXT("about.any"), classes, limits)


@block("rates.csv", ATTACKS)
def strips(results: Results) -> str:
    """Show of 100 released records how many the intruder holds, and how many the strongest and any attack finds."""
    n_puf = results.whole["n_puf"].iloc[0]
    scale = squares_of(n_puf, [of_any(results)["n_confirmed"]])
    lines = [_drawn(strip, scale) for strip in _attacks(results, scale)]
    if (claims := surest(results)) is not None:
        size, right, attack = claims
        many = at_hand(results).set_index("words")[AT].fillna(0)
        is_same = many[attack] == many.max()
        most = TEXT("about.by_same") if is_same else TEXT("about.by_another", attack=str(many.idxmax()))
        beside, lead = TEXT("strip.at_95", n=int(many.max()), by=most), TEXT("strip.right", right=count(right))
        about, shown = TEXT("about.surest", attack=attack), {"single": right, "suspected": size}
        strip = Strip(TEXT("name.surest", n=size), about, shown, lead, beside, "claims")
        lines.append(_drawn(strip, Squares(size, size)))
    records = some(scale.squares, results.noun)
    heading = TEXT("strips.unknown", records=records)
    if results.confirmable:
        best, held = strongest(results), linked(results)
        fields = {"held": scale.words(held), "right": scale.words(best["n_right"])}
        heading = TEXT("strips.heading", records=records, attack=best["words"], **fields)
    return _figure(results, heading, "attack", scale, *lines, box("foot", " ".join(_notes(results, scale))))


def _figure(results: Results, heading: str, kind: str, scale: Squares, *lines: str) -> str:
    """Return strips below their heading, and what a square is."""
    noun = {"matching": "person", "risk": "record"}.get(kind, results.noun)
    records = some(round(scale.records), noun)
    unit = TEXT("unit.several", unit=number(float(f"{scale.records / scale.squares:.3g}")), records=records)
    if scale.records == scale.squares:
        unit = TEXT("unit.one", records=records)
    found = TEXT(f"unit.{kind}", **({"n": len(matching.synthetic_files(results))} if kind == "matching" else {}))
    return paragraphs(f"# {heading} {{.brief}}", box("sub", f"{unit} {found}"), *lines)


def _notes(results: Results, scale: Squares) -> Iterator[str]:
    """Yield whom the strata leave out, and what chance would find."""
    findable = round(results.whole["n_findable"].iloc[0])
    if results.confirmable and (held := linked(results)) != findable:
        yield TEXT("notes.strata", n=findable, held=held)
    chance = (results.whole["baseline_rate"] * results.whole["n_suspected"]).max()
    if defined(chance) and results.confirmable:
        yield TEXT("notes.chance", n=scale.words(chance), squares=count(scale.squares))
    yield TEXT("notes.rounded")


@block(filerisk.SUMMARY, filerisk.CONVENTIONS)
def risk_strip(results: Results) -> str | None:
    """Show of 100 records how many are unique, and how many are in small cells, on the values that they have."""
    records = filerisk.quantity(results, "records")
    is_beside = results.has("rates.csv") or results.has(matching.SUMMARY)  # whose strips come first
    if is_beside or filerisk.is_wildcard(results):
        return None
    sizes = {"single": 2, "found": 3, "suspected": 5}
    classes: dict[str, float] = {name: filerisk.alone_by_values(results, k) for name, k in sizes.items()}
    scale = squares_of(records, [classes["single"]])
    words = {name: scale.words(n) for name, n in classes.items()}
    lead = TEXT("risk.unique", unique=words["single"])
    beside = TEXT("risk.cells", found=words["found"], suspected=words["suspected"])
    about = TEXT("risk.about" if filerisk.n_complete(results) == records else "risk.about_values")
    strip = Strip(TEXT("risk.name"), about, classes, lead, beside, "risk")
    heading = TEXT("risk.heading", squares=count(scale.squares), unique=words["single"])
    return _figure(results, heading, "risk", scale, _drawn(strip, scale))


def _limits_of(results: Results, intruder: str) -> pd.DataFrame:
    limits = results.limits(MATCHING) if results.has(LIMITS) else pd.DataFrame(columns=["metric", "outcome"])
    return limits[limits["metric"] == intruder]


@block(matching.SUMMARY, matching.SCENARIOS, matching.POOLED, matching.CORRESPONDENCE)
def matching_strips(results: Results) -> str | None:
    """Show of 100 people how many each intruder matches with a single record, and how many of these are right."""
    lines = matching.by_worst(results)
    if results.has("rates.csv") or matching.invalid(results) or lines.empty:
        return None
    right = lines["true_match_rate"] * lines["targets"]
    lines = lines.assign(n_confirmed=right, n_suspected=lines["unique_matches"], metric=lines.index)
    scale, strips = squares_of(lines["targets"].iloc[0], right), []
    for name, line in lines.sort_values("n_confirmed", ascending=False, kind="stable").head(MAX_STRIPS).iterrows():
        who, limits = matching.intruder_name(results, str(name)), _limits_of(results, str(name))
        known = matching.known_variables(str(line["known"]))
        about = "" if known == who else TEXT("about.matching", known=known)
        strips.append(_drawn(_strip(results, scale, who, about, line.to_dict(), limits), scale))
    heading = TEXT("matching.heading", squares=count(scale.squares), right=scale.words(right.max()))
    return _figure(results, heading, "matching", scale, *strips, box("foot", TEXT("notes.rounded")))
