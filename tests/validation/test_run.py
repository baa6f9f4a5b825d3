"""Validation reports every error and every warning at once, in the words of the steps."""

import random
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from intake.test_fixtures import TABLE, write
from making import studies
from making.drafting import saved
from making.examples import cases
from making.fixture_files import SECRETS, unreadable
from making.studies import keyed_by
from reident.validation import codes, run

READABLE = [fixture for fixture in TABLE if unreadable not in fixture.files.values()]
STUDY = """\
id: mistakes
titel: A study
files:
  puf: {path: puf.csv, id: pufid}
  eif: {path: eif.csv, id: eifid, delimeter: ";"}
  iuf: {path: iuf.csv, puf_id: pufid, eif_id: eifid}
strata: [region]
linking_variables:
  - {name: age, type: numerc, missing: ["-9"]}
  - {name: sex, type: categorical}
  - {name: school, type: categorical, order: [low, high]}
  - {name: incme, type: numeric}
  - {name: rooms, type: TODO what is this}
metrics: {taxicab: {alpha: 0,5}}
rank_filter: {max_pairs: many}
variants: [{set: binning.bins, values: [3, none]}]
"""
MISTAKES = [
    "study.yaml, line 2: `titel` is not a known key. Did you mean `title`?",
    "study.yaml, line 5: `files.eif.delimeter` is not a known key. Did you mean `delimiter`?",
    "study.yaml, line 9: `linking_variables[1].type` must be `numeric`, `categorical` or `date`.",
    "study.yaml, line 13: `linking_variables[5].type` is still to be decided. Replace the TODO with a value",
    "study.yaml, line 14: `metrics.taxicab.alpha` must be a number. Write 0.5, with a point.",
    "study.yaml, line 15: `rank_filter.max_pairs` must be an integer.",
    "study.yaml, line 16: variant `bins-none`: `binning.bins` must be an integer.",
    "puf.csv, row 1: the file has no column `incme`. Did you mean `income`?",
    "eif.csv, row 1: the file has no column `incme`. Did you mean `income`?",
    "puf.csv, row 9, column `pufid`: the key must not be empty.",
    "puf.csv, row 7: the key (pufid) is not unique; an earlier row has it (2 such rows).",
    "puf.csv, row 12, column `age`: the value of `age` is not a number.",
    "eif.csv, row 5, column `age`: the value of `age` is not a number.",
    "eif.csv, row 6, column `school`: the value of `school` is not in the declared `order`.",
    "puf.csv and eif.csv, columns `sex` and `sex`: no code of `sex` is in both files.",
    "iuf.csv, row 22: the link names a record that is not in puf.csv (1 such links).",
]  # fmt: skip


def files(folder, eif=";"):
    draw = random.Random(3)  # noqa: S311 - made-up people
    people = [
        [f"P{at}", draw.choice("NES"), str(draw.randint(20, 60)), draw.choice("12"), draw.choice(["low", "high"])]
        for at in range(60)
    ]
    people = [[*person, str(100 * at), "3"] for at, person in enumerate(people)]
    others = [[f"E{at}", *person[1:]] for at, person in enumerate(people)]
    for other in others:
        other[3] = "FM"[other[3] == "1"]
    people[5][0] = people[6][0] = "P2"
    people[7][0] = ""
    people[10][2], others[3][2], others[4][4] = "ancient", "n/a", "none"
    header = ["region", "age", "sex", "school", "income", "rooms"]
    links = [[f"P{at}", f"E{at}"] for at in range(20, 40)]
    saved(folder / "puf.csv", [["pufid", *header], *people])
    saved(folder / "eif.csv", [["eifid", *header], *others], delimiter=eif)
    saved(folder / "iuf.csv", [["pufid", "eifid"], *links, ["P999", "E1"]])


def validated(folder, text):
    (folder / "study.yaml").write_text(
        text if isinstance(text, str) else yaml.safe_dump(text, sort_keys=False), encoding="utf-8"
    )
    return run.validate([folder / "study.yaml"])


def sentences(answer: run.Answer) -> list[str]:
    """The errors and warnings, without what may name codes of categories."""
    return [line for line in answer.lines if not line.startswith("\n")]


