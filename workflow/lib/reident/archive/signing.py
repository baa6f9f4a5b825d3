"""Signatures by ``ssh-keygen``: offline, without a prompt, with keys that people already have (METHODS §10)."""

from __future__ import annotations

import base64
import binascii
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
"""What is wrong with a key, and what to do, by what ``ssh-keygen`` says."""


class Signer(NamedTuple):
    """Who signed.

    Attributes
    ----------
    key : str
        The first 16 hexadecimal digits of the SHA-256 of the public key.
    fingerprint : str
        The same SHA-256 as OpenSSH shows it.
    principal : str or None
        Who holds the key, by the file of signers; None if no such file was given.
    """

    key: str
    fingerprint: str
    principal: str | None


def sign(data: bytes, key: Path) -> bytes:
    """Return the signature of some bytes.

    Parameters
    ----------
    data : bytes
    key : pathlib.Path
        A private key, or the public key of one that the agent holds.

    Raises
    ------
    InputError
        If the key cannot be used without a question, or ``ssh-keygen`` is not installed.
    """
    if not key.is_file():
        raise InputError(f"{key}: the key does not exist. Correct the path.")
    ended = _run(data, "sign", "-f", str(key))
    if ended.returncode == 0 and ended.stdout.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        return ended.stdout
    said = ended.stderr.decode(errors="replace").lower()
    known = next((reason for word, reason in _REASONS.items() if word in said), None)
    problem = (
        known
        or "is not a key that `ssh-keygen` can sign with. Name a private key, or one that the agent holds"
    )
    raise InputError(f"{key}: the key {problem}, and run the same command again.")


def verify(data: bytes, signature: bytes, signers: Path | None = None) -> Signer:
    """Return who signed some bytes.

    Parameters
    ----------
    data, signature : bytes
    signers : pathlib.Path or None
        A file of allowed signers, see ``man ssh-keygen``. Without it a signature by any key is valid.

    Raises
    ------
    ValueError
        If the signature is not valid, or is not by one of the signers; the text has no subject.
    InputError
        If ``ssh-keygen`` is not installed, or the file of signers is not there.
    """
    key, shown = hashlib.sha256(_public_key(signature)).hexdigest()[:16], fingerprint(signature)
    if signers is not None and not signers.is_file():
        raise InputError(f"{signers}: the file of signers does not exist. Correct the path.")
    with tempfile.NamedTemporaryFile(suffix=".sig") as file:
        file.write(signature)
        file.flush()
        if _run(data, "check-novalidate", "-s", file.name).returncode != 0:
            raise ValueError("is not a valid signature. What was signed has changed, or the signature has.")
        principal = None if signers is None else _principal(data, file.name, signers, shown)
    return Signer(key, shown, principal)


def fingerprint(signature: bytes) -> str:
    """Return the key of a signature as OpenSSH shows it, whether the signature is valid or not.

    Raises
    ------
    ValueError
        If it is not a signature.
    """
    digest = hashlib.sha256(_public_key(signature)).digest()
    return f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"


def _principal(data: bytes, signature: str, signers: Path, shown: str) -> str:
    """Return who holds the key of a valid signature."""
    listed = _run(b"", "find-principals", "-s", signature, "-f", str(signers), namespace=False)
    for principal in listed.stdout.decode(errors="replace").splitlines():
        if _run(data, "verify", "-s", signature, "-f", str(signers), "-I", principal).returncode == 0:
            return principal
    raise ValueError(
        f"is by the key {shown}, which {signers} does not allow. Ask the agency for the key of the signer."
    )


def _public_key(signature: bytes) -> bytes:
    """Return the public key that a signature carries (PROTOCOL.sshsig of OpenSSH)."""
    try:
        first, *lines, last = signature.decode("ascii").strip().split("\n")
        blob = base64.b64decode("".join(lines), validate=True)
        length = struct.unpack(">I", blob[10:14])[0]
    except (ValueError, binascii.Error, struct.error):
        raise ValueError(_NOT_ARMOURED) from None
    framed = (first, last) == ("-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----")
    if not framed or blob[:10] != b"SSHSIG\0\0\0\1" or len(blob) < 14 + length:
        raise ValueError(_NOT_ARMOURED)
    return blob[14 : 14 + length]


_NOT_ARMOURED = "is not a signature of `ssh-keygen`. Get the file again from who signed it."


def _run(
    data: bytes, command: str, *options: str, namespace: bool = True
) -> subprocess.CompletedProcess[bytes]:
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
        raise InputError(
            f"`ssh-keygen` did not answer within {LIMIT} seconds. Confirm the use of the key, and run the same command "
            "again."
        ) from None
