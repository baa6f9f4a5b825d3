"""Adapter of the rule `release`."""

from reident import ledger
from reident.release import earlier, gate, policies
from reident.study import rounding

with ledger.step(snakemake) as step:
    step.check_chain()
    policy = rounding.load(step.path("policy"))
    tables = dict(zip(step.inputs["tables"], step.read_all("tables"), strict=True))
    editions = earlier.read_all(step.inputs, policies.interval_by)
    passed = gate.let_pass(step.part, policy, tables, editions)
    for name, content in {**passed.tables, "record": passed.record, "audit": passed.audit}.items():
        step.write(name, content)
