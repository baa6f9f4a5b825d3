"""CSV tables column by column: the bytes that pandas writes, and the values that it reads."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reident.ledger import cells, stored
from reident.pipeline.steps import table_of

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


RATES = [
    "metric,stratum,n_puf,suspected_rate,n_eif",
    "unicity,ALL,10,0.1,",
    "taxicab,s0001,,1e-05,3",
    "taxicab,s0001,5.0,,3",
    "taxicab,s0001,+5,0.30000000000000004,3",
    "'=x,NA,5,nan,3",
    'a,"s,1",5,1.0,3',
    "a,s1,0x10,1.0,3",
    "a,s1,5,much,3",
    "a,s1,5,1.0",
    "a,s1,5,1.0,3,4",
    "a,é,5,.5,3",
    ",,,,",
    "",
]


@given(st.lists(st.sampled_from(RATES[1:]), max_size=4))
def test_a_table_is_read_as_through_pandas_whatever_its_cells(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("tables") / "rates.csv"
    path.write_text("\n".join([RATES[0], *lines]) + "\n", encoding="utf-8")
    try:
        expected = stored.typed(table_of(path), stored.read_text(path))
    except ValueError as error:
        with pytest.raises(type(error)):
            stored.read_csv(path)
        return
    found = stored.read_csv(path)
    pd.testing.assert_frame_equal(found, expected)
    for name in found:
        assert [*map(type, found[name])] == [*map(type, expected[name])]
    some = ["n_puf", "stratum"]
    pd.testing.assert_frame_equal(stored.read_csv(path, some), expected[some])


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path):
    path = tmp_path / "rates.csv"
    path.write_text("\ufeffmetric,n_puf\n5,1\n", encoding="utf-8")
    assert stored.read_csv(path).to_dict("list") == {"metric": ["5"], "n_puf": [1]}
