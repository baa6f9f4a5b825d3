"""Matching-based risk of synthetic data: what is matched, what was found, and the verdict (METHODS §8)."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from reident.report.layout import Column, block, items, paragraphs, part, table
from reident.report.results import Results
from reident.report.wording import (
    NO_BREAK,
    UNDEFINED,
    apart,
    count,
    declared,
    defined,
    escape,
    listed,
    number,
    percent,
    percents,
    some,
    word,
)
from reident.sections.matching import Matching

SUMMARY, SCENARIOS = "matching/summary.csv", "matching/scenarios.csv"
DISTRIBUTION, VARIABLES = "matching/distribution.csv", "matching/variables.csv"
MEAN, CONFIDENTIAL = "mean", "confidential"

LIMITS = {
    "expected_match_risk_at_most": "Expected match risk",
    "true_match_rate_at_most": "True match rate",
    "false_match_rate_at_least": "False match rate",
}
"""The limits that a decision may name, and the summary that each limits."""

MOST_FILES = 12
"""Tables show so many synthetic files one by one; beyond, their range."""


def options(results: Results) -> Matching:
    """The section `matching` of the study."""
    return Matching.model_validate(results.study["matching"])


def copies(results: Results) -> list[str]:
    """The names of the synthetic files, 1 … m."""
    return [file for file in results.table(SUMMARY)["file"] if file not in (MEAN, CONFIDENTIAL)]


def lines_of(results: Results, file: str, *, listed_only: bool = False) -> pd.DataFrame:
    """The lines of one file for every set of known variables, in the order of the study; the index is the set."""
    found = results.table(SCENARIOS)
    own = found[found["file"] == file].set_index("scenario")
    return own[own["listed"]] if listed_only and own["listed"].any() else own


def first_set(results: Results) -> str:
    """The set of known variables that is reported in full."""
    return str(results.table(DISTRIBUTION)["scenario"].iloc[0])


def set_name(results: Results, name: str) -> str:
    """A set as texts call it: by its name, or, where the study gives none, by its variables."""
    lines = lines_of(results, MEAN)
    if name == "known":
        return known_words(str(lines.at[name, "known"]))
    return escape(name)


def known_words(known: str) -> str:
    """The variables of a set, in words."""
    names = [escape(name) for name in known.split(" + ") if name]
    return listed(names) if names else "nothing but the synthesized variables"


def decimals_of(values: pd.Series) -> list[str]:
    """A column of numbers of records, with equal digits: none where all are whole."""
    known = [value for value in values if defined(value)]
    if all(value == round(value) for value in known):
        return [count(value) for value in values]
    return [f"{value:,.1f}" if defined(value) else UNDEFINED for value in values]


def decimals(value: float) -> str:
    """A number of records that need not be whole."""
    if not defined(value):
        return UNDEFINED
    return count(value) if value == round(value) else f"{value:,.1f}" if value >= 10 else f"{value:,.2f}"


class Breach(NamedTuple):
    """A limit, in words, and the sets that pass beyond it."""

    what: str
    sets: list[str]


def limits(results: Results) -> dict[str, float]:
    """The limits of the decision that concern matching."""
    decision = results.study.get("decision") or {}
    return {name: decision[name] for name in LIMITS if decision.get(name) is not None}


def _summary_of(limit: str) -> str:
    return limit.removesuffix("_at_most").removesuffix("_at_least")


def breaches(results: Results) -> list[Breach]:
    """Every limit with the sets of known variables that break it on average over the synthetic files."""
    lines, found = lines_of(results, MEAN, listed_only=True), []
    for name, limit in limits(results).items():
        rate, at_most = _summary_of(name), name.endswith("_at_most")
        values = lines[rate]
        beyond = values > limit if at_most else values < limit  # a rate that is not defined breaks no limit
        shown = decimals(limit) if rate == "expected_match_risk" else declared(limit)
        what = f"{'at most' if at_most else 'at least'} {shown} for the {rate.replace('_', ' ')}"
        found.append(Breach(what, [set_name(results, str(one)) for one in lines.index[beyond]]))
    return found


@part(SUMMARY)
def matching_overall(results: Results) -> str:
    """The verdict on the synthetic data, set apart."""
    found = breaches(results)
    if not found:
        if results.study["metrics"] and results.limit is not None:
            return ""
        return block(
            "verdict open",
            "**Synthetic data: no verdict**",
            "The study names no limit for them, so that this report measures the risk and passes no judgement on it.",
        )
    broken = [breach for breach in found if breach.sets]
    scenarios = len(lines_of(results, MEAN, listed_only=True))
    if not broken:
        all_kept = listed([breach.what for breach in found])
        said = f"With {_everybody(scenarios)}, on average over the synthetic files: {all_kept}."
        return block("verdict within", "**Synthetic data: within the limit**", said)
    parts = [f"the limit of {one.what} is broken" + _by(one.sets, scenarios) for one in broken]
    kept = [one.what for one in found if not one.sets]
    said = f"On average over the synthetic files {'; '.join(parts)}."
    if kept:
        said += f" Kept: {listed(kept)}."
    return block("verdict above", "**Synthetic data: beyond the limit**", said)


def _everybody(scenarios: int) -> str:
    few = {1: "the intruder", 2: "both intruders"}
    return few.get(scenarios, f"all {word(scenarios)} intruders")


def _by(sets: list[str], scenarios: int) -> str:
    if scenarios == 1:
        return ""
    if len(sets) == scenarios:
        return f" by {_everybody(scenarios)}"
    shown = sets if len(sets) <= 6 else [*sets[:5], f"{count(len(sets) - 5)} more"]
    return f" by {listed(shown)}"


@part(SUMMARY, SCENARIOS, DISTRIBUTION)
def matching_findings(results: Results) -> str:
    """Three sentences: how many persons would be found, how often a claim is right, what synthesis gains."""
    summary = results.table(SUMMARY).set_index("file")
    mean, own = summary.loc[MEAN], summary.loc[CONFIDENTIAL]
    n, expected = mean["targets"], mean["expected_match_risk"]
    about = _who(results)
    each = "a synthetic file" if len(copies(results)) > 1 else "the synthetic file"
    found = (
        f"**What an intruder would find.** {about}, and picks one of the records of {each} that match, would pick the "
        f"right one for {decimals(expected)} of {some(round(n), 'person')} ({percent(expected / n)})."
    )
    return block("findings", items([found, _single(mean, each), _gain(expected, own["expected_match_risk"])]))


def _who(results: Results) -> str:
    name = first_set(results)
    known = known_words(str(lines_of(results, MEAN).at[name, "known"]))
    synthesized = listed([escape(variable.name) for variable in options(results).synthesized])
    who = "An intruder" if name == "known" or " + " in name else f"An intruder like the *{escape(name)}*"
    return f"{who} who knows {known} of a person, and the true {synthesized}"


def _single(mean: pd.Series, each: str) -> str:
    lead = "**How often a single match is right.**"
    if not mean["unique_matches"]:
        return f"{lead} For no person does exactly one record of {each} match, so that nobody stands out."
    false = mean["false_match_rate"]
    return (
        f"{lead} For {decimals(mean['unique_matches'])} persons exactly one record of {each} matches; in "
        f"{percent(false)} of these cases it is somebody else's."
    )


def _gain(expected: float, own: float) -> str:
    lead = "**What synthesis gains.**"
    if not own:
        return f"{lead} In the confidential file itself nobody would be found either."
    change = 1 - expected / own
    less = f"{percent(change)} less" if change >= 0 else f"{percent(-change)} more"
    return (
        f"{lead} From the confidential file itself the intruder would pick {decimals(own)} right; from synthetic data "
        f"it is {less}."
    )


@part(SUMMARY, VARIABLES)
def matching_premise(results: Results) -> str:
    """What is matched, and how."""
    m, n = len(copies(results)), round(results.table(SUMMARY)["targets"].iloc[0])
    files = "synthetic file is" if m == 1 else f"{word(m)} synthetic files are"
    total = round(results.table(VARIABLES)["n_records"].iloc[0])
    chosen = (
        ""
        if n == total
        else f" The intruder looks for {count(n)} of the {count(total)} persons, the *targets*."
    )
    return paragraphs(
        f"The {files} released in place of the confidential one: some variables are *synthesized*, drawn from a model, "
        "all others are released as they are. An intruder knows some of these about a person, and the true values of "
        "the synthesized ones, and looks for records that **match** on all of them. Each person's own synthetic record "
        f"is known to the agency, so that a match can be told to be right or wrong.{chosen}",
        _radii(results),
    )


def _radii(results: Results) -> str | None:
    own = options(results)
    if not own.radius:
        return None
    said = []
    for name, radius in own.radius.items():
        if radius.relative is not None:
            said.append(f"{escape(name)} within {declared(float(radius.size))} of the true value")
        else:
            said.append(f"{escape(name)} within {number(float(radius.size))}")
    ends = "included" if own.interval == "closed" else "excluded"
    return (
        f"Numbers match within a radius, its ends {ends}: {listed(said)}. All other variables must be equal."
    )


@part(VARIABLES)
def matching_variables(results: Results) -> str:
    """The matched variables: role, radius, missing and distinct values, agreement of a person's two records."""
    found = results.table(VARIABLES)
    own = found[found["file"] == CONFIDENTIAL].set_index("variable")
    others = found[found["file"] != CONFIDENTIAL].groupby("variable", sort=False).mean(numeric_only=True)
    others = others.loc[own.index]
    return table(
        "The matched variables. Agreement is that of a person's confidential and synthetic record, within the radius, "
        "on average over the synthetic files.",
        Column("Variable", [f"**{escape(name)}**" for name in own.index], "l", "1fr"),
        Column("Role", list(own["role"]), "l"),
        Column("Radius", [_radius_words(text) for text in own["radius"]], "l"),
        Column("Distinct, confidential", [count(value) for value in own["n_distinct"]]),
        Column("Distinct, synthetic", [count(value) for value in others["n_distinct"]]),
        Column("Missing", percents(own["n_missing"] / own["n_records"])),
        Column("Agree", percents(others["n_agree"] / others["n_records"])),
    )


