"""Micro-aggregation: the masking, and its attack beside the paper's claim (METHODS §4.5, §9)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from reident.page import style
from reident.page.columns import columns
from reident.page.common import row_account, size_class
from reident.page.layout import ReportColumn, block, box, items, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure
from reident.page.terms import some, title
from reident.page.wording import bold_cells, declared, escape, fixed_cells, percent, percent_cells, rates, word

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("microaggregation")
VARIABLES, ACCOUNT = "microaggregation/variables.csv", "microaggregation/account.csv"
AGREEMENTS, COMPARED = "agreements.csv", "comparison/agreements.csv"
COMPARED_RATES = "comparison/rates.csv"
METRIC = "winkler"
MAX_COLUMNS = 5
"""The table shows every number of agreeing variables up to this number of variables."""

CLOSE = 0.95
"""What counts as close to 100 %."""

CONCLUSION = 0.2
"""The rate of the paper's conclusion: "well above 20 percent"."""


def rule_name(agreement: str | dict[str, Any]) -> str:
    """Return an agreement rule in words."""
    if isinstance(agreement, str):
        return TEXT(f"rules.{agreement}")
    ((name, number),) = agreement.items()
    return TEXT(f"rules.{name}", number=int(number))


def rates_by_agreement(results: Results) -> pd.DataFrame:
    """Return the rates by `min_agree` of the study and its variants, the study first; `setting` names each."""
    if results.has(COMPARED):
        lines = results.table(COMPARED)
    else:
        lines = results.table(AGREEMENTS).assign(variant="study", reference="yes")
    settings = [setting_name(results, labels) for labels in lines[varied_columns(lines)].to_dict("records")]
    return lines.assign(setting=settings).sort_values(
        "reference", key=lambda column: column != "yes", kind="stable", ignore_index=True
    )


def varied_columns(lines: pd.DataFrame) -> list[str]:
    """Return the columns with the labels of the varied keys."""
    return [str(column) for column in lines.columns if str(column).startswith("set_")]


def varied_name(column: str) -> str:
    """Return the name of a varied key, as in ``set_name``."""
    return column.removeprefix("set_").replace("_", " ")


def setting_name(results: Results, labels: dict[str, str]) -> str:
    """Return a variant by its values, and a study without variants by its agreement rule."""
    if not labels:
        return rule_name(results.options(METRIC).model_dump()["agreement"])
    return ", ".join(
        TEXT("setting", name=varied_name(column), value=label or TEXT("unchanged")) for column, label in labels.items()
    )


@block(VARIABLES, ACCOUNT)
def masked_premise(results: Results) -> str:
    """Introduce the masked records, the released file, and the intruder's file."""
    masking, account = results.study["microaggregate"], results.table(ACCOUNT)
    rows = dict(zip(account["cause"], account["rows"], strict=True))
    variables, records = some(len(results.table(VARIABLES)), "variable"), some(round(rows["in"]), "record")
    released = some(round(rows["used"]), "masked_record")
    is_sample = rows["used"] != rows["in"]
    sentences = [
        TEXT("premise.masking", k=masking["k"], aggregate=TEXT(f"premise.aggregates.{masking['aggregate']}")),
        TEXT("premise.records", variables=variables, records=records),
        TEXT("premise.sample_released", released=released, share=percent(rows["used"] / rows["in"]))
        if is_sample
        else TEXT("premise.all_released", released=released),
        _corresponding(masking["corresponding"]),
        TEXT("premise.truth"),
    ]
    return paragraphs(" ".join(sentences), TEXT("premise.metric"))


def _corresponding(corresponding: dict[str, Any] | None) -> str:
    if corresponding is None:
        return TEXT("premise.original")
    n = corresponding["deviating"]
    return TEXT(
        "premise.corresponding",
        variables=TEXT("premise.deviating", n=n, number=word(n)),
        by=declared(corresponding["by"]),
        others_from=declared(corresponding["others_from"]),
        others_to=declared(corresponding["others_to"]),
    )


@block(VARIABLES)
def masked_variables(results: Results) -> str:
    """Show the values, groups and remaining variance of each masked variable, and its largest correlation."""
    lines = results.table(VARIABLES)
    sizes = list(map(size_class, lines["n_smallest"], lines["n_largest"]))
    return table(
        TEXT("variables.caption"),
        ReportColumn(HEADING("variable"), bold_cells(lines["variable"]), "l", "1fr"),
        ReportColumn(TEXT("variables.columns.missing"), rates(lines["n_missing"] / lines["n_records"])),
        *columns(lines, TEXT, "distinct=n_distinct masked=n_masked", group="variables.columns"),
        ReportColumn(TEXT("variables.columns.group"), sizes),
        ReportColumn(TEXT("variables.columns.variance"), percent_cells(lines["variance_kept"], 2)),
        ReportColumn("$R^2$", fixed_cells(lines["largest_r2"], 3)),
    )


