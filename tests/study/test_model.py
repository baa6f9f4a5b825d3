"""The study model: what a study file may say, what it means, what is refused, and what a digest covers."""

from fractions import Fraction

import pytest
from making.analyses import gathered
from making.examples import cases
from making.studies import PLAIN, changed, files, plain, refusal, saved, settings_digests, study
from reident.errors import InputError
from reident.study import model as studies


def first(model):
    return model.linking_variables[0]


def with_variable(**fields):
    return plain(linking_variables=[{"name": "x", "type": "categorical", **fields}])


def many_unknown(links):
    return files(iuf={**PLAIN["files"]["iuf"], "unknown_links_at_most": links})


SPELLINGS = [
    ("one key column needs no list", plain(), lambda s: s.linked_files.puf.id, ("p",)),
    ("the column is the name", plain(), lambda s: (first(s).puf, first(s).eif), ("x", "x")),
    ("a file may name it differently", with_variable(eif="E"), lambda s: (first(s).puf, first(s).eif), ("x", "E")),
    ("missing codes for both files", with_variable(missing=["-9", ""]), lambda s: first(s).missing.eif, ("-9", "")),
    ("a recode to what is missing in the other file", with_variable(missing={"eif": "-9"}, recode={"puf": {"a": "-9"}}),
     lambda s: first(s).recode.puf, {"a": "-9"}),
    ("one missing code needs no list", with_variable(missing="-9"), lambda s: first(s).missing.puf, ("-9",)),
    ("missing codes of one file alone", with_variable(missing={"eif": ["."]}),
     lambda s: (first(s).missing.puf, first(s).missing.eif), ((), (".",))),
    ("one missing code of one file needs no list", with_variable(missing={"puf": "-9"}), lambda s: first(s).missing.puf,
     ("-9",)),
    ("integer-coded with a hyphen", with_variable(**{"integer-coded": "true"}), lambda s: first(s).integer_coded, True),
    ("integer_coded with a line below", with_variable(integer_coded="true"), lambda s: first(s).integer_coded, True),
    ("a strata variable by its name alone", plain(strata=["s"]), lambda s: s.strata[0].eif, "s"),
    ("a metric without options", plain(metrics={"taxicab": None}), lambda s: s.metrics.taxicab.alpha, Fraction(1, 2)),
    ("α as a fraction", plain(metrics={"taxicab": {"alpha": "1/3"}}), lambda s: s.metrics.taxicab.alpha,
     Fraction(1, 3)),
    ("α as a decimal is exact", plain(metrics={"euclidean": {"alpha": "0.1"}}), lambda s: s.metrics.euclidean.alpha,
     Fraction(1, 10)),
    ("metrics come in the order of the registry", plain(metrics={"adhoc": {}, "unicity": {}}), lambda s: list(s.chosen),
     ["unicity", "adhoc"]),
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
    ("as many pairs kept as suspected", plain(rank_filter={"keep": "5"}), lambda s: s.rank_filter.max_pairs, 5),
    ("thousands apart", plain(files=many_unknown("1_000")), lambda s: s.linked_files.iuf.unknown_links_at_most, 1000),
    ("a date", plain(date="2026-03-02"), lambda s: s.date.isoformat(), "2026-03-02"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "look", "value"), cases(SPELLINGS))
def test_accepted_spellings(data, look, value):
    assert look(studies.Study.model_validate(data)) == value


