"""The locks have what pyproject.toml asks for, and environment.yml has the same versions."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
LOCKS = ("requirements.lock", "requirements-dev.lock")
ENVIRONMENT = yaml.safe_load((CHECKOUT / "environment.yml").read_text())

CONDA_NAMES = {"matplotlib-base": "matplotlib"}  # conda-forge's name without Qt: the name on PyPI


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


TEST, DEV = pins(group("test")), pins(group("dev"))
STUDY, ADDED = (list(locked(lock)) for lock in LOCKS)
RUNTIME = direct(STUDY)


def test_conda_users_get_what_a_study_and_its_tests_need_in_the_same_versions():
    *conda, pip = ENVIRONMENT["dependencies"]
    conda_pins = pins(entry for entry in conda if not re.match(r"(python|pip)\b", entry))
    renamed = {CONDA_NAMES.get(name, name): exact for name, exact in conda_pins.items()}
    from_pip = pins(pip["pip"])
    assert not renamed.keys() & from_pip.keys()
    assert renamed | from_pip == RUNTIME | TEST


def test_every_locked_package_has_one_version_and_hashes():
    for name, exact, _, hashes, _ in STUDY + ADDED:
        assert re.fullmatch(r"[0-9][0-9A-Za-z.+]*", exact), name
        assert hashes, name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in hashes), name
