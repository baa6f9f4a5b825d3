"""Risk of one file on its own: sample uniques, DIS, SUDA, DIS-SUDA, and which variables cause it (METHODS §7)."""

from __future__ import annotations

import pandas as pd

from reident.report.layout import Column, block, items, paragraphs, part, table
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.tables.common import size_class
from reident.report.wording import (
    count,
    declared,
    defined,
    escape,
    listed,
    number,
    percent,
    rates,
    some,
)
from reident.sections.filerisk import FileRisk

SUMMARY, DEFINITIONS, HAZARDS = "filerisk/summary.csv", "filerisk/definitions.csv", "filerisk/hazards.csv"
CELLS, SIZES, SCORES = "filerisk/cells.csv", "filerisk/sizes.csv", "filerisk/scores.csv"
VARIABLES, LEVELS, CLASSES = "filerisk/variables.csv", "filerisk/levels.csv", "filerisk/classes.csv"

SHORT_NAMES = {"elliot-manning": "Elliot–Manning", "user-guide": "user guide"}
NAMES = {definition: f"DIS-SUDA ({name})" for definition, name in SHORT_NAMES.items()}
"""The definitions of DIS-SUDA in the text. The bare name DIS-SUDA never stands for one of them."""

CELL_CLASSES = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 99), (100, None))
MAX_LEVELS = 15
"""The table of levels shows at most this number, those that contribute most."""

MAX_CHANCE = 3
"""A difference between the two forms of DIS of more standard errors than this is not explained by chance."""

TEXT = Sentences("filerisk")
HEADING = Sentences("headings")


def declaration(results: Results) -> FileRisk:
    """Return the section `file_risk` of the study."""
    return FileRisk.model_validate(results.study["file_risk"])


def summary_value(results: Results, name: str) -> str:
    """Return a quantity of the summary as text, empty where it is not defined."""
    return results.table(SUMMARY).set_index("quantity").at[name, "value"]


def quantity(results: Results, name: str) -> float:
    """Return a quantity of the summary, NaN where it is not defined."""
    return float(summary_value(results, name) or "nan")


def share_of_unique(results: Results) -> float:
    """Return the sample uniques as a share of the records."""
    return quantity(results, "U") / quantity(results, "records")


def unreached(results: Results) -> str | None:
    """Return how far the special form of DIS is from its target if the limit of rounds ended it."""
    if summary_value(results, "dis_special_ended_by") != "rounds":
        return None
    error, rounds = quantity(results, "dis_special_se"), count(quantity(results, "dis_special_rounds"))
    if not defined(error):
        return TEXT("dis.outcome.no_error", rounds=rounds)
    return TEXT("dis.outcome.error", rounds=rounds, error=percent(error))


def file_name(results: Results) -> str:
    """Return the file as the text names it."""
    side, _, at = declaration(results).side.partition("_")
    return TEXT(f"file.{side}", number=at) if at else TEXT(f"file.{side}")


@part(SUMMARY, DEFINITIONS)
def risk_findings(results: Results) -> str:
    """Report the uniques, the worth of a unique match and the risk per record; briefly beside an attack."""
    unique, file = round(quantity(results, "U")), file_name(results)
    variables = some(round(quantity(results, "key_variables")), "key variable")
    records, share = some(round(quantity(results, "records")), "record"), percent(share_of_unique(results))
    dis = percent(quantity(results, "dis"))
    first = TEXT("findings.unique", n=unique, records=records, file=file, share=share, variables=variables)
    if not unique:
        return block("findings", items([first]))
    if results.study["metrics"] or results.study["matching"]:
        brief = TEXT(
            "findings.beside_attack", file=file, unique=unique, records=records, share=share, dis=dis
        )
        return block("findings", items([brief]))
    special = TEXT("findings.special", n=round(quantity(results, "n_special")))
    return block(
        "findings", items([f"{first} {special}", TEXT("findings.match", dis=dis), _per_record(results)])
    )


def _per_record(results: Results) -> str:
    selected = declaration(results).dis_suda
    line = results.table(DEFINITIONS).set_index("definition").loc[selected]
    return TEXT(
        "findings.record",
        mean=percent(line["mean"]),
        highest=percent(line["largest"]),
        definition=NAMES[selected],
        variables=listed([escape(name) for name in by_contribution(results)["variable"].head(2)]),
    )


