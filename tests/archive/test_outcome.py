"""Each result compares with the sealed one: identical, equal, explained, different (first difference) or missing."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from making.report import write_entry
from reident.archive import content, outcome
from reident.archive.outcome import Difference
from reident.errors import InputError
from reident.ledger.stored import encoded
from reident.pipeline.digests import sha256

RATES = pd.DataFrame(
    {"metric": ["unicity", "taxicab"], "stratum": ["ALL", "ALL"], "n_puf": [12, 12], "confirmed_rate": ["0.5", "0.25"]}
)


class Folders:
    """A bag and a run that made the same results."""

    def __init__(self, base: Path) -> None:
        self.bag, self.root = base / "bag", base / "run/results/small"
        self.outputs: list[dict] = []

    def add(self, path: str, before: bytes, after: bytes | None, in_bag: bool = True, **more) -> None:
        file = self.root / path
        if path.startswith("reports/"):
            file = self.root.parents[1] / "reports/small" / path.removeprefix("reports/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(before)
        line = {"path": path, "sha256": sha256(file), "size": len(before), "rows": None, "equal": "bytes", "bag": None}
        if "content" not in more:
            more["content"] = content.digest(file) if path.endswith((".csv", ".parquet")) else None
        if in_bag:
            line["bag"] = f"tables/{path}"
            kept = self.bag / "data/tables" / path
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(before)
        self.outputs.append({**line, **more})
        file.unlink() if after is None else file.write_bytes(after)

    def entry(self, path: str, rows: int | None = None) -> None:
        line = {"path": path, "sha256": "0" * 64, "size": 1, "rows": rows}
        step = path.replace("/", ".")
        write_entry(self.root, {"step": step, "versions": {}, "inputs": {}, "outputs": {"table": line}})

    def compared(self, same: bool = True, renamed: dict[str, str] | None = None) -> list[outcome.Compared]:
        return outcome.compare(self.outputs, self.bag, self.root, same, renamed or {})


@pytest.fixture
def folders(tmp_path) -> Folders:
    return Folders(tmp_path)


def changed(row: int, column: str, value: object) -> bytes:
    table = RATES.astype(object)
    table.loc[row, column] = value
    return encoded(table)


CASES = [
    ("nothing", encoded(RATES), "identical", None),
    ("line ends alone", encoded(RATES).replace(b"\n", b"\r\n"), "content", None),
    ("the last digit of a number", changed(1, "confirmed_rate", "0.25000000000000006"), "tolerance", None),
    ("a number by just less than the tolerance", changed(1, "confirmed_rate", "0.25000000024"), "tolerance", None),
    (
        "a number by more than the tolerance",
        changed(1, "confirmed_rate", "0.2500000003"),
        "different",
        Difference(2, "confirmed_rate", "0.25", "0.2500000003"),
    ),
    ("a count, however little", changed(0, "n_puf", "13"), "different", Difference(1, "n_puf", "12", "13")),
    (
        "a number that is gone",
        changed(0, "confirmed_rate", ""),
        "different",
        Difference(1, "confirmed_rate", "0.5", ""),
    ),
    (
        "a number that is not one",
        changed(0, "confirmed_rate", "nan"),
        "different",
        Difference(1, "confirmed_rate", "0.5", "nan"),
    ),
    ("text", changed(1, "metric", "adhoc"), "different", Difference(2, "metric", "taxicab", "adhoc")),
    ("a row that is gone", encoded(RATES[:1]), "different", Difference(None, "", "2 rows", "1 rows")),
    ("all rows gone", encoded(RATES[:0]), "different", Difference(None, "", "2 rows", "0 rows")),
    ("a column that is gone", encoded(RATES.drop(columns="n_puf")), "different", Difference(None, "n_puf")),
    ("the order of columns", encoded(RATES[RATES.columns[::-1]]), "different", Difference(None, "metric")),
    ("a later column at the end", encoded(RATES.assign(later=1)), "content", None),
    (
        "a later column and the last digit of a number",
        changed(1, "confirmed_rate", "0.25000000000000006").replace(b"\n", b",1\n"),
        "tolerance",
        None,
    ),
    (
        "a later column and another count",
        changed(0, "n_puf", "13").replace(b"\n", b",1\n"),
        "different",
        Difference(1, "n_puf", "12", "13"),
    ),
    (
        "a column between the others",
        encoded(RATES.assign(later=1)[["metric", "later", *RATES.columns[1:]]]),
        "different",
        Difference(None, "later"),
    ),
    ("the order of rows", encoded(RATES[::-1]), "different", Difference(1, "metric", "unicity", "taxicab")),
    ("the file is gone", None, "missing", None),
]  # fmt: skip


@pytest.mark.parametrize(("after", "kind", "difference"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_table_without_data_compares(folders, after, kind, difference):
    folders.add("rates.csv", encoded(RATES), after)
    assert folders.compared() == [outcome.Compared("rates.csv", kind, difference)]
    assert outcome.is_reproduced(folders.compared()) == (kind not in ("different", "missing"))


@pytest.mark.parametrize("path", ["strata/manifest.csv", "unknown/table.csv"])
def test_values_of_a_table_with_labels_or_without_a_declaration_are_not_shown(folders, path):
    manifest = pd.DataFrame({"stratum": ["s0001"], "region": ["SECRET-1"], "pairs": [4]})
    folders.add(path, encoded(manifest), encoded(manifest.assign(region="SECRET-2")), content="of another release")
    (line,) = folders.compared()
    assert line == outcome.Compared(path, "different", Difference(1, "region", None, None))


def test_a_table_that_holds_data_tells_nothing_but_its_rows(folders):
    def parquet(rows: int) -> bytes:
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({"pufid": [f"SECRET-{row}" for row in range(rows)]}), sink)
        return sink.getvalue().to_pybytes()

    folders.add("confirmed/unicity.parquet", parquet(2), parquet(3), in_bag=False, rows=2)
    folders.add("confirmed/taxicab.parquet", parquet(2), parquet(2)[::-1], in_bag=False, rows=2, content=None)
    folders.entry("confirmed/unicity.parquet", 3)
    folders.entry("confirmed/taxicab.parquet", 2)
    lines = folders.compared()
    assert [line.outcome for line in lines] == ["different", "different"]
    assert [line.difference for line in lines] == [Difference(None, "", "2 rows", "3 rows"), None]


@pytest.mark.parametrize(("same", "kind"), [(True, "different"), (False, "explained")])
def test_a_report_must_be_identical_only_with_the_code_and_packages_of_the_seal(folders, same, kind):
    folders.add("reports/disclosure-review.html", b"<p>numpy 2.4.6", b"<p>numpy 2.5.0", equal="report")
    assert [line.outcome for line in folders.compared(same)] == [kind]


def test_replaced_paths_alone_may_differ_in_the_study(folders):
    def study(path: str, seed: int = 1) -> bytes:
        return f'{{"path": {json.dumps(path, ensure_ascii=False)}, "seed": {seed}}}'.encode()

    old, new = "/agency/Å/puf.csv", "../outside/1/puf.csv"
    folders.add("study.json", study(old), study(new))
    assert [line.outcome for line in folders.compared(renamed={new: old})] == ["content"]
    assert [line.outcome for line in folders.compared()] == ["different"]
    folders.outputs.clear()
    folders.add("study.json", study(old), study(new, seed=2))
    assert [line.outcome for line in folders.compared(renamed={new: old})] == ["different"]


def test_results_that_are_not_in_the_seal_are_told_and_do_not_fail(folders):
    folders.add("rates.csv", encoded(RATES), encoded(RATES))
    folders.entry("rates.csv")
    folders.entry("new.csv")
    lines = folders.compared()
    assert [(line.path, line.outcome) for line in lines] == [("rates.csv", "identical"), ("new.csv", "extra")]
    assert outcome.is_reproduced(lines)


@pytest.mark.parametrize("path", ["/etc/passwd", "../../../secret", "reports/../../x", "", "."])
def test_a_path_must_not_lead_out_of_the_run(folders, path):
    folders.outputs.append({"path": path, "sha256": "0" * 64, "equal": "bytes", "bag": None})
    with pytest.raises(InputError, match="`path` must lead to a result of the study"):
        folders.compared()
