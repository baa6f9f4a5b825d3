"""Read the rounding policy that a study names, and hold the section `release` to it (METHODS §11)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reident.sections.release import Policy, Release
from reident.study import bundled
from reident.study import reading as studyfile

if TYPE_CHECKING:
    from reident.study.model import Study

FOLDER = bundled.CONFIG / "rounding"
"""The bundled policies."""


def path_of(release: Release, study_file: Path) -> Path:
    """Return the file of the policy: a bundled one, or one beside the study file."""
    name = release.path
    return FOLDER / f"{release.policy}.yaml" if name is None else study_file.parent / name


def sources(release: Release, study_file: Path) -> dict[str, Path]:
    """Return the files that an edition depends on beside the results, by side: ``policy``, ``edition_1`` …."""
    earlier = {f"edition_{at}": study_file.parent / path for at, path in enumerate(release.edition_files, start=1)}
    return {"policy": path_of(release, study_file), **earlier}


def load(path: Path) -> Policy:
    """Read and check a file of a policy, see :func:`reident.study.reading.load`."""
    return studyfile.load(path, Policy, "title", "rounding")


def check(study: Study, study_file: Path) -> None:
    """Check that a study names a policy that exists, and has a seed if the policy draws, and only then.

    Raises
    ------
    InputError
        With the line of the study file, or of the policy.
    """
    release = study.release
    if release is None:
        return
    if release.path is None:
        bundled.check(study_file, ("release", "policy"), release.policy, FOLDER)
    policy = load(path_of(release, study_file))
    if policy.rounding == "random" and release.seed is None:
        raise bundled.error(
            study_file,
            ("release",),
            f"must have a `seed`, because the policy `{release.policy}` rounds at random. Add one of at least 16 "
            "characters, and keep it secret.",
        )
    if policy.rounding != "random" and release.seed is not None:
        raise bundled.error(
            study_file,
            ("release", "seed"),
            f"must not be given with the policy `{release.policy}`, which does not round at random. Remove it.",
        )
