"""Random small studies for the oracle and the library: few records, many ties, every option of METHODS §1–6.

A study comes as the plain mapping of its YAML file, every scalar a text as the reader of study files gives it.
"""

from typing import NamedTuple

from hypothesis import strategies as st
from oracles.metrics import ORACLES
from oracles.metrics.drawing import options

KEYS = [
    "1", "01", "001", "10", "1.0", "1e1", "-1", "a", "A", "ab", "NA", "null", "é", "2", "02", "9007199254740993",
]  # fmt: skip
PARTS = ["a", "ab", "b", "bc", "c", "1", "01"]

# What a variable may hold: {code of the study: the spellings of a file}; the EIF's may need a recode table.
ALIKE = {code: [code] for code in ("1", "01", "1.0", "NA", "é", "")}
CATEGORIES = [
    {"1": ["1", " 1 "], "2": ["2"], "3": ["3"]},
    {"x": ["x"], "y": ["y"]},
    {"one": ["one"]},
    {**ALIKE, "é": ["é", "e\u0301"]},
]
INTEGERS = {"1": ["1", "01", "1.0"], "2": ["2", " 2", "+2"], "10": ["10", "010.0"]}
RECODED = {"m": ["M"], "f": ["F", "f"]}
NUMBERS = [
    ["0", "1", "2", "3", "4", "5"],
    ["0", "0", "0", "0", "10", "250", "1000000", "-7"],
    ["0", "0.25", "0.5", "1.75", "-2"],
    ["3.7", "12.04", "5.551", "8", "-1.31", "20.9", "6.6", "6.61", "0.003"],
    ["4"],
    ["0.1"],
]
SPELLINGS = [lambda x: x, lambda x: f" {x}", lambda x: x if "." in x else f"{x}.0", lambda x: f"{x}e0"]


class Column(NamedTuple):
    """A variable as the study declares it, and how each file writes it."""

    variable: dict
    spelled: dict  # {file: {code: its spellings}}
    missing: dict  # {file: spellings of "missing"}


@st.composite
def columns(draw, name, numeric):
    """A strata or linking variable."""
    variable = {"name": name, "type": "numeric" if numeric else "categorical"}
    if draw(st.booleans()):
        variable["eif"] = f"eif_{name}"
    spelled, codes = draw(numbers()) if numeric else draw(categories(variable))
    missing = draw(missing_codes(variable, codes))
    if numeric or "true" in (variable.get("integer_coded"), variable.get("integer-coded")):
        # another spelling of the missing number is missing too
        missing = {file: [*own, "-9.0"] if "-9" in own else own for file, own in missing.items()}
    return Column(variable, spelled, missing)


@st.composite
def numbers(draw):
    """({file: {code: spellings}}, possible missing codes) of a numeric variable."""
    spelled = {x: [spell(x) for spell in SPELLINGS] for x in draw(st.sampled_from(NUMBERS))}
    return {"puf": spelled, "eif": spelled}, draw(st.sampled_from([["-9"], ["", "-9"], ["."]]))


@st.composite
def categories(draw, variable):
    """The same of a categorical variable, whose declaration gets what goes with its codes."""
    kind = draw(st.sampled_from(["plain", "plain", "integer", "recoded", "ordered"]))
    pool = {"integer": INTEGERS, "ordered": CATEGORIES[0]}.get(kind) or draw(st.sampled_from(CATEGORIES))
    if kind == "integer":
        variable[draw(st.sampled_from(["integer_coded", "integer-coded"]))] = "true"
    if kind == "ordered":
        variable["order"] = list(pool)
    if kind == "recoded":
        variable["recode"] = {"eif": {text: code for code, texts in RECODED.items() for text in texts}}
        return {"puf": {code: [code] for code in RECODED}, "eif": RECODED}, ["-9"]
    return {"puf": pool, "eif": pool}, ["-9"]


