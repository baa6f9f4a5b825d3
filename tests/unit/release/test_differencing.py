"""What follows from two editions together, and that the gate prevents it (METHODS §11)."""

import csv
import math
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from making import gated
from oracles.attacker import Attacker
from reident.errors import InputError
from reident.linkage.settings import COMPARED_RATES, SIDES
from reident.matching.summary import CLASSES
from reident.pipeline.releasing import Alike
from reident.pipeline.steps import declared
from reident.release import earlier, policies
from reident.release.cells import SUPPRESSED
from scipy import sparse
from scipy.optimize import linprog

RESULTS = Path("results/s")
SHARE = 0.5
"""The share of its interval that a rounded count keeps; a small one keeps all of it."""


def study(suspected, *, metrics=2, later=0, many=0):
    """Return the records of strata of 300, of which so many are suspected, half of them confirmed.

    `later` records of each stratum are suspected with the largest rank limit alone, and `many` with no rank limit.
    """
    stratum = np.repeat(np.arange(len(suspected)), 300)
    place = np.tile(np.arange(300), len(suspected))
    limits = np.repeat(suspected, 300)
    last = limits + np.repeat(np.broadcast_to(later, len(suspected)), 300)
    first = np.where(place < limits, 1, np.where(place < last, gated.KEEP, gated.NEVER))
    first[(first == gated.NEVER) & (place < last + many)] = gated.KEEP + 1
    found = np.repeat(first[:, None], metrics, axis=1)
    found[:, 0] = np.where(found[:, 0] == 1, 1, gated.NEVER)
    confirmed = np.where((place % 2 == 0)[:, None], found, gated.NEVER)
    none = np.zeros(found.shape, bool)
    eif = np.full(len(suspected), 600)
    return gated.Records(stratum, found, confirmed, none, eif, np.full(len(suspected), 260))


class Both:
    """Who reads two editions of the same data, and takes it that their counts differ as little as they can."""

    def __init__(self, editions, *, shared):
        """`editions` are pairs of a policy and a folder; `shared` tells which cells are the same counts."""
        self.parts = [Attacker(policy, folder, sizes(folder)) for policy, folder in editions]
        self.start = [0, len(self.parts[0].cells)]
        one, other = self.parts
        self.low, self.high = (np.concatenate([getattr(part, side) for part in self.parts]) for side in ("low", "high"))
        self.rows = sparse.block_diag([sparse.csr_array(np.array(part.rows)) for part in self.parts], format="csr")
        self.most = np.concatenate([part.most for part in self.parts])
        pairs = [
            (one.cells[cell], self.start[1] + other.cells[cell])
            for cell in one.cells
            if cell in other.cells and shared(cell)
        ]
        apart = np.zeros((len(pairs), self.start[1] + len(other.cells)))
        for at, (first, second) in enumerate(pairs):
            apart[at, first], apart[at, second] = 1, -1
        n, m = apart.shape[1], len(pairs)
        # The smallest distance is a further variable of a first linear program.
        wide = sparse.csr_array(np.column_stack([np.vstack([apart, -apart]), -np.ones(2 * m)]))
        found = linprog(
            np.eye(1, n + 1, n)[0],
            A_ub=sparse.vstack([sparse.hstack([self.rows, sparse.csr_array((self.rows.shape[0], 1))]), wide]),
            b_ub=np.concatenate([self.most, np.zeros(2 * m)]),
            bounds=[*zip(self.low, self.high, strict=True), (0, None)],
        )
        assert found.status == 0, found.message
        self.distance = math.ceil(found.fun - 1e-6)
        self.rows = sparse.vstack([self.rows, sparse.csr_array(np.vstack([apart, -apart]))])
        self.most = np.concatenate([self.most, np.full(2 * m, self.distance)])

    def width(self, edition, cell):
        """Largest minus smallest value of a count of one edition, whole or not."""
        objective = np.zeros(len(self.low))
        objective[self.start[edition] + self.parts[edition].cells[cell]] = 1
        ends = []
        for sign in (1, -1):
            found = linprog(
                sign * objective, A_ub=self.rows, b_ub=self.most, bounds=np.stack([self.low, self.high], axis=1)
            )
            assert found.status == 0, found.message
            ends.append(sign * found.fun)
        return ends[1] - ends[0]

    def told(self):
        """Return the counts of either edition that are told closer than its policy allows, but not by it alone."""
        found = set()
        for edition, part in enumerate(self.parts):
            for cell, text in part.texts.items():
                low, high = part.low[part.cells[cell]], part.high[part.cells[cell]]
                required = math.floor((SHARE if text.isdigit() else 1) * (high - low))
                if text != "x" and cell[0] != "n_puf" and self.width(edition, cell) < required - 1e-6:
                    alone = part.width(cell)
                    if alone >= required:
                        found.add((edition, cell))
        return found


def sizes(folder):
    """The numbers of PUF records, which the public can count: here 300 by stratum."""
    with (folder / "attack.csv").open(encoding="utf-8", newline="") as stream:
        strata = {line["stratum"] for line in csv.DictReader(stream)} - {"ALL"}
    return dict.fromkeys(strata, 300) | {"ALL": 300 * len(strata)}


