"""``reident sign``: a decision, signed and added to a bag, which keeps its name and its digest (METHODS §10)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from reident.archive import bag as bags
from reident.archive import layout, signing, verify
from reident.archive.unpack import Content
from reident.errors import InputError
from reident.ledger import stored
from reident.sections.seal import SignOff
from reident.study import reading as studyfile


def run(path: Path, signoff: Path, key: Path) -> list[str]:
    """Sign a decision with a key, and add it to a bag.

    Parameters
    ----------
    path, signoff, key : pathlib.Path
        The bag, the file with the decision, and the key.

    Returns
    -------
    list of str
        The lines to print.

    Raises
    ------
    InputError
        If the bag does not hold, or the decision or the key is not valid.
    """
    decision = load(signoff)
    verified, files = verify.read(path)
    text = statement(decision, files)
    signature = signing.sign(text, key)
    signer = signing.verify(text, signature)
    name = f"{layout.SIGNATURES}{signer.key}.json"
    if name in files:
        raise InputError(
            f"{path} already has a sign-off by the key {signer.fingerprint}. Each sign-off takes another key."
        )
    add(path, {name: text, name.removesuffix("json") + "sig": signature})
    return [
        f"{path}: {decision.board}: {decision.decision}, signed by {signer.fingerprint}.",
        f"{path}: its digest is still {verified.digest}.",
    ]


def load(path: Path) -> SignOff:
    """Read and check the file of a sign-off.

    Raises
    ------
    InputError
        With the file, line and key of the first mistake, what is wrong, and what to do.
    """
    return studyfile.load(path, SignOff)


def statement(decision: SignOff, files: dict[str, Content]) -> bytes:
    """Return what is signed: the decision, and the digests of the tag manifest and of the report."""
    report = {
        name.removeprefix(layout.REPORT): file.sha256
        for name, file in files.items()
        if name.startswith(layout.REPORT)
    }
    bound = {"tag_manifest": files[layout.TAG_MANIFEST].sha512, "report": report}
    content = {**decision.model_dump(mode="json"), **bound}
    return (json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def add(path: Path, files: dict[str, bytes]) -> None:
    """Add signatures to a bag: another file takes the place of the old one, complete or not at all."""
    made = stored.temporary(path)
    try:
        shutil.copyfile(path, made)
        made.chmod(0o600)
        bags.append(made, path.stem, files)
        os.replace(made, path)  # noqa: PTH105 - as atomic as it can be
    except OSError as error:
        raise bags.explain(error, path) from None
    finally:
        made.unlink(missing_ok=True)
    stored.sync_folder(path.parent)
