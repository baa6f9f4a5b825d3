"""The walk along the ledger: each way in which a chain can break, and what an edit of the library changes."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
import yaml
from making.studies import plain
from making.workshop import Workshop
from reident.errors import InputError
from reident.ledger import chain
from reident.linkage.metrics import REGISTRY
from reident.pipeline import digests
from reident.pipeline.family import Family
from reident.pipeline.steps import STEPS


@pytest.fixture
def shop(tmp_path):
    return Workshop(tmp_path).run()


def edited(name):
    def change(shop):
        path = shop.root / name
        path.write_text(path.read_text(encoding="utf-8") + "x", encoding="utf-8")

    return change


def rerun_without_what_follows(shop):
    shop.sources["puf"].write_text("other\n", encoding="utf-8")
    shop.copy("prepare", shop.sources["puf"], "prepared/puf.txt", **shop.sources)


def with_entry(name, **fields):
    def change(shop):
        path = shop.root / "ledger" / f"{name}.json"
        path.write_text(json.dumps(chain.sealed({**shop.entry(name), **fields})), encoding="utf-8")

    return change


def edited_entry(shop, old, new):
    path = shop.root / "ledger" / "bin.json"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def swapped(side):
    def change(shop):
        path = shop.sources[side]
        kept = path.stat()
        path.write_text(path.read_text(encoding="utf-8").upper(), encoding="utf-8")
        os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))

    return change


BROKEN = [
    ("an intermediate edited", edited("prepared/puf.txt"), "prepared/puf.txt is not what its step wrote"),
    ("a final result edited", edited("rates.txt"), "rates.txt is not what its step wrote"),
    ("an intermediate deleted", lambda s: (s.root / "binned/puf.txt").unlink(), "binned/puf.txt is missing"),
    ("an intermediate emptied", lambda s: os.truncate(s.root / "scores/taxicab.txt", 0), "scores/taxicab.txt is not"),
    ("an entry lost", lambda s: (s.root / "ledger/bin.json").unlink(), "binned/puf.txt has no entry in the ledger"),
    ("the last entry lost", lambda s: (s.root / "ledger/rate.json").unlink(), "rates.txt has no entry in the ledger"),
    (
        "an entry cut",
        lambda s: os.truncate(s.root / "ledger/bin.json", 40),
        "ledger/bin.json is not a complete ledger entry",
    ),
    (
        "an entry emptied",
        lambda s: os.truncate(s.root / "ledger/bin.json", 0),
        "ledger/bin.json is not a complete ledger",
    ),
    ("an entry without its outputs", with_entry("bin", outputs=None), "ledger/bin.json is not a complete ledger entry"),
    ("an entry with no output", with_entry("bin", outputs={}), "ledger/bin.json is not a complete ledger entry"),
    ("an entry without versions", with_entry("bin", versions=None), "ledger/bin.json is not a complete ledger entry"),
    (
        "a number of an entry edited",
        lambda s: edited_entry(s, '"size": 12', '"size": 13'),
        "ledger/bin.json is not what its step wrote",
    ),
    (
        "another study",
        lambda s: s.declare(binning={"bins": "4"}),
        "binned/puf.txt was made with different study settings",
    ),
    (
        "an option of the metric",
        lambda s: s.declare(metrics={"taxicab": {"alpha": "0.4"}}),
        "scores/taxicab.txt was made with different study settings",
    ),
    (
        "another version of the library",
        with_entry("bin", library_digest="0" * 64),
        "binned/puf.txt was made by a different version of the library",
    ),
    (
        "the PUF changed, its time stamp kept",
        swapped("puf"),
        "prepared/puf.txt was made from a different version of data.csv",
    ),
    (
        "the links changed, their time stamp kept",
        swapped("iuf"),
        "prepared/puf.txt was made from a different version of data",
    ),
    (
        "a source deleted",
        lambda s: s.sources["eif"].unlink(),
        "prepared/puf.txt was made from a different version of data",
    ),
    (
        "a step run again without those after it",
        rerun_without_what_follows,
        "binned/puf.txt was made from a different version of prepared/puf.txt",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "change", "says"), BROKEN, ids=[case[0] for case in BROKEN])
def test_a_broken_chain_names_the_file_and_what_mends_it(shop, sentence, change, says):
    change(shop)
    with pytest.raises(InputError) as caught:
        shop.check()
    assert says in str(caught.value)
    assert str(caught.value).startswith(str(shop.root))
    assert re.search(r"\. Run the same command again( with `--forcerun bin`)?\.$", str(caught.value))


KINDS = {
    "is not what its step wrote": {chain.EDITED},
    "is missing": {chain.MISSING},
    "has no entry in the ledger": {chain.NO_ENTRY},
    "is not a complete ledger": {chain.UNREADABLE, chain.NO_ENTRY},
    "was made with different study settings": {chain.SETTINGS},
    "was made by a different version of the library": {chain.CODE},
    "was made from a different version of data": {chain.SOURCE},
    "was made from a different version of prepared": {chain.OUTDATED},
}
OTHERS = {
    "an intermediate emptied": {chain.EDITED},
    "a number of an entry edited": {chain.UNREADABLE, chain.NO_ENTRY},
    "a source deleted": {chain.ABSENT},
    "a step run again without those after it": {chain.OUTDATED},
}


@pytest.mark.parametrize(("sentence", "change", "says"), BROKEN, ids=[case[0] for case in BROKEN])
def test_a_walk_that_goes_on_tells_each_break_and_nothing_else(shop, sentence, change, says):
    change(shop)
    told = []
    shop.walk(chain.Chain(shop.root, told.append), [shop.root / "rates.txt"])
    (kinds,) = [OTHERS[sentence]] if sentence in OTHERS else [KINDS[text] for text in KINDS if text in says]
    assert {found.kind for found in told} == kinds


UNTOUCHED = [
    ("a commit that changes no code of the chain", with_entry("bin", release={"commit": "0" * 40})),
    ("an entry of a release that did not record itself", with_entry("bin", release=None)),
    (
        "an option that no step of the chain takes",
        lambda s: s.declare(title="T", decision={"conditional_rate_at_most": "0.1"}),
    ),
    ("a stranger's file", lambda s: (s.root / "notes.txt").write_text("x", encoding="utf-8")),
    ("a source of the same content, written again", lambda s: s.sources["puf"].write_text("puf\n", encoding="utf-8")),
    ("everything run again", lambda s: s.run()),
    (
        "an entry that another step takes away, to renew it, once its name was read",
        lambda s: (s.root / "ledger/calibrate.json").symlink_to(s.root / "gone.json"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "change"), UNTOUCHED, ids=[case[0] for case in UNTOUCHED])
def test_a_chain_holds_where_nothing_that_counts_has_changed(shop, sentence, change):
    change(shop)
    assert shop.check() == ["bin", "prepare", "rate", "score.taxicab"]


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("results/s/clusters.csv", "rate"),
        ("results/s/variants/a/scores/taxicab/2-of-7.parquet", "score"),
        ("results/s/ledger/score.taxicab.2-of-7.json", "score"),
        ("results/s/disclosure-review.ipynb", "report"),
        ("reports/s/disclosure-review.pdf", "report"),
        ("prefix/reports/s/variants/a/disclosure-review.html", "report"),
        ("reports/s/releasable/edition.html", "edition"),
        ("reports/s/releasable/edition.csv", "edition"),
        ("results/s/edition/edition.csv", "edition"),
    ],
)
def test_the_rule_that_makes_what_does_not_hold(path, rule):
    assert chain.forced([chain.Break(chain.EDITED, Path(path), "is edited")]) == f"--forcerun {rule}"


# The library's digest


def forget():
    for remembered in (digests.library_digest, digests._imports, digests._lines, digests._beside):
        remembered.cache_clear()


def all_digests():
    """The digests of all rules, and of each metric, made anew."""
    by_metric = {rule for rule, step in STEPS.items() if any("{metric}" in module for module in step.modules)}
    parts = [(rule, None) for rule in STEPS if rule not in by_metric] + [("score", own) for own in REGISTRY]
    forget()
    return {metric or rule: digests.library_digest(rule, metric) for rule, metric in parts}


@pytest.fixture(scope="module")
def rerun(tmp_path_factory):
    """Return a function: the rules, and metrics, whose digest changes when a module of a copy is edited."""
    copy = shutil.copytree(digests.LIBRARY, tmp_path_factory.mktemp("copy") / "reident")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digests, "LIBRARY", copy)
        before = all_digests()

    def changed(edit):
        file = copy / edit
        text = file.read_text(encoding="utf-8")
        file.write_text(text + "# edited\n", encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(digests, "LIBRARY", copy)
            after = all_digests()
        forget()
        file.write_text(text, encoding="utf-8")
        return {name for name, digest in before.items() if after[name] != digest}

    return changed


METRICS = set(REGISTRY)
EDITS = [
    ("a kernel", "kernels/unicity_search.py", {"unicity"}),
    ("a metric", "linkage/metrics/unicity.py", {"unicity", "resolve"}),
    ("pairings", "linkage/pairing.py", {*METRICS, "rate"}),
    ("the reader of sources", "reading/delimited.py", {"prepare"}),
    ("the typing of values", "intake/values.py", {"prepare"}),
    ("the study model", "study/model.py", {"resolve"}),
    ("a section of the report", "report/blocks/front.py", {"report"}),
    ("the pages of the edition", "report/edition.py", {"edition"}),
    ("a sentence", "report/words/front.yaml", {"report", "edition"}),
    ("a sentence of a warning", "language/en/messages.yaml", {"prepare", "judge", "report"}),
    ("a German sentence of a warning", "language/de/messages.yaml", {"report", "edition"}),
    ("confirmation", "linkage/confirmation.py", {"confirm"}),
    ("what a count is", "linkage/quantities.csv", set()),
    ("what a step is called", "linkage/steps.csv", set()),
]


@pytest.mark.parametrize(("sentence", "module", "rules"), EDITS, ids=[case[0] for case in EDITS])
def test_an_edited_module_changes_the_digest_of_the_rules_that_run_it(rerun, sentence, module, rules):
    changed = rerun(module)
    steps = {"simulate", "prepare", "stratify", "bin", *METRICS, "rank", "confirm", "rate", "resolve"}
    assert changed & steps == rules & steps
    assert rules <= changed


# What entries are compared with: the study and its variants as they are now


@pytest.fixture
def members(tmp_path) -> Family:
    variants = [{"set": "metrics.taxicab.alpha", "values": ["1/3", "1/2"]}]
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(plain(metrics={"taxicab": {}}, variants=variants)), encoding="utf-8")
    return Family(file)


@pytest.mark.parametrize(
    ("sentence", "rule", "metric"),
    [
        ("an unknown step", "sort", None),
        ("a step of a section that the study does not have", "match", None),
        ("a metric that the study does not choose", "score", "winkler"),
        ("an unknown metric", "score", "gower"),
    ],
    ids=lambda value: value if value and " " in value else "",
)
def test_what_a_study_does_not_ask_for_has_no_digest(members, sentence, rule, metric):
    assert members.known_digest("", rule, metric) is None


def test_every_other_step_has_the_digest_that_its_rule_has(members):
    for place in ("", "variants/alpha-1-2"):
        assert members.known_digest(place, "score", "taxicab") == members.digest(place, "score", "taxicab")
        assert members.known_digest(place, "prepare") == members.digest(place, "prepare")
