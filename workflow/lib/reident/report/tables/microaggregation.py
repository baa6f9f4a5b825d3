"""Micro-aggregation: what was masked, what its attack found beside what the paper claims (METHODS §4.5, §9)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reident.linkage.metrics.winkler import Options
from reident.report.layout import Column, block, paragraphs, part, table
from reident.report.results import Results, title
from reident.report.wording import (
    UNDEFINED,
    count,
    declared,
    defined,
    escape,
    listed,
    percent,
    percents,
    some,
    word,
)

VARIABLES, ACCOUNT = "microaggregation/variables.csv", "microaggregation/account.csv"
AGREEMENTS, COMPARED = "agreements.csv", "comparison/agreements.csv"
RATES, COMPARED_RATES = "rates.csv", "comparison/rates.csv"
METRIC = "winkler"
CLAIM = "near 100\u00a0%"
"""What the paper claims of each of its three studies."""

RULES = {"half_gap": "half gap", "midpoint": "midpoint"}


def rule_words(agreement: str | dict[str, Any]) -> str:
    """An agreement rule in words."""
    return RULES[agreement] if isinstance(agreement, str) else f"nearest {count(int(agreement['nearest']))}"


def ranges(results: Results) -> pd.DataFrame:
    """The rates by `min_agree`, of the study and its variants: ``member`` names each; the study is the first."""
    if results.has(COMPARED):
        found = results.table(COMPARED).copy()
    else:
        found = results.table(AGREEMENTS).assign(variant="study", reference="yes")
    found["member"] = [_member(results, line) for line in found[labels_of(found)].to_dict("records")]
    return pd.concat(
        [found[found["reference"] == "yes"], found[found["reference"] != "yes"]], ignore_index=True
    )


def labels_of(found: pd.DataFrame) -> list[str]:
    """The columns that tell variants apart."""
    return [str(column) for column in found.columns if str(column).startswith("set_")]


def _member(results: Results, labels: dict[str, str]) -> str:
    """A variant by what it sets, the study as it stands by its own options where it is none of its variants."""
    if not labels:
        options = Options.model_validate(results.options(METRIC))
        return rule_words(options.model_dump()["agreement"])
    return ", ".join(
        f"{name.removeprefix('set_').replace('_', ' ')} {label or 'as it stands'}"
        for name, label in labels.items()
    )


@part(VARIABLES, ACCOUNT)
def masked_premise(results: Results) -> str:
    """What was masked, how, what is released, and what the intruder holds."""
    own, lines = results.study["microaggregate"], results.table(VARIABLES)
    account = results.table(ACCOUNT)
    rows = dict(zip(account["cause"], account["rows"], strict=True))
    released = some(round(rows["used"]), "masked record")
    share = (
        "all of them" if rows["used"] == rows["in"] else f"a sample of {percent(rows['used'] / rows['in'])}"
    )
    held = "the original file"
    if own["corresponding"] is not None:
        off = own["corresponding"]
        held = (
            f"a file about the same records that deviates: in each, up to {word(off['deviating'])} variables by up to "
            f"{declared(off['by'])}, the others by {declared(off['others_from'])} to {declared(off['others_to'])}"
        )
    return paragraphs(
        f"The file is protected by **micro-aggregation**, one variable at a time: the values of a variable are sorted "
        f"and put in groups of {count(own['k'])}, and each is replaced by the {own['aggregate']} of its group. "
        f"{some(len(lines), 'variable')} of {some(round(rows['in']), 'record')} were masked; {released} are released, "
        f"{share}. The intruder holds {held}. Which records belong together is known by construction.",
        "**Winkler's metric** counts the variables on which a record of the intruder agrees with a masked one.",
    )


@part(VARIABLES)
def masked_variables(results: Results) -> str:
    """The masked variables: values, groups, what is left of their variance, and how they hang together."""
    lines = results.table(VARIABLES)
    sizes = [
        count(a) if a == b else f"{count(a)} – {count(b)}"
        for a, b in zip(lines["n_smallest"], lines["n_largest"], strict=True)
    ]
    return table(
        "The masked variables. Variance kept is that of the masked values as a share of that of the original ones; "
        "$R^2$ is the largest squared correlation with another of them.",
        Column("Variable", [f"**{escape(name)}**" for name in lines["variable"]], "l", "1fr"),
        Column("Missing", percents(lines["n_missing"] / lines["n_records"])),
        Column("Distinct values", [count(n) for n in lines["n_distinct"]]),
        Column("Distinct masked", [count(n) for n in lines["n_masked"]]),
        Column("Size of groups", sizes),
        Column("Variance kept", [percent(share, 2) for share in lines["variance_kept"]]),
        Column("$R^2$", [f"{r2:.3f}" if defined(r2) else UNDEFINED for r2 in lines["largest_r2"]]),
    )


@part(AGREEMENTS)
def claim(results: Results) -> str:
    """What the paper claims, and what was found."""
    found = ranges(results)
    own = found[found["reference"] == "yes"]
    first = own.iloc[0]
    v = len(results.study["linking_variables"])
    said = (
        f"Winkler (2002) claims of his three studies of micro-aggregated files that {CLAIM} of the released records "
        f"are re-identified. **Found here: {percent(first['confirmed_rate'])}** of "
        f"{some(round(first['n_puf']), 'record')}, with at least {_of(int(first['min_agree']), v)} and the most "
        "agreements winning"
    )
    said += f"; {_ends(own, v)}." if len(own) > 1 else "."
    members = found.groupby("member", sort=False)["confirmed_rate"].max()
    if len(members) > 1:
        said += (
            f" Of all that is compared, {escape(members.idxmax())} re-identifies the most, {percent(members.max())}, "
            f"and {escape(members.idxmin())} the least, {percent(members.min())}, at the best `min_agree` of each."
        )
    return block("findings", said)


def _of(least: int, v: int) -> str:
    return (
        f"{word(least)} of the {word(v)} variables in agreement" if v > 1 else "the one variable in agreement"
    )


def _ends(own: pd.DataFrame, v: int) -> str:
    """The rates further up the range, among them that of the paper's seven of ten."""
    wanted = sorted({7, v} if v == 10 else {v})
    rates = own.set_index("min_agree")["confirmed_rate"]
    return listed(
        [
            f"{percent(rates[least])} if {_all(least, v)} must agree"
            for least in wanted
            if least in rates.index
        ]
    )


