"""Make the brief that a board decides on: the test, the attacks, who is at risk, what is not tested (METHODS §6.9)."""

from __future__ import annotations

import json
import re

import pandas as pd

from reident.challenge.report import ATTACKS, DECLARED, STANDARD, at_hand, informed, limits_on, of_any, untried, without
from reident.filerisk import report as filerisk
from reident.matching import report as matching
from reident.outcomes import BREAKS, EXCEEDS
from reident.page.common import FEW, share_of
from reident.page.layout import ReportColumn, block, box, items, paragraphs, table
from reident.page.sentences import Sentences
from reident.page.terms import some, title
from reident.page.wording import (
    NO_BREAK,
    UNDEFINED,
    count,
    declared,
    defined,
    escape,
    fixed,
    label_cells,
    listed,
    percent,
    span,
    word,
)
from reident.protection.report import PROTECTION
from reident.report.blocks.front import bound_of, conditional_rates, confirmed, larger_file, unconfirmable
from reident.report.blocks.squares import SQUARES, Squares, squares_of, two
from reident.report.results import Results
from reident.together import report as together

TEXT = Sentences("brief")
FRONT = Sentences("front")
MAX_NAMES = 15
"""Variables whose names are in a sentence; of more, their number is."""

MAX_ATTACKS = 9
"""Attacks that the table of the brief shows: every metric, and of the others those above a limit and the strongest."""

LIMITED = {
    "rate": ("conditional_rate_at_most",),
    "reach": ("confirmed_rate_at_most", "confirmed_at_most", "reach_at_most"),
    "guess": ("expected_correct_rate_at_most",),
    "single": ("single_rate_at_most",),
}
"""The limits on each column of the table of attacks."""


@block()
def test(results: Results) -> str:
    """Say in a few sentences what was tested."""
    texts = []
    if results.has("rates.csv"):
        line, names = results.whole.iloc[0], label_cells(results.strata_names)
        fields = {side: some(round(line[f"n_{side}"]), results.noun) for side in ("eif", "puf")}
        linking = [variable["name"] for variable in results.study["linking_variables"]]
        variables = _named(some(len(linking), "variable"), linking)
        texts.append(TEXT("test.attack" if results.named else "test.unnamed", variables=variables, **fields))
        if names:
            texts.append(FRONT("strata", n=len(names), names=listed(names)))
        texts.append(TEXT("test.truth"))
    if results.has(matching.SUMMARY):
        n, people = len(matching.synthetic_files(results)), results.table(matching.SUMMARY)["targets"].iloc[0]
        drawn = listed([escape(variable.name) for variable in results.model.matched.synthesized])
        fields = {"number": word(n), "people": some(round(people), "person"), "synthesized": drawn}
        texts.append(TEXT("test.matching", n=n, **fields))
    if texts or results.study.get("confirm"):
        holder = results.study.get("intruder")
        texts.append(TEXT("test.intruder", intruder=escape(holder, len(holder))) if holder else TEXT("test.nobody"))
    if results.has(filerisk.SUMMARY):
        records, n = (round(filerisk.quantity(results, name)) for name in ("records", "key_variables"))
        key = [] if results.has("rates.csv") else list(results.table(filerisk.VARIABLES)["variable"])
        variables = _named(some(n, "key_variable"), key)
        texts += [TEXT("test.file", records=some(records, "record"), variables=variables), filerisk.coverage(results)]
    return box("test", " ".join(filter(None, texts))) if texts else ""


def _named(variables: str, names: list[str]) -> str:
    """Return a number of variables with their names, if there are any, and few enough for a sentence."""
    return (
        TEXT("test.variables", variables=variables, names=listed(label_cells(names)))
        if 0 < len(names) <= MAX_NAMES
        else variables
    )


@block("rates.csv", ATTACKS)
def product(results: Results) -> str:
    """Show the attacks at hand beside the limits: the conditional rate as a product, and how often claims are right."""
    lines, n_left = _shown(results)
    scale = squares_of(results.whole["n_puf"].iloc[0], [of_any(results)["n_confirmed"]])
    names = [TEXT("product.limit"), *(f"**{words}**" for words in lines["words"])]
    rows = [_limit_cells(results), *(_cells(results, line, scale) for _, line in lines.iterrows())]
    headings = TEXT.group("product.columns")
    columns = [ReportColumn(heading, [row[name] for row in rows], width="1fr") for name, heading in headings.items()]
    caption = [TEXT("product.caption", level=declared(results.level), undefined=UNDEFINED)]
    given = [results.decision.get(limit) for limits in LIMITED.values() for limit in limits]
    n_limits = 1 + any(isinstance(bound, dict) for bound in given)
    is_above = any("▲" in cell for row in rows for cell in row.values())
    caption += [TEXT("product.above", n=n_limits)] if is_above else []
    caption += [TEXT("product.more", n=n_left, file=ATTACKS)] if n_left else []
    first = ReportColumn(TEXT("product.metric"), names, "l", "1.3fr")
    text = TEXT("product.text") if results.confirmable else unconfirmable(results)
    shown = table(" ".join(caption), first, *columns, kind="cards")
    return paragraphs(f"# {TEXT('product.heading')} {{.brief}}", text, shown, _insider(results))


