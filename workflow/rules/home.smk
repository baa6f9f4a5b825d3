"""Where this workflow is, whoever runs it; included before anything that needs its library.

Reads  nothing
Makes  HOME (the checkout), NOTEBOOK, LIBRARY; the library on the path of this process and of every job
"""

import gc
import os
import runpy
import sys

# Until all files are read: what is imported stays, and looking through it for garbage takes a tenth of a second.
gc.disable()

# Not `workflow.basedir`, which is the importer's folder where the workflow is a module of another.
HOME = runpy.run_path(workflow.source_path("../lib/reident/pipeline/checkout.py"))["root"](
    workflow.current_basedir, workflow.sourcecache.cache_path
)
NOTEBOOK = HOME / "workflow" / "notebooks" / "disclosure-review.ipynb"
LIBRARY = HOME / "workflow" / "lib"
sys.path.insert(0, str(LIBRARY))
# Every job finds the library, remote ones too, without an installed package.
os.environ.update(PYTHONPATH=os.pathsep.join([str(LIBRARY), *filter(None, [os.environ.get("PYTHONPATH")])]))

try:
    import reident.archive.commands
except ModuleNotFoundError as error:  # in the environment of another workflow
    sys.exit(
        f"Error: the package `{error.name}` is not installed where Snakemake runs. Run Snakemake from the environment of "
        f"reident: {HOME / '.venv/bin/snakemake'} after `make setup`, or that of environment.yml."
    )
