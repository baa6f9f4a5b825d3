"""`reident init --values` drafts a study that validates, and refuses files that share too little."""

import shutil

from making.values import EXAMPLE
from reident.command import main
from reident.study.model import load


def draft(tmp_path, *names):
    for file in EXAMPLE.glob("*.csv"):
        shutil.copy(file, tmp_path)
    return main(
        ["init", "--values", *(str(tmp_path / f"{name}.csv") for name in names), "--out", str(tmp_path / "s.yaml")]
    )


def test_a_draft_is_a_study_that_validates(tmp_path, capsys):
    assert draft(tmp_path, "population", "synthetic", "broker") == 0
    study = load(tmp_path / "s.yaml")
    assert [variable.name for variable in study.confirm.learn] == ["race", "ethnicity"]
    assert {variable.name for variable in study.linking_variables} == {"block", "sex", "age"}
    capsys.readouterr()
    assert main(["validate", str(tmp_path / "s.yaml")]) == 0
    assert "0 errors" in capsys.readouterr().out


def test_a_confidential_file_without_the_key_is_refused(tmp_path, capsys):
    assert draft(tmp_path, "reconstructed", "synthetic", "broker") == 1
    assert "must have the key of broker.csv" in capsys.readouterr().err
