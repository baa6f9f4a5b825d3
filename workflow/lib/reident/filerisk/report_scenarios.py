"""Several keys at once: the risk by an intruder's knowledge, and the diversity of targets (METHODS §7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from reident.filerisk.report import file_name
from reident.page import style
from reident.page.columns import columns
from reident.page.common import in_order, keys_in_words, limit_line, top_of
from reident.page.layout import ReportColumn, block, items, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure, Sheet
from reident.page.terms import some
from reident.page.wording import (
    bold_cells,
    count,
    count_cells,
    defined,
    escape,
    fixed,
    fixed_cells,
    label_cells,
    listed,
    percent,
    shorten,
    span,
    without_repeats,
    without_unit,
)

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("filerisk_scenarios")
SCENARIOS, DIVERSITY = "filerisk/scenarios.csv", "filerisk/diversity.csv"
SET_VARIABLES = "filerisk/set_variables.csv"
MAX_SETS = 10
"""The table of sets shows at most this number of each size, those with the largest share of uniques."""


def named(results: Results) -> pd.DataFrame:
    """Return the scenarios of the study, in its order."""
    lines = results.table(SCENARIOS)
    return lines[lines["scenario"].fillna("") != ""]


def all_sets(results: Results) -> pd.DataFrame:
    """Return the sets of `key_sets`, by size, those with the largest share of sample uniques first."""
    lines = results.table(SCENARIOS)
    lines = lines[lines["scenario"].fillna("") == ""]
    order = ["size", "unique_share", "below_3", "below_5", "smallest", "keys"]
    return lines.sort_values(order, ascending=[True, False, False, False, True, True], kind="stable")


@block(SCENARIOS, SET_VARIABLES)
def scenarios_findings(results: Results) -> str:
    """Introduce the keys; name the scenario and set with most uniques, and the variable that adds most."""
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
    """Name each intruder with its known variables, and the study's description of it."""
    texts = []
    for scenario in results.model.risk.scenarios:
        keys = listed(label_cells(scenario.known))
        text = TEXT("scenarios.intruder", intruder=escape(scenario.name), known=keys)
        about = scenario.description
        texts.append(f"{text} {escape(about, len(about))}" if about else text)
    return texts


def _highest(lines: pd.DataFrame, kind: str, column: str) -> str:
    """Name the line with the largest share of sample uniques, or say that none has a unique."""
    if not lines["n_unique"].any():
        return TEXT(f"{kind}.highest.none", n=len(lines))
    line = lines.loc[lines["unique_share"].idxmax()]
    name = escape(line[column]) if column == "scenario" else keys_in_words(line[column])
    return TEXT(
        f"{kind}.highest.text",
        n=len(lines),
        name=name,
        share=percent(line["unique_share"]),
        unique=count(line["n_unique"]),
        records=some(int(line["n_compared"]), "record"),
    )


def _most_added(results: Results) -> str | None:
    """Name the variable that adds most sample uniques to the sets without it."""
    lines = results.table(SET_VARIABLES)
    if not lines["n_unique"].any() or len(lines) < 2:
        return None
    line = lines.loc[lines["added_share"].idxmax()]
    return TEXT("sets.added", variable=escape(line["variable"]), share=_points(line["added_share"]))


def _points(share: float) -> str:
    return fixed(100 * share, 1).replace("-", "\u2212")


@block(SCENARIOS)
def scenarios_cells(results: Results) -> str | None:
    """Show the cells that each scenario makes."""
    lines = named(results)
    if lines.empty:
        return None
    return table(
        TEXT("cells.caption"),
        *columns(lines, TEXT, "scenario:bold@1.4fr", group="columns"),
        *_cells(lines),
        kind="compact",
    )


def _cells(lines: pd.DataFrame) -> list[ReportColumn]:
    compared = columns(lines, TEXT, "n_compared", group="columns")
    ends = zip(lines["dis_low"], lines["dis_high"], strict=True)
    lines = lines.assign(dis_interval=[without_unit(span(*pair)) for pair in ends])
    return [
        *([] if (lines["n_compared"] == lines["n_records"]).all() else compared),
        *columns(lines, TEXT, "smallest n_unique unique_share below_3 below_5 dis", group="columns"),
        *columns(lines, TEXT, "dis_interval:cell@1.2fr", group="columns"),
    ]


