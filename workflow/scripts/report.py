"""Adapter of the rule `report`."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import nbformat
from reident import ledger
from reident.report import execute

# The notebook runs in a process of its own, beside the check of what it reads and the import of what renders it.
with ledger.step(snakemake) as step, ThreadPoolExecutor(1) as beside:
    chain, render = beside.submit(step.check_chain), beside.submit(import_module, "reident.report.render")
    font = next(iter(step.inputs["font"]), None)
    try:
        notebook = execute.execute(step.path("notebook"), {"results": step.folder}, font)
    finally:
        chain.result()
    step.write("notebook", nbformat.writes(notebook))
    page, heading = render.result(), dataclasses.asdict(step.settings)
    about = page.About(study=step.called, internal=True, live=True, **heading)
    step.write_all(page.render(page.read(notebook), about, font, step.say))
