"""The tables of what carries the confirmed claims (METHODS §6.3)."""

from __future__ import annotations

from functools import partial

from reident.pipeline.tables.columns import declare, integer, number, text
from reident.pipeline.tables.linkage import EIF_KEY, PUF_KEY

table = partial(declare, section="6.3")

CARRIED = (
    PUF_KEY,
    EIF_KEY,
    text("stratum", "the stratum, `s0001` …", section="2"),
    text(
        "carried_by",
        "the linking variables without which the pair would not be confirmed, joined by `+`; empty without one",
    ),
    text(
        "prevented_by",
        "the coarser values of one variable with which it would not be confirmed, joined by `; `; empty without one",
    ),
    text("agreeing", "the linking variables on which categories or bins are equal, joined by `+`"),
    text(
        "unique_set",
        "the first of the smallest sets of agreeing variables on which the EIF record is alone in its stratum; empty "
        "without one of a size that is searched",
    ),
    integer("unique_size", "the size of this set; empty without one", "variables"),
    integer("n_unique_sets", "how many sets of this size there are", "sets"),
    text("confirming", "the metrics that confirm the pair, joined by `+`"),
)
EXPLAIN = (
    table(
        "why/{metric}.parquet",
        "What carries each confirmed pair, by key of the PUF and key of the EIF.",
        *CARRIED,
        output="pairs",
    ),
    table(
        "why/{metric}.recodings.csv",
        "The changes of one linking variable that are tried, in the order of the study and from fine to coarse.",
        text("variable", "the linking variable"),
        text("recoding", "`left out`, or the coarser values by their name"),
        integer("n_confirmed", "confirmed PUF records"),
        integer("n_prevented", "of these, records that would not be confirmed"),
        number("prevented_rate", "these as a share of the confirmed records; empty without one"),
        integer("n_newly_confirmed", "other records, which would be confirmed only with the change"),
        integer("net_change", "n_newly_confirmed − n_prevented"),
        output="recodings",
        holds="labels",
        reported=True,
    ),
    table(
        "why/{metric}.variables.csv",
        "What the linking variables carry, one line per variable in the order of the study.",
        text("variable", "the linking variable"),
        integer("n_confirmed", "confirmed PUF records"),
        integer("n_carried", "of these, records that would not be confirmed without the variable"),
        number("carried_rate", "these as a share of the confirmed records; empty without one"),
        integer("n_pairs", "confirmed pairs", "pairs"),
        integer("n_agree", "of these, pairs whose categories or bins are equal", "pairs"),
        integer("n_unique", "confirmed pairs with a unique set of a size that is searched", "pairs"),
        number(
            "unique_share",
            "the share of a pair's smallest unique sets that contain the variable, averaged over these pairs; "
            "empty without one",
        ),
        output="variables",
    ),
)

_PLACE = integer("place", "1 for the best set, 2 for the next …", "")
TRY_RECODINGS = (
    table(
        "suggest/suggestions.csv",
        "The sets of coarser values that were tried: those that meet the limits by what they lose, then the others by "
        "how near they come to the limits. `none` is the study itself.",
        _PLACE,
        text("recodings", "by linking variable, the change, joined by `; `; `none` for the study itself"),
        integer("n_recodings", "how many variables have a change", "variables"),
        text("verdict", "`within` the limits, `above` one, or `none` where a metric could suspect no pair"),
        integer("n_broken", "limits that are broken", "limits"),
        number("excess", "Σ (value − limit) / value over the broken limits", ""),
        number("risk", "the first rate that has a limit, the largest of the metrics", "fraction or records"),
        number("values_changed", "the share of values of the PUF that the set changes", section="13"),
        number("pmse", "pMSE of the changed file against the PUF", "", section="13"),
        number(
            "loss", "the mean univariate distance; that of a variable that is left out is 1", "", section="13"
        ),
        text(
            "dominated",
            "`yes` if another set has at most this risk and loss, and less of one; otherwise `no`",
        ),
        holds="labels",
        reported=True,
        section="6.4",
    ),
    table(
        "suggest/rates.csv",
        "The rates of each set that was tried, one line per set and metric.",
        _PLACE,
        text("metric", "the metric"),
        number("conditional_rate", "confirmed / suspected records", section="6"),
        number("expected_correct_rate", "expected correct / suspected records", section="6"),
        number("single_rate", "single candidates that are right / single candidates", section="6"),
        number("confirmed_rate", "confirmed records / records", section="6"),
        number("reach", "confirmed records / records with a true link", section="6"),
        integer("n_confirmed", "confirmed PUF records"),
        number("conditional_low", "lower end of the interval of the conditional rate", section="6"),
        number("conditional_high", "upper end of the interval of the conditional rate", section="6"),
        integer("n_suspected", "suspected PUF records"),
        section="6.4",
        reported=False,
    ),
    table(
        "suggest/variants.yaml",
        "A section `variants` for the study file with the sets that no other dominates, at most ten; their labels are "
        "the places of the sets.",
        holds="labels",
        section="6.4",
    ),
)

EXPORT_WHY = (
    table(
        "why/{metric}.csv",
        "The lines of `why/{metric}.parquet`, for a spreadsheet; in a study with `confirmed_csv`.",
        *CARRIED,
        output="table",
        holds="records",
        exported=True,
    ),
)
