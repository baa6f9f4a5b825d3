"""Risk of one file beside its population; choices, warnings and the row account (METHODS §7)."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from reident.report.layout import Column, block, paragraphs, part, table
from reident.report.results import Results
from reident.report.tables.choices import Choice, table_of
from reident.report.tables.filerisk import CLASSES, NAMES, SUMMARY, class_words, options, quantity, unreached
from reident.report.wording import UNDEFINED, count, declared, escape, percent, percents, some

BY_SAMPLE, BY_CLASS, BY_TENTH = "filerisk/by_sample.csv", "filerisk/by_class.csv", "filerisk/by_tenth.csv"
ACCOUNT, WARNINGS, CATEGORIES = "filerisk/account.csv", "filerisk/warnings.csv", "filerisk/categories.csv"


@part(SUMMARY, CLASSES)
def risk_population(results: Results) -> str | None:
    """What the uniques of the file are in the population."""
    own = options(results)
    if own.population is None:
        return None

    def get(name: str) -> float:
        return quantity(results, name)

    found, alone = get("uniques_in_population"), get("population_uniques")
    known = f"The population of {some(round(get('population_records')), 'record')} is known"
    if not found:
        return f"{known}, but no sample unique of the file has a cell there whose size would tell the truth."
    return paragraphs(
        f"{known}, so that the truth can be told. {count(found)} of the {count(get('U'))} sample uniques have a cell "
        f"there; {count(alone)} of these are alone in the population too.",
        f"For the file DIS says {percent(get('dis'))}. The truth is {percent(get('true_match_probability'))}: the "
        "uniques, divided by the persons of the population in their cells. The *mean reciprocal* of these cells is "
        f"{percent(get('mean_reciprocal'))}: the probability of being right of an intruder who asks about a unique "
        "record of the file, rather than about a person who happens to match one. It is never lower, since persons in "
        "large cells match often and mostly wrongly.",
    )


@part(BY_SAMPLE)
def risk_samples(results: Results) -> str:
    """DIS and correlations over the samples."""
    lines = results.table(BY_SAMPLE)
    rows: list[tuple[str, pd.Series, Callable[[float], str]]] = [
        ("Records", lines["n"], count),
        ("U, sample uniques", lines["uniques"], count),
        ("P, records in cells of two", lines["in_pairs"], count),
        ("**pr(cm\\|um), DIS, general form**", lines["dis"], percent),
        ("pr(cm\\|um), truth", lines["match_probability"], percent),
        ("Mean reciprocal of the uniques", lines["mean_reciprocal"], percent),
        *(
            (f"Correlation of {NAMES[name]} with the reciprocal", lines[f"correlation {name}"], _three)
            for name in NAMES
        ),
    ]
    fraction = options(results).study_fraction
    drawn = f"{some(len(lines), 'sample')} of {declared(fraction or 0)}"
    said = f"{drawn} {'was' if len(lines) == 1 else 'were'} drawn from the population{_strata(results)}."
    if not lines["uniques"].any():
        said += (
            " No record of any of them is alone with its key, so that there is no unique match whose probability of "
            "being correct could be told."
        )
    return paragraphs(
        said,
        table(
            "The samples: mean, standard deviation and range over them.",
            Column("Quantity", [row[0] for row in rows], "l", "1fr"),
            Column("Mean", [shown(values.mean()) for _, values, shown in rows]),
            Column(
                "Std. dev.",
                [shown(values.std()) if len(values) > 1 else UNDEFINED for _, values, shown in rows],
            ),
            Column("Lowest", [shown(values.min()) for _, values, shown in rows]),
            Column("Highest", [shown(values.max()) for _, values, shown in rows]),
        ),
    )


def _three(value: float) -> str:
    return f"{value:.3f}" if value == value else UNDEFINED


def _strata(results: Results) -> str:
    own = options(results).population
    names = (own.numerical_study.strata or ()) if own and own.numerical_study else ()
    return (
        f", the fraction from every group of {' and '.join(escape(name) for name in names)}" if names else ""
    )


@part(BY_CLASS)
def risk_by_class(results: Results) -> str | None:
    """The paper's Table 3 for both definitions: mean reciprocal by class of DIS-SUDA; nothing without a record."""
    found = results.table(BY_CLASS)
    own = {name: found[found["definition"] == name].reset_index(drop=True) for name in NAMES}
    used = (own["elliot-manning"]["n"] > 0) | (own["user-guide"]["n"] > 0)
    if not used.any():
        return None
    columns = [
        Column(
            "DIS-SUDA",
            [
                class_words(*ends)
                for ends in zip(*(own["user-guide"][used][e] for e in ("above", "up_to")), strict=True)
            ],
            "l",
            "1fr",
        )
    ]
    for name, short in (("elliot-manning", "Elliot–Manning"), ("user-guide", "user guide")):
        lines = own[name][used]
        columns += [
            Column(f"Records, {short}", [count(value) for value in lines["n"]]),
            Column("mean reciprocal", percents(lines["mean_reciprocal"])),
            Column("pr(cm\\|um)", percents(lines["match_probability"])),
        ]
    return table(
        "Records of all samples by class of DIS-SUDA, and what they are in the population: the mean reciprocal of "
        "their cells, and the probability that a unique match with them is correct.",
        *columns,
        kind="compact",
    )


