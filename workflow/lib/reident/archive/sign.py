"""``reident sign``: a decision, signed and added to a bag, which keeps its name and its digest (METHODS §10)."""

from __future__ import annotations

import json
from pathlib import Path

from reident.archive import bag as bags
from reident.archive import layout, signing, verify
from reident.errors import InputError
from reident.sections.seal import SignOff
from reident.study import reading


def run(path: Path, signoff: Path, key: Path) -> list[str]:
    """Sign the decision in a file with a key, add it to a bag, and return the lines to print.

    Raises
    ------
    InputError
        If the bag does not hold, the decision or the key is not valid, or the bag cannot be written.
    """
    decision = reading.load(signoff, SignOff)
    verified, files = verify.read(path)
    content = {**decision.model_dump(mode="json"), **verify.binding(files)}
    statement = f"{json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True)}\n".encode()
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
