"""The layout of a bag: one BagIt 1.0 bag whose payload is an RO-Crate (METHODS §10)."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

# The bag: a zip with one folder, {study}-{digest}, of the same name as the zip.
DECLARATION = "bagit.txt"
INFO = "bag-info.txt"
PAYLOAD_MANIFEST = "manifest-sha512.txt"
TAG_MANIFEST = "tagmanifest-sha512.txt"
SIGNATURES = "signatures/"
"""What is signed afterwards and is in no manifest: ``seal.sig``, and ``{key}.json`` with ``{key}.sig`` per sign-off."""

SEAL_SIGNATURE = "signatures/seal.sig"
SIGNED_FILES = re.compile(r"signatures/(seal\.sig|[0-9a-f]{16}\.(json|sig))")
"""The only files that a bag may have beside those of its manifests."""

NAMESPACE = "reident-seal"
"""What a signature is for, as ``ssh-keygen -Y sign -n`` takes it."""

VERSION, WITH_DIGESTS = "2", "1"
INFO_VERSION = "Reident-Bag-Version"
"""The version of this layout, the one before it, and the line of ``bag-info.txt`` that states it.

Bags of version 1 have the digest of every result, from which links can be found by trying.
"""

# The payload.
PAYLOAD = "data/"
CRATE = "data/ro-crate-metadata.json"
OUTPUTS = "data/outputs.json"
"""The outputs to recreate (CODECHECK): path, SHA-256, size, rows, digest of the content, and how equal they must be.

Without the source files, a bag has neither digest nor size of what :func:`reident.ledger.withheld.withheld` names.
"""

INPUTS = "data/inputs.json"
"""The inputs: the path in the study file, SHA-256, size, rows, and whether they are in the bag."""

RELEASE = "data/release.json"
"""What made it: version, commit, digest of the source tree, Python and packages, digest of the lock, study digest."""

DECISION = "data/decision.json"
"""The rule of decision, the outcome of each limit, the verdict and its warnings (SATRE)."""

COST = "data/cost.json"
"""What each step took: seconds, memory and disk (DCAS rule 13)."""

STUDY = "data/study/"
"""The study file under its own name, ``study.json`` of the study and of each variant, and the code files it names."""

RESOLVED = "data/study/study.json"
"""The study with every default."""

CODE = "data/code/"
"""The sources of the workflow and the library, the lock and the documents, as in a checkout."""

LEDGER = "data/ledger/"
"""Every entry of the ledger under its path in ``results/{study}/``."""

TABLES = "data/tables/"
"""Every table that holds no data but labels of the report, under its path in ``results/{study}/``."""

REPORT = "data/report/"
"""The report: HTML and PDF."""

SOURCES = "data/inputs/"
"""With ``seal: {inputs: include}``, the inputs: ``{sha256}`` with the suffix of the file."""

NONCE = "data/nonce.txt"
"""With the inputs, a secret random number: no guess of them can be tried on the bag's digest, which is published."""


def is_file(path: Path) -> bool:
    """Return whether a path that a user names is that of a file: no name that a file system refuses, and no pipe."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def order(path: str) -> tuple[int, str]:
    """Return the sort key of the files of a bag: the payload, the tag files, and the signatures in order of time."""
    if path.startswith(SIGNATURES):
        return 2, ""
    return int(not path.startswith(PAYLOAD)), path


def digest(tag_manifest: bytes) -> str:
    """Return the digest of a bag, which names it after its study: 16 digits of the SHA-512 of its tag manifest."""
    return hashlib.sha512(tag_manifest).hexdigest()[:16]
