"""What passes the gate: published texts alone, of declared columns alone (METHODS §11)."""

import base64
import csv
import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from making import gated
from making.released import executed
from oracles import edition_intervals
from pypdf import PdfReader
from reident.errors import InputError
from reident.pipeline.steps import STEPS, declared
from reident.release import earlier, gate, policies
from reident.report.edition.make import pages
from reident.report.edition.reading import Edition
from reident.sections.decision import Decision
from workflow.canaries import layers

POLICIES = ("census-drb", "opensafely", "midpoint-6", "base-5-random", "base-3-random")
RESULTS = Path("results/s")
COUNTS = ("n_puf", "n_eif", "n_links")
RATES = {
    "suspected_rate": ("n_suspected", "n_puf"),
    "confirmed_rate": ("n_confirmed", "n_puf"),
    "conditional_rate": ("n_confirmed", "n_suspected"),
    "single_rate": ("n_single_confirmed", "n_single"),
}
RELEASED = [table for step in STEPS.values() for table in step.tables if table.released]
PATHS = {table.path.replace("{metric}", "taxicab").replace("{table}", "rates"): table for table in RELEASED}


def empty(path):
    """A table without a line, with the columns that a study has."""
    table = declared(Path(path))[0]
    names = {"{strata variables}": "region", "set_{what varies}": "set_bins"}
    return pd.DataFrame(columns=[names.get(column.name, column.name) for column in table.columns])


def approve(results):
    """Let tables pass that need not be those of a whole study."""
    return gated.passed(gated.draw(np.random.default_rng(1)), "census-drb", results, varied=("bins",))


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# The intervals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("interval", ["clopper-pearson", "wilson", "clustered"])
@pytest.mark.parametrize("seeds", [(0,), pytest.param((3, 4), marks=pytest.mark.slow)])
def test_an_edition_has_the_intervals_of_its_study_or_none(seeds, interval, name, tmp_path):
    found = 0
    for seed in seeds:
        records = gated.draw_wide(np.random.default_rng(seed), largest=300)
        made = gated.passed(records, name, interval=interval, level=0.9)
        folder = gated.publish(made, tmp_path / str(seed))
        assert edition_intervals.strange(folder, {"interval": interval, "level": 0.9}) == []
        found += len(edition_intervals.intervals(folder))
        assert json.loads(made.record).get("interval", "clopper-pearson") == interval
    assert (found > 0) == (interval != "clustered")


