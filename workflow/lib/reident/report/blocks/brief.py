"""Make the brief that a board decides on: the test, the numbers that come first, and rates as products (METHODS §6)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reident.linkage.settings import AGREEMENT
from reident.report.blocks import filerisk, matching
from reident.report.blocks.attacks import ATTACKS, best_join, in_words, without
from reident.report.blocks.common import FEW, share_of
from reident.report.blocks.front import conditional_rates, confirmed, larger_file, outcome_of, unconfirmable
from reident.report.blocks.squares import MANY_SQUARES, SQUARES, agreeing, linked, outcomes_of, squares_of, surest
from reident.report.blocks.surest import AT
from reident.report.blocks.surest import summary as surest_lines
from reident.report.layout import ReportColumn, block, box, items, paragraphs, table
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.terms import some, title
from reident.report.wording import (
    UNDEFINED,
    count,
    declared,
    defined,
    escape,
    fixed,
    label_cells,
    listed,
    percent,
    sentence,
    span,
    word,
)
from reident.verdict.warnings import ATTACK

TEXT = Sentences("brief")

FRONT = Sentences("front")
MAX_NAMES = 15
"""Variables whose names are in a sentence; of more, their number is."""


def frequency(part: float, n: float) -> str:
    """Return a part of n in natural frequencies, ``48 of 100``, of 1,000 where it is nearly none or nearly all."""
    if n <= SQUARES:
        return TEXT("frequency", part=count(part), n=count(n))
    for whole in (SQUARES, MANY_SQUARES):
        shown = round(part / n * whole)
        if part in {0, n} or 0 < shown < whole:
            return TEXT("frequency", part=count(shown), n=count(whole))
    return TEXT("frequency", part=count(part), n=count(n))


@block()
def test(results: Results) -> str:
    """Say in a few sentences what was tested."""
    texts = []
    if results.has("rates.csv"):
        line, names = results.whole.iloc[0], label_cells(results.strata_names)
        noun = "unit" if results.compares_units else "record"
        fields = {"eif": some(round(line["n_eif"]), noun), "puf": some(round(line["n_puf"]), noun)}
        linking = [variable["name"] for variable in results.study["linking_variables"]]
        variables = _named(some(len(linking), "variable"), linking)
        texts.append(TEXT("test.attack" if results.named else "test.unnamed", variables=variables, **fields))
        if names:
            texts.append(FRONT("strata", n=len(names), names=listed(names)))
        texts.append(TEXT("test.truth"))
    if results.has(matching.SUMMARY):
        n, people = len(matching.synthetic_files(results)), results.table(matching.SUMMARY)["targets"].iloc[0]
        texts.append(TEXT("test.matching", n=n, number=word(n), people=some(round(people), "person")))
    if results.has(filerisk.SUMMARY):
        records, n = (round(filerisk.quantity(results, name)) for name in ("records", "key_variables"))
        key = [] if results.has("rates.csv") else list(results.table(filerisk.VARIABLES)["variable"])
        variables = _named(some(n, "key_variable"), key)
        texts.append(TEXT("test.file", records=some(records, "record"), variables=variables))
    return box("test", " ".join(texts)) if texts else ""


def _named(variables: str, names: list[str]) -> str:
    """Return a number of variables with their names, if there are any, and few enough for a sentence."""
    return (
        TEXT("test.variables", variables=variables, names=listed(label_cells(names)))
        if 0 < len(names) <= MAX_NAMES
        else variables
    )


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


def _product_lines(results: Results) -> pd.DataFrame:
    """Return the lines of rates by metric, of their agreement and of exact values, each with its name."""
    lines = results.whole.assign(metric=results.metrics, name=[f"**{title(name)}**" for name in results.metrics])
    if (agreement := agreeing(results)) is not None:
        lines = pd.concat([lines, pd.DataFrame([agreement[0].to_dict() | {"name": f"**{sentence(agreement[1])}**"}])])
    if (exact := best_join(results)) is not None:
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
        outcome = outcome_of(set(outcomes_of(results, ATTACK, str(line.get("metric", "")))["outcome"]))
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
    if (exact := best_join(results)) is not None:
        caption += f" {in_words(exact)}."
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


@block("rates.csv", "strata/manifest.csv", ATTACKS)
def at_risk(results: Results) -> str | None:
    """Say which people are found most: those with one candidate, of which stratum, and by which variable."""
    if not results.confirmable or not confirmed(results):
        return None
    best = str(results.whole["n_confirmed"].idxmax())
    texts = [_single_candidate(results), _strata_at_risk(results, best), _telling_variable(results, best)]
    return items([text for text in texts if text]) if any(texts) else None


def _single_candidate(results: Results) -> str:
    """Return the sentence on the records found with a single candidate, by the metric with most of them."""
    line = results.whole.loc[results.whole["n_single_confirmed"].idxmax()]
    n, found, metric = int(line["n_single_confirmed"]), int(line["n_confirmed"]), title(str(line.name))
    if n == found > 1:
        return TEXT("at_risk.single_all", n=count(n), metric=metric)
    return TEXT("at_risk.single", n=n, metric=metric, found=count(found)) if n else ""


def _strata_at_risk(results: Results, metric: str) -> str:
    """Return the sentence on the strata with the largest and the smallest share found, of those with some records."""
    rates = results.table("rates.csv").query("metric == @metric")[["stratum", "n_confirmed"]]
    strata = results.strata.merge(rates, on="stratum").query("n_puf >= @FEW")
    shares = strata["n_confirmed"] / strata["n_puf"]
    if len(strata) < 2 or shares.max() == shares.min():
        return ""
    ends = {name: _of_stratum(strata.loc[at]) for name, at in (("high", shares.idxmax()), ("low", shares.idxmin()))}
    return TEXT("at_risk.stratum", strata=escape(results.strata_heading), metric=title(metric), **ends)


def _of_stratum(line: pd.Series) -> str:
    share = percent(line["n_confirmed"] / line["n_puf"])
    fields = {"n": count(line["n_confirmed"]), "puf": count(line["n_puf"]), "share": share}
    return TEXT("at_risk.of_stratum", label=escape(line["label"]), **fields)


def _telling_variable(results: Results, metric: str) -> str:
    """Return the sentence on the variable without which the metric finds least, if it finds less than with it."""
    left, found = without(results, metric), int(results.whole.at[metric, "n_confirmed"])
    if left.empty or left.min() >= found:
        return ""
    fields = {"variable": escape(str(left.idxmin())), "metric": title(metric), "found": count(found)}
    return TEXT("at_risk.variable", n=int(left.min()), **fields)
