"""Hu's course: matching-based risk of a synthetic ACS sample of 10,000 records (METHODS §8).

The sample may not be committed. A drawn pair of files with as many records in cells of the same sizes gives the same
summaries, since these depend on nothing else; the sample itself runs where it lies beside the checkout.
"""

from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from reident.matching import prepare
from reident.matching.summary import match_files
from reident.pipeline import parts
from reident.sections.matching import Matching

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
FILES = ("acs_confidential.csv", "acs_synthetic_1.csv")
N = 10_000
EXPECTED = "41.36863"
TRUE_UNIQUE, UNIQUE = 5, 195

there = pytest.mark.skipif(
    not all((DATA / name).is_file() for name in FILES), reason="Hu's ACS sample is not beside this checkout"
)


def study(known: list[str], synthesized: list[str]) -> Matching:
    return Matching.model_validate(
        {
            "confidential": {"path": FILES[0]},
            "synthetic": [{"path": FILES[1]}],
            "known": known,
            "synthesized": synthesized,
        }
    )


def summary(options: Matching, confidential: pa.Table, synthetic: pa.Table):
    prepared = prepare.prepare(parts.matched_files(options), confidential, [synthetic])
    matched = match_files(parts.match_rules(options), prepared.confidential, prepared.synthetic)
    return matched.summary.set_index("file")


def sample():
    options = study(["SEX", "RACE", "MAR"], ["LANX", "WAOB", "DIS", "HICOV"])
    files = parts.matched_files(options)
    confidential = prepare.read_confidential(files, DATA / FILES[0])
    return summary(options, confidential, prepare.read_synthetic(files, 0, DATA / FILES[1]))


def cells() -> list[tuple[int, int, int]]:
    """Cells of the drawn files: synthetic records, confidential records whose own is among them, other ones.

    Five records are right by their one match and 190 are wrong; larger cells bring the expected match risk, the sum
    of the shares of right records, to the published digits.
    """
    drawn = [(1, 1, 0)] * TRUE_UNIQUE + [(1, 0, 1)] * (UNIQUE - TRUE_UNIQUE)
    left = Fraction(EXPECTED) - TRUE_UNIQUE
    for size in (2, 30, 1019):
        right = int(left * size)
        left -= Fraction(right, size)
        drawn += [(size, size, 0)] * (right // size) + [(size, right % size, 0)] * bool(right % size)
    return drawn


def drawn():
    """Two files in row order: a record's variable `cell` is its cell, of its own kind where nothing matches."""
    pairs: list[tuple[str, str]] = []
    for number, (synthetic, right, wrong) in enumerate(cells()):
        cell = f"cell {number}"
        others = max(synthetic - right, 0)
        pairs += [(cell, cell)] * right + [(cell, f"not {cell}")] * wrong
        pairs += [(f"other than {cell}", cell)] * others
    pairs += [(f"rest {at}", f"no rest {at}") for at in range(N - len(pairs))]
    assert len(pairs) == N
    confidential, synthetic = zip(*pairs, strict=True)
    both = [{"sex": pa.array(["1"] * N), "cell": pa.array(column)} for column in (confidential, synthetic)]
    return summary(study(["sex"], ["cell"]), *map(pa.table, both))


@pytest.fixture(
    scope="module", params=[pytest.param(drawn, id="drawn"), pytest.param(sample, id="sample", marks=there)]
)
def found(request):
    return request.param()


@pytest.mark.parametrize("file", ["1", "mean"])
def test_all_published_digits(found, file):
    line = found.loc[file]
    assert f"{line['expected_match_risk']:.7g}" == EXPECTED
    assert line["true_match_rate"] == 5e-04
    assert f"{line['false_match_rate']:.6f}" == "0.974359"
    assert line["unique_matches"] == UNIQUE
    assert line["targets"] == N


def test_the_confidential_file_against_itself_has_no_false_match(found):
    line = found.loc["confidential"]
    assert line["false_match_rate"] == 0
    assert line["true_match_rate"] == line["unique_matches"] / N