@part(SUMMARY)
def risk_premise(results: Results) -> str:
    """Introduce the key, its cells and the sampling fraction."""
    risk, lost = declaration(results), round(quantity(results, "records_missing_a_value"))
    variables = listed([escape(variable) for variable in results.table(VARIABLES)["variable"]])
    key = TEXT("premise.key", file=file_name(results), variables=variables)
    if risk.sampling_fraction is not None:
        fraction = TEXT("premise.fraction_declared", fraction=declared(risk.sampling_fraction))
    else:
        estimate = percent(quantity(results, "f"))
        fraction = TEXT("premise.fraction_weights", fraction=estimate, weight=escape(risk.weight))
    return paragraphs(
        f"{key} {TEXT('premise.missing', n=lost)}" if lost else key,
        f"{fraction} {TEXT('premise.fraction_meaning')}",
    )


@part(SUMMARY, CELLS)
def risk_cells(results: Results) -> str:
    """Report k-anonymity, and the cells by size."""
    classes = cells_by_class(results)
    violations = {
        name: count(quantity(results, f"violations_{k}_anonymity"))
        for name, k in (("two", 2), ("three", 3), ("five", 5))
    }
    return paragraphs(
        TEXT("cells.anonymity", **violations),
        table(
            TEXT("cells.caption", file=CELLS),
            Column(TEXT("cells.columns.size"), list(classes["label"]), "l", "1.5fr"),
            Column(TEXT("cells.columns.cells"), [count(value) for value in classes["n_cells"]], "r", "1fr"),
            Column(
                TEXT("cells.columns.records"), [count(value) for value in classes["n_records"]], "r", "1fr"
            ),
            Column(
                TEXT("cells.columns.share"),
                rates(classes["n_records"] / quantity(results, "records")),
                "r",
                "1fr",
            ),
        ),
    )


def cells_by_class(results: Results) -> pd.DataFrame:
    """Return the classes of cell sizes up to the last that occurs: low, high, label, n_cells, n_records."""
    cells, lines = results.table(CELLS), []
    for low, high in CELL_CLASSES:
        inside = cells[cells["cell_size"].between(low, high or float("inf"))]
        lines.append((low, high, size_class(low, high), inside["n_cells"].sum(), inside["n_records"].sum()))
    classes = pd.DataFrame(lines, columns=["low", "high", "label", "n_cells", "n_records"])
    occurring = classes.index[classes["n_cells"] > 0]
    return classes[: int(occurring.max()) + 1 if len(occurring) else 1]


@part(SUMMARY)
def risk_dis(results: Results) -> str:
    """Report U, P, f and pr(cm|um) by both forms, and whether the two forms agree."""
    rows = {
        "unique": count(quantity(results, "U")),
        "pairs": count(quantity(results, "P")),
        "fraction": percent(quantity(results, "f")),
        "general": f"**{percent(quantity(results, 'dis'))}**",
        "special": percent(quantity(results, "dis_special")),
        "error": percent(quantity(results, "dis_special_se")),
        "rounds": count(quantity(results, "dis_special_rounds")),
        "matches": count(quantity(results, "dis_special_unique_matches")),
    }
    target, outcome = declared(declaration(results).special.standard_error), unreached(results)
    return paragraphs(
        TEXT("dis.text"),
        table(
            TEXT("dis.caption"),
            Column(TEXT("dis.columns.quantity"), [TEXT(f"dis.rows.{row}") for row in rows], "l", "1fr"),
            Column(TEXT("dis.columns.value"), list(rows.values())),
        ),
        _agreement(results),
        outcome and block("warning", TEXT("dis.unreached", target=target, outcome=outcome)),
    )


