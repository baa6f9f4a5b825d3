"""Small studies, study files and tables of text."""

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import yaml
from reident import reading
from reident.errors import InputError
from reident.intake.settings import PreparationSettings
from reident.linkage.intervals import Spread
from reident.pipeline import family
from reident.pipeline.canonical import digest
from reident.pipeline.steps import STEPS, wanted
from reident.study import model as studies
from reident.study.model import Study


def keyed_by(puf: str | list[str], eif: str | list[str]) -> dict[str, Any]:
    """Return the files of a study whose records have these keys."""
    return {
        "puf": {"path": "puf.csv", "id": puf},
        "eif": {"path": "eif.csv", "id": eif},
        "iuf": {"path": "iuf.csv", "puf_id": puf, "eif_id": eif},
    }


PLAIN: dict[str, Any] = {
    "id": "plain",
    "files": keyed_by("p", "e"),
    "linking_variables": [{"name": "x", "type": "numeric"}, {"name": "c", "type": "categorical"}],
    "metrics": {"taxicab": {}},
}
"""A study that has only the required keys."""


def plain(**sections: Any) -> dict[str, Any]:
    """Return the plain study with other sections."""
    return {**copy.deepcopy(PLAIN), **sections}


def read_source(settings: PreparationSettings, side: str, path: Path) -> pa.Table:
    """Return the text of what a study needs of a source file."""
    return reading.read(path, settings.file(side), settings.columns_of(side), settings.keys_of(side))


def files(**sides: Any) -> dict[str, Any]:
    """Return the files of the plain study, with other descriptions of some of them."""
    return {**copy.deepcopy(PLAIN["files"]), **sides}


def saved(folder: Path, content: Mapping[str, Any]) -> Path:
    """Write a study file in a folder, without the keys whose value is None."""
    path = folder / "study.yaml"
    content = {key: value for key, value in content.items() if value is not None}
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def saved_with(folder: Path, name: str, text: str, **sections: Any) -> Path:
    """Write the plain study with other sections, and a file beside its sources, which are empty."""
    (folder / name).write_text(text, encoding="utf-8")
    for side in PLAIN["files"].values():
        (folder / side["path"]).touch()
    return saved(folder, plain(**sections))


def check(path: Path) -> None:
    """Check the files that a study and its variants name, as before a run."""
    family.check_files(family.Family(path).members, path)


def load(folder: Path, **sections: Any) -> Study:
    """Return the study that has these sections and no others, read from its file in a folder."""
    return studies.load(saved(folder, {"id": "s", **sections}))


def study(**sections: Any) -> Study:
    """Return the model of the plain study with other sections."""
    return Study.model_validate(plain(**sections))


def settings_digests(study: Study, *rules: str, metric: str = "taxicab") -> dict[str, str]:
    """Return the digests of what the steps of a study take from it: all steps that it asks for, or the given ones."""
    steps = [STEPS[rule] for rule in rules] or wanted(study)
    return {step.rule: digest(step.settings_of(study, metric)) for step in steps}


def changed(before: Study, after: Study) -> set[str]:
    """Return the steps of a study that take something else from another study."""
    old, new = settings_digests(before), settings_digests(after)
    return {rule for rule in old if new.get(rule) != old[rule]}


def keyed(width: int = 1, **sections: Any) -> Study:
    """Return a study whose keys have `width` columns: p1, p2 …, e1, e2 …"""
    puf, eif = ([f"{side}{part}" for part in range(1, width + 1)] for side in "pe")
    return study(**{"files": keyed_by(puf, eif), **sections})


def refused(folder: Path, sentence: str, **sections: Any) -> None:
    """Judge that a study of these sections is refused with a sentence that names its line."""
    with pytest.raises(InputError) as error:
        load(folder, **sections)
    assert sentence in str(error.value)
    assert "study.yaml, line " in str(error.value)


@contextmanager
def refusal(path: Path, sentence: str, *, line: bool = True) -> Iterator[None]:
    """Judge that a file is refused inside with one sentence, which begins with the file, and its line if asked for."""
    with pytest.raises(InputError) as error:
        yield
    message = str(error.value)
    assert message.startswith(f"{path}, line " if line else str(path))
    assert sentence in message
    assert "\n" not in message


def table(header: str, *rows: str) -> pa.Table:
    """Return a table of text from blank-separated columns and cells; ``_`` is an empty cell, ``~`` a null."""
    names, cells = header.split(), [row.split() for row in rows]
    known = {"_": "", "~": None}
    columns = [[known.get(row[at], row[at]) for row in cells] for at in range(len(names))]
    return pa.table(dict(zip(names, (pa.array(column, pa.string()) for column in columns), strict=True)))


def as_text(frame: pd.DataFrame) -> pa.Table:
    """Return a file as the readers give it."""
    return pa.table({name: pa.array(frame[name].astype(str), pa.string()) for name in frame})


def manifest(*lines: tuple, names: tuple[str, ...] = ()) -> pd.DataFrame:
    """Return a manifest of strata from lines of stratum, key values, n_puf, n_eif and n_links."""
    frame = pd.DataFrame(lines, columns=["stratum", *names, "n_puf", "n_eif", "n_links"])
    return frame.assign(pairs=frame["n_puf"] * frame["n_eif"])


def pairs(*rows: str) -> pa.Table:
    """Return pairs ``puf eif`` by row number, from 0; an ambiguous record has the EIF record ``~``."""
    cells = [row.split() for row in rows]
    columns = [[None if row[at] == "~" else int(row[at]) for row in cells] for at in range(2)]
    return pa.table({side: pa.array(column, pa.int32()) for side, column in zip(("puf", "eif"), columns, strict=True)})


def in_strata(*lines: int | None) -> pa.Table:
    """Return the stratum of each record, as `strata/puf.parquet` has it; None for no stratum."""
    return pa.table({"stratum": pa.array(lines, pa.int32())})


def in_clusters(*numbers: int) -> pa.Table:
    """Return the cluster of each record, as `prepared/clusters.parquet` has it."""
    return pa.table({"cluster": pa.array(numbers, pa.int64())})


def spread(records: Iterable[tuple[int, int, int]]) -> Spread:
    """Return how records spread over clusters: of each, or of several together, the cluster, hits and records."""
    sums: dict[int, list[int]] = {}
    for cluster, hits, n in records:
        x, y = sums.get(cluster, (0, 0))
        sums[cluster] = [x + n, y + hits]
    kinds = Counter((x, y) for x, y in sums.values() if x)
    return Spread(tuple((x, y, times) for (x, y), times in sorted(kinds.items())))


def gathered(function: Callable[..., Any], *arguments: Any, sinks: int = 1) -> tuple[Any, ...]:
    """Return what a step hands on batch by batch, as one table for each sink, and what it returns."""
    batches: list[list[pa.Table]] = [[] for _ in range(sinks)]
    returned = function(*arguments, *(tables.append for tables in batches))
    return *(pa.concat_tables(tables) for tables in batches), returned
