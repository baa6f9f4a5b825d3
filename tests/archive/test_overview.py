"""`reident index`: a row for every study and variant, the study before, and results that are not what steps wrote."""

import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest
from reident.archive import overview
from reident.errors import InputError
from reident.ledger.chain import sealed
from reident.report import studies

SUMMARY = ["scope", "verdict", "broken", "invalidates", "understates", "notable"]


def rates(*lines):
    """The rates of metrics in the whole study, and of a stratum that is higher."""
    columns = ["metric", "confirmed_rate", "conditional_rate", "reach"]
    table = pd.DataFrame([*lines, ("taxicab", 1.0, 1.0, 1.0)], columns=columns)
    return table.assign(stratum=["ALL"] * len(lines) + ["N"])


class Folder:
    """A folder of results whose ledger has every file."""

    def __init__(self, root):
        self.results, self.reports = root / "results", root / "reports"

    def add(self, name, verdict="within", *lines, broken="", understates=0, tables=None, **study):
        root = self.results / name
        content = {"id": name, "title": "", "date": None, "variants": [], **study}
        files = {"study.json": json.dumps(content)}
        if verdict:
            summary = pd.DataFrame([("ALL", verdict, broken, 0, understates, 2)], columns=SUMMARY)
            files["verdict/summary.csv"] = summary.to_csv(index=False)
        if lines:
            files["rates.csv"] = rates(*lines).to_csv(index=False)
        files |= {path: table.to_csv(index=False) for path, table in (tables or {}).items()}
        outputs = {}
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
            outputs[path] = {"path": path, "sha256": hashlib.sha256(text.encode()).hexdigest()}
        entry = {"step": "judge", "rule": "judge", "metric": None, "study_digest": "", "library_digest": ""}
        text = json.dumps(sealed({**entry, "outputs": outputs, "inputs": {}, "versions": {}}))
        for place in {Path(path).parents[1] if path.startswith("variants/") else Path() for path in files}:
            ledger = root / place / "ledger"
            ledger.mkdir(parents=True, exist_ok=True)
            (ledger / "judge.json").write_text(text, encoding="utf-8")

    def page(self, place):
        path = self.reports / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")

    def rows(self):
        return {(row["study"], row["variant"]): row for row in overview.collect(self.results, self.reports)}


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def test_a_study_has_its_verdict_the_highest_rates_with_their_metrics_and_its_pages(folder):
    folder.add(
        "b", "above", ("unicity", 0.1, 0.5, 0.2), ("taxicab", 0.2, 0.4, float("nan")), broken="reach_at_most: unicity"
    )
    folder.add("a", "within", understates=1, date="2026-03-02")
    folder.page("b/disclosure-review.html")
    rows = folder.rows()
    assert [study for study, _ in rows] == ["a", "b"]
    row = rows["b", ""]
    assert (row["verdict"], row["broken"], row["state"]) == ("above", "reach_at_most: unicity", "made")
    assert [row[name] for name in ("confirmed_rate", "confirmed_rate_by")] == [0.2, "taxicab"]
    assert [row[name] for name in ("conditional_rate", "conditional_rate_by")] == [0.5, "unicity"]
    assert [row[name] for name in ("reach", "reach_by")] == [0.2, "unicity"]
    assert (row["report"], row["edition"]) == ("b/disclosure-review.html", "")
    assert (rows["a", ""]["confirmed_rate"], rows["a", ""]["date"], rows["a", ""]["understates"]) == (
        "",
        "2026-03-02",
        1,
    )


