"""`reident verify` on a bag that `reident seal` made, elsewhere."""

import random
import shutil

import pytest
from making import bags
from reident.archive.unpack import unpack
from reident.errors import InputError
from workflow.commands import reident

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs OpenSSH")]


@pytest.fixture(scope="module")
def sealed(finished, tmp_path_factory):
    """The bag of the small study, signed and signed off, in a folder of its own, with the keys."""
    folder = tmp_path_factory.mktemp("sealed")
    shutil.copytree(finished.folder, folder / "work", symlinks=True)
    study, keys = folder / "work/in/small.yaml", [bags.key(folder, name) for name in ("agency", "board")]
    with study.open("a", encoding="utf-8") as file:
        file.write(f"seal:\n  sign_with: {keys[0]}\n")
    ended = reident("seal", "../in/small.yaml", folder=folder / "work/run")
    assert ended.code == 0, ended.shown
    (bag,) = (folder / "work/run/reports/small/sealed").glob("*.zip")
    decision = folder / "signoff.yaml"
    decision.write_bytes(bags.text(bags.DECISION))
    ended = reident("sign", bag, decision, "--key", keys[1], folder=folder / "work/run")
    assert ended.code == 0, ended.shown
    (folder / "elsewhere").mkdir()
    return bag.rename(folder / "elsewhere" / bag.name), bags.allowed(folder, *keys)


def test_a_sealed_study_is_verified_elsewhere(sealed, tmp_path):
    bag, signers = sealed
    ended = reident("verify", bag, "--signers", signers, folder=tmp_path)
    assert ended.code == 0, ended.shown
    for line in ("Study: small, made with reident", f"Digest: {bag.stem[-16:]}.", "Sealed by agency (SHA256:"):
        assert line in ended.shown
    assert "Disclosure Review Board decided on 2026-03-01: approved with conditions." in ended.shown
    assert "Warning" not in ended.shown
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_bag_fails_in_one_sentence(sealed, tmp_path):
    bag, _ = sealed
    damaged = tmp_path / bag.name
    content = bytearray(bag.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    ended = reident("verify", damaged, folder=tmp_path)
    assert ended.code == 1
    assert len(ended.errors) == 1, ended.shown
    assert "Traceback" not in ended.shown


@pytest.mark.long  # every bit of a small bag: tests/archive/test_unpack.py
def test_changed_bytes_of_a_real_bag_are_detected(sealed, tmp_path):
    """All headers, and a sample of the rest, which is larger than 20 kB."""
    bag, _ = sealed
    content, path = bag.read_bytes(), tmp_path / bag.name
    draw = random.Random(3)  # noqa: S311 - any bytes
    table = content.rindex(b"PK\5\6")
    for at in sorted({*draw.sample(range(len(content)), 150), *range(table - 100, len(content))}):
        changed = bytearray(content)
        changed[at] ^= draw.randrange(1, 256)
        path.write_bytes(changed)
        with pytest.raises(InputError):
            unpack(path)