@part(BY_SAMPLE, BY_CLASS, BY_TENTH)
def risk_claims(results: Results) -> str | None:
    """What the source claims, and what came out; nothing without a sample unique."""
    lines, tenths = results.table(BY_SAMPLE), results.table(BY_TENTH)
    own = tenths[(tenths["definition"] == "elliot-manning") & (tenths["n"] > 0)]
    if own.empty:
        return None
    classes = results.table(BY_CLASS)
    ones = classes[(classes["definition"] == "elliot-manning") & (classes["above"] == 1)].iloc[0]
    near = abs(lines["dis"].mean() - lines["match_probability"].mean())
    rows = [
        (
            "DIS estimates the probability that a unique match is correct",
            (
                f"{percent(lines['dis'].mean())} on average, the truth {percent(lines['match_probability'].mean())}: "
                f"{100 * near:.1f} percentage points apart"
            ),
        ),
        (
            "The mean of the reciprocals is effectively what DIS estimates",
            (
                f"that mean is {percent(lines['mean_reciprocal'].mean())}; DIS estimates the uniques divided by the "
                "persons in their cells"
            ),
        ),
        (
            "DIS-SUDA and the matching probability are clearly related",
            (
                f"correlation {_three(lines['correlation elliot-manning'].mean())}; over tenths of the uniques by "
                f"DIS-SUDA the mean reciprocal goes {_ends(own, 'mean_reciprocal')}"
            ),
        ),
        (
            "A DIS-SUDA of one is highly predictive of population uniques",
            f"{count(ones['n'])} records have it; the mean of their reciprocals is {percent(ones['mean_reciprocal'])}"
            if ones["n"]
            else "no record of any sample reaches one",
        ),
        (
            "DIS-SUDA is an accurate probability of the record",
            (
                f"its values go {_ends(own, 'mean_dis_suda')} over the tenths, the probability of a correct match "
                f"{_ends(own, 'match_probability')}"
            ),
        ),
    ]
    return table(
        "What Elliot and Manning (2003) claim, on 1991 census records, and what came out here; DIS-SUDA is theirs.",
        Column("Claim", [row[0] for row in rows], "l", "1fr"),
        Column("Came out", [row[1] for row in rows], "l", "1.3fr"),
    )


def _ends(lines: pd.DataFrame, column: str) -> str:
    """``from a to b``, the first and the last of a column."""
    return f"from {percent(lines[column].iloc[0])} to {percent(lines[column].iloc[-1])}"


