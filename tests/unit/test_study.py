"""The study model: what a study file may say, what it means, what is refused, and what a digest covers."""

import copy
import os
from fractions import Fraction

import pytest
import yaml
from making.studies import PLAIN, plain, study
from reident.errors import InputError
from reident.pipeline import parts
from reident.study import model as studies


def first(model):
    return model.linking_variables[0]


def with_variable(**fields):
    return plain(linking_variables=[{"name": "x", "type": "categorical", **fields}])


def many_unknown(links):
    return {**plain()["files"], "iuf": {**plain()["files"]["iuf"], "unknown_links_at_most": links}}


SPELLINGS = [
    ("one key column needs no list", plain(), lambda s: s.record_files["puf"].id, ("p",)),
    ("the column is the name", plain(), lambda s: (first(s).puf, first(s).eif), ("x", "x")),
    (
        "a file may name it differently",
        with_variable(eif="E"),
        lambda s: (first(s).puf, first(s).eif),
        ("x", "E"),
    ),
    (
        "missing codes for both files",
        with_variable(missing=["-9", ""]),
        lambda s: first(s).missing.eif,
        ("-9", ""),
    ),
    (
        "a recode to what is missing in the other file",
        with_variable(missing={"eif": "-9"}, recode={"puf": {"a": "-9"}}),
        lambda s: first(s).recode.puf,
        {"a": "-9"},
    ),
    ("one missing code needs no list", with_variable(missing="-9"), lambda s: first(s).missing.puf, ("-9",)),
    (
        "missing codes of one file alone",
        with_variable(missing={"eif": ["."]}),
        lambda s: (first(s).missing.puf, first(s).missing.eif),
        ((), (".",)),
    ),
    (
        "one missing code of one file needs no list",
        with_variable(missing={"puf": "-9"}),
        lambda s: first(s).missing.puf,
        ("-9",),
    ),
    (
        "integer-coded with a hyphen",
        with_variable(**{"integer-coded": "true"}),
        lambda s: first(s).integer_coded,
        True,
    ),
    (
        "integer_coded with a line below",
        with_variable(integer_coded="true"),
        lambda s: first(s).integer_coded,
        True,
    ),
    ("a strata variable by its name alone", plain(strata=["s"]), lambda s: s.strata[0].eif, "s"),
    (
        "a metric without options",
        plain(metrics={"taxicab": None}),
        lambda s: s.metrics.taxicab.alpha,
        Fraction(1, 2),
    ),
    (
        "α as a fraction",
        plain(metrics={"taxicab": {"alpha": "1/3"}}),
        lambda s: s.metrics.taxicab.alpha,
        Fraction(1, 3),
    ),
    (
        "α as a decimal is exact",
        plain(metrics={"euclidean": {"alpha": "0.1"}}),
        lambda s: s.metrics.euclidean.alpha,
        Fraction(1, 10),
    ),
    (
        "metrics come in the order of the registry",
        plain(metrics={"adhoc": {}, "unicity": {}}),
        lambda s: list(s.chosen),
        ["unicity", "adhoc"],
    ),
    (
        "a key column of one name in both files is told apart",
        plain(
            files={
                "puf": {"path": "a", "id": ["id", "n"]},
                "eif": {"path": "b", "id": ["id", "m"]},
                "iuf": {"path": "c", "puf_id": ["u", "v"], "eif_id": ["w", "y"]},
            }
        ),
        lambda s: s.keys,
        {"puf": ("puf_id", "n"), "eif": ("eif_id", "m")},
    ),
    (
        "as many pairs kept as suspected",
        plain(rank_filter={"keep": "5"}),
        lambda s: s.rank_filter.max_pairs,
        5,
    ),
    (
        "thousands apart",
        plain(files=many_unknown("1_000")),
        lambda s: s.link_file.unknown_links_at_most,
        1000,
    ),
    ("a date", plain(date="2026-03-02"), lambda s: s.date.isoformat(), "2026-03-02"),
]


@pytest.mark.parametrize(
    ("sentence", "data", "look", "value"), SPELLINGS, ids=[case[0] for case in SPELLINGS]
)
def test_what_a_study_file_may_say(sentence, data, look, value):
    assert look(studies.Study.model_validate(data)) == value


def files(**sides):
    return {**copy.deepcopy(PLAIN["files"]), **sides}


