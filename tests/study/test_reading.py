"""Reading study files: every scalar is the text that the analyst wrote, and every message knows its line."""

import pytest
from making.examples import cases
from making.studies import refusal
from reident.errors import InputError
from reident.sections.base import Section
from reident.study import reading as studyfile

SCALARS = [
    ("Norway is not a boolean", "NO", "NO"),
    ("yes and on stay text", "yes", "yes"),
    ("a leading zero stays", "012", "012"),
    ("a time is not a number of seconds", "22:30", "22:30"),
    ("a date is still text", "2026-03-02", "2026-03-02"),
    ("an exponent stays", "1e3", "1e3"),
    ("a hexadecimal number stays", "0x1F", "0x1F"),
    ("infinity is a word", ".inf", ".inf"),
    ("underscores in a number stay", "1_000", "1_000"),
    ("a number keeps its zeros", "0.50", "0.50"),
    ("quotes are not part of the text", '"07"', "07"),
    ("a quoted empty text is a text", '""', ""),
    ("a quoted tilde is a text", '"~"', "~"),
    ("a quoted null is a text", "'null'", "null"),
    ("an empty value is absent", "", None),
    ("a tilde means absent", "~", None),
    ("null means absent", "null", None),
    ("a tag has no effect", "!!int 012", "012"),
    ("a tag cannot make objects", '!!python/object/apply:os.system ["true"]', ["true"]),
    ("an alias has the value of its anchor", "&a [x, {y: z}]", ["x", {"y": "z"}]),
]


@pytest.mark.parametrize(("written", "value"), cases(SCALARS))
def test_scalars_are_read_as_written(tmp_path, written, value):
    assert studyfile.read(saved(tmp_path, f"key: {written}\n"))[0] == {"key": value}


BOOLEANS = [
    ("true", True), ("True", True), ("FALSE", False), ('"true"', None), ("'false'", None), ("yes", None), ("on", None),
    ("1", None), ("t", None), ("!!str true", True),
]  # fmt: skip


@pytest.mark.parametrize(("written", "value"), BOOLEANS, ids=[case[0] for case in BOOLEANS])
def test_a_boolean_is_true_or_false_without_quotation_marks(tmp_path, written, value):
    path = saved(tmp_path, f"variable: x\n\nequal: {written}\n")
    if value is None:
        with pytest.raises(InputError, match=r"s\.yaml, line 3: `equal` must be `true` or `false`\. Write"):
            studyfile.load(path, Compared)
    else:
        assert studyfile.load(path, Compared).equal is value


class Compared(Section):
    variable: str
    equal: bool


def saved(folder, content):
    path = folder / "s.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


WRONG = [
    ("a: 1\nb: 2\na: 3\n", ", line 3: `a` is given twice. Remove one of the two."),
    ("a:\n  b: 1\n  c: 1\n  b: 2\n", ", line 4: `b` is given twice"),
    ("a: {b: 1, b: 2}\n", ", line 1: `b` is given twice"),
    ('a: 1\n"a": 2\n', ", line 2: `a` is given twice"),
    ("a: [1\nb: 2\n", "not valid YAML"),
    ("a:\n\tb: 1\n", ", line 2: the file is not valid YAML"),
    ("a: 1\n---\nb: 2\n", ", line 2: the file is not valid YAML"),
    ("a: \x07\n", "not valid YAML"),
    ("- a\n- b\n", "the file must consist of keys"),
    ("hello\n", "the file must consist of keys"),
    ("", "the file must consist of keys"),
    ("? [a, b]\n: 1\n", ", line 1: a key must be plain text"),
    ("a: &x\n  - b\n  - *x\n", ", line 1: an alias must not contain itself"),
    ("a: *x\n", ", line 1: the file is not valid YAML"),
    ("a: " + "[" * 5000 + "]" * 5000, ": lists or sections are nested too deeply"),
    ("a: " + "{b: " * 5000, ": lists or sections are nested too deeply"),
    ("a: 1\nb: " + "[" * 60 + "]" * 60, ", line 2: lists or sections are nested too deeply"),
    ("title: " + "x" * 50_000_000, ": the file must have at most 20,000,000 bytes. Shorten it."),
    ("a: 1\ntitle: " + "x" * 1_000_000, ", line 2: the line must have at most 1,000,000 characters. Shorten it."),
    ("a: 1\ntitle: |\n" + "  words\n" * 20_000, ", line 2: a value must have at most 100,000 characters. Shorten it."),
    ("a: é\n".encode("latin-1"), "not UTF-8 text. Save it as UTF-8"),
    (b"PAR1\x00\xff\xfe", "not UTF-8 text"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "says"), WRONG)
def test_unreadable_files_are_refused_with_file_and_line(tmp_path, content, says):
    path = saved(tmp_path, content)
    with refusal(path, says, line=False):
        studyfile.read(path)


def test_aliases_that_stand_for_a_billion_values_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(studyfile, "MAX_VALUES", 10_000)
    lines = ["a0: &a0 [x, x]", *(f"a{at + 1}: &a{at + 1} [*a{at}, *a{at}]" for at in range(30))]
    with pytest.raises(InputError, match="the file must have at most 10,000 values"):
        studyfile.read(saved(tmp_path, "\n".join(lines)))


@pytest.mark.parametrize("name", ["absent.yaml", "."])
def test_a_file_that_cannot_be_opened_is_refused(tmp_path, name):
    with pytest.raises(InputError, match="the study file cannot be read"):
        studyfile.read(tmp_path / name)


UNDECIDED = [
    ("a value", "id: a\ntitle: TODO\n", "line 2: `title`"),
    ("a value with words after it", "id: a\nx: {y: [b, 'TODO: which one?']}\n", "line 2: `x.y[2]`"),
    ("a key", "id: a\nx:\n  TODO which: 1\n", "line 3: `x.TODO which`"),
    ("several", "id: TODO\nx: 1\ny: TODO\n", "line 1: `id`"),
]


@pytest.mark.parametrize(("text", "place"), cases(UNDECIDED))
def test_what_is_still_to_be_decided_is_refused_with_its_line_and_key(tmp_path, text, place):
    path = tmp_path / "study.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        studyfile.read(path)
    assert f"{path}, {place} is still to be decided. Replace the TODO with a value" in str(caught.value)
    assert ("1 more line has a mistake" in str(caught.value)) == (text.count("TODO") > 1)
    assert studyfile.read(path, decide=False)[0]["id"] in ("a", "TODO")
