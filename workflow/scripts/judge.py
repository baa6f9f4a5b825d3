"""Adapter of the rule `judge`."""

from reident import ledger
from reident.verdict import limits, terminal

with ledger.step(snakemake) as step:
    names = set(step.inputs) - {"study"}
    judged = limits.judge(step.settings, {name: step.read(name) for name in sorted(names)})
    for line in terminal.log_lines(judged.warnings):
        step.say(line)
    step.write_all(judged)