def _agreement(results: Results) -> str:
    """Say whether the two forms of DIS agree, or why that cannot be said."""
    special, errors = quantity(results, "dis_special"), quantity(results, "dis_special_difference_in_se")
    if not defined(quantity(results, "dis")):
        return block("note", TEXT("dis.agreement.no_general"))
    if not defined(special):
        return block("note", TEXT("dis.agreement.no_special"))
    if not defined(errors):
        certain = {1.0: "all_correct", 0.0: "all_wrong"}
        return TEXT(f"dis.agreement.{certain.get(special, 'no_error')}")
    direction = "above" if errors >= 0 else "below"
    key = direction if abs(errors) <= MAX_CHANCE else f"far_{direction}"
    return TEXT(f"dis.agreement.{key}", errors=f"{abs(errors):.1f}")


@part(SUMMARY, SIZES)
def risk_suda(results: Results) -> str:
    """Report special uniques, and minimal sample uniques by size."""
    sizes = results.table(SIZES)
    sizes = sizes[sizes["n_msu"] > 0]
    return paragraphs(
        TEXT("suda.text"),
        f"{_special_uniques(results)} {TEXT('suda.highest', score=_score(quantity(results, 'max_suda')))}",
        None
        if sizes.empty
        else table(
            TEXT("suda.caption", weighting=declaration(results).weighting),
            Column(TEXT("suda.columns.size"), [count(value) for value in sizes["size"]], "l"),
            Column(TEXT("suda.columns.msus"), [count(value) for value in sizes["n_msu"]]),
            Column(TEXT("suda.columns.records"), [count(value) for value in sizes["n_records"]]),
            Column(TEXT("suda.columns.weight"), [_score(value) for value in sizes["weight"]]),
        ),
    )


def _special_uniques(results: Results) -> str:
    unique, special = round(quantity(results, "U")), round(quantity(results, "n_special"))
    if not unique:
        return TEXT("suda.no_unique")
    uniques = some(unique, "sample unique")
    first = TEXT("suda.special", n=special, uniques=uniques, share=percent(special / unique))
    return f"{first} {TEXT('suda.random', n=round(quantity(results, 'n_random')))}"


def _score(value: float) -> str:
    """Return a score or a weight, without decimals where it is whole, as with the weights `elliot`."""
    return count(value) if defined(value) and value == round(value) else number(value)


@part(DEFINITIONS)
def risk_definitions(results: Results) -> str:
    """Compare the two definitions of DIS-SUDA, each with the quantities on which it depends."""
    lines = results.table(DEFINITIONS)
    names = [f"**{NAMES[definition]}**" for definition in lines["definition"]]
    names = [
        TEXT("definitions.selected", definition=name) if chosen else name
        for name, chosen in zip(names, lines["chosen"], strict=True)
    ]
    columns = [
        Column(HEADING("definition"), names, "l", "2.2fr"),
        Column(HEADING("uniques"), [count(value) for value in lines["U"]], "r", "0.9fr"),
        Column(HEADING("pairs"), [count(value) for value in lines["P"]], "r", "0.9fr"),
        Column(TEXT("definitions.columns.fraction"), rates(lines["f"]), "r", "0.7fr"),
        Column("Q", [number(value) for value in lines["Q"]], "r", "0.7fr"),
        Column(
            TEXT("definitions.columns.sum"), [number(round(value, 1)) for value in lines["sum"]], "r", "1fr"
        ),
        Column(TEXT("definitions.columns.mean"), rates(lines["mean"]), "r", "1fr"),
        Column(TEXT("definitions.columns.highest"), rates(lines["largest"]), "r", "1fr"),
        Column(TEXT("definitions.columns.at_one"), [count(value) for value in lines["n_one"]], "r", "1fr"),
    ]
    if lines["correlation"].notna().any():
        correlation = [f"{value:.3f}" for value in lines["correlation"]]
        columns.append(Column(TEXT("definitions.columns.correlation"), correlation, "r", "1.3fr"))
    return paragraphs(TEXT("definitions.text"), table(TEXT("definitions.caption"), *columns, kind="compact"))


@part(HAZARDS)
def risk_hazards(results: Results) -> str | None:
    """Warn of what makes values of DIS-SUDA doubtful."""
    lines = results.table(HAZARDS)
    if lines.empty:
        return None
    warnings = []
    for hazard, group in lines.groupby("hazard", sort=False):
        names = [NAMES[definition] for definition in group["definition"]]
        definitions = TEXT("hazards.both") if len(names) == len(NAMES) else listed(names)
        warnings.append(TEXT("hazards.line", definitions=definitions, hazard=escape(hazard)))
    return block("warning", *warnings)


