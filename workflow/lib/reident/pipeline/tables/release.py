"""The tables of the releasable edition, and the audit of what it publishes (METHODS §11)."""

from __future__ import annotations

from functools import partial

from reident.pipeline.tables.columns import Column, declare, integer, select, text
from reident.pipeline.tables.rates import RATES

PUBLISHED = "as published: rounded, `x` where it is suppressed, empty where the edition does not have it"
FILE = text("file", "the file that is attacked: `released`, or `before` protection")
VARIANT = text("variant", "the variant's id; empty for the study itself")
METRIC = text("metric", "the metric")
STRATUM = text("stratum", "the values of the strata variables; `ALL` for the whole study")
RANK_LIMIT = integer("rank_limit", "the rank limit; 0 where a rank limit does not apply", "pairs")


def _published(*names: str) -> tuple[Column, ...]:
    """Declare columns of published numbers."""
    return tuple(text(name, PUBLISHED) for name in names)


_COUNTS = tuple(
    text(column.name, f"{column.meaning}; {PUBLISHED}")
    for column in select(
        RATES,
        "n_puf", "n_eif", "n_links", "n_suspected", "n_confirmed", "n_ambiguous", "n_single", "n_single_confirmed",
    )
)  # fmt: skip
_RATES = tuple(
    text(name, f"{meaning}, of the rounded counts; empty where one of them is not published")
    for name, meaning in (
        ("suspected_rate", "n_suspected / n_puf"),
        ("confirmed_rate", "n_confirmed / n_puf"),
        ("conditional_rate", "n_confirmed / n_suspected"),
        ("conditional_low", "lower end of the two-sided interval of the conditional rate"),
        ("conditional_high", "upper end of the two-sided interval of the conditional rate"),
        ("single_rate", "n_single_confirmed / n_single"),
    )
)
SHARES = ("share_below_2", "share_below_3", "share_below_5")


table = partial(declare, holds="labels", section="11")
RELEASE = (
    table(
        "release/attack.csv",
        "The published counts and rates of the attack, one line per file, variant, metric, stratum and rank limit.",
        FILE,
        VARIANT,
        METRIC,
        STRATUM,
        RANK_LIMIT,
        *_COUNTS,
        *_RATES,
    ),
    table(
        "release/clusters.csv",
        "The published counts and rates of clusters, one line per metric and stratum; no line in a study without "
        "`rates.cluster`.",
        METRIC,
        STRATUM,
        *_published(
            "n_clusters", "n_suspected", "n_confirmed", "suspected_rate", "confirmed_rate", "conditional_rate"
        ),
    ),
    table(
        "release/file.csv",
        "The published numbers of records with few matches, one line per convention for missing values; no line in a "
        "study without `file_risk`.",
        text("convention", "`excluded`, `category` or `wildcard`"),
        *_published("n_records", "below_2", "below_3", "below_5", *SHARES),
    ),
    table(
        "release/matching.csv",
        "The published numbers of targets by number of matches, one line per scenario, file and class; no line in a "
        "study without `matching`.",
        text("scenario", "the name of the set of known variables"),
        text("file", "`1` … `m` for a synthetic file, or `confidential`"),
        text("matches_from", "smallest number of matches of the class"),
        text("matches_to", "largest number of matches of the class; empty for the last class"),
        *_published("n_targets", "n_own", "share_own"),
    ),
    table(
        "release/cut-points.csv",
        "The published bins of numeric linking variables, one line per scope, variable, cutting file and bin.",
        text("scope", "the stratum whose records are cut; `ALL` for the whole study"),
        text("variable", "the linking variable"),
        text("file", "the file whose quantiles are the cut points: `puf`, `eif` or `pooled`"),
        integer("bin", "the bin, from 1 for the lowest values", "bin"),
        text("above", "the rounded cut point below the bin; empty for the first bin"),
        text("up_to", "the rounded cut point above the bin; empty for the last bin"),
    ),
    table(
        "release/limits.csv",
        "The limits of the section `decision`, one line for each metric or scenario.",
        text("about", "what it is about: `attack`, `file_risk`, `matching` or `attribute_disclosure`"),
        text("limit", "the key of the limit"),
        text(
            "metric",
            "the metric, the scenario of matching or `file_risk`, or the target; empty for the whole key",
        ),
        text("bound", "the limit"),
        text(
            "outcome",
            "`passes`, `breaks`, or `withheld` where the outcome is not a relation of published counts",
        ),
    ),
    declare(
        "release/release.json",
        "The rules that were applied, and what the edition says of the study, as JSON.",
        output="record",
        section="11",
    ),
    declare(
        "release/audit.csv",
        "What can be derived of each published count from everything that is published, one line per count. It never "
        "leaves.",
        text("quantity", "what is counted"),
        FILE,
        VARIANT,
        text("metric", "the metric; empty for a count of no metric"),
        STRATUM,
        RANK_LIMIT,
        text("other", "what else tells two counts of the quantity apart"),
        text("published", "what is published: a number, `<…`, or `x` where it is suppressed"),
        text("status", "`exact`, `rounded`, `small`, `suppressed`, or `public` where anybody can count it"),
        integer("asked", "the width that the policy asks for", "counts"),
        integer(
            "required",
            "the same, or the width with no count of the edition published, where that is less",
            "counts",
        ),
        integer("width", "largest minus smallest count that all published numbers allow, at least", "counts"),
        holds="labels",
        reported=True,
        section="11.2",
    ),
)
EDITION = (
    declare(
        "releasable.ipynb",
        "The executed notebook from which the releasable edition is rendered.",
        output="notebook",
        holds="labels",
    ),
)
