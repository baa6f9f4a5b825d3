"""`reident validate`, `check` and `seal`: what is asked of study files and their results."""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path
from typing import Any

RESULTS = Path("results")
"""The folder of the results, from the working directory."""

_VALIDATE = """\
Report every error and every warning of studies and their files at once, before
anything is computed: keys and columns with near names, and the codes of both
files beside each other where they do not correspond. Nothing is written.
"""
_CHECK = """\
Report for each study whether its results are still what was computed from the
current files, and every break of the chain from the results back to the sources.
Results are read from the folder `results` of the working directory. Nothing is
written.
"""
_SEAL = """\
Write each finished study into one zip file, which an auditor can hold: code,
ledger, tables, report, verdict, and the hashes of all results and source files.
The name of the file, reports/ID/sealed/ID-DIGEST.zip, has the digest of its
content. Sealing again gives the same bytes.
"""
_EXAMPLES = """
examples:
  reident {name} my-study/study.yaml
  reident {name}                        the studies that config/config.yaml names

exit status: {status}
"""


def declare(commands: Any) -> None:
    """Add these parts of the command to its parser."""
    for name, run, text, description, status in (
        (
            "validate",
            _validate,
            "report every mistake of studies",
            _VALIDATE,
            "0 without errors, 1 with errors",
        ),
        (
            "check",
            _check,
            "report whether results still hold",
            _CHECK,
            "0 if every chain closes, 1 if one does not",
        ),
        ("seal", _seal, "seal finished studies", _SEAL, "0 if every study is sealed, 1 if one is not"),
    ):
        parser = commands.add_parser(
            name,
            help=text,
            description=description,
            epilog=_EXAMPLES.format(name=name, status=f"{status}, 2 for a wrong command line"),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.add_argument(
            "studies",
            nargs="*",
            metavar="STUDY",
            help="study files, by default those that config/config.yaml names",
        )
        parser.set_defaults(run=run)


def _validate(given: argparse.Namespace) -> int:
    """Write every error and warning of the studies."""
    from reident.validation.run import validate

    answer = validate(_files(given))
    sys.stdout.writelines(f"{line}\n" for line in answer.lines)
    return int(bool(answer.errors))


def _check(given: argparse.Namespace) -> int:
    """Write a line for each study, and below it what does not hold."""
    from reident.ledger.check import check
    from reident.pipeline.family import Family
    from reident.pipeline.release import NOTEBOOK

    gc.disable()  # what is read here stays to the end
    try:
        answers = [check(Family(path), RESULTS, NOTEBOOK) for path in _files(given)]
    finally:
        gc.enable()
    sys.stdout.writelines(f"{'' if answer.closes else 'Error: '}{answer.line}\n" for answer in answers)
    return int(not all(answer.closes for answer in answers))


def _seal(given: argparse.Namespace) -> int:
    """Seal each study; one that cannot be sealed does not keep others from it."""
    from reident.archive.seal import seal
    from reident.errors import InputError
    from reident.pipeline.family import Family
    from reident.pipeline.release import NOTEBOOK

    status = 0
    for path in _files(given):
        try:
            lines = seal(Family(path), NOTEBOOK, RESULTS)
        except InputError as error:
            lines, status = [f"Error: {error}"], 1
        sys.stdout.writelines(f"{line}\n" for line in lines)
    return status


def _files(given: argparse.Namespace) -> list[Path]:
    from reident.pipeline import configuration
    from reident.pipeline.release import ROOT

    return configuration.named_studies(given.studies, ROOT)
