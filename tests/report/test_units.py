"""The pages of a study of units: the brief counts units and members, a figure shows units by size."""

import json
import re

import pandas as pd
import pytest
from making.report import Shape, cells, write_results
from reident import language
from reident.language.sentences import Field, field_names
from reident.page import sentences, terms
from reident.page.wording import rates
from reident.report.blocks import annex, attack, brief, squares, units
from reident.report.results import Results
from reident.sections.language import LANGUAGES
from report.test_language import english, german, texts

RECORDS = re.compile(r"\b[Rr]ecords?\b|Datens[aä]tz")
MASCULINE = re.compile(
    r"\b([Kk]?ein|[Kk]?einen|Jeder|[Jj]eden|[Jj]edem|[Kk]?einem|[Kk]?eines|dem|den|des) (\w+ )?(EIF-|PUF-)?Einheit\b"
)
"""German articles that do not go with a unit."""
FEMININE = re.compile(r"\b([Kk]?eine|[Kk]?einer|[Jj]ede|die|Die) (\w+ )?(EIF-|PUF-)?Datensatz\b")
"""German articles that do not go with a record."""


def test_the_brief_counts_units_and_members(tmp_path):
    study = Results(write_results(tmp_path, Shape(units=True)))
    shown = units.units_front(study)
    whole = study.table("units/members.csv").query("stratum == 'ALL'").set_index("metric")
    best = study.whole["n_confirmed"].idxmax()
    assert f"{whole.at[best, 'n_units']:,} units with {whole.at[best, 'n_members']:,} members" in shown
    assert f"with {whole.at[best, 'n_confirmed_members']:,} of the {whole.at[best, 'n_members']:,} members" in shown
    assert "gives" in shown


def forms_of(entry, path):
    """Yield the key of every sentence below an entry, with its text for records and the one for units."""
    if isinstance(entry, str) or sentences.is_of_forms(entry):
        yield path, *([entry] * 2 if isinstance(entry, str) else entry.values())
    else:
        for key, inner in entry.items():
            yield from forms_of(inner, f"{path}.{key}")


@pytest.mark.parametrize("code", LANGUAGES)
def test_sentences_on_units_have_the_fields_of_those_on_records_and_the_gender_of_their_noun(code):
    nouns = {
        kind: {name: Field(word) for name, word in sentences.nouns(code, kind).items()} for kind in ("record", "unit")
    }
    with_nouns = 0
    for section, file in sentences.files().items():
        for key, of_records, of_units in forms_of(language.read(file)[code], section):
            fields = set(field_names(of_records)) | set(field_names(of_units))
            given = {name: Field(f"{{{name}}}") for name in fields} | {"n": Field("2")}
            assert set(field_names(of_records)) - set(nouns["unit"]) == set(field_names(of_units)) - set(nouns["unit"])
            on_units = of_units.format_map(given | nouns["unit"])
            if of_units != of_records:
                assert not RECORDS.search(re.sub(r"{[^}]*}|`[^`]*`", "", on_units)), key
            if fields & set(nouns["unit"]):
                with_nouns += 1
                assert not MASCULINE.search(on_units), key
                assert section == "units" or not FEMININE.search(of_records.format_map(given | nouns["record"])), key
    assert with_nouns


@pytest.mark.parametrize("read", [Results, german])
def test_cells_speak_of_units(read, tmp_path):
    """But for the account of the files' rows, and an anchor."""
    shown = cells(read(write_results(tmp_path, Shape(units=True))))
    said = {name: " ".join(text for block in blocks for text in texts(block)) for name, blocks in shown.items()}
    assert {name for name, text in said.items() if RECORDS.search(text)} == {"account", "glossary"}


def of_kind(folder, kind):
    """The results of a study that says what its units are."""
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    study["units"]["kind"] = kind
    (folder / "study.json").write_text(json.dumps(study), encoding="utf-8")
    return folder


