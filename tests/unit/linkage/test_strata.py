"""Strata: equal values of all strata variables; what is in none; and how strata are packed into shards."""

import numpy as np
import pandas as pd
import pytest
from making.studies import in_strata, manifest, pairs, study, table
from reident.errors import InputError
from reident.linkage import strata
from reident.pipeline import parts

LINKING = {"linking_variables": [{"name": "v", "type": "numeric"}]}


def stratified(names, puf, eif, links=()):
    """Stratify records ``key value value …`` with as many strata variables as there are names."""
    part = parts.stratifying(study(strata=list(names), **LINKING))
    sides = [table(f"{key} {' '.join(names)}", *rows) for key, rows in (("p", puf), ("e", eif))]
    return strata.stratify(part, *sides, pairs(*links))


def counts(found, *names):
    return list(
        found.manifest[["stratum", *names, "n_puf", "n_eif", "n_links"]].itertuples(index=False, name=None)
    )


CASES = [
    (
        "one variable, both files",
        "s", ["1 a", "2 b", "3 a"], ["1 b", "2 a"], ["0 1", "1 0"],
        [("s0001", "a", 2, 1, 1), ("s0002", "b", 1, 1, 1)],
    ),
    (
        "a stratum that only one file has is listed with its counts",
        "s", ["1 a", "2 b"], ["1 b", "2 c"], [],
        [("s0001", "a", 1, 0, 0), ("s0002", "b", 1, 1, 0), ("s0003", "c", 0, 1, 0)],
    ),
    (
        "values are a tuple, never joined",
        "s t", ["1 1 23", "2 12 3"], ["1 12 3"], [],
        [("s0001", "1", "23", 1, 0, 0), ("s0002", "12", "3", 1, 1, 0)],
    ),
    (
        "zeros in front make another stratum",
        "s", ["1 1", "2 01"], ["1 1"], [],
        [("s0001", "01", 1, 0, 0), ("s0002", "1", 1, 1, 0)],
    ),
    (
        "a missing value is no stratum, whatever the others are",
        "s t", ["1 a ~", "2 ~ x", "3 a x"], ["1 a x", "2 ~ ~"], [],
        [("s0001", "a", "x", 1, 1, 0)],
    ),
    (
        "an empty text is a value",
        "s", ["1 _", "2 ~"], ["1 _"], [],
        [("s0001", "", 1, 1, 0)],
    ),
    (
        "NA is Namibia",
        "s", ["1 NA", "2 NO"], ["1 NA"], [],
        [("s0001", "NA", 1, 1, 0), ("s0002", "NO", 1, 0, 0)],
    ),
    (
        "one record each",
        "s", ["1 a"], ["1 a"], ["0 0"],
        [("s0001", "a", 1, 1, 1)],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "names", "puf", "eif", "links", "lines"), CASES, ids=[case[0] for case in CASES]
)
def test_the_manifest_lists_every_stratum(sentence, names, puf, eif, links, lines):
    found = stratified(names.split(), puf, eif, links)
    assert counts(found, *names.split()) == lines
    assert (found.manifest["pairs"] == found.manifest["n_puf"] * found.manifest["n_eif"]).all()


def test_without_strata_variables_there_is_one_stratum():
    found = stratified([], ["1", "2"], ["1", "2", "3"], ["0 0", "0 2"])
    assert counts(found) == [("s0001", 2, 3, 2)]


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


def test_links_lost_to_stratification_are_counted_by_cause():
    puf = ["1 a", "2 a", "3 b", "4 ~"]
    eif = ["1 a", "2 b", "3 ~"]
    links = ["0 0", "1 1", "2 0", "2 2", "3 2", "3 0"]
    found = stratified(["s"], puf, eif, links)
    lines = found.account.set_index(["file", "cause"])["rows"]
    assert lines["puf"].to_dict() == {"in": 4, "no stratum: a strata value is missing": 1, "used": 3}
    assert lines["eif"].to_dict() == {"in": 3, "no stratum: a strata value is missing": 1, "used": 2}
    assert lines["iuf"].to_dict() == {
        "in": 6,
        "lost to stratification: a record of the link is in no stratum": 3,
        "lost to stratification: the records are in different strata": 2,
        "used": 1,
    }
    assert counts(found, "s") == [("s0001", "a", 2, 1, 1), ("s0002", "b", 1, 1, 0)]


def test_the_stratum_of_each_record_is_its_line_of_the_manifest():
    strata_of = stratified(["s", "t"], ["1 b x", "2 a ~", "3 a y"], ["1 a y", "2 ~ ~", "3 b x", "4 c x"])
    assert strata_of.puf.equals(in_strata(1, None, 0))
    assert strata_of.eif.equals(in_strata(0, None, 1, 2))
    assert strata.lines(strata_of.puf).tolist() == [1, -1, 0]
    assert stratified([], ["1", "2"], ["1"]).puf.equals(in_strata(0, 0))


def test_a_link_is_inside_where_both_records_have_the_same_stratum():
    links = pairs("0 0", "0 1", "1 0", "1 1")
    assert strata.links_inside(links, np.array([0, -1]), np.array([0, -1])).tolist() == [
        True,
        False,
        False,
        False,
    ]


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


PACKED = [
    ("all in one", [(2, 3), (1, 4)], 1, {1: [("s0001", 0, 2), ("s0002", 0, 1)]}),
    (
        "the largest first, into the shard with the fewest pairs",
        [(1, 3), (1, 6), (1, 5), (1, 2)],
        2,
        {1: [("s0002", 0, 1), ("s0004", 0, 1)], 2: [("s0001", 0, 1), ("s0003", 0, 1)]},
    ),
    ("equal ones by their name", [(1, 4), (1, 4)], 2, {1: [("s0001", 0, 1)], 2: [("s0002", 0, 1)]}),
    (
        "more pairs than an equal part: blocks of PUF records",
        [(5, 5)],
        3,
        {1: [("s0001", 0, 1)], 2: [("s0001", 1, 3)], 3: [("s0001", 3, 5)]},
    ),
    (
        "no block below one record, and shards without any",
        [(2, 50)],
        5,
        {1: [("s0001", 0, 1)], 2: [("s0001", 1, 2)]},
    ),
    ("strata of one file alone are in no shard", [(0, 5), (3, 0), (1, 1)], 2, {1: [("s0003", 0, 1)]}),
    ("no pairs at all", [(0, 5), (3, 0)], 2, {}),
]


@pytest.mark.parametrize(("sentence", "sizes", "n", "shards"), PACKED, ids=[case[0] for case in PACKED])
def test_packing(sentence, sizes, n, shards):
    assert packed(sizes, n) == shards


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
