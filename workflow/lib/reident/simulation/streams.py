"""Random numbers of a simulation: one stream for each named stage, all from one seed."""

from __future__ import annotations

import numpy as np


class Streams:
    """Generators by the name of a stage, from a seed that is not negative.

    The draws of a stage depend only on the seed and on its name: changing or adding a stage does not
    change the draws of the others.
    """

    def __init__(self, seed: int, prefix: str = "") -> None:
        self.seed = seed
        self.prefix = prefix

    def __call__(self, stage: str) -> np.random.Generator:
        """Return a new generator at the beginning of a stage's stream."""
        key = tuple(f"{self.prefix}{stage}".encode())
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=key)))

    def within(self, part: str) -> Streams:
        """Return the streams of a part of the simulation, whose stages have names of their own."""
        return Streams(self.seed, f"{self.prefix}{part}/")
