"""Models of the population against their definitions (METHODS §7.1–7.4)."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from making.examples import examples
from making.kernels import uniform_files
from oracles import population as oracle
from reident.filerisk import individual, log_linear, modelling, superpopulation, uniques
from reident.filerisk.settings import ModellingSettings

CODES = uniform_files((0, 40), 4, 4, [0.0, 0.15, 1.0])
SIZES = st.lists(st.integers(1, 6), min_size=1, max_size=30)


@examples(60)
@given(f=st.integers(1, 60), share=st.floats(0.01, 1))
def test_the_individual_risk_is_the_mean_of_the_negative_binomial(f, share):
    found = individual.risk(np.array([f]), np.array([f / share]))[0]
    assert found == pytest.approx(oracle.individual_risk(f, f / share, 20_000), rel=1e-10)


@examples(100)
@given(f=st.integers(1, 100), power=st.floats(-12, -0.0001))
def test_the_individual_risk_is_stable_for_every_probability(f, power):
    people = f / 10**power
    assume(people > f)
    found = individual.risk(np.array([f]), np.array([people]))[0]
    assert found == pytest.approx(oracle.individual_risk_exactly(f, people), rel=2e-12)


@examples(60)
@given(codes=CODES, wildcard=st.booleans(), seed=st.integers(0, 99))
def test_matches_and_their_weights_are_those_of_every_pair(codes, wildcard, seed):
    weights = np.random.default_rng(seed).integers(1, 9, len(codes)) / 4
    sizes, people = individual.matches(codes, weights, wildcard=wildcard)
    records = [tuple(row) for row in codes.tolist()]
    assert (sizes.tolist(), people.tolist()) == oracle.matches(records, weights.tolist(), wildcard)


@examples(40)
@given(risks=st.lists(st.none() | st.floats(0, 1), max_size=12), seed=st.integers(0, 99))
def test_a_household_is_safe_if_all_its_records_are(risks, seed):
    values = np.array([np.nan if one is None else one for one in risks], float)
    number = np.unique(np.random.default_rng(seed).integers(0, 4, len(values)), return_inverse=True)[1]
    expected = [1 - np.prod([1 - (one or 0) for one, own in zip(risks, number, strict=True) if own == h])
                for h in range(len(set(number.tolist())))]  # fmt: skip
    assert individual.of_households(values, number) == pytest.approx(expected, abs=1e-12)


@examples(25)
@given(seed=st.integers(0, 2**32), model=st.sampled_from(["main", "two-way", (("a", "c"),)]))
def test_a_log_linear_model_is_the_poisson_regression_with_its_test(seed, model):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.8, 2, (3, 2, 4))).astype(float)
    margins = log_linear.margins_of(model, "abc")
    assume(all(log_linear._margin(counts, axes).min() > 0 for axes in margins))
    assume((counts == 1).any())
    fitted, converged = log_linear.fit(counts, margins)
    assume(converged)
    assume(fitted.min() > 1e-3)
    assert fitted == pytest.approx(oracle.fit(counts, margins), rel=1e-5)
    tested = log_linear._tested(counts, fitted, margins, 0.05)
    for which in (1, 2):
        expected = oracle.bias_and_test(counts, fitted, margins, 0.05, which)
        assert tested[which - 1] == pytest.approx(expected, rel=2e-3, abs=1e-6)


@examples(40)
@given(power=st.floats(-4, 2.3))
def test_moments_of_a_unique_are_sums_over_its_people(power):
    nu = 10**power
    one = np.array([nu])
    assert log_linear.mean_reciprocal(one)[0] == pytest.approx(oracle.poisson_mean(lambda f: 1 / f, nu))
    square = oracle.poisson_mean(lambda f: 1 / f**2, nu)
    assert log_linear.mean_reciprocal_square(one)[0] == pytest.approx(square, rel=1e-9)


@examples(30)
@given(sizes=SIZES, theta=st.floats(0.1, 30), alpha=st.floats(0.05, 0.95))
def test_the_likelihood_of_pitman_seats_one_record_after_another(sizes, theta, alpha):
    at = np.array([np.log(theta + alpha), np.log(alpha / (1 - alpha))])
    value, gradient, information = superpopulation._likelihood(at, np.array(sizes))
    assert value == pytest.approx(oracle.pitman_likelihood(theta, alpha, sizes), abs=1e-8)
    step = 1e-4
    for j, move in enumerate(np.eye(2) * step):
        up, down = (superpopulation._likelihood(at + sign * move, np.array(sizes)) for sign in (1, -1))
        assert gradient[j] == pytest.approx((up[0] - down[0]) / (2 * step), abs=1e-4)
        assert information[j] == pytest.approx(-(up[1] - down[1]) / (2 * step), abs=1e-4)


@examples(30)
@given(sizes=SIZES, fraction=st.sampled_from([0.02, 0.1, 0.5]))
def test_models_of_uniqueness_are_their_definitions_or_say_why_not(sizes, fraction):
    cells = np.array(sizes)
    people = max(round(sum(sizes) / fraction), sum(sizes) + 1)
    found = {name: getattr(superpopulation, name)(cells, fraction) for name in ("pitman", "zayatz", "snb")}
    if 1 not in sizes:
        assert {one.status for one in found.values()} == {"no_unique"}
        return
    assert found["zayatz"].in_sample == pytest.approx(oracle.zayatz(sizes, people))
    assert found["zayatz"].in_population == pytest.approx(found["zayatz"].in_sample / fraction)
    if 2 not in sizes:
        assert found["snb"].status == "no_pair"
    assert found["pitman"].status == ("ok" if max(sizes) > 1 else "no_pair")
    for one in found.values():
        assert one.status != "ok" or one.in_sample >= 0
    if found["pitman"].status == "ok":
        _check_pitman(sizes, fraction, found["pitman"])


def _check_pitman(sizes, fraction, found):
    at, _ = superpopulation._largest_likelihood(np.array(sizes))
    theta, alpha = superpopulation._parameters(at)
    best = oracle.pitman_likelihood(theta, alpha, sizes)
    for other in np.append(np.linspace(0, 0.98, 15), alpha):
        for power in np.linspace(-3, 6, 40):
            assert oracle.pitman_likelihood(10**power - other, other, sizes) <= best + 1e-9
    people = sum(sizes) / fraction
    assert found.low <= found.in_sample <= found.high
    if alpha:
        expected = oracle.pitman_uniques(theta, alpha, round(people))
        assert found.in_population == pytest.approx(expected, rel=1e-6)
        return
    assert theta == pytest.approx(oracle.ewens(sizes), rel=1e-9)
    expected = oracle.ewens_uniques(theta, people, sum(sizes), sizes.count(1))
    assert (found.in_population, found.in_sample) == pytest.approx(expected, rel=1e-9)


@examples(25)
@given(alpha=st.floats(0.2, 3), beta=st.floats(0.05, 0.9), fraction=st.sampled_from([0.15, 0.4]))
def test_the_slide_negative_binomial_has_the_expected_uniques_and_pairs(alpha, beta, fraction):
    one, two = oracle.snb_expected(alpha, beta, fraction)
    assert superpopulation._alpha(beta, fraction, two / one) == pytest.approx(alpha, rel=1e-6)
    assert superpopulation._single_rate(beta, fraction, two / one) == pytest.approx(one / fraction, rel=1e-6)


@examples(25)
@given(codes=CODES, people=CODES, wildcard=st.booleans(), seed=st.integers(0, 99), weighted=st.booleans())
def test_no_file_is_too_odd_and_the_order_of_its_records_does_not_matter(codes, people, wildcard, seed, weighted):
    assume(len(codes))
    rng, names = np.random.default_rng(seed), [f"x{j}" for j in range(codes.shape[1])]
    settings = ModellingSettings(
        ("id",), tuple(names), None if weighted else 0.2, wildcard, ("main", "two-way"), True, 1
    )
    columns = {
        "id": pa.array([f"{at:03d}" for at in range(len(codes))]),
        ".household": pa.array(rng.integers(0, 3, len(codes)).astype(np.int32)),
    }
    if weighted:
        columns[".weight"] = pa.array(rng.uniform(1, 9, len(codes)))
    key = {name: pa.array(codes[:, j], mask=codes[:, j] < 0) for j, name in enumerate(names)}
    same = people[:, : len(names)] if people.shape[1] >= len(names) else np.zeros((0, len(names)), np.int32)
    of_people = {name: pa.array(same[:, j], mask=same[:, j] < 0) for j, name in enumerate(names)}
    file, population = pa.table({**columns, **key}), pa.table(of_people)
    order = pa.array(rng.permutation(len(codes)))
    first = modelling.model(settings, file, population)
    second = modelling.model(settings, file.take(order), population)
    assert first.population_models.to_csv() == second.population_models.to_csv()
    assert first.individual_classes.to_csv() == second.individual_classes.to_csv()
    assert first.individual.take(order).equals(second.individual)
    sizes, _ = individual.matches(codes, np.ones(len(codes)), wildcard=wildcard)
    assert first.individual["matches"].to_pylist() == sizes.tolist()
    assert not wildcard or (sizes == uniques.cell_sizes(codes, wildcard=True)).all()
