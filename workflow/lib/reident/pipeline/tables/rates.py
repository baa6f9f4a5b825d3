"""The tables of the rates: by metric and stratum, of clusters, before protection, by agreements (METHODS §6)."""

from __future__ import annotations

from functools import partial
from typing import Literal

from reident.linkage.parts import COMPARED_RATES, SIDES
from reident.pipeline.tables.columns import (
    WHOLE,
    Count,
    Dimension,
    Kind,
    Lines,
    Rate,
    declare,
    integer,
    number,
    select,
    text,
)
from reident.pipeline.tables.linkage import DESCRIPTION, EXPECTED_CORRECT, STRATUM

table = partial(declare, section="6")

RATES = (
    text("metric", "the metric", kind=Dimension("metric")),
    STRATUM,
    integer("n_puf", "PUF records", kind=Count("n_puf")),
    integer("n_eif", "EIF records", kind=Count("n_eif")),
    integer(
        "n_links",
        "true links; in a stratum, those whose two records are in it",
        "links",
        kind=Count("n_links"),
    ),
    integer("n_pairs", "suspected pairs", "pairs", kind="withheld"),
    integer("n_suspected", "suspected PUF records", kind=Count("n_suspected")),
    integer("n_confirmed", "PUF records with a confirmed pair", kind=Count("n_confirmed")),
    integer(
        "n_ambiguous",
        "PUF records whose top rank has more pairs than the rank limit",
        section="5",
        kind=Count("n_ambiguous"),
    ),
    integer("n_confirmed_pairs", "confirmed pairs", "pairs", kind="withheld"),
    number("suspected_rate", "n_suspected / n_puf", kind=Rate("n_suspected", "n_puf")),
    number("confirmed_rate", "n_confirmed / n_puf", kind=Rate("n_confirmed", "n_puf")),
    number(
        "conditional_rate",
        "n_confirmed / n_suspected; empty where nothing is suspected",
        kind=Rate("n_confirmed", "n_suspected"),
    ),
    number("conditional_low", "lower end of the two-sided interval of the conditional rate", kind="withheld"),
    number(
        "conditional_high", "upper end of the two-sided interval of the conditional rate", kind="withheld"
    ),
    number("pair_precision", "n_confirmed_pairs / n_pairs", kind="withheld"),
    number("reach", "n_confirmed / PUF records with at least one link", kind="withheld"),
    number(
        "baseline_rate",
        "the conditional rate of an intruder who draws at random inside the stratum",
        kind="withheld",
    ),
    number("expected_correct", EXPECTED_CORRECT, "records", kind="withheld"),
    number("expected_correct_rate", "expected_correct / n_suspected", kind="withheld"),
    number(
        "best_rank_correct",
        "the same for a guess among the candidates of rank 1; for unicity, of the smallest order",
        "records",
        kind="withheld",
    ),
    number("best_rank_correct_rate", "best_rank_correct / n_suspected", kind="withheld"),
    integer("n_single", "suspected PUF records with exactly one candidate", kind=Count("n_single")),
    integer(
        "n_single_confirmed",
        "of these, records whose candidate is the true link",
        kind=Count("n_single_confirmed"),
    ),
    number(
        "single_rate",
        "n_single_confirmed / n_single; empty where no record has exactly one candidate",
        kind=Rate("n_single_confirmed", "n_single"),
    ),
    integer(
        "n_false_outside", "suspected PUF records without a true link to any EIF record", kind="withheld"
    ),
    integer("n_compared", "PUF records with an EIF record in their stratum", section="2", kind="withheld"),
    number(
        "passing_rate",
        "(n_suspected + n_ambiguous) / n_compared: the share of compared records with a pair that the threshold lets "
        "pass",
        section="4",
        kind="withheld",
    ),
    integer(
        "tolerance",
        "the number of linking variables that may differ completely in a suspected pair; below 0, nothing can be "
        "suspected",
        "variables",
        section="4",
        kind="withheld",
    ),
    integer(
        "n_findable",
        "PUF records with a true link to an EIF record of their stratum",
        section="2",
        kind="withheld",
    ),
    number(
        "conditional_bound",
        "one-sided upper bound of the conditional rate; only where n_confirmed is 0",
        kind="withheld",
    ),
)
CLUSTERS = (
    text("metric", "the metric", kind=Dimension("metric")),
    STRATUM,
    integer("n_clusters", "clusters with a PUF record", "clusters", kind=Count("n_clusters")),
    integer(
        "n_suspected", "clusters with a suspected PUF record", "clusters", kind=Count("clusters_suspected")
    ),
    integer(
        "n_confirmed", "clusters with a confirmed PUF record", "clusters", kind=Count("clusters_confirmed")
    ),
    number("suspected_rate", "n_suspected / n_clusters", kind=Rate("n_suspected", "n_clusters")),
    number("confirmed_rate", "n_confirmed / n_clusters", kind=Rate("n_confirmed", "n_clusters")),
    *select(RATES, "conditional_rate", "conditional_low", "conditional_high", "conditional_bound"),
)
RATE = (
    table(
        "rates.csv",
        f"The rates, one line per metric for the whole study (`{WHOLE}`) and for each stratum.",
        *RATES,
        compared=Lines("rates", "stratum", WHOLE),
        released=True,
    ),
    table(
        "clusters.csv",
        f"The rates of clusters, one line per metric for the whole study (`{WHOLE}`) and for each stratum; no line in "
        "a study without `rates.cluster`.",
        *CLUSTERS,
        released=True,
    ),
    *DESCRIPTION,
)


