"""An intruder with several files by its definition (METHODS §6.6): sets of records, one after another, in fractions."""

from fractions import Fraction


def share(part, whole):
    """A fraction; None where it is undefined."""
    return Fraction(part) / whole if whole else None


def finds(files, low_is_best):
    """{pufid: (files that suspect it, files that confirm it, expected correct, the same at the best rank)}.

    A file is a list of its suspected pairs (pufid, eifid, score, is a link).
    """
    found = {}
    for pufid in {pair[0] for file in files for pair in file}:
        own = [[pair for pair in file if pair[0] == pufid] for file in files]
        suspecting = {at for at, pairs in enumerate(own) if pairs}
        confirming = {at for at in suspecting if any(link for *_, link in own[at])}
        best = {at: (min if low_is_best else max)(score for _, _, score, _ in own[at]) for at in suspecting}
        top = (min if low_is_best else max)(best.values())
        chosen = [at for at in suspecting if best[at] == top]
        of_all = sum(right(own[at]) for at in chosen) / len(chosen)
        of_best = sum(right([p for p in own[at] if p[2] == top]) for at in chosen) / len(chosen)
        found[pufid] = suspecting, confirming, of_all, of_best
    return found


def right(pairs):
    """The chance that a pair drawn from these is a link."""
    return Fraction(sum(link for *_, link in pairs), len(pairs))


def corroborated(files, persons):
    """({pufids for which two files have the same person}, {of these, those for which such a person is the true one}).

    ``persons`` has, by file, the person of each eifid; None for none.
    """
    claims, true = {}, set()
    for at, file in enumerate(files):
        for pufid, eifid, _, link in file:
            if (person := persons[at][eifid]) is not None:
                claims.setdefault((pufid, person), set()).add(at)
                if link:
                    true.add((pufid, person))
    shared = {claim for claim, own in claims.items() if len(own) > 1}
    return {pufid for pufid, _ in shared}, {pufid for pufid, _ in shared & true}


def rows(files, labels, low_is_best, members, persons=None):
    """{(stratum, files, label): {column: value}} of one metric.

    ``members`` has the pufids of each stratum and of the whole study.
    """
    joint = finds(files, low_is_best)
    single = [finds([file], low_is_best) for file in files]
    k, table = len(files), {}
    shared, true = corroborated(files, persons) if persons else (None, None)
    for stratum, pufids in members.items():
        for at, label in enumerate(labels):
            own = {pufid: one for pufid, one in single[at].items() if pufid in pufids}
            table[stratum, "file", label] = line(pufids, set(own), hits(own)) | guesses(own)
        own = {pufid: one for pufid, one in joint.items() if pufid in pufids}
        table[stratum, "any", ""] = line(pufids, set(own), hits(own)) | guesses(own)
        if persons:
            known, good = shared & pufids, true & pufids
            table[stratum, "any", ""] |= {
                "n_corroborated": len(known),
                "n_corroborated_confirmed": len(good),
                "corroborated_rate": share(len(known), len(pufids)),
                "corroborated_confirmed_rate": share(len(good), len(known)),
            }
        for name, label, number in [("all", "", k), *(("exactly", str(n), n) for n in range(1, k + 1))]:
            suspected = {pufid for pufid, one in own.items() if len(one[0]) == number}
            confirmed = {pufid for pufid, one in own.items() if len(one[1]) == number}
            table[stratum, name, label] = line(pufids, suspected, confirmed)
            if name == "exactly":
                table[stratum, name, label].pop("conditional_rate")
    return table


def hits(found):
    """The pufids that at least one file confirms."""
    return {pufid for pufid, one in found.items() if one[1]}


def line(pufids, suspected, confirmed):
    """Counts and rates."""
    return {
        "n_puf": len(pufids),
        "n_suspected": len(suspected),
        "n_confirmed": len(confirmed),
        "suspected_rate": share(len(suspected), len(pufids)),
        "confirmed_rate": share(len(confirmed), len(pufids)),
        "conditional_rate": share(len(confirmed), len(suspected)),
    }


def guesses(found):
    """The expected correct guesses."""
    every, best = (sum((one[at] for one in found.values()), Fraction(0)) for at in (2, 3))
    return {
        "expected_correct": every,
        "expected_correct_rate": share(every, len(found)),
        "best_rank_correct": best,
        "best_rank_correct_rate": share(best, len(found)),
    }
