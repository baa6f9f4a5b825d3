"""``reident compare``: what is refused, and what is written (METHODS §10)."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
from making import releases as making
from making.report import Shape
from making.studies import plain
from reident.archive import compare
from reident.errors import InputError

SMALL = Shape(metrics=("taxicab",), records=600)


def run(monkeypatch, first, second, **more):
    """Run the command on two releases, by the names of their files."""
    known = {"before.zip": first, "after.zip": second}
    monkeypatch.setattr(compare, "open_release", lambda path, *_: known[path.name])
    names = {"before": "before.zip", "after": "after.zip", **more}
    pages = {"html": "<p>", "pdf": b"%"}
    return compare.run(Path(names["before"]), Path(names["after"]), None, Path("n.ipynb"), lambda _: pages)


@pytest.fixture
def pair(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return [making.release(tmp_path / name, SMALL, name=name) for name in ("one", "two")]


def test_the_page_the_rates_and_the_comparison_are_written_together(pair, monkeypatch, tmp_path):
    assert run(monkeypatch, *pair) == [
        "reports/compare/one--two/comparison.html: the releases are the same in everything that was recorded"
    ]
    folder = tmp_path / "reports/compare/one--two"
    assert sorted(path.name for path in folder.iterdir()) == [
        "comparison.html", "comparison.json", "comparison.pdf", "rates.csv",
    ]  # fmt: skip
    assert json.loads((folder / "comparison.json").read_text(encoding="utf-8"))["after"] == "two"


@pytest.mark.parametrize(
    ("table", "column"), [("rates.csv", "stratum"), ("verdict/summary.csv", "scope"), ("strata/manifest.csv", "n_puf")]
)
def test_a_bag_with_other_columns_is_refused_in_one_sentence(pair, monkeypatch, table, column):
    path = pair[0].tables / table
    head, rest = path.read_text(encoding="utf-8").split("\n", 1)
    path.write_text(head.replace(column, "former", 1) + "\n" + rest, encoding="utf-8")
    with pytest.raises(InputError, match="the tables are not as this version of reident makes them"):
        run(monkeypatch, *pair)


def test_a_full_disk_leaves_nothing_half_made(pair, monkeypatch, tmp_path):
    write, calls = compare.write_temporary, []

    def full(path, content):
        calls.append(path)
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(compare, "write_temporary", full)
    with pytest.raises(InputError, match="cannot be written"):
        run(monkeypatch, *pair)
    assert [path for path in (tmp_path / "reports").rglob("*") if path.is_file()] == []


def test_two_study_files_must_not_have_one_id(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one.yaml", "two.yaml"):
        (tmp_path / name).write_text(json.dumps(plain()), encoding="utf-8")
    with pytest.raises(InputError, match="must not be two study files with the same `id`"):
        run(monkeypatch, None, None, before="one.yaml", after="two.yaml")
