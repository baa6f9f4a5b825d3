"""What signatures of a bag show, and sign-offs that are about something else."""

import json
import os

import pytest
from making import bags
from reident.archive import seal, verify
from reident.archive.verify import open_bag, run
from reident.errors import InputError

OUTPUTS, RATE = "data/outputs.json", "data/ledger/ledger/rate.json"


def test_a_bag_rewritten_as_a_whole_is_caught_by_its_signature(payload, files, keys, tmp_path):
    """The ledger, the documents, the manifests and the name fit a forged table, and the signature is the old one."""
    forged = b"metric,confirmed_rate\ntaxicab,0.0\n"
    entry = json.loads(payload[RATE])
    line = {"path": "rates.csv", "sha256": bags.sha256(forged), "size": len(forged)}
    entry["outputs"]["to"] = line
    report = json.loads(payload["data/ledger/ledger/report.json"])
    report["inputs"]["rates"] = [line]
    outputs = json.loads(payload[OUTPUTS])
    bags.line_of(outputs, "outputs", "rates.csv").update(line)
    rewritten = bags.tagged(
        bags.changed(
            payload,
            **{
                "data/tables/rates.csv": forged, RATE: bags.entry(entry), OUTPUTS: bags.text(outputs),
                "data/ledger/ledger/report.json": bags.entry(report),
            },
        )
    )  # fmt: skip
    assert run(bags.written(tmp_path / "unsigned", rewritten))
    signature = bags.sealed(files, keys["agency"])["signatures/seal.sig"]
    path = bags.written(tmp_path, bags.with_file(rewritten, "signatures/seal.sig", signature))
    for signers in (None, bags.allowed(tmp_path, keys["agency"])):
        assert "`signatures/seal.sig` is not a valid signature" in bags.refusal(path, signers)
    stranger = bags.written(tmp_path, bags.sealed(rewritten, keys["stranger"]))
    assert "does not allow" in bags.refusal(stranger, bags.allowed(tmp_path, keys["agency"]))
    removed = bags.written(tmp_path, rewritten)
    assert "nobody signed the bag" in bags.refusal(removed, bags.allowed(tmp_path, keys["agency"]))


@pytest.mark.parametrize(
    "options",
    [
        'namespaces="git" ', 'valid-before="20200101" ', 'valid-after="29990101" ',
        'valid-after="20000101",valid-before="20200101" ', "cert-authority ",
    ],
)  # fmt: skip
def test_a_signer_for_another_purpose_or_time_is_unknown(options, files, keys, tmp_path):
    path = bags.written(tmp_path, bags.sealed(files, keys["agency"]))
    assert "does not allow" in bags.refusal(path, bags.allowed(tmp_path, keys["agency"], options=options))


def test_a_sign_off_is_bound_to_bag_report_and_key(files, keys, tmp_path):
    board, stranger = keys["board"], keys["stranger"]
    signed = bags.signed_off(files, board)
    name = f"signatures/{bags.key_id(board)}"
    cases = {
        "is about another bag": bags.signed_off(files, board, tag_manifest="0" * 128),
        "or another report": bags.signed_off(files, board, report={"disclosure-review.html": "0" * 64}),
        "must have the name of the key": bags.signed_off(files, board, name="0" * 16),
        "is not a complete sign-off": bags.signed_off(files, board, decision="perhaps"),
        "is not a JSON object": bags.with_file(signed, f"{name}.json", b"[]"),
        "is not a valid signature": bags.with_file(signed, f"{name}.json", signed[f"{name}.json"] + b"\n"),
        f"`{name}.json` must have both": bags.with_file(signed, f"{name}.sig", None),
        f"`{name}.sig` must have both": bags.with_file(signed, f"{name}.json", None),
    }
    cases["is not a JSON object"] |= {f"{name}.sig": bags.signature(b"[]", board)}
    for sentence, bag in cases.items():
        assert sentence in bags.refusal(bags.written(tmp_path, bag))
    two = bags.written(tmp_path, bags.signed_off(signed, stranger, decision="rejected", conditions=[]))
    assert "does not allow" in bags.refusal(two, bags.allowed(tmp_path, board))
    assert len(open_bag(two, tmp_path / "into", bags.allowed(tmp_path, board, stranger)).sign_offs) == 2


def test_a_sign_off_cannot_steer_the_terminal(files, keys, tmp_path):
    signed = bags.signed_off(files, keys["board"], board="\x1b[2JBoard\u202e")
    lines = run(bags.written(tmp_path, signed))
    assert all(line.isprintable() for line in lines)


