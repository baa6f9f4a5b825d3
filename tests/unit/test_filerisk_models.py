"""Models of the population: households, missing values, and files for which a model does not apply."""

import numpy as np
import pytest
from making import filerisk as making
from oracles import population as oracle
from reident.filerisk import log_linear, modelling, superpopulation, uniques
from reident.filerisk.prepare import HOUSEHOLD
from reident.pipeline import parts

SECTION = {**making.POPULATION, "population_models": {"household": ["region", "tenure"]}}


def modelled(section=SECTION, **keys):
    spec, files = making.prepared(section, **keys)
    return files, modelling.model(parts.modelling(spec), files.file, files.population)


def lines_of(result, kind=None):
    lines = result.population_models
    return lines if kind is None else lines[lines["kind"] == kind]


def test_households_are_those_of_equal_values_and_an_empty_value_is_one_of_its_own():
    people = making.drawn(60).assign(home=["a", "b", ""] * 20, wing=["1", "1", "2", "2"] * 15)
    section = {**making.FILE_RISK, "population_models": {"household": ["home", "wing"]}}
    files, result = modelled(section, file=people)
    number = files.file[HOUSEHOLD].to_numpy()
    own = people.sort_values("pid", key=lambda names: names)[["home", "wing"]].to_numpy().tolist()
    for i, one in enumerate(own):
        for j, other in enumerate(own):
            assert (number[i] == number[j]) == (i == j or (one == other and "" not in one))
    assert set(number.tolist()) == set(range(number.max() + 1))
    shuffled = modelled(section, file=people.sample(frac=1, random_state=2))[0]
    assert shuffled.file[HOUSEHOLD].to_numpy().tolist() == number.tolist()
    risks = result.individual.to_pandas()
    for _, group in risks.groupby(number):
        expected = 1 - np.prod(1 - group["individual_risk"].fillna(0))
        assert group["household_risk"].to_numpy() == pytest.approx(expected)


def test_the_truth_is_that_of_the_population():
    files, result = modelled()
    key = [name for name in files.file.column_names if name in {"age", "sex", "job", "region", "tenure"}]
    everyone = files.population.select(key).to_pandas()
    matches = everyone.groupby(key).size()  # those with a missing value are left out
    own = files.file.select(key).to_pandas().dropna()
    of_people = own.apply(lambda row: matches[tuple(row)], axis=1).to_numpy()
    alone = own.groupby(key)[key[0]].transform("size").to_numpy() == 1
    truth = lines_of(result).set_index("quantity")["truth"].groupby(level=0).first()
    assert truth["uniques_in_sample"] == (of_people[alone] == 1).sum()
    assert truth["correct_matches"] == pytest.approx((1 / of_people[alone]).sum())
    assert truth["expected_reidentifications"] == pytest.approx((1 / of_people).sum())
    assert truth["population_uniques"] == (matches == 1).sum()


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


def test_weights_that_are_equal_are_the_declared_fraction():
    people = making.drawn(300).assign(weight="10")
    of_weights = {**making.FILE_RISK, "weight": "weight", "population_models": {}}
    del of_weights["sampling_fraction"]
    first = modelled(of_weights, file=people)[1]
    second = modelled({**making.FILE_RISK, "population_models": {}}, file=people)[1]
    assert first.population_models.to_csv() == second.population_models.to_csv()


@pytest.mark.parametrize(
    ("rows", "fraction", "statuses"),
    [
        ([(0, 0), (0, 0)], 0.1, {"main": "no_unique", "pitman": "no_unique", "zayatz": "no_unique"}),
        (
            [(0, 0), (1, 1), (2, 0)],
            0.1,
            {"main": "ok", "pitman": "no_pair", "zayatz": "ok", "snb": "no_pair"},
        ),
        ([(0, 0)], 0.1, {"main": "ok", "pitman": "no_pair", "zayatz": "ok"}),
        (
            [(0, 0), (0, 0), (1, 1)],
            1.0,
            dict.fromkeys(["main", "pitman", "zayatz", "snb"], "whole_population"),
        ),
    ],
)
def test_a_model_says_why_it_does_not_apply(rows, fraction, statuses):
    codes = np.array(rows, np.int32)
    sizes = uniques.cell_sizes(codes)
    found = {"main": log_linear.model(log_linear.table_of(codes, sizes), [(0,), (1,)], fraction).status}
    cells = np.bincount(uniques.cell_numbers(codes))
    found |= {
        name: getattr(superpopulation, name)(cells, fraction).status for name in ("pitman", "zayatz", "snb")
    }
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
        (100, (50, 0.3), "ok"),
        (100, (200, -5.0), "ok"),
        (100, (49.9, 0.3), "contradicted"),
        (100, (200.1, 0.3), "contradicted"),
        (100, (0, 0.3), "contradicted"),
        (0, (0, 0.3), "ok"),
        (100, (100, 1.97), "unsupported"),
        (100, None, "unsupported"),
    ],
)
def test_a_log_linear_model_supports_a_model_of_uniqueness_that_is_near(in_sample, linear, expected):
    assert superpopulation.support(in_sample, linear) == expected


