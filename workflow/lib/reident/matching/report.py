"""Matching-based risk of synthetic data: the matching, the three summaries, and the verdict (METHODS §8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from reident.language import messages
from reident.linkage.settings import WHOLE
from reident.matching.correspondence import INVALID
from reident.matching.limits import worst
from reident.matching.section import KNOWN
from reident.outcomes import LIMITS as LIMITS_
from reident.outcomes import MATCHING as ABOUT
from reident.outcomes import OPEN, RESERVED, UNBREAKABLE, UNKNOWN, VERDICT
from reident.page.columns import columns
from reident.page.common import keys_in_words, portion, reserved, share_of
from reident.page.layout import ReportColumn, block, box, items, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.wording import (
    NO_BREAK,
    UNDEFINED,
    apart,
    count,
    count_cells,
    declared,
    defined,
    escape,
    fixed,
    fixed_cells,
    listed,
    number,
    word,
)

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("matching")
FRONT = Sentences("front")
SUMMARY, SCENARIOS = "matching/summary.csv", "matching/scenarios.csv"
DISTRIBUTION, VARIABLES = "matching/distribution.csv", "matching/variables.csv"
POOLED, CORRESPONDENCE = "matching/pooled.csv", "matching/correspondence.csv"
MEAN, CONFIDENTIAL = "mean", "confidential"
CERTAIN, UNCERTAIN = "certain", "uncertain"
LIMITS = ("expected_match_risk_at_most", "true_match_rate_at_most", "false_match_rate_at_least")
"""The limits that a decision may set, one for each summary."""

MAX_FILES = 12
"""Tables show at most this number of synthetic files or intruders line by line."""

MAX_INTRUDERS = 6
"""The verdict names at most this number of intruders."""


def synthetic_files(results: Results) -> list[str]:
    """Return the names of the synthetic files: ``1`` … ``m``."""
    return [file for file in results.table(SUMMARY)["file"] if file not in (MEAN, CONFIDENTIAL)]


def by_intruder(results: Results, file: str, *, listed_only: bool = False) -> pd.DataFrame:
    """Return the summaries of one file for every intruder, in the order of the study; the index is the intruder.

    With `listed_only`, the sets of an exhaustive search are left out if the study lists intruders of its own.
    """
    lines = results.table(SCENARIOS)
    lines = lines[lines["file"] == file].set_index("scenario")
    return lines[lines["listed"]] if listed_only and lines["listed"].any() else lines


def pooled(results: Results, membership: str = CERTAIN) -> pd.DataFrame:
    """Return the summaries of an intruder who uses all synthetic files, by scenario; empty if not computed."""
    lines = results.table(POOLED)
    return lines[lines["membership"] == membership].set_index("scenario")


def invalid(results: Results) -> str:
    """Return why the matches of synthetic files mean nothing, or an empty text."""
    lines = results.table(CORRESPONDENCE)
    texts = []
    for finding in INVALID:
        if numbers := [str(number) for number in lines.loc[lines["finding"] == finding, "file"]]:
            files = TEXT("verdict.files", n=len(numbers), numbers=listed(numbers))
            texts.append(TEXT(f"verdict.{finding}", n=len(numbers), files=files))
    return " ".join(texts)


def first_intruder(results: Results) -> str:
    """Return the intruder that is reported in full."""
    return str(results.table(DISTRIBUTION)["scenario"].iloc[0])


def intruder_name(results: Results, intruder: str) -> str:
    """Return an intruder's name, or without one the variables that the intruder knows."""
    if intruder == KNOWN:
        return known_variables(str(by_intruder(results, MEAN).at[intruder, "known"]))
    return escape(intruder)


def known_variables(keys: str) -> str:
    """Return the variables that an intruder knows as a list in words."""
    return keys_in_words(keys) or TEXT("known_nothing")


def decimals_of(values: pd.Series) -> list[str]:
    """Return a column of numbers of records with one decimal, or without decimals if all are whole."""
    numbers = values.dropna()
    return count_cells(values) if (numbers == numbers.round()).all() else fixed_cells(values, 1)


def decimals(value: float) -> str:
    """Return a number of records that need not be whole."""
    if not defined(value):
        return UNDEFINED
    return count(value) if value == round(value) else fixed(value, 1 if value >= 10 else 2)


class Outcome(NamedTuple):
    """A limit in words, and the intruders for which it is not met."""

    limit: str
    intruders: list[str]


