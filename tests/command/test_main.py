"""`reident`: its commands, their help, and how a wrong command line or Ctrl-C ends."""

import os
from pathlib import Path

import pytest
from reident.command import commands, main
from reident.validation import run as validation

(GOLDEN,) = (Path(__file__).parents[1] / "golden").glob("*.zip")
COMMANDS = ("init", "validate", "check", "verdict", "seal", "sign", "verify", "reproduce", "compare", "index")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = os.umask(0o022)
    yield tmp_path
    os.umask(before)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_the_exit_status(capsys, command):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert f"\n  reident {command}" in shown.split("examples:")[1]
    assert "\nexit status: 0 " in shown
    assert "2 for a wrong command line" in shown


WRONG = [
    [],
    ["reproduce"],
    ["reproduce", ""],
    ["reproduce", "a.zip", "--cores", "0"],
    ["reproduce", "a.zip", "--cores", "many"],
    ["sign", "a.zip", "signoff.yaml"],
    ["compare", "a.zip"],
    ["verdict"],
    ["index", "study.yaml"],
    ["verify", "a.zip", "signers=x"],
    ["seal", "--results", "x"],
]


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_a_wrong_command_line_has_a_status_of_its_own(capsys, folder, arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: reident" in capsys.readouterr().err
    assert list(folder.iterdir()) == []


NEAR = [
    ("valdate", "`valdate` is not a command. Did you mean `validate`?\n"),
    ("reproduse", "`reproduse` is not a command. Did you mean `reproduce`?\n"),
    ("frobnicate", "`frobnicate` is not a command. Choose from init, validate, "),
]


@pytest.mark.parametrize(("word", "says"), NEAR)
def test_a_command_that_is_misspelt_is_proposed(capsys, word, says):
    with pytest.raises(SystemExit) as ended:
        main([word, "study.yaml"])
    assert ended.value.code == 2
    assert f"reident: error: {says}" in capsys.readouterr().err


LONG = "x" * 300
TOO_LONG = [
    ["validate", LONG],
    ["init", LONG, "eif.csv"],
    ["init", "--file-risk", LONG],
    ["check", LONG],
    ["verdict", LONG],
    ["seal", LONG],
    ["compare", LONG, LONG],
    ["sign", LONG, LONG, "--key", LONG],
]


@pytest.mark.parametrize("arguments", TOO_LONG, ids=lambda words: " ".join(words).replace(LONG, "…"))
def test_a_name_that_is_too_long_has_one_sentence(capsys, arguments):
    assert main(arguments) == 1
    shown = "".join(capsys.readouterr())
    assert len([line for line in shown.splitlines() if line.startswith("Error: ")]) == 1
    expected = ("is not a file",) if arguments[0] == "sign" else ("too long", "more than 255 bytes")
    assert any(words in shown for words in expected)


@pytest.mark.parametrize("command", ["validate", "check", "seal"])
def test_a_pipe_is_no_study_file(capsys, folder, command):
    os.mkfifo(folder / "study.yaml")
    assert main([command, "study.yaml"]) == 1
    assert "Error: study.yaml: the file is a pipe or a device. Write its content to a file." in "".join(
        capsys.readouterr()
    )


def test_a_bag_that_holds_is_status_0_and_one_that_does_not_is_1(capsys, folder):
    assert main(["verify", str(GOLDEN)]) == 0
    assert f"Digest: {GOLDEN.stem[-16:]}." in capsys.readouterr().out
    damaged = folder / GOLDEN.name
    content = bytearray(GOLDEN.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    assert main(["verify", str(damaged)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"Error: {damaged}: ")


def test_ctrl_c_is_one_word_and_the_status_of_a_shell(capsys, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(validation, "validate", interrupted)
    monkeypatch.setattr(commands, "_files", lambda _: [])
    assert main(["validate"]) == 130
    assert capsys.readouterr().err == "Stopped.\n"


def test_what_a_command_writes_is_its_owners_alone(folder):
    main(["check"])
    (folder / "file").touch()
    assert (folder / "file").stat().st_mode & 0o777 == 0o600
