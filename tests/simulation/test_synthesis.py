"""The simulated release of synthetic data: determinism, correspondence of rows, what the synthesizer changes."""

import numpy as np
import pytest
from reident.errors import InputError
from reident.simulation import synthesize
from reident.simulation.section import SyntheticSurvey
from reident.simulation.synthesis import COLUMNS, draw_donors

FILES = ("confidential", "synthetic_1", "synthetic_2", "synthetic_3")
SYNTHESIZED = ["OCC", "INCOME"]


def spec(**keys):
    return SyntheticSurvey.model_validate({"kind": "synthetic-survey", "households": 900, "records": 800, **keys})


@pytest.fixture(scope="module")
def files():
    return {name: synthesize(spec(), name) for name in FILES}


def test_the_same_seed_gives_the_same_files_and_another_one_others(files):
    for name in FILES:
        assert synthesize(spec(), name).equals(files[name])
    assert not synthesize(spec(seed=1), "confidential").equals(synthesize(spec(seed=2), "confidential"))


def test_files_differ_only_in_the_synthesized_variables(files):
    kept = [column for column in COLUMNS if column not in SYNTHESIZED]
    for name in FILES[1:]:
        assert files[name][kept].equals(files["confidential"][kept])
        for column in SYNTHESIZED:
            assert 0.2 < (files[name][column] != files["confidential"][column]).mean() < 1, (name, column)
    assert not files["synthetic_1"].equals(files["synthetic_2"])


def test_every_cell_is_the_text_of_an_integer(files):
    for file in files.values():
        assert list(file.columns) == list(COLUMNS)
        assert all(isinstance(cell, str) and cell.lstrip("-").isdigit() for cell in file.to_numpy().ravel())


def test_the_same_incomes_are_not_stated_in_all_files(files):
    absent = files["confidential"]["INCOME"] == "-9"
    assert 5 < absent.sum() < 60
    for file in files.values():
        assert ((file["INCOME"] == "-9") == absent).all()


def test_all_persons_are_adults(files):
    assert files["confidential"]["AGE"].astype(int).min() >= 18


def test_synthetic_incomes_keep_the_distribution(files):
    """A synthetic file without use would be a poor example."""
    for quantile in (0.25, 0.5, 0.75):
        own, copy = (files[name]["INCOME"].astype(int).quantile(quantile) for name in FILES[:2])
        assert copy == pytest.approx(own, rel=0.35, abs=300)


def test_noise_does_not_change_the_confidential_file(files):
    assert synthesize(spec(noise=0), "confidential").equals(files["confidential"])
    assert not synthesize(spec(noise=0), "synthetic_1").equals(files["synthetic_1"])


def test_one_record():
    assert len(synthesize(spec(records=1), "synthetic_1")) == 1


def test_a_population_too_small_is_refused():
    with pytest.raises(InputError, match="Increase `households`"):
        synthesize(spec(households=5), "confidential")


def test_donors_are_equal_on_all_variables_or_absent():
    draw = np.random.default_rng(3)
    held, asked = ([draw.integers(0, 4, 200), draw.integers(0, 5, 200)] for _ in range(2))
    held[1][held[0] == 2] = 0
    donor = draw_donors(held, asked, draw)
    found = donor >= 0
    assert all((own[donor[found]] == other[found]).all() for own, other in zip(held, asked, strict=True))
    pairs = set(zip(*(own.tolist() for own in held), strict=True))
    assert [pair in pairs for pair in zip(*(other.tolist() for other in asked), strict=True)] == found.tolist()
    assert len(set(donor[found].tolist())) > 80  # not always the same person


def test_the_holdout_has_other_people_and_changes_no_other_file(files):
    with_holdout = spec(holdout=300)
    held = synthesize(with_holdout, "holdout")
    assert len(held) == 300
    assert synthesize(with_holdout, "confidential").equals(files["confidential"])
    assert synthesize(with_holdout, "synthetic_1").equals(files["synthetic_1"])
    others = synthesize(spec(records=1_100), "confidential").iloc[800:].reset_index(drop=True)
    stated = [name for name in held if name != "INCOME"]
    assert held[stated].equals(others[stated])
