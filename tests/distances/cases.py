"""What other tests make of distances."""

from making.matching import WITH_HOLDOUT, write_matching

FIGURES = {"closest": lambda folder: write_matching(folder, WITH_HOLDOUT)}
CELLS = ["closest"]
