"""Answer questions of the board's checklist by results: one sentence per exhibit (METHODS §1, §6–§8)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from datetime import date as Date
from typing import Any

import numpy as np
import pandas as pd

from reident.filerisk.estimates import INDIVIDUAL
from reident.filerisk.report import (
    CELLS,
    CONVENTIONS,
    SUMMARY,
    VARIABLES,
    alone_by_values,
    by_contribution,
    is_wildcard,
    n_complete,
    quantity,
)
from reident.filerisk.report_scenarios import DIVERSITY
from reident.filerisk.report_thresholds import RISKS, judged_value
from reident.filerisk.settings import POPULATION
from reident.linkage.settings import SIDES, WHOLE
from reident.matching.report import MEAN
from reident.outcomes import VERDICT
from reident.page.layout import Block
from reident.page.sentences import Sentences
from reident.page.terms import some, title
from reident.page.wording import day, declared, defined, escape, label_cells, listed, number, percent, whole
from reident.protection.report import PROTECTION, whole_of
from reident.report.blocks.front import confirmed
from reident.report.blocks.surest import SUMMARY as SUREST
from reident.report.results import RESOLVED, Results

TEXT = Sentences("checklist")
RISK = Sentences("filerisk")
MAX_RISKY = 3
"""Variables that are named as those which contribute most to uniqueness."""

Fields = dict[str, Any] | None
"""The fields of the sentence of an exhibit; None where the results have no answer."""


def _listed(name: str, labels: Iterable[object]) -> Fields:
    texts = label_cells(labels)
    return {name: listed(texts)} if texts else None


def _linking(results: Results, *types: str) -> Fields:
    variables = results.study["linking_variables"]
    return _listed("names", [variable["name"] for variable in variables if variable["type"] in types])


def _agency(results: Results) -> Fields:
    return {"agency": whole(name)} if (name := results.study["agency"]) else None


def _date(results: Results) -> Fields:
    iso_date = results.study["date"]
    return {"date": day(Date.fromisoformat(iso_date))} if iso_date else None


def _sampling_fraction(results: Results) -> str | None:
    risk = results.study.get("file_risk") or {}
    if risk.get("sampling_fraction") is not None:
        return TEXT("exhibits.fraction", fraction=declared(float(risk["sampling_fraction"])))
    return TEXT("exhibits.weight", column=escape(risk["weight"])) if risk.get("weight") else None


def _compared(results: Results, column: str) -> Fields:
    return {"records": some(round(results.whole[column].iloc[0]), "record")}


def _smallest_stratum(results: Results) -> Fields:
    sizes = results.table("strata/manifest.csv")["n_puf"]
    sizes = sizes[sizes > 0]
    return {"n": len(sizes), "records": some(int(sizes.min()), "record")} if len(sizes) else None


def _agreement(results: Results) -> Fields:
    lines = results.table("description/variables.csv").set_index("variable")
    shares = (lines["links_agree"] / lines["links"].where(lines["links"] > 0)).dropna()
    if shares.empty:
        return None
    ends = {"most": str(shares.idxmax()), "least": str(shares.idxmin())}
    texts = {end: escape(name) for end, name in ends.items()}
    return texts | {f"{end}_share": percent(shares[name]) for end, name in ends.items()}


def _true_links(results: Results) -> Fields:
    return {"links": round(results.whole["n_findable"].iloc[0]), **(_compared(results, "n_puf") or {})}


def _confirmed(results: Results) -> Fields:
    if not results.confirmable:
        return None
    n = confirmed(results)
    return {"n": n, "share": percent(n / results.whole["n_puf"].iloc[0])}


def _highest(results: Results, column: str) -> Fields:
    """Return the highest value of a rate and its metric; None where it is undefined or nothing can be confirmed."""
    values = results.whole[column].dropna()
    if values.empty or not results.confirmable:
        return None
    metric = str(values.idxmax())
    return {"share": percent(values[metric]), "metric": title(metric)}


def _reach(results: Results) -> str | None:
    """Return how many of the records with a true link are confirmed, by any metric."""
    if not results.confirmable:
        return None
    n, line = confirmed(results), results.whole.loc[results.whole["n_confirmed"].idxmax()]
    if not n:
        return TEXT("exhibits.reach.none")
    linked = round(line["n_confirmed"] / line["reach"])
    key = "any_metric" if len(results.metrics) > 1 else "one_metric"
    fields = {"records": some(linked, "record"), "share": percent(n / linked)}
    return TEXT(f"exhibits.reach.{key}", n=n, **fields)


def _clusters(results: Results) -> Fields:
    lines = results.table("clusters.csv")
    lines = lines[lines["stratum"] == WHOLE].set_index("metric")
    if lines.empty or not results.confirmable:
        return None
    line = lines.loc[lines["n_confirmed"].idxmax()]
    n, total = round(line["n_confirmed"]), round(line["n_clusters"])
    return {"metric": title(str(line.name)), "n": str(n), "clusters": total}


def _protection(results: Results) -> Fields:
    lines = whole_of(results)
    line = lines.loc[lines["n_confirmed_before"].idxmax()]
    sides = {side: round(line[f"n_confirmed_{side}"]) for side in SIDES}
    return {"metric": title(str(line.name)), **sides}


def _uniques(results: Results) -> Fields:
    unique, records = round(quantity(results, "U")), round(quantity(results, "records"))
    total = records if is_wildcard(results) else n_complete(results)
    return {
        "unique": unique,
        "records": some(total, "record"),
        "which": "" if total == records else f" {RISK('findings.which')}",
        "share": percent(unique / total if total else math.nan),
        "variables": some(round(quantity(results, "key_variables")), "key_variable"),
    }


def _k_anonymity(results: Results) -> Fields:
    sizes = results.table(CELLS)["cell_size"]
    if sizes.empty or is_wildcard(results):
        return None
    smallest = np.fmin(float(sizes.min()), judged_value(results, "k_map_at_least", "", "sample"))
    return {"n": int(smallest), "below": alone_by_values(results, 3)}


def _risks(results: Results) -> str | None:
    """Return the risks of the records in the population, or else by the individual risk, beside those in the file."""
    lines = results.table(RISKS).set_index("basis")
    if not lines["n_records"].any():
        return None
    basis = str(lines.index[-1])
    line = lines.loc[basis]
    judged = {"largest": "largest_risk_at_most", "mean": "average_risk_at_most"}
    fields = {
        name: percent(np.fmax(line[name], judged_value(results, limit, "", basis))) for name, limit in judged.items()
    }
    if basis == POPULATION and defined(line["smallest"]):
        fields |= {"k": str(int(line["smallest"])), "presence": percent(line["largest_presence"])}
    return TEXT(f"exhibits.risks.{basis if len(fields) > 2 else INDIVIDUAL}", **fields)


def _diversity(results: Results) -> Fields:
    lines = results.table(DIVERSITY).dropna(subset="distinct_l")
    if lines.empty:
        return None
    line = lines.loc[lines["distinct_l"].idxmin()]
    return {"n": int(line["distinct_l"]), "target": escape(line["target"]), "t": percent(lines["t"].max())}


def _attributes(results: Results) -> Fields:
    lines = results.table("attribution/summary.csv")
    lines = lines[(lines["danger"] == 1) & (lines["file"].astype(str) == "mean")].dropna(subset="disco")
    if lines.empty:
        return None
    line = lines.loc[lines["disco"].idxmax()]
    return {"share": percent(line["disco"]), "target": escape(line["target"])}


def _surest(results: Results) -> Fields:
    lines = results.table(SUREST).set_index("metric")["n_at_95_percent"]
    if not results.confirmable or lines.empty:
        return None
    return {"n": int(lines.max()), "metric": title(str(lines.idxmax()))}


def _riskiest_variables(results: Results) -> Fields:
    return _listed("names", by_contribution(results).dropna(subset="contribution")["variable"].head(MAX_RISKY))


def _share(results: Results, name: str) -> Fields:
    value = quantity(results, name)
    return {"share": percent(value)} if defined(value) else None


def _matching(results: Results) -> Fields:
    line: pd.Series = results.table("matching/summary.csv").set_index("file").loc[MEAN]
    return {"risk": number(line["expected_match_risk"]), "share": percent(line["true_match_rate"])}


def _warnings(results: Results) -> Fields:
    n = results.table(VERDICT).set_index("scope").loc[WHOLE, ["invalidates", "understates", "notable"]].astype(int)
    return {"n": int(n.sum()), "invalidates": int(n["invalidates"]), "understates": int(n["understates"])}


def _verdict(results: Results) -> str:
    line = results.table(VERDICT).set_index("scope").loc[WHOLE]
    if line["verdict"] == "above":
        return TEXT("exhibits.verdict.above", broken=int(line["n_broken"]), limits=int(line["n_limits"]))
    return TEXT(f"exhibits.verdict.{line['verdict']}")


def exhibit(name: str, answer: Callable[[Results], Fields | str], *reads: str) -> Block:
    """Return an exhibit that answers with a sentence, or with the fields of its own sentence."""

    def make(results: Results) -> str | None:
        fields = answer(results)
        return TEXT(f"exhibits.{name}", **fields) if isinstance(fields, dict) else fields

    return Block(reads, make)


EXHIBITS = {
    name: exhibit(name, answer, *reads)
    for name, answer, *reads in (
        ("agency", _agency, RESOLVED),
        ("date", _date, RESOLVED),
        ("linking_variables", lambda study: _linking(study, "numeric", "date", "categorical"), RESOLVED),
        ("numeric_variables", lambda study: _linking(study, "numeric", "date"), RESOLVED),
        ("strata_variables", lambda study: _listed("names", study.strata_names), RESOLVED),
        ("key_variables", lambda study: _listed("names", study.table(VARIABLES)["variable"]), VARIABLES),
        ("sampling_fraction", _sampling_fraction, RESOLVED),
        ("records", lambda study: _compared(study, "n_puf"), "rates.csv"),
        ("risk_records", lambda study: {"records": some(round(quantity(study, "records")), "record")}, SUMMARY),
        ("intruder_file", lambda study: _compared(study, "n_eif"), "rates.csv"),
        ("smallest_stratum", _smallest_stratum, "strata/manifest.csv"),
        ("agreement", _agreement, "description/variables.csv"),
        ("true_links", _true_links, "rates.csv"),
        ("confirmed", _confirmed, "rates.csv"),
        ("conditional_rate", lambda study: _highest(study, "conditional_rate"), "rates.csv"),
        ("reach", _reach, "rates.csv"),
        ("surest", _surest, SUREST),
        ("clusters", _clusters, "clusters.csv"),
        ("protection", _protection, PROTECTION),
        ("uniques", _uniques, SUMMARY),
        ("k_anonymity", _k_anonymity, SUMMARY, CELLS, CONVENTIONS),
        ("risks", _risks, RISKS),
        ("diversity", _diversity, DIVERSITY),
        ("attributes", _attributes, "attribution/summary.csv"),
        ("riskiest_variables", _riskiest_variables, VARIABLES),
        ("dis", lambda study: _share(study, "dis"), SUMMARY),
        (
            "original_values",
            lambda study: _share(study, "dis_original") if study.model.risk.original else None,
            SUMMARY,
        ),
        ("matching", _matching, "matching/summary.csv"),
        ("warnings", _warnings, VERDICT),
        ("verdict", _verdict, VERDICT),
    )
}
"""Every exhibit by its name, as a file of questions names it."""
