"""Strata without a value in common, their blocks, and their labels."""

import pandas as pd
import pytest
from making.studies import manifest, pairs, study, table
from reident.errors import InputError
from reident.linkage import step as linkage_step
from reident.linkage import strata

LINKING = {"linking_variables": [{"name": "v", "type": "numeric"}]}


def stratified(names, puf, eif, links=()):
    """Stratify records ``key value value …`` with as many strata variables as there are names."""
    settings = linkage_step.stratifying(study(strata=list(names), **LINKING))
    sides = [table(f"{key} {' '.join(names)}", *rows) for key, rows in (("p", puf), ("e", eif))]
    return strata.stratify(settings, *sides, pairs(*links))


NONE = [
    ("no value in common", "s", ["1 a"], ["1 b"]),
    ("all missing in one file", "s", ["1 ~"], ["1 a"]),
    ("all missing in both", "s", ["1 ~"], ["1 ~"]),
    ("each value in common, but no pair of them", "s t", ["1 a y", "2 b x"], ["1 a x", "2 b y"]),
]


@pytest.mark.parametrize(("sentence", "names", "puf", "eif"), NONE, ids=[case[0] for case in NONE])
def test_no_stratum_in_common_is_an_error_that_names_the_variables(sentence, names, puf, eif):
    with pytest.raises(InputError, match=f"stratum in common \\({', '.join(names.split())}\\)\\. Recode"):
        stratified(names.split(), puf, eif)


# Shards


def packed(sizes, n_shards):
    """Shards of strata with so many records: {shard: [(stratum, start, stop)]}."""
    lines = [(f"s{at:04d}", n_puf, n_eif, 0) for at, (n_puf, n_eif) in enumerate(sizes, start=1)]
    found = strata.pack(manifest(*lines), n_shards)
    assert list(found["pairs"]) == list(found["n_puf"] * found["n_eif"])
    assert list(found["n_puf"]) == list(found["stop"] - found["start"])
    return {
        shard: list(rows[["stratum", "start", "stop"]].itertuples(index=False, name=None))
        for shard, rows in found.groupby("shard")
    }


@pytest.mark.parametrize("n_shards", [1, 2, 3, 7, 30, 1000])
def test_blocks_cover_every_record_of_a_stratum_once(n_shards):
    sizes = [(7, 5), (3, 3), (40, 2), (1, 60), (11, 11)]
    shards = packed(sizes, n_shards)
    assert set(shards) <= set(range(1, n_shards + 1))
    blocks = [block for shard in shards.values() for block in shard]
    for at, (n_puf, _) in enumerate(sizes, start=1):
        covered = [row for name, start, stop in blocks if name == f"s{at:04d}" for row in range(start, stop)]
        assert sorted(covered) == list(range(n_puf))


def test_labels_survive_the_way_through_a_csv_file(tmp_path):
    """Values of strata variables are text that may hold anything."""
    from reident.ledger import stored

    labels = ["NA", "01", "a,b", 'say "x"', "1e3", "é", "a\rb", "a\nb", "null", " ", "-inf"]
    listed = pd.DataFrame({"stratum": [f"s{at}" for at in range(len(labels))], "s": labels, "n_puf": 1})
    path = tmp_path / "strata" / "manifest.csv"
    path.parent.mkdir()
    path.write_bytes(stored.encoded(listed))
    assert list(stored.read(path)["s"]) == labels