ADHOC = "metrics.adhoc.scores"
NULL = 'Write `"NULL"` in quotation marks for that word, or `""` for an empty cell.'
REFUSED = [
    (plain(id="Study"), "`id` must consist of lower-case letters, digits and hyphens."),
    (plain(id="a/b"), "`id` must consist of lower-case letters, digits and hyphens."),
    (plain(id="a\n"), "`id` must consist of lower-case letters, digits and hyphens."),
    ({key: value for key, value in PLAIN.items() if key != "id"}, "`id` is missing. Add it"),
    (plain(strata=[{"name": "s", "type": "categorical"}]),
     "`strata[1].type` is not a key of a stratum. A stratum has no type"),
    (plain(strata=[{"name": "s", "order": ["a", "b"]}]),
     "`strata[1].order` is not a key of a stratum. A stratum has no type"),
    (plain(bins=3), "`bins` is not a known key here. Write `binning.bins`, or remove it."),
    (plain(metric={}), "`metric` is not a known key. Did you mean `metrics`?"),
    (plain(binning={"bin": "4"}), "`binning.bin` is not a known key. Did you mean `bins`?"),
    (plain(files=None), "`metrics` must have exactly one source of records: `files`, `microaggregate`, or"),
    (plain(linking_variables=[]), "`linking_variables` is missing. List"),
    (plain(metrics={}), "`metrics` must have at least one metric. Add one"),
    (plain(metrics={"taxycab": {}}), "Did you mean `taxicab`?"),
    (with_variable(type="ordinal"), "`linking_variables[1].type`"),
    (plain(linking_variables=[PLAIN["linking_variables"][0]] * 2), "`x` is given twice in `linking_variables`"),
    (plain(strata=["s", "s"]), "`s` is given twice in `strata`"),
    (plain(strata=["c"]), "`c` must not be both"),
    (plain(strata=[{"name": "s", "eif": "c"}]), "must not be both a strata variable and a"),
    (with_variable(name="p"), "`p` must not be the name of a key column and of another"),
    (plain(strata=["e"]), "`e` must not be the name of a key column and of another"),
    (with_variable(name="score"), "`score` must not be a name in the study"),
    (plain(files=files(puf={"path": "f", "id": ["p", "p"]}, iuf={"path": "f", "puf_id": ["p", "q"], "eif_id": "e"})),
     "`p` must not be the name of a key column and of another"),
    (plain(files=files(eif={"path": "f", "id": ["a", "b"]})),
     "`files.iuf.eif_id` must have as many columns as the key of `eif` (`id`, or with `units`"),
    (plain(files=files(eif={"path": "f", "id": []})), "`files.eif.id`"),
    (plain(files=files(puf={"path": "f", "id": "p", "encoding": "utf-9"})), "utf-8"),
    (plain(files=files(puf={"path": "f", "id": "p", "delimiter": "||"})), "`files.puf.delimiter`"),
    (plain(files=files(puf={"path": "f", "id": "p", "delimiter": '"'})), "`files.puf"),
    (plain(files=files(puf={"path": "f", "id": "p", "delimiter": "\n"})), "`files.puf"),
    (with_variable(type="numeric", order=["1", "2"]), "must not have `order` or `integer_coded` with `type: numeric`"),
    (with_variable(type="numeric", integer_coded=True),
     "must not have `order` or `integer_coded` with `type: numeric`"),
    (with_variable(order=["1"]), "`linking_variables[1].order`"),
    (with_variable(order=["1", "2", "1"]), "`linking_variables[1].order` must not contain a category twice"),
    (with_variable(missing=["-9", None]), NULL),
    (with_variable(missing={"puf": [None]}), NULL),
    (with_variable(missing={"eif": None}), NULL),
    (with_variable(missing={"eif": "9"}, integer_coded=True, recode={"eif": {"7": "09"}}),
     "Add `7` to `missing.eif` instead."),
    (with_variable(missing={"puf": {"a": "b"}}), "must be a list. Write its items"),
    (plain(binning="5"), "`binning` must be a section. Write its keys below it, or as `{key:"),
    (with_variable(recode={"puf": "a"}), "`linking_variables[1].recode.puf` must be a section"),
    (plain(strata="s"), "`strata` must be a list. Write its items in brackets, as in `[a, b]`"),
    (plain(files=files(eif={"path": "f", "id": []})), "must have at least 1 item, but has 0. Add what"),
    (plain(title=["a"]), "`title` must be a single value, not a list or a section. Write one value."),
    (with_variable(recode={"puf": {"a": None}}),
     "`linking_variables[1].recode.puf.a` must not be absent or null. Write a value, in quotation marks if"),
    (plain(binning={"bins": "five"}), "`binning.bins` must be an integer"),
    (plain(binning={"bins": "5_0"}), "`binning.bins` must not have underscores"),
    (plain(metrics={"taxicab": {"alpha": "0.2_5"}}), "`metrics.taxicab.alpha` must not have underscores"),
    (plain(rates={"level": "0.9_5"}), "`rates.level` must not have underscores except between thousands"),
    (plain(rates={"level": "high"}), "`rates.level` must be a number. Write decimals with a point"),
    (with_variable(integer_coded="perhaps"), "must be `true` or `false`"),
    (with_variable(integer_coded="true"), "must be `true` or `false`"),
    (plain(rates={"level": "1e-400"}), "`rates.level` is so close to 0"),
    (plain(date="0"), "`date` is not a date (YYYY-MM-DD). Write for example 2026-03-31."),
    (plain(date="2026"), "`date` is not a date (YYYY-MM-DD)"),
    (plain(date="2026-03-02T00:00:00"), "`date` is not a date (YYYY-MM-DD)"),
    (plain(date="2026-02-30"), "`date` is not a valid date (YYYY-MM-DD)"),
    (plain(binning={"bins": "1"}), "`binning.bins`"),
    (plain(binning={"cutpoints": "iuf"}), "`binning.cutpoints`"),
    (plain(rank_filter={"max_pairs": "6", "keep": "5"}),
     "`rank_filter.keep` must be at least `max_pairs` (6), but is 5."),
    (plain(rank_filter={"max_pairs": "0"}), "`rank_filter.max_pairs`"),
    (plain(metrics={"taxicab": {"alpha": "0"}}), "`metrics.taxicab.alpha`"),
    (plain(metrics={"euclidean": {"alpha": "1.0001"}}), "`metrics.euclidean.alpha`"),
    (plain(metrics={"taxicab": {"alpha": "half"}}), "must be a number. Write a decimal such as 0.5"),
    (plain(metrics={"taxicab": {"alpha": "0.3333333333333333"}}),
     "`metrics.taxicab.alpha` must have at most 12 decimal places. Round it, or write a fraction such as 1/3."),
    (plain(metrics={"taxicab": {"alpha": "1e9999999"}}),
     "`metrics.taxicab.alpha` must have an exponent from -308 to 308. Write the number without it."),
    (plain(metrics={"unicity": {"interactions": "full", "max_order": "2"}}),
     "`metrics.unicity.max_order` must not be given with `interactions: full`"),
    (plain(rates={"level": "1"}), "`rates.level`"),
    (plain(rates={"interval": "clustered"}), "`rates.cluster` is missing. Name the columns"),
    (plain(rates={"cluster": ["hh", "hh"]}), "`hh` is given twice in `rates.cluster`"),
    (plain(metrics={"adhoc": {"scores": {"z": "exact"}}}), f"`{ADHOC}.z` is not the score of a linking variable"),
    (plain(metrics={"adhoc": {"scores": {"x": {}}}}), "exactly one of"),
    (plain(metrics={"adhoc": {"scores": {"x": {"exact": True, "bands": [{"within": "1", "score": "1"}]}}}}),
     "exactly one of"),
    (plain(metrics={"adhoc": {"scores": {"x": {"bands": [{"within": "1", "score": "5.1"}]}}}}),
     f"`{ADHOC}.x.bands[1].score`"),
    (plain(metrics={"adhoc": {"scores": {"c": {"table": [{"puf": "a", "eif": "a", "score": "-1"}]}}}}),
     f"`{ADHOC}.c.table[1].score`"),
    (plain(metrics={"adhoc": {"scores": {"x": {"bands": [{"within": "1", "score": "nan"}]}}}}),
     f"`{ADHOC}.x.bands[1].score`"),
    (plain(metrics={"adhoc": {"scores": {"c": {"bands": [{"within": "1", "score": "1"}]}}}}),
     "must not have `bands`, because the variable is categorical"),
    (plain(metrics={"adhoc": {"scores": {"x": {"table": [{"puf": "1", "eif": "1", "score": "1"}]}}}}),
     "must not have a `table`, because the variable is numeric"),
    (
        plain(
            metrics={
                "adhoc": {
                    "scores": {
                        "x": {"bands": [{"within": "1", "score": "1"}, {"within": "1.0", "score": "2"}]}
                    }
                }
            }
        ),
        "`metrics.adhoc.scores.x.bands` must not have the same `within` twice",
    ),
    (plain(metrics={"adhoc": {"scores": {"x": {"function": "m:f"}}}}), "`metrics.adhoc.scores.x.sha256` is missing"),
    (plain(metrics={"adhoc": {"scores": {"x": {"function": "../m:f"}}}}), f"`{ADHOC}.x.function`"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "says"), REFUSED)
