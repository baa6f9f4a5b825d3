"""Accuse right descriptions and see wrong ones: ``python bench_descriptions.py [PANELS] [DRAWN] [MISTAKES] [SEED]``.

Draws right pairs of waves of simulated panels and right drawn studies, and prints each grave accusation; then mistakes
of every kind on panels, with what they lose of the right best guesses and whether a warning sees them: grave, notable,
or not. A warning that the right description has too does not count, unless it is of the variable itself. Links outside
the strata are a fact and no accusation.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from making import descriptions, panels
from making.descriptions import Described

ORDER = {"": 0, "notable": 1, "understates": 2, "invalidates": 3}


def told(study: Described) -> dict[tuple[str, str, str], int]:
    """How grave each warning of a study is, by scope, check and proposal."""
    lines = descriptions.checked(study)
    lines = lines[lines["severity"] != ""]
    return {(line.scope, line.check, line.proposal): ORDER[line.severity] for line in lines.itertuples()}


def right(names: list[str], n: int, seed: int) -> list[tuple[str, Described]]:
    """Right descriptions: of panels, one after the other, or drawn without a panel."""
    drawn = []
    for at in range(n):
        name = names[at % len(names)] if names else "drawn"
        rng = np.random.default_rng([seed, at, len(names)])
        drawn.append((f"{name} {at}", panels.draw(rng, name) if names else descriptions.draw(rng)))
    return drawn


def accused(studies: list[tuple[str, Described]]) -> int:
    """Count the studies that are accused gravely, and print the accusations."""
    n = 0
    for name, study in studies:
        lines = descriptions.checked(study)
        grave = lines[lines["severity"].isin(["understates", "invalidates"]) & (lines["check"] != "links_outside")]
        n += len(grave) > 0
        for line in grave.itertuples():
            print("accused:", name, line.scope, line.check, f"{line.statistic:.2f}", line.n, line.proposal)
    return n


def mistakes(n: int, seed: int) -> pd.DataFrame:
    """What `n` mistakes of every kind lose, and how they are seen."""
    rows = []
    for kind, make in panels.MISTAKES.items():
        for at in range(n):
            rng = np.random.default_rng([seed, at, sum(map(ord, kind))])
            name = list(panels.PANELS)[int(rng.integers(len(panels.PANELS)))]
            study = panels.draw(rng, name)
            wrong = make(rng, study)
            if wrong is study:
                continue
            before, after = (panels.best_guesses(one, np.random.default_rng(1)) for one in (study, wrong))
            usual, seen = told(study), told(wrong)
            names = set() if len(study.eif) != len(wrong.eif) else panels.differing(study, wrong)
            new = {key: level for key, level in seen.items() if level > usual.get(key, 0) or key[0] in names}
            share = 1 - after / before if before else 0.0
            rows.append((kind, name, before, share, max(new.values(), default=0), Counter(key[1] for key in new)))
    return pd.DataFrame(rows, columns=["kind", "panel", "right", "lost", "level", "checks"])


def main(n_panels: str = "45", n_drawn: str = "60", n_mistakes: str = "2", seed: str = "1") -> None:
    """Print the accusations, the mistakes that no warning sees, and the shares."""
    for what, names, n in (("panels", list(panels.PANELS), int(n_panels)), ("drawn", [], int(n_drawn))):
        if n:
            print(f"{what}: {accused(right(names, n, int(seed)))} of {n} accused")
    table = mistakes(int(n_mistakes), int(seed))
    for lost, upper in ((0.1, 0.5), (0.5, 9)):
        some = table[(table["lost"] >= lost) & (table["lost"] < upper)]
        levels = Counter(np.minimum(some["level"], 2).tolist())
        print(f"lose {lost} or more: {len(some)}; grave {levels[2]}, notable {levels[1]}, silent {levels[0]}")
        weak = some[some["level"] < 2]
        print(weak.assign(checks=[", ".join(one) for one in weak["checks"]]).round(2).to_string())


if __name__ == "__main__":
    main(*sys.argv[1:])
