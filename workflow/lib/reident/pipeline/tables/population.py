"""The tables of the models of the population (METHODS §7.1–7.4)."""

from __future__ import annotations

from reident.pipeline.tables.columns import FILE_KEY, FILE_ROW, boolean, declare, integer, number, text

MODEL_POPULATION = (
    declare(
        "filerisk/individual.parquet",
        "The individual risk of each record, one row per record, in the order of the prepared file.",
        FILE_KEY,
        FILE_ROW,
        integer("matches", "records that match it on the key, itself included; 0 where it is in no cell"),
        number(
            "people", "estimated people of the population who match it; null where it is in no cell", "people"
        ),
        number("individual_risk", "risk of Benedetti and Franconi; null where it is in no cell"),
        number(
            "log_linear_risk",
            "expected 1 / people in its cell by the recommended log-linear model; null unless it is a unique",
        ),
        number(
            "household_risk",
            "probability that at least one record of its household is re-identified",
            only="studies with households",
        ),
        number(
            "true_risk",
            "reciprocal of the people of the population who match it; null without any",
            only="studies with a population",
        ),
        section="7.2",
    ),
    declare(
        "filerisk/population.csv",
        "What each model estimates, one line per model and quantity, in the order of the models.",
        text("kind", "`individual`, `log-linear` or `uniqueness`"),
        text("model", "the model; for interactions, the variables of each joined by ` × `"),
        text(
            "quantity",
            "`expected_reidentifications`, `correct_matches` (of sample uniques), `households` (re-identified), "
            "`uniques_in_sample` (sample uniques that are population uniques) or `population_uniques`",
        ),
        number("estimate", "the estimate; empty where the model gives no estimate", "records"),
        number(
            "low", "lower end of the interval of 95 %; empty where the model gives no interval", "records"
        ),
        number(
            "high", "upper end of the interval of 95 %; empty where the model gives no interval", "records"
        ),
        number("truth", "the true value; empty without a population", "records"),
        number("bias", "estimated bias by a wrong model, log-linear models only", "records"),
        number("test", "the bias divided by its standard error, log-linear models only", ""),
        boolean("recommended", "whether the value is the recommended one of the quantity"),
        text(
            "status",
            "`ok`, or why an estimate, interval or test is missing: `no_cell`, `no_unique`, `no_pair`, "
            "`not_converged`, `wildcard`, `table_too_large`, `whole_population`; or why the model that the rule of "
            "Dankar et al. chooses is not recommended: `contradicted`, `unsupported`",
        ),
        output="population_models",
        section="7.1",
    ),
    declare(
        "filerisk/individual_classes.csv",
        "Records, and households where the study has them, by class of individual risk, one line per class.",
        text("unit", "`records` or `households`"),
        number("above", "lower end of the class, not in it; the first class is exactly 0"),
        number("up_to", "upper end of the class"),
        integer("n", "records or households in the class", "records or households"),
        number("expected", "sum of their risks", "records or households"),
        section="7.2",
    ),
)
