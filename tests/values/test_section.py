"""The section `confirm`: what it takes, what it refuses, and how its limit is judged."""

import copy
import re
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from making import values as made
from making.confirmed import SPEC, texts
from reident import confirm_values
from reident.errors import InputError
from reident.linkage.metrics.contract import ScoringContext
from reident.pipeline import steps
from reident.sections.decision import Decision
from reident.study.model import Study, load
from reident.values import limits, prepare, rates, step
from reident.values.section import ROW
from reident.verdict import limits as verdict
from reident.verdict import step as verdict_step

LINE = {
    "metric": "euclidean", "stratum": "ALL", "people": "all", "n_persons": 100, "putative": 50.0, "excess": 0.04,
    "excess_low": 0.01, "excess_high": 0.07,
}  # fmt: skip


def with_(**keys):
    spec = copy.deepcopy(SPEC)
    for key, value in keys.items():
        *path, last = key.split("__")
        place = spec
        for name in path:
            place = place.setdefault(name, {})
        place[last] = value
    return spec


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"release": {"policy": "opensafely"}}, "`.release` must not be given with `confirm`"),
        ({"why": {}}, "`.why` must not be given with `confirm`"),
        ({"challenge": "none"}, "`.challenge` must not be given with `confirm`"),
        ({"rank_filter": {"max_pairs": 3}}, "`.rank_filter` must not be given with `confirm`"),
        ({"files__iuf__puf_id": "record"}, "`.files.iuf.puf_id` must not be given with `confirm`"),
        ({"files__original": {"path": "o.csv"}}, "`.files.original` must not be given with `confirm`"),
        (
            {"decision": {"conditional_rate_at_most": 0.1}},
            "`.decision.conditional_rate_at_most` must not be given with",
        ),
        ({"metrics": {"winkler": {}}}, "`.metrics.winkler` must not be given with `confirm`"),
        ({"metrics": {"fellegi_sunter": {"m": "informed"}}}, "`.metrics.fellegi_sunter` must not have `m: informed`"),
        ({"confirm__within": {"sex": 1}}, "`.confirm.within.sex` must be a numeric variable"),
        ({"confirm__learn": ["race", "age"]}, "`age` must not be both in `confirm.learn`"),
        ({"metrics": None}, "`.files` must not be given without `metrics`"),
    ],
)
def test_what_needs_true_links_is_refused_in_a_sentence(keys, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        Study.model_validate(with_(**keys))


def test_the_study_needs_no_links_and_runs_no_step_that_does():
    study = Study.model_validate(SPEC)
    assert study.files.puf.id == study.files.iuf.puf_id == (ROW,)
    assert {one.rule for one in steps.wanted(study)} == {"confirm_values", "judge", "resolve", "report"}


def test_the_example_is_what_its_script_draws(tmp_path):
    made.write(tmp_path)
    for file in made.EXAMPLE.glob("*.csv"):
        assert (tmp_path / file.name).read_bytes() == file.read_bytes(), file.name
    assert load(Path(made.EXAMPLE.parent / "example-values.yaml")).confirm is not None


def test_reconstructed_records_have_the_tables_of_the_people():
    people = [tuple(row.values()) for row in texts("synthetic")["iuf"][0].drop(["person"]).to_pylist()]
    records = made.reconstructed(people)
    assert records != people
    for chosen in ((0, 1, 2), (0, 3, 4)):
        count = [sorted(tuple(one[at] for at in chosen) for one in part) for part in (people, records)]
        assert count[0] == count[1]


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, "unsure"),
        ({"excess": 0.06}, "breaks"),
        ({"excess": 0.06, "excess_low": -0.01}, "unsure"),
        ({"excess": 0.06, "excess_low": float("nan"), "excess_high": float("nan")}, "breaks"),
        ({"putative": 9.0, "excess": 0.06, "excess_low": float("nan"), "excess_high": float("nan")}, "unsure"),
        ({"excess_high": 0.05}, "passes"),
        ({"putative": 9.0, "excess": 0.06}, "unsure"),
        ({"putative": 9.0, "excess": 0.06, "excess_low": 0.051}, "breaks"),
        ({"excess": float("nan")}, "nothing"),
        ({"n_persons": 0, "excess": float("nan")}, "none"),
    ],
)
def test_the_limit_is_judged_by_the_excess(changes, outcome):
    decision = Decision(excess_precision_at_most=0.05)
    (judged,) = limits.outcomes(decision, pd.DataFrame([LINE | changes]))
    assert judged.outcome == outcome


