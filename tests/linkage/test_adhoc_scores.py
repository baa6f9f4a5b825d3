"""The analyst's scores of a variable: the categories of a table are those of the files, however they are spelled."""

import contextlib
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from making.studies import in_strata, study, table
from reident.errors import InputError
from reident.linkage import step as linkage_step
from reident.linkage.metrics import REGISTRY, adhoc
from reident.linkage.metrics.contract import ScoringContext
from reident.linkage.pairing import Comparison


def scored(options, variables, keep, functions, **rows):
    """What the metric gives for rows of values of the variables, in one stratum."""
    model = study(linking_variables=variables, metrics={"adhoc": options})
    files, stratum = {}, {}
    for side, own in rows.items():
        text = table(" ".join(variable["name"] for variable in variables), *own)
        numeric = variables[0]["type"] == "numeric"
        files[side] = text.set_column(0, "v", text["v"].cast(pa.float64())) if numeric else text
        stratum[side] = in_strata(*[0] * len(own))
    pairing = Comparison(linkage_step.variables(model), files, stratum, 1).pairing(0)
    context = ScoringContext(keep=keep, functions=tuple(functions))
    return REGISTRY["adhoc"].score(pairing, model.metrics.adhoc, context)


def scores(rule, puf, eif, functions=(), **variable):
    """{(PUF value, EIF value): score} of one variable, for the pairs above half of what it can score."""
    variables = [{"name": "v", "type": "categorical", **variable}]
    found = scored({"scores": {"v": rule}}, variables, 100, functions, puf=puf, eif=eif)
    lines = zip(found.puf.tolist(), found.eif.tolist(), found.score.tolist(), strict=True)
    return {(puf[p], eif[e]): score for p, e, score in lines}


CELL = {"puf": "1", "eif": "2", "score": "4"}
TABLES = [
    ("the pair that is named, in its direction", [CELL], {}, {("1", "2"): 4.0}),
    (
        "the rest by `otherwise`",
        [CELL],
        {"otherwise": "3"},
        {("1", "1"): 3.0, ("1", "2"): 4.0, ("2", "1"): 3.0, ("2", "2"): 3.0},
    ),
    ("coded integers in another spelling", [{"puf": "01", "eif": "2.0", "score": "4"}], {}, {("1", "2"): 4.0}),
    ("blanks around", [{"puf": " 1", "eif": "2 ", "score": "4"}], {}, {("1", "2"): 4.0}),
    ("a category that no file has", [{"puf": "1", "eif": "7", "score": "4"}, CELL], {}, {("1", "2"): 4.0}),
]


@pytest.mark.parametrize(("sentence", "cells", "rest", "found"), TABLES, ids=[case[0] for case in TABLES])
def test_tables(sentence, cells, rest, found):
    rule = {"table": cells, **rest}
    assert scores(rule, ["1", "2", "~"], ["1", "2", "~"], integer_coded=True) == found


BANDS = [
    (
        "the narrowest band that holds the difference, itself included",
        [("1", "5"), ("0", "4"), ("2", "3")],
        {},
        [4, 5, 3],
    ),
    ("beyond all bands", [("0", "3")], {"beyond": "5"}, [3, 5, 5]),
]


@pytest.mark.parametrize(("sentence", "bands", "rest", "found"), BANDS, ids=[case[0] for case in BANDS])
def test_bands(sentence, bands, rest, found):
    rule = {"bands": [{"within": within, "score": score} for within, score in bands], **rest}
    expected = dict(zip([("10", "10"), ("10", "11"), ("10", "12")], map(float, found), strict=True))
    assert scores(rule, ["10"], ["10", "11", "12", "~"], type="numeric") == expected


