"""The metric of docs/how-to/metric.md is one, as it stands there."""

import math
import re
import textwrap
import types

import numpy as np
import pytest
from reident.kernels.blocks import nearest_blocks
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import Metric, ScoringContext
from reident.linkage.pairing import Pairing, Records, Scope
from workflow.commands import CHECKOUT

PAGE = (CHECKOUT / "docs/how-to/metric.md").read_text(encoding="utf-8")


def shown(language, words):
    """The one block of code of a language that holds these words."""
    (block,) = [text for text in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if words in text]
    return block


@pytest.fixture(scope="module")
def agreements():
    """The metric of the page, as a module."""
    module = types.ModuleType("agreements")
    exec(shown("python", '"""Agreements'), module.__dict__)  # noqa: S102 - the text of the page
    return module


@pytest.mark.parametrize("at_least", [1, 2, 3])
@pytest.mark.parametrize("n_eif", [0, 1, 7])
def test_the_metric_counts_agreements(agreements, at_least, n_eif):
    """All pairs of few records, with `keep` so large that the rank rule leaves nothing out."""
    rng = np.random.default_rng(n_eif)
    puf, eif = (rng.integers(-1, 2, (n, 3), dtype=np.int32) for n in (6, n_eif))
    sides = [Records(codes, np.full(codes.shape, np.nan)) for codes in (puf, eif)]
    scope = Scope(*(np.full((len(side.codes), 3), np.nan) for side in sides))
    pairing = Pairing((), *sides, (None,) * 3, np.full(3, np.nan), scope)
    found = agreements.METRIC.score(pairing, agreements.Options(at_least=at_least), ScoringContext(keep=50))
    count = {
        (p, e): sum(int(a == b >= 0) for a, b in zip(puf[p], eif[e], strict=True))
        for p in range(len(puf))
        for e in range(n_eif)
    }
    pairs = zip(found.puf.tolist(), found.eif.tolist(), strict=True)
    assert dict(zip(pairs, found.score.tolist(), strict=True)) == {
        pair: agree for pair, agree in count.items() if agree >= at_least
    }


def test_the_distance_finds_the_pairs_within_a_hundred_metres():
    rng = np.random.default_rng(1)
    puf, eif = (np.append(rng.uniform(0, 300, (n, 2)), [[np.nan, 0]], axis=0) for n in (30, 40))
    sides = [Records(np.full(values.shape, -1, np.int32), values) for values in (puf, eif)]
    names = {"np": np, "pairing": Pairing((), *sides, (None,) * 2, np.ones(2), Scope(puf, eif))}
    exec(textwrap.dedent(shown("python", "def nearness")), names)  # noqa: S102 - the text of the page
    found = nearest_blocks(names["nearness"], len(puf), len(eif), above=-101, keep=50)
    distances = {(p, e): math.ceil(math.dist(puf[p], eif[e])) for p in range(len(puf) - 1) for e in range(len(eif) - 1)}
    pairs = zip(found.puf.tolist(), found.eif.tolist(), strict=True)
    assert dict(zip(pairs, (-found.level).tolist(), strict=True)) == {
        pair: metres for pair, metres in distances.items() if metres <= 100
    }


def test_the_metric_is_one_for_the_registry(agreements):
    assert isinstance(agreements.METRIC, Metric)
    registry = (CHECKOUT / "workflow/lib/reident/linkage/metrics/__init__.py").read_text(encoding="utf-8")
    line = shown("python", '"agreements": agreements.METRIC').strip("\n")
    assert [line.replace("agreements", name) in registry for name in REGISTRY] == [True] * len(REGISTRY)
