"""Records that do not fit into memory are prepared as those that do, wherever batches and buckets end."""

from contextlib import ExitStack
from unittest.mock import patch

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from making.studies import study
from reident.errors import InputError
from reident.intake import columns, ordering, spool
from reident.intake import prepare as intake
from reident.intake import step as intake_step

KEY = st.sampled_from(["", "1", "01", "1 ", "10", "2", "é", "e\u0301", "𝄞", "\uffff", "a\0", "a"])
CODE = st.sampled_from(["1", "2", "", "-9", "x", "99"])
NUMBER = st.sampled_from(["1", "01.50", "-9", "99", " 7", "1e2", "-0", "", "99.00000000000001"] * 4 + ["one"])
PREPARED = ("puf", "eif", "iuf", "clusters")


@st.composite
def files(draw):
    """The rows of a PUF, an EIF and an IUF with keys of two columns, and perhaps of a file before protection."""
    unique = draw(st.sampled_from([True, True, True, False]))
    keys = st.lists(st.tuples(KEY, KEY), max_size=25, unique=unique)
    side = {}
    for name in ("puf", "eif"):
        side[name] = [(*key, draw(CODE), draw(NUMBER), draw(CODE)) for key in draw(keys)]
        if draw(st.booleans()):
            side[name].sort()
    known = {name: [row[:2] for row in rows] or [("no", "key")] for name, rows in side.items()}
    stranger = st.tuples(KEY, KEY)
    ends = [st.sampled_from(known[name]) | stranger for name in ("puf", "eif")]
    links = st.lists(st.tuples(*ends).map(lambda pair: (*pair[0], *pair[1])), max_size=30)
    original = draw(st.none() | st.permutations(known["puf"]) | st.lists(stranger, max_size=5))
    return side["puf"], side["eif"], draw(links), original


def table(names, rows):
    """A table of text."""
    cells = zip(*rows, strict=True) if rows else [()] * len(names)
    return pa.table({name: pa.array(own, pa.string()) for name, own in zip(names, cells, strict=True)})


def outcome(settings, sources, folder=None, threads=1):
    """The prepared tables, or the message of the error."""
    tables = {name: [] for name in PREPARED}
    try:
        lines = intake.prepare_files(
            settings, sources, {name: own.append for name, own in tables.items()}, folder, threads
        )
    except InputError as error:
        return str(error), error.args[1:]
    found = {name: pa.concat_tables(own).combine_chunks() for name, own in tables.items()}
    return found | {name: own.to_csv() for name, own in lines.items()}


@examples(150)
@given(
    rows=files(),
    batch=st.integers(1, 7),
    bucket=st.integers(1, 7),
    stride=st.integers(1, 3),
    texts=st.integers(1, 4),
    cluster=st.sampled_from([(), ("h",), ("h", "a")]),
    allowed=st.sampled_from([0, 100]),
    threads=st.integers(1, 3),
)
def test_bounded_memory_and_threads_give_what_one_batch_gives(
    tmp_path_factory, rows, batch, bucket, stride, texts, cluster, allowed, threads
):
    linking = [
        {
            "name": "c",
            "type": "categorical",
            "missing": {"puf": ["-9"], "eif": [""]},
            "recode": {"puf": {"1": "x", "8": "2"}},
        },
        {"name": "n", "type": "numeric", "missing": ["-9", ""], "coarsen": {"top": 150}},
    ]
    names = {
        "puf": ["a", "b", "c", "n", "h"],
        "eif": ["d", "e", "c", "n", "h"],
        "iuf": ["pa", "pb", "ed", "ee"],
        "original": ["a", "b"],
    }
    described = {
        "puf": {"path": "puf.csv", "id": ["a", "b"]},
        "eif": {"path": "eif.csv", "id": ["d", "e"]},
        "iuf": {"path": "iuf.csv", "puf_id": ["pa", "pb"], "eif_id": ["ed", "ee"], "unknown_links_at_most": allowed},
    }
    known = dict(zip(names, rows, strict=True))
    if known["original"] is None:
        del known["original"]
    else:
        described["original"] = {"path": "original.csv"}
    model = study(
        files=described, linking_variables=linking, **({"rates": {"cluster": list(cluster)}} if cluster else {})
    )
    settings = intake_step.preparing(model)
    tables = {side: table(names[side], own) for side, own in known.items()}
    whole = outcome(settings, {side: [own] for side, own in tables.items()})
    small = [
        (spool, "MAX_ROWS", bucket),
        (ordering, "BUCKET", bucket),
        (ordering, "STRIDE", stride),
        (columns, "MAX_TEXTS", texts),
    ]
    with ExitStack() as stack:
        for module, name, value in small:
            stack.enter_context(patch.object(module, name, value))
        pieces = {side: [pa.Table.from_batches([one]) for one in own.to_batches(batch)] for side, own in tables.items()}
        folder = tmp_path_factory.mktemp("scratch", numbered=True)
        bounded = outcome(settings, pieces, folder, threads)
        assert not list(folder.iterdir())
    assert bounded == whole