@block(AGREEMENTS, ACCOUNT)
def claim(results: Results) -> str:
    """Compare the claim of the paper with the observed rates under each reading of its metric."""
    lines = rates_by_agreement(results)
    readings = lines.drop_duplicates("setting", ignore_index=True)
    alone, few = readings["alone_rate"], readings["among_three_rate"]
    claims = [
        TEXT("claim.almost_all", paper_rate=TEXT("paper_rate"), observed=_observed(readings, alone)),
        TEXT("claim.at_most_three", observed=_observed(readings, few)),
        TEXT("claim.conclusion", observed=_above(alone > CONCLUSION)),
    ]
    texts = [
        TEXT("claim.text", records=some(round(readings["n_puf"].iloc[0]), "record")),
        items(claims),
        " ".join(_agreeing(results, lines)),
        _failed((alone < CLOSE) | (few < CLOSE)),
    ]
    return box("findings", *filter(None, texts))


def _observed(readings: pd.DataFrame, rate: pd.Series) -> str:
    """Return the rate under the study's reading, which is the first, and the ends of its range under all of them."""
    study_rate = TEXT("claim.own", rate=percent(rate[0]), setting=escape(readings["setting"][0]))
    if len(readings) == 1:
        return TEXT("claim.observed", own=study_rate)
    low, high = rate.idxmin(), rate.idxmax()
    return TEXT(
        "claim.observed_range",
        own=study_rate,
        lowest_rate=percent(rate[low]),
        lowest=escape(readings["setting"][low]),
        highest_rate=percent(rate[high]),
        highest=escape(readings["setting"][high]),
    )


def _above(above: pd.Series) -> str:
    if len(above) == 1:
        return TEXT(f"claim.first_share.{'above' if above[0] else 'below'}")
    return TEXT("claim.first_share.several", n=int(above.sum()), readings=some(len(above), "setting"))


def _failed(failed: pd.Series) -> str:
    """Say how many of the settings do not reach the claims, if any."""
    if not failed.any():
        return ""
    if len(failed) == 1:
        return TEXT("claim.failed.single", close=percent(CLOSE, 0))
    readings = some(len(failed), "setting")
    return TEXT("claim.failed.several", n=int(failed.sum()), readings=readings, close=percent(CLOSE, 0))


def _agreeing(results: Results, lines: pd.DataFrame) -> Iterator[str]:
    """Yield the study's rates if more variables must agree, such as the paper's seven of ten."""
    v = len(results.study["linking_variables"])
    counted = lines[(lines["reference"] == "yes") & lines["min_agree"].notna()]
    rates = counted.set_index(counted["min_agree"].astype(int))["confirmed_rate"]
    for n in (7, 10) if v == 10 else (v,):
        if n in rates.index and len(rates) > 1:
            key = "all" if n == v else "some"
            yield TEXT(f"claim.{key}_agree", rate=percent(rates[n]), number=word(n))
    if v in rates.index and results.study["microaggregate"]["corresponding"] is None:
        account = results.table(ACCOUNT)
        n_records = int(account.loc[account["cause"] == "in", "rows"].iloc[0])
        least = math.floor(10_000 * max(0.0, 1 - 3 * v / n_records)) / 10_000
        yield TEXT("claim.per_field", least=percent(least, 2), variables=some(v, "variable"))


@block(AGREEMENTS, "rates.csv")
def claim_table(results: Results) -> str:
    """Show how often each setting puts the true record first, and the confirmed rates, beside other metrics."""
    lines = rates_by_agreement(results)
    readings = lines.drop_duplicates("setting")
    by_heading = {
        TEXT(f"claim.columns.{name}"): readings[f"{name}_rate"] for name in ("alone", "among_three", "confirmed")
    }
    for metric, by_setting in _other_metrics(results, lines).items():
        heading = TEXT("claim.columns.metric", metric=title(metric))
        by_heading[heading] = [by_setting.get(setting) for setting in readings["setting"]]
    return table(
        TEXT("claim.caption", pairs=some(results.max_pairs, "pair")),
        _settings(readings),
        *(ReportColumn(heading, percent_cells(values, 1)) for heading, values in by_heading.items()),
    )


