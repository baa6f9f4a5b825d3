"""What the report tells of variables, agreement and overlap: counts by hand, and no key."""

import pyarrow as pa
import pytest
from making.studies import in_strata, manifest, pairs, study, table
from reident.linkage import bins, description
from reident.linkage import step as linkage_step

# Stratum s1: PUF 1, 2 and EIF 1, 2; s2: PUF 3, EIF 3; PUF 4 is in no stratum. PUF and EIF 0 are in none either.
FILES = {"puf": table("n c", "5 z", "1 x", "9 y", "~ x", "5 z"), "eif": table("n c", "2 x", "1 x", "2 ~", "7 w")}
STRATA = {"puf": in_strata(None, 0, 0, 1, None), "eif": in_strata(None, 0, 0, 1)}
MANIFEST = manifest(("s1", 2, 2, 2), ("s2", 1, 1, 1))
LINKS = ["0 1", "1 1", "2 2", "3 3", "3 1", "4 1"]
MODEL = {
    "linking_variables": [{"name": "n", "type": "numeric", "eif": "N"}, {"name": "c", "type": "categorical"}],
    "binning": {"bins": 2},
    "metrics": {"unicity": {}, "taxicab": {}},
}


def described(links=LINKS, **suspected):
    """Describe the files, with suspected pairs ``puf eif`` (after ``not``: not confirmed) by metric."""
    model = study(**MODEL)
    prepared = {side: text.set_column(0, "n", text["n"].cast(pa.float64())) for side, text in FILES.items()}
    cut = bins.bin_files(linkage_step.cutting(model), prepared, STRATA, MANIFEST)
    tables = {
        metric: pairs(*(row.removeprefix("not ") for row in rows)).append_column(
            "confirmed", pa.array([not row.startswith("not ") for row in rows], pa.bool_())
        )
        for metric, rows in ({"unicity": [], "taxicab": []} | suspected).items()
    }
    return description.describe(linkage_step.describing(model), prepared, cut.files, pairs(*links), STRATA, tables)


def test_variables_by_hand():
    """Links within a stratum are 1–1, 2–2 and 3–3; 3–1 and 4–1 are lost. Bins of a: 1 up to 5, 2 above; b has none."""
    found = described().variables.set_index("variable").to_dict("index")
    assert found["n"] | {"common_codes": None} == {
        "type": "numeric", "puf_column": "n", "eif_column": "N", "puf_missing": 1, "eif_missing": 0,
        "puf_distinct": 3, "eif_distinct": 3, "common_codes": None,
        "links": 3, "links_agree": 1, "links_differ": 1, "links_missing": 1,
    }  # fmt: skip
    assert found["c"] == {
        "type": "categorical", "puf_column": "c", "eif_column": "c", "puf_missing": 0, "eif_missing": 1,
        "puf_distinct": 3, "eif_distinct": 2, "common_codes": 1,
        "links": 3, "links_agree": 1, "links_differ": 1, "links_missing": 1,
    }  # fmt: skip


AGREEMENT = [
    ("confirmed pairs", {"taxicab": ["1 1", "2 2"]}, "taxicab", "confirmed", {"n": (2, 1, 1, 0), "c": (2, 1, 0, 1)}),
    (
        "pairs that are only suspected",
        {"taxicab": ["1 1", "not 2 1"]},
        "taxicab",
        "false",
        {"n": (1, 0, 1, 0), "c": (1, 0, 1, 0)},
    ),
    ("a metric without pairs", {}, "unicity", "confirmed", {"n": (0, 0, 0, 0), "c": (0, 0, 0, 0)}),
    ("the true links", {}, "", "true", {"n": (3, 1, 1, 1), "c": (3, 1, 1, 1)}),
]


@pytest.mark.parametrize(
    ("sentence", "pairs", "metric", "kind", "counts"), AGREEMENT, ids=[case[0] for case in AGREEMENT]
)
def test_agreement_by_kind_of_pair(sentence, pairs, metric, kind, counts):
    """n, agree, differ, missing; a pair agrees where both records are in the same category."""
    lines = described(**pairs).agreement
    lines = lines[(lines["metric"] == metric) & (lines["pairs"] == kind)].set_index("variable")
    assert {name: tuple(lines.loc[name, ["n", "agree", "differ", "missing"]]) for name in lines.index} == counts


OVERLAP = [
    ("nothing suspected", {}, []),
    ("one metric alone", {"taxicab": ["1 1", "not 1 2"]}, [("suspected", "taxicab", 1), ("confirmed", "taxicab", 1)]),
    (
        "exactly these metrics and no other",
        {"unicity": ["1 1", "not 2 1"], "taxicab": ["1 1", "not 3 3"]},
        [
            ("suspected", "unicity", 1),
            ("suspected", "taxicab", 1),
            ("suspected", "unicity+taxicab", 1),
            ("confirmed", "unicity+taxicab", 1),
        ],
    ),
    (
        "suspected by both, confirmed by one",
        {"unicity": ["not 1 2"], "taxicab": ["1 1"]},
        [("suspected", "unicity+taxicab", 1), ("confirmed", "taxicab", 1)],
    ),
    ("several pairs of a record are one record", {"taxicab": ["not 1 1", "not 1 2"]}, [("suspected", "taxicab", 1)]),
]


@pytest.mark.parametrize(("sentence", "pairs", "lines"), OVERLAP, ids=[case[0] for case in OVERLAP])
def test_overlap_counts_records(sentence, pairs, lines):
    found = described(**pairs).overlap
    assert list(found.itertuples(index=False, name=None)) == lines
    assert list(found.columns) == ["set", "metrics", "n_pufids"]