def limits(results: Results) -> dict[str, float]:
    """Return the limits of the decision that concern matching."""
    decision = results.study.get("decision") or {}
    return {name: decision[name] for name in LIMITS if decision.get(name) is not None}


def limited_summary(limit: str) -> str:
    """Return the summary that a limit concerns."""
    return limit.removesuffix("_at_most").removesuffix("_at_least")


def summary_name(summary: str) -> str:
    """Return the name of one of the three summaries, as in a heading."""
    return TEXT(f"summaries.names.{summary}")


def limit_value(name: str, limit: float) -> str:
    """Return the value of a limit in words."""
    return decimals(limit) if limited_summary(name) == "expected_match_risk" else declared(limit)


def _is_beyond(values: pd.Series | float, limit: float, name: str) -> pd.Series | bool:
    """Return whether a limit is not met; a value that is not defined meets every limit."""
    return values > limit if name.endswith("_at_most") else values < limit


def outcomes(results: Results) -> list[Outcome]:
    """Return every limit with the intruders for which it is not met."""
    lines, every = worst(results.table(SCENARIOS), results.table(POOLED)), []
    for name, limit in limits(results).items():
        beyond = lines.index[_is_beyond(lines[limited_summary(name)], limit, name)]
        words = TEXT(f"verdict.limit.{name}", limit=limit_value(name, limit))
        every.append(Outcome(words, [intruder_name(results, str(intruder)) for intruder in beyond]))
    return every


@block(SUMMARY, SCENARIOS, POOLED, CORRESPONDENCE, LIMITS_, VERDICT)
def matching_overall(results: Results) -> str:
    """Give the verdict on the synthetic data."""
    if reason := invalid(results):
        return box("reason unknown", TEXT("verdict.open"), reason)
    every = outcomes(results)
    if not every:
        return (
            "" if results.verdict(WHOLE) == OPEN else box("reason open", TEXT("verdict.open"), TEXT("verdict.no_limit"))
        )
    if results.verdict(ABOUT) == UNKNOWN:
        never = results.limits(ABOUT)["outcome"].eq(UNBREAKABLE).all()
        limits_ = listed([outcome.limit for outcome in every])
        return box(
            "reason unknown", TEXT("verdict.open"), FRONT("never", limits=limits_) if never else FRONT("invalid")
        )
    n_intruders = len(by_intruder(results, MEAN, listed_only=True))
    met = [outcome.limit for outcome in every if not outcome.intruders]
    broken = [_with_intruders(outcome, n_intruders) for outcome in every if outcome.intruders]
    basis = TEXT("verdict.basis", n=len(synthetic_files(results)))
    if not broken:
        intruders = TEXT("intruders", n=n_intruders, number=word(n_intruders))
        text = TEXT("verdict.met", n=len(met), basis=basis, intruders=intruders, limits=listed(met))
        if results.verdict(ABOUT) == RESERVED:
            return box("reason reservations", TEXT("verdict.reservations"), f"{text} {reserved(results, ABOUT)}")
        return box("reason within", TEXT("verdict.within"), text)
    text = TEXT("verdict.not_met", n=len(broken), basis=basis, limits="; ".join(broken))
    if met:
        text += " " + TEXT("verdict.others_met", n=len(met), limits=listed(met))
    return box("reason above", TEXT("verdict.above"), text)


def _with_intruders(outcome: Outcome, n_intruders: int) -> str:
    """Return a limit that is not met, and for which intruders unless there is only one."""
    names = outcome.intruders
    if n_intruders == 1:
        return outcome.limit
    if len(names) == n_intruders:
        intruders = TEXT("intruders", n=n_intruders, number=word(n_intruders))
    elif len(names) > MAX_INTRUDERS:
        labels = names[: MAX_INTRUDERS - 1]
        intruders = listed([*labels, TEXT("verdict.more_intruders", n=len(names) - len(labels))])
    else:
        intruders = listed(names)
    return TEXT("verdict.for_intruders", limit=outcome.limit, intruders=intruders)


