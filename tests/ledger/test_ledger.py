"""What a step leaves, and when it leaves nothing."""

import ast
import json
import os
import shutil
import stat
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pytest
from making.workshop import Workshop
from reident import ledger
from reident.errors import InputError
from reident.ledger import stored
from reident.pipeline import digests
from reident.pipeline.tables import TABLES


@pytest.fixture
def shop(tmp_path):
    return Workshop(tmp_path).run()


def test_an_entry_records_what_was_read_and_written(shop):
    entry = shop.entry("prepare")
    assert entry["outputs"]["to"] == {
        "path": "prepared/puf.txt",
        "sha256": digests.sha256(shop.root / "prepared/puf.txt"),
        "size": len("puf\nprepare\n"),
    }
    assert entry["inputs"]["eif"] == [
        {"path": "source:data.csv", "sha256": digests.sha256(shop.sources["eif"]), "size": len("eif\n")}
    ]
    assert set(entry["inputs"]) == {"from", "puf", "eif", "iuf"}, "the study by the digest of its settings alone"
    assert entry["versions"]["numpy"]
    assert (entry["rule"], entry["metric"], shop.entry("score.taxicab")["metric"]) == ("prepare", None, "taxicab")
    assert str(shop.folder) not in json.dumps(entry), "no path of this machine"


def test_a_table_is_recorded_with_its_rows_and_read_again_as_it_was(shop):
    frame = pd.DataFrame({"metric": ["NA", "01", ""], "n_puf": [1, 2, 3], "reach": [0.1, None, 1e-9]})
    table = pa.table({"k": ["01", None], "x": [0.1, None]})
    job = shop.job("bin", {}, {"frame": "rates.csv", "table": "t.parquet"})
    with ledger.step(job) as step:
        step.write("frame", frame)
        step.write("table", table)
    assert [shop.entry("bin")["outputs"][name]["rows"] for name in ("frame", "table")] == [3, 2]
    rates = stored.read(shop.root / "rates.csv")
    assert list(rates) == TABLES["rate"][0].names
    pd.testing.assert_frame_equal(rates[list(frame)], frame.astype({"metric": object}))
    others = stored.read_text(shop.root / "rates.csv").drop(columns=list(frame))
    assert (others == "").all(axis=None)
    assert stored.read(shop.root / "t.parquet").equals(table)


def test_the_same_content_is_the_same_bytes_without_a_trace_of_pandas(tmp_path):
    table = pa.Table.from_pandas(pd.DataFrame({"a": [1, 2]}, index=[5, 6]))
    digests_of_both = set()
    for content in (table, table.replace_schema_metadata(None)):
        sink = stored.Sink(tmp_path / "table.parquet")
        sink(content)
        digests_of_both.add(sink.close().sha256)
    assert len(digests_of_both) == 1


def test_a_step_takes_over_the_results_of_a_step_of_an_earlier_version(shop):
    """Results that two entries claim would be those of either; what another old step made stays its own."""
    entry = shop.root / "ledger/bin.json"
    old, other = (shop.root / "ledger" / f"{name}.json" for name in ("order_claims.taxicab", "count_claims"))
    old.write_bytes(entry.read_bytes())
    other.write_bytes((shop.root / "ledger/prepare.json").read_bytes())
    paths = {name: line["path"] for name, line in shop.entry("bin")["outputs"].items()}
    with ledger.step(shop.job("bin", {}, paths)) as step:
        for name in paths:
            step.write(name, "new")
    assert (old.exists(), other.exists(), entry.exists()) == (False, True, True)


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_results_are_readable_by_their_owner_alone(shop, umask):
    """Whatever the umask of the process that a scheduler starts, which is as it was when the step has ended."""
    shutil.rmtree(shop.root)
    (shop.root / "logs").mkdir(parents=True, mode=0o700)
    before = os.umask(umask)
    try:
        shop.run()
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    for name in ("prepared/puf.txt", "rates.txt", "ledger/rate.json", "logs/rate.log"):
        assert stat.S_IMODE((shop.root / name).stat().st_mode) == 0o600
    for name in ("prepared", "binned", "ledger"):
        assert stat.S_IMODE((shop.root / name).stat().st_mode) == 0o700


def failing(shop, body):
    """Run a step whose body fails; what it exits with, and its log."""
    outputs = {"to": "binned/puf.txt", "also": "also.txt"}
    job = shop.job("bin", {"from": shop.root / "prepared/puf.txt"}, outputs)
    with pytest.raises(SystemExit) as caught:
        run(job, body)
    assert caught.value.code == 1
    log = (shop.root / "logs" / "bin.log").read_text(encoding="utf-8")
    return log.splitlines()[-1], log


def run(job, body):
    with ledger.step(job) as step:
        step.write("to", "half")
        body(step)


def bad_input(step):
    raise InputError("puf.csv, row 3: something is wrong; mend it.")


def test_bad_input_ends_a_step_with_its_sentence_and_leaves_what_was_there(shop):
    before = {path: path.read_bytes() for path in shop.root.rglob("*") if path.is_file() and path.suffix != ".log"}
    message, log = failing(shop, bad_input)
    assert message == "Error: puf.csv, row 3: something is wrong; mend it."
    assert log == message + "\n"
    after = {path: path.read_bytes() for path in shop.root.rglob("*") if path.is_file() and path.suffix != ".log"}
    assert after == before, "neither a half file nor a temporary one, and the old entry"


