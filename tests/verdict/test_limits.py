"""Every limit at, just above and just below; what warnings do to a verdict (METHODS §6)."""

import pandas as pd
import pytest
from making.studies import plain
from making.warnings import Sentence, warning_table
from pydantic import ValidationError
from reident.sections.decision import Decision
from reident.study.model import Study
from reident.verdict import limits, terminal
from reident.verdict.settings import VerdictSettings

SETTINGS = VerdictSettings(None, 4, ())
NAN = float("nan")


def line(metric="taxicab", suspected=40, confirmed=10, n_puf=100, linked=50, single=16, right=4, **columns):
    """Return the rates of one metric for the whole study."""
    expected = columns.pop("expected_correct", 5.0)
    return {
        "metric": metric,
        "stratum": "ALL",
        "n_puf": n_puf,
        "n_eif": 10,
        "n_suspected": suspected,
        "n_confirmed": confirmed,
        "n_ambiguous": 0,
        "confirmed_rate": confirmed / n_puf,
        "conditional_rate": confirmed / suspected if suspected else NAN,
        "conditional_low": 0.1 if suspected else NAN,
        "conditional_high": 0.5 if suspected else NAN,
        "reach": confirmed / linked if linked else NAN,
        "best_rank_correct": expected,
        "best_rank_correct_rate": expected / suspected if suspected else NAN,
        "n_single": single,
        "n_single_confirmed": right if single else 0,
        "single_rate": right / single if single else NAN,
        "tolerance": 1,
        "n_compared": n_puf,
        "passing_rate": suspected / n_puf,
        **columns,
    }


def judged(decision, *lines, warnings=(), **tables):
    """Judge rates, and other tables, by the limits of a decision."""
    rates = {"rates.csv": pd.DataFrame(list(lines) or [line()])}
    read = {"prepared/warnings.csv": warning_table(warnings)}
    settings = SETTINGS if decision is None else VerdictSettings(Decision.model_validate(decision), 4, ())
    return limits.judge(settings, {**rates, **read, **tables})


def verdict(found, scope="ALL"):
    return found.verdict.set_index("scope").at[scope, "verdict"]


EXACT = [
    ("conditional_rate_at_most", 0.25),
    ("expected_correct_rate_at_most", 0.125),
    ("single_rate_at_most", 0.25),
    ("confirmed_rate_at_most", 0.1),
    ("reach_at_most", 0.2),
    ("confirmed_at_most", 10),
]
"""The value of each limit for the rates of :func:`line`."""


@pytest.mark.parametrize(("name", "value"), EXACT)
@pytest.mark.parametrize(("step", "expected"), [(-1, "above"), (0, "within"), (1, "within")])
@pytest.mark.parametrize("per_metric", [False, True])
def test_a_limit_of_metrics_at_just_above_and_just_below(name, value, step, expected, per_metric):
    bound = value + step * (1 if name == "confirmed_at_most" else 1e-6)
    found = judged({name: {"taxicab": bound} if per_metric else bound})
    assert verdict(found) == expected
    assert found.limits["value"].tolist() == [value]
    assert found.verdict["broken"][0] == (f"{name}: taxicab" if expected == "above" else "")


