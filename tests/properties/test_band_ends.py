"""Bands hold their ends, also where the numbers are decimals that a double cannot hold (METHODS §4.4)."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from making.studies import keyed_by
from oracles.checks import check_study
from oracles.study import run as judge
from workflow.library_run import run

HUNDREDTHS = st.one_of(st.integers(-300, 300), st.integers(-(10**11), 10**11)).map(
    lambda n: f"{'-' if n < 0 else ''}{abs(n) // 100}.{abs(n) % 100:02d}"
)


@examples(60)
@given(
    puf=st.lists(HUNDREDTHS, min_size=1, max_size=6),
    eif=st.lists(HUNDREDTHS, min_size=1, max_size=6),
    within=st.sampled_from(["0", "0.01", "0.05", "0.1", "0.3", "0.7", "1000", "50000000.1"]),
    relative=st.sampled_from(["true", "false"]),
)
def test_band_ends(puf, eif, within, relative):
    # EIF values at the very ends of the band around a PUF value, and just beyond
    middle, width = Decimal(puf[0]), Decimal(within)
    reach = width * abs(middle) if relative == "true" else width
    step = Decimal("0.0001") if abs(middle) < 10**8 else Decimal("0.01")
    ends = [middle + sign * (reach + beyond) for sign in (-1, 1) for beyond in (0, step)]
    eif = [*eif, *(f"{end:f}" for end in ends if len(end.as_tuple().digits) <= 14)]
    rows = [[{"id": str(i), "x": x} for i, x in enumerate(side)] for side in (puf, eif)]
    study = {
        "id": "bands",
        "files": keyed_by(["id"], ["id"]) | {"iuf": {"path": "iuf.csv", "puf_id": ["p"], "eif_id": ["e"]}},
        "linking_variables": [{"name": "x", "type": "numeric"}],
        "metrics": {
            "adhoc": {"scores": {"x": {"bands": [{"within": within, "score": "5", "relative": relative}]}}}
        },
    }
    check_study(judge(study, *rows, []), run(study, *rows, []))
