"""What signatures of a bag show, and sign-offs that are about something else."""

import json

import pytest
from making import bags
from reident.archive.verify import open_bag, run

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