@pytest.mark.parametrize("n", [10, 41, 99_991, *(pytest.param(n, marks=pytest.mark.slow) for n in (30, 1000))])
def test_a_rate_that_is_the_limit_in_decimals_passes_and_the_next_one_does_not(n):
    """The rates are floating point numbers, the limits are decimals."""
    for k in range(0, n, max(1, n // 10)):
        for limit in (f"{k / n:.3f}", f"{k / n:.6f}"):
            found = judged({"conditional_rate_at_most": float(limit)}, line(suspected=n, confirmed=k))
            digits = len(limit.partition(".")[2])
            above = k * 10**digits > int(limit.replace(".", "")) * n
            assert (verdict(found) == "above") == above, (k, n, limit)


@pytest.mark.parametrize(("bound", "expected"), [(0.499999, "above"), (0.5, "within"), (0.500001, "within")])
def test_by_upper_compares_the_end_of_the_interval_and_the_other_limits_with_the_estimate(bound, expected):
    found = judged({"conditional_rate_at_most": bound, "reach_at_most": 0.2, "by": "upper"})
    assert verdict(found) == expected
    assert found.limits["value"].tolist() == [0.5, 0.2]


def test_a_rate_within_its_limit_whose_interval_reaches_above_is_unsure():
    assert judged({"conditional_rate_at_most": 0.3}).limits["outcome"].tolist() == ["unsure"]
    assert judged({"conditional_rate_at_most": 0.5}).limits["outcome"].tolist() == ["passes"]


def test_every_limit_names_the_metrics_that_break_it():
    found = judged(
        {"conditional_rate_at_most": {"taxicab": 0.2, "adhoc": 0.9}, "confirmed_at_most": 5},
        line(),
        line("adhoc", confirmed=20),
        line("unicity", confirmed=5),
    )
    assert found.verdict["broken"][0] == "conditional_rate_at_most: taxicab; confirmed_at_most: taxicab, adhoc"
    assert found.verdict[["n_limits", "n_broken"]].iloc[0].tolist() == [5, 3]


@pytest.mark.parametrize(("name", "value"), EXACT)
def test_where_nothing_is_suspected_every_limit_is_met(name, value):
    found = judged({name: value}, line(suspected=0, confirmed=0, single=0, expected_correct=0.0))
    assert verdict(found) == "within"


@pytest.mark.parametrize(
    ("tolerances", "expected"), [((1, 1), "within"), ((-1, 1), "reservations"), ((-1, -1), "none")]
)
def test_a_metric_that_can_suspect_nothing_never_passes(tolerances, expected):
    silent = {"suspected": 0, "confirmed": 0, "single": 0, "expected_correct": 0.0}
    lines = [
        line(metric, **(silent if tolerance < 0 else {}), tolerance=tolerance)
        for metric, tolerance in zip(("adhoc", "taxicab"), tolerances, strict=True)
    ]
    found = judged({"conditional_rate_at_most": 0.5}, *lines)
    assert verdict(found) == expected
    outcomes = found.limits.set_index("metric")["outcome"]
    for metric, tolerance in zip(("adhoc", "taxicab"), tolerances, strict=True):
        assert (outcomes[metric] == "none") == (tolerance < 0)


@pytest.mark.parametrize(
    ("grade", "within", "above"),
    [("notable", "within", "above"), ("understates", "reservations", "above"), ("invalidates", "none", "none")],
)
def test_warnings_bear_on_the_verdict_by_their_severity(grade, within, above):
    warnings = [Sentence(grade, "Check the codes.", 3, 0.03)]
    assert verdict(judged({"conditional_rate_at_most": 0.9}, warnings=warnings)) == within
    assert verdict(judged({"conditional_rate_at_most": 0.1}, warnings=warnings)) == above
    assert verdict(judged(None, warnings=warnings)) == "open"


WEAK = "the threshold is weak"


@pytest.mark.parametrize(
    ("metric", "tolerance", "suspected", "weak"),
    [
        ("euclidean", 3, 40, True),
        ("euclidean", 2, 40, False),
        ("euclidean", 15, 0, False),
        ("fellegi_sunter", 4, 40, False),
    ],
)
def test_a_threshold_is_weak_if_more_than_half_may_differ_and_a_pair_passes(metric, tolerance, suspected, weak):
    """Of four variables; 16 that all differ are not below the threshold of `primer`, so that no pair passes."""
    lines = judged(None, line(metric, suspected=suspected, confirmed=0, tolerance=tolerance)).warnings
    assert lines["warning"].str.contains(WEAK).tolist() == [True] * weak


@pytest.mark.parametrize(
    ("probabilities", "pairs", "weak"),
    [((0.9, 0.2), (15, 0), False), ((0.9, 0.1), (10, 10), False), ((0.9, 0.09), (10, 10), True), ((), (), False)],
)
def test_fellegi_sunter_is_judged_by_the_mean_match_probability(probabilities, pairs, weak):
    table = pd.DataFrame({"probability": probabilities, "n_pairs": pairs}, dtype=float)
    found = judged(
        {"conditional_rate_at_most": 0.9}, line("fellegi_sunter", tolerance=4), **{"weights/calibration.csv": table}
    )
    assert found.warnings["warning"].str.contains(WEAK).tolist() == [True] * weak
    assert verdict(found) == ("reservations" if weak else "within")
    if weak:
        assert "of the 20 suspected pairs is 49.5 %, so that most of them are chance" in found.warnings["warning"][0]


@pytest.mark.parametrize("converged", ["yes", "no"])
def test_weights_that_have_not_converged_leave_no_clean_verdict(converged):
    model = pd.DataFrame([{"rounds": 60, "converged": converged}])
    found = judged(
        {"conditional_rate_at_most": 0.9}, line("fellegi_sunter", tolerance=4), **{"weights/model.csv": model}
    )
    assert found.warnings["code"].tolist() == ["not_converged"] * (converged == "no")
    assert verdict(found) == ("within" if converged == "yes" else "reservations")


def file_risk(sizes=((1, 2), (2, 6), (5, 92)), dis="0.4", low="0.4", high="0.4"):
    """Return the cells by size and their records, and the summary."""
    cells = pd.DataFrame(sizes, columns=["cell_size", "n_records"])
    values = {"U": "2", "dis": dis, "dis_low": low, "dis_high": high}
    return {
        "filerisk/cells.csv": cells,
        "filerisk/summary.csv": pd.DataFrame(values.items(), columns=["quantity", "value"]),
    }


@pytest.mark.parametrize(
    ("decision", "sizes", "expected"),
    [
        ({"k_anonymity_at_least": 3}, [(3, 9)], "within"),
        ({"k_anonymity_at_least": 4}, [(3, 9)], "above"),
        ({"k_anonymity_at_least": 2}, [(3, 9)], "within"),
        ({"k_anonymity_at_least": 3, "records_below_k_at_most": 0.08}, None, "within"),
        ({"k_anonymity_at_least": 3, "records_below_k_at_most": 0.079999}, None, "above"),
        ({"k_anonymity_at_least": 3, "records_below_k_at_most": 0.080001}, None, "within"),
        ({"k_anonymity_at_least": 3}, [], "none"),
        ({"dis_at_most": 0.4}, None, "within"),
        ({"dis_at_most": 0.399999}, None, "above"),
        ({"dis_at_most": 0.400001}, None, "within"),
    ],
)
def test_a_limit_of_one_file_at_just_above_and_just_below(decision, sizes, expected):
    found = judged(decision, **file_risk(**({} if sizes is None else {"sizes": sizes})))
    assert verdict(found) == verdict(found, "file_risk") == expected


def scenarios(**compared):
    """Return the scenarios with their sample uniques and the records compared; a set of variables has no name."""
    lines = [(name, *own) for name, own in compared.items()] + [("", 9, 9)]
    return {"filerisk/scenarios.csv": pd.DataFrame(lines, columns=["scenario", "n_unique", "n_compared"])}


@pytest.mark.parametrize(
    ("limit", "expected", "named"),
    [
        (0.2, "within", ["neighbour", "employer"]),
        (0.199999, "above", ["neighbour", "employer"]),
        ({"employer": 0.2}, "within", ["employer"]),
        ({"employer": 0.1}, "above", ["employer"]),
        ({"neighbour": 0.1}, "within", ["neighbour"]),
        ({"nobody": 0.1}, "none", ["nobody"]),
        ({"nobody": 0.1, "employer": 0.2}, "reservations", ["employer", "nobody"]),
    ],
)
def test_a_limit_of_scenarios_at_just_above_and_just_below(limit, expected, named):
    tables = {**file_risk(), **scenarios(neighbour=(1, 10), employer=(2, 10), nobody=(0, 0))}
    if not isinstance(limit, dict):
        lines = tables["filerisk/scenarios.csv"]
        tables["filerisk/scenarios.csv"] = lines[lines["scenario"] != "nobody"]
    found = judged({"unique_share_at_most": limit}, **tables)
    assert verdict(found) == verdict(found, "file_risk") == expected
    assert found.limits["metric"].tolist() == named


@pytest.mark.parametrize(
    ("limit", "expected", "named"),
    [
        (0.2, "within", ["job", "income"]),
        (0.199999, "above", ["job", "income"]),
        ({"income": 0.1}, "within", ["income"]),
        ({"job": 0.1}, "above", ["job"]),
        ({"nothing": 0.1}, "none", ["nothing"]),
    ],
)
def test_a_limit_of_targets_at_just_above_and_just_below(limit, expected, named):
    lines = [("job", 1, "1", 0.9), ("job", 1, "mean", 0.2 + 1e-14), ("job", 2, "mean", 0.8)]
    lines += [("income", 1, "mean", 0.1), ("nothing", 1, "mean", float("nan"))]
    table = pd.DataFrame(lines, columns=["target", "danger", "file", "disco"])
    if not isinstance(limit, dict):
        table = table[table["target"] != "nothing"]
    found = judged({"disco_at_most": limit}, **{"attribution/summary.csv": table})
    assert verdict(found) == verdict(found, "attribute_disclosure") == expected
    assert found.limits["metric"].tolist() == named


@pytest.mark.parametrize(("limit", "expected"), [(0.05, "within"), (0.049999, "above")])
def test_a_limit_of_nearness_is_for_the_file_with_the_largest_excess(limit, expected):
    table = pd.DataFrame({"file": ["1", "2"], "share": [0.45, 0.55], "expected": [0.5, 0.5]})
    found = judged({"nearer_excess_at_most": limit}, **{"matching/closest.csv": table})
    assert verdict(found) == verdict(found, "closest") == expected
    assert found.limits["value"].tolist() == pytest.approx([0.05])


@pytest.mark.parametrize("limit", [0.05, 0.049999])
@pytest.mark.parametrize(("differs", "code"), [("income", "holdout_differs"), ("", "holdout_differs_jointly")])
def test_a_limit_of_nearness_has_no_verdict_where_the_holdout_differs(limit, differs, code):
    table = pd.DataFrame({"file": ["1", "2"], "share": [0.45, 0.55], "expected": [0.5, 0.5]})
    premise = pd.DataFrame({"comparison": ["neighbours", "variable"], "variable": ["", "income"]})
    premise = premise.assign(probability=[0.5, 0.001], differs=premise["variable"] == differs)
    found = judged({"nearer_excess_at_most": limit}, **{"matching/closest.csv": table, "matching/premise.csv": premise})
    assert verdict(found) == verdict(found, "closest") == "none"
    assert found.limits["outcome"].tolist() == ["none"]
    (warning,) = found.warnings.query("about == 'closest'").to_dict("records")
    assert (warning["severity"], warning["code"]) == ("invalidates", code)
    alike = {"matching/closest.csv": table, "matching/premise.csv": premise.assign(differs=False)}
    assert verdict(judged({"nearer_excess_at_most": limit}, **alike), "closest") in ("above", "within")


@pytest.mark.parametrize(
    ("ends", "outcome", "expected"),
    [
        (("1.0", "0.0001", "1.0"), "unsure", "none"),
        (("0.0", "0.0", "0.9"), "unsure", "reservations"),
        (("0.6", "0.5", "0.7"), "unsure", "none"),
        (("0.6", "0.500001", "0.7"), "breaks", "above"),
        (("0.4", "0.3", "0.500001"), "unsure", "reservations"),
        (("0.4", "0.3", "0.5"), "passes", "within"),
        (("", "", ""), "none", "none"),
    ],
)
def test_a_limit_inside_the_interval_of_dis_decides_nothing(ends, outcome, expected):
    """One unique and no pair; one pair and no unique; an interval that reaches below, and above; neither."""
    found = judged({"dis_at_most": 0.5}, **file_risk(dis=ends[0], low=ends[1], high=ends[2]))
    assert found.limits["outcome"].tolist() == [outcome]
    assert verdict(found) == verdict(found, "file_risk") == expected


@pytest.mark.parametrize(
    ("name", "column", "value"),
    [
        ("expected_match_risk_at_most", "expected_match_risk", 3.5),
        ("true_match_rate_at_most", "true_match_rate", 0.1),
        ("false_match_rate_at_least", "false_match_rate", 0.6),
    ],
)
def test_a_limit_of_matching_at_just_above_and_just_below(name, column, value):
    sign = 1 if name.endswith("_at_most") else -1
    milder = value * (0.5 if sign == 1 else 1.5)
    for mean, together in ((value, milder), (milder, value), (value, value), (value, float("nan"))):
        summaries = dict.fromkeys(("expected_match_risk", "true_match_rate", "false_match_rate"), 0.0)
        scenarios = pd.DataFrame(
            {"scenario": ["a", "b"], "listed": [True, False], "file": "mean"}
            | summaries | {column: [mean, 9 * value]}
        )  # fmt: skip
        pooled = pd.DataFrame(
            {"scenario": ["a", "a", "b"], "membership": ["certain", "uncertain", "certain"]}
            | summaries | {column: [together, 9 * value, 9 * value]}
        )  # fmt: skip
        tables = {"matching/scenarios.csv": scenarios, "matching/pooled.csv": pooled}
        for step, expected in ((-1e-6, "above"), (0, "within"), (1e-6, "within")):
            found = judged({name: value + sign * step}, **tables)
            assert verdict(found, "matching") == expected
            assert found.limits["metric"].tolist() == ["a"]


REFUSED = [
    ({}, "must have at least one limit"),
    ({"by": "upper"}, "must have at least one limit"),
    ({"by": "upper", "reach_at_most": 0.1}, "must not be `upper` without `conditional_rate_at_most`"),
    ({"dis_at_most": 0.1, "records_below_k_at_most": 0.1}, "without `k_anonymity_at_least`"),
    ({"conditional_rate_at_most": 1.1}, "less than or equal to 1"),
    ({"conditional_rate_at_most": {}}, "at least 1 item"),
    ({"confirmed_at_most": 1.5}, "valid integer"),
    ({"k_anonymity_at_least": 1}, "greater than or equal to 2"),
]


@pytest.mark.parametrize(("decision", "reason"), REFUSED)
def test_limits_that_cannot_be_are_refused(decision, reason):
    with pytest.raises(ValidationError, match=reason):
        Decision.model_validate(decision)


@pytest.mark.parametrize(
    ("decision", "reason"),
    [
        ({"reach_at_most": {"adhoc": 0.1}}, r"`\.decision\.reach_at_most\.adhoc` must be a limit of a metric"),
        ({"dis_at_most": 0.1}, r"`\.decision\.dis_at_most` must not be given without `file_risk`"),
        ({"unique_share_at_most": 0.1}, r"must not be given without `file_risk.scenarios`"),
        ({"disco_at_most": 0.1}, r"must not be given without `attribute_disclosure`"),
        ({"nearer_excess_at_most": 0.1}, r"must not be given without `matching.closest.holdout`"),
    ],
)  # fmt: skip
def test_limits_must_fit_the_study(decision, reason):
    with pytest.raises(ValidationError, match=reason):
        Study.model_validate(plain(decision=decision))


LINKS = [
    (0, "", None),
    (9, "notable", "True links lie outside"),
    (10, "understates", "True links lie outside"),
    (600, "understates", "Most true links"),
    (1000, "invalidates", "All true links"),
]


@pytest.mark.parametrize(("lost", "grade", "words"), LINKS)
def test_links_outside_the_strata_are_a_warning_by_their_share(lost, grade, words):
    account = pd.DataFrame(
        [("stratify", "iuf", "in", 1000), ("stratify", "iuf", "lost", lost), ("stratify", "iuf", "used", 1000 - lost)],
        columns=["step", "file", "cause", "rows"],
    )
    found = judged(None, **{"strata/account.csv": account}).warnings
    assert found["severity"].tolist() == ([grade] if grade else [])
    if words:
        assert found["warning"][0].startswith(words)
        assert (found["affected"][0], found["share"][0]) == (lost, lost / 1000)


def test_the_graver_warnings_come_first_and_each_says_what_it_is_about():
    read = warning_table([Sentence("notable", "n"), Sentence("invalidates", "i")])
    risk = warning_table([Sentence("understates", "u")])
    found = limits.judge(SETTINGS, {"prepared/warnings.csv": read, "filerisk/warnings.csv": risk}).warnings
    assert list(zip(found["about"], found["warning"], strict=True)) == [
        ("attack", "i"),
        ("file_risk", "u"),
        ("attack", "n"),
    ]


def test_the_terminal_shows_the_verdict_and_the_graver_warnings_whole():
    long = "Long " * 100 + "end."
    warnings = [Sentence("understates", long), *[Sentence("notable", "A small thing.")] * 2]
    found = judged({"conditional_rate_at_most": 0.9}, warnings=warnings)
    assert terminal.lines("mine", found.verdict, found.limits, found.warnings, "results/mine/verdict/warnings.csv") == [
        "mine: within the limit, with reservations",
        f"mine: warning, may understate the risk: {long}",
        "mine: 2 notable warnings in results/mine/verdict/warnings.csv",
    ]
    found = judged({"conditional_rate_at_most": 0.1})
    assert terminal.lines("mine", found.verdict, found.limits, found.warnings, "w.csv") == [
        "mine: above the limit (conditional_rate_at_most: taxicab)"
    ]
    assert len(terminal.log_lines(judged(None, warnings=warnings).warnings)) == 3


# Several files ------------------------------------------------------------------------------------


def joint(confirmed_rate, best=0.1, metric="taxicab", files="any"):
    """Return a line of the table of an intruder with several files."""
    line = {"metric": metric, "stratum": "ALL", "files": files, "confirmed_rate": confirmed_rate}
    return line | {"best_rank_correct_rate": best}


JOINT = {"together_confirmed_rate_at_most": 0.2, "together_best_rank_correct_rate_at_most": 0.3}


@pytest.mark.parametrize(
    ("rate", "best", "outcomes"),
    [
        (0.2, 0.3, ["passes", "passes"]),
        (0.2000001, 0.3, ["breaks", "passes"]),
        (0.2, 0.3000001, ["passes", "breaks"]),
        (0.0, NAN, ["passes", "nothing"]),
    ],
)
def test_an_intruder_with_several_files_has_limits_of_its_own(rate, best, outcomes):
    table = pd.DataFrame([joint(1.0, 1.0, files="all"), joint(rate, best)])
    found = judged({**JOINT, "conditional_rate_at_most": 0.9}, **{"together/rates.csv": table})
    own = found.limits[found.limits["about"] == "together"]
    assert list(own["limit"]) == list(JOINT)
    assert list(own["outcome"]) == outcomes
    assert verdict(found, "together") == ("above" if "breaks" in outcomes else "within")
    assert verdict(found, "attack") == "within"
    assert verdict(found) == verdict(found, "together")


def test_what_a_warning_says_of_the_attack_holds_for_several_files():
    table = pd.DataFrame([joint(0.1)])
    grave = Sentence("understates", "Codes are missing.", 3, 0.03)
    assert verdict(judged(JOINT, warnings=[grave], **{"together/rates.csv": table}), "together") == "reservations"
    fatal = Sentence("invalidates", "No link.")
    assert verdict(judged(JOINT, warnings=[fatal], **{"together/rates.csv": table}), "together") == "none"
    silent = judged(JOINT, line(tolerance=-1, n_suspected=0), **{"together/rates.csv": table})
    assert set(silent.limits["outcome"]) == {"none"}


def test_limits_for_several_files_need_several_files():
    with pytest.raises(
        ValidationError, match=r"`\.decision\.together_confirmed_rate_at_most` must not be given without"
    ):
        Study.model_validate(plain(decision={"together_confirmed_rate_at_most": 0.1}))


def test_a_metric_that_suspects_rare_values_alone_is_judged():
    """Its variables need not weigh enough on average, so that its tolerance is below 0."""
    found = judged({"single_rate_at_most": 0.5}, line(tolerance=-1, n_suspected=20, n_single=20, single_rate=0.8))
    assert set(found.limits["outcome"]) == {"breaks"}
    assert not found.warnings["warning"].str.contains("no pair can be suspected").any()