ADHOC = "metrics.adhoc.scores"
NULL = 'write `"NULL"` in quotes for that word, or `""` for an empty cell.'
REFUSED = [
    ("an id with capitals", plain(id="Study"), "`id`: "),
    ("an id with a slash", plain(id="a/b"), "`id`: "),
    ("an id with a line end", plain(id="a\n"), "`id`: "),
    ("no id", {key: value for key, value in PLAIN.items() if key != "id"}, "this key is missing; add it"),
    ("a key that nobody knows", plain(metric={}), "`metric`: unknown key; did you mean `metrics`?"),
    (
        "a key that nobody knows, below",
        plain(binning={"bin": "4"}),
        "`binning.bin`: unknown key; did you mean `bins`?",
    ),
    ("neither files nor simulate", plain(files=None), "give exactly one of them"),
    ("no linking variable", plain(linking_variables=[]), "`linking_variables`"),
    ("no metric", plain(metrics={}), "names no metric; add at least one"),
    ("a metric that does not exist", plain(metrics={"taxycab": {}}), "did you mean `taxicab`?"),
    ("a type that does not exist", with_variable(type="ordinal"), "`linking_variables[1].type`"),
    (
        "a linking variable twice",
        plain(linking_variables=[PLAIN["linking_variables"][0]] * 2),
        "stands twice",
    ),
    ("a strata variable twice", plain(strata=["s", "s"]), "`s` stands twice in `strata`"),
    ("a variable for strata and linking", plain(strata=["c"]), "`c` is both"),
    (
        "the same column under two names",
        plain(strata=[{"name": "s", "eif": "c"}]),
        "is both a strata variable and a",
    ),
    (
        "a linking variable named as a key",
        with_variable(name="p"),
        "`p` is a key column and also something else",
    ),
    ("a strata variable named as a key", plain(strata=["e"]), "`e` is a key column and also something else"),
    (
        "a variable named as a result column",
        with_variable(name="score"),
        "`score` is the name of a result column",
    ),
    (
        "a key part twice",
        plain(
            files=files(
                puf={"path": "f", "id": ["p", "p"]}, iuf={"path": "f", "puf_id": ["p", "q"], "eif_id": "e"}
            )
        ),
        "`p` is a key column and also",
    ),
    (
        "links with fewer key parts than the file",
        plain(files=files(eif={"path": "f", "id": ["a", "b"]})),
        "`iuf.eif_id` has 1 columns and `eif.id` has 2; make them equal",
    ),
    ("an empty key", plain(files=files(eif={"path": "f", "id": []})), "`files.eif.id`"),
    (
        "an encoding that does not exist",
        plain(files=files(puf={"path": "f", "id": "p", "encoding": "utf-9"})),
        "utf-8",
    ),
    (
        "two delimiters",
        plain(files=files(puf={"path": "f", "id": "p", "delimiter": "||"})),
        "`files.puf.delimiter`",
    ),
    (
        "a quote as delimiter",
        plain(files=files(puf={"path": "f", "id": "p", "delimiter": '"'})),
        "`files.puf",
    ),
    (
        "a line end as delimiter",
        plain(files=files(puf={"path": "f", "id": "p", "delimiter": "\n"})),
        "`files.puf",
    ),
    ("an order for a number", with_variable(type="numeric", order=["1", "2"]), "go with `type: categorical`"),
    (
        "coded integers for a number",
        with_variable(type="numeric", integer_coded="yes"),
        "go with `type: categorical`",
    ),
    ("an order of one category", with_variable(order=["1"]), "`linking_variables[1].order`"),
    ("a category twice in the order", with_variable(order=["1", "2", "1"]), "stands twice in `order`"),
    ("a null among missing codes", with_variable(missing=["-9", None]), NULL),
    ("a null among those of one file", with_variable(missing={"puf": [None]}), NULL),
    ("a null in place of missing codes", with_variable(missing={"eif": None}), NULL),
    (
        "a recode to a missing code",
        with_variable(missing=["-9"], recode={"puf": {"a": "-9 "}}),
        "`recode` of `x` makes `-9 ` of a code of the puf, for which `missing` declares it; missing codes are",
    ),
    (
        "a recode to a missing code of coded integers",
        with_variable(missing={"eif": "9"}, integer_coded="true", recode={"eif": {"7": "09"}}),
        "add `7` to `missing` in place of recoding it",
    ),
    (
        "a section of one file's codes",
        with_variable(missing={"puf": {"a": "b"}}),
        "should be a list: write its items",
    ),
    (
        "a word for a section",
        plain(binning="5"),
        "`binning`: should be a section: write its keys below it, or as `{key:",
    ),
    (
        "a word for a table",
        with_variable(recode={"puf": "a"}),
        "`linking_variables[1].recode.puf`: should be a section",
    ),
    (
        "a word for a list",
        plain(strata="s"),
        "`strata`: should be a list: write its items in brackets, as in `[a, b]`",
    ),
    (
        "an empty list",
        plain(files=files(eif={"path": "f", "id": []})),
        "should have at least 1 item and has 0; add what",
    ),
    (
        "a list for a word",
        plain(title=["a"]),
        "`title`: should be one text, and is a list or a section; write it alone",
    ),
    (
        "a recode to null",
        with_variable(recode={"puf": {"a": None}}),
        "`linking_variables[1].recode.puf.a`: nothing is written, or null; write a value, in quotes if",
    ),
    (
        "a word for a number of bins",
        plain(binning={"bins": "five"}),
        "`binning.bins`: should be a whole number",
    ),
    (
        "a number of bins with an underscore",
        plain(binning={"bins": "5_0"}),
        "`binning.bins`: underscores stand between",
    ),
    (
        "α with an underscore",
        plain(metrics={"taxicab": {"alpha": "0.2_5"}}),
        "`metrics.taxicab.alpha`: underscores",
    ),
    (
        "a level with an underscore",
        plain(rates={"level": "0.9_5"}),
        "`rates.level`: underscores stand between thousands",
    ),
    (
        "a word for a level",
        plain(rates={"level": "high"}),
        "`rates.level`: should be a number, with a point before",
    ),
    ("a word for a truth value", with_variable(integer_coded="perhaps"), "should be true or false"),
    ("a date of seconds", plain(date="0"), "`date`: this is no day; write YYYY-MM-DD, such as 2026-03-31."),
    ("a date of a year", plain(date="2026"), "`date`: this is no day; write YYYY-MM-DD"),
    ("a date with a time", plain(date="2026-03-02T00:00:00"), "`date`: this is no day; write YYYY-MM-DD"),
    (
        "a date that no calendar has",
        plain(date="2026-02-30"),
        "`date`: is no day of the calendar; write YYYY-MM-DD",
    ),
    ("one bin", plain(binning={"bins": "1"}), "`binning.bins`"),
    ("bins of a file that does not exist", plain(binning={"cutpoints": "iuf"}), "`binning.cutpoints`"),
    (
        "keep below max_pairs",
        plain(rank_filter={"max_pairs": "6", "keep": "5"}),
        "`keep` (5) is below `max_pairs` (6)",
    ),
    ("no pairs at all", plain(rank_filter={"max_pairs": "0"}), "`rank_filter.max_pairs`"),
    ("α of 0", plain(metrics={"taxicab": {"alpha": "0"}}), "`metrics.taxicab.alpha`"),
    ("α above 1", plain(metrics={"euclidean": {"alpha": "1.0001"}}), "`metrics.euclidean.alpha`"),
    ("α that is no number", plain(metrics={"taxicab": {"alpha": "half"}}), "must be a number such as 0.5"),
    (
        "α of too many decimals to tell two scores apart",
        plain(metrics={"taxicab": {"alpha": "0.3333333333333333"}}),
        "`metrics.taxicab.alpha`: has more than twelve decimals; write it shorter, or as a fraction such as 1/3.",
    ),
    ("α over nothing", plain(metrics={"taxicab": {"alpha": "1/0"}}), "must be a number such as 0.5"),
    ("α that is no finite number", plain(metrics={"taxicab": {"alpha": "nan"}}), "`metrics.taxicab.alpha`"),
    (
        "an order of interactions that is full",
        plain(metrics={"unicity": {"interactions": "full", "max_order": "2"}}),
        "does",
    ),
    ("a level of 1", plain(rates={"level": "1"}), "`rates.level`"),
    (
        "a limit as a percentage",
        plain(decision={"conditional_rate_at_most": "5"}),
        "`decision.conditional_rate_at_most`",
    ),
    ("scores of no variable", plain(metrics={"adhoc": {"scores": {"z": "exact"}}}), f"`{ADHOC}` names `z`"),
    ("no rule", plain(metrics={"adhoc": {"scores": {"x": {}}}}), "exactly one of"),
    (
        "two rules",
        plain(
            metrics={"adhoc": {"scores": {"x": {"exact": "true", "bands": [{"within": "1", "score": "1"}]}}}}
        ),
        "exactly one of",
    ),
    (
        "a score above 5",
        plain(metrics={"adhoc": {"scores": {"x": {"bands": [{"within": "1", "score": "5.1"}]}}}}),
        f"`{ADHOC}.x.bands[1].score`",
    ),
    (
        "a score below 0",
        plain(metrics={"adhoc": {"scores": {"c": {"table": [{"puf": "a", "eif": "a", "score": "-1"}]}}}}),
        f"`{ADHOC}.c.table[1].score`",
    ),
    (
        "a score that is no number",
        plain(metrics={"adhoc": {"scores": {"x": {"bands": [{"within": "1", "score": "nan"}]}}}}),
        f"`{ADHOC}.x.bands[1].score`",
    ),
    (
        "bands of categories",
        plain(metrics={"adhoc": {"scores": {"c": {"bands": [{"within": "1", "score": "1"}]}}}}),
        "bands, which need a numeric variable",
    ),
    (
        "a table of numbers",
        plain(metrics={"adhoc": {"scores": {"x": {"table": [{"puf": "1", "eif": "1", "score": "1"}]}}}}),
        "a table, which needs a categorical variable",
    ),
    (
        "a band twice",
        plain(
            metrics={
                "adhoc": {
                    "scores": {
                        "x": {"bands": [{"within": "1", "score": "1"}, {"within": "1.0", "score": "2"}]}
                    }
                }
            }
        ),
        "two bands have the same `within`",
    ),
    (
        "a function without its hash",
        plain(metrics={"adhoc": {"scores": {"x": {"function": "m:f"}}}}),
        "needs the `sha256`",
    ),
    (
        "a function by a path",
        plain(metrics={"adhoc": {"scores": {"x": {"function": "../m:f"}}}}),
        f"`{ADHOC}.x.function`",
    ),
]


