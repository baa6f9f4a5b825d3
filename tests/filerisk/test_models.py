"""Models of the population: households, missing values, and files for which a model does not apply."""

import numpy as np
import pytest
from making import filerisk as making
from reident.filerisk import log_linear, modelling, superpopulation, uniques
from reident.filerisk import step as filerisk_step

SECTION = {**making.POPULATION, "population_models": {"household": ["region", "tenure"]}}


def modelled(section=SECTION, **keys):
    spec, files = making.prepared(section, **keys)
    return files, modelling.model(filerisk_step.modelling(spec), files.file, files.population)


def lines_of(result, kind=None):
    lines = result.population_models
    return lines if kind is None else lines[lines["kind"] == kind]


def test_incomplete_records_have_no_risk_unless_missing_is_a_value():
    _, excluded = modelled()
    complete = np.array(excluded.individual["matches"].to_pylist()) > 0
    assert 0 < complete.sum() < 300
    for name in ("individual_risk", "people"):
        values = np.array(excluded.individual[name].to_pylist(), float)
        assert (np.isfinite(values) == complete).all()
    assert excluded.individual["people"].to_numpy()[complete].sum() > 0
    _, category = modelled({**SECTION, "missing": "category"})
    assert min(category.individual["matches"].to_pylist()) == 1


def test_models_that_need_cells_say_so_where_missing_values_match_every_value():
    _, result = modelled({**SECTION, "missing": "wildcard"})
    assert set(lines_of(result, "individual")["status"]) == {"ok"}
    for kind in ("log-linear", "uniqueness"):
        lines = lines_of(result, kind)
        assert set(lines["status"]) == {"wildcard"}
        assert lines["estimate"].isna().all()
        assert not lines["recommended"].any()


@pytest.mark.parametrize(
    ("rows", "fraction", "statuses"),
    [
        ([(0, 0), (0, 0)], 0.1, {"main": "no_unique", "pitman": "no_unique", "zayatz": "no_unique"}),
        ([(0, 0), (1, 1), (2, 0)], 0.1, {"main": "ok", "pitman": "no_pair", "zayatz": "ok", "snb": "no_pair"}),
        ([(0, 0)], 0.1, {"main": "saturated", "pitman": "no_pair", "zayatz": "ok"}),
        ([(0, 0), (0, 0), (1, 1)], 1.0, dict.fromkeys(["main", "pitman", "zayatz", "snb"], "whole_population")),
    ],
)  # fmt: skip
def test_a_model_says_why_it_does_not_apply(rows, fraction, statuses):
    codes = np.array(rows, np.int32)
    sizes = uniques.cell_sizes(codes)
    found = {"main": log_linear.model(log_linear.table_of(codes, sizes), [(0,), (1,)], fraction).status}
    cells = np.bincount(uniques.cell_numbers(codes))
    found |= {name: getattr(superpopulation, name)(cells, fraction).status for name in ("pitman", "zayatz", "snb")}
    assert statuses.items() <= found.items()


def test_a_large_table_has_main_effects_without_a_test(monkeypatch):
    codes = making.drawn(300)[["sex", "region", "tenure"]].astype(np.int32).to_numpy()
    sizes = uniques.cell_sizes(codes)
    full = log_linear.table_of(codes, sizes)
    monkeypatch.setattr(log_linear, "MAX_CELLS", 3)
    large = log_linear.table_of(codes, sizes)
    main = [(0,), (1,), (2,)]
    expected, found = (log_linear.model(own, main, 0.1) for own in (full, large))
    assert (found.status, expected.status) == ("table_too_large", "ok")
    assert found.correct_matches.value == pytest.approx(expected.correct_matches.value)
    assert np.isnan(found.correct_matches.test)
    assert log_linear.model(large, [(0, 1), (2,)], 0.1).status == "table_too_large"


