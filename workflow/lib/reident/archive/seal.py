"""``reident seal``: a finished study as one file; and ``reident sign``: a decision in it (METHODS §10)."""

from __future__ import annotations

import datetime
from functools import partial
from pathlib import Path

from reident.archive import bag as bags
from reident.archive import layout, signing, verify
from reident.archive.collect import as_json, collect
from reident.errors import InputError
from reident.ledger.chain import located
from reident.ledger.check import check
from reident.pipeline import release
from reident.pipeline.family import Family
from reident.sections.seal import SignOff
from reident.study import reading


def seal(members: Family, notebook: Path, results: Path, date: datetime.date | None = None) -> list[str]:
    """Seal one study, and return the lines to print; the bag has this date, or that of the study.

    Raises
    ------
    InputError
        If its chain does not close, it has no report, or the bag cannot be signed or written.
    """
    study = members.study
    if not (answer := check(members, results, notebook)).closes:
        raise InputError(answer.line)
    info = {
        "Bag-Software-Agent": f"reident {release.version(notebook.parents[2]) or '(version unknown)'}",
        "Bagging-Date": str(date or study.date or ""),
        "External-Description": study.title or study.id,
        "Internal-Sender-Identifier": study.id,
        "Source-Organization": study.agency,
        layout.INFO_VERSION: layout.VERSION,
    }
    info = {label: value for label, value in info.items() if value}
    key = study.seal.sign_with and members.path.parent / Path(study.seal.sign_with).expanduser()
    payload = collect(members, results, notebook)
    folder = located(results / study.id, "", "reports/sealed")
    bag = bags.write(folder, study.id, payload, info, partial(_signatures, key or None))
    lines = [
        f"{study.id}: sealed as {bag.path} ({bag.path.stat().st_size / 1e6:,.1f} MB, {bag.files} files).",
        f"{study.id}: its digest is {bag.digest}. Tell the auditor this digest, apart from the file.",
    ]
    if answer.absent:
        lines.append(f"{study.id}: not verified, since they were not there: {', '.join(answer.absent)}.")
    if date is None and study.date is None:
        lines.append(
            f"{study.id}: not dated. Give the date of the review with `--date`, or as the `date` of the study."
        )
    signed = "not signed. Name a key with `seal: {sign_with: PATH}` in the study to sign it."
    if bag.signature is not None:
        signed = f"signed by {signing.fingerprint(bag.signature)}."
    return [*lines, f"{study.id}: {signed}"]


def _signatures(key: Path | None, tag_manifest: bytes, path: Path) -> dict[str, bytes]:
    """Return the signatures of a bag: those that it has if it was sealed before, and that of the key.

    The signatures of some keys differ each time. The one that is there stays: sealing again gives the same bytes.
    """
    try:
        files = verify.read(path)[1] if path.exists() else {}
    except InputError as error:
        raise InputError(f"{error} Move that file away, and seal the study again.") from None
    earlier = {name: file.text for name, file in files.items() if layout.SIGNED_FILES.fullmatch(name)}
    if key is None:
        return earlier
    signature, former = signing.sign(tag_manifest, key), earlier.get(layout.SEAL_SIGNATURE)
    if former is not None and signing.fingerprint(former) == signing.fingerprint(signature):
        return earlier
    if former is not None and len(earlier) > 1:
        raise InputError(
            f"{path} has sign-offs that cover the signature by {signing.fingerprint(former)}. Sign with that key, or "
            "move the file away, seal the study again, and have it signed off again."
        )
    return {**earlier, layout.SEAL_SIGNATURE: signature}


def sign(path: Path, signoff: Path, key: Path) -> list[str]:
    """Sign the decision in a file with a key, add it to a bag, and return the lines to print; name and digest stay.

    Raises
    ------
    InputError
        If the bag does not hold, the decision or the key is not valid, or the bag cannot be written.
    """
    if not layout.is_file(signoff):
        raise InputError(f"{signoff} is not a file. Name the file with the decision.")
    decision = reading.load(signoff, SignOff)
    verified, files = verify.read(path)
    content = {**decision.model_dump(mode="json"), **verify.binding(files)}
    statement = as_json(content)
    signature = signing.sign(statement, key)
    signer = signing.verify(statement, signature)
    name = f"{layout.SIGNATURES}{signer.key}"
    if f"{name}.json" in files:
        raise InputError(
            f"{path} already has a sign-off by the key {signer.fingerprint}. Each sign-off takes another key."
        )
    bags.append(path, {f"{name}.json": statement, f"{name}.sig": signature})
    return [
        f"{path}: {decision.board}: {decision.decision}, signed by {signer.fingerprint}.",
        f"{path}: its digest is still {verified.digest}.",
    ]
