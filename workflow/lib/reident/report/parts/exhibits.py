"""Answer questions of the board's checklist by results: one sentence per exhibit (METHODS §1, §6–§8)."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date as Date

import pandas as pd

from reident.pipeline.tables import WHOLE
from reident.report.layout import Part
from reident.report.parts.filerisk import (
    CELLS,
    SUMMARY,
    VARIABLES,
    by_contribution,
    declaration,
    is_wildcard,
    quantity,
)
from reident.report.parts.front import confirmed
from reident.report.parts.matching import MEAN
from reident.report.parts.protection import PROTECTION, whole_of
from reident.report.results import RESOLVED, VERDICT, Results
from reident.report.sentences import Sentences
from reident.report.terms import some, title
from reident.report.wording import day, declared, defined, escape, label_cells, listed, number, percent, whole

TEXT = Sentences("checklist")
MAX_RISKY = 3
"""Variables that are named as those which contribute most to uniqueness."""

Exhibit = Callable[[Results], str | None]

EXHIBITS: dict[str, Part] = {}
"""Every exhibit by its name, as a file of questions names it."""


def exhibit(*reads: str) -> Callable[[Exhibit], Exhibit]:
    """Declare a function to be the exhibit of its name, without the leading underscore, which these tables give."""

    def register(make: Exhibit) -> Exhibit:
        EXHIBITS[make.__name__.removeprefix("_")] = Part(reads, make)
        return make

    return register


@exhibit(RESOLVED)
def _agency(results: Results) -> str | None:
    name = results.study["agency"]
    return TEXT("exhibits.agency", agency=whole(name)) if name else None


@exhibit(RESOLVED)
def _date(results: Results) -> str | None:
    iso_date = results.study["date"]
    return TEXT("exhibits.date", date=day(Date.fromisoformat(iso_date))) if iso_date else None


def _linking(results: Results, *types: str) -> str:
    variables = results.study["linking_variables"]
    return listed([escape(variable["name"]) for variable in variables if variable["type"] in types])


@exhibit(RESOLVED)
def _linking_variables(results: Results) -> str | None:
    names = _linking(results, "numeric", "categorical")
    return TEXT("exhibits.linking_variables", names=names) if names else None


@exhibit(RESOLVED)
def _numeric_variables(results: Results) -> str | None:
    names = _linking(results, "numeric")
    return TEXT("exhibits.numeric_variables", names=names) if names else None


@exhibit(RESOLVED)
def _strata_variables(results: Results) -> str | None:
    names = listed(label_cells(results.strata_names))
    return TEXT("exhibits.strata_variables", names=names) if names else None


@exhibit(VARIABLES)
def _key_variables(results: Results) -> str:
    names = listed(label_cells(results.table(VARIABLES)["variable"]))
    return TEXT("exhibits.key_variables", names=names)


@exhibit(RESOLVED)
def _sampling_fraction(results: Results) -> str | None:
    risk = results.study.get("file_risk") or {}
    if risk.get("sampling_fraction") is not None:
        return TEXT("exhibits.fraction", fraction=declared(float(risk["sampling_fraction"])))
    return TEXT("exhibits.weight", column=escape(risk["weight"])) if risk.get("weight") else None


@exhibit("rates.csv")
def _records(results: Results) -> str:
    return TEXT("exhibits.records", records=some(round(results.whole["n_puf"].iloc[0]), "record"))


@exhibit(SUMMARY)
def _risk_records(results: Results) -> str:
    return TEXT("exhibits.risk_records", records=some(round(quantity(results, "records")), "record"))


@exhibit("rates.csv")
def _intruder_file(results: Results) -> str:
    return TEXT("exhibits.intruder_file", records=some(round(results.whole["n_eif"].iloc[0]), "record"))


@exhibit("strata/manifest.csv")
def _smallest_stratum(results: Results) -> str | None:
    sizes = results.table("strata/manifest.csv")["n_puf"]
    sizes = sizes[sizes > 0]
    if sizes.empty:
        return None
    return TEXT("exhibits.smallest_stratum", n=len(sizes), records=some(int(sizes.min()), "record"))


@exhibit("description/variables.csv")
def _agreement(results: Results) -> str | None:
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
def _true_links(results: Results) -> str:
    n, puf = round(results.whole["n_findable"].iloc[0]), round(results.whole["n_puf"].iloc[0])
    return TEXT("exhibits.true_links", links=n, records=some(puf, "record"))


@exhibit("rates.csv")
def _confirmed(results: Results) -> str | None:
    if not results.confirmable:
        return None
    n = confirmed(results)
    return TEXT("exhibits.confirmed", n=n, share=percent(n / results.whole["n_puf"].iloc[0]))


def _highest(results: Results, column: str) -> dict[str, str] | None:
    """Return the highest value of a rate and its metric; None where it is undefined or nothing can be confirmed."""
    values = results.whole[column].dropna()
    if values.empty or not results.confirmable:
        return None
    metric = str(values.idxmax())
    return {"share": percent(values[metric]), "metric": title(metric)}


@exhibit("rates.csv")
def _conditional_rate(results: Results) -> str | None:
    fields = _highest(results, "conditional_rate")
    return TEXT("exhibits.conditional_rate", **fields) if fields else None


@exhibit("rates.csv")
def _reach(results: Results) -> str | None:
    fields = _highest(results, "reach")
    return TEXT("exhibits.reach", **fields) if fields else None


@exhibit("clusters.csv")
def _clusters(results: Results) -> str | None:
    lines = results.table("clusters.csv")
    lines = lines[lines["stratum"] == WHOLE].set_index("metric")
    if lines.empty or not results.confirmable:
        return None
    line = lines.loc[lines["n_confirmed"].idxmax()]
    n, total = round(line["n_confirmed"]), round(line["n_clusters"])
    return TEXT("exhibits.clusters", metric=title(str(line.name)), n=str(n), clusters=total)


@exhibit(PROTECTION)
def _protection(results: Results) -> str:
    lines = whole_of(results)
    line = lines.loc[lines["n_confirmed_before"].idxmax()]
    before, after = round(line["n_confirmed_before"]), round(line["n_confirmed_after"])
    return TEXT("exhibits.protection", metric=title(str(line.name)), before=before, after=after)


@exhibit(SUMMARY)
def _uniques(results: Results) -> str:
    unique, total = round(quantity(results, "U")), round(quantity(results, "records"))
    return TEXT(
        "exhibits.uniques",
        unique=unique,
        records=some(total, "record"),
        share=percent(unique / total if total else math.nan),
        variables=some(round(quantity(results, "key_variables")), "key_variable"),
    )


@exhibit(SUMMARY, CELLS)
def _k_anonymity(results: Results) -> str | None:
    sizes = results.table(CELLS)["cell_size"]
    if sizes.empty or is_wildcard(results):
        return None
    below = round(quantity(results, "violations_3_anonymity"))
    return TEXT("exhibits.k_anonymity", n=int(sizes.min()), below=below)


@exhibit(VARIABLES)
def _riskiest_variables(results: Results) -> str | None:
    lines = by_contribution(results).dropna(subset="contribution")
    names = listed(label_cells(lines["variable"].head(MAX_RISKY)))
    return TEXT("exhibits.riskiest_variables", names=names) if names else None


@exhibit(SUMMARY)
def _dis(results: Results) -> str | None:
    value = quantity(results, "dis")
    return TEXT("exhibits.dis", share=percent(value)) if defined(value) else None


@exhibit(SUMMARY)
def _original_values(results: Results) -> str | None:
    if declaration(results).original is None:
        return None
    value = quantity(results, "dis_original")
    return TEXT("exhibits.original_values", share=percent(value)) if defined(value) else None


@exhibit("matching/summary.csv")
def _matching(results: Results) -> str:
    line: pd.Series = results.table("matching/summary.csv").set_index("file").loc[MEAN]
    share = percent(line["true_match_rate"])
    return TEXT("exhibits.matching", risk=number(line["expected_match_risk"]), share=share)


def _verdict_line(results: Results) -> pd.Series:
    return results.table(VERDICT).set_index("scope").loc[WHOLE]


@exhibit(VERDICT)
def _warnings(results: Results) -> str:
    line = _verdict_line(results)
    n = int(line[["invalidates", "understates", "notable"]].sum())
    return TEXT(
        "exhibits.warnings", n=n, invalidates=int(line["invalidates"]), understates=int(line["understates"])
    )


@exhibit(VERDICT)
def _verdict(results: Results) -> str:
    line = _verdict_line(results)
    broken, limits = int(line["n_broken"]), int(line["n_limits"])
    if line["verdict"] == "above":
        return TEXT("exhibits.verdict.above", broken=broken, limits=limits)
    return TEXT(f"exhibits.verdict.{line['verdict']}")
