"""A new step is a line in the table of steps and in those of tables and columns, a module, a rule and an adapter."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from workflow.commands import copied, made, snakemake

from workflow import small

pytestmark = pytest.mark.slow

STEP = "households,Counting households,linkage.households,metrics,linkage.step.counting_households,prepare,\n"
SETTINGS = """

def counting_households(study: Study) -> str:
    return study.keys["puf"][0]
"""
TABLES = """\
households,households/sizes.csv,sizes,aggregates,yes,,,,"Households of the PUF by size, one line per size."
"""
COLUMNS = """\
households/sizes.csv,size,integer,records,,,records of the household
households/sizes.csv,n_households,integer,households,,,households of the size
"""
MODULE = '''
"""Households of the public use file by size."""

import pandas as pd
import pyarrow as pa


def sizes(key: str, puf: pa.Table) -> pd.DataFrame:
    """Count households by their number of records."""
    counts = puf[key].to_pandas().value_counts().value_counts().sort_index()
    return pd.DataFrame({"size": counts.index, "n_households": counts.to_numpy()})
'''
RULE = '''

rule households:
    """Count the households of the public use file by size."""
    input:
        puf=PLAN.result("prepare", "prepared/puf.parquet"),
    output:
        sizes="results/{study}/households/sizes.csv",
        ledger="results/{study}/ledger/households.json",
    log:
        "results/{study}/logs/households.log",
    params:
        **PLAN.params("households"),
    script:
        "../scripts/households.py"
'''
ADAPTER = '''
"""Adapter of the rule `households`."""

from reident import ledger
from reident.linkage import households

with ledger.step(snakemake) as step:
    step.write("sizes", households.sizes(step.settings, step.read("puf")))
'''


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A copy of the checkout with one step more."""
    folder = copied(tmp_path_factory.mktemp("checkout"))
    library = folder / "workflow" / "lib" / "reident"
    (library / "linkage" / "households.py").write_text(MODULE.lstrip(), encoding="utf-8")
    (folder / "workflow" / "scripts" / "households.py").write_text(ADAPTER.lstrip(), encoding="utf-8")
    rules, linkage = folder / "workflow" / "rules" / "strata.smk", library / "linkage"
    for path, more in (
        (rules, RULE),
        (linkage / "step.py", SETTINGS),
        (linkage / "steps.csv", STEP),
        (linkage / "tables.csv", TABLES),
        (linkage / "columns.csv", COLUMNS),
    ):
        with path.open("a", encoding="utf-8") as file:
            file.write(more)
    return folder


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    return small.write(tmp_path_factory.mktemp("in"), tables=small.rows(12, 18))


def test_a_new_step_runs_and_leaves_its_entry(checkout, study, tmp_path):
    ended = snakemake(*made("small", "households/sizes.csv"), studies=[study], folder=tmp_path, checkout=checkout)
    assert ended.code == 0, ended.shown
    results = tmp_path / "results" / "small"
    sizes = pd.read_csv(results / "households" / "sizes.csv")
    assert (sizes["size"] * sizes["n_households"]).sum() == 12
    entry = json.loads((results / "ledger" / "households.json").read_text(encoding="utf-8"))
    assert entry["rule"] == "households"
    assert entry["outputs"]["sizes"]["rows"] == len(sizes)
    assert [line["path"] for line in entry["inputs"]["puf"]] == ["prepared/puf.parquet"]


def test_the_report_asks_for_a_table_that_the_new_step_marks_for_it(checkout, study, tmp_path):
    ended = snakemake("--dry-run", studies=[study], folder=tmp_path, checkout=checkout)
    assert ended.shown.count("small: Counting households (") == 1


def test_the_data_dictionary_has_the_new_table(checkout):
    command = "from reident.pipeline import documentation; print(documentation.data_dictionary())"
    environment = {"PYTHONPATH": str(checkout / "workflow" / "lib")}
    shown = subprocess.run(
        [sys.executable, "-c", command], env=environment, capture_output=True, encoding="utf-8", check=True
    ).stdout
    assert "## households\n\n### `households/sizes.csv`\n" in shown
    assert "| `n_households` | households | households of the size |" in shown
