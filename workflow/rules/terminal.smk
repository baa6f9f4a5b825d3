"""What the run shows in the terminal; included before anything else has something to say.

Reads  the command line
Makes  SCREEN, the handler of log records, or None where the run keeps Snakemake's own
"""

from reident import terminal

SCREEN = terminal.install(workflow)
