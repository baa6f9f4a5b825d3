"""The tables of matching-based risk (METHODS §8)."""

from __future__ import annotations

from functools import partial

from reident.pipeline.tables.columns import (
    FILE_KEY,
    FILE_ROW,
    Column,
    Count,
    Dimension,
    Lines,
    account,
    boolean,
    declare,
    integer,
    number,
    text,
    warnings,
)

table = partial(declare, section="8")

MATCHED = Column(
    "{matched variables}",
    "text or number",
    "the typed value: a number where the variable has a radius, otherwise text; null where missing",
)
PREPARE_MATCHING = (
    table(
        "matching/prepared/confidential.parquet",
        "The typed confidential file, one row per record, in the order of the file.",
        integer(".row", "row of the file; the header is row 1", "row"),
        boolean(".target", "whether the record is a target"),
        FILE_KEY,
        number(
            ".population",
            "people in the population who match the record",
            "records",
            only="studies with `population_count`",
        ),
        MATCHED,
    ),
    table(
        "matching/prepared/synthetic.parquet",
        "The typed synthetic files, one after the other, each in the order of the confidential file.",
        integer(".file", "the synthetic file, from 1", "file"),
        MATCHED,
    ),
    table(
        "matching/prepared/holdout.parquet",
        "The typed holdout, in the order of its rows; no row without one.",
        MATCHED,
        section="8.1",
    ),
    account("matching"),
    warnings("matching"),
    table(
        "matching/correspondence.csv",
        "Whether the rows of each synthetic file correspond to those of the confidential file, one line per file.",
        text("file", "the synthetic file, `1` … `m`"),
        integer("n_records", "records of the file"),
        integer("n_agree", "rows in which all known variables agree"),
        integer("n_possible", "the largest number of such rows in any order of the file"),
        number("by_chance", "their expected number in a random order", "records"),
        number(
            "correspondence",
            "(n_agree − by_chance) / (n_possible − by_chance), at most 1; empty if no order has more such rows",
            "",
        ),
        text(
            "finding",
            "`agree`, `differ` in known variables, `another_order`, `fully_synthetic`, or `unknown` if no known "
            "variable can tell",
        ),
    ),
)

FILE = text("file", "`1` … `m` for a synthetic file, `mean` for their mean, or `confidential`")
MATCH_RISK = (
    number("expected_match_risk", "expected match risk: Σ T/c over targets with c > 0", "records"),
    number("true_match_rate", "true match rate: Σ K / N"),
    number("false_match_rate", "false match rate: Σ F / s; empty where s = 0"),
    number("unique_matches", "s, targets with c = 1; a mean for `mean`", "records"),
    integer("targets", "N, the number of targets"),
)
SCENARIO = text("scenario", "the name of the set of known variables")
ONE_FILE = text("file", "`1` … `m` for a synthetic file, or `confidential`")
MATCH = (
    table(
        "matching/records.parquet",
        "The match of each target, one row per scenario that is listed, or is the most dangerous subset, and target. "
        "The four columns of a file come together.",
        SCENARIO,
        FILE_KEY,
        FILE_ROW,
        integer("c_{file}", "c, the number of records of the file that match"),
        boolean("T_{file}", "T, whether the record's own synthetic record is among them"),
        boolean("K_{file}", "K, whether it is the only one"),
        boolean("F_{file}", "F, whether the only one is another record"),
        number("risk", "T/c, the mean over the synthetic files"),
    ),
    table(
        "matching/summary.csv",
        "The risk for the first set of known variables, one line per file.",
        FILE,
        *MATCH_RISK,
        compared=Lines("matching", "file", "mean"),
    ),
    table(
        "matching/scenarios.csv",
        "The risk for every set of known variables, one line per set and file.",
        SCENARIO,
        boolean("listed", "whether the study names the set; otherwise it is one of all subsets"),
        integer("size", "number of known variables", "variables"),
        text("known", "the known variables, joined by ` + `"),
        integer("danger", "1 for the most dangerous set", "rank"),
        FILE,
        *MATCH_RISK,
    ),
    table(
        "matching/distribution.csv",
        "Targets by the number of records that match them, one line per scenario, file and class.",
        SCENARIO._replace(kind=Dimension("other")),
        ONE_FILE._replace(kind=Dimension("other")),
        integer("matches_from", "smallest c of the class", kind=Dimension("other")),
        integer("matches_to", "largest c of the class; empty for the last class", kind=Dimension("other")),
        integer("n_records", "targets in the class", kind=Count("match_targets")),
        integer("n_own", "of these, targets with T = 1", kind=Count("match_own")),
        number("risk", "Σ T/c of the class", "records", kind="withheld"),
        released=True,
    ),
    table(
        "matching/variables.csv",
        "The matched variables, one line per variable and file; all records, targets or not.",
        text("variable", "the variable"),
        text("role", "`known` or `synthesized`"),
        text("type", "`numeric` if it has a radius, otherwise `categorical`"),
        text("radius", "`relative` or `absolute` and its size; empty without a radius"),
        ONE_FILE,
        integer("n_records", "records of the file"),
        integer("n_missing", "records in which the variable is missing"),
        integer("n_distinct", "distinct values", "values"),
        integer("n_agree", "records whose value is equal to their confidential one, or within the radius"),
    ),
    table(
        "matching/pooled.csv",
        "The risk by an intruder who uses all synthetic files together, for the sets of `matching/records.parquet`, "
        "one line per set and membership.",
        SCENARIO,
        text(
            "membership",
            "`certain` if the intruder knows that every target is in the file, `uncertain` if not",
        ),
        number(
            "expected_match_risk",
            "Σ T/c over targets with c > 0, c records of the largest probability",
            "records",
        ),
        *MATCH_RISK[1:],
        number("own_probability", "Σ of the match probability of the target's own record", "records"),
        integer("no_record", "targets without a record that the intruder names"),
    ),
)

