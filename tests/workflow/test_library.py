"""What the functions of `import reident` return is what the workflow writes, for a study file and for data frames."""

from random import Random

import pandas as pd
import pytest
import reident
import yaml
from pandas.testing import assert_frame_equal
from reident.api.risk import FILE_STEPS
from reident.pipeline.steps import STEPS
from reident.pipeline.tables import TABLES
from workflow.commands import PRELOADED, made, snakemake

pytestmark = pytest.mark.slow

RISK = {
    "sampling_fraction": 0.5,
    "collapse": [{"variable": "age", "recode": {"30": "young", "31": "young"}}],
    "population_models": {"household": ["house"]},
    "scenarios": [{"name": "neighbour", "known": ["age", "sex"]}],
    "key_sets": {"up_to": 2},
    "sensitive": ["job"],
    "units": ["house"],
}
KEYS, JOB = ["age", "sex", "region"], [{"name": "job", "missing": [""]}]


def draw(seed, n=60):
    dice = Random(seed)  # noqa: S311 - made up, no secret
    return pd.DataFrame(
        {"person": [str(at) for at in range(n)], "house": [str(at // 3) for at in range(n)]}
        | {name: [dice.choice(codes) for _ in range(n)] for name, codes in (
            ("age", ["30", "31", "32", "50"]), ("sex", "mf"), ("region", "NSW"), ("job", ["a", "b", "c", ""])
        )}
    )  # fmt: skip


def paths(*rules):
    return {table.output: table.path for rule in rules for table in TABLES[rule]}


ATTRIBUTION, DISTANCES = ("assess_attribution",), ("measure_distances",)


@pytest.mark.quick
def test_the_functions_return_what_the_steps_write(tmp_path):
    people, copy = draw(1), draw(1).assign(job=draw(2)["job"])
    holdout, population = draw(3), pd.concat([draw(1), draw(4, 90)]).assign(person=range(150))
    for name, frame in {"people": people, "copy": copy, "holdout": holdout, "population": population}.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    file, numerical = {"path": "people.csv", "id": "person"}, {"samples": 2}
    study = {
        "id": "face",
        "file_risk": {"file": file, "key_variables": KEYS, **RISK, "sensitive": JOB}
        | {"population": {"file": {"path": "population.csv"}, "numerical_study": numerical}},
        "matching": {"confidential": file, "synthetic": [{"path": "copy.csv"}], "known": KEYS, "synthesized": JOB}
        | {"closest": {"holdout": {"path": "holdout.csv"}}},
        "attribute_disclosure": {"original": file, "released": [{"path": "copy.csv", "id": "person"}]}
        | {"holdout": {"path": "holdout.csv"}, "keys": KEYS, "targets": JOB, "max_keys": 2},
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    calls = {
        reident.file_risk: (FILE_STEPS, "filerisk"),
        reident.matching_risk: (("match",), "matching"),
        reident.closest: (DISTANCES, "matching"),
        reident.attribute_disclosure: (ATTRIBUTION, "attribution"),
    }
    wanted = [path for rules, folder in calls.values() for path in (*paths(*rules).values(), f"{folder}/warnings.csv")]
    run = snakemake(*made("face", *wanted), studies=[tmp_path / "study.yaml"], folder=tmp_path, program=PRELOADED)
    assert run.code == 0, run.shown
    results = reident.open_results(tmp_path / "results/face")
    people, copy, holdout = (
        frame.assign(job=frame["job"].where(frame["job"] != "")) for frame in (people, copy, holdout)
    )
    frames = {
        reident.file_risk: lambda: reident.file_risk(
            people, keys=KEYS, id="person", population={"file": population, "numerical_study": numerical},
            **RISK | {"sensitive": "job"},
        ),
        reident.matching_risk: lambda: reident.matching_risk(people, copy, known=KEYS, synthesized="job", id="person"),
        reident.closest: lambda: reident.closest(people, copy, holdout, variables="job", id="person"),
        reident.attribute_disclosure: lambda: reident.attribute_disclosure(
            people, copy, holdout, keys=KEYS, targets="job", id="person", max_keys=2
        ),
    }  # fmt: skip
    for function, (rules, folder) in calls.items():
        of_study, of_frames = (
            call() for call in (lambda f=function: f(reident.read_study(tmp_path / "study.yaml")), frames[function])
        )
        assert set(of_study) == {*paths(*rules), "warnings"}
        for name, path in paths(*rules).items():
            assert_frame_equal(of_study[name], results[path], check_exact=True)
            assert_frame_equal(of_frames[name], of_study[name], check_exact=True)
        if function is not reident.closest:  # which says nothing of the order of rows
            assert_frame_equal(of_study.warnings, results[f"{folder}/warnings.csv"], check_exact=True)


def test_confirmation_by_values_is_that_of_the_step(tmp_path):
    people, released = draw(1), draw(1).assign(job=draw(2)["job"])
    for name, frame in {"people": people, "released": released}.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    learn = {"name": "job", "missing": [""]}
    study = {
        "id": "told",
        "files": {"puf": {"path": "released.csv"}, "eif": {"path": "people.csv", "id": "person"}}
        | {"iuf": {"path": "people.csv", "eif_id": "person"}},
        "strata": [{"name": "region"}],
        "linking_variables": [{"name": "age", "type": "numeric"}, {"name": "sex", "type": "categorical"}],
        "metrics": {"taxicab": {}},
        "confirm": {"by": "values", "learn": [learn]},
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    wanted = made("told", *paths("confirm_values").values())
    run = snakemake(*wanted, studies=[tmp_path / "study.yaml"], folder=tmp_path, program=PRELOADED)
    assert run.code == 0, run.shown
    results = reident.open_results(tmp_path / "results/told")
    of_study = reident.confirm_values(reident.read_study(tmp_path / "study.yaml"))
    people, released = (frame.assign(job=frame["job"].where(frame["job"] != "")) for frame in (people, released))
    of_frames = reident.confirm_values(
        released, people, people, variables={"age": "numeric", "sex": "categorical"}, learn="job", strata="region",
        metrics="taxicab",
    )  # fmt: skip
    for name, path in paths("confirm_values").items():
        assert_frame_equal(of_study[name], results[path], check_exact=True)
        assert name == "warnings" or of_frames[name].equals(of_study[name])


def test_every_step_of_an_analysis_is_one_of_its_function():
    steps = {rule for rule, step in STEPS.items() if step.settings.startswith("filerisk.")}
    assert steps == {*FILE_STEPS, "prepare_filerisk"}
    names = [name for rule in FILE_STEPS for name in paths(rule)]
    assert len(names) == len(set(names)), "no table hides another"
