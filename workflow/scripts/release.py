"""Adapter of the rule `release`."""

from reident import ledger
from reident.release import earlier, gate
from reident.study import rounding

with ledger.step(snakemake) as step:
    step.check_chain()
    tables = dict(zip(step.inputs["tables"], step.read_all("tables"), strict=True))
    after = [earlier.read(path) for path in earlier.places(step.inputs)]
    passed = gate.approve(step.settings, rounding.load(step.path("policy")), tables, after, step.progress)
    if not passed.is_least:
        step.say("release: the search reached its limit; whole groups of counts are suppressed")
    step.write_all({**passed.tables, "record": passed.record, "audit": passed.audit})
