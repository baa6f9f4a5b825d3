"""Matching-based risk by an intruder's knowledge and by number of matches; choices and row account (METHODS §8)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from reident.matching.report import (
    CONFIDENTIAL,
    DISTRIBUTION,
    MEAN,
    SCENARIOS,
    SUMMARY,
    by_intruder,
    decimals,
    decimals_of,
    first_intruder,
    known_variables,
    listed_intruders,
    short_name,
    synthetic_files,
)
from reident.matching.report_summaries import summary_columns, summary_limits
from reident.page import style
from reident.page.choices import choices_of, table_of
from reident.page.columns import columns
from reident.page.common import limit_line, row_account, size_class, size_tick, top_of
from reident.page.layout import ReportColumn, block, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure, Sheet
from reident.page.terms import some
from reident.page.wording import (
    UNDEFINED,
    count,
    count_cells,
    escape,
    fixed,
    listed,
    percent,
    shorten,
    without_repeats,
    word,
)

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("matching")
ACCOUNT = "matching/account.csv"
MAX_SETS = 5
"""The table of all sets shows at most this number of each size, those with the highest risk."""


@block(SCENARIOS, DISTRIBUTION)
def matching_scenarios(results: Results) -> str | None:
    """Compare the listed intruders, or show nothing if there is only one."""
    intruders = listed_intruders(results)
    if len(intruders) < 2:
        return None
    mean = by_intruder(results, MEAN).loc[intruders]
    confidential = by_intruder(results, CONFIDENTIAL).loc[intruders, "expected_match_risk"]
    highest = str(mean["danger"].idxmin())
    names = [escape(short_name(intruder)) for intruder in intruders]
    keys = [known_variables(variables) for variables in mean["known"]]
    fields = {"intruder": escape(short_name(highest)), "number": word(len(intruders))}
    return paragraphs(
        TEXT("scenarios.text", **fields, risk=decimals(mean.at[highest, "expected_match_risk"])),
        table(
            TEXT("scenarios.caption"),
            ReportColumn(TEXT("verdict.columns.intruder"), [f"**{name}**" for name in names], "l", "1.3fr"),
            ReportColumn(TEXT("scenarios.columns.knows"), keys, "l", "2.4fr"),
            *summary_columns(mean, "1.1fr", "0.9fr"),
            ReportColumn(TEXT("scenarios.columns.confidential"), decimals_of(confidential), "r", "1.3fr"),
        ),
    )


def all_sets(results: Results) -> pd.DataFrame:
    """Return the sets of an exhaustive search with their mean summaries, those with the highest risk first.

    The column `rank` is 1 for the set with the highest risk.
    """
    lines = by_intruder(results, MEAN)
    lines = lines[~lines["listed"]]
    return lines.assign(rank=lines["danger"].rank().astype(int)).sort_values("rank")


@block(SCENARIOS)
def matching_subsets(results: Results) -> str | None:
    """Show the sets of known variables with the highest risk, and the effect of each further variable."""
    sets = all_sets(results)
    if sets.empty:
        return None
    first = sets.iloc[0]
    top_sets = pd.concat([lines.head(MAX_SETS) for _, lines in sets.groupby("size")])
    risk, variables = first["expected_match_risk"], some(int(sets["size"].max()), "known_variable")
    fields = {"risk": decimals(risk), "share": percent(risk / first["targets"])}
    fields |= {"sets": some(len(sets), "set"), "variables": variables}
    keys = [known_variables(variables) for variables in top_sets["known"]]
    return paragraphs(
        TEXT("subsets.text", known=known_variables(first["known"]), **fields),
        table(
            TEXT("subsets.caption", shown=MAX_SETS, table=SCENARIOS),
            ReportColumn(TEXT("subsets.columns.size"), without_repeats(count_cells(top_sets["size"]))),
            ReportColumn(TEXT("subsets.columns.known"), keys, "l", "2.4fr"),
            *columns(top_sets, TEXT, "rank", group="subsets.columns"),
            *summary_columns(top_sets),
        ),
        _factors(sets),
    )


def gains(sets: pd.DataFrame) -> dict[str, float]:
    """Return the factor by which each variable raises the expected match risk, a geometric mean."""
    risk = {frozenset(row.known.split(" + ")): row.expected_match_risk for row in sets.itertuples()}
    factors: dict[str, float] = {}
    for name in dict.fromkeys(name for keys in sets["known"] for name in keys.split(" + ")):
        ratios = [
            max(risk[keys | {name}] / value, 1e-12)
            for keys, value in risk.items()
            if name not in keys and keys | {name} in risk and value
        ]
        if ratios:
            factors[name] = math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
    return factors


def _factors(sets: pd.DataFrame) -> str | None:
    factors = sorted(gains(sets).items(), key=lambda item: -item[1])
    if len(factors) < 2:
        return None
    texts = [TEXT("subsets.factor", variable=escape(name), factor=fixed(factor, 1)) for name, factor in factors]
    return TEXT("subsets.factors", factors=listed(texts))


@block(DISTRIBUTION)
def matching_distribution(results: Results) -> str:
    """Show the targets by number of matching records, and the sources of the expected match risk."""
    classes = by_class(results)
    cells = classes.assign(
        targets=decimals_of(classes["n_records"]),
        own=decimals_of(classes["n_own"]),
        own_share=classes["n_own"] / classes["n_records"].where(classes["n_records"] > 0),
        expected_match_risk=decimals_of(classes["risk"]),
        risk_share=classes["risk"] / (classes["risk"].sum() or math.nan),
        confidential=decimals_of(classes["confidential"]),
    )
    return paragraphs(
        TEXT("distribution.text"),
        table(
            TEXT("distribution.caption", **about_first(results)),
            *columns(cells, TEXT, "matches=label:text@1.2fr", group="distribution.columns"),
            *columns(cells, TEXT, "targets:cell own:cell own_share", "1fr", group="distribution.columns"),
            *columns(cells, HEADING, "expected_match_risk:cell", "1fr"),
            *columns(cells, TEXT, "risk_share confidential:cell", "1fr", group="distribution.columns"),
            kind="compact",
        ),
    )


def about_first(results: Results) -> dict[str, str | int]:
    """Return the number of intruders and the name of the first one, as fields of a caption."""
    return {"n": len(by_intruder(results, MEAN)), "intruder": escape(short_name(first_intruder(results)))}


def by_class(results: Results) -> pd.DataFrame:
    """Return the distribution of the first intruder up to the last class that occurs.

    The columns are matches_from, matches_to and label; n_records, n_own and risk, which are means over the synthetic
    files; and confidential, the number of records of the confidential file.
    """
    lines = results.table(DISTRIBUTION)
    lines = lines[lines["scenario"] == first_intruder(results)]
    confidential = lines[lines["file"] == CONFIDENTIAL].set_index("matches_from")
    synthetic = lines[lines["file"] != CONFIDENTIAL].groupby("matches_from")
    means = synthetic[["n_records", "n_own", "risk"]].mean()
    means = means.assign(matches_to=confidential["matches_to"], confidential=confidential["n_records"]).reset_index()
    means["label"] = list(map(size_class, means["matches_from"], means["matches_to"]))
    occurring = means.index[(means["n_records"] > 0) | (means["confidential"] > 0)]
    return means[: int(occurring.max()) + 1]


@block(SUMMARY)
def matching_choices(results: Results) -> str:
    """Show the open points of the source, with the option in force."""
    matching = results.model.matched
    by_key, targets = bool(matching.key()), "some" if matching.targets else "all"
    options = {
        "interval": (matching.interval, "`open`" if matching.interval == "closed" else "`closed`"),
        "exactness": ("decimal", UNDEFINED),
        "missing": (matching.missing, "`each_other`" if matching.missing == "never" else "`never`"),
        "own": ("key", TEXT("choices.own.other")) if by_key else ("position", "`id`"),
        "targets": (targets, "`targets`"),
    }
    if not by_key:
        options["correspondence"] = ("agreement", "`id`")
    uncertain, chosen = matching.uncertain_targets, "none"
    if uncertain is not None:
        chosen = "population_count" if uncertain.population_count else "sampling_fraction"
    options["uncertain"] = (chosen, "`uncertain_targets`")
    if len(synthetic_files(results)) > 1:
        options["mean"] = ("defined", UNDEFINED)
        options["pooled"] = ("together", UNDEFINED)
    return table_of(choices_of(TEXT, options, "§8"))


@block(ACCOUNT)
def matching_account(results: Results) -> str:
    """Show the row account of the matched files."""
    return row_account(results.table(ACCOUNT), TEXT("account"))


MAX_LETTERS = 34
"""Letters of a set's name that fit beside its dot."""


