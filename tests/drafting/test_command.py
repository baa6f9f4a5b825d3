"""`reident init`: its errors, what it writes, and what it must not write."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from making import drafting
from making.examples import examples
from reident.command import main
from reident.drafting.command import draft
from reident.errors import InputError
from reident.study.model import load


def init(*arguments: object) -> int:
    return main(["init", *map(str, arguments)])


@pytest.fixture
def files(tmp_path) -> list[Path]:
    return drafting.housing(tmp_path)[0]


def error(capsys, *arguments: object) -> str:
    """The one sentence of a command that fails."""
    assert init(*arguments) == 1
    shown = capsys.readouterr()
    assert not shown.out
    (line,) = shown.err.splitlines()
    return line


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b"pid,sex\n", "has a header and no records"),
        (b"pid\np1\np2\n", "must have at least two columns"),
        (b"00123M\n00456F\n00789M\n", "looks like a fixed-width file"),
        (b"1,2,3\n4,5,6\n", "must have the names of the columns"),
        (b"pid,sex\np1,M\np2\n", "row 3: the row must have as many fields as the header (2), but has 1"),
        (b"pid,sex,sex\np1,M,M\n", "the column name is given twice"),
        (b"pid,sex\np1,\x81\x8d\n", "the encoding of the text cannot be recognised"),
        ("pid,sex\np1,M\n".encode("utf-16-le"), "the encoding of the text cannot be recognised"),
        (b"PK\x03\x04......", "a spreadsheet or another zip archive"),
        (b"\x1f\x8b\x08broken", "the gzip file is truncated or damaged"),
        (b"colour,sex\nred,M\nblue,F\nred,M\n", "the key repeats"),
    ],
)
def test_a_file_that_cannot_be_profiled(content, says, files, tmp_path, capsys):
    bad = tmp_path / "bad.csv"
    bad.write_bytes(content)
    sentence = error(capsys, bad, files[1], "--out", tmp_path / "out.yaml")
    assert sentence.startswith("Error: bad.csv")
    assert says in sentence
    assert not (tmp_path / "out.yaml").exists()


def test_a_path_that_cannot_be_opened_and_a_spreadsheet(files, tmp_path, capsys):
    assert "cannot be read" in error(capsys, tmp_path / "none.csv", files[1], "--out", tmp_path / "x.yaml")
    assert "is a folder. Name a file in it" in error(capsys, tmp_path, files[1], "--out", tmp_path / "x.yaml")
    loop = tmp_path / "loop.csv"
    loop.symlink_to("loop.csv")
    assert "loop.csv: the file cannot be read" in error(capsys, loop, files[1], "--out", tmp_path / "x.yaml")
    sheet = tmp_path / "sheet.xlsx"
    sheet.write_bytes(b"PK\x03\x04")
    assert "must not be a spreadsheet" in error(capsys, sheet, files[1], "--out", tmp_path / "x.yaml")


def test_files_without_a_common_column(files, tmp_path, capsys):
    other = drafting.saved(
        tmp_path / "other.csv", [["uid", "colour"], *([at, ["red", "blue"][at % 2]] for at in range(9))]
    )
    assert "no column of one file corresponds" in error(capsys, files[0], other, "--out", tmp_path / "x.yaml")


def test_links_without_the_keys(files, tmp_path, capsys):
    links = drafting.saved(tmp_path / "l.csv", [["a", "b"], ["1", "2"], ["3", "4"]])
    assert "no column has the keys of puf.csv" in error(capsys, *files[:2], links, "--out", tmp_path / "x.yaml")


def test_an_existing_study_is_not_overwritten(files, tmp_path, capsys):
    out = tmp_path / "study.yaml"
    out.write_text("mine", encoding="utf-8")
    assert "is not overwritten" in error(capsys, *files, "--out", out)
    assert out.read_text(encoding="utf-8") == "mine"
    assert "cannot be written" in error(capsys, *files, "--out", tmp_path / "none" / "study.yaml")


@pytest.mark.parametrize("arguments", [[], ["one.csv"], ["a", "b", "c", "d"], ["--file-risk", "a", "b"], ["--what"]])
def test_a_wrong_command_line(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        init(*arguments)
    assert ended.value.code == 2
    assert "reident" in capsys.readouterr().err


def test_a_column_that_a_study_cannot_name_is_left_out(tmp_path, capsys):
    rows = [[f"p{at}", at % 3, at % 2, at % 4] for at in range(30)]
    path = drafting.saved(tmp_path / "f.csv", [["pid", "", "TODO", "sex"], *rows])
    assert init("--file-risk", path, "--out", tmp_path / "study.yaml") == 0
    text = (tmp_path / "study.yaml").read_text(encoding="utf-8")
    assert "it has no name" in text
    line = text[: text.index("sampling_fraction")].count("\n") + 1
    assert f"To be decided: 1 line with TODO ({line})" in capsys.readouterr().out


def test_without_links_the_third_file_is_to_be_decided(files, tmp_path, capsys):
    """And so are the codes of sex, which links would tell."""
    out = tmp_path / "study.yaml"
    assert init(*files[:2], "--out", out) == 0
    content = yaml.safe_load(out.read_text(encoding="utf-8"))
    assert content["files"]["iuf"] == {"path": "TODO", "puf_id": "TODO", "eif_id": "TODO"}
    assert "To be decided: 4 lines with TODO" in capsys.readouterr().out
    with pytest.raises(InputError, match=r"`files\.iuf\.path` is still to be decided"):
        load(out)


def test_one_file_with_weights_runs_as_it_stands(tmp_path):
    rows = [[at, "MF"[at % 2], 20 + at % 40, 50.5 + at] for at in range(200)]
    path = drafting.saved(tmp_path / "survey.csv", [["pid", "sex", "age", "weight"], *rows])
    assert init("--file-risk", path, "--out", tmp_path / "study.yaml") == 0
    risk = load(tmp_path / "study.yaml").risk
    assert risk.weight == "weight"
    assert [(one.name, one.type) for one in risk.key_variables] == [("sex", "categorical"), ("age", "numeric")]


def test_synthetic_files_tell_what_is_synthesized(tmp_path):
    rows = [[at, "MF"[at % 2], "NES"[at % 3], "abcd"[at % 4]] for at in range(60)]
    shuffled = [*rows[30:], *rows[:30]]
    real = drafting.saved(tmp_path / "real.csv", [["pid", "sex", "region", "job"], *rows])
    made = [[pid, sex, region, "abcd"[(pid + (pid % 5 == 0)) % 4]] for pid, sex, region, _ in shuffled]
    synthetic = drafting.saved(tmp_path / "synthetic.csv", [["pid", "sex", "region", "job"], *made])
    assert init("--synthetic", real, synthetic, "--out", tmp_path / "study.yaml") == 0
    matching = load(tmp_path / "study.yaml").matched
    assert [one.name for one in matching.synthesized] == ["job"]
    assert [one.name for one in matching.known] == ["sex", "region"]
    assert matching.confidential.id == ("pid",)
    assert "20 % of the compared records differ" in (tmp_path / "study.yaml").read_text(encoding="utf-8")


def test_synthetic_files_in_the_order_of_their_rows(tmp_path, capsys):
    rows = [["MF"[at % 2], "NES"[at % 3]] for at in range(60)]
    real = drafting.saved(tmp_path / "real.csv", [["sex", "region"], *rows])
    short = drafting.saved(tmp_path / "short.csv", [["sex", "region"], *rows[1:]])
    assert "must have equally many records" in error(capsys, "--synthetic", real, short, "--out", tmp_path / "x.yaml")
    same = drafting.saved(tmp_path / "same.csv", [["sex", "region"], *rows])
    assert "no column differs" in error(capsys, "--synthetic", real, same, "--out", tmp_path / "x.yaml")


def test_a_file_to_be_micro_aggregated_runs_as_it_stands(tmp_path, capsys):
    rows = [[f"f{at}", "ABC"[at % 3], 1000 + 37 * at, -9 if at % 50 == 1 else 10.5 + at] for at in range(120)]
    path = drafting.saved(tmp_path / "firms.csv", [["firm", "branch", "turnover", "wages"], *rows])
    assert init("--microaggregate", path, "--out", tmp_path / "study.yaml") == 0
    section = load(tmp_path / "study.yaml").microaggregate
    assert (section.id, section.variables, section.missing) == (("firm",), ("turnover", "wages"), ("-9",))
    capsys.readouterr()
    comma = drafting.saved(tmp_path / "comma.csv", [["firm", "wages"], ["f1", "1,5"], ["f2", "2,5"]], delimiter=";")
    assert "decimal commas" in error(capsys, "--microaggregate", comma, "--out", tmp_path / "x.yaml")


WEIGHTS = ["PWGTP", "wgt", "WTFINL", "fnlwgt", "perwt", "HHWT", "gewicht", "poids", "faktor", "coeff"]


@pytest.mark.parametrize("name", [*WEIGHTS, "wages", "growth", "age", "factory"])
def test_a_weight_by_any_name_is_no_key_variable(name, tmp_path):
    is_weight = name in WEIGHTS
    rows = [[at, "MF"[at % 2], 50.5 + at, 1.5 + at] for at in range(200)]
    path = drafting.saved(tmp_path / "survey.csv", [["pid", "sex", name, f"{name}1"], *rows])
    draft("file_risk", [path], tmp_path / "study.yaml")
    content = yaml.safe_load((tmp_path / "study.yaml").read_text(encoding="utf-8"))["file_risk"]
    assert content.get("weight") == (name if is_weight else None)
    assert [one["name"] for one in content["key_variables"]] == (["sex"] if is_weight else ["sex", name, f"{name}1"])


def test_weights_that_count_no_people_are_not_taken_for_those_that_do(tmp_path):
    rows = [[at, "MF"[at % 2], 20 + at % 40, 500_000 if at % 2 else 1_500_000, 160 + at % 30] for at in range(200)]
    for names, keys in (
        (["pid", "sex", "age", "v005", "size"], ["sex", "age", "size"]),
        (["pid", "sex", "age", "weight", "height"], ["sex", "age", "weight", "height"]),  # of a person
    ):
        path = drafting.saved(tmp_path / "survey.csv", [names, *rows])
        draft("file_risk", [path], tmp_path / "study.yaml")
        content = yaml.safe_load((tmp_path / "study.yaml").read_text(encoding="utf-8"))["file_risk"]
        assert content["sampling_fraction"] == "TODO"
        assert [one["name"] for one in content["key_variables"]] == keys
        (tmp_path / "study.yaml").unlink()


def test_a_key_of_synthetic_files_that_was_drawn_anew_is_not_proposed(tmp_path, capsys):
    draw = np.random.default_rng(2)
    people = [[at, int(draw.integers(18, 90)), "abcd"[draw.integers(4)], int(draw.integers(9000))] for at in range(200)]
    real = drafting.saved(tmp_path / "real.csv", [["pid", "age", "edu", "inc"], *people])
    for name, key, values, expected in (
        ("the same key", range(200), people, "pid"),
        ("another key", draw.permutation(200), people, None),
        ("strangers", range(200), [people[at] for at in draw.permutation(200)], "TODO"),
    ):
        rows = [[at, *values[row][1:3], values[row][3] + 1] for row, at in enumerate(key)]
        syn = drafting.saved(tmp_path / f"{name}.csv", [["pid", "age", "edu", "inc"], *rows])
        out = tmp_path / f"{name}.yaml"
        assert init("--synthetic", real, syn, "--out", out) == 0
        section = yaml.safe_load(out.read_text(encoding="utf-8"))["matching"]
        assert section["confidential"].get("id") == expected
        assert "pid" not in [*section["known"], *section["synthesized"]]
    assert "drawn anew" in capsys.readouterr().out


MARK = "¤"
"""By which a test finds the values of a file in a draft; no column name has it."""

LETTERS = st.characters(exclude_characters=MARK, exclude_categories=["Cs", "Cc"])
SECRET = st.text(LETTERS, max_size=6).map(lambda text: f"{MARK}{text}")


@examples(60)
@given(
    secrets=st.lists(SECRET, min_size=30, max_size=30, unique=True),
    rare=SECRET,
    header=st.lists(st.text(LETTERS, min_size=1, max_size=8), min_size=2, max_size=2),
)
def test_a_draft_has_no_value_but_codes_of_several_records(tmp_path_factory, secrets, rare, header):
    """Keys, free text and numbers are not in it, nor a code of one record; it is YAML whatever columns are called."""
    folder = tmp_path_factory.mktemp("drafts")
    names = ["pid", *(f"{name} {at}" for at, name in enumerate(header)), "income", "sex"]
    puf = [
        [f"{secret}-{at}", secret, rare if at == 3 else "abc"[at % 3], 77_001 + 13 * at, "12"[at % 2]]
        for at, secret in enumerate(secrets)
    ]
    eif = [[f"e{key}", text, "abc"[at % 3], income, "MF"[at % 2]] for at, (key, text, _, income, _) in enumerate(puf)]
    links = [[one[0], other[0]] for one, other in zip(puf, eif, strict=True)]
    paths = [
        drafting.saved(folder / "a.csv", [names, *puf]),
        drafting.saved(folder / "b.csv", [["key", *names[1:]], *eif]),
        drafting.saved(folder / "c.csv", [["pid", "key"], *links]),
    ]
    assert init(*paths, "--out", folder / "study.yaml") == 0
    text = (folder / "study.yaml").read_text(encoding="utf-8")
    named = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - makes text alone
    assert MARK not in text
    assert not re.search(r"77[_,]?\d\d\d", re.sub(r"[^\d_,]+", " ", text.split("linking_variables")[1]))
    sex = next(one for one in named["linking_variables"] if one["name"] == "sex")
    assert sex["recode"] == {"eif": {"M": "1", "F": "2"}}


def test_the_order_of_rows_changes_nothing(tmp_path):
    paths, _ = drafting.haushalte(tmp_path)
    assert init(*paths, "--out", tmp_path / "one.yaml") == 0
    header, *rows = paths[0].read_text(encoding="cp1252").splitlines()
    paths[0].write_text("\n".join([header, *reversed(rows)]) + "\n", encoding="cp1252")
    assert init(*paths, "--out", tmp_path / "two.yaml") == 0
    one, two = ((tmp_path / name).read_text(encoding="utf-8") for name in ("one.yaml", "two.yaml"))
    assert one.replace("id: one", "id: two") == two