@st.composite
def coarsenings(draw, column):
    """The coarser values of a linking variable, or None: of numbers, or of two of its codes."""
    if not draw(st.sampled_from([True, False, False])):
        return None
    if column.variable["type"] == "numeric":
        found = draw(options(width=["1", "0.5", "2", "10", "0.1", "1/3"], bottom=["-1", "0.5"], top=["2", "7.5"]))
        return found or {"width": "3"}
    codes = list(column.spelled["puf"])
    return {"recode": {draw(st.sampled_from(codes)): draw(st.sampled_from([*codes, "new"]))}}


@st.composite
def missing_codes(draw, variable, codes):
    """{file: codes that mean missing}, declared for both files, by file, or not at all."""
    declared = draw(st.sampled_from(["none", "both", "both", "by file", "by file"]))
    if declared == "none":
        return {"puf": [], "eif": []}
    by_file = {"puf": codes, "eif": codes if declared == "both" else [*codes, "99"]}
    variable["missing"] = codes if declared == "both" else by_file
    return by_file


def pool(column, file):
    """Strategies of a whole column: no missing value, some, or all missing; None is missing."""
    codes = list(column.spelled[file])
    if not column.missing[file]:
        return st.just(codes)
    some = [codes, codes, codes, [*codes, None], [*codes, *codes, None], [*codes, None, None, None], [None]]
    return st.sampled_from(some)


@st.composite
def keys(draw, n):
    """n different keys of one or two columns, such that joining or parsing them would make some equal."""
    known = [(key,) for key in KEYS] if draw(st.booleans()) else [(a, b) for a in PARTS for b in PARTS]
    # strides are coprime to the sizes of both pools: no key comes twice
    start, stride = draw(st.integers(0, len(known) - 1)), draw(st.sampled_from([1, 3, 5, 11]))
    return [known[(start + stride * i) % len(known)] for i in range(n)]


@st.composite
def studies(draw, fewest=0, most=14):
    """(study, rows of the PUF, of the EIF, of the IUF), from `fewest` to `most` records per file."""
    strata = [draw(columns(f"s{j}", numeric=False)) for j in range(draw(st.sampled_from([0, 0, 1, 1, 1, 2])))]
    linking = [draw(columns(f"x{j}", numeric=draw(st.booleans()))) for j in range(draw(st.integers(1, 6)))]
    sides, origins = draw(records(strata + linking, fewest, most))
    meet(strata, linking, sides)
    own = {file: draw(keys(len(side))) for file, side in sides.items()}
    for column in linking:
        if how := draw(coarsenings(column)):
            column.variable["coarsen"] = how
    study = {"id": "random", "files": draw(files(own)), "linking_variables": [c.variable for c in linking]}
    if strata:
        # what a strata variable cannot declare is left out
        study["strata"] = [
            {key: value for key, value in c.variable.items() if key not in ("type", "order")} for c in strata
        ]
    study |= draw(settings(linking))
    named = {file: [dict(zip(study["files"][file]["id"], key, strict=True)) for key in own[file]] for file in own}
    rows = [
        [named[file][i] | written(strata + linking, file, i, record) for i, record in enumerate(side)]
        for file, side in sides.items()
    ]
    iuf = study["files"]["iuf"]
    links = [
        dict(zip([*iuf["puf_id"], *iuf["eif_id"]], [*own["puf"][i], *own["eif"][k]], strict=True))
        for i, k in draw(true_links(len(sides["puf"]), len(sides["eif"]), origins))
    ]
    if links and draw(st.sampled_from([False, False, True])):
        iuf["unknown_links_at_most"] = "1"
        links.append(links[0] | {draw(st.sampled_from(list(links[0]))): "nobody"})
    return study, *rows, links


@st.composite
def files(draw, own):
    """The section of that name; the two files' key columns may have the same names."""
    found = {"iuf": {"path": "iuf.csv"}}
    for file, some in own.items():
        label = draw(st.sampled_from([f"{file}id", "id"]))
        names = [label, f"{label}_part"][: len(some[0]) if some else 1]
        found[file] = {"path": f"{file}.csv", "id": names}
        found["iuf"][f"{file}_id"] = [f"{file} {name}" for name in names]
    return found


