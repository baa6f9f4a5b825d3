"""Earlier editions are read by one model: whatever is wrong with one is said in one sentence (METHODS §11.3)."""

import copy
import io
import json
import random
import re
import struct
import zipfile

import pytest
from making import edition as making
from making import studies
from making.studies import check
from reident.edition import publish
from reident.errors import InputError
from reident.sections.edition import Edition
from reident.study import editions

SENTENCE = re.compile(r"[^\n]{20,600}[.?]")


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    return json.loads(publish.text(making.kinds(tmp_path_factory.mktemp("kinds"))["records"]))


def written(folder, content):
    (folder / "releasable").mkdir(exist_ok=True)
    path = folder / "releasable" / "edition.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(path):
    with pytest.raises(InputError) as error:
        editions.read(path)
    assert SENTENCE.fullmatch(str(error.value))
    return str(error.value)


def sentence(path):
    """Return the sentence with which a file is refused; empty where it is read."""
    try:
        editions.read(path)
    except InputError as error:
        said = str(error)
    else:
        said = ""
    assert not said or SENTENCE.fullmatch(said)
    return said


def test_an_edition_is_read_from_its_file_and_from_an_archive(published, tmp_path):
    expected = Edition.model_validate(published)
    assert editions.read(written(tmp_path, json.dumps(published))) == expected
    assert editions.read(written(tmp_path, "\ufeff" + json.dumps(published))) == expected
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.writestr("bag/data/report/releasable/edition.json", json.dumps(published))
        archive.writestr("bag/data/edition/edition.json", "not this one")
    assert editions.read(tmp_path / "e.zip") == expected


DAMAGED = {
    "empty": "",
    "no object": "[]",
    "cut off": '{"format": ',
    "nested": "[" * 100_000,
    "nested objects": '{"a":' * 100_000,
    "closed": "[" * 100_000 + "]" * 100_000,
    "digits": '{"free": ' + "9" * 5_000 + "}",
    "a long fraction": '{"free": 0.' + "9" * 5_000 + "}",
    "no number": '{"free": NaN}',
    "no unicode": b'{"title": "\xff\xfe"}',
    "surrogates": '{"title": "\\ud800"}',
    "given twice": '{"free": 1, "free": 2}',
    "too large": " " * 4_000_001,
    "null bytes": b"\0" * 1000,
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path, what):
    assert refused(written(tmp_path, DAMAGED[what])).startswith("releasable/edition.json: ")


def places(value, way=()):
    """Yield where every value of a document is."""
    yield way
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*way, key))


OTHERS = (
    None, True, -1, 10**400, 1.5, "", "x" * 5_000, "\ud800", "2026-13-40", [], {}, [[]], [None], {"a": {"b": []}},
    "9" * 5_000, {"": 0},
)  # fmt: skip


def test_a_value_of_another_kind_anywhere_is_refused_in_one_sentence_or_read(published, tmp_path):
    rng, tried, told = random.Random(1), 0, 0  # noqa: S311 - drawn studies
    for way in list(places(published))[1:]:
        for other in rng.sample(OTHERS, 6):
            changed = copy.deepcopy(published)
            inner = changed
            for key in way[:-1]:
                inner = inner[key]
            if rng.random() < 0.2:
                del inner[way[-1]]
            else:
                inner[way[-1]] = other
            tried += 1
            told += bool(sentence(written(tmp_path, json.dumps(changed))))
    assert tried > 500
    assert told > tried / 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"date": ...}, "`date` is missing"),
        ({"format": "reident edition 9"}, "`format` must be `reident edition 2`"),
        ({"free": 0}, "`free` must be at least 1"),
        ({"free": True}, "`free` must be"),
        ({"surprise": 1}, "`surprise` is not a known key"),
    ],
)
def test_what_is_wrong_is_named(published, tmp_path, change, message):
    changed = {key: value for key, value in (published | change).items() if value is not ...}
    assert message in refused(written(tmp_path, json.dumps(changed)))


def test_ends_and_limits_must_fit(published, tmp_path):
    for edit in (
        lambda part: part["counts"][0].update(at_least=9, at_most=3),
        lambda part: part["counts"][0].update(first=""),
        lambda part: part["counts"][0].update(metrics=[]),
        lambda part: part["limits"][0].update(count=400),
    ):
        changed = copy.deepcopy(published)
        edit(changed["parts"][0])
        assert "Use the edition as it was published." in refused(written(tmp_path, json.dumps(changed)))


def archives(content):
    """Yield archives that are damaged, or crafted."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("releasable/edition.json", content)
    whole = whole.getvalue()
    yield b""
    yield b"PK\5\6" + b"\0" * 18
    yield whole[: len(whole) // 2]
    rng = random.Random(2)  # noqa: S311 - drawn studies
    for _ in range(300):
        cut = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            cut[rng.randrange(len(cut))] = rng.randrange(256)
        yield bytes(cut)
    for at in (4, 6, 8, 14, 18, 22, 26, 28):  # fields of the header of the file, and of the directory
        for value in (1, 0xFFFF):
            start = whole.rfind(b"PK\1\2") + at + 2
            yield whole[:start] + struct.pack("<H", value) + whole[start + 2 :]


def test_a_crafted_archive_is_refused_in_one_sentence_or_read(published, tmp_path):
    read = 0
    for content in archives(json.dumps(published)):
        (tmp_path / "e.zip").write_bytes(content)
        read += not sentence(tmp_path / "e.zip")
    assert read < 200


def test_an_archive_that_grows_is_not_read_to_its_end(tmp_path):
    with zipfile.ZipFile(tmp_path / "e.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("releasable/edition.json", b" " * 200_000_000)
    assert "must have at most 4,000,000 bytes" in refused(tmp_path / "e.zip")


def test_an_archive_without_the_file_or_with_several_is_refused(tmp_path):
    for names in ((), ("a/releasable/edition.json", "b/releasable/edition.json")):
        with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
            for name in names:
                archive.writestr(name, "{}")
        assert "must have exactly one file `releasable/edition.json`" in refused(tmp_path / "e.zip")


OLD = "is an edition of an earlier version of reident, which published counts that no statement can take into account"


def test_an_edition_of_an_earlier_version_is_named_as_one(tmp_path):
    path = tmp_path / "releasable" / "edition.json"
    path.parent.mkdir()
    assert "the earlier edition is missing" in refused(path)
    path.with_name("release.json").write_text("{}")
    assert OLD in refused(path)
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.writestr("bag/data/report/releasable/release.json", "{}")
    assert OLD in refused(tmp_path / "e.zip")


def test_a_study_is_checked_with_the_editions_that_it_names(published, tmp_path):
    path = studies.saved_with(tmp_path, "none", "", release={"policy": "census-drb", "after": ["releasable"]})
    written(tmp_path, json.dumps(published))
    check(path)
    written(tmp_path, json.dumps({key: value for key, value in published.items() if key != "date"}))
    with pytest.raises(InputError, match=r"^releasable/edition.json: `date` is missing"):
        check(path)


def test_the_editions_before_an_earlier_one_must_be_named_too(published, tmp_path):
    release = {"policy": "census-drb", "after": ["releasable"]}
    path = studies.saved_with(tmp_path, "none", "", release=release)
    written(tmp_path, json.dumps(published | {"after": [{"title": "The first one", "date": None}]}))
    with pytest.raises(InputError, match=r"`release.after` must name .* but `The first one`, .* is missing\. Add it\."):
        check(path)
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "edition.json").write_text(json.dumps(published | {"title": "The first one"}))
    check(studies.saved_with(tmp_path, "none", "", release=release | {"after": ["first", "releasable"]}))