@part(SUMMARY)
def risk_choices(results: Results) -> str:
    """What the sources leave open, and the option in force."""
    own, n_keys = options(results), round(quantity(results, "key_variables"))
    excluded = own.missing == "excluded"
    found = [
        Choice("File risk: P", "records in cells of size two, not such cells", UNDEFINED, "§7"),
        Choice(
            "File risk: missing value",
            "a record takes no part in sets with a variable that it misses"
            if excluded
            else "is a category of its own",
            "`category`" if excluded else "`excluded`",
            "§7",
        ),
        Choice(
            "File risk: f",
            "1 divided by the mean weight" if own.weight else "declared",
            "`sampling_fraction`" if own.weight else "`weight`",
            "§7",
        ),
        Choice(
            "DIS, special form",
            f"1 % of the records removed in a round, rounds until the standard error is at most "
            f"{declared(own.special.standard_error)}, seed {own.special.seed}"
            + (f"; {limited}" if (limited := unreached(results)) else ""),
            "`special`",
            "§7",
        ),
        Choice(
            "SUDA: largest MSU",
            "every size"
            if own.max_order is None or own.max_order >= n_keys
            else f"{own.max_order} variables",
            "`max_order`",
            "§7",
        ),
        Choice(
            "SUDA: weights",
            f"`{own.weighting}`",
            "`normalised`" if own.weighting == "elliot" else "`elliot`",
            "§7",
        ),
        Choice(
            "DIS-SUDA: definition",
            f"`{own.dis_suda}` is `dis_suda` of the records; the other stands beside it",
            "`user-guide`" if own.dis_suda == "elliot-manning" else "`elliot-manning`",
            "§7",
        ),
    ]
    return table_of(found)


@part(WARNINGS)
def risk_warnings(results: Results) -> str | None:
    """What reading the files found that a reader should be wary of, set apart."""
    lines = results.table(WARNINGS)["warning"]
    return block("warning", *(f"**Files.** {escape(line)}" for line in lines)) if len(lines) else None


@part(ACCOUNT)
def risk_account(results: Results) -> str:
    """The row account of the file and its population."""
    lines = results.table(ACCOUNT)
    shown = lines[(lines["rows"] > 0) | lines["cause"].isin(["in", "used"])].reset_index(drop=True)
    words = {"in": "rows in", "used": "**rows used**"}
    new = shown["file"] != shown["file"].shift()
    return table(
        "Row account of the file whose risk is measured: rows in are rows used and rows left out.",
        Column(
            "File",
            [
                escape(file).capitalize() if first else ""
                for file, first in zip(shown["file"], new, strict=True)
            ],
            "l",
        ),
        Column(
            "", [words.get(cause) or "left out: " + escape(cause) for cause in shown["cause"]], "l", "1fr"
        ),
        Column("Rows", [count(rows) for rows in shown["rows"]]),
        kind="compact",
    )


@part(CATEGORIES)
def risk_bins(results: Results) -> str | None:
    """The bins of numeric key variables."""
    numeric = _numeric(results)
    found = results.table(CATEGORIES)
    found = found[found["variable"].isin(numeric)]
    if found.empty:
        return None
    lines = [
        (
            escape(name),
            " · ".join(escape(label) for label in own["label"]),
            " · ".join(count(value) for value in own["n_file"]),
        )
        for name, own in found.groupby("variable", sort=False)
    ]
    names, labels, counts = zip(*lines, strict=True)
    return table(
        "Bins of the numeric key variables, cut at the quantiles of the whole file, and their records.",
        Column("Variable", names, "l"),
        Column("Bins", labels, "l", "1fr"),
        Column("Records", counts, "l"),
        kind="compact",
    )


def _numeric(results: Results) -> set[str]:
    own, linking = options(results), results.study["linking_variables"]
    declared_names = (
        {v["name"] for v in linking if v["type"] == "numeric"} if own.side in ("puf", "eif") else set()
    )
    bare = {v.name for v in own.key_variables if v.type == "categorical" and v.name not in declared_names}
    return (declared_names | {v.name for v in own.key_variables if v.type == "numeric"}) - bare


def tenths_of(results: Results) -> dict[str, pd.DataFrame]:
    """The tenths of each definition."""
    found = results.table(BY_TENTH)
    return {name: found[(found["definition"] == name) & (found["n"] > 0)] for name in NAMES}
