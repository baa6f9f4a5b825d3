"""The tables of several keys at once (METHODS §7.5)."""

from __future__ import annotations

from functools import partial

from reident.pipeline.tables.columns import declare, integer, number, text

table = partial(declare, section="7.5")

SET = (
    text("scenario", "the scenario; empty for a set of `key_sets`"),
    text("keys", "the key variables, joined by ` + `"),
    integer("size", "number of key variables", "variables"),
)
POPULATION_ONLY = "empty without a population"

ASSESS_SCENARIOS = (
    table(
        "filerisk/scenarios.csv",
        "The risk of the file by what an intruder knows, one line per scenario, then one per set of key variables.",
        *SET,
        integer("n_records", "records of the file"),
        integer("n_compared", "records in cells of the set"),
        integer("smallest", "the k of k-anonymity: records of the smallest cell; empty without a cell"),
        integer("n_unique", "sample uniques"),
        number("unique_share", "sample uniques / records in cells; empty without one"),
        integer("below_3", "records in cells of fewer than three"),
        integer("below_5", "records in cells of fewer than five"),
        number("expected_matches", "Σ 1/f over the records in cells", "records"),
        number("global_risk", "sum of the individual risks of Benedetti and Franconi", "records"),
        number("households", "expected re-identified households; empty without households", "households"),
        number("dis", "DIS, general form; empty where it is undefined"),
        integer("true_uniques", f"sample uniques that are unique in the population; {POPULATION_ONLY}"),
        number("true_matches", f"Σ 1/F over the sample uniques; {POPULATION_ONLY}", "records"),
        number("true_risk", f"Σ 1/F over the records in cells; {POPULATION_ONLY}", "records"),
        number(
            "true_households",
            "expected re-identified households by 1/F; empty without a population or households",
            "households",
        ),
    ),
    table(
        "filerisk/diversity.csv",
        "The diversity of each sensitive variable, one line per line of `filerisk/scenarios.csv` and "
        "variable that is not in its set.",
        *SET,
        text("target", "the sensitive variable"),
        integer("n_records", "records that miss neither a key variable of the set nor the sensitive one"),
        integer(
            "distinct_l", "fewest values in a cell; empty without a cell, as the measures after it", "values"
        ),
        integer("n_one_value", "records in cells with one value"),
        number("one_value_share", "the same / `n_records`"),
        integer("n_shared_value", "those of them in cells of at least two records"),
        number("entropy_l", "e to the smallest entropy of a cell", "values"),
        number(
            "recursive_2",
            "the file is recursive (c, 2)-diverse for every c above this; empty where it is for no c",
            "",
        ),
        number("recursive_3", "the same of recursive (c, 3)-diversity", ""),
        number("t", "t-closeness: largest variational distance between a cell and the file"),
    ),
    table(
        "filerisk/set_variables.csv",
        "What each variable adds to the sets of `key_sets`, one line per variable; no line without sets.",
        text("variable", "the key variable"),
        integer("n_sets", "sets with it", "sets"),
        integer("n_with_unique", "of these, sets with at least one sample unique", "sets"),
        integer("n_unique", "records that are unique on at least one of these sets"),
        number("unique_share", "mean share of sample uniques of the sets with it; empty if undefined"),
        number(
            "added_share", "mean difference between the share of a set with it and that of the set without it"
        ),
    ),
)