def test_variants_follow_their_study_and_the_study_itself_is_not_one_of_them(folder):
    verdicts = pd.DataFrame(
        [("x", "yes", "above", "", 0, 0, 1), ("y", "no", "reservations", "", 0, 1, 1)],
        columns=["variant", "reference", *SUMMARY[1:]],
    )
    compared = pd.concat([rates(("unicity", 0.3, 0.3, 0.3)).assign(variant=name)[:1] for name in ("x", "y")])
    tables = {"comparison/verdict.csv": verdicts, "comparison/rates.csv": compared}
    folder.add("a", "above", ("unicity", 0.1, 0.5, 0.2), tables=tables, variants=[{}])
    folder.add("b", "above", ("unicity", 0.1, 0.5, 0.2), tables=tables)  # of a study that had variants before
    rows = folder.rows()
    assert list(rows) == [("a", ""), ("a", "y"), ("b", "")]
    assert (rows["a", "y"]["verdict"], rows["a", "y"]["reach"]) == ("reservations", 0.3)
    assert rows["a", "y"]["limit"] == ""


def test_a_variant_has_what_its_own_limit_judged(folder):
    columns = ["variant", "reference", *SUMMARY[1:]]
    verdicts = pd.DataFrame([("x", "no", "within", "", 0, 0, 0)], columns=columns)
    lines = {"": ("adhoc", 0.3, "breaks"), "variants/x/": ("unicity", 0.1, "passes")}
    tables = {
        f"{place}verdict/limits.csv": pd.DataFrame([(ATTACK, "reach_at_most", *one[:2], 0.2, one[2])], columns=LIMITS)
        for place, one in lines.items()
    }
    folder.add("a", "above", tables={**tables, "comparison/verdict.csv": verdicts}, variants=[{}])
    rows = folder.rows()
    judged = {name: [row[key] for key in ("limit", "of", "value", "bound")] for (_, name), row in rows.items()}
    assert judged == {"": ["reach_at_most", "adhoc", 0.3, 0.2], "x": ["reach_at_most", "unicity", 0.1, 0.2]}


NAMES = ["survey-2024", "survey-2025", "survey-2026", "other-2026", "survey-2026-2027", "survey"]


def test_the_study_before_is_the_one_that_is_named_or_that_of_the_last_year_before(folder):
    for at, name in enumerate(NAMES):
        folder.add(
            name, "within", ("unicity", at / 10, 0.5, 0.2), **({"predecessor": "survey-2024"} if at == 5 else {})
        )
    folder.add("lost", "within", predecessor="nowhere")
    folder.page("compare/survey-2025--survey-2026/comparison.html")
    rows = folder.rows()
    before = {study: row["before"] for (study, _), row in rows.items()}
    assert before == {
        "survey-2024": "", "survey-2025": "survey-2024", "survey-2026": "survey-2025", "other-2026": "",
        "survey-2026-2027": "", "survey": "survey-2024", "lost": "nowhere",
    }  # fmt: skip
    row = rows["survey-2026", ""]
    assert (row["before_verdict"], row["before_confirmed_rate"]) == ("within", 0.1)
    assert row["comparison"] == "compare/survey-2025--survey-2026/comparison.html"
    assert rows["lost", ""]["before_verdict"] == ""


@pytest.mark.parametrize("name", ["study.json", "rates.csv", "verdict/summary.csv", "ledger/judge.json"])
def test_results_that_are_not_what_their_steps_wrote_are_not_shown(folder, name):
    folder.add("a", "within", ("unicity", 0.1, 0.5, 0.2))
    folder.add("b", "within", ("unicity", 0.1, 0.5, 0.2))
    path = folder.results / "a" / name
    path.write_text(path.read_text(encoding="utf-8").replace("a", "e").replace("0.1", "0.0"), encoding="utf-8")
    rows = folder.rows()
    assert rows["b", ""]["state"] == "made"
    row = rows["a", ""]
    assert {value for key, value in row.items() if key not in ("study", "state")} == {""}
    assert row["state"] == "changed"


def test_a_study_without_a_verdict_yet_is_unfinished_and_a_folder_without_studies_an_error(folder):
    with pytest.raises(InputError, match="there are no results of a study"):
        overview.run(folder.results, folder.reports, str)
    folder.add("a", "", ("unicity", 0.1, 0.5, 0.2))
    assert folder.rows()["a", ""]["state"] == "unfinished"