def errors(answer, folder):
    return [
        line.removeprefix("Error: ").replace(f"{folder}/", "") for line in answer.lines if line.startswith("Error: ")
    ]


def test_sixteen_mistakes_of_a_study_and_its_files_are_reported_in_one_run(tmp_path):
    files(tmp_path)
    answer = validated(tmp_path, STUDY)
    found = errors(answer, tmp_path)
    for mistake in MISTAKES:
        assert any(line.startswith(mistake) for line in found), (mistake, found)
    assert answer.errors == len(found) == len(MISTAKES), found
    assert answer.lines[-1].startswith(f"{len(MISTAKES)} errors, {answer.warnings} warning")
    assert answer.lines[-1].endswith("Correct the errors, and validate again.")
    assert {path.name for path in tmp_path.iterdir()} == {"study.yaml", "puf.csv", "eif.csv", "iuf.csv"}


def test_codes_that_do_not_correspond_are_beside_each_other_on_the_terminal_alone(tmp_path):
    files(tmp_path)
    answer = validated(tmp_path, STUDY)
    (table,) = (line.strip().splitlines() for line in answer.lines if "codes of sex" in line)
    assert table[0].split() == ["codes", "of", "sex", "puf.csv", "eif.csv"]
    assert [row.split()[0] for row in table[1:]] == ["1", "2", "F", "M"]
    assert [row.split()[2] for row in table[1:3]] == ["–", "–"]
    assert sum(int(row.split()[1]) for row in table[1:3]) == 60
    assert "Columns of puf.csv: pufid, region, age, sex, school, income, rooms" in "\n".join(answer.lines)
    assert not any("codes of" in line or "Columns of" in line for line in sentences(answer))
    assert not any(secret in "\n".join(answer.lines) for secret in ("P999", "P2", "ancient", "n/a"))


COUNTS = [
    ("a code of one record", ["a"] * 5 + ["CANARY"], ["a"] * 6, ["a 5 6", "(fewer than 3 records) 1 code 0 codes"]),
    (
        "a code that few records of one file have",
        ["a"] * 2 + ["b"] * 3,
        ["a"] * 9,
        ["b 3 –", "(fewer than 3 records) 1 code 1 code"],
    ),
    ("codes of few records alone", ["x", "y", "y"], ["z"], ["(fewer than 3 records) 2 codes 1 code"]),
    ("missing values are no codes", [None] * 2 + ["a"] * 3, ["b"] * 4, ["a 3 –", "b – 4"]),
    ("a file without a code", [None], ["b"] * 3, ["b – 3"]),
]


@pytest.mark.parametrize(("puf", "eif", "rows"), cases(COUNTS))
def test_a_code_of_fewer_than_three_records_is_counted_and_not_shown(puf, eif, rows):
    files = [(f"{side}.csv", pa.array(column, pa.string())) for side, column in (("puf", puf), ("eif", eif))]
    header, *shown = codes.compared("job", files).splitlines()
    assert header.split() == ["codes", "of", "job", "puf.csv", "eif.csv"]
    assert [" ".join(row.split()) for row in shown] == rows


@pytest.mark.parametrize("fixture", READABLE, ids=lambda fixture: fixture.sentence)
def test_what_the_steps_refuse_is_an_error_and_what_they_warn_of_a_warning(tmp_path, fixture):
    answer = run.validate([write(tmp_path, fixture)])
    found = errors(answer, tmp_path)
    if fixture.says:
        place = fixture.says[0].split(":")[0].split(" must")[0]
        assert any(place in line for line in found), (place, found)
        assert answer.errors == len(found) > 0
    else:
        assert found == []
        for warning in fixture.warnings:
            assert any(warning in line for line in answer.lines), answer.lines
        assert answer.errors == 0
    assert not SECRETS.findall("\n".join(sentences(answer)))
    assert all(line.endswith((".", "?")) for line in sentences(answer))


# Other kinds of studies


def people(n=40, seed=1):
    draw = random.Random(seed)  # noqa: S311 - made-up people
    return [[f"k{at:02d}", str(draw.randint(20, 60)), draw.choice("12"), draw.choice("abc"), "2"] for at in range(n)]