@block(DISTRIBUTION, SCENARIOS)
def matching_distribution_figure(results: Results) -> Figure:
    """Draw the targets by number of matching records, beside the confidential file."""
    classes = by_class(results)

    def draw(sheet: Sheet) -> None:
        axes, at = sheet.panels[0], range(len(classes))
        text = {name: TEXT(f"distribution.figure.{name}") for name in ("targets", "own", "confidential", "x")}
        axes.bar(at, classes["n_records"], width=0.72, color=style.SUSPECTED, label=text["targets"])
        axes.bar(at, classes["n_own"], width=0.42, color=style.CONFIRMED, label=text["own"])
        look = style.hollow(3.8, 4, style.INK, clip_on=False)
        axes.plot(at, classes["confidential"], "D", label=text["confidential"], **look)
        style.count_axis(axes, "y")
        ticks = list(map(size_tick, classes["matches_from"], classes["matches_to"]))
        axes.set_xticks(list(at), ticks, rotation=45 if sheet.narrow else 0, fontsize=7)
        axes.set_xlabel(text["x"])
        sheet.key()

    texts = []
    for row in classes.itertuples():
        fields = {"targets": row.n_records, "own": row.n_own, "confidential": row.confidential}
        fields = {name: count(n) for name, n in fields.items()}
        texts.append(TEXT("distribution.figure.alt_class", matches=row.label, **fields))
    alt = TEXT("distribution.figure.alt", classes="; ".join(texts))
    return style.figure(draw, height=2.3, alt=alt, caption=TEXT("distribution.figure.caption", **about_first(results)))


