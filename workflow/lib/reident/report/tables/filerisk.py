"""Risk of one file in words: uniques, DIS, SUDA, DIS-SUDA, and where it comes from (METHODS §7)."""

from __future__ import annotations

import pandas as pd

from reident.report.layout import Column, block, items, paragraphs, part, table
from reident.report.results import Results
from reident.report.wording import (
    UNDEFINED,
    count,
    declared,
    defined,
    escape,
    listed,
    number,
    percent,
    percents,
    some,
)
from reident.sections.filerisk import FileRisk

SUMMARY, DEFINITIONS, HAZARDS = "filerisk/summary.csv", "filerisk/definitions.csv", "filerisk/hazards.csv"
CELLS, SIZES, SCORES = "filerisk/cells.csv", "filerisk/sizes.csv", "filerisk/scores.csv"
VARIABLES, LEVELS, CLASSES = "filerisk/variables.csv", "filerisk/levels.csv", "filerisk/classes.csv"

NAMES = {"elliot-manning": "DIS-SUDA (Elliot–Manning)", "user-guide": "DIS-SUDA (user guide)"}
"""How texts name the definitions; never one for the other."""

CELL_CLASSES = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 99), (100, None))
MOST_LEVELS = 15
"""So many levels are shown, those that contribute most."""


def options(results: Results) -> FileRisk:
    """The section `file_risk` of the study."""
    return FileRisk.model_validate(results.study["file_risk"])


def stated(results: Results, name: str) -> str:
    """A quantity of the summary as it stands there; empty where it is not defined."""
    return dict(zip(results.table(SUMMARY)["quantity"], results.table(SUMMARY)["value"], strict=True))[name]


def quantity(results: Results, name: str) -> float:
    """A quantity of the summary; NaN where it is not defined."""
    text = stated(results, name)
    return float(text) if text else float("nan")


def unreached(results: Results) -> str:
    """Of the special form of DIS: what its rounds' limit left of the tolerance; empty where that was reached."""
    if stated(results, "dis_special_ended_by") != "rounds":
        return ""
    error = quantity(results, "dis_special_se")
    reached = f"its standard error is {percent(error)}" if defined(error) else "it has no standard error"
    return (
        f"the limit of {count(quantity(results, 'dis_special_rounds'))} rounds ended it before that was reached: "
        f"{reached}"
    )


def file_words(results: Results) -> str:
    """The file as texts call it."""
    side = options(results).side
    known = {"puf": "public use file", "eif": "external intruder file", "confidential": "confidential file"}
    return known.get(side, "file" if side == "survey" else side.replace("_", " file "))


@part(SUMMARY, DEFINITIONS)
def risk_findings(results: Results) -> str:
    """How many records stand alone, what a unique match is worth, whom it concerns; short beside an attack."""
    n, alone = quantity(results, "records"), quantity(results, "U")
    key = some(round(quantity(results, "key_variables")), "key variable")
    file = file_words(results)
    if not alone:
        unique = f"**Who stands alone.** No record of the {file} is alone with its combination of {key}."
        return block("findings", items([unique]))
    unique = (
        f"**Who stands alone.** {count(alone)} of {some(round(n), 'record')} of the {file} ({percent(alone / n)}) "
        f"are alone with their combination of {key}; {count(quantity(results, 'n_special'))} of them on fewer "
        "variables already."
    )
    if results.study["metrics"] or results.study["matching"]:
        return block("findings", items([_beside(results)]))
    return block("findings", items([unique, _worth(results), _whom(results)]))


def _beside(results: Results) -> str:
    """One sentence, where the front page has the findings of an attack too."""
    n, alone = quantity(results, "records"), quantity(results, "U")
    return (
        f"**The {file_words(results)} by itself.** {count(alone)} of {count(n)} records ({percent(alone / n)}) are "
        f"alone with their key; a unique match is right in {percent(quantity(results, 'dis'))} of the cases (DIS)."
    )


def _worth(results: Results) -> str:
    found = quantity(results, "dis")
    return (
        "**What a unique match is worth.** An intruder who knows the key of a person in the population and finds "
        f"exactly one record that matches would be right in {percent(found)} of the cases (DIS)."
    )


