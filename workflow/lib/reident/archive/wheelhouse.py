"""Collect every locked package into one archive, and set up from it without a network.

    make wheelhouse PLATFORMS="manylinux_2_28_x86_64" PYTHONS="3.11 3.12"
    make WHEELHOUSE=wheelhouse/wheelhouse.tar

``wheelhouse.tar`` has the files of requirements.lock and requirements-dev.lock, wheel by wheel, in sorted order and
without times: the same files give the same bytes. ``wheelhouse.json`` beside it has its SHA-512, what it is for, and
each file in it. A package of which the lock has no wheel travels as its source, with what builds it; collecting proves
that it builds offline.

In ten years
------------
1. With Python 3.11, 3.12 or 3.13 on a processor that the wheelhouse serves, set up from it as above. Keep the installer
   of such a Python, or the image of a machine that has one, beside the wheelhouse: a wheel is made for one Python.
2. With another Python only, keep the pins and build from source: ``pip wheel --no-binary :all: --no-deps -r
   requirements.lock``, while an index still has the sources, with the Python and the compilers of that day.
3. If the old sources no longer build, take new ones: raise the pins in pyproject.toml, ``make lock LOCK=--upgrade``,
   ``make test``, then reproduce a sealed study. Rates are the same bytes if the new packages compute as the old ones;
   the comparison names the first number that differs.

This module runs before anything is installed: it imports the standard library alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reident.errors import InputError

LOCK = Path("requirements.lock")
DEVELOPMENT = Path("requirements-dev.lock")
"""What tests and linters need beside :data:`LOCK`."""

PYTHON = ".".join(platform.python_version_tuple()[:2])
ARCHIVE, MANIFEST = "wheelhouse.tar", "wheelhouse.json"
COLLECT = "Collect it with `make wheelhouse`"
_ENTRY = re.compile(r"^(?=[A-Za-z0-9])", re.MULTILINE)
_NO_WHEEL = re.compile(r"No matching distribution found for (\S+)")
_NO_INDEX = "connection broken by"
_OTHER_BYTES = "DO NOT MATCH THE HASHES"
_BUILDS = ("setuptools>=40.8", "wheel")
"""What builds a source that names nothing (PEP 517)."""


def entries(lock: str) -> dict[str, str]:
    """Return the entries of a lock by their requirement, ``name==version``; two may differ in their markers."""
    parts = [part for part in _ENTRY.split(lock) if part[:1].isalnum()]
    return {part.split("\\\n")[0].strip(): part for part in parts}


def pip(arguments: Sequence[object], *, online: bool) -> None:
    """Run pip, as the machine configures it or, offline, without any setting, so that no index can be asked.

    Raises
    ------
    InputError
        If a package is not there, or is not the locked one.
    """
    environment: Mapping[str, str] = os.environ
    if not online:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        environment = {**environment, "PIP_CONFIG_FILE": os.devnull}
    command = [sys.executable, "-m", "pip", *map(str, arguments), "--quiet", "--disable-pip-version-check"]
    ended = subprocess.run(  # noqa: S603 - this Python's pip, without a shell
        command, env=environment, stderr=subprocess.PIPE, text=True, check=False
    )
    if ended.returncode and _NO_INDEX in ended.stderr:
        raise InputError(
            "The package index does not answer. Check the network and run the same command again."
        )
    if missing := _NO_WHEEL.search(ended.stderr):
        raise MissingError(missing[1])
    if _OTHER_BYTES in ended.stderr:
        raise InputError(
            f"{LOCK}: a package is not the one that was locked. {COLLECT} again, from the index."
        )
    if ended.returncode:
        raise InputError(f"pip {arguments[0]} failed. {ended.stderr.strip()}")


class MissingError(InputError):
    """A package that cannot be had; ``args[0]`` is its requirement."""


def chosen(requirements: Iterable[str], environment: Mapping[str, str]) -> list[str]:
    """Return the requirements whose markers hold in an environment."""
    # Not in the standard library, and only to collect, which happens in a whole environment.
    from packaging.requirements import Requirement  # noqa: PLC0415

    markers = {text: Requirement(text).marker for text in requirements}
    return [text for text, marker in markers.items() if marker is None or marker.evaluate(dict(environment))]


def environment_of(tag: str, python: str) -> dict[str, str]:
    """Return the environment in which markers are read for a platform, such as ``manylinux_2_28_x86_64``."""
    mac = tag.startswith("macosx")
    known = re.fullmatch(r"(?:manylinux(?:_\d+_\d+|\d+)|musllinux_\d+_\d+|linux|macosx_\d+_\d+)_(\w+)", tag)
    if known is None:
        raise InputError(
            f"PLATFORMS: `{tag}` is not the name of a platform. Write for example manylinux_2_28_x86_64 or "
            "macosx_14_0_arm64."
        )
    if not re.fullmatch(r"3\.1[123]", python):
        raise InputError(f"PYTHONS: `{python}` must be 3.11, 3.12 or 3.13. Correct it.")
    return {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": "darwin" if mac else "linux",
        "platform_system": "Darwin" if mac else "Linux",
        "os_name": "posix",
        "platform_machine": known[1],
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
        "implementation_version": f"{python}.0",
        "extra": "",
    }


def this_platform() -> str:
    """Return the platform of this machine: of Linux, the one for which packages are built."""
    name = re.sub(r"\W", "_", sysconfig.get_platform())
    return re.sub(r"^linux_", "manylinux_2_28_", name)


def collect(
    lock: Path, folder: Path, platforms: Sequence[str], pythons: Sequence[str], others: Sequence[Path] = ()
) -> Path:
    """Download what locks name for every platform and Python, and write the archive and its manifest.

    Parameters
    ----------
    lock : pathlib.Path
        What a study needs.
    folder : pathlib.Path
        Where the archive goes.
    platforms, pythons : sequence of str
    others : sequence of pathlib.Path
        Further locks, which are installed after the first.

    Returns
    -------
    pathlib.Path
        The archive. An earlier one stays until the new one is complete.
    """
    parts = {
        text: part
        for file in (lock, *others)
        for text, part in entries(file.read_text(encoding="utf-8")).items()
    }
    targets = [
        (tag, python, environment_of(tag, python)) for tag in platforms for python in dict.fromkeys(pythons)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        wheels, sources = Path(scratch, "wheels"), set[str]()
        for tag, python, environment in targets:
            wanted = chosen(parts, environment)
            sources |= _download([parts[text] for text in wanted], wheels, tag, python, sources)
        for name in sorted(sources):
            _carry_source(next(part for text, part in parts.items() if text.startswith(name)), wheels)
        manifest = _write(sorted(wheels.iterdir()), Path(scratch), lock)
        described = {**manifest, "platforms": sorted(platforms), "pythons": sorted(pythons)}
        described["other_locks"] = {file.name: _digest(file, "sha256") for file in others}
        Path(scratch, MANIFEST).write_text(json.dumps(described, indent=1, sort_keys=True) + "\n")
        (folder / MANIFEST).unlink(missing_ok=True)  # never the manifest of another archive
        for name in (ARCHIVE, MANIFEST):
            Path(scratch, name).replace(folder / name)
    return folder / ARCHIVE


def _download(parts: list[str], wheels: Path, tag: str, python: str, sources: set[str]) -> set[str]:
    """Download the wheels of entries for one platform and Python; return those of which there are sources alone."""
    sources = set(sources)
    places = [f"--platform={name}" for name in _compatible(tag)]
    while True:
        listed = wheels.with_name("listed.txt")
        listed.write_text("".join(_without_marker(part) for part in parts if _pin(part) not in sources))
        try:
            pip(
                ["download", "--no-deps", "--only-binary=:all:", "--require-hashes", *places,
                 f"--python-version={python}", "--implementation=cp", f"--dest={wheels}", f"--requirement={listed}"],
                online=True,
            )  # fmt: skip
        except MissingError as missing:
            if (name := str(missing).split(" ")[0]) in sources or not any(_pin(p) == name for p in parts):
                raise InputError(f"{LOCK}: {name} cannot be downloaded. Check the index.") from None
            sources.add(name)
        else:
            return sources


def _compatible(tag: str) -> list[str]:
    """Return a platform with the older ones that it can run: pip takes the names as they are given."""
    glibc = re.fullmatch(r"manylinux_2_(\d+)_(\w+)", tag)
    if glibc is not None:
        newer = [f"manylinux_2_{minor}_{glibc[2]}" for minor in range(int(glibc[1]), 4, -1)]
        legacy = [f"manylinux{name}_{glibc[2]}" for name in ("2014", "2010", "1")]
        return [*newer, *legacy, f"linux_{glibc[2]}"]
    mac = re.fullmatch(r"macosx_(\d+)_\d+_(\w+)", tag)
    if mac is not None:
        names = [f"macosx_{major}_0" for major in range(int(mac[1]), 10, -1)]
        names += [f"macosx_10_{minor}" for minor in range(16, 5, -1)]
        return [f"{name}_{kind}" for name in names for kind in (mac[2], "universal2")]
    return [tag]


def _pin(part: str) -> str:
    return re.split(r"[ ;\\]", part, maxsplit=1)[0]


def _without_marker(part: str) -> str:
    """Return an entry without its marker, which pip would read for this machine."""
    return re.sub(r" ;[^\\\n]*", " ", part, count=1)


def _carry_source(part: str, wheels: Path) -> None:
    """Add the source of a package and what builds it; prove that it builds offline, to a wheel for every machine."""
    pin, listed = _pin(part), wheels.with_name("source.txt")
    listed.write_text(_without_marker(part))
    with tempfile.TemporaryDirectory(dir=wheels.parent) as scratch:
        pip(
            ["download", "--no-deps", "--no-binary=:all:", "--require-hashes", f"--dest={scratch}",
             f"--requirement={listed}"],
            online=True,
        )  # fmt: skip
        (source,) = Path(scratch).iterdir()
        kept = wheels / source.name
        source.replace(kept)
        pip(["download", "--only-binary=:all:", f"--dest={wheels}", *_build_needs(kept)], online=True)
        pip(
            ["wheel", "--no-deps", "--no-index", f"--find-links={wheels}", f"--wheel-dir={scratch}", kept],
            online=False,
        )
        (built,) = Path(scratch).iterdir()
        if not built.name.endswith("-none-any.whl"):
            raise InputError(
                f"{LOCK}: {pin} has no wheel for each of the platforms, and its source needs a compiler. Leave a "
                "platform out of PLATFORMS, or a Python out of PYTHONS."
            )


def _build_needs(source: Path) -> list[str]:
    """Return what builds a source: what its pyproject.toml names, or setuptools."""
    with tarfile.open(source) as archive:
        for member in archive:
            if re.fullmatch(r"[^/]+/pyproject\.toml", member.name) and (file := archive.extractfile(member)):
                build = tomllib.loads(file.read().decode()).get("build-system", {})
                return [*build.get("requires", _BUILDS), *_BUILDS]
    return list(_BUILDS)


def _write(files: list[Path], folder: Path, lock: Path) -> dict[str, Any]:
    """Write the archive, in order and without times, and return what its manifest says of it."""
    archive = folder / ARCHIVE
    with tarfile.open(archive, "w", format=tarfile.GNU_FORMAT) as tar:
        for file in files:
            info = tarfile.TarInfo(file.name)
            info.size, info.mode = file.stat().st_size, 0o644
            with file.open("rb") as content:
                tar.addfile(info, content)
    return {
        "archive": ARCHIVE,
        "sha512": _digest(archive, "sha512"),
        "size": archive.stat().st_size,
        "lock_sha256": _digest(lock, "sha256"),
        "files": {file.name: _digest(file, "sha256") for file in files},
    }


def _digest(path: Path, algorithm: str) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()


def install(wheelhouse: Path, lock: Path) -> None:
    """Install what the lock names from an archive or a folder of its files, and from nothing else.

    Raises
    ------
    InputError
        If the wheelhouse is not there, not what was collected, or has no wheel for this machine.
    """
    if wheelhouse.is_dir():
        _install(wheelhouse, wheelhouse, lock)
        return
    if not wheelhouse.is_file():
        raise InputError(
            f"{wheelhouse}: the wheelhouse does not exist. Correct the path in `make WHEELHOUSE=…`."
        )
    check(wheelhouse, lock)
    with tempfile.TemporaryDirectory(prefix="wheelhouse-") as scratch:
        for name, content in _members(wheelhouse):
            with Path(scratch, name).open("wb") as file:
                shutil.copyfileobj(content, file)
        _install(Path(scratch), wheelhouse, lock)


def digest_for(lock: Path) -> str | None:
    """Return the SHA-512 of the wheelhouse that was collected for a lock, in its folder; None if there is none."""
    try:
        manifest = json.loads((lock.parent / "wheelhouse" / MANIFEST).read_text(encoding="utf-8"))
        return str(manifest["sha512"]) if manifest["lock_sha256"] == _digest(lock, "sha256") else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def check(archive: Path, lock: Path) -> dict[str, Any]:
    """Return the manifest of an archive that is what was collected, for this lock.

    Raises
    ------
    InputError
    """
    path = archive.with_name(MANIFEST)
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        expected = manifest["sha512"]
        of_locks = {manifest["lock_sha256"], *manifest.get("other_locks", {}).values()}
    except OSError as error:
        raise InputError(
            f"{path}: the manifest of the wheelhouse cannot be read ({error.strerror}). Keep it beside the archive."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            f"{path}: the manifest of the wheelhouse is not complete. {COLLECT} again."
        ) from None
    if _digest(archive, "sha512") != expected:
        raise InputError(
            f"{archive}: the wheelhouse is not the one of its manifest (SHA-512). Copy it again, or collect it again."
        )
    if _digest(lock, "sha256") not in of_locks:
        raise InputError(
            f"{archive}: the wheelhouse was collected for another version of {lock.name}. Take the version that it "
            "belongs to, or collect it again."
        )
    return manifest


def _members(archive: Path) -> Iterator[tuple[str, Any]]:
    """Yield the files of an archive: regular files without a folder, and nothing else."""
    try:
        with tarfile.open(archive, "r:") as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isreg() else None
                if content is None or not re.fullmatch(r"[\w][\w.+!-]*", member.name):
                    raise InputError(
                        f"{archive}: the wheelhouse must consist of plain files. {COLLECT} again."
                    )
                yield member.name, content
    except tarfile.TarError:
        raise InputError(f"{archive}: the wheelhouse is not a tar archive. {COLLECT} again.") from None


def _install(folder: Path, named: Path, lock: Path) -> None:
    links = ["--no-index", f"--find-links={folder}"]
    try:
        pip(["install", *links, "--no-deps", "--require-hashes", f"--requirement={lock}"], online=False)
    except MissingError as missing:
        machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
        raise InputError(
            f"{named}: there is no file of {missing} for this machine ({machine}). Collect it for this platform with "
            "`make wheelhouse PLATFORMS=… PYTHONS=…`, or use another Python."
        ) from None


def main(arguments: Sequence[str]) -> int:
    """Collect or install, and say in one sentence what was wrong."""
    parser = argparse.ArgumentParser(prog="python -m reident.archive.wheelhouse")
    commands = parser.add_subparsers(dest="command", required=True)
    collecting = commands.add_parser("collect", help="download what the locks name")
    collecting.add_argument("folder", type=Path)
    collecting.add_argument("--platforms", nargs="+", default=[this_platform()])
    collecting.add_argument("--pythons", nargs="+", default=[PYTHON])
    installing = commands.add_parser("install", help="install from a wheelhouse")
    installing.add_argument("wheelhouse", type=Path)
    installing.add_argument("--lock", type=Path, default=LOCK)
    given = parser.parse_args(arguments)
    try:
        if given.command == "collect":
            archive = collect(LOCK, given.folder, given.platforms, given.pythons, [DEVELOPMENT])
            size = archive.stat().st_size / 1e6
            sys.stdout.write(f"{archive} ({size:,.0f} MB) and {archive.with_name(MANIFEST)}\n")
        else:
            install(given.wheelhouse, given.lock)
    except InputError as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
