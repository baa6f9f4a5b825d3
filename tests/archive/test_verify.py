"""What verification of a bag detects: changed bytes, files, manifests and documents that do not agree."""

import json

import pytest
from making import bags
from reident.archive.verify import open_bag
from reident.pipeline import release


def test_a_bag_is_unpacked_as_it_was_sealed(files, tmp_path):
    path = bags.written(tmp_path, files)
    verified = open_bag(path, tmp_path / "into")
    assert verified.folder == tmp_path / "into" / path.stem
    found = {
        file.relative_to(verified.folder).as_posix(): file for file in verified.folder.rglob("*") if file.is_file()
    }
    assert {name: file.read_bytes() for name, file in found.items()} == files
    assert {file.stat().st_mode & 0o777 for file in found.values()} == {0o600}
    assert {file.stat().st_mode & 0o777 for file in verified.folder.rglob("*") if file.is_dir()} == {0o700}
    assert (verified.study, verified.digest) == ("plain", path.stem[-16:])
    assert (verified.signed_by, verified.sign_offs) == (None, ())
    assert verified.release["version"] == "0.1.0"
    assert [warning.split(":")[0].split(",")[0] for warning in verified.warnings] == [
        "nobody signed the bag",
        "this release cannot read the study of the bag",
        "an earlier release sealed the bag",
    ]


# Bytes


def test_every_cut_is_detected(files, tmp_path):
    path = bags.written(tmp_path, files)
    sealed = path.read_bytes()
    for length in [*range(0, len(sealed), 100), len(sealed) - 1]:
        path.write_bytes(sealed[:length])
        assert "zip file" in bags.refusal(path)


# Files


def other(content):
    """Other bytes of the same size."""
    return bytes([content[0] ^ 1]) + content[1:]


@pytest.mark.parametrize("name", ["data/tables/rates.csv", "data/code/Snakefile", "data/outputs.json", "bagit.txt"])
def test_a_file_that_was_changed_removed_or_renamed_is_named(name, files, tmp_path):
    for content in (other(files[name]), files[name] + b"\n", files[name][:-1], b""):
        assert name in bags.refusal(bags.written(tmp_path, bags.with_file(files, name, content)))
    assert f"`{name}` is missing" in bags.refusal(bags.written(tmp_path, bags.with_file(files, name, None)))
    renamed = bags.changed(files, **{name: None, f"{name}.old": files[name]})
    assert f"`{name}` is missing" in bags.refusal(bags.written(tmp_path, renamed))


@pytest.mark.parametrize(
    "name",
    [
        "data/code/setup.py", "data/notes.txt", "extra.txt", "signatures/notes.txt", "signatures/seal.sig.old",
        "data/signatures/seal.sig", "fetch.txt", "manifest-md5.txt", "data/inputs/0.csv",
    ],
)  # fmt: skip
def test_a_file_that_is_in_no_manifest_is_named(name, files, tmp_path):
    path = bags.written(tmp_path, bags.with_file(files, name, b"more"))
    assert f"`{name}` is not in a manifest" in bags.refusal(path)


MANIFEST, TAGS = "manifest-sha512.txt", "tagmanifest-sha512.txt"


def retagged(files, **changes):
    """Files of a bag with others in place of some, and a tag manifest that fits them."""
    files = bags.changed(files, **changes)
    tags = {name: files[name] for name in ("bagit.txt", "bag-info.txt", MANIFEST) if name in files}
    return {**files, TAGS: bags.manifest(tags)}


