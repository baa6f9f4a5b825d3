"""Spoilt and odd source files, one table: what happens, which place the sentence names, which remedy.

Each fixture is three files and a study, taken from disk through `prepare`, `stratify` and `bin`. It is either
refused, in one sentence, or accepted, and then the row account, the warnings and the values are those of the
table. Nothing of the data is in any sentence.
"""

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from making.bad_files import FILES_OF_RECORDS
from making.bad_values import KEYS_AND_VALUES
from making.fixture_files import FILES, SECRETS, STUDY, Fixture, unreadable
from making.studies import read_source
from reident.errors import InputError
from reident.intake import prepare as intake
from reident.intake import step as intake_step
from reident.linkage import bins, strata
from reident.linkage import step as linkage_step
from reident.study import model as study
from reident.study import named_files

TABLE = [*FILES_OF_RECORDS, *KEYS_AND_VALUES]


class Made(NamedTuple):
    """What the first three steps make of accepted files."""

    account: dict[str, int]
    warnings: list[str]
    tables: dict[str, Any]


def write(folder: Path, fixture: Fixture) -> Path:
    for name, content in {**FILES, **fixture.files}.items():
        if callable(content):
            content(folder / name)
        else:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump({**STUDY, **fixture.study}, allow_unicode=True), encoding="utf-8")
    return file


def make(file: Path) -> Made:
    """Study file and sources through `prepare`, `stratify` and `bin`, as the adapters take them."""
    model = study.load(file)
    for problem in named_files.problems(model, file):
        raise InputError(problem)
    sources = {side: file.parent / own.path for side, own in model.sources.items()}
    settings = intake_step.preparing(model)
    prepared = intake.prepare(settings, **{side: read_source(settings, side, path) for side, path in sources.items()})
    found = strata.stratify(linkage_step.stratifying(model), prepared.puf, prepared.eif, prepared.iuf)
    files, stratum = ({"puf": made.puf, "eif": made.eif} for made in (prepared, found))
    binned = bins.bin_files(linkage_step.cutting(model), files, stratum, found.manifest)
    links = {name: files[side][name].take(prepared.iuf[side]) for side, own in model.keys.items() for name in own}
    account: dict[str, int] = {}
    for own in (prepared.account, found.account):
        for line in own.itertuples():
            account.setdefault(f"{line.file} {line.cause}", line.rows)
    tables = {"puf": prepared.puf, "eif": prepared.eif, "iuf": links, "strata": found.manifest}
    tables |= {f"binned {side}": table for side, table in binned.files.items()}
    return Made(account, list(prepared.warnings["warning"]), tables)


def column(made: Made, name: str) -> list:
    table, _, own = name.rpartition(" ")
    return made.tables[table][own].tolist() if table == "strata" else made.tables[table][own].to_pylist()


REFUSED = [fixture for fixture in TABLE if fixture.says]
ACCEPTED = [fixture for fixture in TABLE if not fixture.says]


def test_the_table_is_long_and_its_sentences_differ():
    assert len({fixture.sentence for fixture in TABLE}) == len(TABLE) >= 95


@pytest.mark.parametrize("fixture", REFUSED, ids=lambda fixture: fixture.sentence)
def test_refused_in_one_sentence_with_place_and_remedy(tmp_path, fixture, request):
    file = write(tmp_path, fixture)
    if unreadable in fixture.files.values():
        request.getfixturevalue("as_nobody")(tmp_path)
    with pytest.raises(InputError) as caught:
        make(file)
    said = str(caught.value)
    place = -1
    for part in fixture.says:
        place = said.find(part, place + 1)
        assert place >= 0, said
    assert re.match(rf"{re.escape(str(file))}, line \d+: |(puf|eif|iuf)\.\w+(,|:| and) ", said), "no file is named"
    assert said.endswith(".")
    assert "\n" not in said
    assert not SECRETS.findall(said)


@pytest.mark.parametrize("fixture", ACCEPTED, ids=lambda fixture: fixture.sentence)
def test_accepted_with_its_account_and_its_warnings(tmp_path, fixture):
    made = make(write(tmp_path, fixture))
    assert {line: made.account.get(line) for line in fixture.account} == dict(fixture.account)
    assert len(made.warnings) == len(fixture.warnings), made.warnings
    for part, warning in zip(fixture.warnings, made.warnings, strict=True):
        assert part in warning
        assert warning.endswith(".")
        assert not SECRETS.findall(warning)
    assert {name: column(made, name) for name in fixture.values} == dict(fixture.values)


@pytest.fixture
def as_nobody():
    """Read as a user without rights where the tests run as root, who may read everything."""
    opened: list[tuple[Path, int]] = []

    def drop(folder: Path) -> None:
        if os.geteuid():
            return
        (folder / "study.yaml").chmod(0o644)
        for above in (folder, *folder.parents):
            mode = above.stat().st_mode
            if mode & 0o011 != 0o011:
                opened.append((above, mode))
                above.chmod(mode | 0o011)
        os.seteuid(65_534)

    yield drop
    if os.getuid() == 0:
        os.seteuid(0)
        for above, mode in opened:
            above.chmod(mode)
