"""``reident compare``: two releases, each a bag or a study file, and the page on their differences (METHODS §10)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from reident.archive import differences
from reident.archive.comparison import HIGHER, IDENTICAL, LOWER, MIXED, SIDES, UNKNOWN, Comparison, compare
from reident.archive.differences import FELL, GREW, SAME, UNCLEAR
from reident.archive.releases import Release, is_bag, open_release
from reident.archive.unpack import staging
from reident.errors import InputError
from reident.ledger.stored import encoded, sync_folder, write_temporary
from reident.study import model as studies

REPORTS = Path("reports/compare")
NAME, RATES = "comparison", "rates.csv"

CONCLUSIONS = {
    GREW: "the risk grew",
    FELL: "the risk fell",
    MIXED: "some measures of the risk grew and others fell",
    UNCLEAR: "no clear change of the risk",
    SAME: "the risk is the same",
    HIGHER: "the risk of the file is higher",
    LOWER: "the risk of the file is lower",
    IDENTICAL: "the releases are the same in everything that was recorded",
    UNKNOWN: "no conclusion",
}
"""What the terminal says."""


def run(
    before: Path,
    after: Path,
    signers: Path | None,
    notebook: Path,
    render: Callable[[Comparison], Mapping[str, str | bytes]],
) -> list[str]:
    """Compare two releases, write the page, and return the lines to print.

    The releases are as :func:`reident.archive.releases.open_release` takes them; ``render(comparison)`` gives the page
    by the suffix of its file. A page that cannot be written is an InputError.
    """
    paths = [before, after]
    _refuse_one_id(paths)
    # Bags are unpacked beside the reports and not in the folder of the system: they may hold the inputs.
    with staging(REPORTS) as folder:
        into = [folder / side for side in SIDES]
        releases = [open_release(*pair, notebook, signers) for pair in zip(paths, into, strict=True)]
        comparison = _compared(releases, paths)
        target = REPORTS / "--".join(release.name for release in releases)
        text = json.dumps(comparison.plain(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        contents = {f"{NAME}.{suffix}": content for suffix, content in render(comparison).items()}
        contents |= {RATES: encoded(differences.table(comparison.rates)), f"{NAME}.json": text}
        write({target / name: encoded(content) for name, content in contents.items()})
    notes = [f"{release.name}: {note}" for release in releases for note in release.notes]
    return [*notes, f"{target / NAME}.html: {CONCLUSIONS[comparison.conclusion]}"]


def _compared(releases: list[Release], paths: list[Path]) -> Comparison:
    """Compare two releases; the tables of a bag may be those of a release with other columns."""
    try:
        return compare(*releases)
    except (KeyError, ValueError, TypeError, AttributeError, IndexError):
        if not (bags := [str(path) for path in paths if is_bag(path)]):
            raise
        raise InputError(
            f"{', '.join(bags)}: the tables are not as this version of reident makes them. Compare with the version "
            "that sealed them, or run the study again with this one."
        ) from None


def _refuse_one_id(paths: list[Path]) -> None:
    """Refuse two study files with the same id, whose results are in the same folder."""
    files = {path.resolve(): path for path in paths if not is_bag(path)}
    if len(files) == 2 and len({studies.load(path).id for path in files.values()}) == 1:
        raise InputError(
            "BEFORE and AFTER must not be two study files with the same `id`, because they share one folder of "
            "results. Seal the earlier release with `reident seal`, and compare its bag."
        )


def write(contents: Mapping[Path, bytes]) -> None:
    """Write pages, all of them or none."""
    written = []
    try:
        for path, content in contents.items():
            written.append(write_temporary(path, content).path)
    except OSError as error:
        for path in written:
            path.unlink(missing_ok=True)
        raise InputError(
            f"{path.parent}: the page cannot be written ({error.strerror}). Make room, or correct the "
            "permissions, and run the same command again."
        ) from None
    for temporary, path in zip(written, contents, strict=True):
        temporary.replace(path)
    sync_folder(path.parent)
