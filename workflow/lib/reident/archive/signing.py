"""Signatures by ``ssh-keygen``: offline, without a prompt, with keys that people already have (METHODS §10)."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from reident.archive import layout
from reident.errors import InputError

LIMIT = 120
"""Seconds for one signature: some keys wait for the touch of a finger."""

_KEPT = ("HOME", "PATH", "SSH_AUTH_SOCK", "SSH_SK_PROVIDER")
_REASONS = {
    "passphrase": "has a passphrase. Add the key to the agent with `ssh-add`",
    "permissions": "can be read by others. Close it with `chmod 600`",
    "agent refused": "was refused by the agent. Allow its use",
}
"""What is wrong with a key, and what to do, by what ``ssh-keygen`` says; and where it says something else."""

_UNUSABLE = "is not a key that `ssh-keygen` can sign with. Name a private key, or one that the agent holds"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"


class Signer(NamedTuple):
    """Who signed."""

    key: str  # the first 16 hexadecimal digits of the SHA-256 of the public key
    fingerprint: str  # the same SHA-256 as OpenSSH shows it
    principal: str | None  # who holds the key, by the file of signers; None if no such file was given


def sign(data: bytes, key: Path) -> bytes:
    """Sign some bytes with a private key, or with the key of the agent whose public key this is.

    Raises
    ------
    InputError
        If the key cannot be used without a question, or ``ssh-keygen`` is not installed.
    """
    if not layout.is_file(key):
        raise InputError(f"{key}: the key does not exist. Correct the path.")
    ended = _run(data, "sign", "-f", str(key))
    if ended.returncode == 0 and ended.stdout.startswith(_BEGIN.encode()):
        return ended.stdout
    message = ended.stderr.decode(errors="replace").lower()
    problem = next((reason for word, reason in _REASONS.items() if word in message), _UNUSABLE)
    raise InputError(f"{key}: the key {problem}, and run the same command again.")


def verify(data: bytes, signature: bytes, signers: Path | None = None) -> Signer:
    """Return who signed some bytes: with a file of allowed signers (``man ssh-keygen``), one of them.

    Raises
    ------
    ValueError
        If the signature is not valid, or is not by one of the signers; the text has no subject.
    InputError
        If ``ssh-keygen`` is not installed, or the file of signers is not there.
    """
    key = hashlib.sha256(_public_key(signature)).hexdigest()[:16]
    if signers is not None and not layout.is_file(signers):
        raise InputError(f"{signers}: the file of signers does not exist. Correct the path.")
    with tempfile.NamedTemporaryFile(suffix=".sig") as file:
        file.write(signature)
        file.flush()
        if _run(data, "check-novalidate", "-s", file.name).returncode != 0:
            raise ValueError("is not a valid signature. What was signed has changed, or the signature has.")
        if signers is None:
            return Signer(key, fingerprint(signature), None)
        files = ("-s", file.name, "-f", str(signers))
        listed = _run(b"", "find-principals", *files, namespace=False)
        for principal in listed.stdout.decode(errors="replace").splitlines():
            if _run(data, "verify", *files, "-I", principal).returncode == 0:
                return Signer(key, fingerprint(signature), principal)
    what = f"is by the key {fingerprint(signature)}, which {signers} does not allow"
    raise ValueError(f"{what}. Ask the agency for the key of the signer.")


def fingerprint(signature: bytes) -> str:
    """Return the key of a signature as OpenSSH shows it, or raise a ValueError if it is not a signature."""
    digest = hashlib.sha256(_public_key(signature)).digest()
    return f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"


def _public_key(signature: bytes) -> bytes:
    """Return the public key that a signature carries (PROTOCOL.sshsig of OpenSSH)."""
    try:
        first, *lines, last = signature.decode("ascii").strip().split("\n")
        blob = base64.b64decode("".join(lines), validate=True)
        length = struct.unpack(">I", blob[10:14])[0]
        if (first, last) != (_BEGIN, _END) or blob[:10] != b"SSHSIG\0\0\0\1" or len(blob) < 14 + length:
            raise ValueError
    except (ValueError, struct.error):
        raise ValueError("is not a signature of `ssh-keygen`. Get the file again from who signed it.") from None
    return blob[14 : 14 + length]


def _run(data: bytes, command: str, *options: str, namespace: bool = True) -> subprocess.CompletedProcess[bytes]:
    """Run a command of ``ssh-keygen -Y`` that can ask nobody anything."""
    if (program := shutil.which("ssh-keygen")) is None:
        raise InputError("`ssh-keygen` is not installed. Install OpenSSH, and run the same command again.")
    names = ["-n", layout.NAMESPACE] if namespace else []
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    try:
        return subprocess.run(  # noqa: S603 - no shell, and the program that the user has
            [program, "-Y", command, *names, *options],
            input=data,
            capture_output=True,
            env={**environment, "LC_ALL": "C", "SSH_ASKPASS_REQUIRE": "never"},
            start_new_session=True,  # without a terminal there is nobody to ask for a passphrase
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        what = f"`ssh-keygen` did not answer within {LIMIT} seconds"
        raise InputError(f"{what}. Confirm the use of the key, and run the same command again.") from None
