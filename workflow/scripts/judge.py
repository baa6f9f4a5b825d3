"""Adapter of the rule `judge`."""

from reident import ledger
from reident.pipeline.steps import table_of
from reident.verdict import limits, terminal

with ledger.step(snakemake) as step:
    tables = {
        table_of(path).path: table for path, table in zip(step.inputs["tables"], step.read_all("tables"), strict=True)
    }
    judged = limits.judge(step.settings, tables)
    for line in terminal.log_lines(judged.warnings):
        step.say(line)
    step.write_all(judged)
