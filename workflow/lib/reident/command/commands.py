"""The commands on studies and their results, `validate`, `check` and `seal`, and on sealed studies."""

from __future__ import annotations

import argparse
import datetime
import gc
import signal
import sys
from collections.abc import Iterable
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
_VERDICT = """\
Report the verdict on a finished study, the outcome of each limit and the number of
warnings, by a status that a program can act on. It has no number of the results.
Nothing is written.
"""
_VERDICT_EXAMPLES = """
examples:
  reident verdict my-study/study.yaml
  reident verdict my-study/study.yaml --json

exit status: 0 within the limit, 3 above the limit, 4 within the limit with reservations, 5 no verdict or no limit; 1 if
the results are not finished or not those of the study and its files as they are now, 2 for a wrong command line
"""
_SEAL = """\
Write each finished study into one zip file, which an auditor can hold: code,
ledger, tables, report, verdict, and the hashes of all results and source files.
The name of the file, reports/ID/sealed/ID-DIGEST.zip, has the digest of its
content. Sealing again with the same date gives the same bytes.
"""
_EXAMPLES = """
examples:
  reident {name} my-study/study.yaml
  reident {name}                        the studies that config/config.yaml names

exit status: {status}
"""
_SIGN = """\
Sign a decision on a sealed study with an SSH key, and add it to the bag, which
keeps its name and its digest. SIGNOFF is a YAML file; config/README.md lists its
keys.
"""
_SIGN_EXAMPLES = """
examples:
  reident sign reports/my-study/sealed/my-study-0123456789abcdef.zip signoff.yaml --key ~/.ssh/id_ed25519

exit status: 0 if the decision is in the bag, 1 if not, 2 for a wrong command line
"""
_VERIFY = """\
Check every byte, manifest and signature of a sealed study, and that its decision
follows from its tables and its study from the study file. Nothing is written.
"""
_VERIFY_EXAMPLES = """
examples:
  reident verify survey-2026-0123456789abcdef.zip
  reident verify survey-2026-0123456789abcdef.zip --signers signers    the signers must be among these
  reident verify survey-2026-0123456789abcdef.zip --signers signers --require agency,board

exit status: 0 if everything holds, 1 if anything does not, 2 for a wrong command line
"""
_REPRODUCE = """\
Verify a sealed study, compute it again in an empty folder without a network, and
compare each result. The page reports/reproduce/ID/reproduction.pdf has the
outcome.
"""
_REPRODUCE_EXAMPLES = """
examples:
  reident reproduce survey-2026-0123456789abcdef.zip                      the inputs that are missing
  reident reproduce survey-2026-0123456789abcdef.zip --inputs /vault/2026
  reident reproduce survey-2026-0123456789abcdef.zip --inputs /vault/2026 --trust 0123456789abcdef

exit status: 0 if everything that must be identical is, 1 if it is not, 2 for a wrong command line, 3 if the bag was
verified but not computed again because inputs are missing
"""
_INDEX = """\
Write one page over every study and variant that was run, reports/index.html and
index.csv: verdict, highest rates, warnings, links to the reports, and the change
since the study before.
"""
_INDEX_EXAMPLES = """
examples:
  reident index

exit status: 0 if the page was written, 1 if not, 2 for a wrong command line
"""
_COMPARE = """\
Compare two releases, each a sealed study or the study file of finished results:
whether the risk grew, and everything that changed. The page is
reports/compare/BEFORE--AFTER/comparison.html.
"""
_COMPARE_EXAMPLES = """
examples:
  reident compare survey-2026-0123456789abcdef.zip studies/survey-2027.yaml

exit status: 0 if the page was written, 1 if not, 2 for a wrong command line
"""


def declare(commands: Any) -> None:
    """Add these commands to the parser."""
    for name, run, text, description, status in (
        ("validate", _validate, "report every mistake of studies", _VALIDATE, "0 without errors, 1 with errors"),
        ("check", _check, "report whether results still hold", _CHECK, "0 if every chain closes, 1 if one does not"),
        ("seal", _seal, "seal finished studies", _SEAL, "0 if every study is sealed, 1 if one is not"),
    ):
        epilog = _EXAMPLES.format(name=name, status=f"{status}, 2 for a wrong command line")
        parser = add_command(commands, name, text, description, epilog, run)
        what = "study files, by default those that config/config.yaml names"
        parser.add_argument("studies", nargs="*", metavar="STUDY", help=what)
    help_ = "the date of the review (YYYY-MM-DD) in the sealed study, by default that of the study file"
    commands.choices["seal"].add_argument("--date", type=datetime.date.fromisoformat, metavar="DATE", help=help_)

    parser = add_command(commands, "verdict", "report the verdict", _VERDICT, _VERDICT_EXAMPLES, _verdict)
    parser.add_argument("study", type=_path, metavar="STUDY", help="the study file")
    parser.add_argument("--json", action="store_true", help="for programs")

    parser = add_command(commands, "sign", "add a decision to a sealed study", _SIGN, _SIGN_EXAMPLES, _sign)
    parser.add_argument("bag", type=_path, metavar="BAG", help="the sealed study")
    parser.add_argument("signoff", type=_path, metavar="SIGNOFF", help="the file with the decision")
    parser.add_argument("--key", type=_path, required=True, metavar="KEY", help="an SSH key")

    parser = add_command(commands, "verify", "check a sealed study", _VERIFY, _VERIFY_EXAMPLES, _verify)
    parser.add_argument("bag", type=_path, metavar="BAG", help="the sealed study")
    _add_signers(parser)
    help_ = "signatures that must be there: `agency`, of the seal, and `board`, of a sign-off by another key"
    parser.add_argument("--require", type=_roles, default=(), metavar="ROLE[,ROLE]", help=help_)

    parser = add_command(
        commands, "reproduce", "compute a sealed study again", _REPRODUCE, _REPRODUCE_EXAMPLES, _reproduce
    )
    parser.add_argument("bag", type=_path, metavar="BAG", help="the sealed study")
    parser.add_argument("--inputs", type=_path, metavar="DIR", help="a folder that holds the inputs, under any names")
    parser.add_argument(
        "--trust", metavar="DIGEST", help="run the code of the bag; the digest of the bag or of its code"
    )
    _add_signers(parser)
    parser.add_argument("--keep", action="store_true", help="keep the new results, as confidential as the inputs")
    parser.add_argument("--cores", type=_cores, default="all", metavar="N", help="processors to use, by default all")

    add_command(commands, "index", "write a page over all studies", _INDEX, _INDEX_EXAMPLES, _index)

    parser = add_command(commands, "compare", "compare two releases", _COMPARE, _COMPARE_EXAMPLES, _compare)
    for side in ("before", "after"):
        parser.add_argument(
            side, type=_path, metavar=side.upper(), help=f"the release {side}: a sealed study or a study file"
        )
    _add_signers(parser)