@block(SCENARIOS)
def scenarios_matches(results: Results) -> str | None:
    """Show how many records each scenario would re-identify, beside the truth where the population is known."""
    lines = named(results)
    if lines.empty:
        return None
    names = ["expected_matches", "global_risk", "households", "true_uniques", "true_matches", "true_risk"]
    measures = [name for name in names if lines[name].notna().any()]
    texts = {name: fixed_cells(lines[name].astype(float), int(name != "true_uniques")) for name in measures}
    return table(
        TEXT("matches.caption_truth" if "true_risk" in measures else "matches.caption"),
        ReportColumn(TEXT("columns.scenario"), bold_cells(lines["scenario"]), "l", "1.4fr"),
        *(ReportColumn(TEXT(f"columns.{name}"), cells) for name, cells in texts.items()),
        kind="compact",
    )


@block(SCENARIOS)
def scenarios_sets(results: Results) -> str | None:
    """Show the sets of each size that make most records unique."""
    sets = all_sets(results)
    if sets.empty:
        return None
    top_sets = pd.concat([lines.head(MAX_SETS) for _, lines in sets.groupby("size")])
    return table(
        TEXT("sets.caption", shown=MAX_SETS, table=SCENARIOS),
        ReportColumn(TEXT("columns.size"), without_repeats(count_cells(top_sets["size"]))),
        ReportColumn(TEXT("columns.keys"), [keys_in_words(keys) for keys in top_sets["keys"]], "l", "2.4fr"),
        *_cells(top_sets),
        kind="compact",
    )


@block(SET_VARIABLES)
def scenarios_variables(results: Results) -> str | None:
    """Show the uniques that each variable adds to the sets without it."""
    lines = results.table(SET_VARIABLES)
    if lines.empty:
        return None
    lines = lines.sort_values("added_share", ascending=False, kind="stable")
    counts = zip(lines["n_with_unique"], lines["n_sets"], strict=True)
    lines = lines.assign(
        n_with_unique=[TEXT("variables.of", n=count(n), total=count(total)) for n, total in counts],
        added_share=[_points(share) for share in lines["added_share"]],
    )
    return table(
        TEXT("variables.caption"),
        *columns(lines, HEADING, "variable:bold@1.4fr"),
        *columns(lines, TEXT, "n_with_unique:cell n_unique unique_share", group="variables.columns"),
        *columns(lines, TEXT, "added_share:cell", group="variables.columns"),
        kind="compact",
    )


@block(DIVERSITY)
def scenarios_diversity(results: Results) -> str | None:
    """Show how diverse each sensitive variable is, for the scenarios, or for the worst set of each size."""
    lines = results.table(DIVERSITY)
    if lines.empty:
        return None
    lines, by = _worst_diversity(lines)
    names = lines["scenario"].map(escape) if by == "scenario" else lines["keys"].map(keys_in_words)
    told = [
        TEXT("diversity.told", n=count(row.n_one_value), shared=count(row.n_shared_value)) for row in lines.itertuples()
    ]
    cells = lines.assign(target=bold_cells(lines["target"]), n_one_value=told)
    return paragraphs(
        f"{TEXT('diversity.text')} {_distances(lines)}",
        table(
            TEXT(f"diversity.caption.{by}", table=DIVERSITY),
            *columns(cells, TEXT, "target:once@1fr", group="columns"),
            ReportColumn(TEXT(f"columns.{by}"), list(names), "l", "1.6fr"),
            *columns(cells, TEXT, "distinct_l:count n_one_value:cell one_value_share", group="columns"),
            *(ReportColumn(TEXT(f"columns.{name}"), fixed_cells(lines[name], 2)) for name in MEASURES),
            kind="compact",
        ),
    )


def _distances(lines: pd.DataFrame) -> str:
    """Say how far values are apart for t-closeness, of each variable."""
    texts = []
    for distance, own in lines.groupby("distance", sort=False):
        names = listed(label_cells(own["target"].drop_duplicates()))
        texts.append(TEXT(f"diversity.distance.{distance}", variables=names))
    return " ".join(texts)


MEASURES = ("entropy_l", "recursive_2", "t")
"""The measures of diversity that are no counts."""


