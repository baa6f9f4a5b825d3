"""The tables of the attack: from typed files to rates (METHODS §1–§6)."""

from __future__ import annotations

from reident.pipeline.tables.columns import (
    WHOLE,
    Column,
    Count,
    Dimension,
    Lines,
    Table,
    account,
    boolean,
    declare,
    integer,
    number,
    text,
    warnings,
)

PUF_KEY = text("{key of the PUF}", "the key of the PUF record")
EIF_KEY = text("{key of the EIF}", "the key of the EIF record")
STRATA = text("{strata variables}", "the value as text; null where missing", section="2")
PUF_ROW = integer("puf", "row number of the PUF record in `prepared/puf.parquet`, from 0", "row")
EIF_ROW = integer("eif", "row number of the EIF record in `prepared/eif.parquet`, from 0", "row")
SCORED_ROW = EIF_ROW._replace(meaning=f"{EIF_ROW.meaning}; null for a PUF record of which no pair is kept")
RANKED, UNICITY = "metrics other than unicity", "unicity"
STRATUM = text("stratum", f"the stratum, `s0001` …; `{WHOLE}` for the whole study", kind=Dimension("stratum"))


def _sides(folder: str, meaning: str, columns: dict[str, tuple[Column, ...]], section: str) -> list[Table]:
    """Declare a Parquet file with data of records for each of several files."""
    return [
        declare(f"{folder}/{side}.parquet", meaning.format(side=side.upper()), *fields, section=section)
        for side, fields in columns.items()
    ]


VALUES = Column(
    "{linking variables}",
    "text or number",
    "the typed value: a number for numeric variables, otherwise text; null where missing",
)
PERSON = text(
    "external_person",
    "the person of the record as the file names it; null for none",
    only="studies with `files.eif.person`",
    section="6.6",
)
PREPARE = (
    *_sides(
        "prepared",
        "The typed {side}, one row per record, by key.",
        {"puf": (PUF_KEY, STRATA, VALUES), "eif": (EIF_KEY, STRATA, VALUES, PERSON)},
        "1",
    ),
    declare(
        "prepared/iuf.parquet",
        "The true links, one row per distinct link, by row number of the PUF record and then of the EIF record.",
        PUF_ROW,
        EIF_ROW,
        section="1",
    ),
    declare(
        "prepared/clusters.parquet",
        "The cluster of each PUF record, in the order of the prepared file; no row in a study without `rates.cluster`.",
        integer(
            "cluster",
            "number of the cluster, in the order of its values; then the records without a value, each alone",
            "cluster",
            section="6",
        ),
        section="1",
    ),
    account("prepared"),
    warnings("prepared"),
)

MANIFEST = (
    text(
        "stratum",
        "the stratum, `s0001` … by sorted values of the strata variables",
        kind=Dimension("stratum"),
    ),
    text("{strata variables}", "the value that the records of the stratum share", kind="label"),
    integer("n_puf", "PUF records in the stratum", kind=Count("n_puf")),
    integer("n_eif", "EIF records in the stratum", kind=Count("n_eif")),
    integer("n_links", "true links whose two records are in the stratum", "links", kind=Count("n_links")),
    integer("pairs", "pairs of records to compare: n_puf · n_eif", "pairs", kind="withheld"),
)
STRATIFY = (
    *_sides(
        "strata",
        "The stratum of each {side} record, in the order of the prepared file.",
        {
            side: (
                integer(
                    "stratum",
                    "line of the stratum in `strata/manifest.csv`, from 0; null if the record has no stratum",
                    "line",
                ),
            )
            for side in ("puf", "eif")
        },
        "2",
    ),
    declare(
        "strata/manifest.csv",
        "The strata, one line per stratum that at least one of the two files has.",
        *MANIFEST,
        holds="labels",
        reported=True,
        section="2",
        released=True,
    ),
    account("strata"),
)

BINS = Column(
    "{linking variables}",
    "text or integer",
    "the bin of a numeric value, from 1, or the category; null where missing; bin 0 where nothing is compared",
)
BIN = (
    *_sides(
        "binned",
        "The {side} with numeric linking variables cut into bins, in the order of the prepared file.",
        {"puf": (BINS,), "eif": (BINS,)},
        "3",
    ),
    declare(
        "binned/cutpoints.csv",
        "The bins of numeric linking variables, one line per scope, variable, cutting file and bin. A variable "
        "without a value to cut at has one line, without a bin.",
        text(
            "scope",
            f"the stratum whose records are cut; `{WHOLE}` for the whole study",
            kind=Dimension("stratum"),
        ),
        text("variable", "the linking variable", kind="label"),
        text("file", "the file whose quantiles are the cut points: `puf`, `eif` or `pooled`", kind="label"),
        integer("bin", "the bin, from 1 for the lowest values", "bin", kind="parameter"),
        number(
            "above",
            "the bin holds values above this cut point; empty for the first bin",
            "value",
            kind="cut point",
        ),
        number(
            "up_to",
            "the bin holds values up to this cut point; empty for the last bin",
            "value",
            kind="cut point",
        ),
        integer(
            "n_puf",
            "PUF records in the bin; empty where these cut points are of the EIF alone",
            kind="withheld",
        ),
        integer(
            "n_eif",
            "EIF records in the bin; empty where these cut points are of the PUF alone",
            kind="withheld",
        ),
        holds="labels",
        reported=True,
        section="3",
        released=True,
    ),
)

