"""Fixed-width files are read by the positions in `layout`; irregular lines are errors."""

import pytest
from making.examples import cases
from reident import reading
from reident.errors import InputError
from reident.sections.files import SourceFile


def read(path, columns, **source):
    return reading.read(path, SourceFile(path=path.name, **source), columns)


WIDE = "001 7.5Åsa\n002-9  Bo \n"
LAYOUT = {"p": "1-3", "x": "4-7", "name": "8-10"}


@pytest.mark.parametrize(
    ("content", "source"),
    [
        (WIDE, {}),
        (WIDE.replace("\n", "\r\n"), {}),
        (WIDE.encode("cp1252"), {"encoding": "cp1252"}),
        ("\ufeff" + WIDE, {}),
    ],
)
def test_fixed_width_is_read_by_characters_without_padding(tmp_path, content, source):
    path = tmp_path / "f.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = read(path, ["name", "p", "x"], layout=LAYOUT, **source)
    assert [tuple(row.values()) for row in found.to_pylist()] == [("Åsa", "001", "7.5"), ("Bo", "002", "-9")]


UNEVEN = [
    ("a line too short", "001 7.5Åsa\n002-9  Bo\n",
     "row 2: the line must have at least 10 characters, as in `layout`, but has 9. Pad every line"),
    ("a line too long", "001 7.5Åsa\n0002-9  Bo \n",
     "row 2: the line must have as many characters as row 1 (10), but has 11. Give every line the same"),
    ("a blank line at the end", WIDE + "\n",
     "row 3: the line must have at least 10 characters, as in `layout`, but has 0"),
    ("a bare carriage return", WIDE.replace("7.5", "7\r5"),
     "row 1: the line contains a single carriage return. Save the file"),
    ("an empty file", "", "f.txt: the file is empty. Write records"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "says"), cases(UNEVEN))
def test_lines_of_different_lengths_are_refused(tmp_path, content, says):
    (tmp_path / "f.txt").write_bytes(content.encode())
    with pytest.raises(InputError) as caught:
        read(tmp_path / "f.txt", ["p"], layout=LAYOUT)
    assert says in str(caught.value)


def test_a_column_without_a_layout_is_refused(tmp_path):
    (tmp_path / "f.txt").write_text(WIDE, encoding="utf-8")
    with pytest.raises(InputError, match=r"^f\.txt: `layout` has no column `age`. Add its positions\.$"):
        read(tmp_path / "f.txt", ["age"], layout=LAYOUT)
