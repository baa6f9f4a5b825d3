"""An intruder with several files: sets of records say the same, on random small studies; and relations."""

import copy

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from making.examples import examples
from oracles import together as oracle
from oracles.metrics import ORACLES
from oracles.strategies import studies
from reident.errors import InputError
from reident.linkage import step as linkage_step
from reident.linkage.intervals import interval, one_sided
from reident.linkage.settings import JoiningSettings
from reident.pipeline.tables import TABLES
from reident.together import join as together
from workflow.library_run import run

SHARED = [
    "n_puf", "n_suspected", "n_confirmed", "suspected_rate", "confirmed_rate", "conditional_rate", "conditional_low",
    "conditional_high", "conditional_bound", "expected_correct", "expected_correct_rate", "best_rank_correct",
    "best_rank_correct_rate",
]  # fmt: skip
"""The columns that the rates of a study have too."""


@st.composite
def held(draw):
    """A study, the rows of its PUF, and of each file of the intruder those of the EIF and the IUF.

    A file has some records of the study's own, perhaps with the values of other records, and few persons.
    """
    study, puf, eif, iuf = draw(studies(fewest=1))
    study = copy.deepcopy(study)
    study["files"]["eif"]["person"] = "who"
    keys = study["files"]["eif"]["id"]
    files = []
    for _ in range(draw(st.integers(1, 3))):
        chosen = draw(st.lists(st.booleans(), min_size=len(eif), max_size=len(eif)))
        shift = draw(st.integers(0, 2))
        own = [
            eif[(at + shift) % len(eif)]
            | {name: row[name] for name in keys}
            | {"who": draw(st.sampled_from(["", "p", "q", "01", "1"]))}
            for at, row in enumerate(eif)
            if chosen[at]
        ]
        known = {tuple(row[name] for name in keys) for row in own}
        ids = study["files"]["iuf"]["eif_id"]
        files.append((own, [link for link in iuf if tuple(link[name] for name in ids) in known]))
    return study, puf, files


def attacked(study, puf, files):
    """The tables of the attack with each file."""
    try:
        return [run(study, puf, *file) for file in files]
    except InputError:
        assume(False)  # a file has no record, or no category or stratum in common with the PUF
        raise


def joined(tables, labels=None, persons=True):
    """What an intruder finds who holds the files of these attacks; the first is that of the study."""
    first = tables[0]
    settings = JoiningSettings(
        tuple(labels or (f"file {at}" for at in range(len(tables)))),
        linkage_step.directions(first.study),
        (*first.study.keys["puf"], *linkage_step.strata_names(first.study)),
        persons,
        first.study.rates,
    )
    pairs = {name: [own.metrics[name].positions for own in tables] for name in first.metrics}
    eifs = [own.prepared["eif"] for own in tables]
    released = [own.prepared["puf"] for own in (first, *tables)]
    return together.join(
        settings, released, first.strata["puf"], first.manifest, pairs, together.persons(settings, eifs)
    )


def keyed(table, names):
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


def pairs_of(tables, metric):
    """The suspected pairs of an attack, by key, with their scores."""
    own, keys = tables.metrics[metric].confirmed, tables.study.keys
    score = "score" if "score" in own.column_names else "order"
    columns = (keyed(own, keys["puf"]), keyed(own, keys["eif"]), own[score].to_pylist(), own["confirmed"].to_pylist())
    return list(zip(*columns, strict=True))


def members_of(tables):
    """The keys of the PUF records of each stratum and of the whole study."""
    pufids = keyed(tables.prepared["puf"], tables.study.keys["puf"])
    names, strata = tables.manifest["stratum"], tables.strata["puf"]["stratum"].to_pylist()
    members = {"ALL": set(pufids)} | {name: set() for name in names}
    for pufid, at in zip(pufids, strata, strict=True):
        if at is not None:
            members[names[at]].add(pufid)
    return members


def assert_line(line, expected):
    """A line has the expected values, and no others."""
    for name in TABLES["join_files"][0].names[4:]:
        if name in ("conditional_low", "conditional_high", "conditional_bound"):
            continue
        value = expected.get(name)
        if value is None:
            assert pd.isna(line.get(name)), name
        elif name.startswith("n_"):
            assert line[name] == value, name
        else:
            assert line[name] == pytest.approx(float(value), abs=1e-12), name