HEADER = ["id", "age", "sex", "school", "weight"]


def test_every_mistake_of_the_files_of_matching(tmp_path):
    confidential, synthetic, other = people(), people(seed=2), people(seed=3)
    confidential[3][1], synthetic[4][1] = "x", "y"
    for row in other:
        row[2] = {"1": "M", "2": "F"}[row[2]]
    saved(tmp_path / "a.csv", [HEADER, *confidential])
    saved(tmp_path / "b.csv", [HEADER, *synthetic])
    saved(tmp_path / "c.csv", [[*HEADER[:3], "schol", "weight"], *other[1:]])
    study = {
        "id": "matched",
        "matching": {
            "confidential": {"path": "a.csv", "id": "id"},
            "synthetic": [{"path": "b.csv"}, {"path": "c.csv"}],
            "known": ["age", "sex"],
            "synthesized": ["school"],
            "radius": {"age": {"absolute": "1"}},
            "targets": {"variable": "weight", "equals": ["3"]},
        },
    }
    found = errors(validated(tmp_path, study), tmp_path)
    for part in (
        "c.csv, row 1: the file has no column `school`. Did you mean `schol`?",
        "a.csv, row 5, column `age`: the value of `age` is not a number",
        "b.csv, row 6, column `age`: the value of `age` is not a number",
        "a.csv: no record is a target",
        "a.csv, row 2: the record's key is not in c.csv (1 such records)",
    ):
        assert any(line.startswith(part) for line in found), (part, found)
    assert len(found) == 5, found


def test_every_mistake_of_the_file_whose_risk_is_measured(tmp_path):
    rows, population = people(), people(100, seed=2)
    rows[3][1], rows[4][4], rows[6][0] = "x", "-1", "k05"
    for row in population:
        row[2] = {"1": "M", "2": "F"}[row[2]]
    saved(tmp_path / "f.csv", [HEADER, *rows])
    saved(tmp_path / "p.csv", [HEADER, *population])
    study = {
        "id": "risk",
        "file_risk": {
            "file": {"path": "f.csv", "id": "id"},
            "key_variables": [{"name": "age", "type": "numeric"}, "sex", {"name": "school", "order": ["a", "b"]}],
            "weight": "weight",
            "population": {"file": {"path": "p.csv"}},
            "population_models": {"household": ["age", "home"]},
            "scenarios": [{"name": "Neighbour", "known": ["age", "sex"]}],
            "sensitive": [{"name": "pay", "column": "weight", "order": ["1", "2"]}, "illness"],
        },
    }
    answer = validated(tmp_path, study)
    found = errors(answer, tmp_path)
    for part in (
        "f.csv, row 5, column `age`: the value of `age` is not a number",
        "column `school`: the value of `school` is not in the declared `order`",
        "f.csv, row 8: the key (id) is not unique",
        "f.csv, row 6, column `weight`: the weight must not be negative",
        "f.csv, row 1: the file has no column `home`",
        "f.csv, row 1: the file has no column `illness`",
        "column `weight`: the value of `pay` is not in the declared `order`",
        "f.csv and p.csv, column `sex`: no code of `sex` is in both files",
    ):
        assert any(part in line for line in found), (part, found)
    assert any("codes of sex" in line for line in answer.lines)


def test_a_simulated_study_is_validated_with_the_files_that_it_draws(tmp_path):
    study = {
        "id": "drawn",
        "simulate": {"households": "60", "puf_records": "40", "eif_records": "50"},
        "linking_variables": [
            {"name": "age", "type": "numeric", "puf": "AGE", "eif": "age_years", "missing": [""]},
            {"name": "income", "type": "numeric", "puf": "INCME", "eif": "income_est", "missing": ["-9", "", "-8"]},
        ],
        "metrics": {"taxicab": {}},
    }
    (line,) = errors(validated(tmp_path, study), tmp_path)
    assert line.startswith("puf.csv, row 1: the file has no column `INCME`. Did you mean `INCOME`?")


