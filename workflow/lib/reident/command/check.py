"""`reident check`: whether the results of studies are what the ledger says, without starting the workflow."""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path
from typing import Any

_DESCRIPTION = """\
Tell for each study whether its results are still what was computed from the
current files: what `snakemake check` tells, without starting the workflow.
Results are looked for in the folder `results` of the working directory.
"""


def declare(commands: Any) -> None:
    """Add this part of the command to its parser."""
    parser = commands.add_parser(
        "check",
        help="tell whether results still hold",
        description=_DESCRIPTION,
        epilog="exit status: 0 if every chain closes, 1 if one does not, 2 for a wrong command line",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "studies",
        nargs="*",
        metavar="STUDY",
        help="study files, by default those that config/config.yaml names",
    )
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Write a line for each study, and below it what does not hold.

    Raises
    ------
    InputError
        For a study file or a setting that is wrong.
    """
    from reident.ledger.check import check
    from reident.pipeline import configuration
    from reident.pipeline.family import Family
    from reident.pipeline.release import ROOT

    notebook = ROOT / "workflow" / "notebooks" / "disclosure-review.ipynb"
    files = configuration.named_studies(given.studies, ROOT)
    gc.disable()  # what is read here stays to the end
    try:
        answers = [check(Family(path), Path("results"), notebook) for path in files]
    finally:
        gc.enable()
    sys.stdout.writelines(f"{'' if answer.closes else 'Error: '}{answer.line}\n" for answer in answers)
    return int(not all(answer.closes for answer in answers))
