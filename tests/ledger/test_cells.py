"""CSV tables column by column: the bytes that pandas writes."""

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from reident.ledger import cells, stored

FLOATS = st.floats() | st.sampled_from([0.0, -0.0, 0.1, 1e-5, 1e16, 1e22, 5e-324, 1.7976931348623157e308])
COLUMNS = {
    "int64": st.integers(-(2**63), 2**63 - 1),
    "Int64": st.none() | st.integers(-(2**40), 2**40),
    "float64": FLOATS,
    "bool": st.booleans(),
    "str": st.none() | st.text(),
    "object": st.none() | st.text(),
}


@st.composite
def frames(draw):
    n = draw(st.integers(0, 5))
    kinds = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4))
    return pd.DataFrame(
        {
            f"c{at}": pd.Series(draw(st.lists(COLUMNS[kind], min_size=n, max_size=n)), dtype=kind)
            for at, kind in enumerate(kinds)
        }
    )


@given(frames(), st.integers(1, 3))
def test_the_bytes_are_those_of_pandas_or_left_to_it(table, times):
    table = pd.concat([table] * times)  # columns of text are then in chunks
    written = cells.text_of(table)
    assert written is None or written == table.to_csv(index=False, lineterminator="\n").encode()


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path):
    path = tmp_path / "rates.csv"
    path.write_text("\ufeffmetric,n_puf\n5,1\n", encoding="utf-8")
    assert stored.read_csv(path).to_dict("list") == {"metric": ["5"], "n_puf": [1]}
