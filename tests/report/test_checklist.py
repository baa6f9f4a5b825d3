"""The board's checklist in the report: answers, exhibits, what is not assessed, and the decision."""

from typing import get_args

import pytest
from making.filerisk import write_filerisk
from making.matching import write_matching
from making.report import Shape, write_results
from reident.page import layout
from reident.page.wording import NO_BREAK, whole
from reident.report.blocks import checklist
from reident.report.blocks.exhibits import EXHIBITS
from reident.report.results import Results
from reident.sections.checklist import Exhibit
from workflow.hostile import LABELS


def asked(*questions, title="Ours"):
    """Questions, each an id with its exhibits, in two topics."""
    listed = [
        {"id": name, "text": f"Is {name} so?", "why": "It matters.", "exhibits": names} for name, names in questions
    ]
    topics = [{"title": "First", "questions": listed[:1]}, {"title": "Second", "questions": listed[1:]}]
    return {"title": title, "topics": [topic for topic in topics if topic["questions"]]}


FOUR = asked(("open", []), ("answered", []), ("computed", ["smallest_stratum"]), ("both", ["agency", "dis"]))


@pytest.fixture
def results(tmp_path):
    """Return a function that makes results with a checklist."""

    def make(questions=FOUR, **shape):
        given = {name: shape.pop(name) for name in ("answers", "decision") if name in shape}
        checklist = {"questions": questions, **given}
        return Results(write_results(tmp_path / "results", Shape(checklist=checklist, **shape)))

    return make


def shown(results):
    return "\n\n".join(
        map(str, layout.section(results, "checklist.main", checklist.checklist, *checklist.checklist_topics(results)))
    )


def test_every_exhibit_that_a_checklist_may_name_is_registered():
    assert set(EXHIBITS) == set(get_args(Exhibit))


def test_a_question_is_answered_by_the_study_by_results_by_both_or_not_at_all(results):
    made = results(answers={"answered": "Yes.", "both": "No."})
    text = shown(made)
    smallest = made.table("strata/manifest.csv")["n_puf"].min()
    assert (
        "“Ours” has 4 questions. Answered by the study or by results of this report: 3. Not assessed:\n1."
        in text.replace(" 1.", "\n1.")
    )
    blocks = text.split("::: {.question}")[1:]
    assert [block.count("[Not assessed]{.unsure}") for block in blocks] == [1, 0, 0, 0]
    assert r"Yes\." in blocks[1]
    assert f"the smallest has {smallest:,} record" in blocks[2]
    assert "[Source: `strata/manifest.csv`.]{.aside}" in blocks[2]
    assert r"No\." in blocks[3]
    assert "The file is released by: Statistics Ruritania. [Source: the study file.]{.aside}" in blocks[3]
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# The board’s checklist",
        "## First",
        "## Second",
    ]


RATES = [
    ("a rate", {}, ["conditional_rate"], True),
    ("no rate where nothing is suspected", {"metrics": ("taxicab",), "nothing_suspected": ("taxicab",)},
     ["conditional_rate"], False),
    ("a rate of 0 where nothing is confirmed", {"metrics": ("taxicab",), "nothing_confirmed": ("taxicab",)},
     ["conditional_rate"], True),
    ("no rate where nothing could be confirmed", {"linked": 0, "lost": False},
     ["conditional_rate", "confirmed", "reach"], False),
    ("no agency", {"agency": ""}, ["agency"], False),
    ("no date", {"date": None}, ["date"], False),
    ("no strata", {"strata": None}, ["strata_variables"], False),
    ("no cluster", {}, ["clusters"], False),
    ("clusters", {"cluster": ("house",)}, ["clusters"], True),
    ("before protection", {"original": True}, ["protection"], True),
    ("no limit", {"limit": None}, ["verdict"], True),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "shape", "exhibits", "answered"), RATES, ids=[case[0] for case in RATES])
def test_an_exhibit_answers_only_where_it_is_defined(results, sentence, shape, exhibits, answered):
    made = results(asked(*((name.replace("_", "-"), [name]) for name in exhibits)), **shape)
    assert shown(made).count("[Not assessed]{.unsure}") == (0 if answered else len(exhibits))