def saw(files):
    """What a sign-off has of the signatures that are there."""
    return {name: bags.sha512(content) for name, content in files.items() if name.startswith("signatures/")}


def both(files, keys):
    """A bag with the agency's signature, and a sign-off by the board that covers it."""
    sealed = bags.sealed(files, keys["agency"])
    return bags.signed_off(sealed, keys["board"], signatures=saw(sealed))


def test_a_signature_that_must_be_there_is_missed(files, keys, tmp_path):
    signed, signers = both(files, keys), bags.allowed(tmp_path, keys["agency"], keys["board"])
    path = bags.written(tmp_path, signed)
    assert verify.run(path, signers, ("agency", "board"))
    without_board = {name: content for name, content in signed.items() if bags.key_id(keys["board"]) not in name}
    cases = {
        "the agency’s signature of the seal is missing": (files, ("agency",)),
        "a sign-off by another key than that of the seal is missing": (without_board, ("board",)),
        "a sign-off that covers the agency’s": (
            bags.signed_off(bags.sealed(files, keys["agency"]), keys["board"], signatures={}), ("agency", "board"),
        ),
    }  # fmt: skip
    for sentence, (left, required) in cases.items():
        path = bags.written(tmp_path, left)
        assert verify.run(path)
        with pytest.raises(InputError, match=sentence):
            verify.run(path, None, required)


def test_the_key_of_the_seal_is_no_board(files, keys, tmp_path):
    path = bags.written(tmp_path, bags.signed_off(bags.sealed(files, keys["agency"]), keys["agency"]))
    with pytest.raises(InputError, match="by another key than that of the seal is missing"):
        verify.run(path, None, ("board",))


def test_a_signature_that_a_sign_off_covers_cannot_be_taken_away_or_replaced(files, keys, tmp_path):
    signed = both(files, keys)
    taken = bags.with_file(signed, "signatures/seal.sig", None)
    replaced = {**taken, **bags.sealed(taken, keys["stranger"])}
    for left in (taken, replaced):
        assert "a signature that" in bags.refusal(bags.written(tmp_path, left))
    third = bags.signed_off(signed, keys["stranger"], signatures=saw(signed))
    without_second = {name: content for name, content in third.items() if bags.key_id(keys["board"]) not in name}
    assert "a signature that" in bags.refusal(bags.written(tmp_path, without_second))


def test_a_sign_off_of_an_earlier_release_covers_no_signature(files, keys, tmp_path):
    signed = bags.signed_off(bags.sealed(files, keys["agency"]), keys["board"])
    assert verify.run(bags.written(tmp_path, signed), None, ("agency", "board"))


@pytest.mark.parametrize("wrong", [[], "seal", {"signatures/seal.sig": "0" * 128}, {"signatures/other.sig": ""}])
def test_signatures_in_another_form_are_not_those_that_are_there(wrong, files, keys, tmp_path):
    signed = bags.signed_off(bags.sealed(files, keys["agency"]), keys["board"], signatures=wrong)
    assert "a signature that" in bags.refusal(bags.written(tmp_path, signed))


def test_signing_covers_what_is_there(files, keys, tmp_path):
    path = bags.written(tmp_path, bags.sealed(files, keys["agency"]))
    (tmp_path / "signoff.yaml").write_bytes(bags.text(bags.DECISION))
    seal.sign(path, tmp_path / "signoff.yaml", keys["board"])
    verified, found = verify.read(path)
    (sign_off,) = verified.sign_offs
    assert sign_off.content["signatures"] == {"signatures/seal.sig": found["signatures/seal.sig"].sha512}
    assert verify.run(path, None, ("agency", "board"))


@pytest.mark.parametrize("name", ["a" * 300, "fifo", "", "a\0b"])
def test_what_is_no_file_is_one_sentence(name, files, keys, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    bag, other = bags.written(tmp_path, files), tmp_path / name
    (tmp_path / "signoff.yaml").write_bytes(bags.text(bags.DECISION))
    for command in (
        lambda: verify.run(other),
        lambda: verify.run(bags.written(tmp_path, bags.sealed(files, keys["agency"])), other),
        lambda: seal.sign(bag, other, keys["board"]),
        lambda: seal.sign(bag, tmp_path / "signoff.yaml", other),
        lambda: seal.sign(other, tmp_path / "signoff.yaml", keys["board"]),
    ):
        with pytest.raises(InputError):
            command()
