"""Models of population uniques on simulated populations with dependent keys: what is recommended (METHODS §7.4)."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from making.dependent_keys import LEVELS, populations
from oracles import population as oracle
from reident.filerisk import log_linear, modelling, superpopulation
from reident.filerisk.report_models import contradictions
from reident.filerisk.settings import ModellingSettings

MAX_RATIO = 2
"""An estimate is bad if it is off by more than this factor."""
FRACTIONS = (0.01, 0.03, 0.1)


class Sample(NamedTuple):
    """The models of a sample of a population, and the sizes of its cells."""

    lines: pd.DataFrame
    sizes: np.ndarray
    at_edge: bool

    @property
    def recommended(self) -> pd.DataFrame:
        """The recommended model of uniqueness, a line or none."""
        return self.lines[self.lines["recommended"] & (self.lines["kind"] == "uniqueness")]


def sampled(population: np.ndarray, fraction: float, seed: int) -> Sample:
    """Model a sample that has each person with the same probability."""
    names = [f"x{at}" for at in range(population.shape[1])]
    file = population[np.random.default_rng(seed).random(len(population)) < fraction]
    options = ModellingSettings(("id",), tuple(names), fraction, False, ("main", "two-way"), False, 1)
    people, records = ({name: pa.array(codes[:, at]) for at, name in enumerate(names)} for codes in (population, file))
    found = modelling.model(options, pa.table({"id": np.arange(len(file)), **records}), pa.table(people))
    sizes = np.unique(file, axis=0, return_counts=True)[1]
    at, _ = superpopulation._largest_likelihood(sizes)
    return Sample(found.population_models, sizes, bool(np.isneginf(at[1])))


def check(sample: Sample, fraction: float) -> None:
    """Compare the edge with Ewens, and what the report calls contradictory with every pair of models."""
    lines = sample.lines
    pitman = lines[lines["model"] == "pitman"].set_index("quantity")["estimate"]
    assert pitman.notna().all()
    sizes, n = sample.sizes.tolist(), int(sample.sizes.sum())
    if sample.at_edge:
        theta = oracle.ewens(sizes)
        expected = oracle.ewens_uniques(theta, n / fraction, n, sizes.count(1))
        assert pitman[["population_uniques", "uniques_in_sample"]].tolist() == pytest.approx(expected, rel=1e-8)
    usable = lines[~lines["status"].isin(["not_converged", "saturated"])]
    apart = {
        own for own, group in usable.groupby("quantity")
        for one in group["estimate"] for other in group["estimate"] if one > 3 * other and one > 1
    }  # fmt: skip
    assert set(contradictions(lines)) == apart
    assert lines[lines["recommended"]]["quantity"].is_unique


def bad(line: pd.Series) -> bool:
    """Whether an estimate is off by more than the factor."""
    low, high = sorted((line["estimate"], line["truth"]))
    return bool(high > MAX_RATIO * low)


def summary(samples: list[Sample]) -> tuple[int, int, int]:
    """Count the samples at the edge, those with a recommended model, and those where it is bad."""
    lines = [line for sample in samples for _, line in sample.recommended.iterrows()]
    return sum(sample.at_edge for sample in samples), len(lines), sum(map(bad, lines))


def run(
    seed: int, n: int, people: int, levels: tuple[int, ...], fractions: tuple[float, ...]
) -> dict[float, list[Sample]]:
    """Model samples of the populations and check each."""
    samples: dict[float, list[Sample]] = {fraction: [] for fraction in fractions}
    for at, population in enumerate(populations(seed, n, people, levels)):
        for fraction in fractions:
            samples[fraction].append(sampled(population, fraction, at))
            check(samples[fraction][-1], fraction)
    return samples


@pytest.fixture(autouse=True)
def _without_intervals(monkeypatch):
    """Leave out the intervals of log-linear models, which take long: recommendations then depend on tests alone."""
    monkeypatch.setattr(log_linear, "MAX_DRAWN", 0)


@pytest.mark.slow
def test_a_bad_model_of_uniqueness_is_not_recommended():
    """The estimate at the edge is among those that are bad, so that the rule of Dankar et al. alone is not enough."""
    samples = [own for each in run(29, 4, 20_000, (9, 2, 4, 5, 6, 3), (0.03, 0.1)).values() for own in each]
    at_edge, n, n_bad = summary(samples)
    assert at_edge >= 2
    assert n >= 2
    assert n_bad == 0
    pitman = [own.lines.query("model == 'pitman'") for own in samples]
    assert any(bad(lines.iloc[-1]) for lines in pitman)


@pytest.mark.long
def test_a_bad_model_of_uniqueness_is_recommended_in_at_most_2_of_20_populations():
    counts = {fraction: summary(own) for fraction, own in run(29, 20, 200_000, LEVELS, FRACTIONS).items()}
    assert min(at_edge for at_edge, _, _ in counts.values()) > 0, counts
    assert min(n for _, n, _ in counts.values()) >= 5, counts
    assert max(n_bad for _, _, n_bad in counts.values()) <= 2, counts


@pytest.mark.long
def test_an_edge_that_is_far_from_the_truth_is_not_recommended():
    """In populations of so many people that few are unique, the edge is off by up to a factor of 56."""
    for samples in run(30, 15, 1_000_000, LEVELS, FRACTIONS).values():
        at_edge, _, n_bad = summary(samples)
        assert at_edge > 0
        assert n_bad == 0