def test_invalid_studies_are_refused_with_line_and_key(tmp_path, data, says):
    path = saved(tmp_path, data)
    with refusal(path, says):
        studies.load(path)


def test_the_first_mistake_is_reported_with_the_number_of_further_ones(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(
        "id: Bad Id\nfiles:\n  puf: {path: p.csv}\n  eif: {path: e.csv, id: e}\nmetrics: {}\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match=r"study\.yaml, line 1: `id` must .*\(2 more lines have mistakes\.\)"):
        studies.load(path)


# Canonical form and digests

SAME = [
    ("keys in another order", dict(reversed(PLAIN.items()))),
    ("a default written out", plain(binning={"bins": "5", "scope": "stratum"}, strata=[])),
    ("α in another spelling", plain(metrics={"taxicab": {"alpha": "1/2"}})),
    ("α with another zero", plain(metrics={"taxicab": {"alpha": "0.50"}})),
    ("a list of one", plain(files=files(puf={"path": "puf.csv", "id": ["p"]}))),
    ("no font", plain(font=None)),
]


@pytest.mark.parametrize("data", cases(SAME))
def test_equal_studies_have_equal_canonical_forms(data):
    assert studies.canonical_json(studies.Study.model_validate(data)) == studies.canonical_json(study())


def test_the_canonical_form_reads_back_as_the_study():
    whole = study(
        strata=["s"],
        date="2026-03-02",
        decision={"conditional_rate_at_most": "0.05"},
        metrics={
            "unicity": {"max_order": "3"},
            "taxicab": {"alpha": "1/3"},
            "adhoc": {"scores": {"x": {"bands": [{"within": "0.1", "relative": "true", "score": "4.999999999999"}]}}},
        },
        linking_variables=[
            {"name": "x", "type": "numeric"},
            {"name": "é", "type": "categorical", "order": ["NO", "012"]},
        ],
    )
    text = studies.canonical_json(whole)
    again = studies.Study.model_validate_json(text)
    assert again == whole
    assert studies.canonical_json(again) == text


CLAIMS = {"confirm", "rate", "challenge"}
TOUCHES = [
    ("the title", {"title": "T"}, {"report"}),
    ("the study before", {"predecessor": "p-2025"}, set()),
    ("the limit of the verdict", {"decision": {"conditional_rate_at_most": "0.1"}}, {"judge"}),
    (
        "the limit on the surest claims",
        {"decision": {"surest": {"right": "0.9", "at_most": "5"}}},
        {"judge", "rate", "challenge"},
    ),
    ("how far other attacks go", {"challenge": "none"}, {"challenge"}),
    ("the interval", {"rates": {"interval": "wilson"}}, CLAIMS),
    ("the clusters", {"rates": {"cluster": "hh"}}, {"prepare", "check_description", *CLAIMS}),
    ("the rank limit", {"rank_filter": {"max_pairs": "4"}}, CLAIMS),
    ("what scoring keeps", {"rank_filter": {"keep": "30"}}, {"score", "confirm", "challenge"}),
    ("α", {"metrics": {"taxicab": {"alpha": "0.4"}}}, {"score", "challenge"}),
    ("a metric more", {"metrics": {"taxicab": {}, "unicity": {}}}, {"rate", "challenge"}),
    (
        "labels of codes",
        {
            "linking_variables": [
                {"name": "x", "type": "numeric"},
                {"name": "c", "type": "categorical", "labels": {"1": "one"}},
            ]
        },
        set(),
    ),
    ("the number of bins", {"binning": {"bins": "4"}}, {"bin", "challenge"}),
    ("the scope of standard deviations", {"binning": {"scope": "study"}}, {"bin", "score", "challenge"}),
    ("a strata variable", {"strata": ["s"]}, {"prepare", "check_description", "stratify"}),
    ("units", {"units": {"puf": "hh", "eif": "household"}},
     {"prepare", "check_description", "challenge", "score", "confirm"}),
    ("a tolerance for unknown links", {"files": files(iuf={**PLAIN["files"]["iuf"], "unknown_links_at_most": 1})},
     {"prepare", "check_description"}),
]  # fmt: skip


@pytest.mark.parametrize(("sections", "touched"), cases(TOUCHES))
def test_a_change_affects_the_steps_that_take_it(sections, touched):
    assert changed(study(), study(**sections)) == {"resolve", *touched}


AGAIN = gathered("ATTACKED_AGAIN")
"""The steps that attack changed files, each with a slice of the settings of the attack."""
OF_ATTACKS = {
    "the interval": {"rates": {"interval": "wilson"}},
    "what scoring keeps": {"rank_filter": {"keep": "30"}},
    "the rank limit": {"rank_filter": {"max_pairs": "4"}},
    "the number of bins": {"binning": {"bins": "4"}},
    "α": {"metrics": {"taxicab": {"alpha": "0.4"}}},
    "the order of categories, which counts for weights": {
        "linking_variables": [
            {"name": "x", "type": "numeric"},
            {"name": "c", "type": "categorical", "order": ["1", "2"]},
        ]
    },
}


@pytest.mark.parametrize("own", AGAIN, ids=lambda own: own["step"])
def test_a_change_affects_the_steps_that_attack_again_as_far_as_they_take_it(own):
    def is_touched(change):
        return own["step"] in changed(study(**own["sections"]), study(**own["sections"] | change))

    assert {name for name, change in OF_ATTACKS.items() if is_touched(change)} == own["for_changes_of"]
    assert is_touched(own["for_options"])


def test_words_of_the_report_affect_no_other_step():
    units, limit = {"puf": "hh", "eif": "household"}, {"conditional_rate_at_most": "0.1"}
    assert changed(study(units=units), study(units=units | {"kind": "household"})) == {"resolve"}
    assert changed(study(), study(intruder="an employer")) == {"resolve"}
    whose = {"set_by": "the board", "set_on": "2026-01-15"}
    searches = {own["step"] for own in AGAIN if "decision" in own["sections"]}
    assert changed(study(decision=limit), study(decision=limit | whose)) == {"resolve", "judge", *searches}


def test_the_options_of_a_metric_affect_only_its_own_scores():
    before, after = (study(metrics={"taxicab": {"alpha": alpha}, "unicity": {}}) for alpha in ("0.5", "0.4"))
    assert settings_digests(before, "score", metric="unicity") == settings_digests(after, "score", metric="unicity")
    assert settings_digests(before, "score", metric="taxicab") != settings_digests(after, "score", metric="taxicab")