def test_an_unexpected_error_tells_its_place_and_keeps_its_details_to_the_owner(shop):
    def crash(step):
        raise KeyError("SECRET-7")

    message, log = failing(shop, crash)
    assert "step `bin` failed unexpectedly (KeyError in crash, test_ledger.py line" in message
    assert "SECRET-7" not in message + log
    details = shop.root / "confidential" / "bin.txt"
    assert "SECRET-7" in details.read_text(encoding="utf-8")
    assert stat.S_IMODE(details.stat().st_mode) == 0o600
    assert stat.S_IMODE(details.parent.stat().st_mode) == 0o700


def out_of_memory(_):
    raise MemoryError("SECRET-7")


def out_of_memory_behind(step):
    try:
        out_of_memory(step)
    except MemoryError as error:
        raise RuntimeError from error


def kernel_killed(_):
    raise RuntimeError("Kernel died before replying to kernel_info")


MEMORY = [
    (out_of_memory, "Error: step `bin` ran out of memory. Give the run more memory, or fewer cores, and run"),
    (out_of_memory_behind, "Error: step `bin` ran out of memory. Give"),
    (
        kernel_killed,
        "Error: the process that runs the notebook of step `bin` was killed; memory may have run out. Give",
    ),
]


@pytest.mark.parametrize(("body", "says"), MEMORY)
def test_what_memory_may_have_ended_is_not_unexpected(shop, body, says):
    message, log = failing(shop, body)
    assert message.startswith(says)
    assert "SECRET-7" not in log
    assert not (shop.root / "confidential" / "bin.txt").exists()


def test_no_base_exception_and_no_name_that_code_made_is_told(shop):
    def crash(_):
        raise type("SECRET_7", (BaseException,), {})("SECRET-7")

    message, log = failing(shop, crash)
    assert "step `bin` failed unexpectedly (BaseException in crash, " in message
    assert "SECRET" not in log


def test_an_error_while_an_error_is_told_brings_nothing_of_the_data_to_the_terminal(shop, capfd):
    """A full disk, say: neither details nor log nor the removal of a half file may fail with the first error."""

    def crash(step):
        (shop.root / "confidential").write_text("in the way", encoding="utf-8")
        step.log.unlink()
        step.log.mkdir()
        step.abandon = (shop.root / "nowhere").unlink
        raise KeyError("SECRET-7")

    outputs = {"to": "binned/puf.txt"}
    with pytest.raises(SystemExit):
        run(shop.job("bin", {"from": shop.root / "prepared/puf.txt"}, outputs), crash)
    told = "".join(capfd.readouterr())
    assert "(KeyError in crash, test_ledger.py line" in told
    assert "the details, which may hold data, could not be written (" in told
    assert "SECRET-7" not in told


def test_an_input_that_changes_but_keeps_its_size_and_time_stamp_is_refused(shop):
    """The time at which its inode changed, which users cannot set, tells."""

    def swap(step):
        step.write("also", "x")
        path = step.path("from")
        before = path.stat()
        path.write_text(path.read_text(encoding="utf-8").upper(), encoding="utf-8")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)

    assert "puf.txt changed while step `bin` read it" in failing(shop, swap)[0]


def imported(source: Path) -> set[str]:
    """The modules of the library that a file imports at run time, by its syntax."""
    found = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            found.update([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(source.read_text(encoding="utf-8")))
    return {name for name in found if name.startswith("reident.") and digests._exists(name)}


def test_the_digest_of_the_library_knows_every_import():
    sources = sorted(digests.LIBRARY.rglob("*.py"))
    assert len(sources) > 100
    for source in sources:
        parts = source.relative_to(digests.LIBRARY).with_suffix("").parts
        module = ".".join(["reident", *parts]).removesuffix(".__init__")
        assert set(digests._imports(module)) == imported(source), module


REFUSED = [
    ("an edited result", lambda path: path.write_text("edited"), "is not what its step wrote"),
    (
        "a result without an entry",
        lambda path: (path.parents[1] / "ledger/prepare.json").unlink(),
        "has no entry in the ledger",
    ),
]


@pytest.mark.parametrize(("sentence", "spoil", "says"), REFUSED, ids=[case[0] for case in REFUSED])
def test_a_step_refuses_a_result_that_its_maker_did_not_write(shop, sentence, spoil, says):
    path = shop.root / "prepared/puf.parquet"
    shop.copy("prepare", shop.sources["puf"], "prepared/puf.parquet", **shop.sources)
    spoil(path)
    with pytest.raises(SystemExit):
        shop.copy("bin", path, "binned/puf.txt")
    log = (shop.root / "logs" / "bin.log").read_text(encoding="utf-8")
    assert f"{path} {says}. Run the same command again with `--forcerun prepare`." in log
    assert (shop.root / "binned/puf.txt").read_text(encoding="utf-8") == "puf\nprepare\nbin\n"


@pytest.mark.parametrize("writable", [True, False])
def test_a_failed_step_writes_its_sentence_to_its_log_or_with_the_line_end_at_once(shop, monkeypatch, writable):
    """Steps run beside one another: of a ``SystemExit`` Python prints the two apart, and lines would mix."""
    writes = []
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(write=writes.append, flush=lambda: None))
    job = shop.job("bin", {"from": shop.root / "prepared/puf.txt"}, {"to": "binned/puf.txt"})
    log, sentence = Path(job.log[0]), "Error: puf.csv, row 3: something is wrong; mend it.\n"

    def end(*given):
        if not writable:
            log.unlink()
            log.mkdir()
        bad_input(*given)

    with pytest.raises(SystemExit) as caught:
        run(job, end)
    assert writes == ([] if writable else [sentence])
    assert not writable or log.read_text() == sentence
    assert caught.value.code == 1, "Python prints nothing more"
