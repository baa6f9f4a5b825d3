"""The tables of attribute disclosure (METHODS §12)."""

from __future__ import annotations

from functools import partial

from reident.pipeline.tables.columns import (
    FILE_KEY,
    FILE_ROW,
    Column,
    account,
    boolean,
    declare,
    integer,
    number,
    text,
    warnings,
)

table = partial(declare, section="12")

VALUES = Column(
    "{keys and targets}",
    "integer or number",
    "the code as in `attribution/categories.csv`, or the number of a numeric target; null where missing",
)
KEYS = text("keys", "the set of keys, joined by ` + `")
TARGET = text("target", "the target")
PREPARE_ATTRIBUTION = (
    table(
        "attribution/prepared/original.parquet",
        "The coded original file, one row per record, by key or else by row.",
        FILE_KEY,
        FILE_ROW,
        VALUES,
    ),
    table(
        "attribution/prepared/released.parquet",
        "The coded released files, one after the other, each in the order of its rows.",
        integer(".file", "the released file, from 1", "file"),
        integer(
            ".original",
            "row number of the same person in the prepared original file; null where it is not known",
            "row number",
        ),
        VALUES,
    ),
    table(
        "attribution/prepared/holdout.parquet",
        "The coded holdout, in the order of its rows; no row without one.",
        VALUES,
    ),
    table(
        "attribution/categories.csv",
        "The categories of keys and categorical targets, one line per variable and code.",
        text("variable", "the variable"),
        text("role", "`key` or `target`"),
        integer("code", "the code in the prepared files, from 0", "code"),
        text("label", "the category, or the bin of a numeric key in words"),
        integer("n_original", "records of the original file"),
        integer("n_released", "records of all released files together"),
        boolean("missing", "whether it is the category of missing values"),
        holds="labels",
    ),
    account("attribution"),
    warnings("attribution"),
)

MEASURES = (
    number("n_original", "N, original records that miss neither a key of the set nor the target", "records"),
    number("n_released", "M, such released records", "records"),
    number("uio", "UiO, records that are unique in the original file"),
    number("uis", "UiS, records that are unique in the released file"),
    number("uiois", "UiOiS, uniques of the original file whose cell is in the released file"),
    number("repu", "repU, replicated uniques: their cell is also unique in the released file"),
    number("dorig", "Dorig, records whose original cell discloses their value"),
    number("dsyn", "Dsyn, released records in disclosive cells"),
    number("matched", "iS, original records whose cell is in the released file"),
    number("disclosive", "DiS, original records whose cell is disclosive in the released file"),
    number(
        "disclosive_guess",
        "original records whose cell is disclosive, and for which the best guess without any key is correct",
    ),
    number("disco", "DiSCO, original records whose value is disclosed and correct"),
    number("disdio", "DiSDiO, these if their original cell discloses their value too"),
    number("tcap", "TCAP, mean over released records in disclosive cells; empty without one"),
    number("cap", "CAP, 0 for a record whose cell is not in the released file"),
    number("cap_matched", "CAP of the records whose cell is in the released file; empty without one"),
    number("guess", "expected share of correct best guesses"),
    number("cap_original", "CAP within the original file"),
    number("cap_true_others", "CAP within the original file without the record itself"),
    number(
        "disco_others",
        "DiSCO without the person's own released record; empty if that is not known, as the next two",
    ),
    number("cap_others", "CAP without it"),
    number("guess_others", "correct best guesses without it"),
    number("n_holdout", "records of the holdout that miss neither a key nor the target", "records"),
    number("disco_holdout", "DiSCO of the holdout; empty without one, as the next two"),
    number("cap_holdout", "CAP of the holdout"),
    number("guess_holdout", "correct best guesses of the holdout"),
)
ASSESS_ATTRIBUTION = (
    table(
        "attribution/records.parquet",
        "What is disclosed of each record, one row per target and original record, with the most dangerous set of keys "
        "of the target.",
        FILE_KEY,
        FILE_ROW,
        TARGET,
        KEYS,
        number("cap", "share of the released records of its cell that have its value, mean over the files"),
        integer("n_disclosed", "released files in which its value is disclosed and correct", "files"),
    ),
    table(
        "attribution/summary.csv",
        "The measures of attribute disclosure, one line per target, set of keys and file.",
        TARGET,
        KEYS,
        integer("size", "number of keys", "variables"),
        integer(
            "danger", "1 for the most dangerous set of the target: by DiSCO, then by CAP, of the mean", "rank"
        ),
        text("file", "`1` … `m` for a released file, or `mean` for their mean"),
        *MEASURES,
    ),
    table(
        "attribution/targets.csv",
        "The targets, what is learnt without any key, and the most dangerous set of keys, one line per target.",
        TARGET,
        text("type", "`categorical` or `numeric`"),
        text("within", "`absolute` or `relative` and the size of the radius; empty for categories"),
        integer("n_values", "distinct values in all files", "values"),
        integer("n_missing", "original records that miss it, where they are left out"),
        number("cap", "CAP without a key, the baseline of CAP"),
        number("guess", "correct best guesses without a key"),
        KEYS._replace(meaning="the most dangerous set of keys, joined by ` + `"),
        text("level", "the category that most of its DiSCO records have; empty for numbers, or without one"),
        number("level_share", "their share of its DiSCO records"),
        boolean("dominated", "whether there are at least 50 of these per file, and their share is above 0.9"),
        holds="labels",
        reported=True,
    ),
)