@pytest.mark.parametrize("outside", [0, 1])
@pytest.mark.parametrize("size", [1, 50])
def test_the_record_says_whether_the_strata_are_complete_and_clusters_lie_in_one(size, outside):
    records = gated.draw_wide(np.random.default_rng(1), largest=300)
    assert len(records.n_eif) > 1
    records = records._replace(cluster=np.arange(len(records.stratum)) // size)
    strata = {number: set(records.stratum[records.cluster == number]) for number in records.cluster}
    results = gated.tables(records)
    rates = results[RESULTS / "rates.csv"]
    rates.loc[rates["stratum"] == "ALL", "n_puf"] += outside
    made = json.loads(gated.passed(records, "none", results, file_is_puf=False).record)
    assert made["puf_in_strata"] == (outside == 0)
    nested = all(len(places) == 1 for places in strata.values())
    assert nested == (size == 1)
    assert made.get("nested_clusters") == (None if outside else nested)


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_a_column_that_does_not_say_how_it_leaves_stops_the_edition(path):
    table = empty(path)
    approve({RESULTS / path: table})
    with pytest.raises(InputError, match=f"`{re.escape(PATHS[path].path)}`: the column `n_surprises` does not say"):
        approve({RESULTS / path: table.assign(n_surprises=0)})


@pytest.mark.parametrize(
    "path",
    [
        "description/overlap.csv",
        "matching/scenarios.csv",
        "matching/closest.csv",
        "together/rates.csv",
        "agreements.csv",
        "filerisk/classes.csv",
    ],
)
def test_a_table_of_results_that_is_not_in_the_edition_stops_it(path):
    with pytest.raises(InputError, match=f"`{re.escape(path)}` is not a table of the releasable edition"):
        approve({RESULTS / path: empty(path)})


def test_a_file_that_no_step_declares_stops_the_edition():
    with pytest.raises(ValueError, match=r"extra\.csv is not declared as a table"):
        approve({RESULTS / "extra.csv": pd.DataFrame({"n_puf": [1]})})


TOLD = {"conditional_rate_at_most", "single_rate_at_most", "confirmed_rate_at_most", "confirmed_at_most"}
"""Limits on counts that are in the edition."""


@pytest.mark.parametrize("outcome", ["passes", "breaks", "unsure", "nothing"])
def test_the_outcome_of_a_limit_on_what_is_not_in_the_edition_is_withheld(outcome):
    records = gated.draw(np.random.default_rng(3))
    results = gated.tables(records)
    names = [name for name in Decision.model_fields if re.search(r"_at_(most|least)$", name)]
    names = [name for name in names if name not in TOLD]
    assert {"together_confirmed_rate_at_most", "nearer_excess_at_most"} < set(names)
    lines = [["attack", name, "taxicab", 0.25, 0.3, outcome] for name in names]
    path = RESULTS / "verdict/limits.csv"
    results[path] = pd.DataFrame(lines, columns=results[path].columns)
    made = gated.passed(records, "none", results)
    assert list(made.tables["limits"]["limit"]) == names
    assert set(made.tables["limits"]["outcome"]) == {"withheld"}
    assert "0.25" not in made.tables["limits"].to_csv(index=False)


@pytest.mark.parametrize(
    ("path", "column"),
    [("rates.csv", "n_links"), ("strata/manifest.csv", "n_eif"), ("confirmed/taxicab.limits.csv", "n_suspected")],
)
def test_two_tables_that_contradict_each_other_stop_the_edition(path, column):
    records = gated.draw(np.random.default_rng(5))
    results = gated.tables(records)
    frame = results[RESULTS / path].copy()
    line = frame["max_pairs"].eq(gated.LIMIT).idxmax() if "max_pairs" in frame else frame.index[-1]
    frame.loc[line, column] += 1
    with pytest.raises(InputError, match=f"contradict each other on `{column}`"):
        gated.passed(records, "census-drb", {**results, RESULTS / path: frame})


# Studies at the ends ------------------------------------------------------------------------------


def study(sizes, n_eif=None, *, share=0.0, metrics=2, seed=0):
    """Return the records of a study with strata of these sizes; a share of the records is suspected and confirmed."""
    stratum, generator = np.repeat(np.arange(len(sizes)), sizes), np.random.default_rng(seed)
    found = generator.random((len(stratum), metrics)) < share
    suspected = np.where(found, 1, gated.NEVER)
    links = np.bincount(stratum[found.any(axis=1)], minlength=len(sizes))
    eif = np.array([2 * size for size in sizes] if n_eif is None else n_eif)
    return gated.Records(stratum, suspected, suspected, found, eif, links)


ENDS = {
    "no stratum": study([]),
    "one stratum": study([300], share=0.4),
    "empty strata": study([0, 300, 0], [50, 400, 0], share=0.4),
    "nothing suspected": study([300, 40]),
    "everything suspected": study([300, 40], share=1.0),
    "everything small": study([3, 2, 9], share=0.5),
    "all zero": study([0, 0], [0, 0]),
    "one metric": study([300, 40], share=0.3, metrics=1),
}


@pytest.mark.parametrize("policy", [*POLICIES, "none"])
@pytest.mark.parametrize("case", ENDS)
def test_a_study_at_the_end_of_what_there_is_passes(case, policy, tmp_path):
    made = gated.passed(ENDS[case], policy)
    edition = Edition(gated.publish(made, tmp_path))
    strata = len(ENDS[case].n_eif)
    assert len(edition.strata) == strata
    assert all(len(edition.stratum(metric)) == strata for metric in edition.metrics)
    check_rates(tmp_path, gated.policy(policy))
    if policy == "census-drb" and case in ("everything small", "all zero", "no stratum"):
        assert {line["n_suspected"] for line in lines(tmp_path / "attack.csv")} <= {"<15", "x"}


LABELS = {
    "repeated": ["North", "North", "South"],
    "a label like another one with its number": ["North (s0002)", "North", "North"],
    "the name of the whole": ["ALL", "South", "West"],
    "missing": ["", "missing", "South"],
    "formulas": ["=1+1", "-9", "@cmd"],
    "apostrophes": ["'North", "''North", "North"],
    "marks of text": ['a,"b"', "a\nb", " a | b "],
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_of_strata_stay_apart_and_are_read_back(case, tmp_path):
    records = study([300, 200, 100], share=0.4)
    results = gated.tables(records)
    manifest = results[RESULTS / "strata/manifest.csv"].assign(region=LABELS[case])
    made = gated.passed(records, "opensafely", {**results, RESULTS / "strata/manifest.csv": manifest})
    folder = gated.publish(made, tmp_path / "releasable")
    edition = Edition(folder)
    assert len(edition.strata) == 3
    assert "ALL" not in edition.strata
    assert edition.strata == list(dict.fromkeys(made.tables["attack"]["stratum"]))[1:]
    for label, given_label in zip(edition.strata, LABELS[case], strict=True):
        assert label.startswith(given_label or "missing")
    before = earlier.read(folder)
    again = gated.passed(records, "opensafely", {**results, RESULTS / "strata/manifest.csv": manifest}, [before])
    assert set(before.strata) == set(edition.strata)
    assert again.tables["attack"].equals(made.tables["attack"]), "the same edition shows nothing new"
    with (folder / "attack.csv").open(encoding="utf-8", newline="") as stream:
        for fields in csv.reader(stream):
            assert not any(re.match(r"[=+@\t\r]|-(?![0-9]+$)", field) for field in fields), "a formula"


def test_without_a_policy_of_rounding_counts_are_exact_and_pages_say_so(tmp_path):
    records = gated.draw(np.random.default_rng(4))
    results = gated.tables(records)
    made = gated.passed(records, "none", results)
    rates = results[RESULTS / "rates.csv"].set_index(["metric", "stratum"])
    for line in made.tables["attack"].to_dict("records"):
        if line["stratum"] == "ALL" and line["n_single"]:
            assert int(line["n_suspected"]) == rates.loc[(line["metric"], "ALL"), "n_suspected"]
    record = json.loads(made.record)
    assert record["policy"]["internal"] is True
    assert record["counts"]["rounded"] == record["counts"]["suppressed"] == 0
    assert set(made.audit["required"]) == {0}


# Non-interference ---------------------------------------------------------------------------------


def disguised(records, policy_name, generator):
    """The tables of another study that is published alike: other counts of the same texts, noise where nothing leaves.

    The number of PUF records is public and stays.
    """
    policy, results = (gated.policy(policy_name), {path: frame.copy() for path, frame in gated.tables(records).items()})
    seed, chosen = gated.SEED if policy.rounding == "random" else "", {}

    def other(count, quantity, metric, stratum, limit):
        metric, limit = ("", 0) if quantity in COUNTS else (metric, limit)
        label = "ALL" if stratum == "ALL" else str(int(stratum[1:]))
        key = gate._name(gate.Cell(quantity, metric=metric, stratum=label))
        if (quantity, metric, stratum, limit) not in chosen:
            one = policies.publish(policy, count, key, seed)
            alike = [
                n for n in range(one.low, min(one.high, 5000) + 1) if policies.publish(policy, n, key, seed) == one
            ]
            chosen[quantity, metric, stratum, limit] = int(generator.choice(alike))
        return chosen[quantity, metric, stratum, limit]

    for path, frame in results.items():
        metric = path.name.partition(".")[0] if "confirmed" in path.parts else ""
        for at, line in zip(frame.index, frame.to_dict("records"), strict=True):
            own = line.get("metric", metric)
            limit = line.get("max_pairs", 0 if own == "unicity" else gated.LIMIT)
            for column in frame.columns:
                if column in (*COUNTS[1:], *gated.COUNTS) and "verdict" not in path.parts:
                    frame.loc[at, column] = other(line[column], column, own, line["stratum"], limit)
        for name in frame.columns:
            if name.endswith(("_rate", "_low", "_high", "value", "pairs")) and name != "max_pairs":
                frame[name] = generator.random(len(frame))
    return results


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1), policy=st.sampled_from(POLICIES))
def test_studies_that_are_published_alike_make_the_same_files(seed, policy, tmp_path_factory):
    generator = np.random.default_rng(seed)
    records = gated.draw(generator, largest=200)
    results, others = gated.tables(records), disguised(records, policy, generator)
    assert any(not results[path].equals(others[path]) for path in results)
    folder = tmp_path_factory.mktemp("editions")
    one = gated.publish(gated.passed(records, policy, results), folder / "one")
    other = gated.publish(gated.passed(records, policy, others), folder / "other")
    assert contents(one) == contents(other)


