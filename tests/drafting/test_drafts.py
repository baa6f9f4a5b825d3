"""From files to rates through `reident init`: those of the study that an analyst would write by hand."""

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from making import drafting, formats, labour
from reident import reading
from reident.command import main
from reident.intake import step as intake_step
from reident.study.model import Study, load
from workflow.commands import PRELOADED, made, snakemake
from workflow.library_run import run

from workflow import small

LIMIT = (r"# decision: ", "decision: ")
KIND = (r"type: TODO( +# whole numbers, 9\d)", r"type: categorical\1")


def drafted(paths: list[Path], out: Path, edits: list[tuple[str, str]]) -> Path:
    """Draft a study and make an analyst's edits in it: a pattern of one place, and what replaces it."""
    assert main(["init", *map(str, paths), "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    for old, new in edits:
        text, n = re.subn(old, new, text)
        assert n == 1, old
    out.write_text(text, encoding="utf-8")
    return out


def rates(file: Path) -> pd.DataFrame:
    """The rates of a study file, by the library."""
    study: Study = load(file)
    settings = intake_step.preparing(study)
    rows = {
        side: reading.read(
            file.parent / settings.file(side).path, settings.file(side), settings.columns_of(side)
        ).to_pylist()
        for side in ("puf", "eif", "iuf")
    }
    content = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 - makes text alone
    return run(content, **rows).rates


def by_hand(folder: Path, study: dict) -> Path:
    path = folder / "by-hand.yaml"
    path.write_text(yaml.safe_dump(study, allow_unicode=True), encoding="utf-8")
    return path


def test_a_draft_gives_the_rates_of_a_study_by_hand_without_an_edit(tmp_path):
    paths, study = drafting.housing(tmp_path)
    file = drafted(paths, tmp_path / "study.yaml", [])
    pd.testing.assert_frame_equal(rates(file), rates(by_hand(tmp_path, study)), check_exact=True)


def test_a_draft_of_rows_that_a_part_of_their_keys_groups_asks_for_units_alone(tmp_path):
    paths, study = drafting.haushalte(tmp_path)
    file = drafted(paths, tmp_path / "study.yaml", [(r"(?m)^units: TODO.*\n", "")])
    pd.testing.assert_frame_equal(rates(file), rates(by_hand(tmp_path, study)), check_exact=True)


def test_keys_of_two_columns_that_look_like_numbers(tmp_path):
    """The study by hand has an area that moves in some links as its stratum, and rooms as a number: two edits."""
    small.write(tmp_path)
    edits = [
        (r"linking_variables:\n(  - name: region .*\n)    type: categorical .*\n", r"strata:\n\1"),
        (r"(  - name: age )", r"linking_variables:\n\1"),
        (r"(  - name: rooms .*\n)    type: categorical", r"\1    type: numeric"),
    ]
    file = drafted([tmp_path / f"{side}.csv" for side in ("puf", "eif", "iuf")], tmp_path / "study.yaml", edits)
    study = {**small.STUDY, "id": "by-hand", "metrics": drafting.METRICS}
    pd.testing.assert_frame_equal(rates(file), rates(by_hand(tmp_path, study)), check_exact=True)


def test_a_labour_force_survey(tmp_path):
    """One edit: whether a kind of work in sixty codes is an amount, no file tells."""
    hand = load(labour.write(tmp_path))
    file = drafted([tmp_path / f"{side}.csv" for side in ("puf", "eif", "iuf")], tmp_path / "study.yaml", [KIND])
    draft = load(file)
    assert draft.strata[0].puf == hand.strata[0].puf
    ours, theirs = ({(one.puf, one.eif): one.type for one in own.linking_variables} for own in (draft, hand))
    assert ours == theirs


@pytest.mark.parametrize("kind", ["parquet", "stata", "spss", "xport", "sas7bdat"])
def test_a_file_of_another_format_gives_the_same_draft(kind, tmp_path):
    """But for its name, and what only text has: a comment on the delimiter, and the alignment of comments."""
    labour.write(tmp_path)
    paths = [tmp_path / f"{side}.csv" for side in ("puf", "eif", "iuf")]
    stored = [path.with_suffix(f".{formats.ENDINGS[kind]}") for path in paths]
    for path, other in zip(paths, stored, strict=True):
        formats.write(pd.read_csv(path, dtype=str, keep_default_na=False), kind, other)
    texts = [
        drafted(own, tmp_path / f"{name}.yaml", []).read_text(encoding="utf-8")
        for own, name in ((paths, "one"), (stored, "two"))
    ]
    contents = [yaml.load(text, Loader=yaml.BaseLoader) for text in texts]  # noqa: S506 - makes text alone
    for content in contents:
        del content["id"]
        for side in content["files"].values():
            del side["path"]
    assert contents[0] == contents[1]


@pytest.mark.slow
def test_the_command_takes_a_draft_to_the_verdict_of_a_study_by_hand(tmp_path):
    paths, study = drafting.housing(tmp_path / "in")
    draft = drafted(paths, tmp_path / "in" / "study.yaml", [LIMIT])
    names = ("rates.csv", "verdict/limits.csv", "verdict/summary.csv", "verdict/warnings.csv")
    ended = snakemake(
        *made("in", *names),
        *made("housing", *names),
        studies=[draft, by_hand(tmp_path / "in", study)],
        folder=tmp_path / "run",
        program=PRELOADED,
    )
    assert ended.code == 0, ended.shown
    ours, theirs = (tmp_path / "run" / "results" / name for name in ("in", "housing"))
    for name in names:
        assert (ours / name).read_bytes() == (theirs / name).read_bytes()
    assert (ours / "verdict" / "summary.csv").read_text().splitlines()[1].startswith("ALL,above,5,5,")
