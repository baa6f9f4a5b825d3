"""What the code says of itself: its commit, its sources, and whether they were changed."""

import json
import os
import shutil
import subprocess

import pytest
from reident.pipeline import release

FILES = {
    "Snakefile": "rule all:\n",
    "pyproject.toml": '[project]\nname = "reident"\nversion = "1.2.3"\n',
    "requirements.lock": "numpy==2\n",
    "workflow/lib/reident/rates.py": "one = 1\ntwo = 2\n",
    "workflow/rules/rates.smk": "rule rate:\n",
    "README.md": "words\n",
    ".gitignore": "__pycache__/\n/results/\n",
}


def git(folder, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    settings = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "core.autocrlf=false")
    ended = subprocess.run(
        ["git", *settings, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return ended.stdout.strip()


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.delenv(release.ANSWER, raising=False)
    release.tree_digest.cache_clear()
    yield
    release.tree_digest.cache_clear()


@pytest.fixture
def checkout(tmp_path):
    return committed(tmp_path / "checkout")


def committed(folder, *options):
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    git(folder, "init", "-q", "-b", "main", *options)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "one")
    return folder


def anew(root):
    """What a process that starts now records."""
    release.tree_digest.cache_clear()
    os.environ.pop(release.ANSWER, None)
    return release.recorded(root)


# The commit


def a_worktree(root):
    git(root, "worktree", "add", "-q", "-b", "other", "../tree")
    (root / "../tree/new.txt").write_text("x", encoding="utf-8")
    git(root / "../tree", "add", "-A")
    git(root / "../tree", "commit", "-q", "-m", "two")
    return root.parent / "tree"


def a_moved_worktree_with_a_relative_path(root):
    tree = a_worktree(root)
    (tree / ".git").write_text("gitdir: ../checkout/.git/worktrees/tree\n", encoding="utf-8")
    return tree


def a_submodule(root):
    outer = committed(root.parent / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root), "inside")
    return outer / "inside"


def run(*arguments):
    def change(root):
        git(root, *arguments)
        return root

    return change


COMMITS = [
    ("a branch", lambda root: root),
    ("a detached head", run("checkout", "-q", "--detach")),
    ("a worktree", a_worktree),
    ("a worktree by a relative path", a_moved_worktree_with_a_relative_path),
    ("a submodule", a_submodule),
]


@pytest.mark.parametrize(("sentence", "change"), COMMITS, ids=[case[0] for case in COMMITS])
def test_the_commit_is_that_of_the_checkout_wherever_a_hook_points_git(checkout, monkeypatch, sentence, change):
    root = change(checkout)
    expected = git(root, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert release.recorded(root)["commit"] == expected


def test_the_processes_of_a_run_do_not_ask_git_again(checkout, monkeypatch):
    first = release.recorded(checkout)
    monkeypatch.setenv("PATH", "")
    assert release.recorded(checkout) == first
    assert first["commit"]


def write(root, name, content):
    path = root / ".git" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


UNKNOWN = [
    ("no git", lambda root: shutil.rmtree(root / ".git")),
    ("a branch without a commit", run("checkout", "-q", "--orphan", "new")),
    ("no program git", lambda _: os.environ.update(PATH="")),
    ("references in a format of later", lambda root: write(root, "HEAD", b"ref: refs/heads/.invalid\n")),
    ("an emptied head", lambda root: write(root, "HEAD", b"")),
    ("a reference that is not text", lambda root: write(root, "refs/heads/main", b"\xff\xfe")),
]


@pytest.mark.parametrize(("sentence", "change"), UNKNOWN, ids=[case[0] for case in UNKNOWN])
def test_a_commit_that_is_not_known_is_not_guessed(checkout, monkeypatch, sentence, change):
    monkeypatch.setenv("PATH", os.environ["PATH"])
    change(checkout)
    recorded = release.recorded(checkout)
    assert recorded["commit"] is None
    assert recorded["modified"] is None
    assert recorded["version"] == "1.2.3"


def test_a_repository_around_the_checkout_is_not_its_own(checkout):
    inside = checkout / "results" / "copy"
    shutil.copytree(checkout / "workflow", inside / "workflow")
    assert release.recorded(inside)["commit"] is None


# Whether the sources differ from the commit


def edit(name, content="x\n"):
    def change(root):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    return change


def staged(root):
    edit("workflow/rules/rates.smk")(root)
    git(root, "add", "-A")


CHANGES = [
    ("nothing", lambda _: None, False),
    ("a source", edit("workflow/lib/reident/rates.py"), True),
    ("a source, staged", staged, True),
    ("a source deleted", lambda root: (root / "Snakefile").unlink(), True),
    ("the lock", edit("requirements.lock"), True),
    ("a new source", edit("workflow/lib/reident/linkage/metrics/agreements.py"), True),
    ("a source of a name with a blank and a line end", edit("workflow/lib/a b\nc.py"), True),
    ("the documentation", edit("README.md"), False),
    ("a result", edit("results/rates.csv"), False),
    ("a cache", edit("workflow/lib/reident/__pycache__/rates.cpython-311.pyc"), False),
    ("what an editor leaves behind", edit("workflow/rules/.rates.smk.swp"), False),
    ("a backup", edit("workflow/rules/rates.smk~"), False),
]


@pytest.mark.parametrize(("sentence", "change", "modified"), CHANGES, ids=[case[0] for case in CHANGES])
def test_a_changed_checkout_says_so(checkout, sentence, change, modified):
    before = anew(checkout)
    change(checkout)
    after = anew(checkout)
    assert after["commit"] == before["commit"]
    assert after["modified"] is modified
    assert (after["tree"] != before["tree"]) is modified


# The digest of the sources


def crlf(root):
    for path in root.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def other_times(root):
    for path in (root / "workflow").rglob("*"):
        os.utime(path, (1, 1))
        path.chmod(0o700)


@pytest.mark.parametrize(
    "change",
    [crlf, other_times, edit("docs/new.md"), edit("workflow/.DS_Store")],
    ids=["line ends", "times and modes", "a document", "a hidden file"],
)
def test_the_digest_of_the_sources_is_about_their_content_alone(checkout, change):
    before = release.tree_digest(checkout)
    change(checkout)
    release.tree_digest.cache_clear()
    assert release.tree_digest(checkout) == before


def test_a_copy_without_git_says_what_was_recorded_with_it_until_it_is_changed(checkout, tmp_path):
    recorded = release.recorded(checkout)
    copy = tmp_path / "copy"
    shutil.copytree(checkout, copy, ignore=shutil.ignore_patterns(".git"))
    (copy / release.COPY).write_text(json.dumps(release.describe(checkout)), encoding="utf-8")
    assert release.recorded(copy) == recorded
    edit("Snakefile")(copy)
    changed = anew(copy)
    assert (changed["commit"], changed["modified"]) == (None, None)


def test_every_file_of_this_checkout_that_git_knows_as_code_is_a_source():
    if not (release.ROOT / ".git").exists():
        pytest.skip("this is not a checkout of git")
    known = set(git(release.ROOT, "ls-files", "-c", "-o", "--exclude-standard", "--", *release.SOURCES).splitlines())
    assert {name for name in known if (release.ROOT / name).is_file()} == set(release.source_files())