def test_exhibits_are_the_numbers_of_their_tables(results):
    made = results(original=True)
    whole_study, text = made.whole, {name: block(made) for name, block in EXHIBITS.items()}
    best = whole_study["conditional_rate"].idxmax()
    share = f"{100 * whole_study.at[best, 'conditional_rate']:.1f}{NO_BREAK}%"
    assert text["conditional_rate"] == f"The highest conditional rate is {share} ({best.capitalize()})."
    assert text["records"] == f"The file has {whole_study['n_puf'].iloc[0]:,.0f} records that can be compared."
    assert text["date"] == "The report is of 2 March 2026."
    assert (
        text["numeric_variables"]
        == "Numbers among the variables that the intruder compares: age, income, rent and hours."
    )
    n = made.table("description/overlap.csv").query("set == 'confirmed'")["n_pufids"].sum()
    assert text["confirmed"].startswith(f"{n:,} records in the file (")
    lines = made.table("protection/rates.csv").query("stratum == 'ALL'").set_index("metric")
    metric = lines["n_confirmed_before"].idxmax()
    before, after = (f"{lines.at[metric, f'n_confirmed_{side}']:,.0f}" for side in ("before", "after"))
    assert text["protection"] == (
        f"Confirmed records by {metric.capitalize()}: {before} before protection, {after} after it."
    )
    assert text["verdict"].startswith("Above the limit. Limits that are broken: ")
    assert text["warnings"].startswith(f"There are {len(made.warnings)} warnings, of which 0 may invalidate")


def test_the_risk_of_a_file_is_shown_as_in_its_section(tmp_path):
    made = Results(write_filerisk(tmp_path / "results"))
    summary = made.table("filerisk/summary.csv").set_index("quantity")["value"]
    text = {name: block(made) for name, block in EXHIBITS.items()}
    complete = int(summary["records"]) - int(summary["records_missing_a_value"])
    which = " that have a value of every key variable" if complete < int(summary["records"]) else ""
    assert text["uniques"].startswith(f"{int(summary['U']):,} of {complete:,} records{which} (")
    share = f"{100 * float(summary['dis']):.1f}{NO_BREAK}%"
    assert text["dis"] == f"A unique match is estimated to be correct with probability {share} (DIS)."
    smallest = made.table("filerisk/cells.csv")["cell_size"].min()
    assert f"smallest cell of the key has {smallest} record" in text["k_anonymity"]
    assert text["conditional_rate"] is text["matching"] is None


def test_the_risk_of_synthetic_files_is_their_mean(tmp_path):
    made = Results(write_matching(tmp_path / "results"))
    mean = made.table("matching/summary.csv").set_index("file").loc["mean"]
    assert EXHIBITS["matching"](made).startswith(f"Expected match risk: {mean['expected_match_risk']:,.6g} records.")


# The decision ---------------------------------------------------------------------------------------

PEOPLE = [{"name": "A. *Adams*", "role": "chair"}, {"name": "B. Brown", "role": "member"}]
DECIDED = {"board": "", "date": "2026-03-09", "names": PEOPLE, "conditions": []}


@pytest.mark.parametrize(
    ("decision", "conditions", "marked"),
    [
        ("approved", [], "☒ Release as it is"),
        ("approved with conditions", ["Drop <b>age</b>.", "Swap $x$."],
         "☒ Release with these changes or conditions:"),
        ("rejected", [], "☒ Do not release"),
    ],
)  # fmt: skip
def test_a_decision_is_shown_with_its_conditions_and_who_signs(results, decision, conditions, marked):
    recorded = {**DECIDED, "decision": decision, "conditions": conditions}
    text = checklist.sign_off(results(decision=recorded, answers={"open": "Yes."}))
    assert text.count("☒") == 1
    assert marked in text
    assert all(f"- {whole(condition)}" in text for condition in conditions)
    assert "On 9 March 2026, the board read this report" in text
    assert r"A\. \*Adams\*, chair" in text
    assert text.count("Signature") == 2
    assert "One question of the checklist is not assessed." in text


def test_hostile_prose_survives_the_table_and_ends_no_block(results):
    labels = [
        label for label in (" ".join(text.split()) for text in LABELS) if label.isprintable() and 0 < len(label) < 300
    ]
    names = [f"q-{at}" for at in range(len(labels))]
    questions = asked(*((name, []) for name in names), title=labels[0])
    for topic in questions["topics"]:
        topic["title"] = labels[1]
        for question in topic["questions"]:
            question["text"] = question["why"] = labels[int(question["id"][2:])]
    text = shown(results(questions, answers=dict(zip(names, labels, strict=True))))
    lines = text.splitlines()
    assert lines.count("::: {.question}") == lines.count(":::") == len(labels)
    for label in labels:
        assert whole(label) in lines
