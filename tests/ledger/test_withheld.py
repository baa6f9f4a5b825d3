"""Which digests of the ledger may leave it: those of what leaves as well, and of what an intruder holds anyway."""

import json

import pytest
from reident.ledger.chain import sealed
from reident.ledger.withheld import is_known_to_intruder, redacted, withheld


def line(path, digest=None):
    return {"path": path, "sha256": digest or f"of {path}", "size": 1, "rows": 2}


def entry(rule, inputs, *outputs):
    named = {name: [line(path)] for name, path in inputs.items()}
    return sealed({"rule": rule, "inputs": named, "outputs": {path: line(path) for path in outputs}})


FILES = {"puf": "source:puf.csv", "eif": "source:eif.csv", "iuf": "source:iuf.csv", "original": "source:real.csv"}
ENTRIES = [
    entry("prepare", FILES, "prepared/puf.parquet", "prepared/account.csv"),
    entry("confirm", {"puf": "prepared/puf.parquet"}, "confirmed/taxicab.parquet", "confirmed/taxicab.limits.csv"),
    entry("prepare", {"puf": "source:real.csv", "eif": "source:other.csv"}, "variants/before/prepared/puf.parquet"),
    entry("prepare_matching", {name: f"simulated/{name}.csv" for name in ("confidential", "synthetic_1")},
          "matching/records.parquet", "matching/summary.csv"),
]  # fmt: skip

LEAVES = [
    "source:puf.csv", "source:eif.csv", "simulated/synthetic_1.csv", "prepared/account.csv", "rates.csv", "study.json",
    "confirmed/taxicab.limits.csv", "matching/summary.csv", "strata/manifest.csv", "reports/disclosure-review.html",
    "variants/before/rates.csv",
]  # fmt: skip
STAYS = [
    "source:iuf.csv", "source:real.csv", "source:other.csv", "simulated/iuf.csv", "simulated/confidential.csv",
    "prepared/puf.parquet", "prepared/iuf.parquet", "confirmed/taxicab.parquet", "confirmed/taxicab.csv",
    "scores/taxicab/1-of-1.parquet", "why/taxicab.csv", "matching/records.parquet", "disclosure-review.ipynb",
    "prepared/warnings.csv", "suggest/variants.yaml", "release/attack.csv", "of/no/step.csv",
    "variants/before/prepared/puf.parquet",
]  # fmt: skip


@pytest.mark.parametrize("path", LEAVES)
def test_the_digest_of_what_leaves_or_is_held_anyway_may_leave(path):
    assert not withheld(ENTRIES)(line(path))


@pytest.mark.parametrize("path", STAYS)
def test_any_other_digest_must_stay(path):
    assert withheld(ENTRIES)(line(path))


def test_a_file_that_is_the_public_one_in_the_study_and_another_elsewhere_is_not_held():
    other = entry("assess_attribution", {"source_original": "source:puf.csv"}, "attribution/summary.csv")
    both = [*ENTRIES, other]
    assert withheld(both)(line("source:puf.csv"))


def test_nothing_is_held_by_a_name_that_only_begins_like_one():
    assert is_known_to_intruder("source_puf")
    assert not is_known_to_intruder("source_puf_original")
    assert not is_known_to_intruder("iuf")


def test_a_redacted_entry_has_the_digest_of_what_is_left():
    must_stay = withheld(ENTRIES)
    one, other = (
        redacted({**ENTRIES[0], "inputs": {**ENTRIES[0]["inputs"], "iuf": [line("source:iuf.csv", digest)]}}, must_stay)
        for digest in ("a", "b")
    )
    assert one == other == sealed(one)
    assert one["inputs"]["iuf"] == [{"path": "source:iuf.csv", "sha256": None, "size": None, "rows": 2}]
    assert "of source:puf.csv" in json.dumps(one)
