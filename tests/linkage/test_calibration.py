"""Match probabilities against the share of pairs that are links (METHODS §4.6)."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from reident.linkage import batches
from reident.linkage.calibration import calibrate
from reident.linkage.metrics.fellegi_sunter import log_odds
from reident.pipeline.tables import TABLES

PRIOR = 0.01
MODEL = pd.DataFrame({"prior": [PRIOR]})


def pairs(*rows):
    """Pairs of a probability, and whether they are confirmed."""
    score = [log_odds(probability) - log_odds(PRIOR) for probability, _ in rows]
    return pa.table(
        {"score": pa.array(score, pa.float64()), "confirmed": pa.array([right for _, right in rows], pa.bool_())}
    )


def test_pairs_are_counted_by_class_of_their_probability():
    table = calibrate(pairs((0.55, True), (0.58, False), (0.995, True), (0.9999, True), (0.9999, False)), MODEL)
    assert table.columns.tolist() == TABLES["calibrate"][0].names
    assert table[["above", "up_to", "n_pairs", "n_confirmed"]].to_numpy().tolist() == [
        [0.5, 0.6, 2, 1], [0.99, 0.999, 1, 1], [0.999, 1.0, 2, 1],
    ]  # fmt: skip
    assert table["probability"].tolist() == pytest.approx([0.565, 0.995, 0.9999], abs=1e-9)
    assert table["confirmed_share"].tolist() == [0.5, 1, 0.5]


def test_neither_the_order_of_the_pairs_nor_the_batches_matter(monkeypatch):
    generator = np.random.default_rng(3)
    rows = [
        (float(p), bool(right)) for p, right in zip(generator.random(500), generator.random(500) < 0.5, strict=True)
    ]
    one = calibrate(pairs(*rows), MODEL)
    shuffled = pairs(*[rows[at] for at in generator.permutation(500)])
    split = batches.split
    monkeypatch.setattr(batches, "split", lambda source: split(source, 7))
    pd.testing.assert_frame_equal(calibrate(shuffled, MODEL), one)
