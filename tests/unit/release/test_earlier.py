"""Earlier editions that are damaged or not of one kind are refused (METHODS §11)."""

import zipfile

import pytest
from making.editions import CENSUS, drawn, written
from reident.errors import InputError
from reident.release import earlier

SIZES = {"s1": 60, "s2": 240, "s3": 35}


def replaced(name, old, new):
    def damage(folder):
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return damage


DAMAGES = {
    "no table": (lambda folder: (folder / "file.csv").unlink(), "`file.csv` is missing"),
    "no record": (lambda folder: (folder / "release.json").unlink(), "`release.json` is missing"),
    "no JSON": (lambda folder: (folder / "release.json").write_text("{"), "must be in the record"),
    "no policy": (replaced("release.json", "policy", "polity"), "`policy`"),
    "no column": (replaced("attack.csv", "n_single,", "n_sngl,"), "`n_single` must be there once"),
    "a column twice": (replaced("attack.csv", "n_single,", "n_links,"), "`n_links` must be there once"),
    "a field too many": (replaced("attack.csv", "taxicab,s1,5,", "taxicab,s1,5,1,"), "fields"),
    "no number": (replaced("attack.csv", "taxicab,s1,5,", "taxicab,s1,five,"), "`rank_limit` must be a whole"),
    "no CSV": (replaced("attack.csv", "released,,", 'released,"",x"",'), "attack.csv"),
    "no text": (lambda folder: (folder / "file.csv").write_bytes(b"\xff\xfe\xff"), "not UTF-8"),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_a_damaged_edition_is_refused_in_one_sentence(tmp_path, case):
    damage, words = DAMAGES[case]
    folder = written(tmp_path / "releasable", drawn(SIZES), CENSUS)
    damage(folder)
    with pytest.raises(InputError, match=words):
        earlier.read(folder)


def test_a_text_that_is_no_count_is_refused(tmp_path):
    counts = drawn({"s1": 60})
    folder = written(tmp_path / "releasable", counts, CENSUS)
    replaced("attack.csv", ",60,", ",sixty,")(folder)
    with pytest.raises(InputError, match="`sixty` is not a count"):
        earlier.read(folder)


def test_an_archive_must_have_one_edition(tmp_path):
    path = tmp_path / "sealed.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/readme.txt", "nothing")
    with pytest.raises(InputError, match="exactly one folder `releasable`"):
        earlier.read(path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(InputError, match="cannot be read"):
        earlier.read(path)
    with pytest.raises(InputError, match=r"`gone\.zip` is missing"):
        earlier.read(tmp_path / "gone.zip")
