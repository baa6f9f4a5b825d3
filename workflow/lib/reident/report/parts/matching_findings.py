"""What the matching of synthetic data finds, in sentences for the front page (METHODS §8)."""

from __future__ import annotations

from reident.report.layout import block, items, part
from reident.report.parts.common import portion, share_of
from reident.report.parts.matching import (
    CONFIDENTIAL,
    CORRESPONDENCE,
    DISTRIBUTION,
    MEAN,
    POOLED,
    SCENARIOS,
    SUMMARY,
    UNCERTAIN,
    by_intruder,
    decimals,
    declaration,
    first_intruder,
    invalid,
    known_variables,
    pooled,
    synthetic_files,
)
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.wording import count, declared, escape, listed, word
from reident.sections.matching import KNOWN

TEXT = Sentences("matching")


@part(SUMMARY, SCENARIOS, DISTRIBUTION, POOLED, CORRESPONDENCE)
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
    effect = _effect(mean["expected_match_risk"], confidential["expected_match_risk"], m)
    return block("findings", items([expected, unique, *pooled_findings(results), effect]))


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
    if (uncertain := declaration(results).uncertain_targets) is not None:
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
    known = str(by_intruder(results, MEAN).at[intruder, "known"])
    fields = {"synthesized": listed([escape(variable.name) for variable in declaration(results).synthesized])}
    if known:
        fields["known"] = known_variables(known)
    has_name = intruder != KNOWN and " + " not in intruder
    if has_name:
        fields["intruder"] = escape(intruder)
    return TEXT(f"findings.{'named_' if has_name else ''}knows{'' if known else '_nothing'}", **fields)


def _people(n: float) -> str:
    return TEXT("findings.people.one" if n == 1 else "findings.people.several", number=decimals(n))


def _of_people(expected: float, targets: float) -> str:
    return portion(decimals(expected), expected / targets, targets, _people(targets))


def _effect(synthetic: float, confidential: float, m: int) -> str:
    if not confidential:
        return TEXT("findings.no_risk")
    change, expected = 1 - synthetic / confidential, _people(confidential)
    if not change:
        return TEXT("findings.same", n=m, expected=expected)
    kind = "less" if change > 0 else "more"
    return TEXT(f"findings.{kind}", n=m, expected=expected, change=share_of(abs(change), confidential))