@pytest.mark.parametrize(("code", "words"), [("en", "Confirmed rate"), ("de", "Bestätigungsrate")])
def test_the_page_and_the_table_have_every_row_in_the_language_of_the_studies(folder, code, words):
    folder.add("survey-2025", "within", ("unicity", 0.1, 0.5, 0.2), language=code, title="A [b](c) <i>|</i>")
    folder.add("survey-2026", "above", ("unicity", 0.25, 0.5, 0.2), language=code)
    folder.add("changed", "within", language=code)
    (folder.results / "changed" / "verdict/summary.csv").write_text("", encoding="utf-8")
    lines = overview.run(folder.results, folder.reports, studies.page)
    assert lines[0] == "changed: the results are not what their steps wrote. Run `reident check`."
    assert lines[-1].endswith("index.html and .csv: 3 studies, 0 variants")
    html = (folder.reports / "index.html").read_text(encoding="utf-8")
    assert f'lang="{code}"' in html
    assert all(text in html for text in (words, "survey-2025", "survey-2026", "A [b](c) &lt;i&gt;|&lt;/i&gt;"))
    table = pd.read_csv(folder.reports / "index.csv")
    assert table["study"].tolist() == ["changed", "survey-2025", "survey-2026"]
    assert table["before_confirmed_rate"].tolist()[-1] == 0.1


FILE, ATTACK = "file_risk", "attack"
LIMITS = ["about", "limit", "metric", "value", "bound", "outcome"]


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ([(FILE, "k_anonymity_at_least", "", 1.0, 3.0, "breaks"),
          (FILE, "dis_at_most", "", 0.1, 0.2, "passes")],
         "k-anonymity: 1 (limit 3)"),
        ([(FILE, "dis_at_most", "", 0.1, 0.2, "passes"),
          (FILE, "largest_risk_at_most", "cells", 0.08, 0.09, "passes")],
         "largest risk, cells: 8.0 % (limit 9 %)"),
        ([(ATTACK, "reach_at_most", "taxicab", 0.3, 0.2, "breaks"),
          (ATTACK, "reach_at_most", "adhoc", 0.5, 0.2, "breaks")],
         "reach, Adhoc: 50.0 % (limit 20 %)"),
        ([(ATTACK, "conditional_rate_at_most", "adhoc", 0.5, 1.0, "unbreakable"),
          (ATTACK, "confirmed_at_most", "adhoc", 12.0, 40.0, "passes")], "confirmed records, Adhoc: 12 (limit 40)"),
        ([(ATTACK, "confirmed_at_most", "adhoc", 0.0, 0.0, "passes")], "confirmed records, Adhoc: 0 (limit 0)"),
        ([(ATTACK, "reach_at_most", "standard adhoc", 0.3, 0.2, "exceeds")],
         "reach, Adhoc at its defaults: 30.0 % (limit 20 %)"),
        ([(ATTACK, "reach_at_most", "exact_values age+sex", 0.3, 0.2, "exceeds")],
         "reach, Equal and alone: age and sex: 30.0 % (limit 20 %)"),
        ([(ATTACK, "reach_at_most", "taxicab without age", 0.3, 0.2, "exceeds")],
         "reach, Taxicab without age: 30.0 % (limit 20 %)"),
        ([(FILE, "dis_at_most", "", float("nan"), 0.2, "none")], "DIS: – (limit 20 %)"),
    ],
)  # fmt: skip
def test_what_the_deciding_limit_judged_is_beside_the_verdict(folder, lines, shown):
    """The gravest outcome decides, and of equal ones what is nearest to its bound, or furthest beyond it."""
    folder.add("a", "above", tables={"verdict/limits.csv": pd.DataFrame(lines, columns=LIMITS)})
    rows = overview.collect(folder.results, folder.reports)
    page = studies.page(rows).replace("\u00a0", " ")
    assert f">{shown}<" in page
    assert "What the limit judged" in page
