"""What the report shows of an intruder with several files (METHODS §6.6)."""

import json

import pytest
from making.report import added, cells, rows
from making.variants import add_variants
from reident.report.blocks import variants
from reident.report.results import Results
from reident.together import report as together
from together.cases import write_together

LIMIT = {"conditional_rate_at_most": 0.9, "together_confirmed_rate_at_most": 0.1}

results = added(write_together)


def test_the_table_has_each_file_any_all_and_exactly_fewer(results):
    lines = rows(together.together_table(results()))
    assert [line[0] for line in lines] == ["**Unicity**", "", "", "", "", "**Taxicab**", "", "", "", ""]
    assert [line[1] for line in lines[:5]] == [
        "first alone", "second alone", "**any**", "all", "exactly 1 file",
    ]  # fmt: skip
    assert [line[2:4] for line in lines[:5]] == [
        ["100", "40"], ["100", "30"], ["100", "60"], ["100", "10"], ["0", "50"],
    ]  # fmt: skip
    assert lines[4][5:] == ["–", "–", "–"]


def test_the_figure_stacks_exactly_one_and_two_files_beside_the_best_one(results):
    figure = together.together_figure(results())
    assert (
        "Taxicab, Confirmed: 25.0 % with exactly 1 file, 5.0 % with exactly 2 files; best file alone 20.0 %."
        in figure.alt
    )
    assert "Taxicab, Suspected: 0 % with exactly 1 file, 50.0 % with exactly 2 files" in figure.alt


def test_nothing_is_drawn_where_no_file_suspects_a_record(results):
    assert together.together_figure(results(files={"a": (), "b": ()}, suspected=0)) is None


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_any_number_of_files_is_drawn(results, n):
    study = results(files={f"file {at}": range(at, at + 20) for at in range(n)})
    shown = cells(study, "together")["together"]
    assert len([block for block in shown if block is not None]) >= 3
    assert len(rows(together.together_table(study))) == 2 * (n + 2 + n - 1)


def test_the_variants_are_judged_by_the_limits_that_they_share(results, tmp_path):
    results(decision=LIMIT)
    varied = [
        {
            "name": "file",
            "set": None,
            "values": None,
            "combinations": {"first": {}, "second": {"files.eif.path": "second.csv"}},
        }
    ]
    study = Results(add_variants(tmp_path / "results", varied, [{"file": "first"}, {"file": "second"}]))
    assert "above" in set(study.table("verdict/summary.csv")["verdict"])
    assert variants.verdicts_of(study)["verdict"][0] == "within"
    assert variants.verdicts_of(study)["broken"][0] == ""


def test_the_front_page_is_in_german(results, tmp_path):
    results()
    file = tmp_path / "results/study.json"
    study = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(study | {"language": "de"}), encoding="utf-8")
    text = str(together.together_front(Results(tmp_path / "results")))
    assert "Wer beide Dateien besitzt (first und second), fände 60 Personen (Unicity)" in text
    assert "50,0\u00a0% mehr als mit der besseren Datei allein (first)" in text