def _radius_words(text: str) -> str:
    kind, _, size = text.partition(" ")
    if not kind:
        return UNDEFINED
    if "/" in size:
        top, bottom = size.split("/")
        shown = int(top) / int(bottom)
    else:
        shown = float(size)
    return f"±{NO_BREAK}{declared(shown)}" if kind == "relative" else f"±{NO_BREAK}{number(shown)}"


@part(SUMMARY)
def matching_summaries(results: Results) -> str:
    """The three summaries by synthetic file, beside the confidential file, and what they mean."""
    summary = results.table(SUMMARY)
    files = copies(results)
    shown = summary if len(files) <= MOST_FILES else summary[summary["file"].isin([MEAN, CONFIDENTIAL])]
    names = {MEAN: "**Mean of the synthetic files**", CONFIDENTIAL: "*Confidential file, for comparison*"}
    n = summary["targets"].iloc[0]
    left = "" if len(files) <= MOST_FILES else f" `{SUMMARY}` has each of the {count(len(files))} files."
    return paragraphs(
        table(
            f"Matching-based risk of {some(round(n), 'target')}.{left}",
            Column("File", [names.get(file, f"Synthetic file {file}") for file in shown["file"]], "l", "1fr"),
            Column("Expected match risk", decimals_of(shown["expected_match_risk"])),
            Column("per target", percents(shown["expected_match_risk"] / n)),
            Column("True match rate", percents(shown["true_match_rate"])),
            Column("Unique matches", decimals_of(shown["unique_matches"])),
            Column("False match rate", percents(shown["false_match_rate"])),
        ),
        _undefined(shown),
        _reading(),
    )