def by_contribution(results: Results, name: str = VARIABLES) -> pd.DataFrame:
    """Return the key variables, or their levels, with the highest contribution to the SUDA score first."""
    return results.table(name).sort_values("contribution", ascending=False, kind="stable")


@part(VARIABLES)
def risk_variables(results: Results) -> str:
    """Show the levels, missing values, MSUs and contribution of each key variable."""
    lines = by_contribution(results)
    return paragraphs(
        TEXT("variables.text"),
        table(
            TEXT("variables.caption"),
            Column(
                HEADING("variable"),
                [f"**{escape(name)}**" for name in lines["variable"]],
                "l",
                "1fr",
            ),
            Column(TEXT("variables.columns.levels"), [count(value) for value in lines["n_levels"]]),
            Column(
                TEXT("variables.columns.missing"), rates(lines["n_missing"] / quantity(results, "records"))
            ),
            Column(TEXT("variables.columns.alone"), [count(value) for value in lines["n_alone"]]),
            Column(TEXT("variables.columns.msus"), [count(value) for value in lines["n_msu"]]),
            Column(TEXT("variables.columns.contribution"), rates(lines["contribution"])),
        ),
    )


@part(LEVELS)
def risk_levels(results: Results) -> str | None:
    """Show the levels of key variables that contribute most, or nothing without an MSU."""
    lines = by_contribution(results, LEVELS)
    lines = lines[lines["n_msu"] > 0]
    if lines.empty or lines["contribution"].isna().all():
        return None
    first = lines.head(MAX_LEVELS)
    caption = (
        TEXT("levels.caption_all", file=LEVELS)
        if len(first) == len(lines)
        else TEXT("levels.caption_first", shown=MAX_LEVELS, file=LEVELS)
    )
    return table(
        caption,
        Column(HEADING("variable"), [escape(name) for name in first["variable"]], "l", "1fr"),
        Column(TEXT("levels.columns.level"), [escape(name) for name in first["level"]], "l", "1fr"),
        Column(TEXT("cells.columns.records"), [count(value) for value in first["n_records"]]),
        Column(TEXT("cells.columns.share"), rates(first["n_records"] / quantity(results, "records"))),
        Column(TEXT("variables.columns.contribution"), rates(first["contribution"])),
        kind="compact",
    )


def class_label(above: float, up_to: float) -> str:
    """Return a class of DIS-SUDA in words: ``0``, ``0 – 10 %``, ``100 %``."""
    if above == up_to:
        return declared(up_to) if up_to else "0"
    return f"{100 * above:.6g} – {declared(up_to)}"


def classes_by_definition(results: Results, name: str = CLASSES) -> dict[str, pd.DataFrame]:
    """Return the classes of each definition, with `label` as the index."""
    lines = results.table(name)
    lines = lines.assign(
        label=[class_label(*ends) for ends in zip(lines["above"], lines["up_to"], strict=True)]
    )
    return {definition: lines[lines["definition"] == definition].set_index("label") for definition in NAMES}


def occurring_classes(results: Results, name: str) -> dict[str, pd.DataFrame]:
    """Return the classes of each definition without those that are empty by every definition."""
    classes = classes_by_definition(results, name)
    occurring = pd.concat([lines["n"] for lines in classes.values()], axis=1).any(axis=1)
    return {definition: lines[occurring] for definition, lines in classes.items()}


@part(CLASSES, SUMMARY)
def risk_classes(results: Results) -> str:
    """Show records by class of DIS-SUDA, by both definitions."""
    classes = occurring_classes(results, CLASSES)
    columns = [
        Column(
            TEXT("classes.columns.records", definition=SHORT_NAMES[definition]),
            [count(value) for value in lines["n"]],
            "r",
            "1fr",
        )
        for definition, lines in classes.items()
    ]
    labels = list(classes["user-guide"].index)
    return table(TEXT("classes.caption"), Column(TEXT("classes.columns.class"), labels, "l", "1fr"), *columns)