def _whom(results: Results) -> str:
    lines = results.table(DEFINITIONS).set_index("definition")
    chosen = options(results).dis_suda
    line = lines.loc[chosen]
    variables = results.table(VARIABLES).sort_values("contribution", ascending=False, kind="stable")
    most = [escape(name) for name in variables["variable"].head(2)]
    return (
        f"**Whom it concerns.** Shared among the records by {NAMES[chosen]} the risk of a record is "
        f"{percent(line['mean'])} on average over the unique ones and {percent(line['largest'])} at most. "
        f"What contributes most to it: {listed(most)}."
    )


@part(SUMMARY)
def risk_premise(results: Results) -> str:
    """What is looked at, and the words that the section uses."""
    own = options(results)
    names = [escape(variable) for variable in results.table(VARIABLES)["variable"]]
    source = (
        f"is declared: {declared(own.sampling_fraction)}"
        if own.sampling_fraction is not None
        else f"follows from the weights in `{escape(own.weight)}`: {percent(quantity(results, 'f'))}"
    )
    lost = quantity(results, "records_missing_a_value")
    missing = (
        f" {count(lost)} records miss a value of the key; they are in no cell of the whole key, and take part on the "
        "variables that they have."
        if lost
        else ""
    )
    return paragraphs(
        f"This section looks at the {file_words(results)} alone, without an intruder's file. The *key* is what an "
        f"intruder may know of a person: {listed(names)}. Records with the same values of the key form a *cell*; a "
        f"record that is alone in its cell is a *sample unique*.{missing}",
        f"The sampling fraction f {source}. The smaller it is, the more likely a record that is unique in the file has "
        "a twin in the population.",
    )


@part(SUMMARY, CELLS)
def risk_cells(results: Results) -> str:
    """k-anonymity, and the frequency of frequencies in classes."""
    classes = by_cell_class(results)
    n = quantity(results, "records")
    broken = [
        f"{count(quantity(results, f'violations_{k}_anonymity'))} records break {k}-anonymity"
        for k in (2, 3, 5)
    ]
    return paragraphs(
        f"{listed(broken)}: their cells have fewer than so many records.",
        table(
            f"Cells of the key by their size; `{CELLS}` has every size.",
            Column("Records in a cell", list(classes["label"]), "l", "1fr"),
            Column("Cells", [count(value) for value in classes["n_cells"]]),
            Column("Records", [count(value) for value in classes["n_records"]]),
            Column("Share of the file", percents(classes["n_records"] / n)),
        ),
    )


def by_cell_class(results: Results) -> pd.DataFrame:
    """The frequency of frequencies in classes: label, n_cells, n_records."""
    found, lines = results.table(CELLS), []
    for low, high in CELL_CLASSES:
        inside = found[(found["cell_size"] >= low) & (found["cell_size"] <= (high or float("inf")))]
        if high is None:
            label = f"{count(low)} and more"
        else:
            label = count(low) if low == high else f"{count(low)} – {count(high)}"
        lines.append((label, inside["n_cells"].sum(), inside["n_records"].sum()))
    table = pd.DataFrame(lines, columns=["label", "n_cells", "n_records"])
    used = table.index[table["n_cells"] > 0]
    return table[: int(used.max()) + 1 if len(used) else 1]


@part(SUMMARY)
def risk_dis(results: Results) -> str:
    """U, P, f and pr(cm|um) by both forms, and whether these agree."""

    def get(name: str) -> float:
        return quantity(results, name)

    general, special, error = get("dis"), get("dis_special"), get("dis_special_se")
    away, limited = get("dis_special_difference_in_se"), unreached(results)
    asked = declared(options(results).special.standard_error)
    rows = [
        ("U, sample uniques", count(get("U"))),
        ("P, records in cells of two", count(get("P"))),
        ("f, sampling fraction", percent(get("f"))),
        ("**pr(cm|um), general form**".replace("|", "\\|"), f"**{percent(general)}**"),
        ("pr(cm|um), special form".replace("|", "\\|"), percent(special)),
        ("its standard error", percent(error)),
        ("its rounds", count(get("dis_special_rounds"))),
        ("its unique matches", count(get("dis_special_unique_matches"))),
    ]
    return paragraphs(
        "**DIS** asks: if exactly one record matches a person, how probable is it the right one? The *general form* "
        "computes it from the uniques and the pairs, U·f / (U·f + P·(1 − f)). The *special form* tries: it removes "
        "some records at random, puts each back with probability f, and matches the removed ones against the rest.",
        table(
            "Probability of a correct match given a unique match, cm and um for short.",
            Column("Quantity", [row[0] for row in rows], "l", "1fr"),
            Column("Value", [row[1] for row in rows]),
        ),
        _agreement(general, special, away),
        *(
            [block("warning", f"**Special form.** A standard error of {asked} was asked for; {limited}.")]
            if limited
            else []
        ),
    )