def _beside(kind: Kind | None, side: str) -> Kind:
    """Return how a rate before or after protection leaves: a count as that of its file, and nothing else."""
    return Count(kind.quantity, _FILES[side]) if isinstance(kind, Count) else "withheld"


_FILES: dict[str, Literal["before", "released"]] = {"before": "before", "after": "released"}
COMPARE_PROTECTION = (
    table(
        "protection/rates.csv",
        f"The rates before and after protection, one line per metric for the whole study (`{WHOLE}`) and for each "
        "stratum of one of the two files; strata with the same values are on one line.",
        text("metric", "the metric", kind=Dimension("metric")),
        text(
            "stratum",
            f"the stratum of the study; `{WHOLE}`, or empty for a stratum that it does not have",
            kind=Dimension("stratum"),
        ),
        text(
            "stratum_before",
            "the stratum of the attack on the file before protection; empty as above",
            kind="withheld",
        ),
        *(
            column._replace(
                name=f"{column.name}_{side}",
                meaning=f"as in `rates.csv`, {side} protection",
                kind=_beside(column.kind, side),
            )
            for column in select(RATES, *COMPARED_RATES)
            for side in SIDES
        ),
        section="6.1",
        released=Lines("", "stratum", WHOLE),
    ),
)

AGREEMENTS = (
    table(
        "agreements.csv",
        "What the metric `winkler` finds with a larger `min_agree`, one line for each value from that of the study "
        "to the number of linking variables; one line with `closest`, which counts no agreements.",
        text("stratum", f"`{WHOLE}`, the whole study"),
        integer(
            "min_agree",
            "number of linking variables that must agree at least; empty with `closest`",
            "variables",
            section="4.5",
        ),
        *select(
            RATES,
            "n_puf",
            "n_pairs",
            "n_suspected",
            "n_confirmed",
            "n_confirmed_pairs",
            "suspected_rate",
            "confirmed_rate",
            "conditional_rate",
        ),
        integer("n_alone", "PUF records whose best rank is one pair, which is a link"),
        integer("n_among_three", "PUF records with a link among the best ranks of at most three pairs"),
        number("alone_rate", "n_alone / n_puf"),
        number("among_three_rate", "n_among_three / n_puf"),
        compared=Lines("agreements", "stratum", WHOLE),
    ),
)
