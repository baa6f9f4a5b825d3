"""Adapter of the rule `edition`."""

import nbformat
from reident import ledger
from reident.report.edition import make

with ledger.step(snakemake) as step:
    step.check_chain()
    published = [name for name in step.outputs if name in step.inputs]
    font = next(iter(step.inputs["font"]), None)
    made = make.make(step.path("record").parent, step.path("edition_notebook"), font, step.say)
    step.write("notebook", nbformat.writes(made.notebook))
    step.write_all(made.pages)
    for name in published:
        step.write(name, step.path(name).read_bytes())