@block(SUMMARY, SCENARIOS, POOLED, CORRESPONDENCE)
def matching_verdicts(results: Results) -> str | None:
    """Show every intruder against every limit."""
    lines = worst(results.table(SCENARIOS), results.table(POOLED))
    if not limits(results) or len(lines) > MAX_FILES or invalid(results):
        return None
    names = [f"**{intruder_name(results, str(intruder))}**" for intruder in lines.index]
    table_columns = [ReportColumn(TEXT("verdict.columns.intruder"), names, "l", "1fr")]
    for name, limit in limits(results).items():
        sign = "≤" if name.endswith("_at_most") else "≥"
        value = f"{sign}{NO_BREAK}{limit_value(name, limit)}"
        heading = TEXT("verdict.columns.limit", summary=summary_name(limited_summary(name)), limit=value)
        cells = [judged(rate, limit, name) for rate in lines[limited_summary(name)]]
        table_columns.append(ReportColumn(heading, cells, "l", "1fr"))
    return table(TEXT("verdict.caption", n=len(synthetic_files(results))), *table_columns)


def judged(value: float, limit: float, name: str) -> str:
    """Return a value with the mark of its verdict."""
    if not defined(value):
        return f"[✓ {TEXT('verdict.no_unique_match', undefined=UNDEFINED)}]{{.nothing}}"
    text = decimals(value) if name.startswith("expected") else apart(value, limit)[0]
    return f"[▲ {text}]{{.above}}" if _is_beyond(value, limit, name) else f"[✓ {text}]{{.within}}"


def by_worst(results: Results) -> pd.DataFrame:
    """Return the matches of every intruder that limits apply to: in a file on average, or with all files if more."""
    mean = by_intruder(results, MEAN, listed_only=True)
    together = pooled(results).reindex(mean.index)
    more = together["true_match_rate"] > mean["true_match_rate"]
    changed = {name: mean[name].mask(more, together[name]) for name in ("true_match_rate", "unique_matches")}
    return mean.assign(**changed)


@block(SUMMARY, SCENARIOS, DISTRIBUTION, POOLED, CORRESPONDENCE)
def matching_findings(results: Results) -> str | None:
    """Report the expected match risk, how often a unique match is false, and the effect of synthesis."""
    if invalid(results):
        return None
    summary = results.table(SUMMARY).set_index("file")
    mean, confidential = summary.loc[MEAN], summary.loc[CONFIDENTIAL]
    m = len(synthetic_files(results))
    file = TEXT("findings.file", n=m)
    people = _of_people(mean["expected_match_risk"], mean["targets"])
    expected = TEXT("findings.expected", intruder=_intruder(results), file=file, people=people)
    unique = TEXT("findings.no_unique", file=file)
    if mean["unique_matches"]:
        share = share_of(mean["false_match_rate"], mean["unique_matches"])
        unique = TEXT("findings.unique", people=_people(mean["unique_matches"]), file=file, share=share)
    together = pooled(results).at[first_intruder(results), "expected_match_risk"] if m > 1 else None
    effect = _effect(mean["expected_match_risk"], confidential["expected_match_risk"], m, together)
    return box("findings", items([expected, unique, *pooled_findings(results), effect]))


def pooled_findings(results: Results) -> list[str]:
    """Report the intruder who uses all files, and the one who does not know who is in them, for the first intruder."""
    intruder, m, texts = first_intruder(results), len(synthetic_files(results)), []
    if m > 1:
        line = pooled(results).loc[intruder]
        people = _of_people(line["expected_match_risk"], line["targets"])
        text = TEXT("findings.pooled", number=word(m), people=people)
        more = TEXT("findings.pooled_no_unique")
        if line["unique_matches"]:
            share = share_of(line["false_match_rate"], line["unique_matches"])
            more = TEXT("findings.pooled_unique", people=_people(line["unique_matches"]), share=share)
        texts.append(f"{text} {more}")
    if (uncertain := results.model.matched.uncertain_targets) is not None:
        line = pooled(results, UNCERTAIN).loc[intruder]
        if uncertain.population_count:
            population = TEXT("findings.population.population_count", column=uncertain.population_count)
        else:
            share = declared(float(uncertain.sampling_fraction or 0))
            population = TEXT("findings.population.sampling_fraction", share=share)
        fields, named = {"population": population}, line["targets"] - line["no_record"]
        if named:
            fields |= {"named": count(named), "people": _people(line["targets"])}
            fields["expected"] = decimals(line["expected_match_risk"])
        texts.append(TEXT(f"findings.uncertain{'' if named else '_none'}", **fields))
    return texts


