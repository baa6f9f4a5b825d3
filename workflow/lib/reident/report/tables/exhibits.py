"""Answer questions of the board's checklist by results: one sentence per exhibit (METHODS §1, §6–§8)."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date as Date

import pandas as pd

from reident.pipeline.tables import WHOLE
from reident.report.layout import Part
from reident.report.nouns import some
from reident.report.results import RESOLVED, VERDICT, Results
from reident.report.sentences import Sentences
from reident.report.tables.filerisk import (
    CELLS,
    SUMMARY,
    VARIABLES,
    by_contribution,
    declaration,
    is_wildcard,
    quantity,
)
from reident.report.tables.front import confirmed as confirmed_records
from reident.report.tables.matching import MEAN
from reident.report.tables.protection import PROTECTION, whole_of
from reident.report.titles import title
from reident.report.wording import UNDEFINED, day, declared, defined, escape, listed, number, percent, whole

TEXT = Sentences("checklist")
MAX_RISKY = 3
"""Variables that are named as those which contribute most to uniqueness."""

Exhibit = Callable[[Results], str | None]
EXHIBITS: dict[str, Part] = {}
"""Every exhibit by its name, as a file of questions names it."""


def exhibit(*reads: str) -> Callable[[Exhibit], Exhibit]:
    """Declare a function to be the exhibit of its name, which these tables give."""

    def register(make: Exhibit) -> Exhibit:
        EXHIBITS[make.__name__] = Part(reads, make)
        return make

    return register


@exhibit(RESOLVED)
def agency(results: Results) -> str | None:
    """Name the agency."""
    name = results.study["agency"]
    return TEXT("exhibits.agency", agency=whole(name)) if name else None


@exhibit(RESOLVED)
def date(results: Results) -> str | None:
    """Give the date of the report."""
    given = results.study["date"]
    return TEXT("exhibits.date", date=day(Date.fromisoformat(given))) if given else None


def _linking(results: Results, *types: str) -> str:
    variables = results.study["linking_variables"]
    return listed([escape(variable["name"]) for variable in variables if variable["type"] in types])


@exhibit(RESOLVED)
def linking_variables(results: Results) -> str | None:
    """Name the variables that the intruder compares."""
    names = _linking(results, "numeric", "categorical")
    return TEXT("exhibits.linking_variables", names=names) if names else None


@exhibit(RESOLVED)
def numeric_variables(results: Results) -> str | None:
    """Name the numeric variables that the intruder compares."""
    names = _linking(results, "numeric")
    return TEXT("exhibits.numeric_variables", names=names) if names else None


@exhibit(RESOLVED)
def strata_variables(results: Results) -> str | None:
    """Name the variables that define the strata."""
    names = listed([escape(name) for name in results.strata_names])
    return TEXT("exhibits.strata_variables", names=names) if names else None


@exhibit(VARIABLES)
def key_variables(results: Results) -> str:
    """Name the key variables of the risk of the file."""
    names = listed([escape(name) for name in results.table(VARIABLES)["variable"]])
    return TEXT("exhibits.key_variables", names=names)


@exhibit(RESOLVED)
def sampling_fraction(results: Results) -> str | None:
    """Give the sampling fraction of the study, or the weights from which it is taken."""
    risk = results.study.get("file_risk") or {}
    if risk.get("sampling_fraction") is not None:
        return TEXT("exhibits.fraction", fraction=declared(float(risk["sampling_fraction"])))
    return TEXT("exhibits.weight", column=escape(risk["weight"])) if risk.get("weight") else None


@exhibit("rates.csv")
def records(results: Results) -> str:
    """Count the records of the file that is attacked."""
    return TEXT("exhibits.records", records=some(round(results.whole["n_puf"].iloc[0]), "record"))


@exhibit(SUMMARY)
def risk_records(results: Results) -> str:
    """Count the records of the file whose risk is measured."""
    return TEXT("exhibits.risk_records", records=some(round(quantity(results, "records")), "record"))


@exhibit("rates.csv")
def intruder_file(results: Results) -> str:
    """Count the records of the intruder's file."""
    return TEXT("exhibits.intruder_file", records=some(round(results.whole["n_eif"].iloc[0]), "record"))


@exhibit("strata/manifest.csv")
def smallest_stratum(results: Results) -> str | None:
    """Count the strata of the file and the records of the smallest."""
    sizes = results.table("strata/manifest.csv")["n_puf"]
    sizes = sizes[sizes > 0]
    if sizes.empty:
        return None
    return TEXT("exhibits.smallest_stratum", n=len(sizes), records=some(int(sizes.min()), "record"))


@exhibit("description/variables.csv")
def agreement(results: Results) -> str | None:
    """Name the variables on which the two files agree most and least often over the true links."""
    lines = results.table("description/variables.csv").set_index("variable")
    shares = (lines["links_agree"] / lines["links"].where(lines["links"] > 0)).dropna()
    if shares.empty:
        return None
    most, least = str(shares.idxmax()), str(shares.idxmin())
    return TEXT(
        "exhibits.agreement",
        most=escape(most),
        most_share=percent(shares[most]),
        least=escape(least),
        least_share=percent(shares[least]),
    )


