"""Adapter of the rule `report`."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import nbformat
from reident import ledger
from reident.report import execute

# The notebook runs in a process of its own, beside the import of what renders it. The check of what it reads is over
# before: papermill changes the folder of this process, and results have relative paths.
with ledger.step(snakemake) as step, ThreadPoolExecutor(1) as beside:
    step.check_chain()
    render = beside.submit(import_module, "reident.report.render")
    font = next(iter(step.inputs["font"]), None)
    notebook = execute.execute(step.path("notebook"), {"results": step.folder}, font)
    step.write("notebook", nbformat.writes(notebook))
    page, heading = render.result(), dataclasses.asdict(step.settings)
    about = page.About(study=step.called, internal=True, live=True, **heading)
    step.write_all(page.render(page.read(notebook), about, font, step.say))