MANIFESTS = {
    "no manifest": (MANIFEST, lambda _: None, "`manifest-sha512.txt` is missing"),
    "empty": (MANIFEST, lambda _: b"", "is not in a manifest"),
    "no line end": (MANIFEST, lambda text: text[:-1], "must end with a line end"),
    "carriage returns": (MANIFEST, lambda text: text.replace(b"\n", b"\r\n"), "is missing"),
    "a file twice": (MANIFEST, lambda text: text + text.splitlines(True)[0], "must be the digest and the path"),
    "upper case": (MANIFEST, lambda text: text[:128].upper() + text[128:], "must be the digest and the path"),
    "SHA-256": (MANIFEST, lambda text: text[64:], "must be the digest and the path"),
    "a path above": (MANIFEST, lambda text: text + b"0" * 128 + b"  ../a\n", "must not be about `../a`"),
    "a tag file": (MANIFEST, lambda text: text + b"0" * 128 + b"  bagit.txt\n", "must not be about `bagit.txt`"),
    "a file that is not there": (MANIFEST, lambda text: text + b"0" * 128 + b"  data/a\n", "`data/a` is missing"),
    "another size": ("bag-info.txt", lambda text: text.replace(b"Oxum: ", b"Oxum: 1"), "`Payload-Oxum`"),
    "no size": ("bag-info.txt", lambda text: text.splitlines(True)[0], "`Payload-Oxum`"),
    "two sizes": ("bag-info.txt", lambda text: text + text.splitlines(True)[1], "`Payload-Oxum`"),
    "a newer layout": ("bag-info.txt", lambda text: text.replace(b"Version: 1", b"Version: 3"), "does not know"),
    "no layout": ("bag-info.txt", lambda text: text.replace(b"Reident-", b"X-"), "does not know"),
    "another BagIt": ("bagit.txt", lambda text: text.replace(b"1.0", b"2.0"), "must declare BagIt 1.0"),
    "another encoding": ("bagit.txt", lambda text: text.replace(b"UTF-8", b"UTF-16"), "must declare BagIt 1.0"),
    "no bagit.txt": ("bagit.txt", lambda _: None, "`bagit.txt` is missing"),
}  # fmt: skip


@pytest.mark.parametrize("case", MANIFESTS)
def test_a_manifest_that_does_not_fit_is_named(case, files, tmp_path):
    name, change, sentence = MANIFESTS[case]
    assert sentence in bags.refusal(bags.written(tmp_path, retagged(files, **{name: change(files[name])})))


def test_the_name_of_the_bag_is_that_of_its_digest(files, tmp_path):
    path = bags.written(tmp_path, files)
    renamed = path.rename(tmp_path / "plain-0123456789abcdef.zip")
    assert f"must be named {path.name}" in bags.refusal(renamed)
    content = renamed.read_bytes().replace(path.stem.encode(), renamed.stem.encode())
    renamed.write_bytes(content)
    assert f"the digest of the bag is {path.stem[-16:]}, not the one in its name" in bags.refusal(renamed)
    content = content.replace(renamed.stem.encode(), f"other-{path.stem[-16:]}".encode())
    assert len(content) == renamed.stat().st_size
    renamed = renamed.rename(tmp_path / f"other-{path.stem[-16:]}.zip")
    renamed.write_bytes(content)
    assert "`data/study/study.json` is of another study" in bags.refusal(renamed)


# Documents that do not agree


def edited(files, name, change):
    """The payload of a bag with another document, with manifests that fit."""
    document = json.loads(files[name])
    change(document)
    return bags.tagged(bags.with_file(files, name, bags.text(document)))


