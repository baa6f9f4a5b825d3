"""Read the attacks at hand for the brief: their names, the strongest one, and the limits on each (METHODS §6.10)."""

from __future__ import annotations

import pandas as pd

from reident.linkage.settings import AGREEMENT, ANY
from reident.report.blocks.surest import SUMMARY, summary
from reident.report.results import LIMITS, Results
from reident.report.sentences import Sentences
from reident.report.terms import title
from reident.report.wording import escape, listed, sentence, word
from reident.verdict.warnings import ATTACK

TEXT = Sentences("brief")
ATTACKS = "attacks.csv"
DECLARED, JOIN, WITHOUT = "declared", "join", "without"
EXCEEDS = "exceeds"


def attacks(results: Results) -> pd.DataFrame:
    """Return the attacks at hand that were tried, in the order of their table; the declared ones without this table."""
    if results.has(ATTACKS):
        lines = results.table(ATTACKS)
        lines = lines[lines["n_suspected"].notna()]
    else:
        lines = results.whole.reset_index().assign(kind=DECLARED, detail="")
        right = summary(results)["n_right"] if results.has(SUMMARY) else results.whole["best_rank_correct"]
        lines["n_right"] = list(right.reindex(lines["metric"]))
    return lines.assign(detail=lines["detail"].fillna("").astype(str)).reset_index(drop=True)


def untried(results: Results) -> int:
    """Return how many attacks at hand were not tried."""
    return int(results.table(ATTACKS)["n_suspected"].isna().sum()) if results.has(ATTACKS) else 0


def strongest(results: Results) -> pd.Series:
    """Return the attack that names most people rightly by one best guess for each record; of equal ones, finds most."""
    return attacks(results).sort_values(["n_right", "n_confirmed"], ascending=False, kind="stable").iloc[0]


def attack_name(results: Results, line: pd.Series) -> str:
    """Return the name of an attack at hand, as it begins a line of a table."""
    detail, metric = line["detail"], title(str(line["metric"]))
    if line["kind"] == JOIN:
        return TEXT("attack.join", names=listed([escape(name) for name in detail.split("+")]))
    if line["kind"] == WITHOUT:
        return TEXT("attack.without", metric=metric, variable=escape(detail))
    if line["kind"] == AGREEMENT:
        k, m = int(float(detail)), len(results.metrics)
        return sentence(TEXT("agree.all", n=m, number=word(m)) if k == m else TEXT("agree.least", k=word(k), m=word(m)))
    return metric


def limits_on(results: Results, line: pd.Series) -> pd.DataFrame:
    """Return the limits on an attack with their outcomes: where the study does not limit it, the largest of each kind.

    Such an attack breaks no limit; one that it exceeds has the outcome :data:`EXCEEDS`.
    """
    limits = results.limits(ATTACK) if results.has(LIMITS) else pd.DataFrame(columns=["limit", "metric", "outcome"])
    limits = limits[results.confirmable & (limits["metric"] != ANY)]
    own = limits[limits["metric"] == line["metric"]]
    if line["kind"] == DECLARED:
        return own
    largest = limits.sort_values("bound", kind="stable").drop_duplicates("limit", keep="last")
    exceeded = set(own.loc[own["outcome"] == EXCEEDS, "limit"])
    return largest.assign(outcome=[EXCEEDS if limit in exceeded else "" for limit in largest["limit"]])
