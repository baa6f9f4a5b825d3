"""The tables of the risk of one file, of the comparison and of the report (METHODS §7)."""

from __future__ import annotations

from functools import partial

from reident.pipeline.tables.columns import (
    FILE_KEY,
    FILE_ROW,
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

table = partial(declare, section="7")

KEY_CODES = integer(
    "{key variables}", "code of the value as in `filerisk/categories.csv`; null where missing", "code"
)
PREPARE_FILERISK = (
    table(
        "filerisk/prepared/file.parquet",
        "The coded file, one row per record, by key or else by row.",
        FILE_KEY,
        FILE_ROW,
        number(".weight", "sampling weight", "records", only="studies that take f from the weights"),
        integer(".household", "household, from 0", "household", only="studies with households"),
        KEY_CODES,
        integer(
            "{sensitive variables}",
            "number of the value, for a numeric variable of the bin as in `filerisk/categories.csv`; null where "
            "missing",
            "code",
            only="studies with sensitive variables",
        ),
    ),
    table(
        "filerisk/prepared/population.parquet",
        "The coded population, one row per person, by stratum and codes; no row without a population.",
        integer(".stratum", "stratum of the numerical study, from 0", "stratum"),
        KEY_CODES,
    ),
    table(
        "filerisk/prepared/original.parquet",
        "The coded values before perturbation, one row per record, in the order of the prepared file; no row without "
        "`file_risk.original`.",
        KEY_CODES,
    ),
    table(
        "filerisk/categories.csv",
        "The categories of the key variables and the bins of numeric sensitive ones, one line per variable and code.",
        text("variable", "the variable"),
        integer("code", "the code in the prepared files, from 0", "code"),
        text("label", "the category, or the bin of a numeric variable in words"),
        integer("n_file", "records of the file"),
        integer("n_population", "records of the population; 0 without one"),
        boolean("missing", "whether it is the category of missing values"),
        holds="labels",
        reported=True,
    ),
    account("filerisk"),
    warnings("filerisk"),
)

DEFINITION = text("definition", "the definition of DIS-SUDA: `elliot-manning` or `user-guide`")
ABOVE = number("above", "lower end of the class, not in it; the first class is exactly 0")
UP_TO = number("up_to", "upper end of the class; the last class is exactly 1")
TRUTH = (
    number("mean_dis_suda", "mean DIS-SUDA; empty without a record"),
    number("mean_reciprocal", "mean reciprocal of the population cell; empty without a population or record"),
    number(
        "match_probability",
        "records / persons in their population cells; empty without a population or record",
    ),
)
N_MSU = integer("n_msu", "minimal sample uniques", "MSUs")
DIS = "DIS, general form; empty where U = P = 0"
ASSESS_FILE = (
    table(
        "filerisk/records.parquet",
        "The risk of each record, one row per record, in the order of the prepared file.",
        FILE_KEY,
        FILE_ROW,
        integer(
            "cell_size",
            "size of the record's cell, 0 where it misses a value of the key; with `missing: wildcard` the number "
            "of records that match it, itself included",
        ),
        boolean("unique", "whether it is a sample unique"),
        boolean("special_unique", "whether it is a special unique: unique on a proper subset of the key too"),
        N_MSU._replace(meaning="minimal sample uniques of the record"),
        integer("min_msu", "size of the smallest; null without one", "variables"),
        text("smallest_msu", "the first smallest, variables joined by ` × `; empty without one"),
        number("suda", "SUDA score", ""),
        number("dis_suda", "DIS-SUDA by the definition that the study chooses"),
        number("dis_suda_elliot_manning", "DIS-SUDA by the definition `elliot-manning`"),
        number("dis_suda_user_guide", "DIS-SUDA by the definition `user-guide`"),
        number(
            "population_reciprocal",
            "reciprocal of the record's population cell; null where the population has no such cell",
            only="studies with a population",
        ),
        integer(
            "n_coarser", "coarser keys on which a sample unique is still unique; 0 for other records", "keys"
        ),
    ),
    table(
        "filerisk/summary.csv",
        "The measures of the file, one line per quantity.",
        text("quantity", "the name of the quantity: `records`, `U`, `P`, `dis` …"),
        text("value", "an integer, a number with 12 decimals, or a word; empty where undefined"),
    ),
    table(
        "filerisk/definitions.csv",
        "DIS-SUDA by both definitions, one line per definition.",
        DEFINITION,
        boolean("chosen", "whether the study chooses the definition"),
        integer("U", "sample uniques"),
        integer("P", "records in cells of size two"),
        number("f", "sampling fraction of the cells"),
        number("Q", "exponent of the user guide; empty for `elliot-manning`", ""),
        number("dis", DIS),
        number("sum", "sum of DIS-SUDA over all records", "records"),
        number("mean", "mean of DIS-SUDA over the sample uniques"),
        number("largest", "largest DIS-SUDA of a record"),
        integer("n_one", "records whose DIS-SUDA is 1"),
        number("correlation", "correlation with the population reciprocal; empty without a population", ""),
        compared=Lines("filerisk", "chosen", True),
    ),
    table(
        "filerisk/hazards.csv",
        "What makes a definition doubtful for this file, one line per definition and hazard.",
        DEFINITION,
        text("hazard", "one sentence"),
    ),
    table(
        "filerisk/cells.csv",
        "Cells of the whole key by size, one line per size that occurs.",
        integer("cell_size", "size of the cell, or number of records that match with `missing: wildcard`"),
        integer("n_cells", "cells of the size; empty with `missing: wildcard`", "cells"),
        integer("n_records", "records in these cells"),
    ),
    table(
        "filerisk/sizes.csv",
        "Minimal sample uniques (MSUs) by size, one line per size that was searched.",
        integer("size", "number of variables", "variables"),
        N_MSU,
        integer("n_records", "records with at least one of the size"),
        number("weight", "what an MSU of the size adds to the SUDA score", ""),
    ),
    table(
        "filerisk/variables.csv",
        "The key variables, one line per variable.",
        text("variable", "the key variable"),
        integer("n_levels", "categories that occur in the file", "categories"),
        integer("n_missing", "records in which it is missing"),
        integer("n_alone", "records that are unique on this variable alone"),
        N_MSU._replace(meaning="minimal sample uniques that contain it"),
        number("contribution", "share of the total SUDA score in MSUs that contain it; empty if that is 0"),
    ),
    table(
        "filerisk/levels.csv",
        "The categories of the key variables that occur in the file, one line per variable and category.",
        text("variable", "the key variable"),
        text("level", "the category, or the bin of a numeric variable in words"),
        integer("n_records", "records with it"),
        N_MSU._replace(meaning="minimal sample uniques that contain it"),
        number("contribution", "share of the total SUDA score in MSUs that contain it; empty if that is 0"),
        holds="labels",
        reported=True,
    ),
    table(
        "filerisk/scores.csv",
        "Records by the order of magnitude of their SUDA scores; the first line is a score of exactly 0.",
        number("above", "lower end of the class, not in it", ""),
        number("up_to", "upper end of the class", ""),
        integer("n_records", "records in the class"),
    ),
    table(
        "filerisk/classes.csv",
        "Records by class of DIS-SUDA, one line per definition and class.",
        DEFINITION,
        ABOVE,
        UP_TO,
        integer("n", "records in the class"),
        *TRUTH,
    ),
    table(
        "filerisk/coarser.csv",
        "Sample uniques by coarser keys, one line per key variable that is dropped, then one per item of `collapse`.",
        text("variable", "the key variable"),
        text("change", "`dropped`, or `collapsed` to coarser codes"),
        integer("n_levels", "categories that are left; empty where it is dropped", "categories"),
        integer("n_surviving", "sample uniques that are unique on the coarser key too"),
        number("share_surviving", "the same as a share of the sample uniques; empty without one"),
        number(
            "half_surviving",
            "expected uniques of a half of the file that are unique in it on the coarser key too",
            "records",
        ),
        number("half_other", "expected uniques of a half of the file that are not", "records"),
        number("still_surviving", "share of `half_surviving` that is unique in the file; empty without any"),
        number("still_other", "share of `half_other` that is unique in the file; empty without any"),
        number(
            "truth_surviving",
            "surviving uniques / persons in their population cells; empty without a population or record",
        ),
        number("truth_other", "the same of the other uniques"),
    ),
    table(
        "filerisk/conventions.csv",
        "Records that violate k-anonymity, one line per convention for missing values.",
        text("convention", "`excluded`, `category` or `wildcard`", kind=Dimension("other")),
        integer("n_records", "records that are counted", kind=Count("file_records")),
        *(
            integer(
                f"below_{k}",
                f"records with fewer than {k} matches, themselves included",
                kind=Count(f"below_{k}"),
            )
            for k in (2, 3, 5)
        ),
        released=True,
    ),
)
SAMPLE_POPULATION = (
    table(
        "filerisk/by_sample.csv",
        "Samples of the population, one line per sample.",
        integer("sample", "the sample, from 1", "sample"),
        integer("n", "records of the sample"),
        integer("uniques", "U, sample uniques"),
        integer("in_pairs", "P, records in cells of size two"),
        number("dis", DIS),
        number("match_probability", "what DIS estimates: U / persons in the population cells of the uniques"),
        number("mean_reciprocal", "mean reciprocal of the population cells of the uniques"),
        *(
            number(f"correlation {name}", f"correlation of DIS-SUDA by `{name}` with the reciprocal", "")
            for name in ("elliot-manning", "user-guide")
        ),
    ),
    table(
        "filerisk/by_class.csv",
        "Records of all samples by class of DIS-SUDA, one line per definition and class.",
        DEFINITION,
        ABOVE,
        UP_TO,
        integer("n", "records in the class"),
        *TRUTH,
    ),
    table(
        "filerisk/by_tenth.csv",
        "Sample uniques of all samples in tenths by DIS-SUDA, one line per definition and tenth. "
        "Equal values are in the same tenth.",
        DEFINITION,
        integer("tenth", "the tenth, from 1 for the lowest values", "tenth"),
        integer("n", "sample uniques in the tenth"),
        *TRUTH,
    ),
)

COMPARED_COLUMNS = "{columns of the compared table}"
COMPARE_VARIANTS = (
    table(
        "comparison/{table}.csv",
        "The lines of one table about the whole study, for the study and each of its variants.",
        text(
            "variant",
            "the variant's id; `study` for a study that is not one of its variants",
            kind=Dimension("variant"),
        ),
        text("reference", "`yes` for the study as its file says, otherwise `no`", kind="label"),
        text("set_{what varies}", "the value or label of what varies", kind="label"),
        text(COMPARED_COLUMNS, "as there, without the column that selects the lines"),
        output="comparison",
        section="",
        released=True,
    ),
)
REPORT = (
    table(
        "disclosure-review.ipynb",
        "The executed notebook from which the report is rendered.",
        output="notebook",
        holds="labels",
        section="",
    ),
)