@pytest.mark.parametrize(
    ("fraction", "numbers", "expected"),
    [
        (0.05, {"pitman": 9, "zayatz": 5, "snb": 7}, "pitman"),
        (0.1, {"pitman": 9}, "pitman"),
        (0.05, {"zayatz": 5, "snb": 7}, None),
        (0.2, {"pitman": 9, "zayatz": 5, "snb": 7}, "zayatz"),
        (0.2, {"pitman": 9, "zayatz": 8, "snb": 7}, "snb"),
        (0.2, {"zayatz": 8, "snb": 7}, "snb"),
        (0.2, {"pitman": 9, "zayatz": 8}, None),
        (0.2, {}, None),
    ],
)
def test_the_rule_of_dankar_needs_the_estimates_that_it_compares(fraction, numbers, expected):
    models = {
        name: superpopulation.Uniques(
            1, numbers.get(name, float("nan")), 0, 0, "ok" if name in numbers else "not_converged"
        )
        for name in ("pitman", "zayatz", "snb")
    }
    assert superpopulation.chosen(fraction, models) == expected


@pytest.mark.parametrize(
    ("in_sample", "linear", "expected"),
    [
        (100, 50, "ok"),
        (100, 200, "ok"),
        (100, 49.9, "contradicted"),
        (100, 200.1, "contradicted"),
        (100, 0, "contradicted"),
        (0, 0, "ok"),
        (100, None, "unsupported"),
    ],
)
def test_a_log_linear_model_supports_a_model_of_uniqueness_that_is_near(in_sample, linear, expected):
    assert superpopulation.support(in_sample, linear) == expected


def test_a_model_of_uniqueness_is_recommended_only_with_the_support_of_a_log_linear_model(monkeypatch):
    """No quantity has two recommended values."""
    support, seen = superpopulation.support, []

    def supported(in_sample, linear):
        seen.append(linear)
        return support(in_sample, in_sample)

    _, result = modelled()
    lines = lines_of(result, "uniqueness")
    own = lines_of(result, "log-linear").query("recommended").set_index("quantity")
    assert set(lines.query("model == 'pitman'")["status"]) <= {"ok", "contradicted", "unsupported"}
    monkeypatch.setattr(superpopulation, "support", supported)
    _, result = modelled()
    lines = lines_of(result).query("recommended")
    assert lines["quantity"].tolist() == ["uniques_in_sample", "correct_matches", "population_uniques"]
    assert seen[0] == pytest.approx(own.at["uniques_in_sample", "estimate"])


def test_without_a_recommended_log_linear_model_no_model_of_uniqueness_is_recommended():
    sizes = np.array([1, 1, 1, 2, 2, 3, 3, 3])
    lines = list(modelling._uniqueness(sizes, 0.05, [], overlapping=False))
    assert {line.status for line in lines if line.model == "pitman"} == {"unsupported"}
    assert {line.status for line in lines if line.model == "zayatz"} == {"withheld"}
    assert not any(line.recommended for line in lines)


def estimated(test=0.3, value=10.0, low=8.0, high=12.0, status="ok", other=0.1):
    """A log-linear model with these numbers for τ₁, and `other` as the test of τ₂."""
    one = log_linear.Estimate(value, low, high, 0.0, test)
    return log_linear.Model(one, one._replace(value=9.0, low=8.0, high=12.0, test=other), np.zeros(0), status)


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        ({"main": estimated(27.5), "two-way": estimated(-27.64)}, None),
        ({"main": estimated(2.17)}, None),
        ({"main": estimated(1.96)}, None),
        ({"main": estimated(1.9599)}, "main"),
        ({"main": estimated(-1.9599), "two-way": estimated(0.2, other=-1.97)}, "main"),
        ({"main": estimated(0.3), "two-way": estimated(0.2)}, "two-way"),
        ({"main": estimated(0.3), "two-way": estimated(0.2, status="not_converged")}, "main"),
        ({"main": estimated(0.3), "two-way": estimated(0.2, status="saturated")}, "main"),
        ({"main": estimated(0.3), "two-way": estimated(0.2, value=12.1)}, "main"),
        ({"main": estimated(0.3), "two-way": estimated(0.2, value=7.9)}, "main"),
        ({"main": estimated(0.3, low=np.nan, high=np.nan)}, "main"),
        ({"main": estimated(np.nan)}, None),
        ({"main": estimated(0.3, other=np.nan)}, None),
    ],
)
def test_a_log_linear_model_is_recommended_only_if_nothing_speaks_against_it(models, expected):
    assert modelling._smallest_test(models) == expected