def _worst_diversity(lines: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the lines of the scenarios by target; without scenarios those of the worst set of each size."""
    is_named = lines["scenario"].fillna("") != ""
    if is_named.any():
        selection, by = lines[is_named], "scenario"
    else:
        order = lines.sort_values("one_value_share", ascending=False, kind="stable")
        selection, by = order.groupby(["target", "size"], sort=False).head(1), "keys"
        selection = selection.sort_values("size", kind="stable")
    return in_order(selection, "target", lines["target"]), by


BETWEEN, BESIDE = 1.0, 0.62
"""Distances between the rows of two sizes, and between the rows of two scenarios of one size."""

INCHES = 0.3
"""Height of a distance of 1."""


@block(SCENARIOS)
def scenarios_uniques_figure(results: Results) -> Figure | None:
    """Draw the share of sample uniques of every set and scenario, by number of variables; scenarios have names."""
    sets, scenarios = all_sets(results), named(results)
    every = pd.concat([sets, scenarios])
    if not every["unique_share"].notna().any():
        return None
    size_rows, scenario_rows, end = _rows(sets, scenarios)
    limit = results.decision.get("unique_share_at_most")
    limit = None if isinstance(limit, dict) else limit
    top = top_of([1.02 * float(every["unique_share"].max())], limit)

    def draw(sheet: Sheet) -> None:
        axes = sheet.panels[0]
        rows = [size_rows[int(size)] for size in sets["size"]]
        alpha = 0.9 if len(sets) <= 60 else 0.45  # many ticks overlap: darker where there are more
        axes.plot(sets["unique_share"], rows, "|", alpha=alpha, **style.TICK)
        axes.plot([], [], "|", label=TEXT("figure.set"), **style.TICK)
        names = [shorten(name, 22 if sheet.narrow else 40) for name in scenarios["scenario"]]
        look = style.full(4.8, clip_on=False)
        axes.plot(scenarios["unique_share"], scenario_rows, "o", label=TEXT("figure.scenario"), **look)
        for name, *at in zip(names, scenarios["unique_share"], scenario_rows, strict=True):
            if defined(at[0]):
                offset = (-6 if at[0] > 0.5 * top else 6, 0)
                style.name_beside(axes, name, tuple(at), offset, fontsize=7, va="center")
        style.percent_axis(axes, top)
        limit_line(axes, limit)
        axes.set_yticks(list(size_rows.values()), [some(size, "variable") for size in size_rows])
        axes.set_ylim(end, -0.6)
        axes.tick_params(axis="y", labelsize=7.5)
        if len(sets) and len(scenarios):
            sheet.key()

    kinds = [name for name, lines in (("sets", sets), ("scenarios", scenarios)) if len(lines)]
    return style.figure(
        draw,
        height=0.75 + INCHES * (end + 0.6),
        alt=_alt(sets, scenarios),
        caption=" ".join(TEXT(f"figure.caption.{name}") for name in ("start", *kinds)),
    )


def _rows(sets: pd.DataFrame, scenarios: pd.DataFrame) -> tuple[dict[int, float], list[float], float]:
    """Return the row of each size, that of each scenario, and the end of the last one.

    A scenario is below the sets of its size, or in the row of the size where there is no set.
    """
    sizes, by_scenario, at = {}, [0.0] * len(scenarios), 0.0
    counts = sets["size"].value_counts()
    for size in sorted({*sets["size"], *scenarios["size"]}):
        sizes[int(size)] = at
        below = at if size not in counts else at + BESIDE
        for place in [at for at, n_keys in enumerate(scenarios["size"]) if n_keys == size]:
            by_scenario[place] = below
            below += BESIDE
        at = max(at, below - BESIDE) + BETWEEN
    return sizes, by_scenario, at - 0.4


def _alt(sets: pd.DataFrame, scenarios: pd.DataFrame) -> str:
    texts = [
        TEXT(
            "figure.alt.size",
            variables=some(int(size), "variable"),
            sets=some(len(lines), "set"),
            lowest=percent(lines["unique_share"].min()),
            highest=percent(lines["unique_share"].max()),
            keys=keys_in_words(lines["keys"].iloc[0]),
        )
        for size, lines in sets.groupby("size")
    ]
    texts += [
        TEXT("figure.alt.scenario", scenario=str(row.scenario), share=percent(row.unique_share))
        for row in scenarios.itertuples()
    ]
    return TEXT("figure.alt.start", texts="; ".join(texts))