def test_the_files_of_variants_are_validated_too(tmp_path):
    files(tmp_path, ",")
    good = (tmp_path / "puf.csv").read_text(encoding="utf-8").splitlines()
    good[6:9] = []
    (tmp_path / "puf.csv").write_text("\n".join(good).replace("old", "30") + "\n", encoding="utf-8")
    (tmp_path / "other.csv").write_text("\n".join(good).replace(",low,", ",lo,") + "\n", encoding="utf-8")
    links = (tmp_path / "iuf.csv").read_text(encoding="utf-8").splitlines()[:-1]
    (tmp_path / "iuf.csv").write_text("\n".join(links) + "\n", encoding="utf-8")
    study = {
        "id": "varied",
        "files": keyed_by("pufid", "eifid"),
        "linking_variables": [
            {"name": "rooms", "type": "categorical"},
            {"name": "school", "type": "categorical", "missing": ["none"], "order": ["low", "high"]},
        ],
        "metrics": {"taxicab": {}},
        "variants": [{"set": "files.puf.path", "values": {"exchanged": "other.csv", "absent": "absent.csv"}}],
    }
    found = errors(validated(tmp_path, study), tmp_path)
    assert len(found) == 2, found
    assert "absent.csv does not exist" in found[0]
    assert found[0].endswith("(variant path-absent)")
    assert found[1].startswith("other.csv, row 2" if ",low," in good[1] else "other.csv, row")
    assert found[1].endswith("(variant path-exchanged)")


def test_a_sound_study_has_no_error_and_says_how_to_run_it(tmp_path):
    answer = validated(tmp_path, {"id": "x", "matching": {}})
    assert answer.errors > 0
    rows = people()
    saved(tmp_path / "f.csv", [HEADER, *rows])
    study = {
        "id": "risk",
        "file_risk": {"file": {"path": "f.csv", "id": "id"}, "key_variables": ["sex"], "sampling_fraction": "0.1"},
    }
    answer = validated(tmp_path, study)
    assert (answer.errors, answer.warnings) == (0, 0), answer.lines
    assert answer.lines == [f"0 errors, 0 warnings. Run `snakemake --config study={tmp_path / 'study.yaml'}`."]


@pytest.mark.parametrize(
    ("name", "says"), [("p\0f.csv", "contains a NUL character."), ("x" * 256, "has a name of more than 255 bytes.")]
)
def test_a_path_that_no_file_has_is_one_error(tmp_path, name, says):
    answer = run.validate([studies.saved(tmp_path, studies.plain(files=studies.files(puf={"path": name, "id": "p"})))])
    (error,) = (line for line in answer.lines if "files.puf.path" in line)
    assert says in error


def test_a_study_that_does_not_exist_is_told_with_the_folder_that_its_path_begins_at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    error, *_ = run.validate([Path("no/study.yaml")]).lines
    assert "relative to the working directory" in error
    assert f" {tmp_path}, and means {tmp_path / 'no/study.yaml'}. " in error
    error, *_ = run.validate([tmp_path / "no.yaml"]).lines
    assert "the study file cannot be read (No such file or directory). Check the path." in error


def test_one_file_that_two_sections_read_has_the_columns_of_both(tmp_path):
    rows = [[f"f{at:02d}", str(3 * at % 37 + 4), str(at % 11 + 1), "NS"[at % 2]] for at in range(40)]
    saved(tmp_path / "amounts.csv", [["id", "sales", "staff", "region"], *rows])
    study = {
        "id": "masked",
        "microaggregate": {"path": "amounts.csv", "id": "id", "variables": ["sales"]},
        "linking_variables": [{"name": "sales", "type": "numeric"}],
        "metrics": {"winkler": {}},
        "file_risk": {
            "file": {"path": "amounts.csv", "id": "id"},
            "key_variables": ["region", {"name": "staff", "order": ["1", "2"]}, "sector"],
            "sampling_fraction": "0.1",
        },
    }
    found = errors(validated(tmp_path, study), tmp_path)
    assert len(found) == 2, found
    assert "no column `sector`" in found[0]
    assert "column `staff`: the value of `staff` is not in the declared `order`" in found[1]