@exhibit("rates.csv")
def true_links(results: Results) -> str:
    """Count the records whose true record is in the intruder's file."""
    n, puf = round(results.whole["n_findable"].iloc[0]), round(results.whole["n_puf"].iloc[0])
    return TEXT("exhibits.true_links", links=n, records=some(puf, "record"))


@exhibit("rates.csv")
def confirmed(results: Results) -> str | None:
    """Count the records that at least one metric confirms."""
    if not results.confirmable:
        return None
    n = confirmed_records(results)
    return TEXT("exhibits.confirmed", n=n, share=percent(n / results.whole["n_puf"].iloc[0]))


def _highest(results: Results, column: str) -> dict[str, str] | None:
    """Return the highest value of a rate and its metric; None where it is undefined or nothing can be confirmed."""
    values = results.whole[column].dropna()
    if values.empty or not results.confirmable:
        return None
    metric = str(values.idxmax())
    return {"share": percent(values[metric]), "metric": title(metric)}


@exhibit("rates.csv")
def conditional_rate(results: Results) -> str | None:
    """Give the highest conditional rate."""
    fields = _highest(results, "conditional_rate")
    return TEXT("exhibits.conditional_rate", **fields) if fields else None


@exhibit("rates.csv")
def reach(results: Results) -> str | None:
    """Give the highest reach."""
    fields = _highest(results, "reach")
    return TEXT("exhibits.reach", **fields) if fields else None


@exhibit("clusters.csv")
def clusters(results: Results) -> str | None:
    """Count the clusters with a confirmed record, by the metric with the most."""
    lines = results.table("clusters.csv")
    lines = lines[lines["stratum"] == WHOLE].set_index("metric")
    if lines.empty or not results.confirmable:
        return None
    line = lines.loc[lines["n_confirmed"].idxmax()]
    n, total = round(line["n_confirmed"]), round(line["n_clusters"])
    return TEXT("exhibits.clusters", metric=title(str(line.name)), n=str(n), clusters=total)


@exhibit(PROTECTION)
def protection(results: Results) -> str:
    """Count the confirmed records before and after protection, by the metric with the most before it."""
    lines = whole_of(results)
    line = lines.loc[lines["n_confirmed_before"].idxmax()]
    before, after = round(line["n_confirmed_before"]), round(line["n_confirmed_after"])
    return TEXT("exhibits.protection", metric=title(str(line.name)), before=before, after=after)


@exhibit(SUMMARY)
def uniques(results: Results) -> str:
    """Count the sample uniques."""
    unique, total = round(quantity(results, "U")), round(quantity(results, "records"))
    return TEXT(
        "exhibits.uniques",
        unique=unique,
        records=some(total, "record"),
        share=percent(unique / total if total else math.nan),
        variables=some(round(quantity(results, "key_variables")), "key_variable"),
    )


@exhibit(SUMMARY, CELLS)
def k_anonymity(results: Results) -> str | None:
    """Give the size of the smallest cell."""
    sizes = results.table(CELLS)["cell_size"]
    if sizes.empty or is_wildcard(results):
        return None
    below = round(quantity(results, "violations_3_anonymity"))
    return TEXT("exhibits.k_anonymity", n=int(sizes.min()), below=below)


@exhibit(VARIABLES)
def riskiest_variables(results: Results) -> str | None:
    """Name the variables that contribute most to the SUDA score."""
    lines = by_contribution(results).dropna(subset="contribution")
    names = listed([escape(name) for name in lines["variable"].head(MAX_RISKY)])
    return TEXT("exhibits.riskiest_variables", names=names) if names else None


@exhibit(SUMMARY)
def dis(results: Results) -> str | None:
    """Give DIS."""
    value = quantity(results, "dis")
    return TEXT("exhibits.dis", share=percent(value)) if defined(value) else None


@exhibit(SUMMARY)
def original_values(results: Results) -> str | None:
    """Give DIS for an intruder who knows the original values."""
    if declaration(results).original is None:
        return None
    value = quantity(results, "dis_original")
    return TEXT("exhibits.original_values", share=percent(value)) if defined(value) else None


@exhibit("matching/summary.csv")
def matching(results: Results) -> str:
    """Give the risk of the synthetic files, their mean."""
    line: pd.Series = results.table("matching/summary.csv").set_index("file").loc[MEAN]
    rate = line["true_match_rate"]
    share = percent(rate) if defined(rate) else UNDEFINED
    return TEXT("exhibits.matching", risk=number(line["expected_match_risk"]), share=share)


def _verdict(results: Results) -> pd.Series:
    return results.table(VERDICT).set_index("scope").loc[WHOLE]


@exhibit(VERDICT)
def warnings(results: Results) -> str:
    """Count the warnings."""
    line = _verdict(results)
    n = int(line[["invalidates", "understates", "notable"]].sum())
    return TEXT(
        "exhibits.warnings",
        n=n,
        invalidates=int(line["invalidates"]),
        understates=int(line["understates"]),
    )


@exhibit(VERDICT)
def verdict(results: Results) -> str:
    """Give the verdict."""
    line = _verdict(results)
    broken, limits = int(line["n_broken"]), int(line["n_limits"])
    if line["verdict"] == "above":
        return TEXT("exhibits.verdict.above", broken=broken, limits=limits)
    return TEXT(f"exhibits.verdict.{line['verdict']}")