@st.composite
def records(draw, every, fewest, most):
    """({file: records of codes}, of which PUF record each EIF record is a copy, perhaps changed, or None)."""
    pools = {file: [draw(pool(column, file)) for column in every] for file in ("puf", "eif")}
    drawn = {file: st.tuples(*map(st.sampled_from, own)) for file, own in pools.items()}
    n_puf, n_eif = draw(st.integers(fewest, most)), draw(st.integers(fewest, most))
    puf = draw(st.lists(drawn["puf"], min_size=n_puf, max_size=n_puf))
    origin = st.sampled_from([*range(n_puf), *range(n_puf), *[None] * (1 + n_puf // 2)])
    changes = st.sampled_from([0, 0, *(1 << j for j in range(len(every))), 2 ** len(every) - 1])
    plan = draw(st.lists(st.tuples(origin, changes, drawn["eif"]), min_size=n_eif, max_size=n_eif))
    eif = []
    for source, change, fresh in plan:
        old = fresh if source is None else puf[source]
        eif.append([])
        for j, column in enumerate(every):
            unwritable = old[j] is None and not column.missing["eif"]
            new = change >> j & 1 or unwritable or pools["eif"][j] == [None]
            eif[-1].append(fresh[j] if new else old[j])
    return {"puf": [list(record) for record in puf], "eif": eif}, [source for source, *_ in plan]


def meet(strata, linking, sides):
    """Give each categorical column a code that both files hold, and the files a stratum: none is an error."""
    puf, eif = sides["puf"], sides["eif"]
    for j, column in enumerate(strata + linking):
        ours, theirs = ([r[j] for r in side if r[j] is not None] for side in (puf, eif))
        if column.variable["type"] == "categorical" and ours and theirs and not set(ours) & set(theirs):
            next(record for record in eif if record[j] is not None)[j] = ours[0]
    inside = [{tuple(r[: len(strata)]) for r in side if None not in r[: len(strata)]} for side in (puf, eif)]
    if puf and eif and not inside[0] & inside[1]:
        for j, column in enumerate(strata):
            known = [r[j] for r in puf if r[j] is not None] or list(column.spelled["puf"])
            puf[0][j] = eif[0][j] = known[0]


def written(every, file, i, record):
    """A row of text: each code in one of its file's spellings, in turn."""
    row = {}
    for column, code in zip(every, record, strict=True):
        texts = column.missing[file] if code is None else column.spelled[file][code]
        row[column.variable.get(file, column.variable["name"])] = texts[i % len(texts)]
    return row


@st.composite
def true_links(draw, n_puf, n_eif, origins):
    """Positions of linked records: copies with their origins, and any others, some of them twice."""
    if not n_puf or not n_eif:
        return []
    links = [(origin, k) for k, origin in enumerate(origins) if origin is not None]
    kept = draw(st.integers(0, 2 ** len(links) - 1))
    links = [link for at, link in enumerate(links) if kept >> at & 1]
    pairs = st.tuples(st.integers(0, n_puf - 1), st.integers(0, n_eif - 1))
    links += draw(st.lists(pairs, max_size=6))
    return links + links[: draw(st.integers(0, 2))]


@st.composite
def settings(draw, linking):
    """The sections of a study file that choose how: bins, metrics, rank filter, intervals."""
    found = {
        "metrics": {name: draw(oracle.options(linking)) for name, oracle in ORACLES.items()},
        "binning": draw(
            options(
                bins=["2", "3", "5", "7"],
                cutpoints=["puf", "eif", "pooled", "each"],
                scope=["stratum", "study"],
                quantiles=["averaged", "groups"],
            )
        ),
        "rates": draw(options(interval=["clopper-pearson", "wilson"], level=["0.9", "0.95", "0.99"])),
    }
    if found["binning"].get("quantiles") == "groups":
        found["binning"] |= draw(options(ties=["mean", "high"]))
    if draw(st.booleans()):
        limit = draw(st.integers(1, 6))
        found["rank_filter"] = {"max_pairs": str(limit), "keep": str(limit + draw(st.integers(0, 6)))}
    return found