SCORED = number("score", "the pair score", "", only=RANKED)
ORDER = integer(
    "order",
    "size of the smallest set of variables on which both records are unique",
    "variables",
    only=UNICITY,
)
SCORE = (
    declare(
        "scores/{metric}/{scatteritem}.parquet",
        "The pairs that the rank filter may need, by row number of the PUF record, best first.",
        PUF_ROW,
        SCORED_ROW,
        SCORED,
        ORDER,
        integer("variables", "the first such set: bit j is linking variable j", "bits", only=UNICITY),
        output="pairs",
        section="4",
    ),
)

RANK_NUMBER = integer(
    "rank", "1 for the record's best distinct score, 2 for the next …", "rank", section="5", only=RANKED
)
RANK = (
    declare(
        "suspected/{metric}.parquet",
        "The pairs that scoring kept, with their ranks, by row number of the PUF record, best first.",
        PUF_ROW,
        SCORED_ROW,
        SCORED,
        ORDER,
        RANK_NUMBER,
        integer("max_pairs", "smallest rank limit with which the pair is suspected", "pairs", only=RANKED),
        output="suspected",
        section="5",
    ),
    declare(
        "suspected/{metric}.distribution.csv",
        "Records and pairs by rank among the pairs that scoring kept; for unicity, by order.",
        STRATUM,
        integer("rank", "the rank of the score, 1 for the best", "rank", only=RANKED),
        integer("order", "the size of the set of variables", "variables", section="4.1", only=UNICITY),
        integer("n_pufids", "PUF records that have such a pair"),
        integer("n_pairs", "pairs of the rank or order", "pairs"),
        output="distribution",
        section="5",
    ),
)

EXPECTED_CORRECT = (
    "suspected PUF records that are right by one guess among the candidates, on average: the sum over suspected "
    "records of the share of true links among their candidates"
)
CONFIRMED = (
    PUF_KEY,
    EIF_KEY,
    text("stratum", "the stratum, `s0001` …", section="2"),
    SCORED._replace(section="4"),
    ORDER._replace(section="4.1"),
    RANK_NUMBER,
    boolean("confirmed", "whether the pair is a link of the IUF"),
)
CONFIRM = (
    declare(
        "confirmed/{metric}.parquet",
        "The suspected pairs, each checked against the true links, by key of the PUF, rank and key of the EIF.",
        *CONFIRMED,
        output="confirmed",
        section="6",
    ),
    declare(
        "confirmed/{metric}.pairs.parquet",
        "The suspected pairs by row number, by row number of the PUF record, best first.",
        PUF_ROW,
        EIF_ROW,
        SCORED._replace(section="4"),
        ORDER._replace(section="4.1"),
        boolean("confirmed", "whether the pair is a link of the IUF"),
        output="positions",
        section="6",
    ),
    declare(
        "confirmed/{metric}.limits.csv",
        "What every rank limit from 1 to `keep` would find. Unicity, which has no rank filter, has no line.",
        STRATUM,
        integer("max_pairs", "the rank limit", "pairs", kind=Dimension("rank_limit")),
        integer("n_suspected", "suspected PUF records", kind=Count("n_suspected")),
        integer("n_confirmed", "PUF records with a confirmed pair", kind=Count("n_confirmed")),
        integer(
            "n_ambiguous",
            "PUF records whose top rank has more pairs than the limit",
            kind=Count("n_ambiguous"),
        ),
        integer("n_pairs", "suspected pairs", "pairs", kind="withheld"),
        integer("n_confirmed_pairs", "confirmed pairs", "pairs", kind="withheld"),
        number("expected_correct", EXPECTED_CORRECT, "records", section="6", kind="withheld"),
        output="limits",
        section="5",
        released=Lines("", "stratum", WHOLE),
    ),
)

EXPORT_CONFIRMED = (
    declare(
        "confirmed/{metric}.csv",
        "The lines of `confirmed/{metric}.parquet`, for a spreadsheet; in a study with `confirmed_csv`.",
        *CONFIRMED,
        output="pairs",
        holds="records",
        section="6",
        exported=True,
    ),
)

DESCRIPTION = (
    declare(
        "description/variables.csv",
        "The linking variables in both files, one line per variable in the order of the study.",
        text("variable", "the linking variable"),
        text("type", "`numeric` or `categorical`"),
        text("puf_column", "its column in the PUF"),
        text("eif_column", "its column in the EIF"),
        integer("puf_missing", "PUF records in which it is missing"),
        integer("eif_missing", "EIF records in which it is missing"),
        integer("puf_distinct", "distinct values in the PUF", "values"),
        integer("eif_distinct", "distinct values in the EIF", "values"),
        integer("common_codes", "codes that both files have; empty for numeric variables", "codes"),
        integer("links", "true links inside a stratum", "links"),
        integer("links_agree", "of these, links whose categories or bins are equal", "links"),
        integer("links_differ", "of these, links whose categories or bins differ", "links"),
        integer("links_missing", "of these, links with a missing value", "links"),
        section="1",
    ),
    declare(
        "description/agreement.csv",
        "How far pairs agree, one line per metric, kind of pair and linking variable.",
        text("metric", "the metric; empty for the true links"),
        text("pairs", "`true` for true links inside a stratum, `confirmed`, or `false` for suspected only"),
        text("variable", "the linking variable"),
        integer("n", "pairs of the kind", "pairs"),
        integer("agree", "pairs whose categories or bins are equal", "pairs"),
        integer("differ", "pairs whose categories or bins differ", "pairs"),
        integer("missing", "pairs with a missing value", "pairs"),
        section="6",
    ),
    declare(
        "description/overlap.csv",
        "PUF records by the metrics that suspect or confirm them, one line per set of metrics that occurs.",
        text("set", "`suspected` or `confirmed`"),
        text("metrics", "exactly the metrics that do, joined by `+`"),
        integer("n_pufids", "PUF records"),
        section="6",
    ),
)