def test_a_study_that_is_published_otherwise_makes_other_files(tmp_path):
    """The test above could fail."""
    one, other = (study([300, 200], n_eif, share=0.4) for n_eif in ([600, 400], [600, 480]))
    folders = [
        gated.publish(gated.passed(records, "census-drb"), tmp_path / str(len(records.n_eif) + at))
        for at, records in enumerate((one, other))
    ]
    assert contents(folders[0]) != contents(folders[1])


def test_pages_of_studies_that_are_published_alike_are_the_same(tmp_path):
    generator = np.random.default_rng(11)
    records = gated.draw(generator)
    made = [
        gated.passed(records, "census-drb", results)
        for results in (gated.tables(records), disguised(records, "census-drb", generator))
    ]
    one, other = (drawn(gated.publish(passed, tmp_path / str(at))) for at, passed in enumerate(made))
    assert one == other


def drawn(folder):
    """The pages of an edition."""
    edition = Edition(folder)
    return pages(executed(edition), edition)


# Order --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["census-drb", "base-5-random"])
def test_the_order_of_lines_columns_and_tables_does_not_matter(policy, tmp_path):
    generator = np.random.default_rng(8)
    records = gated.draw(generator)
    results = gated.tables(records)
    names = list(results)
    mixed = {
        names[at]: results[names[at]].sample(frac=1, random_state=3).sample(frac=1, axis=1, random_state=4)
        for at in generator.permutation(len(names))
    }
    limits = RESULTS / "verdict/limits.csv"
    mixed[limits] = mixed[limits].sort_index()  # its lines are shown in their order
    one = gated.publish(gated.passed(records, policy), tmp_path / "one")
    other = gated.publish(gated.passed(records, policy, mixed), tmp_path / "other")
    assert contents(one) == contents(other)