@block(SCENARIOS)
def matching_subsets_figure(results: Results) -> Figure | None:
    """Draw the expected match risk of all sets by number of variables, naming the highest of each."""
    sets = all_sets(results)
    if sets.empty:
        return None
    sets = sets.assign(share=sets["expected_match_risk"] / sets["targets"])
    sizes = {some(int(size), "variable"): lines for size, lines in sets.groupby("size")}
    limit = summary_limits(results).get("expected_match_risk")
    top = top_of([1.25 * float(sets["share"].max())], limit)

    def draw(sheet: Sheet) -> None:
        axes = sheet.panels[0]
        for at, lines in enumerate(sizes.values()):
            axes.plot(lines["share"], [at] * len(lines), "|", **style.TICK)
            highest = lines.loc[lines["share"].idxmax()]
            axes.plot(highest["share"], at, "o", **style.full(4.6))
            offset = (-4 if highest["share"] > 0.55 * top else 5, 8.5)
            name = shorten(highest["known"], MAX_LETTERS)
            style.name_beside(axes, name, (highest["share"], at), offset, fontsize=6.5)
        style.percent_axis(axes, top)
        limit_line(axes, limit)

    texts = []
    for variables, lines in sizes.items():
        share = lines["share"]
        fields = {"lowest": percent(share.min()), "highest": percent(share.max())}
        fields |= {"variables": variables, "sets": some(len(lines), "set")}
        texts.append(TEXT("subsets.figure.alt_size", known=lines.at[share.idxmax(), "known"], **fields))
    alt, caption = TEXT("subsets.figure.alt", sizes="; ".join(texts)), TEXT("subsets.figure.caption")
    height = 0.55 + 0.42 * len(sizes)
    return style.row_figure(draw, list(sizes), key=False, height=height, alt=alt, caption=caption)
