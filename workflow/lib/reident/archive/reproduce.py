"""``reident reproduce``: verify a bag, compute its study anew, and compare each result (METHODS §10)."""

from __future__ import annotations

import contextlib
import datetime
import json
import platform
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reident.archive import bag as bags
from reident.archive import codebase, collect, layout, outcome, rerun, verify
from reident.archive import inputs as sealed_inputs
from reident.archive.codebase import Code
from reident.archive.outcome import Compared
from reident.archive.signing import Signer
from reident.archive.unpack import staging
from reident.archive.verify import Verified
from reident.errors import InputError
from reident.ledger import stored
from reident.ledger.chain import entry_files
from reident.ledger.check import few
from reident.pipeline import release
from reident.sections.language import LANGUAGES
from reident.sections.seal import SignOff

REPORTS = Path("reports", "reproduce")
PAGE = "reproduction"

REPRODUCED, DIFFERS, NOT_RERUN = "reproduced", "not reproduced", "verified, not rerun"
STATUS = {REPRODUCED: 0, DIFFERS: 1, NOT_RERUN: 3}
"""The exit status of each end."""

Facts = dict[str, Any]
"""What ``reproduction.json`` has, and the page shows."""


def run(
    path: Path,
    render: Callable[[Facts], dict[str, bytes]],
    *,
    inputs: Path | None = None,
    trust: str | None = None,
    signers: Path | None = None,
    keep: bool = False,
    cores: str = "all",
) -> tuple[list[str], int]:
    """Reproduce a sealed study; return the lines to print and the exit status.

    Parameters
    ----------
    path : pathlib.Path
        The bag.
    render : callable
        Gives the page in each format, by suffix.
    inputs : pathlib.Path or None
        A folder that holds the inputs.
    trust : str or None
        The digest of the bag, or of its code, which then runs.
    signers : pathlib.Path or None
        The file of allowed signers.
    keep : bool
        Whether to keep the new results.
    cores : str
        As Snakemake takes them.

    Raises
    ------
    InputError
        If the bag does not hold, an option is not valid, or the disk is full.
    """
    if trust is None:
        release.require_checkout("`reident reproduce` without `--trust`")
    try:
        with staging(REPORTS) as work:
            _say(f"Verifying {path} ...")
            bag = verify.open_bag(path, work / "bag", signers)
            facts = _reproduce(bag, work, inputs, trust, cores)
            target = REPORTS / bag.study
            _write(target, facts, render)
            if (work / rerun.LOG).is_file():
                stored.write(target / rerun.LOG, (work / rerun.LOG).read_bytes())
            if keep:
                _keep(work, target / "rerun")
    except OSError as error:
        if error.errno in stored.FULL:
            raise bags.explain(error, REPORTS) from None
        raise
    return _lines(facts, target), STATUS[facts["outcome"]]


def _reproduce(bag: Verified, work: Path, folder: Path | None, trust: str | None, cores: str) -> Facts:
    """Search, compute and compare; return all that is to be told."""
    code = codebase.choose(bag.folder, bag.name, bag.release, trust)
    document, expected = bag.documents[layout.INPUTS], _expected(bag)
    declared = sealed_inputs.declared(document, trusted=code.of_bag)
    _say("Every byte of the bag is as it was sealed.")
    search = sealed_inputs.find(declared, bag.folder, folder)
    facts = {
        **_about(bag, code),
        "inputs": {
            "needed": len(declared),
            "missing": [str(missing) for missing in search.missing],
            "unreadable": search.unreadable,
        },
        "cost": {"then": expected, "now": None},
        "results": [],
        "counts": {},
        "errors": [],
        "renamed": [],
        "network": None,
        "outcome": NOT_RERUN,
    }
    if search.missing:
        return facts
    for line in code.lines():
        _say(line)
    _check_room(expected)
    name = rerun.study_file(bag.folder, document)
    placed = rerun.place(bag.folder, name, declared, search.paths, work)
    return facts | _compute(bag, code, placed, work, cores)


def _compute(bag: Verified, code: Code, placed: rerun.Placed, work: Path, cores: str) -> Facts:
    """Compute a study that is in its place, and compare each result."""
    shards = rerun.shards(bag.folder)
    settings = {} if shards is None else {"shards": shards}
    root = work / rerun.RUN / "results" / bag.study
    steps = len(entry_files(bag.folder / layout.LEDGER))

    def progress() -> None:
        """Tell how many of the steps have ended: each writes its entry of the ledger then."""
        _say(f"Computed: {len(entry_files(root)):,} of {steps:,} steps.")

    ended = rerun.run(code.root, placed, work, cores, settings, progress)
    errors, now, lines = ended.errors, None, list[Compared]()
    if ended.status == 0:
        outputs = bag.documents[layout.OUTPUTS]["outputs"]
        lines = outcome.compare(outputs, bag.folder, root, code.same, placed.renamed)
        now = _cost(root) | {"elapsed": round(ended.seconds, 1)}
    elif not errors:
        errors = [f"The run ended with status {ended.status}; {rerun.LOG} beside this page has what it said."]
    return {
        "errors": errors,
        "network": ended.network,
        "renamed": sorted(placed.renamed.values()),
        "cost": {"then": _expected(bag), "now": now},
        "results": [line._asdict() | {"difference": line.difference and line.difference._asdict()} for line in lines],
        "counts": dict(Counter(line.outcome for line in lines)),
        "outcome": REPRODUCED if outcome.is_reproduced(lines) else DIFFERS,
    }


