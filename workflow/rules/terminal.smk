"""What the run shows in the terminal; included before anything else has something to say.

Reads  the command line
Makes  SCREEN, the handler of log records, or None where the run keeps Snakemake's own
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.current_basedir).resolve().parent / "lib"))

from reident import terminal

# Where the workflow is a module of another, the screen is that one's.
SCREEN = terminal.install(workflow) if workflow.modifier.is_main_snakefile() else None
