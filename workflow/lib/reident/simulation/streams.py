"""Random numbers of a simulation: one stream for each named stage, all from one seed."""

from __future__ import annotations

import numpy as np


class Streams:
    """Generators by the name of a stage.

    A stage's draws depend on the seed and on its name alone, so that changing one stage, or
    adding one, leaves the draws of all others as they are.

    Parameters
    ----------
    seed : int
        Not negative.
    """

    def __init__(self, seed: int, prefix: str = "") -> None:
        self.seed = seed
        self.prefix = prefix

    def __call__(self, stage: str) -> np.random.Generator:
        """A new generator at the beginning of the stage's stream."""
        key = tuple(f"{self.prefix}{stage}".encode())
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=key)))

    def within(self, part: str) -> Streams:
        """The streams of a part of the simulation, whose stages' names are its own."""
        return Streams(self.seed, f"{self.prefix}{part}/")
