"""Matching-based risk by what an intruder knows: scenarios, all subsets, distribution, choices (METHODS §8)."""

from __future__ import annotations

from itertools import groupby

import pandas as pd

from reident.report.layout import Column, block, paragraphs, part, table
from reident.report.results import Results
from reident.report.tables.choices import Choice, table_of
from reident.report.tables.matching import (
    CONFIDENTIAL,
    DISTRIBUTION,
    MEAN,
    SCENARIOS,
    SUMMARY,
    copies,
    decimals,
    decimals_of,
    first_set,
    known_words,
    lines_of,
    options,
    set_name,
)
from reident.report.wording import UNDEFINED, count, defined, escape, listed, percent, percents, some

PER_SIZE = 5
"""Of all subsets of one size, so many are shown, the most dangerous ones."""


def named_sets(results: Results) -> list[str]:
    """The sets of known variables that the study names."""
    own = lines_of(results, MEAN)
    return list(own.index[own["listed"]])


@part(SCENARIOS, DISTRIBUTION)
def matching_scenarios(results: Results) -> str | None:
    """The named intruders beside each other; nothing where there is only one."""
    names = named_sets(results)
    if len(names) < 2:
        return None
    mean, own = lines_of(results, MEAN).loc[names], lines_of(results, CONFIDENTIAL).loc[names]
    worst = mean["danger"].astype(int).idxmin()
    n = mean["targets"].iloc[0]
    said = (
        f"How much is at risk depends on what an intruder knows. Of {count(len(names))} intruders "
        f"*{_who(results, worst)}* is the most dangerous, with an expected match risk of "
        f"{decimals(mean.at[worst, 'expected_match_risk'])}."
    )
    return paragraphs(
        said,
        table(
            "Intruders compared: means over the synthetic files; in the last column the confidential file.",
            Column("Intruder", [f"**{_who(results, name)}**" for name in names], "l", "1.3fr"),
            Column("Knows", [known_words(text) for text in mean["known"]], "l", "2.4fr"),
            Column("Expected match risk", decimals_of(mean["expected_match_risk"]), "r", "1.1fr"),
            Column("per target", percents(mean["expected_match_risk"] / n), "r", "0.9fr"),
            Column("True match rate", percents(mean["true_match_rate"]), "r", "0.9fr"),
            Column("False match rate", percents(mean["false_match_rate"]), "r", "0.9fr"),
            Column("Expected, confidential", decimals_of(own["expected_match_risk"]), "r", "1.3fr"),
        ),
    )


def _who(results: Results, name: str) -> str:
    """An intruder's name; the list of `known` is the study's own."""
    return "the first" if name == "known" else set_name(results, name)


def subsets(results: Results) -> pd.DataFrame:
    """All subsets, the most dangerous first: columns known, size, danger and the mean summaries."""
    own = lines_of(results, MEAN)
    own = own[~own["listed"]].copy()
    own["place"] = own["danger"].rank().astype(int)
    return own.sort_values("danger")


@part(SCENARIOS)
def matching_subsets(results: Results) -> str | None:
    """The most dangerous sets of known variables of each size, and what each variable adds."""
    found = subsets(results)
    if found.empty:
        return None
    worst, n = found.iloc[0], found["targets"].iloc[0]
    shown = pd.concat([own.head(PER_SIZE) for _, own in found.groupby("size")])
    sizes = [str(int(size)) for size in shown["size"]]
    most = int(found["size"].max())
    said = (
        f"All {some(len(found), 'set')} of at most {some(most, 'known variable')} were tried. The most dangerous is "
        f"{known_words(worst['known'])}, with an expected match risk of {decimals(worst['expected_match_risk'])} "
        f"({percent(worst['expected_match_risk'] / n)} of the targets)."
    )
    return paragraphs(
        said,
        table(
            f"The most dangerous sets of known variables, at most {PER_SIZE} of each size; rank 1 is the most "
            f"dangerous of all, by the expected match risk. Means over the synthetic files. "
            f"`{SCENARIOS}` holds all sets.",
            Column("Size", _once(sizes)),
            Column("Known", [known_words(text) for text in shown["known"]], "l", "1fr"),
            Column("Rank", [count(value) for value in shown["place"]]),
            Column("Expected match risk", decimals_of(shown["expected_match_risk"])),
            Column("per target", percents(shown["expected_match_risk"] / n)),
            Column("True match rate", percents(shown["true_match_rate"])),
            Column("False match rate", percents(shown["false_match_rate"])),
        ),
        _adds(found),
    )


def _once(texts: list[str]) -> list[str]:
    return [text if at == 0 or texts[at - 1] != text else "" for at, text in enumerate(texts)]


def gains(found: pd.DataFrame) -> dict[str, float]:
    """By variable, the factor (geometric mean) by which knowing it too raises the expected match risk of a set."""
    risk = {frozenset(row.known.split(" + ")): row.expected_match_risk for row in found.itertuples()}
    names = list(dict.fromkeys(name for known in found["known"] for name in known.split(" + ")))
    out = {}
    for name in names:
        factors = [
            risk[known | {name}] / value
            for known, value in risk.items()
            if name not in known and known | {name} in risk and value
        ]
        if factors:
            out[name] = float(pd.Series(factors).clip(lower=1e-12).prod() ** (1 / len(factors)))
    return out


