"""``reident verify``: whether a bag is, byte for byte, what was sealed and signed (METHODS §10)."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from reident.archive import agreement, consistency, layout, signing
from reident.archive.unpack import Content, Unpacked, printable, quote, refusal, staging, unpack
from reident.errors import InputError
from reident.pipeline import release
from reident.sections.seal import SignOff as Decision

_DECLARATION = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
_LINE = re.compile(r"([0-9a-f]{128})  (\S.*)")
_OXUM = re.compile(r"^Payload-Oxum: (\d+\.\d+)$", re.MULTILINE | re.ASCII)
_LAYOUT = re.compile(rf"^{layout.INFO_VERSION}: (.*)$", re.MULTILINE)
_REWRITTEN = "a bag that somebody rewrote as a whole cannot be told from the one that was sealed"


_CONFIDENTIAL = (
    "an earlier release sealed the bag, with digests from which values of records and true links can be found by "
    "trying. Keep it as confidential as the source files."
)


class SignOff(NamedTuple):
    """A signed decision on a bag: the fields of a sign-off, and the value of :func:`binding` at the time."""

    signer: signing.Signer
    content: dict[str, Any]


class Verified(NamedTuple):
    """A bag that holds."""

    folder: Path  # the unpacked bag; the zip file itself where nothing was to be unpacked
    study: str  # its id
    digest: str
    documents: dict[str, dict[str, Any]]  # the JSON documents of the payload, by their paths in the bag
    signed_by: signing.Signer | None  # who signed the seal
    sign_offs: tuple[SignOff, ...]
    warnings: tuple[str, ...]  # what a reader of the bag must know, a sentence or two each

    @property
    def release(self) -> dict[str, Any]:
        """The release that made the results."""
        return self.documents[layout.RELEASE]

    @property
    def name(self) -> str:
        """The name of the bag, of its folder and, with ``.zip``, of its file."""
        return f"{self.study}-{self.digest}"


AGENCY, BOARD = "agency", "board"
ROLES = (AGENCY, BOARD)
"""Whose signatures can be required: of the seal, and of a sign-off by another key than that of the seal."""


def run(path: Path, signers: Path | None = None, required: Collection[str] = ()) -> list[str]:
    """Verify a bag as :func:`read` does, and return the lines to print.

    An absent signature of `required`, some of :data:`ROLES`, is an InputError.
    """
    verified, files = read(path, signers)
    _require(path, verified, required)
    size = sum(content.size for content in files.values())
    lines = [
        f"{path}: every byte is as its manifests say: {len(files):,} files, {size:,} bytes.",
        f"Study: {verified.study}, made with reident {verified.release['version'] or '(version unknown)'}.",
        f"Digest: {verified.digest}. Compare it with the one that the agency published.",
    ]
    if verified.signed_by is not None:
        lines.append(f"Sealed by {_name(verified.signed_by)}.")
    lines += map(_decision, verified.sign_offs)
    lines += [f"Warning: {warning}" for warning in verified.warnings]
    return [printable(line) for line in lines]


def _require(path: Path, verified: Verified, required: Collection[str]) -> None:
    """Refuse a bag without a signature that must be there: whoever passes it on can take one away."""
    seal = verified.signed_by
    if AGENCY in required and seal is None:
        raise refusal(path, "the agency’s signature of the seal is missing")
    others = [sign_off for sign_off in verified.sign_offs if seal is None or sign_off.signer.key != seal.key]
    if BOARD in required and not others:
        raise refusal(path, "a sign-off by another key than that of the seal is missing")
    seen = [sign_off.content.get(SIGNATURES, {layout.SEAL_SIGNATURE: ""}) for sign_off in others]
    if {*ROLES} <= {*required} and not any(layout.SEAL_SIGNATURE in signatures for signatures in seen):
        raise refusal(path, "a sign-off that covers the agency’s signature of the seal is missing")


def read(path: Path, signers: Path | None = None) -> tuple[Verified, dict[str, Content]]:
    """Verify the zip file of a bag without unpacking it; return also its files by their paths.

    With a file of allowed signers (``man ssh-keygen``), the seal and each sign-off must be by one of them.

    Raises
    ------
    InputError
        If anything does not hold.
    """
    unpacked = unpack(path)
    return _verify(path, unpacked, signers), unpacked.files


def open_bag(path: Path, into: Path, signers: Path | None = None) -> Verified:
    """Unpack a bag and verify it as :func:`read` does; nothing of a bag that does not hold is left.

    The folder `into` is for unpacked bags alone, and is made; a folder in it with the name of the bag is replaced.
    """
    with staging(into) as folder:
        unpacked = unpack(path, folder)
        verified = _verify(path, unpacked, signers)
        target = into / unpacked.top
        if target.exists():
            shutil.rmtree(target)
        (folder / unpacked.top).rename(target)
    return verified._replace(folder=target)


def _verify(path: Path, unpacked: Unpacked, signers: Path | None) -> Verified:
    """See that the files of a bag are those that were sealed, that their signatures hold, and that they agree."""
    top, files = unpacked.top, unpacked.files
    for name in (layout.TAG_MANIFEST, layout.PAYLOAD_MANIFEST, layout.DECLARATION, layout.INFO):
        if name not in files:
            raise refusal(path, f"{quote(name)} is missing")
    study, digest = top.rpartition("-")[0], layout.digest(files[layout.TAG_MANIFEST].text)
    if top != f"{study}-{digest}":
        raise refusal(path, f"the digest of the bag is {digest}, not the one in its name")
    if path.name != f"{top}.zip":
        raise InputError(
            f"{path}: the file of this bag must be named {top}.zip. If that is the digest that the agency published, "
            "rename the file; otherwise do not use it."
        )
    if files[layout.DECLARATION].text != _DECLARATION:
        raise refusal(path, f"{quote(layout.DECLARATION)} must declare BagIt 1.0 in UTF-8")
    _check_files(path, files)
    signed_by, sign_offs, warnings = _check_signatures(path, files, signers)
    documents = consistency.check(path, study, files)
    warnings += agreement.check(path, files, documents)
    if _layout(files) == [layout.WITH_DIGESTS]:
        warnings.append(_CONFIDENTIAL)
    version = documents[layout.RELEASE]["version"]
    if _numbers(version) > _numbers(release.version()):
        warnings.append(f"the bag was sealed by reident {version}, a newer release than the one that verifies it.")
    return Verified(path, study, digest, documents, signed_by, sign_offs, tuple(warnings))


def _numbers(version: str | None) -> list[int]:
    """Return the numbers of a version, which tell the later of two."""
    return [int(number) for number in re.findall(r"\d{1,9}", version or "")]


def _check_files(path: Path, files: dict[str, Content]) -> None:
    """See that each file is in a manifest, and as the manifest says."""
    tags = _check_manifest(path, files, layout.TAG_MANIFEST)
    for name in (layout.DECLARATION, layout.INFO, layout.PAYLOAD_MANIFEST):
        if name not in tags:
            raise refusal(path, f"{quote(name)} is not in {quote(layout.TAG_MANIFEST)}")
    info = files[layout.INFO].text.decode(errors="replace")
    if _layout(files) not in ([layout.VERSION], [layout.WITH_DIGESTS]):
        raise InputError(
            f"{path}: the bag has a layout that this release of reident does not know. Verify it with the release that "
            "sealed it, or a later one."
        )
    payload = _check_manifest(path, files, layout.PAYLOAD_MANIFEST)
    for name in files:
        listed = payload if name.startswith(layout.PAYLOAD) else tags
        if name not in listed and name != layout.TAG_MANIFEST and not layout.SIGNED_FILES.fullmatch(name):
            raise refusal(path, f"{quote(name)} is not in a manifest")
    sizes = [content.size for name, content in files.items() if name.startswith(layout.PAYLOAD)]
    if _OXUM.findall(info) != [f"{sum(sizes)}.{len(sizes)}"]:
        raise refusal(path, f"`Payload-Oxum` in {quote(layout.INFO)} is not the size and number of the files")


def _layout(files: dict[str, Content]) -> list[str]:
    """Return the version of the layout, if the bag states one and no other."""
    return _LAYOUT.findall(files[layout.INFO].text.decode(errors="replace"))


def _check_manifest(path: Path, files: dict[str, Content], name: str) -> set[str]:
    """See that the files of a manifest are as it says; return their paths."""
    listed: set[str] = set()
    lines = files[name].text.decode(errors="replace").split("\n")
    if lines.pop():
        raise refusal(path, f"{quote(name)} must end with a line end")
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        where = f"line {number} of {quote(name)}"
        if match is None or match[2] in listed:
            raise refusal(path, f"{where} must be the digest and the path of another file")
        sha512, file = match.groups()
        if file.startswith(layout.PAYLOAD) != (name == layout.PAYLOAD_MANIFEST):
            raise refusal(path, f"{where} must not be about {quote(file)}")
        if file not in files:
            raise refusal(path, f"{quote(file)} is missing")
        if files[file].sha512 != sha512:
            raise refusal(path, f"{quote(file)} is not what was sealed")
        listed.add(file)
    return listed


def _check_signatures(
    path: Path, files: dict[str, Content], signers: Path | None
) -> tuple[signing.Signer | None, tuple[SignOff, ...], list[str]]:
    """See that the seal and the sign-offs are signed, by the signers if these are known."""
    names = {name for name in files if layout.SIGNED_FILES.fullmatch(name)}
    signed_by, warnings = None, []
    if layout.SEAL_SIGNATURE in names:
        signed_by = _signer(path, files, layout.TAG_MANIFEST, layout.SEAL_SIGNATURE, signers)
    sign_offs = []
    for name in sorted(names - {layout.SEAL_SIGNATURE}):
        pair = [name.rpartition(".")[0] + ending for ending in (".json", ".sig")]
        if not names.issuperset(pair):
            raise refusal(path, f"{quote(name)} must have both the decision and its signature")
        if name == pair[0]:
            signer = _signer(path, files, name, pair[1], signers)
            sign_offs.append(SignOff(signer, _sign_off(path, files, name)))
            if not name.endswith(f"/{signer.key}.json"):
                raise refusal(path, f"{quote(name)} must have the name of the key that signed it")
    if not names:
        if signers is not None:
            raise refusal(path, "nobody signed the bag")
        warnings.append(
            f"nobody signed the bag: {_REWRITTEN}. Compare its digest with the one that the agency published."
        )
    elif signers is None:
        warnings.append(
            "whether the signers are who they say is not known. Name a file of allowed signers with `--signers FILE`."
        )
    return signed_by, tuple(sign_offs), warnings


def _signer(path: Path, files: dict[str, Content], name: str, signature: str, signers: Path | None) -> signing.Signer:
    """Return who signed a file of the bag."""
    try:
        return signing.verify(files[name].text, files[signature].text, signers)
    except ValueError as error:
        raise InputError(f"{path}: {quote(signature)} {error}") from None


def _sign_off(path: Path, files: dict[str, Content], name: str) -> dict[str, Any]:
    """Return the content of a sign-off, which is about this bag and this report."""
    content, bound = consistency.read(path, files, name), binding(files)
    signatures, saw = bound.pop(SIGNATURES), content.get(SIGNATURES, {})  # not recorded by earlier releases
    if {key: content.get(key) for key in bound} != bound:
        raise refusal(path, f"{quote(name)} is about another bag, or another report")
    if not isinstance(saw, dict) or not saw.items() <= signatures.items():
        raise refusal(path, f"a signature that {quote(name)} covers is missing, or another one")
    try:
        Decision.model_validate({key: value for key, value in content.items() if key not in {*bound, SIGNATURES}})
    except ValidationError:
        raise refusal(path, f"{quote(name)} is not a complete sign-off") from None
    return content


SIGNATURES = "signatures"
"""What of a sign-off has the SHA-512 of each file of signatures that its signer saw, by name."""


def binding(files: dict[str, Content]) -> dict[str, Any]:
    """Return the digests that bind a sign-off to a bag: of its tag manifest, its report, and its signatures so far."""
    report = {
        name.removeprefix(layout.REPORT): file.sha256 for name, file in files.items() if name.startswith(layout.REPORT)
    }
    signatures = {name: file.sha512 for name, file in files.items() if layout.SIGNED_FILES.fullmatch(name)}
    return {"tag_manifest": files[layout.TAG_MANIFEST].sha512, "report": report, SIGNATURES: signatures}


def _name(signer: signing.Signer) -> str:
    """Return who signed, as far as it is known."""
    key = signer.fingerprint
    return f"{signer.principal} ({key})" if signer.principal else f"the key {key}"


def _decision(sign_off: SignOff) -> str:
    """Return the decision in a line."""
    content = sign_off.content
    names = ", ".join(f"{person['name']} ({person['role']})" for person in content["names"])
    conditions = "".join(f" Condition: {condition.rstrip('.')}." for condition in content["conditions"])
    decided = f"{content['board']} decided on {content['date']}: {content['decision']}."
    return f"{decided}{conditions} Named: {names}. Signed by {_name(sign_off.signer)}."
