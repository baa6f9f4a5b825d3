"""The ledger: what a step leaves, when it leaves nothing, and a chain broken in each way that we know of."""

import json
import os
import stat
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pytest
import yaml
from reident import ledger
from reident import study as studies
from reident.errors import InputError
from unit.making import plain

SIDES = ("puf", "eif", "iuf")


class Workshop:
    """A folder with a study, its sources and steps that copy: prepare → bin → score → rate."""

    def __init__(self, folder):
        self.folder, self.root = folder, folder / "results" / "plain"
        (self.root / "logs").mkdir(parents=True)
        self.file = folder / "study.yaml"
        self.declare()
        # Both sources have one name, in folders of their own.
        self.sources = {side: folder / side / "data.csv" for side in SIDES}
        for side, path in self.sources.items():
            path.parent.mkdir()
            path.write_text(f"{side}\n", encoding="utf-8")

    def declare(self, **sections):
        self.file.write_text(yaml.safe_dump(plain(**sections)), encoding="utf-8")

    @property
    def study(self):
        return studies.load(self.file)

    def job(self, rule, inputs, outputs, metric=None):
        """A job as the scheduler describes it to an adapter."""
        name = rule if metric is None else f"{rule}.{metric}"
        made = {output: str(self.root / path) for output, path in outputs.items()}
        return SimpleNamespace(
            rule=rule,
            wildcards={} if metric is None else {"metric": metric},
            input={"study": str(self.file), **{key: str(path) for key, path in inputs.items()}},
            output={**made, "ledger": str(self.root / "ledger" / f"{name}.json")},
            params={
                "study": ledger._study_digest(self.study, rule, metric),
                "library": ledger.library_digest(rule, metric),
            },
            log=[str(self.root / "logs" / f"{name}.log")],
            threads=1,
        )

    def copy(self, rule, source, target, metric=None, **inputs):
        with ledger.step(self.job(rule, {**inputs, "from": source}, {"to": target}, metric)) as step:
            step.write("to", step.path("from").read_text(encoding="utf-8") + f"{rule}\n")

    def run(self):
        self.copy("prepare", self.sources["puf"], "prepared/puf.txt", **self.sources)
        self.copy("bin", self.root / "prepared/puf.txt", "binned/puf.txt")
        self.copy("score", self.root / "binned/puf.txt", "scores/taxicab.txt", "taxicab")
        self.copy("rate", self.root / "scores/taxicab.txt", "rates.txt")
        return self

    def check(self, *ends):
        ends = [self.root / end for end in ends or ["rates.txt"]]
        return [entry["step"] for entry in ledger.check_chain(self.root, self.study, ends, self.sources)]

    def entry(self, name):
        return json.loads((self.root / "ledger" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def shop(tmp_path):
    return Workshop(tmp_path).run()


# What a step leaves


def test_an_entry_records_what_was_read_and_written(shop):
    entry = shop.entry("prepare")
    assert entry["outputs"]["to"] == {
        "path": "prepared/puf.txt",
        "sha256": ledger.sha256(shop.root / "prepared/puf.txt"),
        "size": len("puf\nprepare\n"),
    }
    assert entry["inputs"]["eif"] == [
        {"path": "source:data.csv", "sha256": ledger.sha256(shop.sources["eif"]), "size": len("eif\n")}
    ]
    assert entry["versions"]["numpy"]
    assert (entry["rule"], entry["metric"], shop.entry("score.taxicab")["metric"]) == (
        "prepare",
        None,
        "taxicab",
    )
    assert str(shop.folder) not in json.dumps(entry), "no path of this machine"


def test_a_table_is_recorded_with_its_rows_and_read_again_as_it_was(shop):
    frame = pd.DataFrame({"name": ["NA", "01", ""], "n_puf": [1, 2, 3], "share": [0.1, None, 1e-9]})
    table = pa.table({"k": ["01", None], "x": [0.1, None]})
    job = shop.job("bin", {}, {"frame": "t.csv", "table": "t.parquet"})
    with ledger.step(job) as step:
        step.write("frame", frame)
        step.write("table", table)
    assert [shop.entry("bin")["outputs"][name]["rows"] for name in ("frame", "table")] == [3, 2]
    found = ledger._read(shop.root / "t.csv")
    assert found["name"].tolist() == ["NA", "01", ""]
    assert found["n_puf"].tolist() == [1, 2, 3]
    assert found["share"].tolist() == ["0.1", "", "1e-09"]
    assert ledger._read(shop.root / "t.parquet").equals(table)


def test_the_same_content_is_the_same_bytes_without_a_trace_of_pandas(shop):
    frame = pa.Table.from_pandas(pd.DataFrame({"a": [1, 2]}, index=[5, 6]))
    assert ledger._encoded(frame) == ledger._encoded(frame.replace_schema_metadata(None))


def test_results_are_readable_by_their_owner_alone(shop):
    umask = os.umask(0)
    try:
        shop.run()
    finally:
        os.umask(umask)
    for name in ("prepared/puf.txt", "rates.txt", "ledger/rate.json"):
        assert stat.S_IMODE((shop.root / name).stat().st_mode) == 0o600


def failing(shop, body):
    """Run a step whose body fails; what it exits with, and its log."""
    outputs = {"to": "binned/puf.txt", "also": "also.txt"}
    job = shop.job("bin", {"from": shop.root / "prepared/puf.txt"}, outputs)
    with pytest.raises(SystemExit) as caught:
        run(job, body)
    return str(caught.value), (shop.root / "logs" / "bin.log").read_text(encoding="utf-8")


def run(job, body):
    with ledger.step(job) as step:
        step.write("to", "half")
        body(step)


def bad_input(step):
    raise InputError("puf.csv, row 3: something is wrong; mend it.")


def test_bad_input_ends_a_step_with_its_sentence_and_leaves_what_was_there(shop):
    before = {
        path: path.read_bytes() for path in shop.root.rglob("*") if path.is_file() and path.suffix != ".log"
    }
    said, log = failing(shop, bad_input)
    assert said == "Error: puf.csv, row 3: something is wrong; mend it."
    assert log == said + "\n"
    after = {
        path: path.read_bytes() for path in shop.root.rglob("*") if path.is_file() and path.suffix != ".log"
    }
    assert after == before, "neither a half file nor a temporary one, and the old entry"


def test_an_unexpected_error_tells_its_place_and_keeps_its_details_to_the_owner(shop):
    def crash(step):
        raise KeyError("SECRET-7")

    said, log = failing(shop, crash)
    assert "step `bin` failed unexpectedly (KeyError in crash, test_ledger.py line" in said
    assert "SECRET-7" not in said + log
    details = shop.root / "confidential" / "bin.txt"
    assert "SECRET-7" in details.read_text(encoding="utf-8")
    assert stat.S_IMODE(details.stat().st_mode) == 0o600
    assert stat.S_IMODE(details.parent.stat().st_mode) == 0o700


def test_a_forgotten_output_is_a_mistake_of_the_program_and_leaves_nothing(shop):
    said, _ = failing(shop, lambda _: None)
    assert "RuntimeError" in said
    assert not list(shop.root.rglob("*.part"))


def test_an_input_that_changes_while_a_step_reads_it_is_refused(shop):
    def edit(step):
        step.write("also", "x")
        step.path("from").write_text("another", encoding="utf-8")

    assert (
        failing(shop, edit)[0]
        == "Error: puf.txt changed while step `bin` read it; run the same command again."
    )
    assert (shop.root / "binned/puf.txt").read_text(encoding="utf-8") == "puf\nprepare\nbin\n"


def test_a_study_that_changes_after_the_run_began_is_refused(shop):
    job = shop.job("bin", {}, {"to": "binned/puf.txt"})
    shop.declare(binning={"bins": "3"})
    with pytest.raises(
        SystemExit, match=r"study\.yaml changed since this run began; run the same command again"
    ):
        run(job, lambda _: pytest.fail("the body ran"))


# The chain


def test_a_whole_chain_gives_its_entries(shop):
    assert shop.check() == ["bin", "prepare", "rate", "score.taxicab"]
    assert shop.check("binned/puf.txt") == ["bin", "prepare"]


def edited(name):
    def change(shop):
        path = shop.root / name
        path.write_text(path.read_text(encoding="utf-8") + "x", encoding="utf-8")

    return change


def edited_and_used(shop):
    """An intermediate is edited, and the steps after it run on it."""
    edited("binned/puf.txt")(shop)
    shop.copy("score", shop.root / "binned/puf.txt", "scores/taxicab.txt", "taxicab")
    shop.copy("rate", shop.root / "scores/taxicab.txt", "rates.txt")


def rerun_without_what_follows(shop):
    shop.sources["puf"].write_text("other\n", encoding="utf-8")
    shop.copy("prepare", shop.sources["puf"], "prepared/puf.txt", **shop.sources)


def with_entry(name, **fields):
    def change(shop):
        path = shop.root / "ledger" / f"{name}.json"
        path.write_text(json.dumps({**shop.entry(name), **fields}), encoding="utf-8")

    return change


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
    (
        "an intermediate edited and used: the edited one is named",
        edited_and_used,
        "binned/puf.txt is not what its step wrote",
    ),
    (
        "an intermediate deleted",
        lambda s: (s.root / "binned/puf.txt").unlink(),
        "binned/puf.txt is not what its step",
    ),
    (
        "an intermediate emptied",
        lambda s: os.truncate(s.root / "scores/taxicab.txt", 0),
        "scores/taxicab.txt is not",
    ),
    (
        "an entry lost",
        lambda s: (s.root / "ledger/bin.json").unlink(),
        "binned/puf.txt has no entry in the ledger",
    ),
    (
        "the last entry lost",
        lambda s: (s.root / "ledger/rate.json").unlink(),
        "rates.txt has no entry in the ledger",
    ),
    (
        "an entry cut",
        lambda s: os.truncate(s.root / "ledger/bin.json", 40),
        "ledger/bin.json is not a whole ledger entry",
    ),
    (
        "an entry emptied",
        lambda s: os.truncate(s.root / "ledger/bin.json", 0),
        "ledger/bin.json is not a whole ledger",
    ),
    (
        "an entry without its outputs",
        with_entry("bin", outputs=None),
        "ledger/bin.json is not a whole ledger entry",
    ),
    (
        "another study",
        lambda s: s.declare(binning={"bins": "4"}),
        "binned/puf.txt was made with another study",
    ),
    (
        "an option of the metric",
        lambda s: s.declare(metrics={"taxicab": {"alpha": "0.4"}}),
        "scores/taxicab.txt was made with another study",
    ),
    (
        "another version of the library",
        with_entry("bin", library_digest="0" * 64),
        "binned/puf.txt was made by another version of the library",
    ),
    (
        "the PUF changed, its time stamp kept",
        swapped("puf"),
        "prepared/puf.txt was made from another version of data.csv",
    ),
    (
        "the links changed, their time stamp kept",
        swapped("iuf"),
        "prepared/puf.txt was made from another version of data",
    ),
    (
        "a source deleted",
        lambda s: s.sources["eif"].unlink(),
        "prepared/puf.txt was made from another version of data",
    ),
    (
        "a step run again without those after it",
        rerun_without_what_follows,
        "binned/puf.txt was made from another version of prepared/puf.txt",
    ),
]


@pytest.mark.parametrize(("sentence", "change", "says"), BROKEN, ids=[case[0] for case in BROKEN])
def test_a_broken_chain_names_the_file_and_what_mends_it(shop, sentence, change, says):
    change(shop)
    with pytest.raises(InputError) as caught:
        shop.check()
    assert says in str(caught.value)
    assert str(caught.value).startswith(str(shop.root))
    assert str(caught.value).endswith("; delete it and run the same command again.")


UNTOUCHED = [
    (
        "an option that no step of the chain takes",
        lambda s: s.declare(title="T", decision={"conditional_rate_at_most": "0.1"}),
    ),
    ("a stranger's file", lambda s: (s.root / "notes.txt").write_text("x", encoding="utf-8")),
    (
        "a source of the same content, written again",
        lambda s: s.sources["puf"].write_text("puf\n", encoding="utf-8"),
    ),
    ("everything run again", lambda s: s.run()),
]


@pytest.mark.parametrize(("sentence", "change"), UNTOUCHED, ids=[case[0] for case in UNTOUCHED])
def test_a_chain_holds_where_nothing_that_counts_has_changed(shop, sentence, change):
    change(shop)
    assert shop.check() == ["bin", "prepare", "rate", "score.taxicab"]


# What the scheduler is told where its own records may be lost

OLD = [
    ("nothing changed", lambda _: None, []),
    ("a source", swapped("eif"), ["prepared/puf.txt"]),
    ("an option", lambda s: s.declare(binning={"bins": "4"}), ["binned/puf.txt"]),
    ("the library", with_entry("score.taxicab", library_digest="0" * 64), ["scores/taxicab.txt"]),
    ("a step that is no more", with_entry("score.taxicab", metric="gower"), ["scores/taxicab.txt"]),
    ("an entry lost", lambda s: (s.root / "ledger/bin.json").unlink(), ["binned/puf.txt"]),
    ("an entry cut", lambda s: os.truncate(s.root / "ledger/bin.json", 40), ["binned/puf.txt"]),
    ("what was made from an edited file", edited_and_used, ["scores/taxicab.txt"]),
]


@pytest.mark.parametrize(("sentence", "change", "names"), OLD, ids=[case[0] for case in OLD])
def test_results_that_no_longer_hold_are_made_to_look_old(shop, sentence, change, names):
    change(shop)
    assert ledger.mark_stale(shop.root, {"": (shop.study, shop.sources)}) == names
    results = ["prepared/puf.txt", "binned/puf.txt", "scores/taxicab.txt", "rates.txt"]
    assert [name for name in results if (shop.root / name).stat().st_mtime == 1] == names


def test_without_results_nothing_is_old(tmp_path):
    shop = Workshop(tmp_path)
    assert ledger.mark_stale(shop.root, {"": (shop.study, shop.sources)}) == []


# The library's digest


def digests(monkeypatch, tmp_path, edit):
    """The rules (and metrics) whose digest changes when a module of a copy of the library is edited."""
    import shutil

    from reident.metrics import REGISTRY

    copy = tmp_path / "reident"
    shutil.copytree(ledger.LIBRARY, copy)
    monkeypatch.setattr(ledger, "LIBRARY", copy)
    parts = [(rule, None) for rule in ledger.MODULES if rule != "score"] + [
        ("score", metric) for metric in REGISTRY
    ]

    def all_digests():
        ledger.library_digest.cache_clear()
        return {metric or rule: ledger.library_digest(rule, metric) for rule, metric in parts}

    before = all_digests()
    file = copy / edit
    file.write_text(file.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    after = all_digests()
    ledger.library_digest.cache_clear()
    return {name for name, digest in before.items() if after[name] != digest}


METRICS = {"unicity", "taxicab", "euclidean", "adhoc", "winkler"}
EDITS = [
    ("a kernel", "kernels/euclidean.py", {"euclidean"}),
    ("a metric", "metrics/unicity.py", {"unicity", "resolve"}),
    ("pairings", "pairing.py", {*METRICS, "describe"}),
    ("the reader of sources", "reading/delimited.py", {"prepare"}),
    ("the typing of values", "values.py", {"prepare", "adhoc", "resolve"}),
    ("the study model", "study.py", {"resolve"}),
    ("confirmation", "confirmation.py", {"confirm"}),
]


@pytest.mark.parametrize(("sentence", "module", "rules"), EDITS, ids=[case[0] for case in EDITS])
def test_an_edited_module_changes_the_digest_of_the_rules_that_run_it(
    monkeypatch, tmp_path, sentence, module, rules
):
    changed = digests(monkeypatch, tmp_path, module)
    steps = {
        "simulate",
        "prepare",
        "stratify",
        "bin",
        *METRICS,
        "rank",
        "confirm",
        "rate",
        "describe",
        "resolve",
    }
    assert changed & steps == rules & steps
