"""Adapter of the rule `report`."""

import nbformat
from reident import ledger
from reident.report import execute, render

with ledger.step(snakemake) as step:
    step.check_chain()
    study, notebook = step.study, execute.execute(step.path("notebook"), {"results": step.folder})
    about = {
        "title": study.title or study.id,
        "agency": study.agency,
        "study": step.called,
        "date": study.date,
    }
    step.write("notebook", nbformat.writes(notebook))
    for name, content in render.render(notebook, **about)._asdict().items():
        step.write(name, content)