def released(tmp_path, old, new, policies_=("census-drb", "census-drb"), shared=lambda _: True):
    """Publish two studies one after the other; what is told by both, first without `after`, then with it."""
    first = gated.publish(gated.passed(old, policies_[0]), tmp_path / "first" / "releasable")
    before = [earlier.read(first)]
    told = []
    for name, after in (("alone", []), ("after", before)):
        second = gated.publish(gated.passed(new, policies_[1], after=after), tmp_path / name)
        told.append(Both(list(zip(policies_, (first, second), strict=True)), shared=shared).told())
    return told


def test_a_record_more_that_crosses_a_boundary_is_not_told(tmp_path):
    """174 is published as 150 and 175 as 200: who knows both, and that they are almost equal, knows the count."""
    alone, after = released(tmp_path, study([174]), study([175]))
    assert {cell[0] for _, cell in alone} >= {"n_suspected"}
    assert after == set()


@pytest.mark.parametrize("policy", ["opensafely", "midpoint-6"])
def test_a_record_more_is_not_told_by_other_policies(policy, tmp_path):
    boundary = next(
        count for count in range(100, 130)
        if policies.publish(gated.policy(policy), count) != policies.publish(gated.policy(policy), count + 1)
    )  # fmt: skip
    alone, after = released(tmp_path, study([boundary]), study([boundary + 1]), (policy, policy))
    assert alone
    assert after == set()


def test_a_stratum_more_is_not_told(tmp_path):
    """The totals of the two editions differ by the new stratum, whose counts are small."""
    old, new = study([40, 60]), study([40, 60, 6])
    alone, after = released(tmp_path, old, new, ("opensafely", "opensafely"), shared=lambda cell: cell[2] != "ALL")
    assert after == set()
    assert alone


def test_a_stratum_more_is_not_told_by_the_other_rank_limits(tmp_path):
    """With the largest rank limit at least as many records of the new stratum are suspected as with that in force."""
    first = gated.publish(gated.passed(study([40, 60], later=15, many=20), "opensafely"), tmp_path / "releasable")
    new = study([40, 60, 1], later=[15, 15, 0], many=20)
    bounds = []
    for after in ([], [earlier.read(first)]):
        second = gated.publish(gated.passed(new, "opensafely", after=after), tmp_path / str(len(after)))
        before, now = (Attacker("opensafely", folder, sizes(folder)) for folder in (first, second))
        whole, stratum = (("n_suspected", "taxicab", *which) for which in (("ALL", "4"), ("3", "3")))
        most = now.high[now.cells[whole]] - before.low[before.cells[whole]]
        bounds.append(most >= 7 or now.texts[stratum] == "x")
    assert bounds == [False, True]


def test_the_same_counts_by_another_policy_are_not_told(tmp_path):
    """Counts that are rounded to 50 are not published to the nearest 5 afterwards."""
    alone, after = released(tmp_path, study([131, 77]), study([131, 77]), ("census-drb", "opensafely"))
    assert {cell[0] for _, cell in alone} >= {"n_suspected"}
    assert after == set()


def with_variant(records):
    """The tables of a study and of a variant whose attack is the same, and what describes them."""
    results = gated.tables(records)
    rates = results[RESULTS / "rates.csv"]
    whole = rates[rates["stratum"] == "ALL"].drop(columns="stratum")
    results[RESULTS / "comparison/rates.csv"] = pd.concat(
        [whole.assign(variant=name, reference=reference, set_bins=bins)
         for name, reference, bins in (("study", "yes", "5"), ("a", "no", "4"))]
    )  # fmt: skip
    metrics = whole["metric"].tolist()
    alike = Alike(("a",), tuple(("a", metric) for metric in metrics), {"a": gated.LIMIT})
    return results, {"varied": ("bins",), "variants": {"a": {"bins": "4"}}, "alike": alike}


def test_a_variant_more_is_not_told(tmp_path):
    """A variant with the same attack repeats counts of the earlier edition, to the nearest 5 instead of 50."""
    records = study([131, 77])
    first = earlier.read(gated.publish(gated.passed(records, "census-drb"), tmp_path / "first" / "releasable"))
    results, described = with_variant(records)
    told = []
    for after in ([], [first]):
        made = gated.passed(records, "opensafely", results, after, **described)
        second = earlier.read(gated.publish(made, tmp_path / str(len(after)) / "releasable"))
        repeats = {cell: one for cell, one in second.cells.items() if cell.variant == "a"}
        assert repeats
        close = set()
        for cell, one in repeats.items():
            before = first.cells.get(cell._replace(variant=""))
            is_public = cell.quantity == "n_puf" or (cell.quantity, cell.metric) == ("n_ambiguous", "unicity")
            if before is None or one.text == SUPPRESSED or is_public:
                continue  # no record is ambiguous where there is no rank limit
            width = min(one.high, before.high) - max(one.low, before.low)
            if width < math.floor((SHARE if before.value is not None else 1) * (before.high - before.low)):
                close.add((cell.quantity, cell.metric))
        told.append(close)
    alone, after = told
    assert {quantity for quantity, _ in alone} >= {"n_suspected", "n_confirmed"}
    assert after == set()