def _intruder(results: Results) -> str:
    intruder = first_intruder(results)
    keys = str(by_intruder(results, MEAN).at[intruder, "known"])
    fields = {"synthesized": listed([escape(variable.name) for variable in results.model.matched.synthesized])}
    if keys:
        fields["known"] = known_variables(keys)
    has_name = intruder != KNOWN and " + " not in intruder
    if has_name:
        fields["intruder"] = escape(intruder)
    return TEXT(f"findings.{'named_' if has_name else ''}knows{'' if keys else '_nothing'}", **fields)


def _people(n: float) -> str:
    return TEXT("findings.people.one" if n == 1 else "findings.people.several", number=decimals(n))


def _of_people(expected: float, targets: float) -> str:
    return portion(decimals(expected), expected / targets, targets, _people(targets))


def _effect(synthetic: float, confidential: float, m: int, together: float | None) -> str:
    if not confidential:
        return TEXT("findings.no_risk")
    change, expected = 1 - synthetic / confidential, _people(confidential)
    kind = "less" if change > 0 else "more" if change else "same"
    shown = {"change": share_of(abs(change), confidential)} if change else {}
    text = TEXT(f"findings.{kind}", n=m, expected=expected, **shown)
    if together is None:
        return text
    share = share_of(together / confidential, confidential)
    return f"{text} {TEXT('findings.left', number=word(m), share=share)}"


@block(SUMMARY, VARIABLES, CORRESPONDENCE)
def matching_premise(results: Results) -> str:
    """Introduce the records and the rule of matching."""
    warning = box("warning", reason) if (reason := invalid(results)) else None
    m, targets = len(synthetic_files(results)), round(results.table(SUMMARY)["targets"].iloc[0])
    total = round(results.table(VARIABLES)["n_records"].iloc[0])
    sentences = [TEXT("premise.files", n=m, number=word(m)), TEXT("premise.intruder")]
    if targets != total:
        sentences.append(TEXT("premise.targets", targets=targets, total=total))
    return paragraphs(warning, " ".join(sentences), _radii(results))


def _radii(results: Results) -> str | None:
    matching = results.model.matched
    if not matching.radius:
        return None
    radii = [
        TEXT("premise.absolute", variable=escape(name), size=number(float(radius.size)))
        if radius.relative is None
        else TEXT("premise.relative", variable=escape(name), size=declared(float(radius.size)))
        for name, radius in matching.radius.items()
    ]
    return TEXT(f"premise.radius_{matching.interval}", radii=listed(radii))


@block(VARIABLES)
def matching_variables(results: Results) -> str:
    """Show the role, radius, distinct and missing values, and agreement of each matched variable."""
    lines = results.table(VARIABLES)
    is_confidential = lines["file"] == CONFIDENTIAL
    confidential = lines[is_confidential].set_index("variable", drop=False)
    synthetic = lines[~is_confidential].groupby("variable").mean(numeric_only=True).loc[confidential.index]
    lines = confidential.assign(
        role=[messages.label("role", role) for role in confidential["role"]],
        radius=[_radius(text) for text in confidential["radius"]],
        distinct_synthetic=synthetic["n_distinct"],
        missing=confidential["n_missing"] / confidential["n_records"],
        agree=synthetic["n_agree"] / synthetic["n_records"],
    )
    return table(
        TEXT("variables.caption"),
        *columns(lines, HEADING, "variable:bold@1fr"),
        *columns(lines, TEXT, "role:text radius:text distinct=n_distinct", group="variables.columns"),
        *columns(lines, TEXT, "distinct_synthetic:count missing agree", group="variables.columns"),
    )


def _radius(text: str) -> str:
    """Return a radius of the table, such as ``relative 1/10``, in words."""
    kind, _, size = text.partition(" ")
    if not kind:
        return UNDEFINED
    top, _, bottom = size.partition("/")
    value = int(top) / int(bottom) if bottom else float(size)
    return f"±{NO_BREAK}{declared(value) if kind == 'relative' else number(value)}"


def listed_intruders(results: Results) -> list[str]:
    """Return the intruders that the study lists."""
    lines = by_intruder(results, MEAN)
    return list(lines.index[lines["listed"]])


def short_name(intruder: str) -> str:
    """Return an intruder's name, not escaped; that of the list `known` is the main intruder."""
    return TEXT("main_intruder") if intruder == KNOWN else intruder