@pytest.mark.parametrize(("kind", "plural"), [("household", "households"), ("person", "people")])
def test_units_have_the_name_that_the_study_gives_them(tmp_path, kind, plural):
    study = Results(of_kind(write_results(tmp_path, Shape(units=True)), kind))
    blocks = (brief.test, units.units_front, squares.strips, brief.product, brief.at_risk, units.units_members)
    page = " ".join(text for block in blocks for text in texts(block(study)))
    assert re.findall(r"\b[Uu]nits?\b", page) == []
    assert f"Of 100 {plural} to be released" in page
    german_page = " ".join(texts(squares.strips(german(study.folder))))
    assert ("Haushalten" if kind == "household" else "Personen") + ", die freigegeben" in german_page


def test_only_words_of_the_report_become_units(tmp_path):
    """A title is data, and the risk of a file is that of its records."""
    study = Results(write_results(tmp_path, Shape(units=True, variables=(("record", "categorical", "record"),))))
    shown = f"{brief.test(study)} {squares.strips(study)}"
    assert f"with the {round(study.whole['n_puf'].iloc[0]):,} units to be released" in shown
    assert "records" not in shown
    assert "record" in attack.variables(study)
    with sentences.use(study):
        assert terms.some(2, "record") == "2 records"
    assert terms.some(2, "puf_record") == "2 PUF records"


def test_further_rows_of_units_are_not_left_out(tmp_path):
    folder = write_results(tmp_path, Shape(units=True))
    account = Results(folder).table("prepared/account.csv")
    n = account.query("file == 'puf' and cause == 'in'")["rows"].item()
    further = pd.DataFrame({"step": ["prepare"], "file": ["puf"], "cause": ["further row of a unit"], "rows": [500]})
    account.loc[account.eval("file == 'puf' and cause == 'in'"), "rows"] += 500
    pd.concat([account, further]).to_csv(folder / "prepared/account.csv", index=False)
    study = Results(folder)
    compared = study.account("stratify", "puf")["used"]
    assert f"| {n + 500:,} | 500 | {n - compared:,} | {compared:,} |" in attack.files(study)
    assert "in units: further row of a unit" in annex.account(study)
    missing = study.table("description/variables.csv")["puf_missing"] / (study.account("prepare", "puf")["used"] + 500)
    assert all(f"| {share} |" in attack.variables(study) for share in rates(missing))


def test_units_are_drawn_and_listed_by_size(tmp_path):
    study = Results(write_results(tmp_path, Shape(units=True)))
    figure, table = units.units_figure(study), units.units_sizes(study)
    sizes = study.table("units/sizes.csv")
    best = study.whole["n_confirmed"].idxmax()
    for line in sizes[sizes["metric"] == best].itertuples():
        assert f"of {line.n_units:,} units" in figure.alt
        assert f"| {line.n_units:,} | {line.n_suspected:,} | {line.n_confirmed:,} |" in table
    assert "10 or more" in figure.alt


def test_without_links_of_rows_no_member_is_told_apart(tmp_path):
    folder = write_results(tmp_path, Shape(units=True))
    path = folder / "units/members.csv"
    table = Results(folder).table("units/members.csv")
    table.drop(columns=["n_linked_members", "n_named_members", "named_member_rate"]).to_csv(path, index=False)
    study = Results(folder)
    assert "own row" not in units.units_front(study)
    assert "Own row" not in units.units_members(study)


def test_a_study_of_records_has_none_of_it(tmp_path):
    study = Results(write_results(tmp_path, Shape()))
    assert units.units_front(study) is None
    assert units.units_figure(study) is None


@pytest.mark.parametrize("cell", ["front", "rates"])
def test_no_word_is_left_in_english(tmp_path, cell):
    study = german(write_results(tmp_path, Shape(units=True, strata=("Nord", "Süd"), title="Erhebung", agency="Amt")))
    shown = [text for pieces in cells(study, cell).values() for piece in pieces for text in texts(piece)]
    assert {word for text in shown for word in english(text)} == set()
    assert json.loads((study.folder / "study.json").read_text())["language"] == "de"
