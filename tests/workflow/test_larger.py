"""A larger intruder through the real command: the whole file gives the rates of the study, and the same bytes again."""

from __future__ import annotations

import copy

import pandas as pd
import pytest
from workflow.commands import PRELOADED, made, snakemake
from workflow.test_invariance import shuffled

from workflow import small

pytestmark = pytest.mark.slow

QUANTITIES = ("suspected_rate", "confirmed_rate", "conditional_rate", "expected_correct_rate")


def test_the_curves_do_not_depend_on_cores_rows_and_shards(tmp_path):
    study = copy.deepcopy(small.STUDY) | {"larger_intruder": {"times": [2, 4], "population": 2000}}
    files = ["larger/rates.csv", *(f"larger/{metric}.counts.csv" for metric in study["metrics"])]
    texts = []
    for cores, shards, seed in ((2, 1, "0"), (1, 7, "1")):
        rows = small.rows() if cores == 2 else shuffled(small.rows())
        path = small.write(tmp_path / f"in{cores}", study, rows)
        folder = tmp_path / f"run{cores}"
        ended = snakemake(
            *made("small", "rates.csv", *files),
            f"shards={shards}",
            studies=[path],
            folder=folder,
            cores=cores,
            environment={"PYTHONHASHSEED": seed},
            program=PRELOADED,
        )
        assert ended.code == 0, ended.shown
        texts.append([(folder / "results/small" / name).read_bytes() for name in files])
    assert texts[0] == texts[1]
    results = tmp_path / "run2/results/small"
    rates = pd.read_csv(results / "rates.csv")
    rates = rates[rates["stratum"] == "ALL"].set_index("metric")
    lines = pd.read_csv(results / "larger/rates.csv")
    whole = lines[(lines["times"] == 1) & lines["quantity"].isin(QUANTITIES)]
    for (metric, quantity), own in whole.groupby(["metric", "quantity"]):
        assert own["observed"].item() == pytest.approx(rates.loc[metric, quantity], abs=1e-11)
    assert set(lines["quantity"]) == {*QUANTITIES, "best_guess_rate"}
    guesses = lines[(lines["times"] == 1) & (lines["quantity"] == "best_guess_rate")].set_index("metric")["observed"]
    for metric, line in rates.iterrows():
        if metric == "unicity":
            assert guesses[metric] == pytest.approx(line["expected_correct"] / line["n_puf"], abs=1e-11)
        else:
            least, ambiguous = line["best_rank_correct"] / line["n_puf"], line["n_ambiguous"] / line["n_puf"]
            assert least - 1e-11 <= guesses[metric] <= least + ambiguous / 6 + 1e-11
    assert (lines.loc[lines["status"] == "ok", "estimate"].notna()).all()