def add_command(
    commands: Any, name: str, text: str, description: str, epilog: str, run: Any, usage: str | None = None
) -> argparse.ArgumentParser:
    """Add a command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=description,
        epilog=epilog,
        usage=usage,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def _add_signers(parser: Any) -> None:
    parser.add_argument("--signers", type=_path, metavar="FILE", help="a file of allowed signers (man ssh-keygen)")


def _path(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("a path must not be empty")
    return Path(text).expanduser()


def _roles(text: str) -> tuple[str, ...]:
    from reident.archive.verify import ROLES

    roles = tuple(text.split(","))
    if not set(roles) <= set(ROLES):
        raise argparse.ArgumentTypeError(f"must be {' or '.join(ROLES)}, with a comma between them")
    return roles


def _cores(text: str) -> str:
    if text != "all" and not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError("must be a positive integer or `all`")
    return text


def _validate(args: argparse.Namespace) -> int:
    """Write every error and warning of the studies."""
    from reident.validation.run import validate

    answer = validate(_files(args))
    _write(answer.lines)
    return int(bool(answer.errors))


def _check(args: argparse.Namespace) -> int:
    """Write a line for each study, and below it the failures."""
    from reident.ledger.check import check
    from reident.pipeline.family import Family
    from reident.pipeline.release import NOTEBOOK

    gc.disable()  # what is read here stays to the end
    try:
        answers = [check(Family(path), RESULTS, NOTEBOOK) for path in _files(args)]
    finally:
        gc.enable()
    _write(f"{'' if answer.closes else 'Error: '}{answer.line}" for answer in answers)
    return int(not all(answer.closes for answer in answers))


def _verdict(args: argparse.Namespace) -> int:
    """Write the verdict on a study; the status has it too."""
    from reident.archive import verdict
    from reident.pipeline.release import NOTEBOOK

    lines, status = verdict.run(args.study, NOTEBOOK, as_json=args.json)
    _write(lines)
    return status


def _seal(args: argparse.Namespace) -> int:
    """Seal each study; one that cannot be sealed does not keep others from it."""
    from reident.archive.seal import seal
    from reident.errors import InputError
    from reident.pipeline.family import Family
    from reident.pipeline.release import NOTEBOOK, require_checkout

    require_checkout("`reident seal`")
    status = 0
    for path in _files(args):
        try:
            lines = seal(Family(path), NOTEBOOK, RESULTS, args.date)
        except InputError as error:
            lines, status = [f"Error: {error}"], 1
        _write(lines)
    return status


def _files(args: argparse.Namespace) -> list[Path]:
    from reident.pipeline import configuration
    from reident.pipeline.release import ROOT, require_checkout

    if not args.studies and not configuration.CONFIG.is_file():
        require_checkout(f"`reident {args.command}` without a study file")
    return configuration.named_studies(args.studies, ROOT)


def _sign(args: argparse.Namespace) -> int:
    """Add a signed decision to a bag."""
    from reident.archive import seal

    return _write(seal.sign(args.bag, args.signoff, args.key))


def _verify(args: argparse.Namespace) -> int:
    """Verify a bag."""
    from reident.archive import verify

    return _write(verify.run(args.bag, args.signers, args.require))


def _reproduce(args: argparse.Namespace) -> int:
    """Compute the study of a bag again."""
    from reident.archive import reproduce
    from reident.report import reproduction

    # So that the run that it started ends too, and nothing half-made is left.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    names = ("inputs", "trust", "signers", "keep", "cores")
    options = {name: getattr(args, name) for name in names}
    lines, status = reproduce.run(args.bag, reproduction.render, **options)
    _write(lines)
    return status


def _compare(args: argparse.Namespace) -> int:
    """Compare two releases."""
    from reident.archive import compare
    from reident.pipeline.release import NOTEBOOK
    from reident.report import releases

    return _write(compare.run(args.before, args.after, args.signers, NOTEBOOK, releases.page))


def _index(_: argparse.Namespace) -> int:
    """Write the page over all studies."""
    from reident.archive import overview
    from reident.report import studies

    return _write(overview.run(RESULTS, Path("reports"), studies.page))


def _write(lines: Iterable[str]) -> int:
    """Write the answer of a command; return the status of one that has ended well."""
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0