def test_a_model_of_uniqueness_is_recommended_only_with_the_support_of_a_log_linear_model(monkeypatch):
    """The larger test of the two sums counts, and no quantity has two recommended values."""
    support, seen = superpopulation.support, []

    def supported(in_sample, linear):
        seen.append(linear)
        return support(in_sample, (in_sample, 0.0))

    _, result = modelled()
    lines = lines_of(result, "uniqueness")
    own = lines_of(result, "log-linear").query("recommended").set_index("quantity")
    assert set(lines.query("model == 'pitman'")["status"]) <= {"ok", "contradicted", "unsupported"}
    monkeypatch.setattr(superpopulation, "support", supported)
    _, result = modelled()
    lines = lines_of(result).query("recommended")
    assert lines["quantity"].tolist() == ["uniques_in_sample", "correct_matches", "population_uniques"]
    assert seen[0] == pytest.approx((own.at["uniques_in_sample", "estimate"], own["test"].max()))


def test_without_a_recommended_log_linear_model_no_model_of_uniqueness_is_recommended():
    sizes = np.array([1, 1, 1, 2, 2, 3, 3, 3])
    lines = list(modelling._uniqueness(sizes, 0.05, [], overlapping=False))
    assert {line.status for line in lines if line.model == "pitman"} == {"unsupported"}
    assert {line.status for line in lines if line.model == "zayatz"} == {"ok"}
    assert not any(line.recommended for line in lines)


@pytest.mark.parametrize("sizes", [[1, 6], [1, 1, 5, 5, 5], [1, 1, 1, 3], [1] * 40 + [2, 2]])
def test_the_edge_of_pitmans_model_is_the_formula_of_ewens(sizes):
    found, fraction = superpopulation.pitman(np.array(sizes), 0.02), 0.02
    at, information = superpopulation._largest_likelihood(np.array(sizes))
    theta, alpha = superpopulation._parameters(at)
    assert (alpha, information.shape) == (0, (1, 1))
    assert theta == pytest.approx(oracle.ewens(sizes), rel=1e-9)
    expected = oracle.ewens_uniques(theta, sum(sizes) / fraction, sum(sizes), sizes.count(1))
    assert (found.in_population, found.in_sample) == pytest.approx(expected, rel=1e-9)
    assert 0 <= found.low < found.in_sample < found.high <= sizes.count(1)


def test_a_file_of_uniques_alone_says_nothing_about_pitmans_model():
    """Its likelihood is largest at the other edge, where everybody is unique."""
    assert superpopulation.pitman(np.ones(9, np.int64), 0.02).status == "no_pair"
    nearer = [oracle.pitman_likelihood(1, alpha, [1] * 9) for alpha in (0, 0.5, 0.9, 0.999)]
    assert nearer == sorted(nearer)
    assert nearer[-1] == pytest.approx(0, abs=0.01)


def test_margins_of_a_model_are_its_largest_sets():
    assert log_linear.margins_of("main", "abc") == [(0,), (1,), (2,)]
    assert log_linear.margins_of("two-way", "abc") == [(0, 1), (0, 2), (1, 2)]
    assert log_linear.margins_of((("c", "a"), ("a", "c")), "abc") == [(1,), (0, 2)]


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


@pytest.mark.slow
def test_the_truth_is_in_the_interval_for_18_of_20_populations():
    inside = np.zeros(2, int)
    for population, counts in _populations(4):
        single = counts == 1
        truth = (population[single] == 1).sum(), (1 / population[single]).sum()
        cells = np.stack(np.unravel_index(np.arange(counts.size), counts.shape), axis=1)
        codes = np.repeat(cells, counts.ravel(), axis=0).astype(np.int32)
        table = log_linear.table_of(codes, uniques.cell_sizes(codes))
        found = {
            name: log_linear.model(table, log_linear.margins_of(name, "abcdef"), 0.05)
            for name in ("main", "two-way")
        }
        best = found[modelling._smallest_test(found)]
        estimates = (best.population_uniques, best.correct_matches)
        inside += [own.low <= value <= own.high for own, value in zip(estimates, truth, strict=True)]
    assert inside.min() >= 18
