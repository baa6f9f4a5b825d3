"""The tables of the steps that resolve a study, simulate its files, or mask a file (METHODS §9)."""

from __future__ import annotations

from reident.pipeline.tables.columns import Column, account, declare, integer, number, select, text

RESOLVE = (declare("study.json", "The study with every default filled in, as JSON."),)

CHECKLIST = (
    declare(
        "checklist.csv",
        "The questions of the board's checklist with the answers of the study, one line per question, in their order.",
        text("checklist", "the title of the checklist"),
        text("topic", "the heading of the question"),
        text("id", "the id of the question"),
        text("question", "the question"),
        text("why", "why the board asks it"),
        text("exhibits", "the results of the report that answer it, joined by `, `; empty without one"),
        text("answer", "the answer of the study; empty without one"),
        output="questions",
    ),
)

PUFID = text("pufid", "the key of the PUF record")
BROKER = (
    text("broker", "the data broker, first part of the key of the EIF record"),
    text("serial", "the record's number with the broker, second part of the key"),
)
LINKING = (
    text("REGION", "region"),
    text("AGE", "age in years"),
    text("SEX", "sex"),
    text("MARSTAT", "marital status"),
    text("HHSIZE", "size of the household"),
    text("EDUC", "education"),
    text("OCC", "occupation"),
    text("HOURS", "weekly working hours"),
    text("INCOME", "income"),
    text("TENURE", "tenure of the dwelling"),
    text("HOUSCOST", "housing cost"),
)
HEALTH = text("HEALTH", "health, the sensitive variable")
HELD = (
    text("state", "region, in the broker's words"),
    text("age_years", "age in years"),
    text("gender", "sex, in the broker's words"),
    text("marital", "marital status, in the broker's words"),
    text("hh_members", "size of the household"),
    text("schooling", "education, in the broker's words"),
    text("job", "occupation, in the broker's words"),
    text("weekly_hours", "weekly working hours"),
    text("income_est", "estimated income"),
    text("home", "tenure of the dwelling, in the broker's words"),
    text("home_cost", "housing cost"),
)
PERSON = text(
    "person", "the person, as every broker names them", only="studies with `simulate.brokers.person`"
)
SIMULATE = (
    declare(
        "simulated/puf.csv",
        "The simulated PUF, one line per record, in random order.",
        PUFID,
        *LINKING,
        HEALTH,
        holds="records",
    ),
    declare(
        "simulated/eif.csv",
        "The simulated EIF, one line per record of a data broker, in random order.",
        *BROKER,
        PERSON,
        *HELD,
        holds="records",
    ),
    declare(
        "simulated/iuf.csv",
        "The true links, one line per link, with the values of the PUF record before protection, in random order.",
        PUFID,
        *BROKER,
        *LINKING,
        holds="records",
    ),
)

SYNTHESIZE = (
    declare(
        "simulated/{side}.csv",
        "The simulated confidential file (`confidential`), a synthetic file (`synthetic_1`, `synthetic_2` …) or the "
        "holdout (`holdout`). Row i of every file but the holdout is about the same person.",
        *LINKING[:6],
        *select(LINKING, "TENURE", "OCC", "INCOME"),
        HEALTH,
        output="file",
        holds="records",
        section="8",
    ),
)

PERSON = text("person", "the key of the record")
AMOUNTS = text("x{1 … v}", "a positive amount")
SIMULATE_AMOUNTS = (
    declare(
        "simulated/original.csv",
        "A simulated file of skewed positive amounts, one line per record, by key.",
        PERSON,
        AMOUNTS,
        holds="records",
        section="9",
    ),
)

AREA = (
    text("AREA", "the local authority, 1 or 2"),
    text("AGE", "age group"),
    text("SEX", "sex"),
    text("MARSTAT", "marital status"),
    text("RELAT", "relation to the head of the household"),
    text("HHSIZE", "size of the household"),
    text("TENURE", "tenure of the dwelling"),
    text("ROOMS", "number of rooms"),
    text("CARS", "number of cars"),
    text("EDUC", "education"),
    text("ECON", "economic activity"),
    text("OCC", "occupation"),
    text("ILLNESS", "long-term illness"),
)
POPULATE = (
    declare(
        "simulated/survey.csv",
        "The simulated survey, the same fraction of each local authority, in random order.",
        text("SERIAL", "the key of the record"),
        *AREA,
        holds="records",
        section="7",
    ),
    declare(
        "simulated/population.csv",
        "The simulated census of two local authorities, one line per person.",
        *AREA,
        holds="records",
        section="7",
    ),
)

MASKED_KEY = text("pufid", "the key of the PUF record, drawn at random")
ORIGINAL_KEY = text("{key of the original file}", "the key of the record in the file that is masked")


def _values(meaning: str) -> Column:
    return text("{columns of the original file}", meaning)


MICROAGGREGATE = (
    declare(
        "microaggregation/puf.csv",
        "The masked records that are released, by key. A source file of the steps that follow.",
        MASKED_KEY,
        _values("the values that the study uses, masked where the study lists them"),
        holds="records",
        section="9",
    ),
    declare(
        "microaggregation/eif.csv",
        "The file that the intruder holds, by key. A source file of the steps that follow.",
        ORIGINAL_KEY,
        _values("the original values that the study uses, or values that deviate from them"),
        holds="records",
        section="9",
    ),
    declare(
        "microaggregation/iuf.csv",
        "The true links between the two files, by key of the PUF. A source file of the steps that follow.",
        MASKED_KEY,
        ORIGINAL_KEY,
        holds="records",
        section="9",
    ),
    declare(
        "microaggregation/variables.csv",
        "What masking did, one line per masked variable in the order of the study. Fractions have six decimals.",
        text("variable", "the column of the original file"),
        integer("n_records", "records of the original file"),
        integer("n_missing", "records in which the value is missing"),
        integer("n_distinct", "distinct original values", "values"),
        integer("n_masked", "distinct masked values", "values"),
        integer("n_groups", "groups", "groups"),
        integer("n_smallest", "size of the smallest group"),
        integer("n_largest", "size of the largest group"),
        number("variance_kept", "variance of the masked values, divided by that of the original values"),
        number("largest_r2", "largest R² of the original values with another masked variable"),
        section="9",
    ),
    account("microaggregation"),
)