@pytest.mark.parametrize(("sentence", "data", "says"), REFUSED, ids=[case[0] for case in REFUSED])
def test_what_is_refused_with_line_and_key(tmp_path, sentence, data, says):
    path = saved(tmp_path, data)
    with pytest.raises(InputError) as caught:
        studies.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line ")
    assert says in message
    assert "\n" not in message


def saved(folder, data):
    path = folder / "s.yaml"
    text = {key: value for key, value in data.items() if value is not None}
    path.write_text(yaml.safe_dump(text, sort_keys=False), encoding="utf-8")
    return path


def test_the_first_mistake_is_told_with_its_line_and_how_many_follow(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text(
        "id: Bad Id\nfiles:\n  puf: {path: p.csv}\n  eif: {path: e.csv, id: e}\nmetrics: {}\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError, match=r"s\.yaml, line 1: `id`: .*\(2 more after this one\.\)"):
        studies.load(path)


MANY = [
    ("all", "23", None),
    ("auto", "24", "max_order"),
    ("full", "40", None),
    ("jointly_observed", "64", None),
]


@pytest.mark.parametrize(("interactions", "v", "says"), MANY)
def test_all_sets_are_tried_up_to_23_variables(tmp_path, interactions, v, says):
    variables = [{"name": f"x{at}", "type": "numeric"} for at in range(int(v))]
    path = saved(
        tmp_path, plain(linking_variables=variables, metrics={"unicity": {"interactions": interactions}})
    )
    if says is None:
        assert len(studies.load(path).linking_variables) == int(v)
    else:
        with pytest.raises(InputError, match=says):
            studies.load(path)


# Canonical form and digests

SAME = [
    ("keys in another order", dict(reversed(PLAIN.items()))),
    ("a default written out", plain(binning={"bins": "5", "scope": "stratum"}, strata=[])),
    ("α in another spelling", plain(metrics={"taxicab": {"alpha": "1/2"}})),
    ("α with another zero", plain(metrics={"taxicab": {"alpha": "0.50"}})),
    ("a list of one", plain(files=files(puf={"path": "puf.csv", "id": ["p"]}))),
]


@pytest.mark.parametrize(("sentence", "data"), SAME, ids=[case[0] for case in SAME])
def test_the_same_study_has_one_canonical_form(sentence, data):
    assert studies.canonical_json(studies.Study.model_validate(data)) == studies.canonical_json(study())


def test_the_canonical_form_reads_back_as_the_study():
    whole = study(
        strata=["s"],
        date="2026-03-02",
        decision={"conditional_rate_at_most": "0.05"},
        metrics={
            "unicity": {"max_order": "3"},
            "taxicab": {"alpha": "1/3"},
            "adhoc": {
                "scores": {"x": {"bands": [{"within": "0.1", "relative": "true", "score": "4.999999999999"}]}}
            },
        },
        linking_variables=[
            {"name": "x", "type": "numeric"},
            {"name": "é", "type": "categorical", "order": ["NO", "012"]},
        ],
    )
    text = studies.canonical_json(whole)
    assert studies.parse(text) == whole
    assert studies.canonical_json(studies.parse(text)) == text


STEPS = ("prepare", "stratify", "bin", "score", "rank", "confirm", "describe", "rate", "report")
TOUCHES = [
    ("the title", {"title": "T"}, {"report"}),
    ("the limit of the verdict", {"decision": {"conditional_rate_at_most": "0.1"}}, {"report"}),
    ("the interval", {"rates": {"interval": "wilson"}}, {"rate", "report"}),
    ("the rank limit", {"rank_filter": {"max_pairs": "4"}}, {"rank", "rate", "report"}),
    ("what scoring keeps", {"rank_filter": {"keep": "30"}}, {"score", "rank", "confirm", "rate", "report"}),
    ("α", {"metrics": {"taxicab": {"alpha": "0.4"}}}, {"score", "report"}),
    ("a metric more", {"metrics": {"taxicab": {}, "unicity": {}}}, {"describe", "rate", "report"}),
    ("the number of bins", {"binning": {"bins": "4"}}, {"bin", "report"}),
    ("the scope of standard deviations", {"binning": {"scope": "study"}}, {"bin", "score", "report"}),
    ("a strata variable", {"strata": ["s"]}, set(STEPS)),
    (
        "a tolerance for unknown links",
        {"files": files(iuf={**PLAIN["files"]["iuf"], "unknown_links_at_most": 1})},
        {"prepare", "report"},
    ),
]


@pytest.mark.parametrize(("sentence", "sections", "touched"), TOUCHES, ids=[case[0] for case in TOUCHES])
def test_a_change_touches_the_steps_that_take_it(sentence, sections, touched):
    before, after = study(), study(**sections)
    found = {
        step
        for step in STEPS
        if parts.digest(parts.part(before, step, "taxicab"))
        != parts.digest(parts.part(after, step, "taxicab"))
    }
    assert found == touched


def test_the_options_of_a_metric_touch_its_own_scores_alone():
    before, after = (study(metrics={"taxicab": {"alpha": alpha}, "unicity": {}}) for alpha in ("0.5", "0.4"))
    assert parts.part(before, "score", "unicity") == parts.part(after, "score", "unicity")
    assert parts.part(before, "score", "taxicab") != parts.part(after, "score", "taxicab")


# Files that a study names

PLACES = [
    ("nothing there", lambda _: None, "does not exist", "a path is relative to the study file"),
    ("a folder", lambda folder: (folder / "eif.csv").mkdir(), "is a folder", "name the file in it"),
    (
        "a link to itself",
        lambda folder: (folder / "eif.csv").symlink_to("eif.csv"),
        "is a link that leads to no file",
        "correct the link",
    ),
    ("a pipe", lambda folder: os.mkfifo(folder / "eif.csv"), "is a pipe or a device", "write it to a file"),
]


@pytest.mark.parametrize(("sentence", "make", "problem", "remedy"), PLACES, ids=[case[0] for case in PLACES])
def test_a_file_that_a_study_names_must_be_there(tmp_path, sentence, make, problem, remedy):
    path = saved(tmp_path, plain())
    for name in ("puf.csv", "iuf.csv"):
        (tmp_path / name).touch()
    make(tmp_path)
    with pytest.raises(InputError) as caught:
        studies.check_files(studies.load(path), path)
    assert str(caught.value).startswith(f"{path}, line 7: `files.eif.path`: eif.csv {problem}; ")
    assert remedy in str(caught.value)


NAMES = [
    (
        "a brace",
        "e{if}.csv",
        "e{if}.csv has a brace, which stands for several files in a workflow; rename the file",
    ),
    ("too long", "x" * 5000, "… cannot be looked up (File name too long); correct it, or move the file."),
    ("a NUL character", "e\0if.csv", "e?if.csv has a NUL character; correct it."),
]


@pytest.mark.parametrize(("sentence", "name", "says"), NAMES, ids=[case[0] for case in NAMES])
def test_a_path_that_cannot_be_one(tmp_path, sentence, name, says):
    path = saved(tmp_path, plain(files=files(puf={"path": name, "id": "p"})))
    with pytest.raises(InputError) as caught:
        studies.check_files(studies.load(path), path)
    assert str(caught.value).startswith(f"{path}, line 4: `files.puf.path`: ")
    assert says in str(caught.value)
    assert len(str(caught.value)) < 700


def test_the_file_of_a_scoring_function_must_be_there(tmp_path):
    rule = {"function": "own:score", "sha256": "0" * 64}
    path = saved(tmp_path, plain(metrics={"adhoc": {"scores": {"x": rule}}}))
    for name in ("puf.csv", "eif.csv", "iuf.csv"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=r"`metrics\.adhoc\.scores\.x\.function`: own\.py does not exist"):
        studies.check_files(studies.load(path), path)
    (tmp_path / "own.py").touch()
    studies.check_files(studies.load(path), path)