OUTPUTS, INPUTS, RATE = "data/outputs.json", "data/inputs.json", "data/ledger/ledger/rate.json"
DOCUMENTS = {
    "an edited ledger entry": (RATE, lambda entry: entry.update(rule="bin"), "`data/ledger/ledger/rate.json` is not"),
    "an entry without results": (RATE, lambda entry: entry.pop("outputs"), "`data/ledger/ledger/rate.json` is not"),
    "an entry of the wrong kind": (RATE, lambda entry: entry.update(inputs=[]), "is not a ledger entry"),
    "another digest of a result": (
        OUTPUTS, lambda found: bags.line_of(found, "outputs", "rates.csv").update(sha256="0" * 64), "disagree about",
    ),
    "another size of a result": (
        OUTPUTS, lambda found: bags.line_of(found, "outputs", "prepared/puf.txt").update(size=1), "disagree about",
    ),
    "a result that is not listed": (OUTPUTS, lambda found: found["outputs"].pop(), "must list each result"),
    "a result listed twice": (OUTPUTS, lambda found: found["outputs"].append(found["outputs"][0]), "must list each"),
    "results in another form": (OUTPUTS, lambda found: found.update(outputs={}), "must be a list of objects"),
    "a result without a size": (OUTPUTS, lambda found: found["outputs"][0].pop("size"), "`size` in"),
    "a result of another type": (OUTPUTS, lambda found: found["outputs"][0].update(holds_data="no"), "`holds_data` in"),
    "a table that holds data": (
        OUTPUTS, lambda found: bags.line_of(found, "outputs", "rates.csv").update(holds_data=True), "holds data",
    ),
    "a table in no list": (
        OUTPUTS, lambda found: bags.line_of(found, "outputs", "rates.csv").update(bag=None), "rates.csv` is in no list",
    ),
    "a table that is not there": (
        OUTPUTS, lambda found: bags.line_of(found, "outputs", "prepared/puf.txt").update(bag="tables/x"), "is missing",
    ),
    "a table in place of another": (
        OUTPUTS, lambda found: bags.line_of(found, "outputs", "prepared/puf.txt").update(bag="tables/rates.csv"),
        "is not the file of which the bag has the SHA-256",
    ),
    "a source file that no step read": (
        INPUTS, lambda found: found["inputs"][0].update(sha256="0" * 64), "names a source file that no step",
    ),
    "source files in another form": (INPUTS, lambda found: found.pop("inputs"), "must be a list of objects"),
    "another study": ("data/study/study.json", lambda study: study.update(id="other"), "is of another study"),
    "no version": ("data/release.json", lambda found: found.pop("version"), "`version` in `data/release.json`"),
}  # fmt: skip


@pytest.mark.parametrize("case", DOCUMENTS)
def test_a_document_that_does_not_agree_is_named(case, payload, tmp_path):
    name, change, sentence = DOCUMENTS[case]
    assert sentence in bags.refusal(bags.written(tmp_path, edited(payload, name, change)))


@pytest.mark.parametrize("name", ["data/outputs.json", "data/cost.json", "data/ro-crate-metadata.json", RATE])
def test_a_document_must_be_json(name, payload, tmp_path):
    for content in (b"", b"[]", b"{", b"\xff", b'{"a":' * 3000, b"null"):
        bag = bags.tagged(bags.with_file(payload, name, content))
        assert f"`{name}` is not a JSON object" in bags.refusal(bags.written(tmp_path, bag))
    assert (
        "is missing" in bags.refusal(bags.written(tmp_path, bags.tagged(bags.with_file(payload, name, None))))
        or name == RATE
    )


def test_a_ledger_that_does_not_close_is_named(payload, tmp_path):
    """Every entry has the digest of its fields, but a step read what no other wrote."""
    entry = json.loads(payload["data/ledger/ledger/prepare.json"])
    entry["outputs"]["to"]["sha256"] = "0" * 64
    outputs = json.loads(payload[OUTPUTS])
    bags.line_of(outputs, "outputs", "prepared/puf.txt")["sha256"] = "0" * 64
    bag = bags.changed(payload, **{"data/ledger/ledger/prepare.json": bags.entry(entry), OUTPUTS: bags.text(outputs)})
    assert f"`{RATE}` is about a step that read" in bags.refusal(bags.written(tmp_path, bags.tagged(bag)))


def test_a_newer_release_is_named(payload, tmp_path):
    found = json.loads(payload["data/release.json"])
    for version, warned in (("99.0.0", True), (release.version(), False), ("0.0.9", False), (None, False)):
        bag = bags.tagged(bags.with_file(payload, "data/release.json", bags.text({**found, "version": version})))
        warnings = open_bag(bags.written(tmp_path, bag), tmp_path / "into").warnings
        assert any("a newer release" in warning for warning in warnings) == warned
