"""Hu's course: matching-based risk of synthetic ACS samples of 10,000 records (METHODS §8).

The sample may not be committed. A drawn pair of files with as many records in cells of the same sizes gives the same
summaries, since these depend on nothing else; the sample itself runs where it lies beside the checkout.
"""

from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from reident.intake.sources import batches
from reident.matching import prepare
from reident.matching import step as matching_step
from reident.matching.section import Matching, SyntheticFile
from reident.matching.settings import MatchingFileSettings
from reident.matching.summary import match_files

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
    prepared = prepare.prepare(matching_step.matched_files(options), confidential, [synthetic])
    matched = match_files(matching_step.match_rules(options), prepared.confidential, prepared.synthetic)
    return matched.summary.set_index("file")


def read(settings: MatchingFileSettings, side: str, path: Path) -> pa.Table:
    return pa.concat_tables(batches(settings.extracts[side], path))


def sample():
    options = study(["SEX", "RACE", "MAR"], ["LANX", "WAOB", "DIS", "HICOV"])
    files = matching_step.matched_files(options)
    confidential = read(files, "confidential", DATA / FILES[0])
    return summary(options, confidential, read(files, "synthetic_1", DATA / FILES[1]))


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


def cells_of_173():
    """A drawn file with the published number of cells, 173, of which 30 have one record."""
    sizes = [1] * 30 + [2] * 142
    sizes.append(N - sum(sizes))
    column = pa.array([f"cell {cell}" for cell, size in enumerate(sizes) for _ in range(size)])
    both = [pa.table({"sex": pa.array(["1"] * N), "cell": column})] * 2
    return summary(study(["sex"], ["cell"]), *both)


def sample_of_two():
    """The confidential sample with two synthesized variables, DIS and HICOV."""
    options = study(["SEX", "RACE", "MAR"], ["DIS", "HICOV"])
    files = matching_step.matched_files(options)
    confidential = read(files, "confidential", DATA / FILES[0])
    return summary(options, confidential, read(files, "synthetic_1", DATA / FILES[1]))


@pytest.mark.parametrize(
    "found", [pytest.param(cells_of_173, id="drawn"), pytest.param(sample_of_two, id="sample", marks=there)]
)
def test_the_confidential_file_with_two_synthesized_variables(found):
    line = found().loc["confidential"]
    assert f"{line['expected_match_risk']:.12g}" == "173"
    assert line["true_match_rate"] == 0.003
    assert line["false_match_rate"] == 0
    assert line["unique_matches"] == 30


THREE = ("acs_synthetic_1.csv", "acs_synthetic_2.csv", "acs_synthetic_3.csv")


@pytest.mark.skipif(
    not all((DATA / name).is_file() for name in THREE), reason="three synthetic files are not beside this checkout"
)
def test_three_synthetic_files():
    """The published means over files; all files together have no published number, but a simple oracle."""
    options = study(["SEX", "RACE", "MAR"], ["LANX", "WAOB", "DIS", "HICOV"])
    options = options.model_copy(update={"synthetic": tuple(SyntheticFile(path=name) for name in THREE)})
    files = matching_step.matched_files(options)
    confidential = read(files, "confidential", DATA / FILES[0])
    copies = [read(files, f"synthetic_{at}", DATA / name) for at, name in enumerate(THREE, start=1)]
    prepared = prepare.prepare(files, confidential, copies)
    matched = match_files(matching_step.match_rules(options), prepared.confidential, prepared.synthetic)
    mean = matched.summary.set_index("file").loc["mean"]
    assert f"{mean['expected_match_risk']:.7g}" == "41.46743"
    assert f"{mean['true_match_rate']:.10f}" == "0.0005666667"
    variables = list(options.variables)
    own, *others = (
        [*zip(*(file[name].to_pylist() for name in variables), strict=True)] for file in (confidential, *copies)
    )
    expected = oracle_of_cells(own, others)
    assert matched.pooled["expected_match_risk"].iloc[0] == pytest.approx(float(expected), rel=1e-12)
    assert 46 < expected < 47


def oracle_of_cells(own: list[tuple], files: list[list[tuple]]) -> Fraction:
    """The expected match risk of all files together: candidates of equal records are computed once."""
    records = [{} for _ in files]
    for found, file in zip(records, files, strict=True):
        for at, cell in enumerate(file):
            found.setdefault(cell, set()).add(at)
    best, risk = {}, Fraction(0)
    for at, cell in enumerate(own):
        if cell not in best:
            shares: dict[int, Fraction] = {}
            for matching in (found.get(cell, set()) for found in records):
                for record in matching:
                    shares[record] = shares.get(record, Fraction(0)) + Fraction(1, len(matching))
            top = max(shares.values(), default=None)
            best[cell] = {record for record, share in shares.items() if share == top}
        risk += Fraction(at in best[cell], max(len(best[cell]), 1))
    return risk