def test_an_earlier_edition_that_no_study_has_is_refused(tmp_path):
    """More records are confirmed than suspected: somebody edited the file."""
    folder = gated.publish(gated.passed(study([174]), "census-drb"), tmp_path / "releasable")
    attack = pd.read_csv(folder / "attack.csv", dtype=str, keep_default_na=False)
    attack.loc[attack["n_confirmed"] != "x", "n_confirmed"] = "250"
    attack.to_csv(folder / "attack.csv", index=False)
    with pytest.raises(InputError, match=r"release\.after: no study has the counts of these editions"):
        gated.passed(study([175]), "census-drb", after=[earlier.read(folder)])


def test_an_edition_in_an_archive_is_as_its_folder(tmp_path):
    folder = gated.publish(gated.passed(study([174]), "census-drb"), tmp_path / "releasable")
    with zipfile.ZipFile(tmp_path / "sealed.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"s/data/reports/s/releasable/{file.name}")
    assert earlier.read(tmp_path / "sealed.zip") == earlier.read(folder)
    made = [
        gated.passed(study([175]), "census-drb", after=[earlier.read(path)])
        for path in (folder, tmp_path / "sealed.zip")
    ]
    assert made[0].record == made[1].record
    assert made[0].tables["attack"].equals(made[1].tables["attack"])
    assert made[0].audit.equals(made[1].audit)


# Every count has the same name in a study and in its edition ----------------------------------------


def every_table(records):
    """The tables of a study with everything, of which `part` of :func:`everything` is the description."""
    results = gated.tables(records)
    rates = results[RESULTS / "rates.csv"]
    whole = rates[rates["stratum"] == "ALL"]
    clusters = rates[["metric", "stratum"]].assign(n_clusters=100, n_suspected=20, n_confirmed=16)
    sides = {f"{name}_{side}": whole[name].to_numpy() for name in COMPARED_RATES for side in SIDES}
    before = pd.DataFrame({"metric": whole["metric"].to_numpy(), "stratum": "ALL", "stratum_before": "ALL", **sides})
    variants = pd.concat(
        [whole.drop(columns="stratum").assign(variant=name, reference=reference, set_bins=bins)
         for name, reference, bins in (("study", "yes", "5"), ("a", "no", "4"))]
    )  # fmt: skip
    file = pd.DataFrame(
        {
            "convention": ["excluded", "category", "wildcard"],
            "n_records": 600,
            "below_2": 20,
            "below_3": 40,
            "below_5": 60,
        }
    )
    matching = pd.DataFrame(
        [("age | sex", name, low, high, 60, 0 if low == 0 else 60, 1.0)
         for name in ("1", "confidential") for low, high in CLASSES],
        columns=["scenario", "file", "matches_from", "matches_to", "n_records", "n_own", "risk"],
    ).astype({"matches_to": "Int64"})  # fmt: skip
    frames = {
        "clusters.csv": clusters, "protection/rates.csv": before, "comparison/rates.csv": variants,
        "filerisk/conventions.csv": file, "matching/distribution.csv": matching,
    }  # fmt: skip
    for path, frame in frames.items():
        assert set(frame) <= {"set_bins", *(column.name for column in declared(Path(path))[0].columns)}, path
        results[RESULTS / path] = frame
    return results


VARIED = {
    "varied": ("bins",),
    "variants": {"a": {"bins": "4"}},
    "alike": Alike((), (), {"a": gated.LIMIT}),
    "scenarios": ("age | sex",),
}


def test_every_count_of_a_study_has_the_same_name_in_its_edition(tmp_path):
    """Otherwise the audit would not know that two editions have it."""
    records = study([131, 77], later=9)
    made = gated.passed(records, "census-drb", every_table(records), **VARIED)
    cells = {tuple(line) for line in made.audit.iloc[:, :7].astype(str).to_numpy()}
    edition = earlier.read(gated.publish(made, tmp_path / "releasable"))
    assert {tuple(map(str, cell)) for cell in edition.cells} == cells
    published = {tuple(line[:7]): line[7] for line in made.audit.astype(str).to_numpy()}
    assert {tuple(map(str, cell)): one.text for cell, one in edition.cells.items()} == published
    assert {cell.quantity for cell in edition.cells} >= {"match_targets", "below_5", "clusters_suspected"}
    assert {cell.file for cell in edition.cells} == {"released", "before"}


def test_the_audit_knows_that_targets_are_in_one_class():
    """The own records of those who match no record are nobody: the count is published, and known to be 0."""
    records = study([131])
    made = gated.passed(records, "census-drb", every_table(records), **VARIED)
    audit = made.audit[made.audit["quantity"] == "match_own"].set_index("other")
    assert audit.loc["age | sex|1|0|0", "width"] == 0
    assert audit.loc["age | sex|1|1|1", "width"] > 0
