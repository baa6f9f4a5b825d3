"""Small bags by a writer apart from the library: an oracle of their layout, and a start for damaged ones."""

import hashlib
import json
import subprocess
import zipfile
from base64 import b64decode
from pathlib import Path

import pytest
from making.workshop import Workshop
from reident import ledger
from reident.archive.verify import open_bag, run
from reident.errors import InputError

STUDY = "plain"
OUTPUT = ("path", "sha256", "size", "rows")
DECISION = {
    "board": "Disclosure Review Board",
    "decision": "approved with conditions",
    "conditions": ["Withhold stratum s0003"],
    "names": [{"name": "A. Chair", "role": "chair"}],
    "date": "2026-03-01",
}


def payload(folder: Path, include: bool = False) -> dict[str, bytes]:
    """The payload of a bag, from a ledger that steps wrote in `folder`."""
    shop = Workshop(folder)
    shop.copy("prepare", shop.sources["puf"], "prepared/puf.txt", **shop.sources)
    shop.copy("rate", shop.root / "prepared/puf.txt", "rates.csv")
    with ledger.step(shop.job("resolve", {}, {"study": "study.json"})) as step:
        step.write("study", json.dumps({"id": STUDY}))
    report = {ending: folder / f"reports/{STUDY}/disclosure-review.{ending}" for ending in ("html", "pdf")}
    with ledger.step(shop.job("report", {"rates": shop.root / "rates.csv"}, report)) as step:
        for ending in report:
            step.write(ending, f"the report as {ending}\n" * 20)
    entries = {path.name: path.read_bytes() for path in sorted((shop.root / "ledger").glob("*.json"))}
    lines = [line for entry in entries.values() for line in json.loads(entry)["outputs"].values()]
    kept = {
        "rates.csv": "tables/rates.csv",
        "study.json": "study/study.json",
        **{f"reports/{path.name}": f"report/{path.name}" for path in report.values()},
    }
    sources = {path: path.read_bytes() for path in shop.sources.values()}
    inputs = [
        {
            "path": str(path.relative_to(folder)), "sha256": sha256(content), "size": len(content), "rows": None,
            "bag": f"inputs/{sha256(content)}.csv" if include else None,
        }
        for path, content in sources.items()
    ]  # fmt: skip
    outputs = [
        {
            **{field: line.get(field) for field in OUTPUT}, "content": None, "bag": kept.get(line["path"]),
            "holds_data": line["path"].startswith("prepared/"), "equal": "bytes",
        }
        for line in sorted(lines, key=lambda line: line["path"])
    ]  # fmt: skip
    release = {"version": "0.1.0", "commit": None, "tree": "0" * 64, "lock": None, "versions": {}}
    return {
        "data/code/Snakefile": b"# the code\n",
        **{f"data/ledger/ledger/{name}": content for name, content in entries.items()},
        **{f"data/report/{path.name}": path.read_bytes() for path in report.values()},
        "data/study/study.yaml": shop.file.read_bytes(),
        "data/study/study.json": (shop.root / "study.json").read_bytes(),
        "data/tables/rates.csv": (shop.root / "rates.csv").read_bytes(),
        "data/outputs.json": text({"outputs": outputs}),
        "data/inputs.json": text({"study": shop.file.name, "inputs": inputs, "files": []}),
        "data/release.json": text(release),
        "data/decision.json": text({}),
        "data/cost.json": text({}),
        "data/ro-crate-metadata.json": text({}),
        **{f"data/inputs/{sha256(content)}.csv": content for content in sources.values() if include},
    }


def tagged(files: dict[str, bytes], version: str = "1") -> dict[str, bytes]:
    """The files of a bag with its manifests, made anew."""
    data = {name: content for name, content in sorted(files.items()) if name.startswith("data/")}
    size = sum(map(len, data.values()))
    tags = {
        "bagit.txt": b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
        "bag-info.txt": f"Reident-Bag-Version: {version}\nPayload-Oxum: {size}.{len(data)}\n".encode(),
        "manifest-sha512.txt": manifest(data),
    }
    return {**files, **tags, "tagmanifest-sha512.txt": manifest(tags)}


def manifest(files: dict[str, bytes]) -> bytes:
    """The manifest of some files."""
    return "".join(f"{sha512(content)}  {name}\n" for name, content in sorted(files.items())).encode()


