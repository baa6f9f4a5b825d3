"""The functions of `import reident`: on data frames, on a study file, on wrong input, and on what a run left."""

import doctest
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import reident
import yaml
from making.studies import plain, saved
from pandas.testing import assert_frame_equal
from reident.errors import InputError

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs/how-to/python.md").read_text(encoding="utf-8")
TEXT = {"dtype": str, "keep_default_na": False}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with README's study."""
    (text,) = re.findall(r"^```sh\n(mkdir my-study\n.*?)^\.venv/bin/snakemake", README, re.MULTILINE | re.DOTALL)
    (tmp_path / ".test").symlink_to(ROOT / ".test")
    subprocess.run(["sh", "-eu", "-c", text], cwd=tmp_path, check=True)
    (tmp_path / ".test").unlink()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files_in(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_the_study_of_readme_has_the_rates_of_readme(folder):
    before = files_in(folder)
    rates = reident.attack(reident.read_study("my-study/study.yaml")).rates.query("stratum == 'ALL'")
    assert files_in(folder) == before, "no file is written"
    rows = re.findall(
        r"^\| (\w+) \| (\d+) of (\d+) \| (\d+) \| ([\d.]+) % \| .* \| ([\d.]+) % \|$", README, re.MULTILINE
    )
    shown = [
        (line.metric, str(line.n_suspected), str(line.n_puf), str(line.n_confirmed),
         f"{100 * line.conditional_rate:.1f}", f"{100 * line.baseline_rate:.1f}")
        for line in rates.itertuples()
    ]  # fmt: skip
    assert shown == rows
    assert len(rows) == 5


def test_the_table_of_reproducibility_has_what_orders_and_settings_change(folder):
    spec = yaml.safe_load(Path("my-study/study.yaml").read_text(encoding="utf-8"))
    files = {"puf": "puf", "eif": "eif", "iuf": "links"}
    for name in files.values():
        rows = pd.read_csv(f"my-study/{name}.csv", **TEXT).sample(frac=1, random_state=3)
        rows.to_csv(f"my-study/other-{name}.csv", index=False)
    elsewhere = {key: spec["files"][key] | {"path": f"other-{name}.csv"} for key, name in files.items()}
    found = []
    for change in (
        {},
        {"files": elsewhere},
        {"linking_variables": spec["linking_variables"][::-1]},
        {"binning": {"bins": 3}},
    ):
        Path("my-study/changed.yaml").write_text(yaml.safe_dump(spec | change), encoding="utf-8")
        found.append(reident.attack(reident.read_study("my-study/changed.yaml")).rates)
    assert_frame_equal(found[0], found[1])
    assert_frame_equal(found[0], found[2])
    page = (ROOT / "docs/explanation/reproducibility.md").read_text(encoding="utf-8")
    for rates in (found[0], found[3]):
        lines = rates.query("stratum == 'ALL'").set_index("metric")
        shown = [f"{lines.n_confirmed[metric]} of {lines.n_suspected[metric]}" for metric in ("taxicab", "unicity")]
        assert f"| {' | '.join(shown)} |" in page


@pytest.mark.slow
def test_the_tables_on_what_an_intruder_can_be_sure_of_are_those_of_the_example():
    result = reident.attack(reident.read_study(ROOT / "config/studies/example.yaml"))
    rates = result.rates.query("stratum == 'ALL'").set_index("metric")
    surest = result.surest_summary.set_index("metric")
    page, validation = (
        (ROOT / "docs" / name).read_text(encoding="utf-8")
        for name in ("explanation/sure.md", "reference/validation.md")
    )

    def right(number):
        return f"{number:.1f}".removesuffix(".0")

    lines = re.findall(r"^\| (\w+) \| ([\d.]+) % \| (.+) \| (\d+) \|$", page, re.MULTILINE)
    assert [line[0] for line in lines] == list(rates.index)
    for metric, rate, numbers, sure in lines:
        assert rate == f"{100 * rates.conditional_rate[metric]:.1f}"
        assert [right(float(number)) for number in numbers.split(" | ")] == [
            right(surest.loc[metric, f"right_of_{n}"]) for n in (10, 50, 100)
        ]
        assert int(sure) == surest.n_at_95_percent[metric]
    for metric in ("unicity", "taxicab", "adhoc", "fellegi_sunter"):
        row = rates.loc[metric]
        begun = f"| {metric} | {row.n_single:,}, {row.n_single_confirmed:,} |"
        ended = f"| {100 * row.conditional_rate:.1f} % | {surest.n_at_95_percent[metric]} |"
        assert re.search(f"^{re.escape(begun)} [\\d.]+ {re.escape(ended)}$", validation, re.MULTILINE), metric


def test_data_frames_give_what_a_study_file_gives(folder):
    study = reident.attack(reident.read_study("my-study/study.yaml"))
    puf, links = (pd.read_csv(f"my-study/{name}.csv", na_values=[]) for name in ("puf", "links"))
    eif = pd.read_csv("my-study/eif.csv")
    assert eif["school"].isna().sum() == 1, "a value is NaN instead of an empty text"
    variables = {
        "age": "numeric",
        "income": {"type": "numeric", "eif": "income_est", "missing": -9},
        "sex": {"type": "categorical", "eif": "gender", "recode": {"eif": {"M": 1, "F": 2}}},
        "education": {
            "type": "categorical",
            "eif": "school",
            "missing": {"puf": ["-9"]},
            "order": ["low", "middle", "high"],
        },
        "tenure": {"type": "categorical", "eif": "home"},
    }
    ours = reident.attack(puf, eif, links, variables=variables, strata=[{"name": "region", "eif": "area"}])
    assert_frame_equal(ours.rates, study.rates, check_exact=True)
    for metric, pairs in study.confirmed.items():
        text = ours.confirmed[metric].astype({"pufid": "str"})
        assert_frame_equal(text, pairs, check_exact=True)
        assert ours.confirmed[metric]["pufid"].dtype == puf["pufid"].dtype
        assert_frame_equal(ours.rank_curves[metric], study.rank_curves[metric], check_exact=True)
    assert "1001" not in repr(ours)
    shuffled = [frame.sample(frac=1, random_state=1) for frame in (puf, eif, links)]
    again = reident.attack(*shuffled, variables=variables, strata=[{"name": "region", "eif": "area"}], threads=1)
    assert_frame_equal(again.rates, ours.rates, check_exact=True)
    assert list(again.surest) == [*ours.confirmed, "agreement"]
    for metric, claims in ours.surest.items():
        assert_frame_equal(again.surest[metric], claims, check_exact=True)
    assert_frame_equal(again.agreement, ours.agreement, check_exact=True)


def households(seed, odd=None):
    """Frames of 120 households of one to four members and the links of most of them, whose numbers nobody declares."""
    rng = np.random.default_rng(seed)
    hh = np.repeat(np.arange(120), rng.integers(1, 5, 120))
    people = pd.DataFrame({"hh": hh, "age": rng.integers(0, 6, len(hh)), "sex": rng.integers(1, 3, len(hh))})
    puf, eif = people.assign(p=range(1000, 1000 + len(hh))), people.assign(e=range(len(hh)))
    links = pd.DataFrame({"p": puf["p"], "e": eif["e"]})[hh < 90]
    if odd is not None:
        puf, eif = (frame.assign(odd=odd(len(hh))) for frame in (puf, eif))
    return puf, eif.rename(columns={"hh": "household"}), links


SEXES = {"age": "categorical", "sex": "categorical"}


@pytest.mark.parametrize(
    "odd", [None, lambda n: [{"a": 1}] * n, lambda n: ["x", 1, *[None] * (n - 2)]], ids=["", "mappings", "two types"]
)
def test_an_attack_warns_of_undeclared_columns_that_group_rows(odd):
    puf, eif, links = households(1, odd)
    found = reident.attack(puf, eif, links, variables=SEXES, metrics=["taxicab"])
    groups = found.warnings[found.warnings["code"] == "groups"]
    assert groups["severity"].tolist() == ["understates"]
    assert "may understate the risk" in repr(found)
    assert "units: {puf: hh, eif: household}" in groups["fields"].item()
    alone = reident.attack(puf.drop(columns="hh"), eif, links, variables=SEXES, metrics=["taxicab"])
    assert "groups" not in set(alone.warnings["code"])
    units = reident.attack(
        puf, eif, links, variables=SEXES, metrics=["taxicab"], units={"puf": "hh", "eif": "household"}
    )
    assert "groups" not in set(units.warnings["code"])
    assert units.rates["n_confirmed"].iloc[0] > 30


def test_an_attack_warns_of_what_its_results_show():
    puf, eif, links = households(2)
    wrong = eif.assign(sex=eif["sex"].map({1: 2, 2: 1}))
    found = reident.attack(puf, wrong, links, variables=SEXES, metrics=["taxicab"])
    assert {"recode", "ambiguous_many"} <= set(found.warnings["code"])
    lost = reident.attack(puf, eif.assign(sex="1"), links, variables={"age": "categorical"}, strata=["sex"])
    assert "lost_links" in set(lost.warnings["code"])
    weighed = {"fellegi_sunter": {}}
    assert reident.attack(puf, eif, links, variables=SEXES, metrics=weighed).warnings["code"].is_unique


def test_the_risk_of_files_comes_with_the_warnings_of_reading_them():
    people = pd.DataFrame({"age": [30, 30, 40, 50], "sex": list("ffmm"), "w": [1.0, 90.0, 2.0, 700.0]})
    risk = reident.file_risk(people, keys=["age", "sex"], weight="w")
    assert risk.warnings["code"].tolist() == ["uneven_weights"]
    assert risk.risks.set_index("basis")["largest"]["sample"] == 1
    assert risk.thresholds.query("basis == 'sample'")["n_above"].tolist()[-1] == 2
    plain = reident.file_risk(people, keys=["age", "sex"], sampling_fraction=0.1)
    assert plain.warnings.empty
    other = people.assign(sex=list("fxyz"))
    for found in (
        reident.matching_risk(people, [other], known=["age"], synthesized=["sex"]),
        reident.closest(people, other, variables=["age", "sex"]),
    ):
        assert len(found.warnings) == 1
        assert "sex" in found.warnings["warning"].item()


def test_closest_records_come_with_a_warning_where_the_holdout_differs():
    draw = np.random.default_rng(1)
    people, synthetic, held, richer = (pd.DataFrame({"pay": draw.normal(at, 1, 200)}) for at in (0, 0, 0, 0.6))
    alike, unlike = (reident.closest(people, synthetic, holdout) for holdout in (held, richer))
    assert alike.warnings.empty
    assert alike.closest["comparable"].tolist() == [True]
    assert unlike.warnings[["severity", "code"]].to_numpy().tolist() == [["invalidates", "holdout_differs"]]
    assert "pay" in unlike.warnings["warning"].item()
    assert unlike.closest["comparable"].tolist() == [False]
    assert unlike.premise.set_index("variable")["differs"]["pay"]
    assert reident.closest(people, synthetic).premise.empty


def test_composite_keys_and_options():
    puf = pd.DataFrame({"h": ["1", "1", "2"], "p": [1, 2, 1], "c": list("abc"), "x": [1.5, 2.0, np.nan]})
    eif = pd.DataFrame({"id": list("uvw"), "c": list("abd"), "x": [1.5, 2.0, 9.0]})
    links = pd.DataFrame({"house": ["1", "1"], "person": [1, 2], "other": ["u", "v"]})
    found = reident.attack(
        puf, eif, links, variables=[{"name": "c", "type": "categorical"}, {"name": "x", "type": "numeric"}],
        metrics={"taxicab": {"alpha": 0.4}, "unicity": {"interactions": "all"}}, puf_id=["h", "p"], eif_id="id",
        rank_filter={"max_pairs": 1}, rates={"interval": "wilson"}, binning={"bins": 2},
    )  # fmt: skip
    assert list(found.confirmed) == ["unicity", "taxicab"]
    assert found.confirmed["taxicab"][["h", "p", "id", "confirmed"]].to_numpy().tolist() == [
        ["1", 1, "u", True],
        ["1", 2, "v", True],
    ]
    assert set(found.rank_curves["taxicab"]["max_pairs"]) == set(range(1, 21))


FRAMES = {
    "puf": pd.DataFrame({"p": ["1", "2", "3"], "x": [1.0, 2.0, 3.0], "c": ["a", "b", "secret"]}),
    "eif": pd.DataFrame({"e": ["1", "2", "3"], "x": [1.0, 2.0, 3.0], "c": ["a", "b", "b"]}),
    "links": pd.DataFrame({"p": ["1"], "e": ["1"]}),
}
VARIABLES = {"x": "numeric", "c": "categorical"}


@pytest.mark.parametrize(
    ("changes", "options", "sentence"),
    [
        ({"puf": FRAMES["puf"].assign(p="1")}, {}, "puf, row 2: "),
        ({"puf": FRAMES["puf"].assign(p=[1.0, 2.0, np.nan])}, {}, "puf, row 3, column `p`: the key must not be empty"),
        ({"puf": FRAMES["puf"].assign(x=[1, "secret", 3])}, {}, "puf, column `x`: the values have several types."),
        ({"puf": FRAMES["puf"].assign(x=["1", "secret", "3"])}, {}, "puf, row 2, column `x`: "),
        ({"eif": FRAMES["eif"].drop(columns="c")}, {}, "eif: the data frame has no column `c`. Correct the name"),
        ({"eif": FRAMES["eif"].assign(c="z")}, {}, "no code"),
        ({"links": FRAMES["links"].assign(e="9")}, {}, "links, row 1: the link names a record that is not in eif"),
        ({"links": FRAMES["links"].assign(more=1)}, {}, "links: the data frame must have two columns."),
        ({"puf": FRAMES["puf"].iloc[:0]}, {}, "puf: "),
        ({}, {"variables": {"x": "number"}}, "`variables[1].type` must be `numeric`, `categorical` or `date`."),
        ({}, {"variables": {}}, "`variables` is missing. List the variables"),
        ({}, {"metrics": ["taxicap"]}, "`metrics.taxicap` is not a known key. Did you mean `taxicab`?"),
        ({}, {"metrics": {"taxicab": {"alpha": 2}}}, "`metrics.taxicab.alpha` must be"),
        ({}, {"strata": ["nowhere"]}, "the data frame has no column `nowhere`."),
    ],
)  # fmt: skip
def test_wrong_input_is_refused_with_the_sentences_of_the_project(changes, options, sentence):
    with pytest.raises(InputError) as error:
        reident.attack(*({**FRAMES, **changes}[name] for name in FRAMES), **({"variables": VARIABLES} | options))
    assert sentence in str(error.value)
    assert "secret" not in str(error.value)


def test_other_types_and_missing_files_are_refused(tmp_path):
    with pytest.raises(TypeError, match="three data frames"):
        reident.attack(FRAMES["puf"])
    with pytest.raises(TypeError, match="`eif` must be a data frame of pandas, Polars or Arrow, not list"):
        reident.attack(FRAMES["puf"], [1], FRAMES["links"], variables=VARIABLES)
    with pytest.raises(InputError, match=r"study\.yaml, line \d+: `files.puf.path`: puf\.csv does not exist"):
        reident.read_study(saved(tmp_path, plain()))
    with pytest.raises(InputError, match="the folder has no results of a study"):
        reident.open_results(tmp_path)


def test_what_a_run_left_is_read_by_path(tmp_path):
    for name, text in {"study.json": "{}", "rates.csv": "metric,stratum\ntaxicab,ALL\n", "notes.csv": "x\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "confirmed").mkdir()
    pd.DataFrame({"p": ["1"]}).to_parquet(tmp_path / "confirmed/taxicab.parquet")
    pd.DataFrame({"puf": [0]}).to_parquet(tmp_path / "confirmed/taxicab.pairs.parquet")
    results = reident.open_results(tmp_path)
    assert list(results) == ["confirmed/taxicab.pairs.parquet", "confirmed/taxicab.parquet", "rates.csv"]
    assert list(results.confirmed) == ["taxicab"]
    assert results.rates["stratum"].tolist() == ["ALL"]
    with pytest.raises(KeyError, match=r"no table `verdict\.csv`"):
        results["verdict.csv"]


@pytest.mark.parametrize("module", ["attribution", "linked", "results", "risk", "statement", "study", "values"])
def test_the_examples_of_the_functions_are_right(module):
    tried = doctest.testmod(import_module(f"reident.api.{module}"))
    assert tried.attempted > 0
    assert tried.failed == 0


def test_the_page_runs(folder):
    code = re.findall(r"(<!-- not run.*?-->\n)?```python\n(.*?)```", PAGE, re.DOTALL)
    names = {}
    for treatment, block in code:
        if not treatment:
            exec(block, names)  # noqa: S102 - the page's own code
    assert set(names["result"].confirmed) == {"unicity", "taxicab", "euclidean", "adhoc", "fellegi_sunter"}
    assert len(code) == 4


def test_the_package_is_imported_at_once_and_the_rest_when_it_is_asked_for():
    code = "import reident, sys; print({'numpy', 'pandas', 'numba', 'pydantic'} & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "set()\n"
    assert set(reident.__all__) < set(dir(reident))
    with pytest.raises(AttributeError, match=r"no attribute .attck."):
        reident.attck  # noqa: B018
