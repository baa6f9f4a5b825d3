"""Adapter of the rule `calibrate`."""

from reident import ledger
from reident.linkage import calibration

with ledger.step(snakemake) as step:
    step.write("calibration", calibration.calibrate(pairs=step.open("pairs"), model=step.read("model")))