def _adds(found: pd.DataFrame) -> str | None:
    factors = sorted(gains(found).items(), key=lambda item: -item[1])
    if len(factors) < 2:
        return None
    said = [f"{escape(name)} {factor:.1f} times" for name, factor in factors]
    return (
        f"Knowing one more variable raises the expected match risk, on average over the sets: {listed(said)}."
    )


@part(DISTRIBUTION)
def matching_distribution(results: Results) -> str:
    """How many records match, and how much of the risk comes from where."""
    classes = by_class(results)
    labels = [class_words(row.matches_from, row.matches_to) for row in classes.itertuples()]
    total = classes["risk"].sum()
    said = (
        "The fewer records match a person, the surer an intruder can be. A person whom no record matches is safe; one "
        "whom a single record matches is found, if it is the right one."
    )
    return paragraphs(
        said,
        table(
            f"Targets by the number of matching records{_for(results)}, on average over the synthetic files; and where "
            "the expected match risk comes from.",
            Column("Matching records", labels, "l", "1fr"),
            Column("Targets", decimals_of(classes["n_records"])),
            Column("Their own among them", decimals_of(classes["n_own"])),
            Column(
                "Share", percents(classes["n_own"] / classes["n_records"].where(classes["n_records"] > 0))
            ),
            Column("Expected match risk", decimals_of(classes["risk"])),
            Column("Share of it", percents(classes["risk"] / total) if total else [UNDEFINED] * len(classes)),
            Column("Targets, confidential", decimals_of(classes["confidential"])),
            kind="compact",
        ),
    )


def _for(results: Results) -> str:
    name = first_set(results)
    if len(lines_of(results, MEAN)) == 1:
        return ""
    return f" for the intruder *{escape(name)}*" if name != "known" else f" for {set_name(results, name)}"


def by_class(results: Results) -> pd.DataFrame:
    """The distribution of the first set: means over the synthetic files, and `confidential` beside them."""
    found = results.table(DISTRIBUTION)
    found = found[found["scenario"] == first_set(results)]
    own = found[found["file"] == CONFIDENTIAL].set_index("matches_from")
    others = found[found["file"] != CONFIDENTIAL]
    means = others.groupby("matches_from")[["n_records", "n_own", "risk"]].mean()
    means["matches_to"], means["confidential"] = own["matches_to"], own["n_records"]
    means = means.reset_index()
    used = (means["n_records"] > 0) | (means["confidential"] > 0)
    return means[: int(used[used].index.max()) + 1]


def class_words(low: float, high: float | None) -> str:
    """A class of numbers of matches: ``none``, ``1``, ``3 – 4``, ``1,000 and more``."""
    if not defined(high):
        return f"{count(low)} and more"
    if low == high:
        return count(low) if low else "none"
    return f"{count(low)} – {count(high)}"


@part(SUMMARY)
def matching_choices(results: Results) -> str:
    """What the source leaves open, and the option in force."""
    own = options(results)
    found = [
        Choice(
            "Matching: ends of a radius",
            "a number at the very end matches"
            if own.interval == "closed"
            else "a number at the very end does not match",
            "`open`" if own.interval == "closed" else "`closed`",
            "§8",
        ),
        Choice(
            "Matching: exactness",
            "radii are decided on the decimal numbers of the files, not on their binary approximations",
            UNDEFINED,
            "§8",
        ),
        Choice(
            "Matching: missing value",
            "matches nothing" if own.missing == "never" else "matches a missing value, and no other",
            "`each_other`" if own.missing == "never" else "`never`",
            "§8",
        ),
        Choice(
            "Matching: own record",
            "found by the key" if own.key() else "in the same place of every file",
            "by the order of rows" if own.key() else "`id`",
            "§8",
        ),
        Choice(
            "Matching: targets (N)",
            "those that meet `targets`" if own.targets else "all records",
            "`targets`",
            "§8",
        ),
    ]
    if len(copies(results)) > 1:
        rate = "mean over the files in which something matches uniquely"
        found.append(Choice("Matching: false match rate of several files", rate, UNDEFINED, "§8"))
    return table_of(found)


@part("matching/warnings.csv")
def matching_warnings(results: Results) -> str | None:
    """What reading the files found that a reader should be wary of, set apart."""
    lines = results.table("matching/warnings.csv")["warning"]
    return block("warning", *(f"**Files.** {escape(line)}" for line in lines)) if len(lines) else None


@part("matching/account.csv")
def matching_account(results: Results) -> str:
    """The row account of the matched files."""
    lines = results.table("matching/account.csv")
    words = {"in": "rows in", "used": "**rows used**"}
    files = [key for key, _ in groupby(lines["file"])]
    shown = lines[(lines["rows"] > 0) | lines["cause"].isin(["in", "used"])]
    return table(
        f"Row account of {some(len(files) - 1, 'file')} and the targets: rows in are rows used and rows left out.",
        Column("File", _once([escape(file).capitalize() for file in shown["file"]]), "l"),
        Column(
            "", [words.get(cause) or "left out: " + escape(cause) for cause in shown["cause"]], "l", "1fr"
        ),
        Column("Rows", [count(rows) for rows in shown["rows"]]),
        kind="compact",
    )