def own_rule(file: Path, body: str, module: str = "") -> dict[str, str]:
    """The rule of a scoring function: equal values score 5."""
    file.write_text(OWN.format(body=body, module=module), encoding="utf-8")
    return {"function": "own:f", "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}


OWN = "import sys\nprint('SECRET')\n{module}\ndef f(p, e):\n    {body}\n    return 5.0 * (p == e)\n"
FOREIGN = [
    ({"body": "print(p)"}, None),
    ({"body": "sys.stderr.write(str(p))"}, None),
    ({"body": "import os; os.write(2, str(p).encode())"}, None),
    ({"body": "sys.__stderr__.write(str(p))"}, None),
    ({"body": "raise ValueError(p)"}, r"own\.py, line 5: the scoring function of `v` failed \(ValueError\)"),
    ({"body": "raise SystemExit(str(p))"}, r"own\.py, line 5: .* `v` failed \(SystemExit\)"),
    ({"body": "return float(p.item())"}, r"own\.py, line 5: .* `v` failed \(ValueError\)"),
    ({"body": "__import__('numpy').stack([p, e.T.repeat(2)])"}, r"own\.py, line 5: .* failed \(ValueError\)"),
    ({"body": "return p.repeat(9)"}, r"the scoring function of `v` failed \(ValueError\)"),
    ({"body": "return {}['SECRET']", "module": "#\n#"}, r"own\.py, line 6: .*`v` failed \(KeyError\)"),
    ({"module": "raise SystemExit('SECRET')"}, r"own\.py, line 3: the file cannot be loaded \(SystemExit\)"),
    ({"module": "\nraise ValueError('SECRET')"}, r"own\.py, line 4: .* be loaded \(ValueError\)"),
    ({"module": "SECRET = = 1"}, r"own\.py, line 3: the file cannot be loaded \(SyntaxError\)"),
]


@pytest.mark.parametrize(("own", "says"), FOREIGN, ids=[" ".join(own.values()) for own, _ in FOREIGN])
@pytest.mark.parametrize("most", [0, 512])
def test_an_own_function_shows_nothing_of_what_it_is_given(tmp_path, capfd, monkeypatch, own, says, most):
    monkeypatch.setattr(adhoc, "MAX_TABULATED", most)
    file = tmp_path / "own.py"
    rule = own_rule(file, **{"body": "pass", **own})
    with contextlib.nullcontext() if says is None else pytest.raises(InputError, match=says) as refused:
        assert scores(rule, ["SECRET"], ["SECRET"], functions=[file]) == {("SECRET", "SECRET"): 5.0}
    assert "SECRET" not in "".join(capfd.readouterr()) + str(refused)


def test_an_own_function_shows_nothing_when_the_process_ends(tmp_path):
    """Whether its values are tabulated or not."""
    file = tmp_path / "own.py"
    rule = own_rule(file, "import atexit; atexit.register(print, p, file=sys.__stderr__)")
    code = (
        "import pathlib; from linkage.test_adhoc_scores import adhoc, scores\n"
        "for adhoc.MAX_TABULATED in (0, 512):\n"
        f"    print(len(scores({rule}, ['SECRET'], ['SECRET'], functions=[pathlib.Path({str(file)!r})])))"
    )
    path = os.pathsep.join([*filter(None, sys.path), str(Path(__file__).parents[1])])
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, check=True, text=True)
    assert (ended.stdout, ended.stderr) == ("1\n1\n", "")


@pytest.mark.parametrize("most", [0, 512])
def test_an_own_function_may_change_its_arguments_but_no_missing_value_scores(tmp_path, monkeypatch, most):
    monkeypatch.setattr(adhoc, "MAX_TABULATED", most)
    file = tmp_path / "own.py"
    rule = own_rule(file, "p[p != p] = e[e != e] = 7.0")
    found = scores(rule, ["7", "~", "8"], ["7", "~", "9"], functions=[file], type="numeric")
    assert found == {("7", "7"): 5.0}


NEAR = "return 5.0 / (1.0 + abs(p - e)) + 0 * (1 / p > e)"
LONG = "return np.minimum(5.0, np.char.str_len((p + e).astype(str)))"
KINDS = [
    ("numeric", NEAR, ["0", "-0.0", "1", "2.5", "1000", "-3", "~"]),
    ("categorical", LONG, ["a", "bb", "ccc", "dddd", "~"]),
]


@pytest.mark.parametrize(("kind", "body", "values"), KINDS)
@pytest.mark.parametrize(("n_puf", "n_eif"), [(0, 3), (3, 0), (1, 1), (9, 70), (70, 9)])
def test_a_function_asked_once_for_each_pair_of_values_scores_as_if_asked_for_each_pair_of_records(
    tmp_path, monkeypatch, kind, body, values, n_puf, n_eif
):
    file = tmp_path / "own.py"
    rule = own_rule(file, body, module="import numpy as np; np.seterr(all='ignore')")
    rng = np.random.default_rng(n_puf)
    for missing in (values, ["~"]):
        puf, eif = (rng.choice(missing, n).tolist() for n in (n_puf, n_eif))
        monkeypatch.setattr(adhoc, "MAX_PUF_VALUES", 2)
        monkeypatch.setattr(adhoc, "LEAST_CELLS", 4)
        by_pair = every_score(rule, puf, eif, [file], kind)
        monkeypatch.setattr(adhoc, "MAX_TABULATED", 0)
        by_block = every_score(rule, puf, eif, [file], kind)
        monkeypatch.undo()
        for one, other in zip(by_pair, by_block, strict=True):
            assert np.array_equal(one, other)


def every_score(rule, puf, eif, files, kind):
    """What the metric gives for one variable with a function and one without."""
    variables = [{"name": "v", "type": kind}, {"name": "w", "type": "categorical"}]
    rows = {
        side: [f"{value} {at % 3}" for at, value in enumerate(values)] for side, values in (("puf", puf), ("eif", eif))
    }
    found = scored({"scores": {"v": rule}, "threshold": "0"}, variables, 40, files, **rows)
    return found.puf, found.eif, found.score, found.ambiguous