def _all(least: int, v: int) -> str:
    return f"all {word(v)} variables" if least == v else f"at least {word(least)}"


@part(AGREEMENTS, RATES)
def claim_table(results: Results) -> str:
    """The share of records that each rule re-identifies, by the variables that must agree, beside other metrics."""
    found = ranges(results)
    members = list(dict.fromkeys(found["member"]))
    rates = found.pivot_table(
        index="member", columns="min_agree", values="confirmed_rate", sort=False, dropna=False
    )
    v = len(results.study["linking_variables"])
    shown = [least for least in _settings(v) if least in rates.columns]
    others = _others(results, found)
    names = [f"**{escape(member)}**" if at == 0 else escape(member) for at, member in enumerate(members)]
    least_columns = [
        Column(f"at least {least}", [percent(rates.loc[member, least], 1) for member in members])
        for least in shown
    ]
    other_columns = [
        Column(title(metric), [percent(own.get(member), 1) for member in members])
        for metric, own in others.items()
    ]
    return table(
        f"Released records that are truly re-identified, as a share of all; the paper claims {CLAIM}. *At least*: the "
        "number of variables that must agree in Winkler's metric.",
        Column("Compared", names, "l", "1fr"),
        *least_columns,
        *other_columns,
    )


def _settings(v: int) -> list[int]:
    """The numbers of agreeing variables that a table has room for: all of few, otherwise some, 7 of 10 among them."""
    return list(range(1, v + 1)) if v <= 5 else sorted({1, 2, 3, v // 2, round(0.7 * v), v})


def _others(results: Results, found: pd.DataFrame) -> dict[str, dict[str, float]]:
    """The confirmed rates of the other metrics by member."""
    whole = (
        results.table(COMPARED_RATES)
        if results.has(COMPARED_RATES)
        else results.whole.reset_index().assign(variant="study")
    )
    member = dict(zip(found["variant"], found["member"], strict=True))
    return {
        metric: {
            member[line.variant]: float(line.confirmed_rate)
            for line in whole[whole["metric"] == metric].itertuples()
            if line.variant in member
        }
        for metric in results.metrics
        if metric != METRIC
    }


@part(ACCOUNT)
def masked_account(results: Results) -> str:
    """The row account of the masked file."""
    account = results.table(ACCOUNT)
    words = {"in": "rows read", "used": "rows released"}
    return table(
        "The masked file, row by row.",
        Column("File", list(account["file"]), "l"),
        Column("Cause", [words.get(cause, f"left out: {cause}") for cause in account["cause"]], "l", "1fr"),
        Column("Rows", [count(rows) for rows in account["rows"]]),
    )