def _insider(results: Results) -> str:
    """Say how many people somebody who knows true links would name rightly, beside the blind intruder."""
    right = informed(results)
    if right is None:
        return ""
    blind, known = (count(round(one)) for one in right)
    return TEXT("product.insider", blind=blind, known=known)


def _shown(results: Results) -> tuple[pd.DataFrame, int]:
    """Return the attacks that the table shows, first every metric, and how many it leaves out."""
    lines = at_hand(results)
    is_metric = lines["kind"].isin([DECLARED, STANDARD])
    others = lines[~is_metric].sort_values("above", ascending=False, kind="stable")
    first = others.head(max(MAX_ATTACKS - int(is_metric.sum()), 1))
    return pd.concat([lines[is_metric], first]), len(others) - len(first)


def _limit_cells(results: Results) -> dict[str, str]:
    """Return the limits of the study by column, and the words that it sets none."""
    cells = dict.fromkeys(TEXT.names("product.columns"), "")
    for name, limits in LIMITED.items():
        given = {limit: bound for limit in limits if (bound := results.decision.get(limit)) is not None}
        words = {
            limit: TEXT("product.by_metric") if isinstance(bound, dict) else bound_of(limit, bound)
            for limit, bound in given.items()
        }
        texts = [TEXT(f"product.limits.{limit}", limit=text) for limit, text in words.items()]
        cells[name] = listed(texts) or TEXT("product.no_limit")
    return cells


def _cells(results: Results, line: pd.Series, scale: Squares) -> dict[str, str]:
    """Return the cells of an attack by column, marked where it is above a limit."""
    n, limits = line["n_suspected"], limits_on(results, line["name"])
    cells = dict.fromkeys(TEXT.names("product.columns"), TEXT("product.unknown"))
    cells["suspected"] = two(count(n), TEXT("frequency", part=scale.words(n), n=count(scale.squares)))
    if not results.confirmable:
        return cells
    held = n - line["n_false_outside"]
    cells["rate"] = _rate(results, line)
    cells["held"] = _share(held, n, "= ")
    cells["found"] = _share(line["n_confirmed"], held, "× ") if defined(held) else UNDEFINED
    cells["reach"] = _share(line["n_confirmed"], line["n_linked"], of=True)
    cells["guess"] = _share(line["best_rank_correct_rate"] * n, n)
    cells["single"] = _share(line["n_single_confirmed"], line["n_single"], of=True)
    above = set(limits.loc[limits["outcome"].isin([BREAKS, EXCEEDS]), "limit"])
    for name, names in LIMITED.items():
        if above.intersection(names):
            first, space, below = cells[name].partition(" [")
            cells[name] = f"[▲ {first}]{{.above}}{space}{below}"
    return cells


def _rate(results: Results, line: pd.Series) -> str:
    """Return the conditional rate with its interval; of few records their number alone."""
    if 0 < line["n_suspected"] < FEW:
        return TEXT("frequency", part=count(line["n_confirmed"]), n=count(line["n_suspected"]))
    (rate,) = conditional_rates(line.to_frame().T, results.limit)
    if rate == UNDEFINED:
        return rate
    interval = span(line["conditional_low"], line["conditional_high"])
    return two(f"**{rate}{NO_BREAK}%**", "" if interval == UNDEFINED else interval)


def _share(part: float, n: float, sign: str = "", *, of: bool = False) -> str:
    """Return a share with the number of records below it, `of` all; of few records their number alone."""
    if not defined(part) or not n:
        return UNDEFINED
    if n < FEW:
        return sign + TEXT("frequency", part=share_of(part / n, n), n=count(n))
    below = count(round(part)) if abs(part - round(part)) < 1e-6 else TEXT("about_n", n=fixed(part, int(part < FEW)))
    below = TEXT("frequency", part=below, n=count(n)) if of else below
    return two(sign + percent(part / n, 0 if part >= n / SQUARES else None), below)


@block()
def unseen(results: Results) -> str | None:
    """Say what the study cannot show; of one file alone it is elsewhere in the brief."""
    if not results.has("rates.csv"):
        return None if filerisk.is_alone(results) else unseen_without_attack()
    whole, _ = _shown(results)
    whole = whole[whole["n_suspected"] > 0]
    texts = []
    if results.confirmable:
        texts.append(f"{TEXT('unseen.intruders', level=declared(results.level))} {larger_file(results)}".strip())
    if results.confirmable and len(whole):
        rates = whole["best_rank_correct_rate"]
        low, high = percent(rates.min()), percent(rates.max())
        texts.append(TEXT("unseen.guess", n=1 if low == high else 2, low=low, high=high))
    texts += [TEXT("unseen.harm"), TEXT("unseen.links")]
    return items(texts)


