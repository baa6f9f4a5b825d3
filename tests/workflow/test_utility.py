"""Utility through the real command: the same records before and after protection, and variants (METHODS §13)."""

import copy

import pandas as pd
import pytest
from workflow.commands import PRELOADED, made, reident, snakemake
from workflow.test_protection import coarser

from workflow import small

pytestmark = pytest.mark.slow

WANTED = ["utility/summary.csv", "comparison/utility.csv", "comparison/verdict.csv"]


def test_variants_are_compared_with_their_file_before_protection(tmp_path):
    """A variant that releases the original file loses nothing; the other loses as by hand."""
    tables, run = small.rows(80, 120), tmp_path / "run"
    head, *original = tables["puf"]
    released = list(map(coarser, original))
    study = copy.deepcopy(small.STUDY) | {"id": "both", "metrics": {"taxicab": {}}, "utility": {}}
    study["files"]["original"] = {"path": "full.csv"}
    study["decision"] = {"conditional_rate_at_most": 1}
    study["variants"] = [{"set": "files.puf.path", "values": {"coarse": "puf.csv", "none": "full.csv"}}]
    both = small.write(tmp_path, study, {**tables, "puf": [head, *released], "original": [head, *original]})
    targets = [target for name in WANTED for target in made("both", name)]
    ended = snakemake(*targets, studies=[both], folder=run, program=PRELOADED)
    assert ended.code == 0, ended.shown
    lines = pd.read_csv(run / "results/both/comparison/utility.csv")
    (varied,) = (name for name in lines if name.startswith("set_"))
    lines = lines.set_index(varied)
    assert (lines.loc["none", ["values_changed", "univariate", "pairwise", "pmse", "loss"]] == 0).all()
    n, wanted = len(original), [head.index(name) for name in ("region", "age", "income")]
    changed = sum(before[at] != after[at] for before, after in zip(original, released, strict=True) for at in wanted)
    line = pd.read_csv(run / "results/both/utility/summary.csv").iloc[0]
    assert line["n_records"] == n
    assert line["values_changed"] * n * line["n_variables"] == pytest.approx(changed)
    assert lines.loc["coarse", "loss"] == line["pmse"] > 0
    places = {place.name for place in (run / "results/both/variants").iterdir()}
    assert "before-protection" in places, "variants share the file before protection"
    assert not any("before" in place for place in places - {"before-protection"})
    checked = reident("check", both, folder=run)
    assert "both: the chain closes" in checked.shown, checked.shown
