"""Reading earlier editions, and what two editions show together (METHODS §11)."""

import zipfile

import pytest
from making.editions import CENSUS, SAFELY, drawn, facts, interval, publish, required, written
from reident.errors import InputError
from reident.release import earlier
from reident.release.cells import SUPPRESSED, Cell
from reident.release.feasibility import narrow
from reident.release.joint import join, linked, of_edition, protect_jointly
from reident.release.relations import relations
from reident.release.system import System

SIZES = {"s1": 60, "s2": 240, "s3": 35}


def rounded(counts, policy=CENSUS):
    return {cell: publish(policy, count) for cell, count in counts.items()}


def edition(path, counts, policy=CENSUS, **options):
    found = earlier.read(written(path, counts, policy, **options), interval)
    return found, relations(found.cells, facts(found.cells))


def known(counts, number=0):
    """The PUF is public: its records can be counted."""
    own = {cell: count for cell, count in counts.items() if cell.quantity == "n_puf"}
    return {of_edition(cell, number) if number else cell: count for cell, count in own.items()}


def released(counts, others, policy=CENSUS, new_facts=None):
    """Protect a new edition; check that nothing is narrower than required in the joint system."""
    cells = rounded(counts, policy)
    rows = relations(cells, new_facts or facts(counts))
    public = known(counts)
    found, distances = protect_jointly(cells, rows, others, public, required)
    hidden = dict.fromkeys(found.suppressed, earlier.Published(SUPPRESSED, None, 0, earlier.UNKNOWN))
    joint = join({**cells, **hidden}, rows, others, public)
    assert joint.distances == distances
    ends = {cell: (one.low, min(one.high, 5000)) for cell, one in joint.cells.items()}
    ends |= {cell: (count, count) for cell, count in public.items()}
    widths = narrow(System(joint.relations, ends, 5000))
    for cell, one in found.audit.items():
        assert widths[cell].proven >= one.required
    return found, distances


