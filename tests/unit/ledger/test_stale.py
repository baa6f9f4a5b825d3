"""Which results no longer hold, found without touching any file."""

import json
import os

import pytest
from making.workshop import Workshop
from reident.ledger import chain, stale

RESULTS = ("prepared/puf.txt", "binned/puf.txt", "scores/taxicab.txt", "rates.txt")


@pytest.fixture
def shop(tmp_path):
    return Workshop(tmp_path).run()


def find(shop):
    """The results and entries that no longer hold, by their names in the study's folder."""
    before = {path: path.stat().st_mtime_ns for path in shop.root.rglob("*")}
    found = stale.find_stale(shop.root, shop.known)
    assert {path: path.stat().st_mtime_ns for path in shop.root.rglob("*")} == before, "no side effects"
    return {path.relative_to(shop.root).as_posix() for path in found.files}


def results(shop):
    return [name for name in RESULTS if name in find(shop)]


def write_entry(shop, name, **fields):
    path = shop.root / "ledger" / f"{name}.json"
    path.write_text(json.dumps(chain.sealed({**shop.entry(name), **fields})), encoding="utf-8")


def swap(path):
    """Change a file but not its size and time stamp."""
    before = path.stat()
    path.write_text(path.read_text(encoding="utf-8").swapcase(), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def use_edited(shop):
    """Edit an intermediate result and run the steps after it."""
    swap(shop.root / "binned/puf.txt")
    shop.copy("score", shop.root / "binned/puf.txt", "scores/taxicab.txt", "taxicab")
    shop.copy("rate", shop.root / "scores/taxicab.txt", "rates.txt")


CHANGES = [
    ("nothing", lambda _: None, []),
    ("a title", lambda s: s.declare(title="T"), []),
    ("a source", lambda s: swap(s.sources["eif"]), ["prepared/puf.txt"]),
    ("an option of a step", lambda s: s.declare(binning={"bins": "4"}), ["binned/puf.txt"]),
    ("an option of a metric", lambda s: s.declare(metrics={"taxicab": {"alpha": "0.4"}}), ["scores/taxicab.txt"]),
    (
        "the library",
        lambda s: write_entry(s, "score.taxicab", library_digest="0" * 64),
        ["scores/taxicab.txt"],
    ),
    ("an unknown metric", lambda s: write_entry(s, "score.taxicab", metric="gower"), ["scores/taxicab.txt"]),
    ("an unknown step", lambda s: write_entry(s, "bin", rule="sort"), ["binned/puf.txt"]),
    ("a dropped metric", lambda s: s.declare(metrics={"unicity": {}}), ["scores/taxicab.txt", "rates.txt"]),
    ("an edited result", lambda s: swap(s.root / "rates.txt"), ["rates.txt"]),
    ("a cut result", lambda s: os.truncate(s.root / "prepared/puf.txt", 2), ["prepared/puf.txt"]),
    ("an edited result that was read", use_edited, ["binned/puf.txt", "scores/taxicab.txt"]),
    ("an entry lost", lambda s: (s.root / "ledger/bin.json").unlink(), ["binned/puf.txt", "scores/taxicab.txt"]),
    ("an entry cut", lambda s: os.truncate(s.root / "ledger/bin.json", 40), ["binned/puf.txt", "scores/taxicab.txt"]),
    ("the last entry lost", lambda s: (s.root / "ledger/rate.json").unlink(), ["rates.txt"]),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "change", "names"), CHANGES, ids=[case[0] for case in CHANGES])
def test_results_that_no_longer_hold_are_named(shop, sentence, change, names):
    change(shop)
    assert results(shop) == names


def test_a_number_of_an_entry_edited_means_that_its_results_do_not_hold(shop):
    path = shop.root / "ledger" / "bin.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"size": 12', '"size": 13'), encoding="utf-8")
    assert results(shop) == ["binned/puf.txt", "scores/taxicab.txt"]


def test_a_lost_result_is_named_by_the_entry_of_its_step(shop):
    (shop.root / "rates.txt").unlink()
    assert find(shop) >= {"ledger/rate.json"}


def test_edited_results_are_told_apart_from_those_that_others_make_stale(shop):
    swap(shop.root / "rates.txt")
    shop.declare(binning={"bins": "4"})
    found = stale.find_stale(shop.root, shop.known)
    assert found.edited == {shop.root / "rates.txt": chain.digest(shop.root / "rates.txt")}
    assert results(shop) == ["binned/puf.txt", "rates.txt"]


def test_results_at_other_places_are_left_alone(shop):
    swap(shop.root / "rates.txt")
    found = stale.find_stale(shop.root, {})
    assert (found.edited, shop.root / "rates.txt" in found.files) == ({}, False)


def test_without_results_nothing_is_stale(tmp_path):
    shop = Workshop(tmp_path)
    assert find(shop) == set()