def test_the_larger_excess_of_both_groups_is_judged():
    decision = Decision(excess_precision_at_most={"euclidean": 0.05})
    lines = pd.DataFrame([LINE, LINE | {"people": "unusual", "excess": 0.2, "excess_low": 0.1}])
    (judged,) = limits.outcomes(decision, lines)
    assert (judged.value, judged.outcome) == (0.2, "breaks")


def test_a_larger_excess_that_may_be_chance_hides_no_broken_limit():
    lines = [
        LINE | {"excess": 0.08, "excess_low": 0.06},
        LINE | {"people": "unusual", "excess": 0.2, "excess_low": -0.1},
    ]
    for ordered in (lines, lines[::-1]):
        (judged,) = limits.outcomes(Decision(excess_precision_at_most=0.05), pd.DataFrame(ordered))
        assert (judged.value, judged.outcome) == (0.08, "breaks")


def test_a_limit_without_a_table_has_a_line_and_is_not_met():
    judged = verdict.judge(verdict_step.judging(Study.model_validate(SPEC)), {})
    assert judged.limits[["about", "metric", "outcome"]].to_numpy().tolist() == [
        ["confirm", metric, "none"] for metric in SPEC["metrics"]
    ]
    assert judged.verdict.iloc[0]["verdict"] == "none"


def test_a_file_without_a_common_code_or_person_is_refused():
    settings = step.confirming(Study.model_validate(SPEC))
    files = texts("synthetic")
    for side, column, words in (
        ("puf", "race", "no code of `race` is in both files"),
        ("iuf", "person", "at least one"),
    ):
        other = dict(files)
        text = files[side][0]
        at = text.column_names.index(column)
        other[side] = [text.set_column(at, column, pa.array([f"?{one}" for one in text[column].to_pylist()]))]
        with pytest.raises(InputError, match=words):
            prepare.prepare(settings, other)


def test_a_table_of_adhoc_is_read_from_the_side_of_the_people():
    """Released `m` beside external `f` scores 5, and the other way round 0: the claims show which file is which."""
    released = pd.DataFrame({"sex": ["m", "f"], "race": ["A", "B"]})
    external = pd.DataFrame({"person": ["x"], "sex": ["f"]})
    confidential = pd.DataFrame({"person": ["x", "y"], "race": ["A", "B"]})
    cells = [{"puf": "m", "eif": "f", "score": 5}]
    found = confirm_values(
        released, external, confidential, variables={"sex": "categorical"}, learn=["race"],
        metrics={"adhoc": {"threshold": 1, "scores": {"sex": {"table": cells}}}},
    )  # fmt: skip
    line = found.rates.iloc[0]
    assert (line["putative"], line["confirmed"]) == (1, 1)


def test_the_function_has_the_numbers_of_the_step():
    frames = [texts("reconstructed")[side][0].to_pandas() for side in ("puf", "eif", "iuf")]
    found = confirm_values(
        *frames, variables={"sex": "categorical", "age": "numeric"}, strata=["block"], learn=["race", "ethnicity"],
        within={"age": 1}, metrics=["euclidean"],
    )  # fmt: skip
    spec = Study.model_validate(with_(metrics={"euclidean": {}}))
    settings = step.confirming(spec)
    made_ = rates.confirm(settings, prepare.prepare(settings, texts("reconstructed")), ScoringContext())
    assert found.rates["confirmed"].tolist() == made_.rates["confirmed"].tolist()