def test_an_edition_is_read_from_its_folder_and_from_an_archive(tmp_path):
    counts = drawn(SIZES, keep=6)
    hidden = {Cell("n_confirmed", metric="taxicab", stratum="s1", rank_limit=5)}
    folder = written(tmp_path / "study" / "releasable", counts, CENSUS, hidden=hidden)
    found = earlier.read(folder, interval)
    assert found.strata == ("s1", "s2", "s3")
    assert found.cells.keys() == counts.keys()
    for cell, one in found.cells.items():
        assert one.low <= counts[cell] <= one.high
        assert (one.text == SUPPRESSED) == (cell in hidden)
    with zipfile.ZipFile(tmp_path / "sealed.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"bag/data/reports/study/releasable/{file.name}")
    assert earlier.read(tmp_path / "sealed.zip", interval) == found


def replaced(name, old, new):
    def damage(folder):
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return damage


DAMAGES = {
    "no table": (lambda folder: (folder / "file.csv").unlink(), "`file.csv` is missing"),
    "no record": (lambda folder: (folder / "release.json").unlink(), "`release.json` is missing"),
    "no JSON": (lambda folder: (folder / "release.json").write_text("{"), "must be in the record"),
    "no policy": (replaced("release.json", "policy", "polity"), "`policy`"),
    "no column": (replaced("attack.csv", "n_single,", "n_sngl,"), "`n_single` must be there once"),
    "a column twice": (replaced("attack.csv", "n_single,", "n_links,"), "`n_links` must be there once"),
    "a field too many": (replaced("attack.csv", "taxicab,s1,5,", "taxicab,s1,5,1,"), "fields"),
    "no number": (
        replaced("attack.csv", "taxicab,s1,5,", "taxicab,s1,five,"),
        "`rank_limit` must be a whole",
    ),
    "no CSV": (replaced("attack.csv", "released,,", 'released,"",x"",'), "attack.csv"),
    "no text": (lambda folder: (folder / "file.csv").write_bytes(b"\xff\xfe\xff"), "not UTF-8"),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_a_damaged_edition_is_refused_in_one_sentence(tmp_path, case):
    damage, words = DAMAGES[case]
    folder = written(tmp_path / "releasable", drawn(SIZES), CENSUS)
    damage(folder)
    with pytest.raises(InputError, match=words):
        earlier.read(folder, interval)


def test_a_text_that_is_no_count_is_refused(tmp_path):
    counts = drawn({"s1": 60})
    folder = written(tmp_path / "releasable", counts, CENSUS)
    replaced("attack.csv", ",60,", ",sixty,")(folder)
    with pytest.raises(InputError, match="`sixty` is not a count"):
        earlier.read(folder, interval)


def test_an_archive_must_have_one_edition(tmp_path):
    path = tmp_path / "sealed.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/readme.txt", "nothing")
    with pytest.raises(InputError, match="exactly one folder `releasable`"):
        earlier.read(path, interval)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(InputError, match="cannot be read"):
        earlier.read(path, interval)
    with pytest.raises(InputError, match=r"`gone\.zip` is missing"):
        earlier.read(tmp_path / "gone.zip", interval)


def test_the_same_edition_again_shows_nothing_new(tmp_path):
    counts = drawn(SIZES)
    alone, _ = released(counts, [])
    again, distances = released(counts, [edition(tmp_path / "releasable", counts, hidden=alone.suppressed)])
    assert distances == (0,)
    assert again.suppressed == alone.suppressed


def test_a_record_more_is_caught(tmp_path):
    """One record more takes a count over the end of an interval: 95 and 96 would be published as 90 and 100."""
    counts = drawn({"s1": 300})
    suspected = [Cell("n_suspected", metric="taxicab", stratum=s, rank_limit=5) for s in ("ALL", "s1")]
    low = dict.fromkeys(suspected, 125)
    high = dict.fromkeys(suspected, 126)
    assert publish(CENSUS, 125).text != publish(CENSUS, 126).text
    alone, _ = released({**counts, **high}, [])
    found, distances = released({**counts, **high}, [edition(tmp_path / "releasable", {**counts, **low})])
    assert set(suspected) <= set(found.suppressed) - set(alone.suppressed)
    assert distances == (0,), "suppressed counts no longer show that the editions differ"


def test_a_stratum_more_is_caught(tmp_path):
    """The two totals differ by the stratum alone, which is published as small."""
    sizes = {f"s{at}": 30 for at in range(1, 4)}
    new = drawn({**sizes, "s4": 9})
    old = {cell: count for cell, count in new.items() if cell.stratum != "s4"}
    for cell in [cell for cell in old if cell.stratum == "ALL"]:
        old[cell] = sum(n for other, n in old.items() if other._replace(stratum="ALL") == cell != other)
    before = edition(tmp_path / "releasable", old, SAFELY)
    assert all(cell.stratum != "ALL" for cell in linked(new, before[0]))
    alone, _ = released(new, [], SAFELY)
    cells = rounded(new, SAFELY)
    hidden = dict.fromkeys(alone.suppressed, earlier.Published(SUPPRESSED, None, 0, earlier.UNKNOWN))
    joint = join({**cells, **hidden}, relations(cells, facts(new)), [before], known(new))
    ends = {cell: (one.low, min(one.high, 5000)) for cell, one in joint.cells.items()}
    ends |= {cell: (count, count) for cell, count in known(new).items()}
    widths = narrow(System(joint.relations, ends, 5000))
    leaks = [cell for cell, one in alone.audit.items() if widths[cell].proven < one.required]
    found, _ = released(new, [before], SAFELY)
    assert leaks
    assert set(found.suppressed) - set(alone.suppressed)


def test_a_variant_more_is_caught(tmp_path):
    """The variant repeats the attack with another rounding of the same counts: an exact tie narrows both."""
    counts = drawn({"s1": 300})
    new = dict(counts)
    for cell in [cell for cell in counts if cell.stratum == "ALL" and cell.metric]:
        new[cell._replace(variant="v")] = counts[cell]
    tied = facts(counts)._replace(same_files=frozenset({"v"}), same_attack=frozenset({("v", "taxicab")}))
    before = edition(tmp_path / "releasable", counts, SAFELY)
    found, _ = released(new, [before], CENSUS, tied)
    for cell, one in found.audit.items():
        if cell.variant and found.audit[cell].asked:
            assert one.required <= one.width.proven
    untied, _ = released(new, [before], CENSUS)
    assert len(found.suppressed) >= len(untied.suppressed)


def test_another_policy_for_the_same_counts_is_caught(tmp_path):
    """Counts that were rounded to 50 must not be given to the nearest 5 now."""
    counts = drawn({"s1": 600})
    found, distances = released(counts, [edition(tmp_path / "releasable", counts, CENSUS)], SAFELY)
    alone, _ = released(counts, [], SAFELY)
    assert distances == (0,)
    assert Cell("n_suspected", metric="taxicab", rank_limit=5) in found.suppressed
    assert len(found.suppressed) > len(alone.suppressed)