@pytest.mark.slow
def test_the_seed_of_hashes_does_not_matter(tmp_path):
    for seed in ("0", "1"):
        program = (
            "import sys, pathlib, numpy as np\n"
            "from making import gated\n"
            "records = gated.draw(np.random.default_rng(8))\n"
            "gated.publish(gated.passed(records, 'census-drb'), pathlib.Path(sys.argv[1]))\n"
        )
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / seed)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
            check=True,
        )
    assert contents(tmp_path / "0") == contents(tmp_path / "1")


# Numbers ------------------------------------------------------------------------------------------


def lines(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def check_rates(folder, policy):
    """Every rate is that of the two texts beside it."""
    for line in lines(folder / "attack.csv"):
        for name, (part, whole) in RATES.items():
            texts = line[part], line[whole]
            if not line[name]:
                continue
            share = Fraction(*map(int, texts))
            digits = policy.rates.decimals + 2
            assert abs(Fraction(line[name]) - share) <= Fraction(1, 2 * 10**digits)
            assert len(line[name].partition(".")[2]) == digits
            assert policy.extremes == "shown" or 0 < Fraction(line[name]) < 1
        if line["conditional_low"]:
            assert float(line["conditional_low"]) <= float(line["conditional_rate"]) <= float(line["conditional_high"])


@pytest.mark.parametrize("policy", POLICIES)
def test_rates_are_those_of_the_published_texts(policy, tmp_path):
    published = 0
    for seed in (0, 1, 5):
        folder = gated.publish(gated.passed(gated.draw(np.random.default_rng(seed)), policy), tmp_path / str(seed))
        check_rates(folder, gated.policy(policy))
        published += sum(bool(line["conditional_rate"]) for line in lines(folder / "attack.csv"))
    assert published


# Canaries -----------------------------------------------------------------------------------------


def large():
    """Return records of a study all of whose counts are large."""
    generator = np.random.default_rng(21)
    stratum = np.repeat([0, 1, 2], [187_654, 263_417, 391_238])
    shape = (len(stratum), 2)
    suspected = np.where(generator.random(shape) < 0.3, gated.NEVER, generator.integers(1, gated.KEEP + 3, size=shape))
    suspected[:, 0] = np.where(suspected[:, 0] < gated.NEVER, 1, gated.NEVER)
    confirmed = np.where((generator.random(shape) < 0.6) & (suspected < gated.NEVER), suspected, gated.NEVER)
    single = (suspected == 1) & (generator.random(shape) < 0.7)
    n_links = np.bincount(stratum[(confirmed < gated.NEVER).any(axis=1)])
    return gated.Records(stratum, suspected, confirmed, single, np.array([412_339, 517_841, 633_127]), n_links)


def exact_numbers(results):
    """The counts of the tables, and their rates with four digits."""
    frames = [frame for path, frame in results.items() if "verdict" not in path.parts]
    counts = {
        int(count)
        for frame in frames
        for name in frame.columns
        for count in frame[name]
        if name in (*COUNTS, *gated.COUNTS)
    }
    rates = results[RESULTS / "rates.csv"]
    shares = {
        Fraction(int(part), int(whole))
        for one, other in RATES.values()
        for part, whole in zip(rates[one], rates[other], strict=True)
        if whole
    }
    return counts - {0}, shares - {0, 1}


def forms(counts, shares):
    """How an exact number could be written."""
    texts = {
        text
        for count in counts
        for text in (str(count), *(f"{count:,}".replace(",", mark) for mark in ", \u00a0\u202f_'"))
    }
    digits = {f"{float(share):.4f}"[2:] for share in shares}
    return texts, {f"0.{four}" for four in digits} | {f".{four}" for four in digits}


def everything(folder):
    """Every text of the public files and pages: as it is, unpacked, decoded, and as the words of the PDF."""
    rendered = drawn(folder)
    for content in [*contents(folder).values(), rendered.html.encode(), rendered.pdf]:
        yield from layers(content)
    for picture in re.findall(r'src(?:set)?="data:image/svg\+xml;base64,([^"]+)"', rendered.html):
        yield base64.b64decode(picture)
    for page in PdfReader(BytesIO(rendered.pdf)).pages:
        yield page.extract_text().encode()


def found(texts, folder):
    """Return those of some texts that a public file or page contains as a number of its own, or at its start."""
    pattern = re.compile(rb"(?<![0-9.])(?:" + b"|".join(re.escape(text.encode()) for text in sorted(texts)) + rb")")
    return {hit.decode() for layer in everything(folder) for hit in pattern.findall(layer)}


def test_no_exact_number_that_rounding_changes_occurs_in_a_public_file(tmp_path):
    records = large()
    results = gated.tables(records)
    counts, shares = exact_numbers(results)
    published = {count for count in counts if policies.publish(gated.policy("census-drb"), count).value == count}
    assert not published, "draw other counts"
    assert min(counts) > 9_000
    texts, rates = forms(counts, shares)
    folder = gated.publish(gated.passed(records, "census-drb", results), tmp_path / "rounded")
    assert found(texts | rates, folder) == set()
    exact = gated.publish(gated.passed(records, "none", results), tmp_path / "exact")
    assert found(texts, exact) >= {str(count) for count in counts}, "the search sees an edition of exact counts"