def written(folder: Path, files: dict[str, bytes], study: str = STUDY) -> Path:
    """A zip file with files as they are, under the name that its tag manifest gives it."""
    name = f"{study}-{sha512(files['tagmanifest-sha512.txt'])[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.zip"
    path.write_bytes(b"")
    with zipfile.ZipFile(path, "w") as archive:
        for file, content in sorted(files.items(), key=place):
            archive.writestr(header(f"{name}/{file}", zipfile.ZIP_STORED), content)
    return path


def place(item: tuple[str, bytes]) -> tuple[bool, bool, str]:
    """Sort the payload before the tag files, and these before the signatures."""
    return not item[0].startswith("data/"), item[0].startswith("signatures/"), item[0]


def header(name: str, method: int = zipfile.ZIP_DEFLATED, mode: int = 0o100600) -> zipfile.ZipInfo:
    """The header of a file in a bag."""
    made = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    made.create_system, made.external_attr, made.compress_type = 3, mode << 16, method
    return made


def key(folder: Path, name: str) -> Path:
    """A new key without a passphrase."""
    path = folder / name
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)]
    subprocess.run(command, check=True)
    return path


def allowed(folder: Path, *keys: Path, options: str = "") -> Path:
    """A file of allowed signers, each known by the name of its key."""
    path = folder / "signers"
    lines = [f"{key.name} {options}{key.with_suffix('.pub').read_text(encoding='utf-8')}" for key in keys]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def signature(data: bytes, key: Path, namespace: str = "reident-seal") -> bytes:
    """The signature of some bytes."""
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", str(key)]
    return subprocess.run(command, input=data, check=True, capture_output=True).stdout


def sealed(files: dict[str, bytes], key: Path, namespace: str = "reident-seal") -> dict[str, bytes]:
    """The files of a bag with the signature of its seal."""
    return {**files, "signatures/seal.sig": signature(files["tagmanifest-sha512.txt"], key, namespace)}


def signed_off(files: dict[str, bytes], key: Path, name: str | None = None, **changes) -> dict[str, bytes]:
    """The files of a bag with a sign-off."""
    report = {
        file.removeprefix("data/report/"): sha256(content)
        for file, content in files.items()
        if file.startswith("data/report/")
    }
    content = {**DECISION, "report": report, "tag_manifest": sha512(files["tagmanifest-sha512.txt"]), **changes}
    decision = text(content)
    name = f"signatures/{name or key_id(key)}"
    return {**files, f"{name}.json": decision, f"{name}.sig": signature(decision, key)}


def key_id(key: Path) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of a public key."""
    listed = subprocess.run(
        ["ssh-keygen", "-l", "-E", "sha256", "-f", str(key)], check=True, capture_output=True, encoding="ascii"
    )
    digest = listed.stdout.split()[1].removeprefix("SHA256:")
    return b64decode(digest + "=").hex()[:16]


def entry(fields: dict) -> bytes:
    """A ledger entry with the digest of its other fields."""
    fields = {name: value for name, value in fields.items() if name != "sha256"}
    digest = sha256(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode())
    return text({**fields, "sha256": digest})


def text(value: object) -> bytes:
    """A value as JSON."""
    return json.dumps(value, sort_keys=True).encode()


def sha256(content: bytes) -> str:
    """The SHA-256 of some bytes."""
    return hashlib.sha256(content).hexdigest()


def sha512(content: bytes) -> str:
    """The SHA-512 of some bytes."""
    return hashlib.sha512(content).hexdigest()


def refusal(path, signers=None):
    """The sentence with which a bag is refused; nothing of it is left."""
    into = path.parent / "into"
    with pytest.raises(InputError) as error:
        open_bag(path, into, signers)
    assert list(into.iterdir()) == []
    with pytest.raises(InputError) as alone:
        run(path, signers)
    assert str(error.value) == str(alone.value)
    return str(error.value)


def changed(files, **changes):
    """Files of a bag with others in place of some; None removes one."""
    return {name: content for name, content in {**files, **changes}.items() if content is not None}


def with_file(files, name, content):
    return changed(files, **{name: content})


def line_of(document, key, path):
    return next(line for line in document[key] if line["path"] == path)
