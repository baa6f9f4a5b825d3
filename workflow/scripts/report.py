"""Adapter of the rule `report`."""

import dataclasses

import nbformat
from reident import ledger
from reident.report import execute, render

with ledger.step(snakemake) as step:
    step.check_chain()
    notebook = execute.execute(step.path("notebook"), {"results": step.folder})
    step.write("notebook", nbformat.writes(notebook))
    heading = dataclasses.asdict(step.part)
    step.write_all(render.render(notebook, study=step.called, live=True, **heading))
