"""Bands hold their ends, also where the numbers are decimals that a double cannot hold (METHODS §4.4)."""

from hypothesis import given
from hypothesis import strategies as st
from oracles.checks import check_study
from oracles.study import run as judge
from workflow.library_run import run

HUNDREDTHS = st.integers(-300, 300).map(lambda n: f"{'-' if n < 0 else ''}{abs(n) // 100}.{abs(n) % 100:02d}")


@given(
    puf=st.lists(HUNDREDTHS, min_size=1, max_size=6),
    eif=st.lists(HUNDREDTHS, min_size=1, max_size=6),
    within=st.sampled_from(["0.05", "0.1", "0.3", "0.7"]),
    relative=st.sampled_from(["true", "false"]),
    data=st.data(),
)
def test_band_ends(puf, eif, within, relative, data):
    # an EIF value at the very end of the band around a PUF value
    end = round(float(puf[0]) + data.draw(st.sampled_from([-1, 1])) * float(within), 2)
    rows = [[{"id": str(i), "x": x} for i, x in enumerate(side)] for side in (puf, [*eif, f"{end:.2f}"])]
    study = {
        "id": "bands",
        "files": {
            "puf": {"path": "puf.csv", "id": ["id"]},
            "eif": {"path": "eif.csv", "id": ["id"]},
            "iuf": {"path": "iuf.csv", "puf_id": ["p"], "eif_id": ["e"]},
        },
        "linking_variables": [{"name": "x", "type": "numeric"}],
        "metrics": {
            "adhoc": {"scores": {"x": {"bands": [{"within": within, "score": "5", "relative": relative}]}}}
        },
    }
    check_study(judge(study, *rows, []), run(study, *rows, []))
