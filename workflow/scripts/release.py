"""Adapter of the rule `release`."""

from reident import ledger
from reident.release import earlier, gate, policies
from reident.study import rounding

with ledger.step(snakemake) as step:
    step.check_chain()
    policy = rounding.load(step.path("policy"))
    tables = dict(zip(step.inputs["tables"], step.read_all("tables"), strict=True))
    after = [earlier.read(path, policies.interval_of) for path in earlier.places(step.inputs)]
    passed = gate.let_pass(step.part, policy, tables, after)
    for name, content in {**passed.tables, "record": passed.record, "audit": passed.audit}.items():
        step.write(name, content)