def _agreement(general: float, special: float, away: float) -> str:
    if not defined(general):
        return block("note", f"{UNDEFINED} not defined: no record is unique or in a pair.")
    if not defined(special):
        return block("note", f"{UNDEFINED} not defined: no removed record matched uniquely.")
    if not defined(away):
        if special not in {0, 1}:
            return "The special form has no standard error, since all rounds had the same share of right matches."
        kind = "right" if special == 1 else "wrong"
        return f"They agree: whatever is removed from this file, every unique match is {kind}."
    verdict = "They agree" if abs(away) <= 3 else "They do not agree within chance"
    return (
        f"{verdict}: the special form is {abs(away):.1f} standard errors {'above' if away >= 0 else 'below'} the "
        "general one."
    )


@part(SUMMARY, SIZES)
def risk_suda(results: Results) -> str:
    """Minimal sample uniques by size, and special uniques."""
    sizes, own = results.table(SIZES), options(results)
    special, alone = quantity(results, "n_special"), quantity(results, "U")
    shown = sizes[sizes["n_msu"] > 0]
    said = (
        "**SUDA** looks for what makes a record unique: its *minimal sample uniques* (MSU), sets of variables on which "
        "it is alone and of which none can be left out. Few variables that suffice, and many such sets, make a record "
        "stand out; an MSU weighs the more the fewer variables it has."
    )
    share = f" ({percent(special / alone)})" if alone else ""
    specials = (
        f"{count(special)} of {some(round(alone), 'sample unique')}{share} are *special uniques*, unique on a part of "
        f"the key too; {count(quantity(results, 'n_random'))} are *random uniques*, which the whole key alone sets "
        f"apart. The highest score is {_score(quantity(results, 'max_suda'))}."
    )
    if shown.empty:
        return paragraphs(said, specials)
    return paragraphs(
        said,
        specials,
        table(
            f"Minimal sample uniques by their number of variables; weights `{own.weighting}`.",
            Column("Variables", [count(value) for value in shown["size"]]),
            Column("MSU", [count(value) for value in shown["n_msu"]]),
            Column("Records with one", [count(value) for value in shown["n_records"]]),
            Column("Weight of each", [_score(value) for value in shown["weight"]]),
        ),
    )


def _score(value: float) -> str:
    """A score or a weight: whole with the usual weighting, and large."""
    return count(value) if defined(value) and value == round(value) else number(value)


@part(DEFINITIONS)
def risk_definitions(results: Results) -> str:
    """Both definitions of DIS-SUDA, each with what it depends on."""
    lines = results.table(DEFINITIONS)
    names = [
        f"**{NAMES[name]}**{', chosen' if chosen else ''}"
        for name, chosen in zip(lines["definition"], lines["chosen"], strict=True)
    ]
    columns = [
        Column("Definition", names, "l", "1fr"),
        Column("U", [count(value) for value in lines["U"]]),
        Column("P", [count(value) for value in lines["P"]]),
        Column("f", [percent(value) for value in lines["f"]]),
        Column("Q", [number(value) for value in lines["Q"]]),
        Column("Sum", [number(round(value, 1)) for value in lines["sum"]]),
        Column("Mean of uniques", percents(lines["mean"])),
        Column("Largest", percents(lines["largest"])),
        Column("Records at 100 %", [count(value) for value in lines["n_one"]]),
    ]
    if lines["correlation"].notna().any():
        columns.append(Column("Correlation with truth", [f"{value:.3f}" for value in lines["correlation"]]))
    return paragraphs(
        "**DIS-SUDA** shares the risk of the file among its sample uniques by their SUDA scores. There are two "
        "definitions, which give different numbers. That of *Elliot and Manning* (2003) shares pr(cm\\|um)·U in "
        "proportion to the logarithm of the score, so that the shares add up to the risk of the file. That of the "
        "*user guide*, which sdcMicro prints, ranks records alike but does not share the risk of the file out.",
        table("DIS-SUDA by definition, with what it depends on.", *columns, kind="compact"),
    )