@examples(100)
@given(drawn=held(), persons=st.booleans())
def test_several_files_find_what_their_sets_say(drawn, persons):
    study, puf, files = drawn
    tables = attacked(study, puf, files)
    labels = [f"file {at}" for at in range(len(files))]
    made = joined(tables, labels, persons)
    known = [
        dict(
            zip(
                keyed(own.prepared["eif"], own.study.keys["eif"]),
                own.prepared["eif"]["external_person"].to_pylist(),
                strict=True,
            )
        )
        for own in tables
    ]
    for metric, options in tables[0].study.chosen.items():
        low = not ORACLES[metric].high_is_best(study["metrics"][metric] or {})
        pairs = [pairs_of(own, metric) for own in tables]
        expected = oracle.rows(pairs, labels, low, members_of(tables[0]), known if persons else None)
        own = made[made["metric"] == metric]
        lines = {(line["stratum"], line["files"], line["label"]): line for line in own.to_dict("records")}
        assert lines.keys() == expected.keys()
        assert list(dict.fromkeys(own["stratum"])) == list(members_of(tables[0]))
        assert options is not None
        for key, line in lines.items():
            assert_line(line, expected[key])
            if key[1] == "exactly":
                assert pd.isna(line["conditional_low"])
                continue
            n_confirmed, n_suspected = int(line["n_confirmed"]), int(line["n_suspected"])
            rates = tables[0].study.rates
            low_end, high_end = interval(n_confirmed, n_suspected, rates.interval, rates.level)
            bound = None if n_confirmed else one_sided(n_suspected, rates.level)
            ends = [line["conditional_low"], line["conditional_high"], line["conditional_bound"]]
            assert ends == pytest.approx(
                [float("nan") if end is None else end for end in (low_end, high_end, bound)], nan_ok=True
            )


def by(made, files):
    return made[made["files"] == files].reset_index(drop=True)


def same(one, other, names=SHARED):
    pd.testing.assert_frame_equal(one[names].astype("float64"), other[names].astype("float64"), check_exact=True)


@examples(20)
@given(drawn=studies(fewest=1))
def test_one_file_and_the_same_file_twice_give_the_rates_of_the_study(drawn):
    study, *rows = drawn
    tables = run(study, *rows)
    rates = tables.rates.reset_index(drop=True)
    counts = SHARED[:3]
    for n_files in (1, 2, 3):
        made = joined([tables] * n_files, persons=False)
        same(by(made, "any"), rates)
        same(by(made, "all"), rates, SHARED[:9])
        exactly = by(made, "exactly")
        every = exactly[exactly["label"] == str(n_files)].reset_index(drop=True)
        same(every, rates, counts)
        fewer = exactly[exactly["label"] != str(n_files)]
        assert not fewer[["n_suspected", "n_confirmed"]].to_numpy().any()
        for label in range(n_files):
            single = by(made, "file")
            same(single[single["label"] == f"file {label}"].reset_index(drop=True), rates)


@pytest.mark.slow
@examples(20)
@given(drawn=held(), order=st.randoms(use_true_random=False))
def test_the_order_of_the_files_changes_no_number(drawn, order):
    tables = attacked(*drawn)
    other = list(range(len(tables)))
    order.shuffle(other)
    first = tables[other[0]]
    assume(first.manifest["stratum"].tolist() == tables[0].manifest["stratum"].tolist())
    assume(first.strata["puf"].equals(tables[0].strata["puf"]))
    one, two = joined(tables), joined([tables[at] for at in other])
    for files in ("any", "all", "exactly"):
        left, right = by(one, files), by(two, files)
        pd.testing.assert_frame_equal(left, right, check_exact=True)


@pytest.mark.slow
@examples(20)
@given(drawn=held())
def test_any_is_at_least_each_file_and_exactly_adds_up_to_any(drawn):
    made = joined(attacked(*drawn))
    keys = ["metric", "stratum"]
    for name in ("n_suspected", "n_confirmed"):
        joint = by(made, "any").set_index(keys)[name]
        assert (joint >= by(made, "file").groupby(keys)[name].max().reindex(joint.index)).all()
        assert (joint <= by(made, "file").groupby(keys)[name].sum().reindex(joint.index)).all()
        assert (joint == by(made, "exactly").groupby(keys)[name].sum().reindex(joint.index)).all()
        assert (by(made, "all").set_index(keys)[name] <= joint).all()