def _expected(bag: Verified) -> dict[str, float]:
    """Return the total resources of the sealed run, as far as the bag has numbers for it."""
    total = bag.documents[layout.COST].get("total")
    pairs = total.items() if isinstance(total, dict) else ()
    return {name: value for name, value in pairs if type(value) in (int, float)}


def _about(bag: Verified, code: Code) -> Facts:
    """Describe a bag, the code that runs, and this machine."""
    study = bag.documents[layout.RESOLVED]

    def signer(who: Signer) -> Facts:
        return {"principal": who.principal, "fingerprint": who.fingerprint}

    return {
        "study": bag.study,
        "title": str(study.get("title") or bag.study),
        "agency": str(study.get("agency") or ""),
        **({"language": study["language"]} if study.get("language") in LANGUAGES else {}),
        "bag": bag.name,
        "digest": bag.digest,
        "signed_by": bag.signed_by and signer(bag.signed_by),
        "sign_offs": [
            {name: sign_off.content.get(name) for name in SignOff.model_fields} | signer(sign_off.signer)
            for sign_off in bag.sign_offs
        ],
        "warnings": list(bag.warnings),
        "on": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "code": "bag" if code.of_bag else "installed",
        "same_code": code.same,
        "then": code.then,
        "now": code.now,
        "files": list(code.files),
        "packages": [list(package) for package in code.packages],
    }


def _check_room(expected: dict[str, float]) -> None:
    """Refuse to begin where the results cannot have room."""
    needed = int(expected.get("disk_bytes", 0))
    if shutil.disk_usage(REPORTS).free < needed:
        raise InputError(
            f"{REPORTS}: the disk has no room for the results, which took {needed:,} bytes. Make room on the disk and "
            "run the same command again."
        )
    seconds, memory = expected.get("seconds"), expected.get("peak_memory_mb")
    if seconds is not None and memory is not None:
        _say(f"Its steps took {seconds:,.0f} s in all and at most {memory:,.0f} MB each when it was sealed.")


def _cost(root: Path) -> dict[str, Any]:
    """Return the resources of the steps of the new run."""
    entries = collect.chain_of(root, [end for end in collect.ENDS if (root / end).is_file()])
    return dict(collect.cost(entries, root)["total"])


def _write(target: Path, facts: Facts, render: Callable[[Facts], dict[str, bytes]]) -> None:
    """Write the page; ``reproduction.json`` comes last, so that it never is beside the page of another reproduction."""
    pages = render(facts)
    target.mkdir(parents=True, exist_ok=True, mode=0o700)
    (target / f"{PAGE}.json").unlink(missing_ok=True)
    for suffix, page in pages.items():
        stored.write(target / f"{PAGE}.{suffix}", page)
    text = json.dumps(facts, ensure_ascii=False, indent=1, sort_keys=True)
    stored.write(target / f"{PAGE}.json", f"{text}\n".encode())


def _keep(work: Path, target: Path) -> None:
    """Keep the new run, as confidential as its inputs, in place of the one before it."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(target)
    if (work / rerun.RUN).is_dir():
        (work / rerun.RUN).rename(target)


def _lines(facts: Facts, target: Path) -> list[str]:
    """Return the lines that the terminal shows at the end."""
    name, counts = facts["bag"], facts["counts"]
    page = f"The page is {target}/{PAGE}.html, also as .pdf and .json."
    warnings = [f"Warning: {warning}" for warning in facts["warnings"]]
    if facts["outcome"] == NOT_RERUN:
        missing = facts["inputs"]["missing"]
        unreadable = facts["inputs"]["unreadable"]
        lines = [f"{name}: verified, not rerun: {len(missing)} of {facts['inputs']['needed']} inputs were not found."]
        lines += [f"Not found: {item}." for item in missing]
        lines += [f"{unreadable:,} files or folders could not be read."] if unreadable else []
        return [*lines, "Name the folder that holds them with `--inputs DIR`.", *warnings, page]
    words = [f"{number:,} {WORDS[kind]}" for kind, number in counts.items()]
    if facts["outcome"] == REPRODUCED:
        return [f"{name}: reproduced: {', '.join(words)}.", *warnings, page]
    if facts["errors"]:
        lines = [f"Error: {name}: not reproduced: the study could not be computed.", *facts["errors"]]
    else:
        lines = [f"Error: {name}: not reproduced: {', '.join(words)}."]
        failed = [_place(line) for line in facts["results"] if line["outcome"] in outcome.FAILURES]
        lines.append(f"First differences: {few(failed)}.")
    if facts["code"] == "installed" and not facts["same_code"]:
        lines.append(f"To run the code that made the results, read it in the bag, and add `--trust {name}`.")
    return [*lines, *warnings, page]


WORDS: dict[str, str] = {
    "identical": "results identical",
    "content": "with the same content",
    "tolerance": "equal within the tolerance",
    "explained": "reports that differ because code or packages differ",
    "withheld": "computed, of which the bag must not have a digest",
    "different": "different",
    "missing": "missing",
    "extra": "not in the seal",
}


def _place(line: dict[str, Any]) -> str:
    """Return where a result differs; values are on the page alone."""
    difference = line["difference"]
    if line["outcome"] == "missing":
        return f"{line['path']} is missing"
    if not difference or not difference["column"]:
        return str(line["path"])
    row = f" row {difference['row']}," if difference["row"] else ""
    return f"{line['path']}:{row} column {difference['column']}"


def _say(line: str) -> None:
    """Tell the terminal at once."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