def _undefined(shown: pd.DataFrame) -> str | None:
    if shown["false_match_rate"].notna().all():
        return None
    return block(
        "note",
        f"{UNDEFINED} not defined: without a unique match there is no false match rate. The mean is that of the files "
        "in which it is defined.",
    )


def _reading() -> str:
    """What each summary means."""
    return block(
        "reading",
        "**Expected match risk**: of how many targets an intruder would find the right record by picking one of the "
        "records that match at random. A person whose record is among ten that match counts a tenth. High is "
        "dangerous.",
        "**True match rate**: the share of targets for whom exactly one record matches, and it is their own. These are "
        "the persons whom an intruder can be sure of finding. High is dangerous.",
        "**False match rate**: of the targets with exactly one match, the share whose match is somebody else's record. "
        "It tells how little an intruder can trust a single match. *Low* is dangerous.",
        "**The confidential file against itself** is what an intruder would achieve if it were released as it is; the "
        "distance to it is what synthesis gains.",
    )


@part(SUMMARY, SCENARIOS)
def matching_verdicts(results: Results) -> str | None:
    """The table of verdicts: every intruder against every limit."""
    lines = lines_of(results, MEAN, listed_only=True)
    given = limits(results)
    if not given or len(lines) > MOST_FILES:
        return None
    columns = [
        Column("Intruder", [f"**{set_name(results, str(name))}**" for name in lines.index], "l", "1fr")
    ]
    for name, limit in given.items():
        heading, rate = LIMITS[name], _summary_of(name)
        cells = [judged(value, limit, name) for value in lines[rate]]
        sign = "≤" if name.endswith("_at_most") else "≥"
        shown = decimals(limit) if rate == "expected_match_risk" else declared(limit)
        columns.append(Column(f"{heading} ({sign}{NO_BREAK}{shown})", cells, "l", "1fr"))
    return table(
        "Verdict per intruder, on average over the synthetic files; the limit is in the heading.", *columns
    )


def judged(value: float, limit: float, name: str) -> str:
    """A value with the mark of its verdict."""
    if not defined(value):
        return f"[✓ {UNDEFINED} nothing unique]{{.nothing}}"
    beyond = value > limit if name.endswith("_at_most") else value < limit
    shown = decimals(value) if name.startswith("expected") else apart(value, limit)[0]
    return f"[▲ {shown}]{{.above}}" if beyond else f"[✓ {shown}]{{.within}}"
