"""An intruder with several files, by hand: who is suspected by which file, and what is refused (METHODS §6.6)."""

from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pytest
from making.studies import in_clusters, in_strata, spread
from reident.errors import InputError
from reident.linkage.intervals import clustered
from reident.linkage.settings import JoiningSettings
from reident.pipeline.tables import TABLES
from reident.sections.linkage import Rates
from reident.together import join as together

PUF = pa.table({"p": ["a", "b", "c", "d", "e"], "region": ["N", "N", "S", "S", None]})
STRATA = in_strata(0, 0, 1, 1, None)
MANIFEST = pd.DataFrame({"stratum": ["s0001", "s0002"], "n_puf": [2, 2]})


def settings_of(*labels, low_is_best=False, person=False, rates=None):
    return JoiningSettings(labels, {"adhoc": low_is_best}, ("p", "region"), person, rates or Rates())


def claims(*pairs):
    """Pairs (puf, eif, score, is a link)."""
    columns = zip(*pairs, strict=True) if pairs else ((), (), (), ())
    types = pa.int32(), pa.int32(), pa.float64(), pa.bool_()
    names = "puf", "eif", "score", "confirmed"
    return pa.table({name: pa.array(list(own), kind) for name, own, kind in zip(names, columns, types, strict=True)})


FIRST = claims((0, 0, 9.0, True), (0, 1, 9.0, False), (1, 2, 5.0, False), (2, 3, 7.0, True))
SECOND = claims((0, 7, 9.0, False), (1, 8, 6.0, True), (1, 9, 4.0, False), (3, 6, 1.0, False))


def joined(own, *pairs, persons=(), clusters=None):
    table = together.join(own, [PUF] * (1 + len(pairs)), STRATA, MANIFEST, {"adhoc": list(pairs)}, persons, clusters)
    return table.set_index(["stratum", "files", "label"])


def test_the_table_has_the_columns_that_are_declared():
    people = pa.chunked_array([["p0"] * 10])
    found = joined(settings_of("one", person=True), FIRST, persons=[people]).reset_index()
    assert set(found) == set(TABLES["join_files"][0].names)
    assert list(found["metric"].unique()) == ["adhoc"]


def test_records_are_counted_by_the_files_that_find_them():
    found = joined(settings_of("one", "two"), FIRST, SECOND)
    counts = found[["n_puf", "n_suspected", "n_confirmed"]].astype(int)
    assert counts.loc["ALL"].to_numpy().tolist() == [
        [5, 3, 2], [5, 3, 1], [5, 4, 3], [5, 2, 0], [5, 2, 3], [5, 2, 0],
    ]  # fmt: skip
    assert counts.loc["s0002"].to_numpy().tolist() == [
        [2, 1, 1], [2, 1, 0], [2, 2, 1], [2, 0, 0], [2, 2, 1], [2, 0, 0],
    ]  # fmt: skip
    assert found.at[("ALL", "any", ""), "conditional_rate"] == 0.75
    assert pd.isna(found.at[("s0002", "all", ""), "conditional_rate"])


@pytest.mark.parametrize(
    ("low_is_best", "all_of_them", "best"),
    [(False, 0.5 / 2 + 0.5 + 1, 0.5 / 2 + 1 + 1), (True, 0.5 / 2 + 0.5 + 1, 0.5 / 2 + 0 + 1)],
    ids=["high", "low"],
)
def test_a_guess_takes_the_file_with_the_best_score_and_ties_at_random(low_is_best, all_of_them, best):
    """a: both files have the score 9. b: the second has 6 and 4, the first 5; lower is better: 4, which is no link."""
    second = SECOND
    if low_is_best:  # best first
        second = second.take([0, 2, 1, 3])
    line = joined(settings_of("one", "two", low_is_best=low_is_best), FIRST, second).loc[("ALL", "any", "")]
    assert line["expected_correct"] == all_of_them
    assert line["best_rank_correct"] == best
    assert line["best_rank_correct_rate"] == best / 4


def test_two_files_corroborate_a_person_and_two_candidates_of_one_file_do_not():
    first = pa.chunked_array([["p0", "p0", "p2", None, "x"]])
    second = pa.chunked_array([["x"] * 6 + [None, "p0", "p2", "p9"]])
    line = joined(settings_of("one", "two", person=True), FIRST, SECOND, persons=[first, second]).loc[
        ("ALL", "any", "")
    ]
    assert line[["n_corroborated", "n_corroborated_confirmed"]].tolist() == [2, 2]
    assert line["corroborated_rate"] == 0.4
    nobody = pa.chunked_array([pa.array([None] * 10, pa.string())])
    line = joined(settings_of("one", "two", person=True), FIRST, SECOND, persons=[nobody] * 2).loc[("ALL", "any", "")]
    assert line["n_corroborated"] == 0
    assert pd.isna(line["corroborated_confirmed_rate"])


def test_no_file_suspects_a_record():
    found = joined(settings_of("one", "two", person=True), claims(), claims(), persons=[pa.chunked_array([["p"]])] * 2)
    assert not found[["n_suspected", "n_confirmed"]].to_numpy().any()
    assert found["conditional_rate"].isna().all()
    line = found.loc[("ALL", "any", "")]
    assert (line["expected_correct"], line["n_corroborated"]) == (0, 0)


def test_intervals_are_those_of_the_study():
    rates = Rates(interval="clustered", cluster="house")
    numbers = in_clusters(0, 0, 1, 1, 2)
    found = joined(settings_of("one", "two", rates=rates), FIRST, SECOND, clusters=numbers)
    # Of the four suspected records, three are confirmed: both of the first cluster, one of the second.
    low, high = clustered(spread([(0, 2, 2), (1, 1, 2)]), 0.95)
    assert found.loc[("ALL", "any", ""), ["conditional_low", "conditional_high"]].tolist() == [low, high]


@pytest.mark.parametrize(
    "other",
    [PUF.slice(0, 4), PUF.set_column(0, "p", [["a", "b", "c", "d", "f"]]), PUF.set_column(1, "region", [["N"] * 5])],
    ids=["fewer", "another key", "another stratum"],
)
def test_other_released_records_are_refused(other):
    with pytest.raises(InputError, match="the variant `two` must have the released records of the study"):
        together.join(settings_of("one", "two"), [PUF, PUF, other], STRATA, MANIFEST, {"adhoc": [FIRST, SECOND]})


def test_equal_released_records_in_other_batches_are_the_same():
    halves = pa.concat_tables([PUF.slice(0, 2), PUF.slice(2)])
    together.check_released(settings_of("one"), [PUF, halves])


def test_agreement_of_metrics_is_joined_as_a_metric_is():
    settings = JoiningSettings(("one", "two"), {"adhoc": False, "taxicab": True}, (), False, Rates())
    pairs = [FIRST, SECOND, FIRST.slice(1), FIRST]  # by adhoc with both files, then by taxicab
    found = together.by_metric(settings, pairs)
    assert list(found) == ["adhoc", "taxicab", "agreement_2"]
    sets = [{(row["puf"], row["eif"]) for row in table.to_pylist()} for table in (*pairs, *found["agreement_2"])]
    assert sets[4:] == [sets[0] & sets[2], sets[1] & sets[3]]
    assert set(found["agreement_2"][0]["score"].to_pylist()) == {2}
    alone = replace(settings, low_is_best={"adhoc": False})
    assert list(together.by_metric(alone, pairs[:2])) == ["adhoc"]
