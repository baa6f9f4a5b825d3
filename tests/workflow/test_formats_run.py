"""The same small study with its files in every format, through the real command: identical folders `prepared`."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from making.formats import ENDINGS, write
from workflow.commands import PRELOADED, made, snakemake

from workflow import small

pytestmark = pytest.mark.slow


def stored(folder: Path, kind: str) -> Path:
    """The small study with its files in a format."""
    folder.mkdir()
    files = {}
    for side, (header, *rows) in small.rows().items():
        path = folder / f"{side}.{ENDINGS[kind]}"
        described = write(pd.DataFrame(rows, columns=header), kind, path)
        files[side] = {**small.STUDY["files"][side], "path": path.name, **described}
    file = folder / "study.yaml"
    content = {**small.STUDY, "id": f"small-{kind}", "files": files}
    file.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return file


def _without_endings(path):
    """The content of a file; warnings name the files."""
    content = path.read_bytes()
    return re.sub(rb"\b(puf|eif|iuf)\.\w+", rb"\1", content) if path.name == "warnings.csv" else content


def test_every_format_leaves_the_same_folder_prepared(tmp_path):
    studies = [stored(tmp_path / kind, kind) for kind in ENDINGS]
    targets = [target for kind in ENDINGS for target in made(f"small-{kind}", "prepared/account.csv")]
    ended = snakemake(*targets, studies=studies, folder=tmp_path / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    found = {
        kind: {
            path.name: _without_endings(path)
            for path in sorted((tmp_path / "run" / "results" / f"small-{kind}" / "prepared").iterdir())
        }
        for kind in ENDINGS
    }
    tables = {"puf.parquet", "eif.parquet", "iuf.parquet", "clusters.parquet"}
    assert set(found["csv"]) == tables | {"account.csv", "warnings.csv"}
    for kind, files in found.items():
        assert files == found["csv"], kind
