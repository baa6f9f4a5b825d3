"""From results to the published file: what is counted, earlier editions, limits (METHODS §11.2, §11.3)."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from making import edition as making
from making import statements
from oracles import statements as oracle
from reident.edition import publish, study
from reident.errors import InputError
from reident.pipeline.editions import Bound
from reident.sections.edition import ANY, ATTACK, METRIC, SINGLE, Edition


def secret(tables, **changes):
    settings = making.settings(**changes)
    pairs = {name: table.to_pandas() for name, table in zip(settings.metrics, tables["pairs"], strict=True)}
    strata = (tables["strata"].to_pandas()["stratum"].to_numpy(float), ["North", "South"])
    n = int(tables["rates"]["n_puf"].iloc[0])
    return study.of_attack(settings, pairs, {"puf": n, "eif": n}, strata if settings.by_stratum else None, None, [])


def counted(tables, by_stratum):
    """Count by sets of records: suspected, and found, by kind, metrics and stratum."""
    frames = [table.to_pandas() for table in tables["pairs"]]
    pairs = [set(zip(frame["puf"], frame["eif"], strict=True)) for frame in frames]
    links = {(p, e) for frame in frames for p, e, c in frame.itertuples(index=False) if c}
    strata = tables["strata"].to_pandas()["stratum"].tolist()
    of = {("any", making.METRICS, ""): set.union(*pairs), ("all", making.METRICS, ""): set.intersection(*pairs)}
    for name, own in zip(making.METRICS, pairs, strict=True):
        of["metric", (name,), ""] = own
        candidates = pd.Series([p for p, _ in own]).value_counts()
        of["single", (name,), ""] = {(p, e) for p, e in own if candidates[p] == 1}
    for at, label in enumerate(["North", "South"] if by_stratum else []):
        of["any", making.METRICS, label] = {(p, e) for p, e in of["any", making.METRICS, ""] if strata[p] == at}
    return {key: (len({p for p, _ in own}), len({p for p, _ in own & links})) for key, own in of.items()}


@pytest.mark.parametrize("by_stratum", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_records_are_counted_as_by_sets(seed, by_stratum):
    tables = making.attacked(np.random.default_rng(seed), n=120)
    found = secret(tables, by_stratum=by_stratum)
    counts = zip(found.quantities, found.space.suspected.tolist(), found.counts, strict=True)
    assert {tuple(quantity): (n, c) for quantity, n, c in counts} == counted(tables, by_stratum)


def test_the_order_of_lines_does_not_matter():
    tables = making.attacked(np.random.default_rng(5))
    turned = tables | {"pairs": [table.take(list(range(len(table)))[::-1]) for table in tables["pairs"]]}
    assert making.made(tables) == making.made(turned)


def test_what_is_published_is_true_and_holds_the_texts_of_the_policy(tmp_path):
    for name in ("census-drb", "opensafely", "midpoint-6"):
        tables = making.attacked(np.random.default_rng(8), n=800)
        (part,) = making.made(tables, name).parts
        exact = counted(tables, by_stratum=False)
        for count in part.counts:
            n, c = exact[count.kind, count.metrics, count.stratum]
            assert count.suspected == oracle.text_of(name, n)
            assert oracle.is_true(name, (count.first, count.last), c, n)
            assert (count.at_least or 0) <= c <= (10**9 if count.at_most is None else count.at_most)


def test_a_published_file_is_read_as_it_was_written(tmp_path):
    for edition in making.kinds(tmp_path).values():
        assert Edition.model_validate(json.loads(publish.text(edition))) == edition


def test_no_digest_or_text_depends_on_a_link():
    tables = making.attacked(np.random.default_rng(4))
    without = tables | {"pairs": [t.set_column(2, "confirmed", pa.array([False] * len(t))) for t in tables["pairs"]]}
    first, second = (making.made(each).parts[0] for each in (tables, without))
    for one, other in zip(first.counts, second.counts, strict=True):
        assert one.suspected == other.suspected
        assert one.digest == other.digest or not one.digest or not other.digest


# Limits.


@pytest.mark.parametrize(
    ("bound", "largest"),
    [
        (Bound("conditional_rate_at_most", ATTACK, METRIC, "taxicab", 0.2), "suspected"),
        (Bound("confirmed_rate_at_most", ATTACK, METRIC, "taxicab", 0.2), 80),
        (Bound("confirmed_at_most", ATTACK, METRIC, "taxicab", 17), 17),
        (Bound("confirmed_by_any_at_most", ATTACK, ANY, "", 33), 33),
        (Bound("single_rate_at_most", ATTACK, SINGLE, "taxicab", 0.5), "suspected"),
    ],
)
def test_a_limit_is_a_largest_count(bound, largest):
    found = secret(making.attacked(np.random.default_rng(6)))
    at, most = found.largest(bound)
    n = int(found.space.suspected[at])
    assert found.quantities[at].kind == bound.kind
    assert most == (int(bound.bound * n) if largest == "suspected" else largest)


def test_a_limit_on_the_upper_end_is_the_largest_count_whose_interval_passes():
    from reident.linkage.intervals import interval

    found = secret(making.attacked(np.random.default_rng(6)))
    at, most = found.largest(Bound("conditional_rate_at_most", ATTACK, METRIC, "adhoc", 0.3, ("wilson", 0.95)))
    n = int(found.space.suspected[at])
    assert interval(most, n, "wilson").high <= 0.3 < interval(most + 1, n, "wilson").high


def test_a_limit_that_no_link_can_break_says_so():
    bound = Bound("confirmed_at_most", ATTACK, METRIC, "taxicab", 5000)
    (part,) = making.made(making.attacked(np.random.default_rng(1)), bounds=(bound,)).parts
    assert part.limits[0].outcome == "cannot be broken"


def test_a_file_above_its_limits_is_not_one_that_is_released_within_them():
    tables = making.attacked(np.random.default_rng(1), right=0.9)
    with pytest.raises(InputError, match=r"`release.released_means` is `within`, but the study is above a limit"):
        making.made(tables, released_means="within", bounds=(making.SHARE[0]._replace(bound=0.01),))


# Earlier editions.


def test_a_later_edition_of_the_same_counts_stays_inside_what_the_earlier_one_tells():
    tables = making.attacked(np.random.default_rng(2), n=900)
    first = making.made(tables)
    again = making.made(tables, after=(first,), bounds=())
    assert again.parts[0].told
    assert again.after[0].title == first.title
    for before, later in zip(first.parts[0].counts, again.parts[0].counts, strict=True):
        assert (later.at_least or 0) == 0 or (later.at_least or 0) >= (before.at_least or 0)


def test_a_later_edition_knows_the_counts_of_fewer_metrics():
    tables = making.attacked(np.random.default_rng(2), n=900)
    fewer = tables | {"pairs": tables["pairs"][:2]}
    first = making.made(fewer, metrics=making.METRICS[:2])
    assert making.made(tables, after=(first,)).parts[0].told


def test_a_count_of_an_earlier_edition_that_nothing_explains_leaves_nothing_to_tell():
    tables = making.attacked(np.random.default_rng(2), n=900)
    first = making.made(tables)
    counts = [
        count.model_copy(update={"kind": "unique", "metrics": (), "digest": "0" * 64})
        for count in first.parts[0].counts
    ]
    changed = first.model_copy(update={"parts": (first.parts[0].model_copy(update={"counts": tuple(counts)}),)})
    assert not making.made(tables, after=(changed,)).parts[0].told


def test_an_edition_that_tells_nothing_does_not_stand_in_the_way():
    few = making.attacked(np.random.default_rng(2), n=12)
    first = making.made(few)
    assert all(count.at_least is count.at_most is None for count in first.parts[0].counts)
    assert making.made(making.attacked(np.random.default_rng(3)), after=(first,)).parts[0].told


def test_statements_on_populations_and_synthetic_files(tmp_path):
    one = making.made(making.one_file(tmp_path), metrics=(), bounds=making.UNIQUE)
    (part,) = one.parts
    assert (part.counts[0].first, part.counts[0].last, part.limits[0].outcome) == ("50", "70", "within")
    assert one.file.model_dump() == {"records": "1000", "unique": "300", "below_3": "500", "below_5": "500"}
    (part,) = making.made(making.synthetic(tmp_path), metrics=(), bounds=making.RIGHT).parts
    assert [(count.first, count.last) for count in part.counts] == [("400", "400"), ("100", "100")]
    assert part.limits[0].outcome == "within"


def test_too_many_strata_are_refused():
    n = 600
    tables = making.attacked(np.random.default_rng(1), n=n)
    tables["strata"] = pa.table({"stratum": pa.array(np.arange(n, dtype=float))})
    names = [f"s{at}" for at in range(n)]
    tables["manifest"] = pd.DataFrame({"stratum": names, "region": names})
    with pytest.raises(InputError, match=r"`release.strata` must not be `true` in a study with 600 strata"):
        making.made(tables, by_stratum=True)


def test_strata_of_the_same_labels_have_their_numbers():
    from reident.edition.make import labels

    manifest = pd.DataFrame({"stratum": ["s1", "s2"], "region": ["n", "m"]})
    same = making.settings(strata={"region": {"n": "North", "m": "North"}})
    assert labels(manifest, same) == ["North (s1)", "North (s2)"]
    assert labels(manifest, making.settings()) == ["North", "m"]


def test_a_person_with_several_rows_is_one_candidate():
    """Two records of which each has another row of one person: readers take one of them to be the person."""
    pairs = pd.DataFrame({"puf": range(60), "eif": range(60), "confirmed": False})
    names = dict.fromkeys(["taxicab"], pairs)
    settings, records = making.settings(metrics=("taxicab",)), {"puf": 60, "eif": 60}
    rows, persons = (study.of_attack(settings, names, records, None, each, []) for each in (None, np.arange(60) // 2))
    assert not rows.space.shared
    assert rows.space.top.tolist() == [60, 60]
    assert persons.space.shared
    assert persons.space.top.tolist() == [30, 30]
    assert statements.FREE["census-drb"] == 5
