"""`reident sign`, `verify`, `reproduce` and `compare`: what is asked of sealed studies."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

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
Check every byte, manifest and signature of a sealed study. Nothing is written.
"""
_VERIFY_EXAMPLES = """
examples:
  reident verify survey-2026-0123456789abcdef.zip
  reident verify survey-2026-0123456789abcdef.zip --signers signers    the signers must be among these

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
    """Add these parts of the command to its parser."""
    parser = _add(commands, "sign", "add a decision to a sealed study", _SIGN, _SIGN_EXAMPLES, _sign)
    parser.add_argument("bag", type=_path, metavar="BAG", help="the sealed study")
    parser.add_argument("signoff", type=_path, metavar="SIGNOFF", help="the file with the decision")
    parser.add_argument("--key", type=_path, required=True, metavar="KEY", help="an SSH key")

    parser = _add(commands, "verify", "check a sealed study", _VERIFY, _VERIFY_EXAMPLES, _verify)
    parser.add_argument("bag", type=_path, metavar="BAG", help="the sealed study")
    _add_signers(parser)

    parser = _add(
        commands, "reproduce", "compute a sealed study again", _REPRODUCE, _REPRODUCE_EXAMPLES, _reproduce
    )
    parser.add_argument("bag", type=_path, metavar="BAG", help="the sealed study")
    parser.add_argument(
        "--inputs", type=_path, metavar="DIR", help="a folder that holds the inputs, under any names"
    )
    parser.add_argument(
        "--trust", metavar="DIGEST", help="run the code of the bag; the digest of the bag or of its code"
    )
    _add_signers(parser)
    parser.add_argument(
        "--keep", action="store_true", help="keep the new results, as confidential as the inputs"
    )
    parser.add_argument(
        "--cores", type=_cores, default="all", metavar="N", help="processors to use, by default all"
    )

    parser = _add(commands, "compare", "compare two releases", _COMPARE, _COMPARE_EXAMPLES, _compare)
    for side in ("before", "after"):
        parser.add_argument(
            side, type=_path, metavar=side.upper(), help=f"the release {side}: a sealed study or a study file"
        )
    _add_signers(parser)


def _add(commands: Any, name: str, text: str, description: str, epilog: str, run: Any) -> Any:
    parser = commands.add_parser(
        name,
        help=text,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def _add_signers(parser: Any) -> None:
    parser.add_argument(
        "--signers", type=_path, metavar="FILE", help="a file of allowed signers (man ssh-keygen)"
    )


def _path(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("a path must not be empty")
    return Path(text).expanduser()


def _cores(text: str) -> str:
    if text != "all" and not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError("must be a positive integer or `all`")
    return text


def _sign(given: argparse.Namespace) -> int:
    """Add a signed decision to a bag."""
    from reident.archive import sign

    return _write(sign.run(given.bag, given.signoff, given.key))


def _verify(given: argparse.Namespace) -> int:
    """Verify a bag."""
    from reident.archive import verify

    return _write(verify.run(given.bag, given.signers))


def _reproduce(given: argparse.Namespace) -> int:
    """Compute the study of a bag again."""
    from reident.archive import reproduce
    from reident.report import reproduction

    # So that the run that it started ends too, and nothing half-made is left.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    names = ("inputs", "trust", "signers", "keep", "cores")
    options = {name: getattr(given, name) for name in names}
    lines, status = reproduce.run(given.bag, reproduction.render, **options)
    _write(lines)
    return status


def _compare(given: argparse.Namespace) -> int:
    """Compare two releases."""
    from reident.archive import compare
    from reident.pipeline.release import NOTEBOOK
    from reident.report import releases

    return _write(compare.run(given.before, given.after, given.signers, NOTEBOOK, releases.page))


def _write(lines: Iterable[str]) -> int:
    """Write the answer of a command that has ended well."""
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0
