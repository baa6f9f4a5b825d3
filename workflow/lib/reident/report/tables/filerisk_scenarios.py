"""Several keys at once: the risk of the file by what an intruder knows, and how diverse targets are (METHODS §7.5)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from reident.report.layout import Column, items, paragraphs, part, table
from reident.report.nouns import some
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.tables.common import without_repeats
from reident.report.tables.filerisk import declaration, file_name
from reident.report.wording import (
    UNDEFINED,
    count,
    defined,
    escape,
    fixed,
    listed,
    percent,
    rates,
)

SCENARIOS, DIVERSITY = "filerisk/scenarios.csv", "filerisk/diversity.csv"
SET_VARIABLES = "filerisk/set_variables.csv"
MAX_SETS = 10
"""The table of sets shows at most this number of each size, those with the largest share of uniques."""

TEXT = Sentences("filerisk_scenarios")
HEADING = Sentences("headings")


def named(results: Results) -> pd.DataFrame:
    """Return the scenarios of the study, in its order."""
    lines = results.table(SCENARIOS)
    return lines[lines["scenario"].fillna("") != ""]


def all_sets(results: Results) -> pd.DataFrame:
    """Return the sets of `key_sets`, by size, those with the largest share of sample uniques first."""
    lines = results.table(SCENARIOS)
    lines = lines[lines["scenario"].fillna("") == ""]
    first = {
        "size": True,
        "unique_share": False,
        "below_3": False,
        "below_5": False,
        "smallest": True,
        "keys": True,
    }
    return lines.sort_values([*first], ascending=[*first.values()], kind="stable")


def in_words(keys: str) -> str:
    """Return a set of key variables as a list in words."""
    return listed([escape(name) for name in keys.split(" + ")])


@part(SCENARIOS, SET_VARIABLES)
def scenarios_findings(results: Results) -> str:
    """Say what is compared, which scenario and set make most records unique, and which variable adds most."""
    scenarios, sets = named(results), all_sets(results)
    texts = [TEXT("premise", file=file_name(results))]
    if len(scenarios):
        texts.append(items(_intruders(results)))
        texts.append(_highest(scenarios, "scenarios", "scenario"))
    if len(sets):
        fields = {"sets": some(len(sets), "set"), "size": some(int(sets["size"].max()), "variable")}
        about = [TEXT("sets.text", **fields), _highest(sets, "sets", "keys"), _most_added(results)]
        texts.append(" ".join(filter(None, about)))
    return paragraphs(*texts)


def _intruders(results: Results) -> list[str]:
    """Name each intruder with what it knows, and what the study says about it."""
    texts = []
    for scenario in declaration(results).scenarios:
        known = listed([escape(name) for name in scenario.known])
        text = TEXT("scenarios.intruder", intruder=escape(scenario.name), known=known)
        about = scenario.description
        texts.append(f"{text} {escape(about, len(about))}" if about else text)
    return texts


def _highest(lines: pd.DataFrame, kind: str, column: str) -> str:
    """Say which line has the largest share of sample uniques, or that none has a unique."""
    if not lines["n_unique"].any():
        return TEXT(f"{kind}.highest.none", n=len(lines))
    line = lines.loc[lines["unique_share"].idxmax()]
    name = escape(line[column]) if column == "scenario" else in_words(line[column])
    return TEXT(
        f"{kind}.highest.text",
        n=len(lines),
        name=name,
        share=percent(line["unique_share"]),
        unique=count(line["n_unique"]),
        records=some(int(line["n_compared"]), "record"),
    )


def _most_added(results: Results) -> str | None:
    """Say which variable adds most sample uniques to the sets without it."""
    lines = results.table(SET_VARIABLES)
    if not lines["n_unique"].any() or len(lines) < 2:
        return None
    line = lines.loc[lines["added_share"].idxmax()]
    return TEXT("sets.added", variable=escape(line["variable"]), share=_points(line["added_share"]))


def _points(share: float) -> str:
    """Return a difference of shares in percentage points."""
    return fixed(100 * share, 1).replace("-", "\u2212") if defined(share) else UNDEFINED


@part(SCENARIOS)
def scenarios_cells(results: Results) -> str | None:
    """Show the cells that each scenario makes."""
    lines = named(results)
    if lines.empty:
        return None
    return table(
        TEXT("cells.caption"),
        Column(TEXT("columns.scenario"), [f"**{escape(name)}**" for name in lines["scenario"]], "l", "1.4fr"),
        *_cells(lines),
        kind="compact",
        name="scenarios-cells",
    )


def _cells(lines: pd.DataFrame) -> list[Column]:
    """Return the columns of uniques and small cells."""
    columns = [] if (lines["n_compared"] == lines["n_records"]).all() else [_counts(lines, "n_compared")]
    return [
        *columns,
        _counts(lines, "smallest"),
        _counts(lines, "n_unique"),
        Column(TEXT("columns.unique_share"), rates(lines["unique_share"])),
        _counts(lines, "below_3"),
        _counts(lines, "below_5"),
        Column(TEXT("columns.dis"), rates(lines["dis"])),
    ]


def _counts(lines: pd.DataFrame, column: str) -> Column:
    values = [count(value) if pd.notna(value) else UNDEFINED for value in lines[column]]
    return Column(TEXT(f"columns.{column}"), values)


@part(SCENARIOS)
def scenarios_matches(results: Results) -> str | None:
    """Show how many records each scenario would re-identify, beside the truth where the population is known."""
    lines = named(results)
    if lines.empty:
        return None
    wanted = ["expected_matches", "global_risk", "households", "true_uniques", "true_matches", "true_risk"]
    given = [name for name in wanted if lines[name].notna().any()]
    places = {"true_uniques": 0}
    return table(
        TEXT("matches.caption_truth" if "true_risk" in given else "matches.caption"),
        Column(TEXT("columns.scenario"), [f"**{escape(name)}**" for name in lines["scenario"]], "l", "1.4fr"),
        *(
            Column(TEXT(f"columns.{name}"), [fixed(value, places.get(name, 1)) for value in lines[name].astype(float)])
            for name in given
        ),
        kind="compact",
    )  # fmt: skip


@part(SCENARIOS)
def scenarios_sets(results: Results) -> str | None:
    """Show the sets of each size that make most records unique."""
    sets = all_sets(results)
    if sets.empty:
        return None
    shown = pd.concat([lines.head(MAX_SETS) for _, lines in sets.groupby("size")])
    return table(
        TEXT("sets.caption", shown=MAX_SETS, table=SCENARIOS),
        Column(TEXT("columns.size"), without_repeats([count(size) for size in shown["size"]])),
        Column(TEXT("columns.keys"), [in_words(keys) for keys in shown["keys"]], "l", "2.4fr"),
        *_cells(shown),
        kind="compact",
    )


@part(SET_VARIABLES)
def scenarios_variables(results: Results) -> str | None:
    """Show what each variable adds to the sets without it."""
    lines = results.table(SET_VARIABLES)
    if lines.empty:
        return None
    lines = lines.sort_values("added_share", ascending=False, kind="stable")
    with_unique = [
        TEXT("variables.of", n=count(row.n_with_unique), total=count(row.n_sets))
        for row in lines.itertuples()
    ]
    return table(
        TEXT("variables.caption"),
        Column(HEADING("variable"), [f"**{escape(name)}**" for name in lines["variable"]], "l", "1.4fr"),
        Column(TEXT("variables.columns.n_with_unique"), with_unique),
        Column(TEXT("variables.columns.n_unique"), [count(n) for n in lines["n_unique"]]),
        Column(TEXT("variables.columns.unique_share"), rates(lines["unique_share"])),
        Column(TEXT("variables.columns.added_share"), [_points(share) for share in lines["added_share"]]),
        kind="compact",
    )


@part(DIVERSITY)
def scenarios_diversity(results: Results) -> str | None:
    """Show how diverse each sensitive variable is, for the scenarios, or for the worst set of each size."""
    lines = results.table(DIVERSITY)
    if lines.empty:
        return None
    lines, by = _worst_diversity(lines)
    first = {
        "scenario": [escape(name) for name in lines["scenario"]],
        "keys": [in_words(keys) for keys in lines["keys"]],
    }
    targets = without_repeats([f"**{escape(name)}**" for name in lines["target"]])
    fewest = [count(n) if pd.notna(n) else UNDEFINED for n in lines["distinct_l"]]
    told = [
        TEXT("diversity.told", n=count(row.n_one_value), shared=count(row.n_shared_value))
        for row in lines.itertuples()
    ]
    measures = ("entropy_l", "recursive_2", "t")
    return paragraphs(
        TEXT("diversity.text"),
        table(
            TEXT(f"diversity.caption.{by}", table=DIVERSITY),
            Column(TEXT("columns.target"), targets, "l", "1fr"),
            Column(TEXT(f"columns.{by}"), first[by], "l", "1.6fr"),
            Column(TEXT("columns.distinct_l"), fewest),
            Column(TEXT("columns.n_one_value"), told),
            Column(TEXT("columns.one_value_share"), rates(lines["one_value_share"])),
            *(Column(TEXT(f"columns.{name}"), _decimals(lines[name])) for name in measures),
            kind="compact",
        ),
    )


def _worst_diversity(lines: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the lines of the scenarios by target; without scenarios those of the worst set of each size."""
    is_named = lines["scenario"].fillna("") != ""
    if is_named.any():
        own, by = lines[is_named], "scenario"
    else:
        order = lines.sort_values("one_value_share", ascending=False, kind="stable")
        own, by = (
            order.groupby(["target", "size"], sort=False).head(1).sort_values("size", kind="stable"),
            "keys",
        )
    place = {target: at for at, target in enumerate(dict.fromkeys(lines["target"]))}
    return own.sort_values("target", key=lambda names: names.map(place), kind="stable"), by


def _decimals(values: Sequence[float]) -> list[str]:
    return [fixed(value, 2) if defined(value) else UNDEFINED for value in values]