def unseen_without_attack() -> str:
    """Return what a study without an attack cannot show."""
    return items([TEXT("unseen.knowledge"), TEXT("unseen.harm")])


@block()
def untested(results: Results) -> str:
    """Say in so many words what the study did not test."""
    study, attacked = results.study, results.has("rates.csv")
    risk = study.get("file_risk") or {}
    tested = {
        "attack": attacked or results.has(matching.SUMMARY) or study.get("confirm"),
        "protection": results.has(PROTECTION) or results.has(matching.SUMMARY),
        "households": results.compares_units or bool(risk.get("units")),
        "dates": '"type": "date"' in json.dumps(study),  # of a variable: inside a text the quotes are escaped
    }
    texts = [TEXT(f"untested.{name}") for name, is_tested in tested.items() if not is_tested]
    if attacked and (n := untried(results)):
        texts.append(TEXT("untested.untried", n=n))
    others = {
        "together": attacked and not results.has(together.RATES),
        "learnt": not (study.get("attribute_disclosure") or study.get("confirm")),
        "file": not risk,
    }
    if names := [TEXT(f"untested.others.{name}") for name, is_left in others.items() if is_left]:
        texts.append(TEXT("untested.more", others=listed(names)))
    return items(texts)


@block("rates.csv", "strata/manifest.csv", ATTACKS)
def at_risk(results: Results) -> str | None:
    """Say which people are found most: those with one candidate, of which stratum, and by which variable."""
    if not results.confirmable or not confirmed(results):
        return None
    best = str(results.whole["n_confirmed"].idxmax())
    texts = [_single_candidate(results), _strata_at_risk(results, best), _telling_variable(results, best)]
    return items([text for text in texts if text]) if any(texts) else None


@block(matching.SUMMARY, matching.SCENARIOS, matching.POOLED, matching.CORRESPONDENCE)
def at_risk_in_synthetic(results: Results) -> str | None:
    """Say of whom an intruder finds most in synthetic files: what of them the intruder knows."""
    lines = matching.by_worst(results)
    right = lines["true_match_rate"] * lines["targets"]
    if matching.invalid(results) or not right.max():
        return None
    at = right.idxmax()
    known, targets = matching.known_variables(str(lines.at[at, "known"])), round(lines.at[at, "targets"])
    return items([TEXT("at_risk.matching", known=known, n=round(right[at]), people=some(targets, "person"))])


def _single_candidate(results: Results) -> str:
    """Return the sentence on the records found with a single candidate, by the metric with most of them."""
    lines = at_hand(results)
    lines = lines[lines["kind"].isin([DECLARED, STANDARD])]
    line = lines.loc[lines["n_single_confirmed"].idxmax()]
    n, found, metric = int(line["n_single_confirmed"]), int(line["n_confirmed"]), line["words"]
    if n == found > 1:
        return TEXT("at_risk.single_all", n=count(n), metric=metric)
    return TEXT("at_risk.single", n=n, metric=metric, found=count(found)) if n else ""


def _strata_at_risk(results: Results, metric: str) -> str:
    """Return the sentence on the strata with the largest and the smallest share found, of those with some records.

    Where no true link lies inside a stratum, nothing says that its people are safe.
    """
    rates = results.table("rates.csv").query("metric == @metric")[["stratum", "n_confirmed", "n_findable"]]
    strata = results.strata.merge(rates, on="stratum").query("n_puf >= @FEW")
    n_empty = int((strata["n_findable"] == 0).sum())
    strata = strata[strata["n_findable"] > 0]
    strata["label"] = [_stratum(results, line) for _, line in strata.iterrows()]
    shares = strata["n_confirmed"] / strata["n_puf"]
    if len(strata) < 2 or shares.max() == shares.min():
        return ""
    ends = {name: _of_stratum(strata.loc[at]) for name, at in (("high", shares.idxmax()), ("low", shares.idxmin()))}
    text = TEXT("at_risk.stratum", strata=escape(results.strata_heading), metric=title(metric), **ends)
    return f"{text} {TEXT('at_risk.stratum_empty', n=n_empty)}" if n_empty else text


def _stratum(results: Results, line: pd.Series) -> str:
    """Return the labels of a stratum; a code without letters has the name of its variable before it."""
    labels = [(name, results.label(name, str(line[name]))) for name in results.strata_names]
    return " · ".join(label if re.search(r"[^\W\d_]", label) else f"{name} {label}" for name, label in labels)


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
