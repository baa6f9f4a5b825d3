"""The locks have what pyproject.toml asks for, and environment.yml has the same versions."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
LOCKS = ("requirements.lock", "requirements-dev.lock")
ENVIRONMENT = yaml.safe_load((CHECKOUT / "environment.yml").read_text())

CONDA_NAMES = {"matplotlib-base": "matplotlib"}  # conda-forge's name without Qt: the name on PyPI


def ranges(requirements):
    """``{name: specifier}`` of requirements with a lowest version and one that is too new."""
    parsed = [Requirement(text) for text in requirements]
    assert all({"<", ">="} == {part.operator for part in one.specifier} for one in parsed)
    found = {canonicalize_name(one.name): one.specifier for one in parsed}
    assert len(found) == len(parsed)
    return found


def pins(requirements):
    """``{name: version}`` of exact requirements; anything but ``name==version`` is refused."""
    found = {}
    for text in requirements:
        requirement = Requirement(text)
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), f"not an exact pin: {text}"
        name = canonicalize_name(requirement.name)
        assert name not in found, f"declared twice: {name}"
        found[name] = str(requirement.specifier)[2:]
    return found


def group(name):
    """The requirements of a dependency group, with those of the groups it includes."""
    for entry in PYPROJECT["dependency-groups"][name]:
        if isinstance(entry, dict):
            yield from group(entry["include-group"])
        else:
            yield entry


def locked(lock):
    """One ``(name, version, marker or None, hashes, required by)`` for each entry of a lock."""
    text = (CHECKOUT / lock).read_text()
    lines = [line for line in text.splitlines() if not re.match(r"#|--", line)]
    for entry in re.split(r"\n(?=[^\s#])", "\n".join(lines).strip()):
        requirement = Requirement(entry.split("\\\n")[0].strip())
        hashes = re.findall(r"--hash=(\S+)", entry)
        requirers = re.findall(r"^    #(?: via)? +(\S.*)$", entry, flags=re.MULTILINE)
        exact = str(requirement.specifier).removeprefix("==")
        yield canonicalize_name(requirement.name), exact, requirement.marker, hashes, requirers


def direct(entries):
    """``{name: version}`` of what pyproject.toml itself asks for."""
    return {
        name: exact
        for name, exact, _, _, requirers in entries
        if any(requirer.startswith("reident (pyproject.toml") for requirer in requirers)
    }


DECLARED = ranges(PYPROJECT["project"]["dependencies"])
TEST, DEV = pins(group("test")), pins(group("dev"))
STUDY, ADDED = (list(locked(lock)) for lock in LOCKS)
ENTRIES = STUDY + ADDED
RUNTIME = direct(STUDY)


def test_a_study_runs_with_versions_in_the_declared_ranges():
    assert RUNTIME.keys() == DECLARED.keys()
    assert [name for name, exact in RUNTIME.items() if exact not in DECLARED[name]] == []


def test_what_tests_and_linters_need_is_locked_as_it_is_declared():
    assert direct(ADDED) == DEV


def test_tests_add_packages_and_exchange_none():
    assert not {name for name, *_ in STUDY} & {name for name, *_ in ADDED}


def test_what_no_study_needs_is_in_no_lock():
    """A debugger, and completion for people who type into a kernel: 55 MB."""
    excluded = PYPROJECT["tool"]["uv"]["exclude-dependencies"]
    assert excluded == ["debugpy", "jedi"]
    assert not {name for name, *_ in ENTRIES} & {*excluded, "parso"}


def test_conda_users_get_what_a_study_and_its_tests_need_in_the_same_versions():
    *conda, pip = ENVIRONMENT["dependencies"]
    conda_pins = pins(entry for entry in conda if not re.match(r"(python|pip)\b", entry))
    renamed = {CONDA_NAMES.get(name, name): exact for name, exact in conda_pins.items()}
    from_pip = pins(pip["pip"])
    assert not renamed.keys() & from_pip.keys()
    assert renamed | from_pip == RUNTIME | TEST


def test_conda_users_get_a_python_that_is_supported():
    python = next(entry for entry in ENVIRONMENT["dependencies"] if str(entry).startswith("python "))
    assert python.removeprefix("python ") == PYPROJECT["project"]["requires-python"]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry[0]}-{entry[1]}")
def test_every_locked_package_has_one_version_and_hashes(entry):
    _, exact, _, hashes, _ = entry
    assert re.fullmatch(r"[0-9][0-9A-Za-z.+]*", exact)
    assert hashes
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in hashes)


@pytest.mark.parametrize("platform", ["linux", "darwin"])
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_on_each_python_a_package_has_one_version_and_no_direct_one_is_left_out(python, platform):
    system = {
        "python_version": python,
        "python_full_version": f"{python}.5",
        "sys_platform": platform,
        "platform_system": platform.capitalize(),
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
    }
    chosen = [name for name, _, marker, _, _ in ENTRIES if marker is None or marker.evaluate(system)]
    assert len(chosen) == len(set(chosen))
    assert set(chosen) >= set(RUNTIME | DEV)


@pytest.mark.parametrize("name", sorted(PYPROJECT["dependency-groups"]))
def test_every_group_is_pinned_exactly_and_names_a_package_once(name):
    assert pins(group(name))


@pytest.mark.parametrize(
    "path",
    [
        *LOCKS,
        "environment.yml",
        "pyproject.toml",
        "Makefile",
        ".ci/run",
        ".github/workflows/ci.yml",
        "container/Containerfile",
        "container/reident.def",
        ".pre-commit-config.yaml",
    ],
)
def test_where_packages_come_from_is_the_machines_affair(path):
    text = (CHECKOUT / path).read_text()
    assert not re.findall(r"\w+://|(?<!no-emit-)index-url|find-links (?!.\$\(abspath)|trusted-host", text)


def test_the_tests_run_with_the_pinned_versions():
    expected = RUNTIME | TEST
    assert {name: version(name) for name in expected} == expected
