"""Risk of one file on its own: sample uniques, cells, and which variables cause it (METHODS §7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from reident.filerisk.limits import is_of_units
from reident.filerisk.report_thresholds import is_unsure_by_values, judged_value, limit_of_units, limit_text
from reident.filerisk.settings import BELOW, UNITS
from reident.intake.keys import MISSING_LABEL
from reident.intake.severity import INVALIDATES
from reident.language import messages
from reident.linkage.bins import bin_ends
from reident.outcomes import BREAKS, FILE, LIMITS, NONE, RESERVED, UNBREAKABLE, UNKNOWN, UNSURE, VERDICT, undecided
from reident.page.columns import columns
from reident.page.common import reserved, size_class, verdict_on
from reident.page.layout import ReportColumn, block, box, items, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.terms import some
from reident.page.wording import (
    apart,
    bold_cells,
    count,
    declared,
    defined,
    digits,
    escape,
    label_cells,
    listed,
    percent,
    span,
)

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("filerisk")
SUMMARY, DEFINITIONS, HAZARDS = "filerisk/summary.csv", "filerisk/definitions.csv", "filerisk/hazards.csv"
CELLS, SIZES = "filerisk/cells.csv", "filerisk/sizes.csv"
VARIABLES, LEVELS, CLASSES = "filerisk/variables.csv", "filerisk/levels.csv", "filerisk/classes.csv"
COARSER, CONVENTIONS = "filerisk/coarser.csv", "filerisk/conventions.csv"
CELL_CLASSES = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 99), (100, None))
MAX_LEVELS = 15
"""The table of levels shows at most this number, those that contribute most."""


def short_name(definition: str) -> str:
    """Return the source of a definition of DIS-SUDA."""
    return TEXT(f"definitions.names.{definition}")


def name_of(definition: str) -> str:
    """Return the name of a definition; the bare name DIS-SUDA never stands for one of them."""
    return f"DIS-SUDA ({short_name(definition)})"


def summary_value(results: Results, name: str) -> str:
    """Return a quantity of the summary as text, empty where it is not defined."""
    return results.table(SUMMARY).set_index("quantity").at[name, "value"]


def quantity(results: Results, name: str) -> float:
    """Return a quantity of the summary, NaN where it is not defined."""
    return float(summary_value(results, name) or "nan")


def is_wildcard(results: Results) -> bool:
    """Return whether a missing value matches every value, so that there are no cells; without one there are."""
    return results.model.risk.missing == "wildcard" and quantity(results, "records_missing_a_value") > 0


def by_excluded(results: Results, text: str) -> str:
    """Return a text about SUDA with the convention that it follows where the file has another one."""
    return f"{text} {TEXT('suda.excluded')}" if is_wildcard(results) else text


def interval(results: Results) -> str:
    """Return the interval of DIS for its sampling error."""
    return span(quantity(results, "dis_low"), quantity(results, "dis_high"))


def unreached(results: Results, name: str = "dis_special") -> str | None:
    """Return how far a special form of DIS is from its target if the limit of rounds ended it."""
    if summary_value(results, f"{name}_ended_by") != "rounds":
        return None
    error, rounds = quantity(results, f"{name}_se"), count(quantity(results, f"{name}_rounds"))
    if not defined(error):
        return TEXT("dis.outcome.no_error", rounds=rounds)
    return TEXT("dis.outcome.error", rounds=rounds, error=percent(error))


def file_name(results: Results) -> str:
    """Return the file as the text names it."""
    side, _, at = results.model.risk.side.partition("_")
    return TEXT(f"file.{side}", number=at) if at else TEXT(f"file.{side}")


def is_alone(results: Results) -> bool:
    """Return whether the study is about the risk of one file alone, to which its brief is then given."""
    return results.has(SUMMARY) and not (results.study["metrics"] or results.study["matching"])


def n_complete(results: Results) -> int:
    """Return the records that have a value of every key variable, or where missing is a category, all records."""
    if results.model.risk.missing == "category":
        return round(quantity(results, "records"))
    return round(quantity(results, "records") - quantity(results, "records_missing_a_value"))


def alone_by_values(results: Results, k: int = 2) -> int:
    """Return the records that fewer than k records match, whatever a missing value means: the most of conventions."""
    lines = results.table(CONVENTIONS).set_index("convention")[f"below_{k}"]
    return int(lines[["wildcard", results.model.risk.missing]].max())


def coverage(results: Results) -> str:
    """Say how many of the records have all key values, and for how many people the file stands."""
    records, complete = round(quantity(results, "records")), n_complete(results)
    people, origin = records / quantity(results, "f"), "weights" if results.model.risk.weight else "fraction"
    texts = [] if complete == records else [TEXT("coverage.complete", n=complete, others=records - complete)]
    if round(people) != records:
        texts.append(TEXT(f"coverage.{origin}", people=some(round(people), "person")))
    return " ".join(texts)


@block(SUMMARY, CELLS, LIMITS, VERDICT)
def risk_overall(results: Results) -> str | None:
    """Give the verdict on the file on its own, where the study sets a limit for it; a table has the limits."""
    limits, kind = results.limits(FILE), results.verdict(FILE)
    reason, fields = _reason(results, limits)
    if is_alone(results) and len(limits) and kind != UNKNOWN:
        return box(f"reason {kind}", TEXT(f"verdict.{kind}"), " ".join(_counted(results, limits, kind)))
    return verdict_on(results, FILE, TEXT, reason, _limits, **fields)


def _counted(results: Results, limits: pd.DataFrame, kind: str) -> Iterator[str]:
    """Yield how many limits are broken, met and not decided; a table beside has the limits."""
    open_, total = (limits["outcome"] == NONE) | undecided(limits), len(limits)
    broken, idle = limits["outcome"] == BREAKS, limits["outcome"] == UNBREAKABLE
    counts = {"broken": broken, "met": ~(open_ | broken | idle), "undecided": open_, "unbreakable": idle}
    for name, lines in counts.items():
        if lines.any():
            yield (
                TEXT(f"verdict.n_{name}", n=int(lines.sum()), total=total) if total > 1 else TEXT(f"verdict.one_{name}")
            )
    if kind == RESERVED:
        by_values = sum(map(is_unsure_by_values, limits.itertuples()))
        yield from filter(None, [TEXT("verdict.n_values", n=by_values) if by_values else "", reserved(results, FILE)])


def _reason(results: Results, lines: pd.DataFrame) -> tuple[str, dict[str, str]]:
    """Return why there is no verdict, where there is none: a sentence and its fields."""
    warned = results.warnings
    if (warned.loc[warned["about"] == FILE, "severity"] == INVALIDATES).any():
        return "no_cell", {}
    unsure, by_dis = undecided(lines), (lines["limit"] == "dis_at_most") & (lines["metric"] != UNITS)
    if (unsure & by_dis).any():
        return "unsure", {"interval": interval(results)}
    if not quantity(results, "records_in_cells") and lines["value"].isna().all():
        return "no_cell", {}
    if by_dis.all() and lines["value"].isna().all():
        return "no_dis", {}
    return "not_judged", {"limits": listed(_limits(results, lines[unsure | (lines["outcome"] == NONE)]))}


def _limits(results: Results, limits: pd.DataFrame) -> list[str]:
    return [_limit(results, row) for row in limits.itertuples()]


def _limit(results: Results, row: Any) -> str:
    if is_of_units(row):
        return limit_of_units(results, row)
    if row.limit in ("dis_at_most", "unique_share_at_most"):
        shares = {"value": apart(row.value, row.bound)[0], "limit": declared(row.bound)}
        if row.limit == "dis_at_most":
            if row.outcome == UNSURE:
                return TEXT("verdict.limit.dis_unsure", interval=interval(results), **shares)
            return TEXT("verdict.limit.dis", **shares)
        return TEXT("verdict.limit.scenario", scenario=escape(row.metric), **shares)
    if row.limit != "k_anonymity_at_least":
        return limit_text(results, row)
    cells, allowed = results.table(CELLS), results.decision.get("records_below_k_at_most") or 0
    below = cells.loc[cells["cell_size"] < row.bound, "n_records"].sum() / max(cells["n_records"].sum(), 1)
    below = max(below, judged_value(results, BELOW, ""))
    fields = {"k": round(row.bound), "smallest": some(round(row.value), "record"), "share": percent(below)}
    if allowed:
        return TEXT("verdict.limit.share_below_k", **fields, limit=declared(allowed))
    return TEXT("verdict.limit.k", **fields)


def unique_records(results: Results) -> str:
    """Return the sentences on the records that are unique, and on those that are by what is left of their values."""
    unique, complete, total = round(quantity(results, "U")), n_complete(results), round(quantity(results, "records"))
    if is_wildcard(results):
        complete = total
    fields = {
        "records": some(complete, "record"),
        "which": "" if complete == total else f" {TEXT('findings.which')}",
        "file": file_name(results),
        "share": percent(unique / complete if complete else float("nan")),
        "variables": some(round(quantity(results, "key_variables")), "key_variable"),
    }
    texts = [TEXT("findings.unique", n=unique, **fields)] if complete else []
    if quantity(results, "records_missing_a_value"):
        n = int(results.table(CONVENTIONS).set_index("convention").at["wildcard", "below_2"])
        texts.append(TEXT("findings.left", n=n, records=some(total, "record")))
    return " ".join(texts)


@block(SUMMARY, DEFINITIONS)
def risk_findings(results: Results) -> str | None:
    """Report the uniques and the worth of a unique match; briefly beside an attack."""
    unique, file = round(quantity(results, "U")), file_name(results)
    sampled, no_pair = quantity(results, "f_cells") < 1, ""
    estimate = TEXT("findings.estimate")
    if sampled:
        estimate = TEXT("findings.estimate_interval", interval=interval(results))
    reliability = {"dis": percent(quantity(results, "dis")), "estimate": estimate}
    if sampled and not quantity(results, "P_complete"):
        no_pair, reliability = "_no_pair", {"interval": interval(results)}
    if not unique:
        return None if is_alone(results) else box("findings", items([unique_records(results)]))
    if not is_alone(results):
        total, complete = round(quantity(results, "records")), n_complete(results)
        fields = {"file": file, "records": some(complete, "record"), "share": percent(unique / complete), **reliability}
        fields |= {"which": "" if complete == total else f" {TEXT('findings.which')}"}
        brief = TEXT(f"findings.beside_attack{no_pair}", unique=unique, **fields)
        differs = "beside_metrics" if results.study["metrics"] else "beside_matching"
        return box("findings", items([f"{brief} {TEXT(f'findings.{differs}')}"]))
    match = TEXT(f"findings.match{no_pair}", **reliability)
    if results.model.risk.population is not None and quantity(results, "uniques_in_population"):
        truth, low, high = (quantity(results, name) for name in ("true_match_probability", "dis_low", "dis_high"))
        kind = "true_match_outside" if truth < low or truth > high else "true_match"
        match += f" {TEXT(f'findings.{kind}', truth=percent(truth))}"
    return box("findings", items(filter(None, [match, _true_risk(results)])))


def _true_risk(results: Results) -> str | None:
    """Return the true risk of the unique records, or None where none is known to be in the population."""
    if results.model.risk.population is None or not quantity(results, "uniques_in_population"):
        return None
    return TEXT(
        "findings.truth",
        n=round(quantity(results, "population_uniques")),
        found=count(quantity(results, "uniques_in_population")),
        reciprocal=percent(quantity(results, "mean_reciprocal")),
    )


@block(SUMMARY)
def risk_premise(results: Results) -> str:
    """Introduce the key, its cells and the sampling fraction."""
    risk, lost = results.model.risk, round(quantity(results, "records_missing_a_value"))
    variables = listed(label_cells(results.table(VARIABLES)["variable"]))
    key = TEXT("premise.key", file=file_name(results), variables=variables)
    if risk.sampling_fraction is not None:
        fraction = TEXT("premise.fraction_declared", fraction=declared(risk.sampling_fraction))
    else:
        estimate = percent(quantity(results, "f"))
        fraction = TEXT("premise.fraction_weights", fraction=estimate, weight=escape(risk.weight))
    about = TEXT("premise.wildcard", n=lost) if is_wildcard(results) else TEXT("premise.missing", n=lost)
    inside = quantity(results, "records_in_cells") / quantity(results, "records")
    of_cells = percent(quantity(results, "f_cells"))
    return paragraphs(
        f"{key} {about}" if lost else key,
        f"{fraction} {TEXT('premise.fraction_meaning')}",
        TEXT("premise.fraction_cells", share=percent(inside), fraction=of_cells) if 0 < inside < 1 else None,
    )


@block(SUMMARY, CELLS)
def risk_cells(results: Results) -> str:
    """Report k-anonymity, and the cells by size."""
    classes = cells_by_class(results)
    violations = {
        name: count(quantity(results, f"violations_{k}_anonymity"))
        for name, k in (("two", 2), ("three", 3), ("five", 5))
    }
    classes = classes.assign(share=classes["n_records"] / quantity(results, "records"))
    record_columns = columns(classes, TEXT, "records=n_records share", "1fr", group="cells.columns")
    labels = list(classes["label"])
    if is_wildcard(results):
        text, caption = (TEXT("cells.anonymity_wildcard", **violations), TEXT("cells.caption_wildcard", file=CELLS))
        first = [ReportColumn(TEXT("cells.columns.matches"), labels, "l", "1.5fr")]
    else:
        text, caption = TEXT("cells.anonymity", **violations), TEXT("cells.caption", file=CELLS)
        first = [ReportColumn(TEXT("cells.columns.size"), labels, "l", "1.5fr")]
        first += columns(classes, TEXT, "cells=n_cells", "1fr", group="cells.columns")
    return paragraphs(text, table(caption, *first, *record_columns))


def cells_by_class(results: Results) -> pd.DataFrame:
    """Return the classes of cell sizes up to the last that occurs: low, high, label, n_cells, n_records."""
    cells, lines = results.table(CELLS), []
    for low, high in CELL_CLASSES:
        inside = cells[cells["cell_size"].between(low, high or float("inf"))]
        lines.append((low, high, size_class(low, high), inside["n_cells"].sum(), inside["n_records"].sum()))
    classes = pd.DataFrame(lines, columns=["low", "high", "label", "n_cells", "n_records"])
    occurring = classes.index[classes["n_records"] > 0]
    return classes[: int(occurring.max()) + 1 if len(occurring) else 1]


def by_contribution(results: Results, name: str = VARIABLES) -> pd.DataFrame:
    """Return the key variables, or their levels, with the highest contribution to the SUDA score first."""
    return results.table(name).sort_values("contribution", ascending=False, kind="stable")


@block(VARIABLES)
def risk_variables(results: Results) -> str:
    """Show the levels, missing values, MSUs and contribution of each key variable."""
    lines = by_contribution(results)
    lines = lines.assign(missing=lines["n_missing"] / quantity(results, "records"))
    return paragraphs(
        TEXT("variables.text"),
        table(
            by_excluded(results, TEXT("variables.caption")),
            ReportColumn(HEADING("variable"), bold_cells(lines["variable"]), "l", "1fr"),
            *columns(lines, TEXT, "levels=n_levels missing", group="variables.columns"),
            *columns(lines, TEXT, "alone=n_alone msus=n_msu contribution", group="variables.columns"),
        ),
    )


@block(LEVELS)
def risk_levels(results: Results) -> str | None:
    """Show the levels of key variables that contribute most, or nothing without an MSU."""
    lines = by_contribution(results, LEVELS)
    lines = lines[lines["n_msu"] > 0]
    if lines.empty or lines["contribution"].isna().all():
        return None
    first, caption = lines.head(MAX_LEVELS), TEXT("levels.caption_all", file=LEVELS)
    if len(first) < len(lines):
        caption = TEXT("levels.caption_first", shown=MAX_LEVELS, file=LEVELS)
    first = first.assign(share=first["n_records"] / quantity(results, "records"))
    levels = [escape(level_label(results, row.variable, row.level)) for row in first.itertuples()]
    return table(
        by_excluded(results, caption),
        ReportColumn(HEADING("variable"), label_cells(first["variable"]), "l", "1fr"),
        ReportColumn(TEXT("levels.columns.level"), levels, "l", "1fr"),
        *columns(first, TEXT, "records=n_records share", group="cells.columns"),
        *columns(first, TEXT, "contribution", group="variables.columns"),
        kind="compact",
    )


def numeric_variables(results: Results) -> set[str]:
    """Return the names of the numeric key variables; those of a PUF or an EIF may be linking variables."""
    risk = results.model.risk
    names = {variable.name for variable in risk.key_variables if variable.is_numeric}
    if risk.side in ("puf", "eif"):
        names |= {
            variable["name"] for variable in results.study["linking_variables"] if variable["type"] != "categorical"
        }
    return names


def level_label(results: Results, variable: str, level: str) -> str:
    """Return the label that the report shows for a level of a key variable: its label, or the name of its bin."""
    label = results.label(variable, level)
    binned = level == MISSING_LABEL or variable in numeric_variables(results)
    return bin_in_words(label) if label == level and binned else label


def bin_in_words(label: str) -> str:
    """Return the label of a bin of a numeric variable, or of missing values, in the language of the report."""
    low, high = map(digits, bin_ends(label))
    if low and high:
        return messages.TEXT("bins.between", low=low, high=high)
    if low or high:
        return messages.TEXT("bins.highest", low=low) if low else messages.TEXT("bins.lowest", high=high)
    return messages.TEXT("bins.missing") if label == MISSING_LABEL else label