@block(AGREEMENTS)
def agreements_table(results: Results) -> str | None:
    """Show the confirmed rate of each setting by the number of variables that must agree."""
    lines = rates_by_agreement(results).dropna(subset="min_agree")
    if lines["min_agree"].nunique() < 2:
        return None
    v = len(results.study["linking_variables"])
    numbers = range(1, v + 1) if v <= MAX_COLUMNS else sorted({1, 2, 3, v // 2, round(0.7 * v), v})  # 7 of 10
    readings = lines.drop_duplicates("setting")
    rate = lines.groupby(["setting", "min_agree"])["confirmed_rate"].mean()
    table_columns = [
        ReportColumn(
            TEXT("claim.columns.at_least", number=least),
            percent_cells((rate.get((setting, least)) for setting in readings["setting"]), 1),
        )
        for least in numbers
        if (lines["min_agree"] == least).any()
    ]
    return table(TEXT("claim.agreements_caption"), _settings(readings), *table_columns)


def _settings(readings: pd.DataFrame) -> ReportColumn:
    marks = (readings["reference"] == "yes").map({True: "**", False: ""})
    names = [f"{mark}{escape(name)}{mark}" for name, mark in zip(readings["setting"], marks, strict=True)]
    return ReportColumn(TEXT("claim.columns.setting"), names, "l", "1fr")


def _other_metrics(results: Results, lines: pd.DataFrame) -> dict[str, dict[str, float]]:
    if results.has(COMPARED_RATES):
        rates = results.table(COMPARED_RATES)
    else:
        rates = results.whole.reset_index().assign(variant="study")
    rates = rates.assign(setting=rates["variant"].map(dict(zip(lines["variant"], lines["setting"], strict=True))))
    return {
        metric: rates[rates["metric"] == metric].set_index("setting")["confirmed_rate"].to_dict()
        for metric in results.metrics
        if metric != METRIC
    }


@block(ACCOUNT)
def masked_account(results: Results) -> str:
    """Show the row account of the masked file."""
    return row_account(results.table(ACCOUNT), TEXT("account"))


MAX_PANELS, MAX_LINES = 4, 8
DASHES = ((None, None), (4, 1.5), (1.2, 1.2))


@block(AGREEMENTS)
def masked_agreements_figure(results: Results) -> Figure | None:
    """Draw the confirmed rate for every `min_agree`, with a panel for each value of the first varied key."""
    lines = rates_by_agreement(results).dropna(subset="min_agree").astype({"min_agree": int})
    if lines["min_agree"].nunique() < 2:
        return None
    panels = _panels(lines)

    caption = TEXT("claim.figure.caption")
    n_lines = max(panel["label"].nunique() for panel in panels.values())
    if n_lines > MAX_LINES:
        fields = {"caption": caption, "shown": MAX_LINES, "lines": n_lines, "table": COMPARED}
        caption = TEXT("claim.figure.caption_limited", **fields)
    draw = {heading: partial(_lines, panel) for heading, panel in panels.items()}
    about: dict[str, Any] = {"alt": _alternative(lines), "caption": caption, "xlabel": TEXT("claim.figure.x")}
    return style.figure(draw, height=2.4, between=0.04, sharey=True, key=True, **about)


def _panels(lines: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the lines of each panel by its heading: the first of several things that vary has a panel per value."""
    columns = varied_columns(lines)
    if len(columns) < 2 or not 1 < lines[columns[0]].nunique() <= MAX_PANELS:
        return {"": _labelled(lines, columns)}
    first, *others = columns
    panels = {}
    for value, panel in lines.groupby(first, sort=False):
        heading = TEXT("setting", name=varied_name(first), value=str(value))
        panels[heading if value else TEXT("unchanged")] = _labelled(panel, others)
    return panels


def _labelled(lines: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    labels = lines[columns].agg(", ".join, axis=1) if columns else lines["setting"]
    return lines.assign(label=[label or TEXT("unchanged") for label in labels])


def _lines(rates: pd.DataFrame, axes: Axes) -> None:
    looks = list(style.LINES.values())
    for at, label in enumerate(sorted(rates["label"].unique())[:MAX_LINES]):
        points = rates[rates["label"] == label]
        colour, marker = looks[at % len(looks)]
        look = style.full(3.4, marker=marker, linewidth=1.3, label=label, clip_on=False)
        look |= {"color": colour, "dashes": DASHES[at // len(looks) % len(DASHES)]}
        axes.plot(points["min_agree"], points["confirmed_rate"], **look)
    style.share_axis(axes, 1.04)
    axes.xaxis.set_major_locator(MaxNLocator(10, integer=True))
    axes.set_xlim(rates["min_agree"].min() - 0.3, rates["min_agree"].max() + 0.3)


def _alternative(lines: pd.DataFrame) -> str:
    settings = []
    for setting, rows in lines.groupby("setting", sort=False):
        points = zip(rows["confirmed_rate"], rows["min_agree"], strict=True)
        texts = [TEXT("claim.figure.alt_rate", rate=percent(rate), number=int(n)) for rate, n in points]
        settings.append(TEXT("claim.figure.alt_setting", setting=str(setting), rates=", ".join(texts)))
    return TEXT("claim.figure.alt", settings=" ".join(settings))
