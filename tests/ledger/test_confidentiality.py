"""Folders that others may read are refused with the command that closes them, or allowed loudly."""

import resource
import stat
import subprocess

import pytest
from making.examples import cases
from reident.errors import InputError
from reident.ledger import confidentiality
from reident.pipeline import release


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("bits", [0o755, 0o750, 0o711, 0o701, 0o710, 0o777])
def test_an_open_folder_is_refused_and_the_named_command_closes_it(tmp_path, bits):
    folder = tmp_path / "it's the results"
    (folder / "small").mkdir(parents=True)
    (folder / "small" / "rates.csv").write_text("", encoding="utf-8")
    (folder / "small" / "rates.csv").chmod(0o644)
    folder.chmod(bits)
    with pytest.raises(InputError, match="holds confidential data and is open to others") as refused:
        confidentiality.check_folders([folder], allowed=False)
    subprocess.run(str(refused.value).split("`")[1], shell=True, check=True)  # noqa: S602 - as a user types it
    assert confidentiality.check_folders([folder], allowed=False) == []
    assert (mode(folder), mode(folder / "small" / "rates.csv")) == (bits & 0o700, 0o600)


@pytest.mark.parametrize("names", [["README.md"], ["README.md", "small"], []])
def test_a_folder_of_a_fresh_checkout_is_closed_and_no_other(tmp_path, names):
    folder = tmp_path / "results"
    folder.mkdir()
    folder.chmod(0o755)
    for name in names:
        (folder / name).touch()
    if names == ["README.md"]:
        assert confidentiality.check_folders([folder], allowed=False) == []
        assert mode(folder) == 0o700
    else:
        with pytest.raises(InputError, match="is open to others"):
            confidentiality.check_folders([folder], allowed=False)


def test_each_open_folder_that_is_allowed_gives_a_warning(tmp_path):
    names = ("results", "closed", "reports", "absent")
    folders = [tmp_path / name for name in names]
    for folder, bits in zip(folders[:3], (0o755, 0o700, 0o777), strict=True):
        folder.mkdir()
        folder.chmod(bits)
    first, second = confidentiality.check_folders(folders, allowed=True)
    assert first.startswith(f"{tmp_path}/results ")
    assert "drwxr-xr-x" in first
    assert second.startswith(f"{tmp_path}/reports ")


def test_a_link_counts_as_the_folder_that_it_leads_to(tmp_path):
    (tmp_path / "disk").mkdir(mode=0o700)
    (tmp_path / "results").symlink_to(tmp_path / "disk")
    assert confidentiality.check_folders([tmp_path / "results"], allowed=False) == []
    (tmp_path / "disk").chmod(0o755)
    with pytest.raises(InputError, match=f"{tmp_path}/disk"):
        confidentiality.check_folders([tmp_path / "results"], allowed=False)


def test_closing_a_folder_closes_its_files_and_logs_but_not_what_a_link_leads_to(tmp_path):
    folder, other = tmp_path / ".snakemake", tmp_path / "other"
    files = [folder / name for name in ("log/a.log", "metadata/@long/name", "incomplete/b", "locks")]
    for path in (*files, other):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
        path.chmod(0o666)
    (folder / "link").symlink_to(other)
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for path in folders:
        path.chmod(0o777)
    confidentiality.close(folder)
    assert {mode(path) for path in files} == {0o600}
    assert {mode(path) for path in folders} == {0o700}
    assert mode(other) == 0o666
    confidentiality.close(tmp_path / "absent")


@pytest.mark.parametrize("name", ["results", "reports"])
def test_a_folder_in_which_a_run_may_not_write_is_refused(tmp_path, monkeypatch, name):
    folder = tmp_path / name
    folder.mkdir(mode=0o500)
    monkeypatch.setattr(confidentiality.os, "access", lambda path, _: bool(path.stat().st_mode & 0o200))  # also as root
    with pytest.raises(InputError) as refused:
        confidentiality.check_folders([tmp_path / "absent", folder], allowed=True)
    assert str(refused.value) == (
        f"{folder} must be a folder in which you may write. Change its permissions or its owner, or run in another "
        "folder."
    )


@pytest.mark.parametrize("limit", [8 * 1024, 2**20 - 1])
def test_a_limit_of_the_size_of_files_is_refused(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(confidentiality.resource, "getrlimit", lambda _: (limit, resource.RLIM_INFINITY))
    with pytest.raises(InputError, match=rf"`ulimit -f` limits files to {limit:,} bytes, but .* Raise the limit\.$"):
        confidentiality.check_folders([tmp_path / "results"], allowed=False)


def test_the_standard_error_of_every_adapter_is_dropped():
    for adapter in (release.ROOT / "workflow/scripts").glob("*.py"):
        assert f"*/.snakemake/script[s]/*.{adapter.name}*" in confidentiality.SILENT_STEPS


COMMANDS = [
    ("a step", "bash", ".snakemake/scripts/tmp_1a.score.py", ""),
    ("another script", "bash", ".snakemake/scripts/tmp_1a.plot.py", "told"),
    ("a command", "bash", "score.py", "told"),
    ("another shell", "sh", ".snakemake/scripts/tmp_1a.plot.py", "told"),
]


@pytest.mark.parametrize(("shell", "script", "told"), cases(COMMANDS))
@pytest.mark.parametrize("status", [0, 3])
def test_steps_alone_lose_their_standard_error_and_none_its_status(tmp_path, shell, script, told, status):
    file = tmp_path / script
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"printf told >&2; printf out; exit {status}\n", encoding="utf-8")
    command = f"{confidentiality.SILENT_STEPS} sh {file}"
    ended = subprocess.run([shell, "-c", command], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("out", told, status)


def test_errors_before_the_last_command_and_in_a_pipe_still_end_it():
    for command in ("false; true", "false | true", "echo $no_such_variable"):
        assert subprocess.run(["bash", "-c", f"{confidentiality.SILENT_STEPS} {command}"], check=False).returncode