@pytest.mark.parametrize(
    ("levels", "margins", "expected"),
    [
        ((3,), [(0,)], True),
        ((3, 4), [(0,), (1,)], False),
        ((3, 4), [(0, 1)], True),
        ((3, 1, 4), [(0, 2), (1,)], True),
        ((3, 4, 2), [(0, 1), (0, 2), (1, 2)], False),
        ((3, 4, 2), [(0, 1, 2)], True),
    ],
)
def test_a_model_with_as_many_effects_as_cells_is_saturated(levels, margins, expected):
    codes = np.stack(np.unravel_index(np.arange(np.prod(levels)), levels), axis=1).astype(np.int32)
    codes = np.concatenate([codes, codes[1:], codes[2:]])
    table = log_linear.table_of(codes, uniques.cell_sizes(codes))
    assert log_linear.is_saturated(table, margins) == expected
    fitted, converged = log_linear.fit(table.counts, margins)
    assert converged
    assert np.allclose(fitted, table.counts) == expected
    assert (log_linear.model(table, margins, 0.1).status == "saturated") == expected


@pytest.mark.parametrize(("fraction", "withheld"), [(0.05, {"zayatz", "snb"}), (0.3, {"pitman"})])
def test_the_models_that_the_rule_does_not_choose_are_withheld(fraction, withheld):
    sizes = np.repeat([1, 1, 1, 1, 2, 2, 3, 4], [1, 1, 1, 1, 2, 2, 3, 4])
    lines = list(modelling._uniqueness(sizes, fraction, [], overlapping=False))
    assert withheld <= {line.model for line in lines if line.status == "withheld"}
    assert all(np.isfinite(line.estimate) for line in lines if line.status == "withheld")


def _populations(seed, people=400_000, fraction=0.05, interaction=0.5, levels=(8, 2, 6, 5, 10, 4)):
    """Populations with effects of the variables and of all pairs, and a sample of each."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        logarithm = np.zeros(levels)
        for i, n in enumerate(levels):
            shape = [n if j == i else 1 for j in range(len(levels))]
            logarithm = logarithm + rng.normal(0, 0.8, shape)
        for i in range(len(levels)):
            for j in range(i):
                shape = [n if k in (i, j) else 1 for k, n in enumerate(levels)]
                logarithm = logarithm + rng.normal(0, interaction, shape)
        mean = np.exp(logarithm)
        population = rng.poisson(mean * people / mean.sum())
        yield population, rng.binomial(population, fraction)


@pytest.mark.long
def test_the_truth_is_in_the_interval_of_recommended_models_of_all_populations_but_two():
    inside, n = np.zeros(2, int), 0
    for population, counts in _populations(4):
        single = counts == 1
        truth = (population[single] == 1).sum(), (1 / population[single]).sum()
        cells = np.stack(np.unravel_index(np.arange(counts.size), counts.shape), axis=1)
        codes = np.repeat(cells, counts.ravel(), axis=0).astype(np.int32)
        table = log_linear.table_of(codes, uniques.cell_sizes(codes))
        found = {
            name: log_linear.model(table, log_linear.margins_of(name, "abcdef"), 0.05) for name in ("main", "two-way")
        }
        name = modelling._smallest_test(found)
        if name is None:
            continue
        best, n = found[name], n + 1
        estimates = (best.population_uniques, best.correct_matches)
        inside += [own.low <= value <= own.high for own, value in zip(estimates, truth, strict=True)]
    assert inside.min() >= n - 2
    assert n > 0