HELD = "; empty without a holdout"
NUMBERED = text("file", "the synthetic file, `1` … `m`")
MEASURE_DISTANCES = (
    table(
        "matching/closest.parquet",
        "The distances of each synthetic record, one file after the other, each in the order of the confidential file.",
        integer("file", "the synthetic file, from 1", "file"),
        FILE_KEY,
        FILE_ROW._replace(meaning="row of the confidential file at the same place; the header is row 1"),
        number("confidential", "the smallest score to a confidential record", "score"),
        number("second", "that of the second nearest one; empty if there is one", "score"),
        number("holdout", "the smallest score to a record of the holdout" + HELD, "score"),
        output="records",
        section="8.1",
    ),
    table(
        "matching/closest.csv",
        "Distances to the closest record, one line per synthetic file.",
        NUMBERED,
        integer("n_synthetic", "synthetic records"),
        integer("n_confidential", "n_X, confidential records"),
        integer("n_holdout", "n_H, records of the holdout"),
        number("distance_confidential", "5th percentile of the distance to the confidential file", "score"),
        number("distance_holdout", "the same to the holdout" + HELD, "score"),
        number(
            "ratio_confidential",
            "5th percentile of nearest / second nearest in the confidential file; empty if it has one record",
            "",
        ),
        number("ratio_holdout", "the same in the holdout", ""),
        integer("n_identical", "synthetic records that are identical to a confidential one"),
        integer(
            "n_identical_unique", "of these, identical to a record that is unique in the confidential file"
        ),
        integer("n_identical_holdout", "synthetic records that are identical to one of the holdout" + HELD),
        integer("n_nearer", "synthetic records that are nearer to the confidential file" + HELD),
        integer("n_tied", "synthetic records that are as near to both files" + HELD),
        number("share", "(n_nearer + n_tied / 2) / n_synthetic" + HELD),
        number("expected", "n_X / (n_X + n_H)" + HELD),
        number("low", "lower end of the interval of share − expected, −1 to 1" + HELD, ""),
        number("high", "its upper end" + HELD, ""),
        integer("n_clusters", "nearest records that the synthetic records have" + HELD),
        integer(
            "n_alone_confidential",
            "people of the confidential file with values that no other record of both files and at least one "
            "synthetic record has" + HELD,
        ),
        integer("n_alone_holdout", "the same of the holdout" + HELD),
        number("alone_probability", "probability of at least n_alone_confidential by chance" + HELD),
        boolean(
            "nearer", "whether the share is above its expectation beyond chance; false without a holdout"
        ),
        boolean("copied", "whether n_alone_confidential is beyond chance; false without one"),
        section="8.1",
    ),
    table(
        "matching/distances.csv",
        "Percentiles of the distances to the closest record, one line per synthetic file and percentage.",
        NUMBERED,
        integer("percent", "the percentage of the synthetic records, 0 to 100", "percent"),
        number("confidential", "the percentile of the distance to the confidential file", "score"),
        number("holdout", "that of the distance to the holdout" + HELD, "score"),
        section="8.1",
    ),
)
