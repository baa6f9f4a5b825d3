"""`reident verdict`: an exit status for each verdict, and nothing that the results measure."""

import json

import pandas as pd
import pytest
from reident.archive import verdict
from reident.verdict import terminal

CASES = [("within", 0), ("above", 3), ("reservations", 4), ("none", 5), ("open", 5)]


class Finished:
    """A release with a verdict; its numbers are told apart by their digits."""

    name = "survey"

    def __init__(self, whole):
        lines = [("ALL", whole, 0, 1, 2), *([] if whole == "open" else [("file_risk", whole, 0, 1, 0)])]
        columns = ["scope", "verdict", "invalidates", "understates", "notable"]
        limits = [
            ("file_risk", "largest_risk_at_most", "individual", 0.777, 0.09, "breaks"),
            ("file_risk", "k_anonymity_at_least", None, 777.0, 5, "passes"),
            ("attack", "confirmed_at_most", "any", float("nan"), 10, "none"),
        ]
        names = ["about", "limit", "metric", "value", "bound", "outcome"]
        rows = [] if whole == "open" else limits
        self.tables = {
            "verdict/summary.csv": pd.DataFrame(lines, columns=columns),
            "verdict/limits.csv": pd.DataFrame(rows, columns=names),
        }

    def table(self, path):
        return self.tables.get(path)


@pytest.mark.parametrize(("whole", "status"), CASES)
def test_each_verdict_has_its_status_and_no_number_of_the_results(whole, status, monkeypatch):
    monkeypatch.setattr(verdict, "finished", lambda *_: Finished(whole))
    for as_json in (False, True):
        lines, found = verdict.run("study.yaml", None, as_json=as_json)
        assert found == status
        assert "777" not in "\n".join(lines)
    facts = json.loads(lines[0])
    assert (facts["study"], facts["verdict"], facts["status"]) == ("survey", whole, status)
    assert facts["analyses"] == ({} if whole == "open" else {"file_risk": whole})
    assert facts["warnings"] == {"invalidates": 0, "understates": 1, "notable": 2}
    if whole != "open":
        assert facts["limits"][0] == {
            "about": "file_risk", "limit": "largest_risk_at_most", "metric": "individual", "bound": 0.09,
            "outcome": "breaks",
        }  # fmt: skip
        assert [limit["metric"] for limit in facts["limits"]] == ["individual", "", "any"]


def test_the_lines_name_the_verdict_each_limit_and_the_warnings(monkeypatch):
    monkeypatch.setattr(verdict, "finished", lambda *_: Finished("above"))
    lines, _ = verdict.run("study.yaml", None, as_json=False)
    assert lines == [
        "survey: above the limit",
        "  file_risk: largest_risk_at_most 0.09 (individual): broken",
        "  file_risk: k_anonymity_at_least 5: met",
        "  attack: confirmed_at_most 10 (any): not judged",
        "  warnings, may understate the risk: 1",
        "  warnings, notable: 2",
    ]


@pytest.mark.parametrize(
    ("outcomes", "invalidates", "why"),
    [
        (["unbreakable", "unbreakable"], 0, "no result can break the limits"),
        (["none", "none"], 1, "a warning may invalidate the results"),
        (["none", "unbreakable"], 0, "the results have nothing that a limit could judge"),
        (["unsure", "passes"], 0, "an interval reaches to both sides of a limit"),
    ],
)
def test_without_a_verdict_the_reason_is_told(outcomes, invalidates, why, monkeypatch):
    found = Finished("none")
    names = zip(("a", "b"), outcomes, strict=True)
    lines = [("file_risk", "dis_at_most", name, 0.3, 0.2, outcome) for name, outcome in names]
    columns = found.tables["verdict/limits.csv"].columns
    found.tables["verdict/limits.csv"] = pd.DataFrame(lines, columns=columns)
    summary = found.tables["verdict/summary.csv"].assign(broken="", invalidates=invalidates)
    found.tables["verdict/summary.csv"] = summary
    monkeypatch.setattr(verdict, "finished", lambda *_: found)
    lines, _ = verdict.run("study.yaml", None, as_json=False)
    assert lines[0] == f"survey: no verdict, since {why}"
    tables = [found.tables[f"verdict/{name}.csv"] for name in ("summary", "limits")]
    no_warning = pd.DataFrame({"severity": [], "warning": []})
    assert terminal.lines("survey", *tables, no_warning, "w.csv") == [lines[0]]