@part(HAZARDS)
def risk_hazards(results: Results) -> str | None:
    """What makes values of DIS-SUDA doubtful, set apart."""
    lines = results.table(HAZARDS)
    if lines.empty:
        return None
    said = []
    for hazard, own in lines.groupby("hazard", sort=False):
        names = [NAMES[name] for name in own["definition"]]
        about = "DIS-SUDA, both definitions" if len(names) == len(NAMES) else listed(names)
        said.append(f"**{about}.** {escape(hazard)}")
    return block("warning", *said)


@part(VARIABLES)
def risk_variables(results: Results) -> str:
    """Each key variable: levels, missing values, MSUs, contribution to the score."""
    found = results.table(VARIABLES).sort_values("contribution", ascending=False, kind="stable")
    n = quantity(results, "records")
    return paragraphs(
        "A variable's contribution is the share of the total SUDA score that is carried by the minimal sample uniques "
        "that contain it. Shares add up to more than 100 %, since an MSU counts for each of its variables.",
        table(
            "The key variables by their contribution.",
            Column("Variable", [f"**{escape(name)}**" for name in found["variable"]], "l", "1fr"),
            Column("Levels", [count(value) for value in found["n_levels"]]),
            Column("Missing", percents(found["n_missing"] / n)),
            Column("Unique on it alone", [count(value) for value in found["n_alone"]]),
            Column("MSU", [count(value) for value in found["n_msu"]]),
            Column("Contribution", percents(found["contribution"])),
        ),
    )


@part(LEVELS)
def risk_levels(results: Results) -> str | None:
    """The levels that contribute most."""
    found = results.table(LEVELS)
    found = found[found["n_msu"] > 0].sort_values("contribution", ascending=False, kind="stable")
    if found.empty or found["contribution"].isna().all():
        return None
    shown, n = found.head(MOST_LEVELS), quantity(results, "records")
    more = f"the {MOST_LEVELS} that contribute most; " if len(found) > MOST_LEVELS else ""
    return table(
        f"Levels of the key variables: {more}`{LEVELS}` has all.",
        Column("Variable", [escape(name) for name in shown["variable"]], "l", "1fr"),
        Column("Level", [escape(name) for name in shown["level"]], "l", "1fr"),
        Column("Records", [count(value) for value in shown["n_records"]]),
        Column("Share of the file", percents(shown["n_records"] / n)),
        Column("Contribution", percents(shown["contribution"])),
        kind="compact",
    )


def class_words(above: float, up_to: float) -> str:
    """A class of DIS-SUDA: ``0``, ``0 – 10 %``, ``100 %``."""
    if above == up_to:
        return declared(up_to) if up_to else "0"
    return f"{100 * above:.6g} – {declared(up_to)}"


def classes_of(results: Results) -> dict[str, pd.DataFrame]:
    """The classes of each definition, the index their words."""
    found = results.table(CLASSES)
    by_name = {}
    for name, own in found.groupby("definition", sort=False):
        words = [class_words(*ends) for ends in zip(own["above"], own["up_to"], strict=True)]
        by_name[str(name)] = own.assign(label=words).set_index("label")
    return by_name


@part(CLASSES, SUMMARY)
def risk_classes(results: Results) -> str:
    """Records by class of DIS-SUDA, both definitions beside each other."""
    found = classes_of(results)
    first, second = (found[name] for name in NAMES)
    used = (first["n"] > 0) | (second["n"] > 0)
    first, second = first[used], second[used]
    columns = [
        Column("DIS-SUDA", list(first.index), "l", "1fr"),
        *(
            Column(f"Records, {name}", [count(value) for value in own["n"]])
            for name, own in (("Elliot–Manning", first), ("user guide", second))
        ),
    ]
    return table(
        "Records by class of DIS-SUDA; a class holds its upper end. Records that are not unique have 0.",
        *columns,
    )
